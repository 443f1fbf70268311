from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from robust_recourse import ActionSet, RobustBayesianRecourse, Status
from robust_recourse.math.adversary import recover
from robust_recourse.report._plane import choose_plane
from robust_recourse.report._traces import trace_of

NAMES = ["age", "income", "debt", "years", "loans", "score"]


def accepts(X):
    X = np.asarray(X)
    return X[:, 0] + X[:, 1] ** 2 - 0.5 * X[:, 2] * X[:, -1] > 0.5


def explain(p, **parameters):
    X = np.random.default_rng(p).normal(size=(400, p))
    method = RobustBayesianRecourse(accepts, random_state=0, n_samples=60, **parameters).fit(X)
    return method.explain(X[~accepts(X)][:4])


@pytest.fixture(scope="module")
def recourse():
    return explain(6)[0]


@pytest.fixture(scope="module")
def partly():
    return explain(6, actions=ActionSet(immutable=[1, 4]))[0]


def gram_schmidt(first, second):
    first = first / np.linalg.norm(first)
    second = second - (second @ first) * first
    return np.array([first, second / np.linalg.norm(second)])


def test_plane_of_the_way_holds_the_three_points_exactly(recourse):
    plane = choose_plane(recourse, show="way")
    points = np.array([recourse.x0, recourse.boundary, recourse.x])
    np.testing.assert_allclose(plane.embed(plane.project(points)), points, atol=1e-12)
    start, boundary, end = plane.project(points)
    np.testing.assert_allclose(start, 0.0, atol=1e-12)
    np.testing.assert_allclose(end, [np.linalg.norm(recourse.x - recourse.x0), 0.0], atol=1e-12)
    assert boundary[1] > 0.0
    assert "refused point to the recourse" in plane.labels[0]
    assert "boundary point" in plane.labels[1]


def test_plane_of_the_neighbourhood_holds_boundary_recourse_and_centres(recourse):
    plane = choose_plane(recourse)
    around = recourse.trace.neighbourhood
    ahead = around.samples[around.accepted].mean(axis=0) - around.samples[~around.accepted].mean(axis=0)
    points = np.array([recourse.boundary, recourse.x, recourse.boundary + ahead])
    np.testing.assert_allclose(plane.embed(plane.project(points)), points, atol=1e-12)
    np.testing.assert_allclose(plane.project(recourse.boundary), 0.0, atol=1e-12)
    assert plane.project(points[2])[1] > 0.0


@pytest.mark.parametrize("show", ["way", "neighbourhood"])
def test_projection_is_the_naive_one(recourse, show):
    plane = choose_plane(recourse, show=show)
    np.testing.assert_allclose(plane.basis @ plane.basis.T, np.eye(2), atol=1e-12)
    anchor = recourse.x0 if show == "way" else recourse.boundary
    naive = [[(point - anchor) @ unit for unit in plane.basis] for point in recourse.trace.neighbourhood.samples]
    np.testing.assert_allclose(plane.project(recourse.trace.neighbourhood.samples), naive, atol=1e-12)


def test_columns_are_shown_as_their_values(recourse):
    plane = choose_plane(recourse, ("debt", -1), NAMES)
    assert plane.labels == ("debt", "score")
    assert not plane.whole
    samples = recourse.trace.neighbourhood.samples
    np.testing.assert_allclose(plane.project(samples), samples[:, [2, 5]])
    slice_ = plane.embed(plane.project(samples))
    np.testing.assert_allclose(slice_[:, [2, 5]], samples[:, [2, 5]])
    others = [0, 1, 3, 4]
    np.testing.assert_array_equal(slice_[:, others], np.tile(recourse.boundary[others], (len(samples), 1)))


def test_given_directions_are_orthonormalised(recourse):
    first, second = np.random.default_rng(0).normal(size=(2, 6))
    plane = choose_plane(recourse, [5.0 * first, second])
    np.testing.assert_allclose(plane.basis, gram_schmidt(first, second))
    samples = recourse.trace.neighbourhood.samples
    np.testing.assert_allclose(plane.project(samples), (samples - recourse.boundary) @ plane.basis.T)


def test_names_may_be_tuples_or_numbers(recourse):
    tuples = [("a", k) for k in range(6)]
    np.testing.assert_array_equal(choose_plane(recourse, (tuples[3], tuples[1]), tuples).basis, np.eye(6)[[3, 1]])
    numbers = pd.Index([10, 11, 0, 1, 2, 3])
    np.testing.assert_array_equal(choose_plane(recourse, (0, 10), numbers).basis, np.eye(6)[[2, 0]])


def test_covariances_are_projected(partly):
    around = partly.trace.neighbourhood
    plane = choose_plane(partly).within(around)
    mixture = recover(partly.boundary[around.free], around.free_samples, around.accepted, 0.1, 0.05, 0.07).accepted
    naive = np.array([plane.basis @ matrix @ plane.basis.T for matrix in mixture.covariances])
    np.testing.assert_allclose(plane.project_spread(mixture.directions, mixture.along, mixture.across), naive)


