"""The tables of the profiles against the exact profiles."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from robust_recourse.math import lookup
from robust_recourse.math.lookup import TOLERANCE, ProfileTable, optimistic_table, pessimistic_table
from robust_recourse.math.profiles import optimistic, pessimistic, pessimistic_branches, pessimistic_switches

radii = st.one_of(st.just(0.0), st.floats(1e-6, 4.0))
dimensions = st.sampled_from((1, 2, 3, 8, 30, 100))
seeds = st.integers(0, 2**32 - 1)


def distances(seed, breaks):
    """Distances everywhere, many of them next to both sides of the breaks."""
    rng = np.random.default_rng(seed)
    offsets = 10.0 ** rng.uniform(-12.0, -1.0, 60)
    near = [side for at in breaks for side in (at - offsets, at + offsets, [at, np.nextafter(at, 0.0)])]
    spread = [[0.0], rng.uniform(0.0, 6.0, 300), 10.0 ** rng.uniform(-12.0, 0.0, 50)]
    x = np.concatenate([*spread, *near])
    return x[x >= 0.0]


def assert_accurate(table, exact, x):
    for found, true in zip(table(x), exact, strict=False):
        error = np.abs(found - true) / np.maximum(1.0, np.abs(true))
        assert error.max() <= TOLERANCE, f"{error.max():.1e} at distance {x[error.argmax()]!r}"


@settings(max_examples=25, deadline=None)
@given(radii, seeds)
@example(0.0, 0)
@example(1.0, 0)
def test_the_optimistic_table_agrees_with_the_exact_profile(epsilon, seed):
    x = distances(seed, [epsilon, epsilon + 1.0])
    assert_accurate(optimistic_table(epsilon), optimistic(x, 1.0, epsilon, 1), x)


@settings(max_examples=20, deadline=None)
@given(radii, dimensions, seeds)
@example(0.48, 1, 0)
@example(1.0, 2, 0)
def test_the_pessimistic_table_agrees_with_the_exact_profile(epsilon, p, seed):
    x = distances(seed, pessimistic_switches(1.0, epsilon, p))
    assert_accurate(pessimistic_table(epsilon, p), pessimistic(x, 1.0, epsilon, p), x)


# Here the stretched optimum ends almost where the pushed one takes over: its slope is all but vertical.
@pytest.mark.parametrize(
    ("epsilon", "p"),
    [
        (0.5230702759929101, 3),
        (0.5231591752606946, 3),
        (0.5638535017403037, 4),
        (1.3003351368652574, 30),
        (2.3156319505701566, 100),
        (2.3278567042887754, 100),
        (2.346007586536195, 100),
        (2.3707312120552704, 100),
    ],
)
def test_the_pessimistic_table_is_accurate_where_two_kinds_almost_merge(epsilon, p):
    switch = pessimistic_switches(1.0, epsilon, p)[-1]
    x = np.append(switch - 10.0 ** np.random.default_rng(0).uniform(-15.0, -1.0, 20000), np.nextafter(switch, 0.0))
    assert_accurate(pessimistic_table(epsilon, p), pessimistic(x, 1.0, epsilon, p), x)


@pytest.mark.parametrize("epsilon", [1e6, 1e10, 1e15])
def test_a_table_of_a_huge_radius_is_as_accurate_as_its_distances(epsilon):
    x = np.concatenate([epsilon + np.linspace(0.0, 3.0, 100), np.linspace(0.0, 4.0 * epsilon, 100)])
    for table, exact in (
        (optimistic_table(epsilon), optimistic(x, 1.0, epsilon, 1)),
        (pessimistic_table(epsilon, 2), pessimistic(x, 1.0, epsilon, 2)),
    ):
        for found, true in zip(table(x), exact, strict=False):
            assert np.all(np.abs(found - true) <= (TOLERANCE + 1e-14 * epsilon) * np.maximum(1.0, np.abs(true)))


@pytest.mark.parametrize("largest", [4.0, 50.0, 1e6])
def test_a_table_grows_as_far_as_needed_and_stays_accurate(largest):
    x = np.append(np.random.default_rng(0).uniform(0.0, largest, 500), largest)
    for epsilon, p in [(0.0, 2), (0.5, 1), (1.0, 2), (2.0, 30)]:
        table = ProfileTable(pessimistic_branches(epsilon, p))
        assert table.reach <= 4.0 < largest or largest == 4.0
        assert_accurate(table, pessimistic(x, 1.0, epsilon, p), x)
        assert table.reach > largest


def test_growing_changes_no_answer_within_the_old_reach():
    table = ProfileTable(pessimistic_branches(0.7, 3))
    x = np.linspace(0.0, np.nextafter(table.reach, 0.0), 1001)
    before, cells = table(x), table.n_cells
    table(np.array([1e3]))
    assert table.n_cells > cells
    np.testing.assert_array_equal(table(x), before)


def test_tables_are_cached():
    assert optimistic_table(0.3) is optimistic_table(0.3)
    assert pessimistic_table(0.3, 2) is pessimistic_table(0.3, 2)
    assert pessimistic_table(0.3, 2) is not pessimistic_table(0.3, 3)


@settings(max_examples=12, deadline=None)
@given(radii, dimensions)
def test_values_are_continuous_where_two_pieces_meet(epsilon, p):
    for table in (optimistic_table(epsilon), pessimistic_table(epsilon, p)):
        table(np.array([20.0]))
        ends = np.array([piece.start for piece in table._mesh.pieces[1:]])
        assert len(ends)
        before, after = table(np.nextafter(ends, 0.0))[0], table(ends)[0]
        np.testing.assert_allclose(before, after, rtol=1e-12, atol=1e-12)


def test_an_answer_does_not_depend_on_the_other_distances(monkeypatch):
    table = pessimistic_table(0.6, 4)
    x = np.random.default_rng(1).uniform(0.0, 9.0, 400)
    together = np.stack(table(x))
    monkeypatch.setattr(lookup, "_BLOCK", 7)
    np.testing.assert_array_equal(table(x), together)
    np.testing.assert_array_equal(np.concatenate([table(x[i : i + 1]) for i in range(len(x))], axis=1), together)


def test_no_distances_are_answered_by_nothing():
    assert [part.shape for part in optimistic_table(1.0)(np.empty(0))] == [(0,), (0,)]


KINKED = ((0.48, 1), (1.0, 2), (1.0, 3), (2.0, 30), (4.0, 1), (4.0, 2))
SMOOTH = ((0.0, 2), (0.1, 1), (0.1, 2), (0.3, 8), (0.5, 100))


def naive_jumps(epsilon, p):
    """Where the slope of the exact pessimistic profile jumps, and by how much; at 0 from nothing."""
    jumps = {0.0: float(pessimistic(0.0, 1.0, epsilon, p).slope)}
    for at in pessimistic_switches(1.0, epsilon, p):
        before, after = pessimistic([at - 1e-9, at + 1e-9], 1.0, epsilon, p).slope
        jumps[float(at)] = float(after - before)
    return {at: jump for at, jump in jumps.items() if jump > 1e-4}


@pytest.mark.parametrize(("epsilon", "p"), KINKED + SMOOTH)
def test_a_table_knows_whether_its_profile_has_kinks(epsilon, p):
    assert bool(naive_jumps(epsilon, p)) == ((epsilon, p) in KINKED)
    assert pessimistic_table(epsilon, p).kinked == ((epsilon, p) in KINKED)


@pytest.mark.parametrize(("epsilon", "p"), KINKED)
@pytest.mark.parametrize("rounding", [1e-3, 0.02])
def test_rounding_off_makes_the_slope_continuous(epsilon, p, rounding):
    table = ProfileTable(pessimistic_branches(epsilon, p), rounding)
    assert table(np.zeros(1))[1] == 0.0
    ends = np.array([piece.start for piece in table._mesh.pieces[1:]])
    before, after = table(np.nextafter(ends, 0.0)), table(ends)
    np.testing.assert_allclose(before, after, rtol=1e-8, atol=1e-8)
    x = np.linspace(0.0, 3.9, 400001)
    steepest = max(naive_jumps(epsilon, p).values()) / rounding + 10.0
    assert np.abs(np.diff(table(x)[1])).max() <= steepest * (x[1] - x[0])


@pytest.mark.parametrize(("epsilon", "p"), KINKED)
@pytest.mark.parametrize("rounding", [1e-3, 0.02])
def test_rounding_off_raises_the_value_a_little_and_only_at_the_kinks(epsilon, p, rounding):
    table = ProfileTable(pessimistic_branches(epsilon, p), rounding)
    jumps = naive_jumps(epsilon, p)
    x = np.concatenate([np.linspace(0.0, 6.0, 2001), *(at + np.linspace(0.0, rounding, 201) for at in jumps)])
    exact = pessimistic(x, 1.0, epsilon, p)
    near = np.min([np.abs(x - at) for at in jumps], axis=0) < rounding
    assert_accurate(table, tuple(part[~near] for part in exact[:2]), x[~near])
    raised = table(x)[0] - exact.value
    # To the third order in the rounding the bound is sharp at a tip.
    assert raised.min() >= -(rounding**3)
    assert raised.max() <= 0.5 * rounding * max(jumps.values()) + rounding**3
    assert raised.max() > 0.1 * rounding * max(jumps.values())


@pytest.mark.parametrize(("epsilon", "p"), SMOOTH)
def test_rounding_off_leaves_a_smooth_profile_alone(epsilon, p):
    x = np.linspace(0.0, 5.0, 1001)
    branches = pessimistic_branches(epsilon, p)
    np.testing.assert_array_equal(ProfileTable(branches, 0.1)(x), ProfileTable(branches)(x))


def test_threads_may_extend_a_table_while_others_read_it():
    exact = ProfileTable(pessimistic_branches(1.2, 2))
    at = np.linspace(0.0, 1e4, 4001)
    expected = exact(at)
    for _ in range(5):
        table = ProfileTable(pessimistic_branches(1.2, 2))
        reaches = [at[at <= 10.0 * 2.0**k] for k in range(12)] * 8
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(table, reaches))
        for value, slope in found:
            np.testing.assert_array_equal(value, expected[0][: len(value)])
            np.testing.assert_array_equal(slope, expected[1][: len(slope)])
