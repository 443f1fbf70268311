import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robust_recourse.metrics import accepted_by, distances, future_validity, hypervolume, pareto_frontier
from robust_recourse.models.errors import ModelError


def test_rows_without_recourse_are_not_accepted():
    X = np.array([[1.0, 1.0], [np.nan, np.nan], [-1.0, 0.0]])
    np.testing.assert_array_equal(accepted_by(lambda Z: Z[:, 0] > 0, X), [True, False, False])
    np.testing.assert_array_equal(accepted_by(lambda Z: Z[:, 0] > 0, np.full((2, 2), np.nan)), False)


def test_future_validity_is_the_share_of_models():
    models = [lambda Z, limit=limit: Z[:, 0] > limit for limit in (0.0, 1.0, 2.0, 3.0)]
    X = np.array([[0.5], [2.5], [9.0], [np.nan]])
    np.testing.assert_array_equal(future_validity(models, X), [0.25, 0.75, 1.0, 0.0])


def test_frames_work_too():
    X = pd.DataFrame({"a": [0.5, np.nan]})
    np.testing.assert_array_equal(future_validity([lambda F: F["a"] > 0], X), [1.0, 0.0])


JOBS = pd.CategoricalDtype(["clerk", "cook", "judge"])
PEOPLE = pd.DataFrame(
    {
        "job": pd.Categorical(["clerk", "cook", None, "judge"], dtype=JOBS),
        "children": [0, 1, 2, 3],
        "owner": [True, False, True, False],
        "town": ["Ulm", "Bonn", "Ulm", None],
        "income": [100.0, np.nan, 300.0, 400.0],
    },
    index=list("wxyz"),
)


def test_the_model_gets_the_rows_as_they_are():
    seen = []

    def model(frame):
        seen.append(frame)
        return np.where(frame["job"] == "cook", "approved", "refused")

    np.testing.assert_array_equal(accepted_by(model, PEOPLE, favourable="approved"), [False, True, False, False])
    pd.testing.assert_frame_equal(seen[0], PEOPLE)
    np.testing.assert_array_equal(future_validity([model] * 2, PEOPLE, favourable="refused"), [1.0, 0.0, 1.0, 1.0])


def test_rows_without_recourse_change_no_type_of_the_others():
    found = PEOPLE.astype({"children": "Int64", "owner": "boolean"})
    found.loc["x"] = [None, pd.NA, pd.NA, None, np.nan]
    seen = []

    def model(frame):
        seen.append(frame)
        return frame["children"] > 1

    np.testing.assert_array_equal(accepted_by(model, found), [False, False, True, True])
    pd.testing.assert_frame_equal(seen[0], PEOPLE.loc[["w", "y", "z"]])


def test_values_that_are_really_missing_go_to_the_model():
    X = np.array([[1.0, np.nan], [np.nan, np.nan], [-1.0, np.nan]])
    np.testing.assert_array_equal(accepted_by(lambda Z: Z[:, 0] > 0, X), [True, False, False])
    found = PEOPLE.astype({"children": "Int64"})
    found.loc["y", "children"] = pd.NA
    seen = []

    def model(frame):
        seen.append(frame)
        return frame["owner"]

    np.testing.assert_array_equal(accepted_by(model, found), PEOPLE["owner"])
    assert seen[0]["children"].dtype == "Int64"


def test_a_threshold_and_scores():
    X = np.array([[1.0], [2.0], [3.0], [np.nan]])
    score = lambda Z: 10.0 * Z[:, 0]  # noqa: E731
    np.testing.assert_array_equal(accepted_by(score, X, threshold=20.0), [False, True, True, False])
    below = future_validity([score, lambda Z: Z[:, 0]], X, favourable="below", threshold=10.0)
    np.testing.assert_array_equal(below, [1.0, 0.5, 0.5, 0.0])


def test_errors_name_the_rows_of_the_table():
    def model(frame):
        if (frame["town"] == "Bonn").any():
            raise KeyError("Bonn")
        return frame["owner"]

    found = PEOPLE.astype({"children": "Int64", "owner": "boolean"}).iloc[[3, 0, 1, 2]]
    found.iloc[0] = [None, pd.NA, pd.NA, None, np.nan]
    with pytest.raises(ModelError, match="KeyError for row 2 of X"):
        accepted_by(model, found)
    with pytest.raises(ValueError, match=r"X must be finite, got inf in row 1, column 0"):
        accepted_by(model, [[0.0], [np.inf]])


def test_frames_of_polars():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"job": ["cook", None, "clerk"], "children": [1, None, 2]})

    def model(rows):
        assert isinstance(rows, polars.DataFrame)
        assert rows.columns == ["job", "children"]
        return rows["job"] == "clerk"

    np.testing.assert_array_equal(accepted_by(model, frame), [False, False, True])
    np.testing.assert_array_equal(distances(frame[["children"]], [[0.0], [1.0], [5.0]]).l1, [1.0, np.nan, 3.0])


