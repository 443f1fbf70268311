"""Bad input raises at once and names the argument, the row and what to do."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from robust_recourse import ActionSet, ModelError, RobustBayesianRecourse


def accepts(X):
    return np.asarray(X)[:, 0] > 0


X = np.random.default_rng(0).uniform(-1, 1, (100, 2))


def with_value(value, row=3):
    rows = X[:5].copy()
    rows[row, 1] = value
    return rows


@pytest.mark.parametrize(
    ("rows", "error", "match"),
    [
        (np.zeros((3, 5)), ValueError, "X must have 2 columns, got 5"),
        (with_value(np.nan), ValueError, "X must be finite, got nan in row 3, column 1"),
        (with_value(-np.inf), ValueError, "X must be finite, got -inf in row 3, column 1"),
        (np.zeros((3, 0)), ValueError, "X must have 2 columns, got 0"),
        (np.zeros(2), ValueError, r"two-dimensional.*reshape\(1, -1\)"),
        (np.zeros((1, 1, 2)), ValueError, "two-dimensional"),
        ([["a", "b"]], TypeError, "X must be numeric"),
        ([[1.0, 2.0], [3.0]], (TypeError, ValueError), "X must be numeric"),
    ],
)
def test_rows_to_explain(rows, error, match):
    with pytest.raises(error, match=match):
        RobustBayesianRecourse(accepts).fit(X).explain(rows)


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        (with_value(np.inf, row=0), "X must be finite, got inf in row 0"),
        (with_value(2e100, row=0), r"X must be within -1e\+100 and 1e\+100, got 2e\+100 in row 0"),
        ([[1, 10**400], [1, 2]], "X must be finite, but has whole numbers that are more than a float can hold"),
        (np.zeros((0, 2)), "X is empty"),
        (np.zeros((4, 0)), "X is empty"),
        (np.zeros(3), "two-dimensional"),
        (-np.ones((7, 2)), "no favourable row: the model refuses all 7 training rows"),
    ],
)
def test_training_rows(rows, match):
    with pytest.raises(ValueError, match=match):
        RobustBayesianRecourse(accepts).fit(rows)


@pytest.mark.parametrize(
    ("parameters", "error", "match"),
    [
        ({"epsilon_0": -0.1}, ValueError, "epsilon_0 must be at least 0, got -0.1"),
        ({"epsilon_1": -1}, ValueError, "epsilon_1 must be at least 0"),
        ({"epsilon_1": np.nan}, ValueError, "epsilon_1 must be finite"),
        ({"sigma": 0.0}, ValueError, "sigma must be greater than 0"),
        ({"sigma": -1.0}, ValueError, "sigma must be greater than 0"),
        ({"sigma": "big"}, TypeError, "sigma must be a real number, got 'big'"),
        ({"sigma": 1e200}, ValueError, "sigma must be at most"),
        ({"sigma": 10**400}, ValueError, "sigma must be finite, got 1e400 or so, more than a float can hold"),
        ({"n_jobs": "x"}, TypeError, "n_jobs must be an integer, got 'x'"),
        ({"n_jobs": 0}, ValueError, "n_jobs must not be 0. Use None or 1 for one process"),
        (
            {"sigma": 1e-9, "epsilon_0": 0.0, "epsilon_1": 0.0},
            ValueError,
            "the sampling radius, 0.2, must be at most 1e.06 times sigma",
        ),
        ({"epsilon_1": 1e6}, ValueError, "epsilon_1, 1e.06, must be at most 1e.06 times sigma, 0.05"),
        ({"delta_plus": -0.2}, ValueError, "delta_plus must be at least 0"),
        ({"sampling_radius": 0.0}, ValueError, "sampling_radius must be greater than 0"),
        ({"sampling_radius": -0.2}, ValueError, "sampling_radius must be greater than 0"),
        ({"radius_unit": "miles"}, ValueError, "radius_unit must be one of 'absolute', 'diameter'"),
        ({"solver": "magic"}, ValueError, "solver must be one of 'exact', 'first-order'"),
        ({"n_neighbors": 0}, ValueError, "n_neighbors must be at least 1"),
        ({"n_neighbors": 2.5}, TypeError, "n_neighbors must be an integer"),
        ({"n_samples": 1}, ValueError, "n_samples must be at least 2"),
        ({"n_samples": 10**9}, ValueError, "n_samples must be at most 1e"),
        ({"random_state": -1}, ValueError, "random_state must be at least 0"),
        ({"target_odds": 0.0}, ValueError, "target_odds must be greater than 0"),
        ({"target_odds": 40.0}, ValueError, "target_odds must be at most 1"),
        ({"target_odds": "low"}, TypeError, "target_odds must be a real number"),
        ({"actions": {"immutable": [0]}}, TypeError, "actions must be an ActionSet, got dict"),
        ({"actions": ActionSet(bounds={0: (1, 0)})}, ValueError, r"bounds\[0\] is empty"),
        ({"actions": ActionSet(immutable=[2])}, ValueError, "names column 2"),
        ({"actions": ActionSet(increase=[0], decrease=[0])}, ValueError, "both increase and decrease"),
    ],
)
def test_parameters(parameters, error, match):
    with pytest.raises(error, match=match):
        RobustBayesianRecourse(accepts, **parameters).fit(X)


def test_constructors_only_store():
    method = RobustBayesianRecourse(None, sigma=-1.0)
    assert method.get_params()["sigma"] == -1.0


def test_explaining_before_fitting():
    with pytest.raises(NotFittedError):
        RobustBayesianRecourse(accepts).explain(X)


@pytest.mark.parametrize(
    ("model", "error"),
    [
        (lambda Z: np.zeros(len(Z)) + 2, ModelError),
        (lambda Z: np.asarray(Z)[:, 0] * 3, ModelError),
        (lambda Z: np.where(np.asarray(Z)[:, 0] > 0, "yes", "no"), ModelError),
        (lambda _: [1], ModelError),
        (None, TypeError),
    ],
)
def test_models_that_do_not_answer_with_two_classes(model, error):
    with pytest.raises(error):
        RobustBayesianRecourse(model).fit(X)


def test_a_model_that_fails_in_the_middle_of_a_batch_names_the_row():
    def fragile(Z):
        Z = np.asarray(Z)
        if (np.abs(Z[:, 1] - 0.123) < 1e-12).any():
            raise FloatingPointError("overflow in layer 2")
        return Z[:, 0] > 0

    rows = -np.abs(X[:20])
    rows[13, 1] = 0.123
    method = RobustBayesianRecourse(fragile).fit(X)
    with pytest.raises(ModelError, match="FloatingPointError for row 13 of X: overflow in layer 2"):
        method.explain(rows)


def test_a_model_that_fails_during_the_search_names_the_row():
    def fragile(Z):
        Z = np.asarray(Z)
        # Only sample points around the boundary of the seventh row come here.
        if ((Z[:, 1] > 5.2) & (Z[:, 0] != -0.5)).any():
            raise RuntimeError("no tree for that")
        return Z[:, 0] > 0

    rows = np.tile([-0.5, 0.0], (10, 1))
    rows[7, 1] = 5.3
    method = RobustBayesianRecourse(fragile, ActionSet(immutable=[1]), random_state=0).fit(X)
    with pytest.raises(ModelError, match="RuntimeError for row 7 of X: no tree for that"):
        method.explain(rows)
