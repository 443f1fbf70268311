"""A moved threshold decides exactly, however the model is asked."""

import pickle

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from robust_recourse.futures import MovedThreshold
from robust_recourse.models.acceptance import accepted_by
from robust_recourse.models.predictor import Acceptance, Probabilities


class Fixed:
    """Answers with the probabilities that it is asked about."""

    def __init__(self, classes):
        self.classes_ = np.array(classes)

    def predict_proba(self, X):
        return np.asarray(X)


def columns(shares, k=2, column=1):
    """Return rows of `k` probabilities of which one is given."""
    rest = np.random.default_rng(0).dirichlet(np.ones(k - 1), len(shares))
    return np.insert(rest * (1.0 - shares)[:, None], column, shares, axis=1)


def around(level):
    """Return probabilities at a level, a bit on both sides, and everywhere else."""
    near = level + np.arange(-4, 5) * np.spacing(level)
    return np.clip(np.concatenate([near, np.linspace(0.0, 1.0, 21)]), 0.0, 1.0)


inside = st.floats(0.001, 0.999)


@settings(deadline=None, max_examples=200)
@given(inside, inside)
@example(0.5, 0.5)
@example(0.7, 0.3)
def test_rows_are_accepted_exactly_if_their_probability_reaches_the_new_threshold(moved, asked):
    X = columns(around(moved))
    model = MovedThreshold(Fixed(["bad", "good"]), moved, asked, "good")
    reached = X[:, 1] >= moved
    np.testing.assert_array_equal(accepted_by(model, X, favourable="good", threshold=asked), reached)
    np.testing.assert_array_equal(model.predict(X), np.where(reached, "good", "bad"))
    np.testing.assert_array_equal(model.predict_proba(X)[:, 1] >= asked, reached)


@settings(deadline=None, max_examples=100)
@given(inside)
@example(0.5)
def test_without_a_threshold_labels_and_likelihoods_agree(moved):
    X = columns(around(moved))
    model = MovedThreshold(Fixed([0, 1]), moved)
    reached = X[:, 1] >= moved
    rows = np.arange(len(X))
    np.testing.assert_array_equal(accepted_by(model, X), reached)
    np.testing.assert_array_equal(accepted_by(model.predict_proba, X), reached)
    np.testing.assert_array_equal(Acceptance(model)(X, rows) > 0.5, reached)
    np.testing.assert_array_equal(Probabilities(model)(X, rows), model.predict_proba(X)[:, 1])


@settings(deadline=None, max_examples=100)
@given(inside, inside, st.sampled_from([2, 3, 4]), st.integers(0, 1))
def test_probabilities_are_mapped_piecewise_linearly(moved, asked, k, column):
    shares = np.linspace(0.0, 1.0, 101)
    X = columns(shares, k, column)
    mapped = MovedThreshold(Fixed(range(k)), moved, asked, column).predict_proba(X)
    np.testing.assert_allclose(mapped[:, column], np.interp(shares, [0.0, moved, 1.0], [0.0, asked, 1.0]), atol=1e-12)
    np.testing.assert_allclose(mapped.sum(axis=1), 1.0, rtol=1e-12)
    assert (mapped >= 0.0).all()
    others, before = np.delete(mapped, column, axis=1), np.delete(X, column, axis=1)
    ratios = others[1:-1] / others[1:-1].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(ratios, before[1:-1] / before[1:-1].sum(axis=1, keepdims=True), rtol=1e-9)


def test_of_many_classes_the_likeliest_other_is_predicted():
    X = np.array([[0.5, 0.1, 0.4], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]])
    model = MovedThreshold(Fixed(["a", "b", "c"]), 0.45, 0.6, "c")
    assert model.predict(X).tolist() == ["a", "b", "c"]
    assert accepted_by(model, X, favourable="c", threshold=0.6).tolist() == [False, False, True]


def test_the_favourable_class_may_be_the_first():
    X = np.array([[0.3, 0.7], [0.25, 0.75]])
    model = MovedThreshold(Fixed([0, 1]), 0.3, favourable=0)
    assert model.predict(X).tolist() == [0, 1]
    assert accepted_by(model, X, favourable=0).tolist() == [True, False]


def test_ties_of_a_model_that_counts_neighbours():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    neighbours = KNeighborsClassifier(5).fit(X, (X[:, 0] > rng.normal(size=60)).astype(int))
    share = neighbours.predict_proba(X)[:, 1]
    for threshold in (0.2, 0.4, 0.6, 0.8):
        assert (share == threshold).any()
        np.testing.assert_array_equal(MovedThreshold(neighbours, threshold).predict(X) == 1, share >= threshold)


def test_single_precision_is_compared_as_it_is():
    shares = np.array([[0.4, 0.6]], dtype=np.float32)
    assert MovedThreshold(Fixed([0, 1]), float(np.float32(0.6))).predict(shares).tolist() == [1]
    assert MovedThreshold(Fixed([0, 1]), float(np.nextafter(float(np.float32(0.6)), 1.0))).predict(shares).tolist() == [
        0
    ]


def test_it_is_like_other_estimators():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    model = MovedThreshold(LogisticRegression().fit(X, y), 0.8)
    assert clone(model).get_params()["threshold"] == 0.8
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert "threshold=0.8" in repr(model)


def test_an_unknown_favourable_class_is_an_error():
    model = MovedThreshold(Fixed(["bad", "good"]), 0.6, favourable="Good")
    with pytest.raises(ValueError, match="favourable must be one of the model's classes"):
        model.predict(np.array([[0.5, 0.5]]))
