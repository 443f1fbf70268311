"""Units, digits and locales: what is written is the number, or says that it is not."""

from __future__ import annotations

import builtins
import re
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse import ActionSet, NearestAccepted, Recourses
from robust_recourse.notices.notice import Change, Notice
from robust_recourse.notices.sentences import describe, how
from robust_recourse.notices.values import text
from robust_recourse.notices.writing import Writer, check_locale, check_unit

NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-1e6, 1e6),
    st.integers(-(10**30), 10**30),
    st.floats(-1e6, 1e6, width=32).map(np.float32),
)


@settings(deadline=None, max_examples=300)
@given(st.one_of(NUMBERS, st.booleans(), st.text(max_size=5), st.none(), st.datetimes(), st.decimals(allow_nan=False)))
def test_without_a_unit_values_are_written_as_ever(value):
    assert Writer().text(value) == text(value)
    assert Writer(digits=400).text(value) == text(value)


@settings(deadline=None, max_examples=300)
@given(NUMBERS, st.sampled_from(["EUR", "$", "%", "fraction", "years"]))
def test_a_unit_leaves_the_number_as_it_is(value, unit):
    written = Writer(unit).text(value)
    number = Fraction(re.sub(r"[$%,]|EUR|years", "", written).strip())
    assert number == Fraction(str(value)) * (100 if unit == "fraction" else 1)


@settings(deadline=None, max_examples=300)
@given(st.floats(-1e9, 1e9), st.integers(0, 8))
def test_what_is_rounded_says_so(value, digits):
    written = Writer(digits=digits).text(value)
    number = Fraction(written.removeprefix("about ").replace(",", ""))
    lost = abs(number - Fraction(str(value)))
    assert written.startswith("about ") == (lost > abs(Fraction(str(value))) / 10**7)
    assert abs(number - Fraction(str(value))) <= Fraction(1, 2 * 10**digits)
    assert "e" in written or len(written.partition(".")[2]) <= digits


def test_single_precision_is_no_rounding():
    single = float(np.float32(3.1))
    assert Writer(digits=1).text(single) == "3.1"
    assert Writer("EUR", digits=1).pair(single, 2.5) == ("3.1 EUR", "2.5 EUR")
    assert Writer(digits=1).apart(single, 2.5) == "0.6"
    assert Writer(digits=1).text(3.1001) == "about 3.1"


def test_rounding_never_makes_a_change_disappear():
    writer = Writer(digits=2)
    assert writer.pair(0.1999, 0.2) == ("0.1999", "0.2")
    assert writer.pair(0.1949, 0.2) == ("about 0.19", "0.2")
    assert writer.apart(0.1999, 0.2) == "0.0001"
    assert writer.apart(0.1949, 0.2) == "about 0.01"


@pytest.mark.parametrize(
    ("unit", "before", "after", "said", "far"),
    [
        ("EUR", 1200, 2050.5, ("1,200 EUR", "2,050.5 EUR"), "raise by 850.5 EUR"),
        ("€", -3.0, 2.0, ("-€3", "€2"), "raise by €5"),
        ("fraction", 0.05, 0.075, ("5 %", "7.5 %"), "raise by 2.5 percentage points"),
        ("%", 5.0, 7.5, ("5 %", "7.5 %"), "raise by 2.5 percentage points"),
        ("years", 1, 3, ("1 years", "3 years"), "raise by 2 years"),
        ("days since 2000-01-01", 0, 366.0, ("2000-01-01", "2001-01-01"), "change"),
        ("days since 2000-01-01", 0.5, 1, ("0.5 days since 2000-01-01", "2000-01-02"), "change"),
        ("days since 2000-01-01", 0, 10**9, ("2000-01-01", "1,000,000,000 days since 2000-01-01"), "change"),
    ],
)
def test_units_in_notices(unit, before, after, said, far):
    change, writer = Change("a", "number", before, after, 1.0, 1), Writer(unit)
    assert writer.pair(before, after) == said
    assert how(change, writer) == far
    notice = Notice(
        "r", 0, 1, "ok", "", True, 1.0, np.nan, np.nan, {"a": before}, {"a": after}, (change,), {"a": writer}
    )
    verb = "Change" if "since" in unit else "Raise"
    assert describe(notice).startswith(f"{verb} a from {said[0]} to {said[1]}. ")


