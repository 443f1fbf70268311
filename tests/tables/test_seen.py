"""What other rows have that training rows have not."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from robust_recourse.tables import Schema, Seen

N = 40
rng = np.random.default_rng(0)
TRAIN = pd.DataFrame(
    {
        "income": rng.uniform(500, 4500, N).round(2),
        "months": rng.integers(6, 60, N),
        "children": np.where(np.arange(N) % 7 == 0, np.nan, np.arange(N) % 4),
        "flag": np.arange(N) % 2,
        "half": np.arange(N) % 2 / 2.0,
        "job": np.array(["full", "part", "none"])[np.arange(N) % 3],
        "level": pd.Categorical(np.array(["low", "high"])[np.arange(N) % 2], ["low", "mid", "high"], ordered=True),
        "owner": np.arange(N) % 2 == 0,
        "country": "DE",
        "year": 2024,
        "insured": 0,
        "name": [f"person {i}" for i in range(N)],
        "since": pd.Timestamp("2020-01-01"),
    }
)


def learnt(train):
    schema = Schema.learn(train)
    return schema, Seen.of(schema.read(train, "X"))


def unseen(train, rows):
    schema, seen = learnt(train)
    return seen.unseen(schema.read(rows, "X", fewest=0), "X")


def row(**cells):
    return TRAIN.head(3).astype(object).assign(**{name: [value] * 3 for name, value in cells.items()}).infer_objects()


CASES = [
    ("job", "FULL", "column 'job': 'FULL' in rows 0, 1, 2 (training rows have 'full', 'none', 'part')"),
    ("level", "mid", "column 'level': 'mid' in rows 0, 1, 2 (training rows have 'low', 'high')"),
    ("flag", 3, "column 'flag': 3 in rows 0, 1, 2 (training rows have 0, 1)"),
    ("flag", "yes", "column 'flag': 'yes' in rows 0, 1, 2 (training rows have 0, 1)"),
    ("half", 0.25, "column 'half': 0.25 in rows 0, 1, 2 (training rows have 0, 0.5)"),
    ("owner", "yes", "column 'owner': 'yes' in rows 0, 1, 2 (training rows have False, True)"),
    ("income", 1e9, "column 'income': 1000000000 in rows 0, 1, 2 (training rows have "),
    ("income", -1e9, "column 'income': -1000000000 in rows 0, 1, 2 (training rows have "),
    ("months", 12.5, "column 'months': 12.5 in rows 0, 1, 2 (training rows have whole numbers)"),
    ("children", 1.5, "column 'children': 1.5 in rows 0, 1, 2 (training rows have whole numbers)"),
    ("country", "de", "column 'country': 'de' in rows 0, 1, 2 (training rows have 'DE')"),
    ("year", 1e9, "column 'year': 1000000000 in rows 0, 1, 2 (training rows have 2024)"),
    ("insured", 1, "column 'insured': 1 in rows 0, 1, 2 (training rows have 0)"),
    ("since", pd.Timestamp("2021-01-01"), "column 'since': Timestamp('2021-01-01 00:00:00') in rows 0, 1, 2 (training"),
]


@pytest.mark.parametrize(("column", "value", "told"), CASES, ids=[f"{case[0]} {case[1]}" for case in CASES])
def test_what_no_training_row_has_is_named(column, value, told):
    message = unseen(TRAIN, row(**{column: value}))
    assert message.startswith(f"X has values that no training row has: {told}")
    assert message.count("column") == 1


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("income", 4500 + 2.9 * 3700),
        ("income", 100.001),
        ("months", 70),
        ("months", 12.0),
        ("children", 7),
        ("year", 2026),
        ("name", "somebody else"),
        *((column, None) for column in TRAIN.columns),
    ],
)
def test_what_is_a_little_outside_is_not(column, value):
    assert unseen(TRAIN, row(**{column: value})) == ""


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        (["A7", "B1", "C2"], "rows 0 (label 'A7'), 1 (label 'B1'), 2 (label 'C2') ("),
        ([8, 17, 3], "rows 0 (label 8), 1 (label 17), 2 (label 3) ("),
        (pd.date_range("2026-01-01", periods=3), "row"),
        ([0, 1, 2], "rows 0, 1, 2 ("),
    ],
)
def test_rows_have_their_labels_if_these_are_no_numbers_of_rows(labels, told):
    assert f"'FULL' in {told}" in unseen(TRAIN, row(job="FULL").set_axis(labels, axis=0))


def test_numbers_of_single_precision_are_shown_as_they_were_recorded():
    train = pd.DataFrame(
        {"rate": [float(f"{x:.15g}") for x in np.array([1.8, 3.1, 10.6, 5.5] * 5, np.float32).tolist()]}
    )
    assert "1000 in row 0 (training rows have 1.8 to 10.6)" in unseen(train, pd.DataFrame({"rate": [1000.0]}))


def test_an_empty_cell_is_no_number():
    train = pd.DataFrame({"two": [2.0, 5.0] * 10, "far": 100.0 + np.arange(20) / 7})
    assert unseen(train, train.head(2).assign(two=[np.nan, 2.0], far=[102.0, np.nan])) == ""


def test_training_rows_have_nothing_that_they_have_not():
    assert unseen(TRAIN, TRAIN) == ""
    assert unseen(TRAIN, TRAIN.iloc[:0]) == ""


def test_a_message_names_some_of_many():
    train = TRAIN[["job", "months"]]
    rows = pd.concat([train] * 2, ignore_index=True).assign(job=[f"{i % 5}" for i in range(2 * N)])
    assert unseen(train, rows) == (
        "X has values that no training row has: column 'job': '0' in rows 0, 5, 10 and 13 more, '1' in rows 1, 6, 11 "
        "and 13 more, '2' in rows 2, 7, 12 and 13 more and 2 more values (training rows have 'full', 'none', 'part')."
    )
    wide = pd.DataFrame({f"c{k}": ["a", "b"] * 5 for k in range(14)})
    assert unseen(wide, wide.assign(**dict.fromkeys(wide, "c" * 99))).endswith(
        "(training rows have 'a', 'b') and 4 more columns."
    )


def test_few_rows_say_nothing_about_numbers():
    train = pd.DataFrame({"a": [0.0, 1.0, 1.0] * 3, "n": [1, 2, 3] * 3})
    assert unseen(train, pd.DataFrame({"a": [0.5, 1e9], "n": [100, 7]})) == ""
    assert "whole numbers" in unseen(train, pd.DataFrame({"a": [0.0], "n": [1.5]}))  # their type says it


def test_single_precision_makes_no_other_value():
    train = pd.DataFrame({"a": np.array([0.1, 0.7] * 10, dtype=np.float32)})
    assert unseen(train, pd.DataFrame({"a": [0.1, 0.7]})) == ""
    assert "0.2 in row 0" in unseen(train, pd.DataFrame({"a": [0.2]}))


def test_the_largest_numbers_are_no_warning_of_numpy():
    train = pd.DataFrame({"a": np.linspace(-1e149, 1e149, 20)})
    assert "1.7e+308 in row 0" in unseen(train, pd.DataFrame({"a": [1.7e308, -1.0]}))


def told(values, column):
    """Say the same of one number, without arrays."""
    low, high = min(column), max(column)
    if len(set(column)) == 2 or set(column) in ({0.0}, {1.0}):
        return [v not in column for v in values]
    width = high - low if low < high else abs(low)
    far = [max(low - v, v - high) > 3 * width for v in values]
    whole = all(float(v).is_integer() for v in column)
    return [beyond or (whole and not float(v).is_integer()) for v, beyond in zip(values, far, strict=True)]


NUMBERS = st.sampled_from([-300.0, -2.0, -0.5, 0.0, 0.25, 1.0, 2.0, 3.0, 7.0, 40.0, 1e6])


@settings(max_examples=200, deadline=None)
@given(arrays(float, (12, 3), elements=NUMBERS), arrays(float, (3, 3), elements=NUMBERS))
def test_numbers_of_arrays_are_judged_as_by_hand(train, rows):
    message = unseen(train, rows)
    for k in range(3):
        flagged = told(rows[:, k].tolist(), train[:, k].tolist())
        named = [part for part in message.split("; ") if f"column {k}: " in part]
        assert bool(named) == any(flagged)
        for value in {v for v, yes in zip(rows[:, k], flagged, strict=True) if yes}:
            places = [i for i, (v, yes) in enumerate(zip(rows[:, k], flagged, strict=True)) if yes and v == value]
            word = "rows" if len(places) > 1 else "row"
            shown = ", ".join(map(str, places))
            assert any(f"{value:.10g} in {word} {shown}" in part for part in named)
