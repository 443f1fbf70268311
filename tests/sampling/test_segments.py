"""Segments that begin with a switch of categories, and the boundary that is found along them."""

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from robust_recourse.math.limits import Limits, Room
from robust_recourse.sampling.boundary import Look, find_boundary
from robust_recourse.sampling.segments import Axes, Switches, nearest_segments

N_CODES = 3


def problem(seed, n_numbers=2, n_categories=2, n_instances=6, n_candidates=40):
    """Random limits, instances and candidates: numbers first, then categories, some of them not known."""
    rng = np.random.default_rng(seed)
    p = n_numbers + n_categories
    way = rng.integers(0, 4, p)
    number = np.arange(p) < n_numbers
    limits = Limits(
        lower=np.where(number & (rng.random(p) < 0.5), -1.5, -np.inf),
        upper=np.where(number & (rng.random(p) < 0.5), 1.5, np.inf),
        rises=way != 1,
        falls=way != 2,
        weights=rng.uniform(0.5, 2.0, p),
        targets=tuple(None if is_number else rng.random(N_CODES) < 0.8 for is_number in number),
    )

    def rows(n, unknown):
        codes = rng.integers(-2 if unknown else -1, N_CODES, (n, n_categories)).astype(float)
        return np.concatenate([rng.uniform(-2, 2, (n, n_numbers)), codes], axis=1)

    # Only instances are beyond bounds: those are the range of the candidates, or such instances are left out before.
    return limits, rows(n_instances, True), np.clip(rows(n_candidates, False), limits.lower, limits.upper)


def everywhere(limits, x0):
    """Room in which all columns may change."""
    return Room(limits, x0, np.ones(x0.shape, dtype=bool))


def moved(x0, candidate, limits):
    """A candidate in the action set of an instance, column by column."""
    end = x0.copy()
    for k, target in enumerate(limits.targets):
        own, other = x0[k], candidate[k]
        if target is None:
            low = min(limits.lower[k], own) if limits.falls[k] else own
            high = max(limits.upper[k], own) if limits.rises[k] else own
            end[k] = min(max(other, low), high)
        elif other >= 0 and target[int(other)] and other != own:
            up = limits.rises[k] and (limits.falls[k] or own >= 0) and other > own
            down = limits.falls[k] and other < own
            end[k] = other if up or down else own
    return end


def price(x, x0, limits):
    return sum(
        weight * (abs(a - b) if target is None else float(a != b))
        for a, b, weight, target in zip(x, x0, limits.weights, limits.targets, strict=True)
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 3), st.integers(0, 3))
def test_the_cost_is_a_distance_of_numbers_and_a_price_of_switches(seed, n_numbers, n_categories):
    if n_numbers + n_categories == 0:
        return
    limits, x0, x = problem(seed, n_numbers, n_categories, 7, 7)
    np.testing.assert_allclose(limits.cost(x, x0), [price(a, b, limits) for a, b in zip(x, x0, strict=True)])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 3), st.integers(0, 3), st.integers(1, 40))
def test_segments_lead_to_the_cheapest_candidates_in_the_action_set(seed, n_numbers, n_categories, last):
    if n_numbers + n_categories == 0:
        return
    limits, x0, candidates = problem(seed, n_numbers, n_categories)
    segments = nearest_segments(everywhere(limits, x0), candidates, 0, last)
    number = np.arange(segments.cost.size)
    owner = segments.owner(number)
    ends = segments.point(number, segments.cost.ravel())
    for i, instance in enumerate(x0):
        naive = sorted(price(moved(instance, candidate, limits), instance, limits) for candidate in candidates)
        np.testing.assert_allclose(np.sort(segments.cost[i]), naive[:last], atol=1e-12)
    every = [[moved(x0[i], candidate, limits) for candidate in candidates] for i in range(len(x0))]
    for point, i, cost in zip(ends, owner, segments.cost.ravel(), strict=True):
        assert any(np.array_equal(point, end) for end in every[i])
        assert price(point, x0[i], limits) == pytest.approx(cost, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.0, 1.0))