def test_moments_with_and_without_the_time_of_day():
    noon = datetime(2024, 1, 31, 12)
    assert Writer().text(noon) == "2024-01-31 12:00:00"
    assert Writer("date").text(noon) == "2024-01-31"
    assert Writer("date").text("unknown") == "unknown"


@pytest.mark.parametrize(
    ("locale", "unit", "value", "said"),
    [
        ("de_DE", "", 1234567.5, "1.234.567,5"),
        ("de-DE", "EUR", 1234.5678, "1.234,5678\xa0€"),
        ("en_US", "EUR", -2050.0, "-€2,050.00"),
        ("de_DE", "fraction", 0.075, "7,5\xa0%"),
        ("de_DE", "%", 7.5, "7,5\xa0%"),
        ("de_DE", "KWH", 1234, "1.234 KWH"),
        ("de_DE", "$", -1234, "-1.234,00\xa0$"),
        ("en_US", "€", 1234.5, "€1,234.50"),
        ("de_DE", "days since 2000-01-01", 3, "4. Januar 2000"),
        ("de_DE", "", date(2000, 1, 4), "4. Januar 2000"),
        ("de_DE", "", datetime(2000, 1, 4), "4. Januar 2000"),
        ("de_DE", "", "1.5", "1.5"),
        ("de_DE", "EUR", None, "missing"),
    ],
)
def test_locales(locale, unit, value, said):
    pytest.importorskip("babel")
    assert Writer(unit, locale=locale).text(value) == said


@pytest.mark.parametrize(
    ("locale", "unit", "said"),
    [
        ("de_DE", "EUR", "1.234\xa0€"),
        ("de_DE", "€", "1.234\xa0€"),
        ("en_US", "USD", "$1,234"),
        ("ja_JP", "JPY", "￥1,234"),
        ("hi_IN", "INR", "₹1,234"),
    ],
)
def test_no_cents_where_nobody_recorded_any(locale, unit, said):
    pytest.importorskip("babel")
    assert Writer(unit, 0, locale).text(1234.0) == said


def test_only_moments_with_a_time_zone_are_told_with_one():
    pytest.importorskip("babel")
    noon = datetime(2000, 1, 4, 12)
    assert "UTC" not in Writer(locale="de_DE").text(noon)
    assert "+0200" in Writer(locale="de_DE").text(noon.replace(tzinfo=timezone(timedelta(hours=2)))).replace(":", "")


@settings(deadline=None, max_examples=100)
@given(st.floats(-1e9, 1e9), st.sampled_from(["", "EUR", "fraction"]))
def test_a_locale_changes_signs_and_nothing_else(value, unit):
    pytest.importorskip("babel")
    written = Writer(unit, locale="en_US").text(value)
    number = Decimal(re.sub(r"[€%,]", "", written).replace("\N{MINUS SIGN}", "-"))
    assert Fraction(number) == Fraction(str(value)) * (100 if unit == "fraction" else 1)


def test_locales_that_nobody_knows():
    pytest.importorskip("babel")
    with pytest.raises(ValueError, match=r"^locale must be one like 'en_GB' or 'de_DE', got ''\.$"):
        check_locale("")
    with pytest.raises(ValueError, match="locale must be one like 'en_GB' or 'de_DE', got 'xx_YY'"):
        Writer(locale="xx_YY").text(1.0)


