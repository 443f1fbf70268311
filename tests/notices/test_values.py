from __future__ import annotations

from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse.notices.values import amount, column_text, json_value, label_text, plain, printable, text

floats = st.floats(allow_nan=False, allow_infinity=False)


@settings(deadline=None, max_examples=300)
@given(floats)
def test_floats_are_written_so_that_they_read_back(number):
    assert float(text(number).replace(",", "")) == number
    assert float(text(np.float64(number)).replace(",", "")) == number


@settings(deadline=None, max_examples=300)
@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_short_floats_are_written_so_that_they_read_back(number):
    short = np.float32(number)
    written = text(short)
    assert np.float32(written.replace(",", "")) == short
    assert len(written.replace(",", "").lstrip("-")) <= 20


@settings(deadline=None, max_examples=100)
@given(st.integers())
def test_integers_are_written_so_that_they_read_back(number):
    assert int(text(number).replace(",", "")) == number


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (2050.0, "2,050"),
        (1234.5, "1,234.5"),
        (-1234567.25, "-1,234,567.25"),
        (-0.5, "-0.5"),
        (0.1, "0.1"),
        (0.1 + 0.2, "0.30000000000000004"),
        (np.float32(0.1), "0.1"),
        (1e300, "1e+300"),
        (1e-7, "1e-07"),
        (0.00001, "0.00001"),
        (-0.0, "0"),
        (np.inf, "infinity"),
        (-np.inf, "-infinity"),
        (np.int8(-5), "-5"),
        (Decimal("12345.60"), "12,345.60"),
        (True, "yes"),
        (np.False_, "no"),
        (None, "missing"),
        (np.nan, "missing"),
        (pd.NA, "missing"),
        (pd.NaT, "missing"),
        (pd.Timestamp("2024-02-29"), "2024-02-29"),
        (np.datetime64("2024-02-29T12:30"), "2024-02-29 12:30:00"),
        (date(2024, 2, 29), "2024-02-29"),
        ("rent", "rent"),
        ("", "(empty)"),
        (b"caf\xc3\xa9", "café"),
        ("a\nb\x1b\u202e", r"a\nb\x1b\u202e"),
    ],
)
def test_text(value, written):
    assert text(value) == written


@pytest.mark.parametrize(
    ("value", "written"), [("rent", "'rent'"), ("it's", '"it\'s"'), ("", "''"), (5, "5"), (True, "yes")]
)
def test_quoted_text(value, written):
    assert text(value, quoted=True) == written


@settings(deadline=None, max_examples=200)
@given(st.text())
def test_what_is_printed_is_printable(words):
    assert printable(words).isprintable()
    assert not words.isprintable() or printable(words) == words


@settings(deadline=None, max_examples=200)
@given(st.floats(1e-9, 1e12))
def test_amounts_have_three_digits(number):
    assert float(amount(number).replace(",", "")) == pytest.approx(number, rel=5.1e-3)


@pytest.mark.parametrize(
    ("name", "written"),
    [("a b", "a b"), (3, "column 3"), (("a", ""), "a"), (("a", 1), "a / 1"), ("", "(empty)"), ("a\n", r"a\n")],
)
def test_column_text(name, written):
    assert column_text(name) == written


@pytest.mark.parametrize(
    ("label", "written"),
    [
        (12345, "12345"),
        (np.int64(12345), "12345"),
        ("x", "x"),
        (("a", 1000), "a / 1000"),
        (None, "missing"),
        (1.5, "1.5"),
    ],
)
def test_label_text(label, written):
    assert label_text(label) == written


def test_plain_values():
    assert type(plain(np.int32(3))) is int
    assert type(plain(np.float64(3.5))) is float
    assert type(plain(np.True_)) is bool
    assert type(plain(np.float32(0.1))) is np.float32
    assert plain(pd.NA) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float32(0.1), 0.1),
        (np.int64(3), 3),
        (np.nan, None),
        (-np.inf, "-inf"),
        (pd.Timestamp("2024-01-01", tz="UTC"), "2024-01-01T00:00:00+00:00"),
        (pd.Interval(0, 1), "(0, 1]"),
        (("a", np.int64(1), pd.NaT), ["a", 1, None]),
        (Decimal("1.50"), "1.50"),
    ],
)
def test_json_value(value, expected):
    assert json_value(value) == expected
    assert type(json_value(value)) is type(expected)
