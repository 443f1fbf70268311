from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse.notices import odds_sentence, odds_text


@settings(deadline=None, max_examples=300)
@given(st.floats(1e-3, 10.0, exclude_max=True))
def test_what_is_said_of_odds_is_a_bound(odds):
    against, for_ = (float(part) for part in odds_text(odds).replace(",", "").removeprefix("at most ").split(" to "))
    assert min(against, for_) == 1.0
    assert odds <= against / for_ * (1.0 + 1e-9)
    assert against / for_ <= 1.5 * odds


@pytest.mark.parametrize("odds", [10.0, 2_753_233_084_963.0, math.inf])
def test_odds_far_above_1_mean_that_there_is_no_margin(odds):
    assert odds_text(odds) == "no margin"
    assert odds_sentence(odds) == "no margin: the model may change only very little"


def test_odds_below_1_hold_even_in_the_worst_case():
    assert odds_sentence(1 / 9) == "even in the worst case the odds of refusal are at most 1 to 9"
    assert odds_sentence(2.0) == "in the worst case the odds of refusal are at most 2 to 1"


@pytest.mark.parametrize("odds", [0.0, 1e-300, 9.9e-4])
def test_tiny_odds_are_below_the_smallest_that_are_told(odds):
    assert odds_text(odds) == "below 1 to 1,000"


def test_nothing_is_said_where_there_are_no_odds():
    assert odds_text(np.nan) == odds_sentence(np.nan) == ""


def test_odds_are_written_in_a_locale():
    pytest.importorskip("babel")
    assert odds_text(0.7, "de_DE") == "at most 1 to 1,4"
    assert odds_text(2.718, "de_DE") == "at most 2,8 to 1"
    assert odds_text(1e-9, "de_DE") == "below 1 to 1.000"
