from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse.notices.notice import Change, Notice
from robust_recourse.notices.reading import direction
from robust_recourse.notices.sentences import CAUTIONS, NO_RECOURSE, describe, how
from robust_recourse.notices.values import text
from robust_recourse.notices.writing import Writer
from robust_recourse.result import Status


def notice(*changes, before=None, cost=1.0, status="ok", valid=True):
    held = {change.column: change.before for change in changes} if before is None else before
    after = {**held, **{change.column: change.after for change in changes}}
    return Notice("r", 0, 1, status, "The reason.", valid, cost, np.nan, np.nan, held, after, changes)


def test_everything_else_is_kept_only_if_there_is_something_else():
    change = Change("a", "number", 1, 2, 1.0, 1)
    assert describe(notice(change)).startswith("Raise a from 1 to 2. ")
    assert describe(notice(change, before={"a": 1, "b": 2})).startswith("Raise a from 1 to 2; keep everything else. ")


def test_names_keep_their_capitals():
    change = Change("iPhone", "category", "X", "Y", 1.0)
    assert describe(notice(change)).startswith("Change iPhone from 'X' to 'Y'. ")


@pytest.mark.parametrize(
    ("cost", "said"),
    [(1.0, "The cost is 1 unit."), (2.5, "The cost is 2.5 units."), (1.23456, "The cost is about 1.23 units.")],
)
def test_cost_is_called_about_where_it_is_rounded(cost, said):
    assert describe(notice(Change("a", "number", 1, 2, cost, 1), cost=cost)).endswith(said)


def test_all_numbers_of_a_sentence_are_those_of_one_locale():
    pytest.importorskip("babel")
    said = replace(
        notice(Change("a", "number", 1000.5, 2000.5, 1234.0, 1), cost=1234.4),
        writers={"a": Writer(locale="de_DE")},
        jury_share=0.95,
        survival_bound=0.9,
        confidence=0.95,
    )
    assert describe(said) == (
        "Raise a from 1.000,5 to 2.000,5. The present model accepts exactly these values. Survival: with 95\xa0% "
        "confidence, at least 90\xa0% of models that took no part in the search accept these values. Of the models "
        "that guided the search, 95\xa0% accept these values. The cost is about 1.234 units."
    )


def test_other_endings_are_noted():
    said = describe(notice(Change("a", "number", 1, 2, 1.0, 1), status="not converged"))
    assert said.endswith("Note (not converged): The reason.")
    plain = [
        describe(notice(Change("a", "number", 1, 2, 1.0, 1), status=end))
        for end in ("ok", "sure", "nearest accepted row")
    ]
    assert len({*plain}) == 1
    assert "Note" not in plain[0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (Change("a", "number", 1200, 2050, 1.0, 1), "raise by 850"),
        (Change("a", "number", 0.3, 0.1, 1.0, -1), "lower by 0.2"),
        (Change("a", "number", np.float32(0.1), np.float32(0.3), 1.0, 1), "raise by 0.2"),
        (Change("a", "number", 1e300, 2.0, 1.0, -1), "lower"),
        (Change("a", "ordered", 0, 1, 1.0, 1), "raise"),
        (Change("a", "category", "1", "2", 1.0), "change"),
    ],
)
def test_how(change, said):
    assert how(change) == said


@settings(deadline=None, max_examples=300)
@given(st.floats(-1e15, 1e15), st.floats(-1e15, 1e15))
def test_how_far_is_exact(before, after):
    written = [text(number).replace(",", "") for number in (before, after)]
    said = how(Change("a", "number", before, after, 1.0, 1))
    if any("e" in number for number in written):
        assert said == "raise"
    else:
        # Fractions are exact: nothing of the difference is lost to rounding.
        expected = abs(Fraction(written[1]) - Fraction(written[0]))
        assert Fraction(said.removeprefix("raise by ").replace(",", "")) == expected


@pytest.mark.parametrize(
    ("kind", "before", "after", "order", "expected"),
    [
        ("number", 1, 2.5, (), 1),
        ("number", 2.5, 1, (), -1),
        ("ordered", "b", "a", ("b", "a"), 1),
        ("ordered", "b", "a", (), 0),
        ("ordered", 1, 0, (), -1),
        ("ordered", False, True, (False, True), 0),
        ("category", "a", "b", ("a", "b"), 0),
        ("number", None, 1.0, (), 0),
    ],
)
def test_direction(kind, before, after, order, expected):
    assert direction(kind, before, after, order) == expected


def test_all_that_is_said_of_statuses_is_of_some():
    assert {*CAUTIONS, *NO_RECOURSE} <= {str(status) for status in Status}