def test_along_a_segment_categories_have_switched_and_numbers_move(seed, part):
    limits, x0, candidates = problem(seed)
    segments = nearest_segments(everywhere(limits, x0), candidates, 0, len(candidates))
    number = np.arange(segments.cost.size)
    owner, jump, end = segments.owner(number), segments.jump.ravel(), segments.cost.ravel()
    cost = jump + part * (end - jump)
    points, last = segments.point(number, cost), segments.point(number, end)
    np.testing.assert_array_equal(points[:, 2:], last[:, 2:])
    np.testing.assert_allclose(limits.cost(points, x0[owner]), cost, atol=1e-12)
    lower, upper = limits.box(x0[owner])
    assert ((lower <= points) & (points <= upper))[:, :2].all()
    still = last == x0[owner]
    np.testing.assert_array_equal(points[still], x0[owner][still])  # to the last bit: it would be one more change


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_single_switches_are_all_that_are_allowed(seed):
    limits, x0, _ = problem(seed, 1, 2)
    switches = Switches(everywhere(limits, x0))
    number = np.flatnonzero(switches.cost)
    owner = switches.owner(number)
    points = switches.point(number, switches.cost.ravel()[number])
    found = {(int(i), *point) for i, point in zip(owner, points, strict=True)}
    naive = set()
    for i, instance in enumerate(x0):
        for k, code in product((1, 2), range(N_CODES)):
            other = instance.copy()
            other[k] = code
            end = moved(instance, other, limits)
            if not np.array_equal(end, instance):
                naive.add((i, *end))
    assert found == naive
    np.testing.assert_allclose(limits.cost(points, x0[owner]), switches.cost.ravel()[number])


def test_axes_begin_after_the_switch():
    limits, x0, _ = problem(5)
    limits = Limits(limits.lower, limits.upper, np.ones(4, bool), np.ones(4, bool), limits.weights, limits.targets)
    start = x0.copy()
    start[::2, 3] = np.where(x0[::2, 3] == 0.0, 1.0, 0.0)
    axes = Axes(everywhere(limits, x0), start, np.full(4, -3.0), np.full(4, 3.0))
    number = np.flatnonzero(axes.cost)
    owner = axes.owner(number)
    way = axes.cost.ravel()[number]
    for part in (0.0, 0.3, 1.0):
        cost = axes.jump.ravel()[number] + part * (way - axes.jump.ravel()[number])
        points = axes.point(number, cost)
        np.testing.assert_allclose(limits.cost(points, x0[owner]), cost, atol=1e-12)
        np.testing.assert_array_equal(points[:, 2:], start[owner, 2:])
        assert ((points != x0[owner])[:, :2].sum(axis=1) == (part > 0.0)).all()


@pytest.fixture(scope="session")
def search(asked):
    def search(model, x0, candidates, limits, ranges=None):
        ask = asked(model, len(x0))
        return find_boundary(ask, everywhere(limits, x0), candidates, Look(1000, 0.01, ranges)), ask

    return search


def additive(seed, n_numbers, n_categories):
    """A model that adds what every number and every category counts."""
    rng = np.random.default_rng(seed)
    slope = rng.standard_normal(n_numbers)
    counts = rng.standard_normal((n_categories, N_CODES + 2))

    def model(X):
        codes = X[:, n_numbers:].astype(int)
        score = X[:, :n_numbers] @ slope
        for k in range(n_categories):
            score = score + counts[k, codes[:, k] + 2]
        return score > 1.0

    return model


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 2), st.integers(1, 2))
@example(64, 2, 2)  # both switches are enough, and all ends of the segments are refused
def test_no_point_is_cheaper_than_the_cheapest_of_all_and_none_of_the_segments_has_a_cheaper_one(
    search, seed, n_numbers, n_categories
):
    limits, x0, candidates = problem(seed, n_numbers, n_categories, n_instances=4)
    model = additive(seed, n_numbers, n_categories)
    x0, candidates = x0[~model(x0)], candidates[model(candidates)]
    if not len(x0) or not len(candidates):
        return
    low, high = np.full(x0.shape[1], -2.0), np.full(x0.shape[1], 2.0)
    found, _ = search(model, x0, candidates, limits, (low, high))
    for i, instance in enumerate(x0):
        ways = [moved(instance, candidate, limits) for candidate in candidates]
        segments = list(ways)
        for k in range(n_numbers, n_numbers + n_categories):
            for code in range(N_CODES):
                other = instance.copy()
                other[k] = code
                segments.append(moved(instance, other, limits))
        for k, side in product(range(n_numbers), (low, high)):
            other = instance.copy()
            other[k] = min(side[k], other[k]) if side is low else max(side[k], other[k])
            segments.append(moved(instance, other, limits))
        best = np.inf
        for end in segments:
            t = np.linspace(0.0, 1.0, 201)[:, None]
            points = instance + t * (end - instance)
            points[:, n_numbers:] = end[n_numbers:]
            accepted = points[model(points)]
            if len(accepted):
                best = min(best, limits.cost(accepted, instance).min())
        assert found.found[i] == np.isfinite(best)
        if not found.found[i]:
            continue
        assert model(found.x[i : i + 1])[0]
        cost = price(found.x[i], instance, limits)
        assert cost <= best * (1.0 + 1e-5)
        assert cost >= cheapest_of_all(model, instance, limits, n_numbers) - 1e-9
        lower, upper = limits.box(instance[None])
        assert ((lower[0] <= found.x[i]) & (found.x[i] <= upper[0]))[:n_numbers].all()
        np.testing.assert_array_equal(moved(instance, found.x[i], limits)[n_numbers:], found.x[i, n_numbers:])


