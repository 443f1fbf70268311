import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse.models.verdicts import Verdicts

shares = st.floats(0.0, 1.0)


def of(value, level, **how):
    return Verdicts(np.array([value]), level, **how)


def agree(said):
    """Score and acceptance are on the side of the level that the decision says."""
    accepted, score, acceptance = said.accepted[0], said.score[0], said.acceptance[0]
    assert np.isfinite(score)
    assert 0.0 <= acceptance <= 1.0
    # Neighbouring numbers may have the same logarithms.
    assert score >= 0.0 if accepted else score <= 0.0
    assert acceptance >= 0.5 if accepted else acceptance <= 0.5


@settings(max_examples=200, deadline=None)
@given(shares, st.floats(0.001, 0.999), st.booleans())
def test_shares(value, level, reaches):
    said = of(value, level, reaches=reaches)
    assert said.accepted[0] == (value >= level if reaches else value > level)
    assert said.probability[0] == value
    agree(said)
    if 1e-9 < value < 1 - 1e-9:
        odds = np.log(value / (1 - value)) - np.log(level / (1 - level))
        np.testing.assert_allclose(said.score, odds, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(said.acceptance, 1 / (1 + np.exp(-odds)), rtol=1e-6)


@settings(max_examples=100, deadline=None)
@given(shares, st.floats(1e-12, 1.0))
def test_rivals(value, level):
    said = Verdicts(np.array([value]), np.array([level]), "rival")
    assert said.accepted[0] == (value > level)
    assert said.probability[0] == value
    agree(said)
    assert said.acceptance[0] == pytest.approx(value / (value + level))
    if value > 0:
        assert said.score[0] == pytest.approx(np.log(max(value, 1e-300) / level), abs=1e-9) or value < 1e-300


@settings(max_examples=100, deadline=None)
@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_scores(value, level):
    said = of(value, level, scale="score", reaches=True)
    assert said.accepted[0] == (value >= level)
    assert said.score[0] == value - level
    assert said.probability[0] == said.acceptance[0] == float(value >= level)
    agree(said)


def test_where_one_half_decides_acceptance_is_the_probability_to_the_last_bit():
    value = np.random.default_rng(0).random(1000)
    np.testing.assert_array_equal(Verdicts(value, 0.5).acceptance, value)


def test_rounding_errors_of_probabilities_are_cut_off():
    said = Verdicts(np.array([-1e-17, 1.0000001]), 0.5)
    np.testing.assert_array_equal(said.probability, [0.0, 1.0])
    assert np.isfinite(said.score).all()