def test_no_rows_are_no_trouble():
    assert accepted_by(lambda Z: Z[:, 0] > 0, np.zeros((0, 2))).shape == (0,)
    assert accepted_by(lambda frame: frame["owner"], PEOPLE.iloc[:0]).shape == (0,)


def test_no_models_is_an_error():
    with pytest.raises(ValueError, match="models is empty"):
        future_validity([], np.zeros((1, 1)))


def test_distances_count_changes_and_keep_missing_rows():
    x0 = pd.DataFrame({"a": [0.0, 1.0, 2.0], "b": [0.0, 1.0, 2.0]})
    x = pd.DataFrame({"b": [0.0, 1.5, np.nan], "a": [3.0, 0.0, np.nan]})
    found = distances(x, x0)
    np.testing.assert_allclose(found.l1, [3.0, 1.5, np.nan])
    np.testing.assert_allclose(found.l2, [3.0, np.sqrt(1.25), np.nan])
    np.testing.assert_array_equal(found.n_changes, [1.0, 2.0, np.nan])
    with pytest.raises(ValueError, match="same shape"):
        distances(np.zeros((2, 2)), np.zeros((3, 2)))


def test_distances_of_integers_booleans_and_values_that_are_missing_on_both_sides():
    x0 = PEOPLE[["children", "owner", "income"]]
    x = x0.assign(children=[0, 1, 5, 3], owner=[False, False, True, False])
    x = x.astype({"children": "Int64", "owner": "boolean"})
    x.loc["z"] = [pd.NA, pd.NA, np.nan]
    found = distances(x, x0)
    np.testing.assert_array_equal(found.l1, [1.0, 0.0, 3.0, np.nan])
    np.testing.assert_array_equal(found.n_changes, [1.0, 0.0, 1.0, np.nan])
    gained = distances([[1.0, 2.0]], [[1.0, np.nan]])
    assert np.isnan(gained.l1[0])


def test_distances_are_between_numbers():
    for column in ("job", "town"):
        with pytest.raises(TypeError, match=rf"x: column '{column}' has dtype .*Use cost"):
            distances(PEOPLE[[column, "income"]], PEOPLE[[column, "income"]])


grid = st.integers(0, 4).map(lambda k: k / 4)
points = st.lists(st.tuples(grid, grid), min_size=1, max_size=12)


@given(points)
def test_the_frontier_is_what_nothing_dominates(pairs):
    cost, validity = np.array(pairs).T
    frontier = pareto_frontier(cost, validity)

    def dominated(i):
        return any(
            (cost[j] <= cost[i] and validity[j] >= validity[i] and (cost[j], validity[j]) != (cost[i], validity[i]))
            for j in range(len(cost))
        )

    assert {tuple(pair) for pair in np.array(pairs)[frontier]} == {
        pairs[i] for i in range(len(pairs)) if not dominated(i)
    }
    assert len({pairs[i] for i in frontier}) == len(frontier)
    assert (np.diff(cost[frontier]) > 0).all()
    assert (np.diff(validity[frontier]) > 0).all()


@given(points, grid, st.sampled_from([0.0, 0.25, 0.5]))
def test_the_hypervolume_is_the_share_of_cells_that_a_point_dominates(pairs, most, least):
    most = most + 0.5
    cost, validity = np.array(pairs).T
    # All corners lie on a grid of eighths, so that the middles of its cells decide.
    middles = [(c, v) for c in np.arange(1, 32, 2) / 16 for v in np.arange(1, 16, 2) / 16 if c < most and v > least]
    inside = [any(ci <= c and vi >= v for ci, vi in pairs) for c, v in middles]
    assert hypervolume(cost, validity, (most, least)) == pytest.approx(np.mean(inside))


def test_a_better_point_makes_the_hypervolume_larger_and_nan_counts_for_nothing():
    base = hypervolume([1.0, np.nan], [0.5, 1.0], (2.0, 0.0))
    assert base == 0.25
    assert hypervolume([1.0, 1.5], [0.5, 0.8], (2.0, 0.0)) > base
    assert hypervolume([3.0], [1.0], (2.0, 0.0)) == 0.0
    assert hypervolume([], [], (2.0, 0.0)) == 0.0


@pytest.mark.parametrize("reference", [(0.0, 0.0), (1.0, 1.0), (1.0, -0.1), (np.inf, 0.0)])
def test_a_reference_point_that_means_nothing_raises(reference):
    with pytest.raises(ValueError, match="reference"):
        hypervolume([1.0], [1.0], reference)


@pytest.mark.parametrize(("cost", "validity"), [(-1.0, 0.5), (1.0, 1.5), (1.0, -0.1)])
def test_impossible_points_have_no_volume(cost, validity):
    with pytest.raises(ValueError, match="must not be negative"):
        hypervolume([cost], [validity], (2.0, 0.0))


def test_points_must_be_pairs():
    with pytest.raises(ValueError, match="same length"):
        pareto_frontier([1.0], [1.0, 2.0])