def test_locales_need_babel(monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name.startswith("babel"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    assert Writer("EUR").text(1.5) == "1.5 EUR"
    with pytest.raises(ImportError, match=r"robust-recourse\[locale\]"):
        Writer("EUR", locale="de_DE").text(1.5)


@pytest.mark.parametrize("unit", ["", " ", 3, None, "a\nb", "x" * 50])
def test_units_are_short_texts(unit):
    with pytest.raises(ValueError, match=r"u must be a short text"):
        check_unit(unit, "u")


@pytest.mark.parametrize("unit", ["days since yesterday", "days since 2000-13-01"])
def test_days_are_counted_from_a_day(unit):
    with pytest.raises(ValueError, match=r"u must name a day, as in 'days since 1970-01-01'"):
        check_unit(unit, "u")


def people():
    generator = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "income": generator.integers(10, 40, 80) * 100,
            "ratio": generator.uniform(0.0, 1.0, 80),
            "since": pd.to_datetime("2020-01-01") + pd.to_timedelta(generator.integers(0, 900, 80), unit="D"),
            "job": generator.choice(["clerk", "smith"], 80),
        }
    )


UNITS = {"income": "EUR", "ratio": "fraction", "since": "date"}


def explained(**words):
    X = people()
    method = NearestAccepted(lambda X: X["income"] * X["ratio"] > 1500.0, ActionSet(**words), random_state=0).fit(X)
    return method.explain(X[X["income"] * X["ratio"] <= 1500.0].head(12))


def test_results_know_the_units_of_their_action_set():
    found = explained(units=UNITS)
    assert found.units == UNITS
    assert found.digits == {"income": 0, "ratio": 4}
    i = next(i for i in range(len(found)) if found.x0["ratio"].iloc[i] != found.x["ratio"].iloc[i])
    said = found.describe(i)
    assert re.search(r"ratio from about \d+\.?\d* % to [\d.]+ %", said)
    assert found[i].describe() == said
    for other in (Recourses.from_json(found.to_json()), Recourses.concat([found[:3], found[3:]])):
        assert other.equals(found)
        assert other.describe() == found.describe()
    page = found.to_html(audience="applicant")
    assert "EUR</bdi>" in page
    assert "percentage points" in page
    assert explained().equals(found) is False


def test_the_number_that_is_told_is_the_one_that_was_asked():
    found = explained()
    for line in found.changes().query("column == 'ratio'").itertuples():
        assert text(line.to) in found.describe()
        assert len(text(line.to).partition(".")[2]) <= 4
    assert not re.search(r"\d\.\d{5,}", found.describe() + found.to_html())


def test_locales_of_results():
    pytest.importorskip("babel")
    found = explained(units=UNITS)
    assert "\xa0€" in found.describe(locale="de_DE")
    assert found[0].describe(locale="de_DE") == found.describe(0, locale="de_DE")
    assert "\xa0€" in found.to_html(locale="de_DE")
    assert all(
        f"The cost is about {f'{cost:.3g}'.replace('.', ',')} unit" in found.describe(i, locale="de_DE")
        for i, cost in enumerate(found.cost)
    )


@pytest.mark.parametrize(
    ("units", "message"),
    [
        ({"ratio": "%"}, r"units\['ratio'\] is '%', but .* Write 'fraction' if 0.07 means 7 %"),
        ({"income": "date"}, r"units\['income'\] is 'date', but the column holds numbers"),
        ({"job": "EUR"}, r"units\['job'\] is 'EUR', but the column holds categories"),
        ({"wage": "EUR"}, "wage"),
        ({"income": 3}, r"units\['income'\] must be a short text"),
    ],
)
def test_units_that_make_no_sense(units, message):
    with pytest.raises(ValueError, match=message):
        ActionSet(people(), units=units)


def test_units_in_toml(tmp_path):
    actions = ActionSet(units=UNITS)
    assert 'unit = "EUR"' in actions.to_toml()
    path = tmp_path / "actions.toml"
    path.write_text(actions.to_toml(), encoding="utf-8")
    assert ActionSet.from_toml(path) == actions
    assert ActionSet(units={"income": "USD"}) != ActionSet(units={"income": "EUR"})
    path.write_text("[columns.income]\nunit = 3\n", encoding="utf-8")
    with pytest.raises(ValueError, match="unit must be a text, got 3"):
        ActionSet.from_toml(path)
    path.write_text('[columns.income]\nunits = "EUR"\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"write unit = \.\.\."):
        ActionSet.from_toml(path)