def cheapest_of_all(model, instance, limits, n_numbers):
    """A lower bound: the best over all assignments of categories and a fine grid, less what the grid may miss."""
    options = [np.append(np.arange(N_CODES), own) for own in instance[n_numbers:]]
    lower, upper = limits.box(instance[None])
    axes = [
        np.append(np.linspace(max(lower[0, k], -4.0), min(upper[0, k], 4.0), 61), instance[k]) for k in range(n_numbers)
    ]
    points = np.array(list(product(*axes, *options)), dtype=float)
    allowed = np.ones(len(points), dtype=bool)
    for k in range(n_numbers, len(instance)):
        own, code = np.full(len(points), instance[k]), points[:, k]
        allowed &= (code == own) | limits.may_switch(k, own, code)
    points = points[allowed]
    cost = limits.cost(points, instance)[model(points)]
    coarse = sum(limits.weights[k] * np.ptp(axes[k]) / 60 for k in range(n_numbers))
    return cost.min(initial=np.inf) - coarse


def anywhere(weights, targets):
    p = len(weights)
    ends = np.full(p, -np.inf), np.full(p, np.inf)
    return Limits(*ends, np.ones(p, bool), np.ones(p, bool), np.array(weights), targets)


def test_only_a_switch_is_enough(search):
    limits = anywhere([1.0, 3.0], (np.ones(3, bool), np.ones(3, bool)))

    def model(X):
        return (X[:, 0] == 1.0) | (X[:, 1] == 2.0)

    x0 = np.array([[0.0, 0.0], [-2.0, 1.0], [2.0, -2.0]])
    candidates = np.array([[1.0, 2.0], [0.0, 2.0], [1.0, 0.0]])
    found, oracle = search(model, x0, candidates, limits)
    np.testing.assert_array_equal(found.x, [[1.0, 0.0], [1.0, 1.0], [1.0, -2.0]])
    assert oracle.n_queries.max() < 30


def test_a_cheap_switch_and_a_short_way_beat_a_long_way(search):
    limits = anywhere([1.0, 1.0], (None, np.ones(2, bool)))

    def model(X):
        return X[:, 0] + 5.0 * X[:, 1] > 6.0

    found, _ = search(model, np.array([[0.0, 0.0]]), np.array([[9.0, 0.0], [8.0, 1.0]]), limits)
    assert found.x[0, 1] == 1.0
    assert found.x[0, 0] == pytest.approx(1.0, rel=1e-5)


def test_rows_with_and_without_switches_do_not_depend_on_each_other(search):
    limits, x0, candidates = problem(3, n_instances=30)
    model = additive(3, 2, 2)
    x0, candidates = x0[~model(x0)], candidates[model(candidates)]
    ranges = np.full(4, -2.0), np.full(4, 2.0)
    together, asked = search(model, x0, candidates, limits, ranges)
    assert together.found.any()
    for i in range(len(x0)):
        alone, asked_alone = search(model, x0[i : i + 1], candidates, limits, ranges)
        np.testing.assert_array_equal(alone.x[0], together.x[i])
        assert asked_alone.n_queries[0] == asked.n_queries[i]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_columns_that_a_person_may_not_change_are_in_no_segment(seed):
    limits, x0, candidates = problem(seed)
    free = np.random.default_rng(seed).random(x0.shape) < 0.6
    room = Room(limits, x0, free)
    low, high = np.full(4, -2.0), np.full(4, 2.0)
    for segments in (nearest_segments(room, candidates, 0, 10), Switches(room), Axes(room, x0, low, high)):
        number = np.flatnonzero(segments.cost)
        owner = segments.owner(number)
        points = segments.point(number, segments.cost.ravel()[number])
        held = ~free[owner]
        np.testing.assert_array_equal(points[held], x0[owner][held])
        np.testing.assert_allclose(limits.cost(points, x0[owner]), segments.cost.ravel()[number], atol=1e-12)
    # The nearest are those of the people who may change the same columns, in these.
    segments = nearest_segments(room, candidates, 0, 10)
    for i, mask in enumerate(free):
        part = limits.take(mask)
        if mask.any():
            alone = nearest_segments(everywhere(part, x0[i : i + 1, mask]), candidates[:, mask], 0, 10)
            np.testing.assert_array_equal(alone.cost[0], segments.cost[i])
