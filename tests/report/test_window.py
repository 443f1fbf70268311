from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robust_recourse.notices.writing import Writer
from robust_recourse.report._axis import Categories, Numbers
from robust_recourse.report._plane import Plane
from robust_recourse.report._window import Window, evenly, extent, jitter, window_around

PLANE = Plane(np.zeros(3), np.eye(3)[:2], np.zeros(2), ("a", "b"), False)
LINE = Plane(np.zeros(3), np.eye(3)[:1], np.zeros(1), ("a",), True)


@pytest.mark.parametrize("shape", [1.0, 1.6])
def test_window_holds_everything_in_its_shape(shape):
    spots = np.random.default_rng(0).normal(size=(50, 2)) * [1.0, 3.0]
    (left, right), (bottom, top) = window_around(spots, PLANE, shape)
    assert left < spots[:, 0].min() < spots[:, 0].max() < right
    assert bottom < spots[:, 1].min() < spots[:, 1].max() < top
    assert (right - left) / (top - bottom) == pytest.approx(shape)


def test_window_of_a_line_has_fixed_heights():
    spots = np.array([[0.0, 0.5], [2.0, -0.5]])
    assert window_around(spots, LINE, 1.0) == ((pytest.approx(-0.12), pytest.approx(2.12)), (-1.0, 1.0))
    assert extent(spots, LINE) == 2.0
    assert extent(spots * [1.0, 5.0], PLANE) == 5.0


def test_grid_is_laid_out_by_rows():
    u, v, points = Window((0.0, 1.0), (2.0, 4.0)).grid(PLANE, 4)
    assert points.shape == (5, 5, 3)
    np.testing.assert_allclose(points[1, 3], [u[3], v[1], 0.0])
    u, v, points = Window((0.0, 1.0), (-1.0, 1.0)).grid(LINE, 4)
    np.testing.assert_allclose(points[:, 3], [[u[3], 0.0, 0.0]] * 2)


def test_regions_are_painted_finely_with_few_questions():
    asked = []

    def accepts(points):
        asked.append(len(points))
        return points[:, 0] ** 2 + points[:, 1] ** 2 < 0.5

    window = Window((-1.0, 1.0), (-1.0, 1.0))
    u, v, labels = window.paint(PLANE, accepts)
    np.testing.assert_array_equal(labels, u[None, :] ** 2 + v[:, None] ** 2 < 0.5)
    assert sum(asked) < 0.2 * labels.size
    assert window.paint(PLANE, lambda points: np.ones(len(points), dtype=bool))[2].all()


def test_a_line_is_painted_as_a_strip():
    u, _, labels = Window((-1.0, 1.0), (-1.0, 1.0)).paint(LINE, lambda points: points[:, 0] > 0.3)
    np.testing.assert_array_equal(labels, [u > 0.3, u > 0.3])


def test_evenly_chosen_points_are_far_apart():
    rng = np.random.default_rng(0)
    groups = [rng.uniform(-1.0, 0.0, (80, 2)), rng.uniform(0.0, 1.0, (30, 2))]
    chosen = evenly(groups, 11)
    assert [len(some) for some in chosen] == [6, 5]
    assert all(len(set(some)) == len(some) for some in chosen)

    def least_distance(some):
        points = np.concatenate([group[rows] for group, rows in zip(groups, some, strict=True)])
        return (np.linalg.norm(points[:, None] - points, axis=2) + 9.0 * np.eye(len(points))).min()

    at_random = [[rng.choice(80, 6, replace=False), rng.choice(30, 5, replace=False)] for _ in range(100)]
    assert least_distance(chosen) > max(map(least_distance, at_random))


@pytest.mark.parametrize(
    ("sizes", "n", "counts"), [((5, 50), 14, (5, 9)), ((50, 3), 14, (11, 3)), ((3, 2), 14, (3, 2))]
)
@pytest.mark.parametrize("width", [1, 2])
def test_a_small_class_leaves_its_share_to_the_other(sizes, n, counts, width):
    rng = np.random.default_rng(0)
    chosen = evenly([rng.normal(size=(size, width)) for size in sizes], n)
    assert tuple(len(set(some)) for some in chosen) == counts


def test_evenly_on_a_line_goes_by_rank():
    x = np.random.default_rng(0).permutation(21.0 * np.arange(21))[:, None]
    (first, second) = evenly([x, x], 6)
    np.testing.assert_array_equal(x[first, 0] / 21.0, [0, 10, 20])
    np.testing.assert_array_equal(first, second)


def test_jitter_stays_in_the_strip():
    heights = jitter(200)
    assert np.abs(heights).max() < 1.0
    assert np.histogram(heights, 8)[0].min() > 15


@pytest.mark.parametrize("shape", [1.0, 1.6])
def test_a_window_that_is_too_large_shows_what_can_be(shape):
    spots = np.array([[0.0, 3.0], [1.0, 9.0]])

    def window(*bounds):
        return window_around(spots, replace(PLANE, bounds=bounds), shape)

    free = window_around(spots, PLANE, shape)
    (left, right), up = window((0.0, 50.0), (0.0, 50.0))
    assert free.x[0] < left <= 0.0  # a margin is left around what stands at the bound
    assert left > -0.1
    assert right - left == pytest.approx(free.x[1] - free.x[0])
    assert up == free.y
    left, right = window((-50.0, 1.0), (0.0, 50.0)).x
    assert 1.0 <= right < 1.1
    # Where there is less than the window is wide, it is in the middle; what is out of bounds is held all the same.
    left, right = window((-1.0, 1.0), (0.0, 50.0)).x
    assert left + 1.0 == pytest.approx(1.0 - right, abs=0.1)
    left, right = window((5.0, 50.0), (0.0, 50.0)).x
    assert left < 0.0 < 1.0 < right


def test_an_axis_with_one_value_only_shows_what_is_beside_it():
    spots = np.array([[0.0, 3.0], [1.0, 3.0]])
    axes = (Categories(np.array([0.0, 2.0]), ("rent", "own")), Numbers(1.0, Writer()))
    plane = replace(PLANE, axes=axes, bounds=((0.0, 1.0), (2.5, 50.0)))
    low, high = window_around(spots, plane, 1.0).y
    assert 2.4 < low < 2.5
    assert 4.0 < high < 4.1


def test_categories_are_those_of_the_axis_or_of_the_spots():
    axes = (Categories(np.array([0.0, 2.0, 3.0]), ("rent", "own", "family")), Numbers(1.0, Writer()))
    plane, spots = replace(PLANE, axes=axes), np.array([[1.0, 3.0], [1.1, 4.0]])
    assert window_around(spots, plane, 1.0).x == (-0.5, 2.5)
    assert window_around(spots, plane, 1.0, every=False).x == (0.5, 1.5)