def test_planes_stay_in_the_columns_that_may_change(partly):
    for show in ("way", "neighbourhood"):
        plane = choose_plane(partly, show=show)
        np.testing.assert_array_equal(plane.basis[:, [1, 4]], 0.0)
        inner = plane.within(partly.trace.neighbourhood)
        samples = partly.trace.neighbourhood
        np.testing.assert_allclose(inner.project(samples.free_samples), plane.project(samples.samples))


@pytest.mark.parametrize(("immutable", "labels"), [([0, 1, 2, 4], ("years", "score")), ([0, 1, 2, 3, 4], ("score",))])
def test_few_free_columns_are_shown_as_they_are(immutable, labels):
    recourse = next(r for r in explain(6, actions=ActionSet(immutable=immutable)) if r.trace.neighbourhood is not None)
    plane = choose_plane(recourse, columns=NAMES)
    assert plane.labels == labels
    assert plane.whole
    assert plane.is_line == (len(labels) == 1)
    samples = recourse.trace.neighbourhood.samples
    np.testing.assert_allclose(plane.embed(plane.project(samples)), samples)
    if plane.is_line:
        np.testing.assert_array_equal(plane.spots(samples)[:, 1], 0.0)
        with pytest.raises(ValueError, match="only 'score' can be shown"):
            choose_plane(recourse, ("score", "age"), NAMES)


def test_a_recourse_at_the_boundary_point_still_has_a_plane(recourse):
    trace = replace(recourse.trace, x=recourse.boundary)
    stayed = replace(recourse, trace=trace)
    for show in ("way", "neighbourhood"):
        plane = choose_plane(stayed, show=show)
        np.testing.assert_allclose(plane.basis @ plane.basis.T, np.eye(2), atol=1e-12)
    around = replace(trace.neighbourhood, accepted=np.ones(60, dtype=bool))
    one_class = replace(stayed, trace=replace(trace, neighbourhood=around))
    plane = choose_plane(one_class, show="way")
    assert plane.labels[1] == "across that line, in the direction of column 0"
    np.testing.assert_allclose(plane.basis @ plane.basis.T, np.eye(2), atol=1e-12)


@pytest.mark.parametrize(
    ("directions", "message"),
    [
        ((0, 6), "no column 6, the columns are 0 to 5"),
        ((0, -7), "no column -7"),
        ((3, 3), "two different columns, got 'years' twice"),
        (("age", "height"), "names column 'height', which is not known. The columns are 'age', 'income'"),
        ((0, 1.5), "names column 1.5"),
        ((0, True), "names column True"),
        ((0, 1, 2), "got 3 entries"),
        ("ab", "a pair of columns"),
        (3, "a pair of columns"),
        (np.eye(6)[:2, :5], r"shape \(2, 6\), not \(2, 5\)"),
        ([[1.0, 2.0], [1.0]], r"array of shape \(2, 6\)"),
        ([np.zeros(6), np.ones(6)], "must not be zero, row 0 is"),
        ([np.ones(6), -2.0 * np.ones(6)], "parallel"),
        ([np.ones(6), np.full(6, np.nan)], "finite"),
    ],
)
def test_wrong_directions(recourse, directions, message):
    with pytest.raises(ValueError, match=message):
        choose_plane(recourse, directions, NAMES)


def test_unknown_and_ambiguous_names(recourse):
    with pytest.raises(ValueError, match="Pass their names as columns"):
        choose_plane(recourse, ("age", "debt"))
    with pytest.raises(ValueError, match=r"2 columns are named 'age'. Give their numbers"):
        choose_plane(recourse, ("age", "debt"), ["age", "age", "debt", "d", "e", "f"])
    with pytest.raises(ValueError, match="columns must name all 6 columns, got 2"):
        choose_plane(recourse, columns=["age", "debt"])


def test_columns_that_may_not_change_are_no_directions(partly):
    with pytest.raises(ValueError, match=r"nothing varies in 'income' here.*'age', 'debt', 'years', 'score'"):
        choose_plane(partly, ("age", "income"), NAMES)
    with pytest.raises(ValueError, match="column 4 may not change, its entries must be 0"):
        choose_plane(partly, [np.eye(6)[0], np.eye(6)[4] + np.eye(6)[3]])


def test_no_neighbourhood_says_why():
    X = np.random.default_rng(0).normal(size=(200, 6))
    found = RobustBayesianRecourse(accepts, random_state=0).fit(X).explain(X[accepts(X)][:1])
    assert found.status[0] is Status.ALREADY_FAVOURABLE
    with pytest.raises(ValueError, match=r"'already favourable'.*accepts the row as it is"):
        trace_of(found[0])
    with pytest.raises(TypeError, match=r"found\[0\], got Recourses"):
        trace_of(found)


def test_what_was_read_from_a_file_cannot_be_drawn(recourse):
    with pytest.raises(ValueError, match="files do not hold the neighbourhoods"):
        trace_of(replace(recourse, trace=None))
