import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse.models.differences import LogOdds, Margins, central_differences, spread
from robust_recourse.models.predictor import ModelError

ROWS = np.array([4, 5, 9])


def unbounded(X):
    return -np.full(X.shape, np.inf), np.full(X.shape, np.inf)


def all_of(X):
    return np.ones(X.shape, dtype=bool)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 5))
def test_a_quadratic_is_differentiated_exactly(seed, p):
    rng = np.random.default_rng(seed)
    matrix, slope = rng.standard_normal((p, p)), rng.standard_normal(p)

    def score(X, _):
        return ((X @ matrix) * X).sum(axis=1) + X @ slope

    X = rng.uniform(-3, 3, (6, p)) * 10.0 ** rng.uniform(-2, 2, p)
    free = rng.random((6, p)) < 0.7
    value, gradient = central_differences(score, X, np.arange(6), free, 1e-2 * np.abs(X).mean(axis=0), *unbounded(X))
    exact = X @ (matrix + matrix.T) + slope
    np.testing.assert_array_equal(value, score(X, None))
    np.testing.assert_allclose(gradient, np.where(free, exact, 0.0), rtol=1e-6, atol=1e-6 * np.abs(value).max())


def test_a_model_in_single_precision_is_differentiated_well_far_from_zero():
    def single(X, _):
        X = X.astype(np.float32)
        return (np.float32(0.7) * (X[:, 0] - np.float32(50_000.0)) - X[:, 1]).astype(float)

    X = np.array([[50_010.0, 0.3], [49_990.123, -0.2]])
    _, gradient = central_differences(single, X, np.arange(2), all_of(X), 1e-3 * np.ones(2), *unbounded(X))
    np.testing.assert_allclose(gradient, [[0.7, -1.0]] * 2, rtol=1e-3)


def test_the_model_is_never_asked_beyond_the_bounds():
    seen = []

    def logarithm(X, _):
        seen.append(X)
        return np.log(X).sum(axis=1)

    X = np.array([[1.0, 2.0], [1.0005, 3.0], [5.0, 2.0]])
    lower, upper = np.full(X.shape, 1.0), np.full(X.shape, 5.0)
    _, gradient = central_differences(logarithm, X, np.arange(3), all_of(X), 0.01, lower, upper)
    asked = np.concatenate(seen)
    assert asked.min() == 1.0
    assert asked.max() == 5.0
    assert len(asked) == 3 * 5
    np.testing.assert_allclose(gradient, 1.0 / X, rtol=1e-2)


def test_a_column_that_cannot_move_has_no_derivative():
    X, above = np.array([[1.0, 2.0]]), np.array([[1.0, 3.0]])
    _, gradient = central_differences(lambda Z, _: Z.sum(axis=1), X, np.arange(1), all_of(X), 0.1, X, above)
    np.testing.assert_allclose(gradient, [[0.0, 1.0]], rtol=1e-6)


def test_batches_change_nothing(monkeypatch):
    X = np.random.default_rng(0).standard_normal((50, 3))
    arguments = (lambda Z, _: np.sin(Z).sum(axis=1), X, np.arange(50), X > -0.5, 1e-3, *unbounded(X))
    whole = central_differences(*arguments)
    for batch in (1, 17):
        monkeypatch.setattr("robust_recourse.models.differences._BATCH", batch)
        for one, other in zip(central_differences(*arguments), whole, strict=True):
            np.testing.assert_array_equal(one, other)


def test_the_model_is_asked_about_the_columns_of_each_row_that_may_change():
    asked = []

    def score(points, rows):
        asked.extend(zip(rows.tolist(), points.tolist(), strict=True))
        return points.sum(axis=1)

    X, free = np.zeros((3, 2)), np.array([[True, False], [False, False], [True, True]])
    central_differences(score, X, np.array([4, 5, 9]), free, 0.5, *unbounded(X))
    assert sorted(asked) == [
        (4, [-0.5, 0.0]), (4, [0.0, 0.0]), (4, [0.5, 0.0]),
        (5, [0.0, 0.0]),
        (9, [-0.5, 0.0]), (9, [0.0, -0.5]), (9, [0.0, 0.0]), (9, [0.0, 0.5]), (9, [0.5, 0.0]),
    ]  # fmt: skip


def test_scales_survive_outliers_and_constants():
    rng = np.random.default_rng(0)
    table = np.column_stack(
        [
            rng.standard_normal(1000),
            np.append(rng.standard_normal(999), 1e6),  # an outlier
            np.append(np.zeros(900), np.ones(100)),  # mostly one value
            np.full(1000, 0.1),
            np.zeros(1000),
        ]
    )
    np.testing.assert_allclose(spread(table), [1.0, 1.0, 0.3, 1.0, 1.0], rtol=0.1)


class Decides:
    def __init__(self, answer):
        self.answer = answer

    def decision_function(self, _):
        return self.answer


X = np.zeros((3, 2))


def test_margins_are_what_decision_function_answers():
    np.testing.assert_array_equal(Margins(Decides([[1.5], [-2], [0]]))(X, ROWS), [1.5, -2.0, 0.0])


@pytest.mark.parametrize(
    ("answer", "match"),
    [
        ([1.0, np.nan, 2.0], "one finite number.*not all finite"),
        ([1.0, 2.0], r"rows 4, 5, 9 of X.*shape \(2,\)"),
        (np.zeros((3, 3)), r"shape \(3, 3\)"),
        (["a", "b", "c"], "ValueError"),
    ],
)
def test_other_margins_are_refused(answer, match):
    with pytest.raises(ModelError, match=match):
        Margins(Decides(answer))(X, ROWS)


def test_log_odds_are_finite_and_have_the_sign_of_the_label():
    answer = np.array([0.0, 0.5, 1.0])
    odds = LogOdds(lambda _: answer)(X, ROWS)
    assert np.isfinite(odds).all()
    assert odds[0] < -30.0
    assert odds[1] == 0.0
    assert odds[2] > 30.0


def test_the_model_gets_what_decode_gives():
    frame = pd.DataFrame(np.random.default_rng(0).random((3, 2)), columns=["income", "age"])
    decode = lambda Z, _: pd.DataFrame(Z, columns=frame.columns)  # noqa: E731
    odds = LogOdds(lambda table: table["income"], decode)(frame.to_numpy(), ROWS)
    np.testing.assert_allclose(odds, np.log(frame["income"] / (1 - frame["income"])))
