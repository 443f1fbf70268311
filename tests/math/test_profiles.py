"""The exact profiles against brute force, their optimality conditions and their invariances."""

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from robust_recourse.math.profiles import optimistic, pessimistic, pessimistic_switches

DIMENSIONS = (1, 2, 3, 8, 30, 100)
GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0

dimensions = st.sampled_from(DIMENSIONS)
sigmas = st.floats(0.01, 10.0)
radii = st.one_of(st.just(0.0), st.floats(1e-6, 4.0))  # in units of sigma
positive_radii = st.floats(0.01, 4.0)
distances = st.one_of(st.just(0.0), st.floats(1e-9, 6.0))  # in units of sigma
seeds = st.integers(0, 2**32 - 1)


def random_distances(seed):
    """Distances in units of sigma, most of them where the kind of the optimum may change."""
    rng = np.random.default_rng(seed)
    return np.concatenate([[0.0], rng.random(100), rng.uniform(0.0, 6.0, 100), 10.0 ** rng.uniform(-9.0, 0.0, 20)])


def naive_optimistic_objective(a, d, c, sigma, p):
    return np.log(d) + (c - a) ** 2 / (2.0 * d**2) + (p - 1) * np.log(sigma)


def naive_pessimistic_objective(a, d, c, sigma, epsilon, p):
    value = np.log(d) + (c + a) ** 2 / (2.0 * d**2)
    if p == 1:
        return value
    t = np.sqrt(np.maximum(epsilon**2 - a**2 - (d - sigma) ** 2, 0.0) / (p - 1))
    return value + (p - 1) * np.log(sigma + t)


def naive_maximum(objective):
    """Maximise over the unit square: a dense grid, and a zoom into each of its many local maxima."""
    # Denser towards the edges, where two nearly equal optima can be close.
    nodes = np.sin(np.linspace(0.0, np.pi / 2, 201)) ** 2
    grid = np.stack(np.meshgrid(nodes, nodes, indexing="ij"), axis=-1)
    values = objective(grid[..., 0], grid[..., 1])
    starts = []
    # Local maxima of the best of every line, along either axis: a ridge across the grid hides the others.
    for axis in (0, 1):
        line, best = values.max(axis=axis), values.argmax(axis=axis)
        wide = np.pad(line, 1, constant_values=-np.inf)
        peaks = np.flatnonzero((line >= wide[:-2]) & (line >= wide[2:]))
        peaks = peaks[np.argsort(-line[peaks])][:10]
        starts.append(grid[best[peaks], peaks] if axis == 0 else grid[peaks, best[peaks]])
    centre, width = np.concatenate(starts)[:, None, :], 0.02
    steps = np.stack(np.meshgrid(*2 * [np.linspace(-1.0, 1.0, 9)]), axis=-1).reshape(-1, 2)
    for _ in range(80):
        trials = np.clip(centre + width * steps, 0.0, 1.0)
        best = objective(trials[..., 0], trials[..., 1]).argmax(axis=1)
        centre = np.take_along_axis(trials, best[:, None, None], axis=1)
        width *= 0.85
    return float(objective(centre[..., 0], centre[..., 1]).max())


def naive_optimistic(c, sigma, epsilon, p):
    def objective(size, angle):
        move = epsilon * size
        a, d = move * np.cos(angle * np.pi / 2), sigma + move * np.sin(angle * np.pi / 2)
        return -naive_optimistic_objective(a, d, c, sigma, p)

    return -naive_maximum(objective)


def naive_pessimistic(c, sigma, epsilon, p):
    def objective(first, second):
        # Smooth up to the edge, unlike the objective in (a, d): the root t is infinitely steep where it vanishes.
        a = epsilon * np.sin(first * np.pi / 2)
        s = epsilon * np.cos(first * np.pi / 2) * np.sin(second * np.pi / 2) / np.sqrt(p)
        return naive_pessimistic_objective(a, sigma + s, c, sigma, epsilon, p)

    return naive_maximum(objective)


def assert_global_maximum(value, naive):
    # Never below what brute force finds, which along a flat ridge ends a little below the top itself.
    scale = max(1.0, abs(naive))
    assert -1e-10 * scale <= value - naive <= 1e-7 * scale


def naive_slope(profile, c, sigma, epsilon, p):
    step = 1e-5 * sigma
    return (profile(c + step, sigma, epsilon, p).value - profile(c - step, sigma, epsilon, p).value) / (2.0 * step)


@pytest.mark.parametrize(
    ("p", "epsilon", "c", "expected"),
    [
        (2, 1.0, 0.0, 1.06959999),
        (2, 1.0, 0.3, 1.09733330),
        (2, 1.0, 0.5, 1.34186257),
        (2, 1.0, 2.0, 4.62853203),
        (10, 2.0, 0.2, 4.91334096),
        (10, 2.0, 0.3, 4.97244502),
        (10, 2.0, 4.0, 19.14336310),
        (10, 0.5, 0.8, 1.78134957),
    ],
)
def test_pessimistic_has_the_reference_values(p, epsilon, c, expected):
    assert pessimistic(c, 1.0, epsilon, p).value == pytest.approx(expected, abs=5.1e-9)


@settings(max_examples=60, deadline=None)
@given(distances, radii, sigmas, dimensions)
def test_optimistic_is_the_global_minimum(x, e, sigma, p):
    c, epsilon = x * sigma, e * sigma
    expected = naive_optimistic(c, sigma, epsilon, p)
    assert optimistic(c, sigma, epsilon, p).value == pytest.approx(expected, rel=1e-10, abs=1e-10)


@settings(max_examples=60, deadline=None)
@given(distances, radii, sigmas, dimensions)
@example(0.3, 1.0, 1.0, 2)
@example(0.4931, 0.515228, 1.0, 1)
@example(0.52, 0.48, 1.0, 1)
@example(0.741, 2.13895, 1.0, 100)
def test_pessimistic_is_the_global_maximum(x, e, sigma, p):
    c, epsilon = x * sigma, e * sigma
    assert_global_maximum(pessimistic(c, sigma, epsilon, p).value, naive_pessimistic(c, sigma, epsilon, p))


@settings(max_examples=25, deadline=None)
@given(positive_radii, dimensions, st.sampled_from([-1e-3, -1e-6, 0.0, 1e-6, 1e-3]))
def test_pessimistic_is_the_global_maximum_next_to_a_switch(epsilon, p, offset):
    switches = pessimistic_switches(1.0, epsilon, p)
    assume(len(switches))
    c = switches[-1] * (1.0 + offset)
    assert_global_maximum(pessimistic(c, 1.0, epsilon, p).value, naive_pessimistic(c, 1.0, epsilon, p))


@settings(max_examples=50, deadline=None)
@given(distances, radii, sigmas, dimensions, seeds)
def test_no_feasible_point_beats_either_value(x, e, sigma, p, seed):
    c, epsilon = x * sigma, e * sigma
    rng = np.random.default_rng(seed)
    size, angle = epsilon * np.sqrt(rng.random(2000)), rng.uniform(0.0, np.pi / 2, 2000)
    a, s = size * np.cos(angle), size * np.sin(angle)
    slack = 1e-9 * (1.0 + p * abs(np.log(sigma)))
    assert naive_optimistic_objective(a, sigma + s, c, sigma, p).min() >= optimistic(c, sigma, epsilon, p).value - slack
    tried = naive_pessimistic_objective(a, sigma + s / np.sqrt(p), c, sigma, epsilon, p)
    assert tried.max() <= pessimistic(c, sigma, epsilon, p).value + slack


@settings(max_examples=40, deadline=None)
@given(seeds, radii, sigmas, dimensions)
def test_solutions_are_feasible_and_attain_the_value(seed, e, sigma, p):
    c, epsilon = sigma * random_distances(seed), e * sigma
    slack = 1e-12 * epsilon + 1e-14 * sigma
    value, _, a, d = optimistic(c, sigma, epsilon, p)
    assert np.all((a >= 0.0) & (d >= sigma))
    assert np.all(np.hypot(a, d - sigma) <= epsilon + slack)
    np.testing.assert_allclose(naive_optimistic_objective(a, d, c, sigma, p), value, rtol=1e-11, atol=1e-11)
    value, _, a, d = pessimistic(c, sigma, epsilon, p)
    assert np.all((a >= 0.0) & (d >= sigma))
    assert np.all(np.hypot(a, np.sqrt(p) * (d - sigma)) <= epsilon + slack)
    np.testing.assert_allclose(naive_pessimistic_objective(a, d, c, sigma, epsilon, p), value, rtol=1e-9, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(seeds, radii, sigmas, dimensions)
def test_optimistic_slope_is_the_derivative(seed, e, sigma, p):
    x = random_distances(seed)
    x = x[(x > 1e-3) & (np.abs(x - e) > 1e-3) & (np.abs(x - e - 1.0) > 1e-3)]
    expected = naive_slope(optimistic, x * sigma, sigma, e * sigma, p)
    slope = optimistic(x * sigma, sigma, e * sigma, p).slope
    np.testing.assert_allclose(slope * sigma, expected * sigma, rtol=1e-5, atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(seeds, radii, sigmas, dimensions)
def test_pessimistic_slope_is_the_derivative(seed, e, sigma, p):
    c, epsilon = sigma * random_distances(seed), e * sigma
    apart = [np.abs(c - switch) > 0.02 * sigma for switch in pessimistic_switches(sigma, epsilon, p)]
    c = c[np.all([c > 1e-3 * sigma, *apart], axis=0)]
    expected = naive_slope(pessimistic, c, sigma, epsilon, p)
    slope = pessimistic(c, sigma, epsilon, p).slope
    np.testing.assert_allclose(slope * sigma, expected * sigma, rtol=1e-5, atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(distances, radii, sigmas, dimensions, st.integers(-20, 20))
def test_profiles_scale_with_the_unit_of_length(x, e, sigma, p, power):
    # A power of two scales without rounding, so that no switch is crossed.
    c, epsilon, k = x * sigma, e * sigma, 2.0**power
    for profile in (optimistic, pessimistic):
        value, slope, a, d = profile(c, sigma, epsilon, p)
        scaled = profile(k * c, k * sigma, k * epsilon, p)
        assert scaled.value == pytest.approx(value + p * np.log(k), rel=1e-12, abs=1e-12)
        assert (scaled.slope, scaled.a, scaled.d) == (slope / k, a * k, d * k)


@settings(max_examples=40, deadline=None)
@given(distances, sigmas, dimensions)
def test_without_ambiguity_both_profiles_are_the_gaussian(x, sigma, p):
    c = x * sigma
    for profile in (optimistic, pessimistic):
        value, slope, a, d = profile(c, sigma, 0.0, p)
        assert value == pytest.approx(c**2 / (2.0 * sigma**2) + p * np.log(sigma), rel=1e-13, abs=1e-13)
        assert slope == pytest.approx(c / sigma**2, rel=1e-13)
        assert (a, d) == (0.0, sigma)


@settings(max_examples=40, deadline=None)
@given(distances, radii, radii, sigmas, dimensions)
def test_ambiguity_lowers_the_optimistic_and_raises_the_pessimistic_value(x, e, f, sigma, p):
    small, large = sorted((e * sigma, f * sigma))
    c, slack = x * sigma, 1e-9 * (1.0 + p * abs(np.log(sigma)))
    assert optimistic(c, sigma, large, p).value <= optimistic(c, sigma, small, p).value + slack
    assert pessimistic(c, sigma, large, p).value >= pessimistic(c, sigma, small, p).value - slack


@settings(max_examples=40, deadline=None)
@given(radii, sigmas, dimensions)
def test_pessimistic_is_convex(e, sigma, p):
    c = np.linspace(0.0, 6.0 * sigma, 241)
    value, slope, _, _ = pessimistic(c, sigma, e * sigma, p)
    assert np.all(np.diff(slope * sigma) >= -1e-9)
    assert np.all(value[1:-1] <= 0.5 * (value[:-2] + value[2:]) + 1e-11 * np.abs(value).max())


@settings(max_examples=40, deadline=None)
@given(seeds, positive_radii, sigmas, dimensions)
def test_optimistic_satisfies_its_stationarity_conditions(seed, e, sigma, p):
    x = random_distances(seed)
    near = x <= e + 1.0
    c, epsilon = x * sigma, e * sigma
    _, _, a, d = optimistic(c, sigma, epsilon, p)
    assert np.all(d[near] == sigma)
    np.testing.assert_allclose(a[near], np.minimum(c, epsilon)[near], rtol=1e-14)
    rho, s = ((c - a) / d)[~near], (d - sigma)[~near]
    np.testing.assert_allclose(np.hypot(a[~near], s), epsilon, rtol=1e-9)
    np.testing.assert_allclose(s, a[~near] * (rho - 1.0 / rho), rtol=1e-7, atol=1e-13 * sigma)


@settings(max_examples=40, deadline=None)
@given(seeds, positive_radii, sigmas, dimensions)
def test_pessimistic_satisfies_the_stationarity_conditions_of_its_kind(seed, e, sigma, p):
    c, epsilon = sigma * random_distances(seed), e * sigma
    _, _, a, d = pessimistic(c, sigma, epsilon, p)
    s, rho = d - sigma, (c + a) / d
    stretched = s > 0.0
    assert np.all(rho[stretched] < 1.0)
    np.testing.assert_allclose((s * rho)[stretched], (a * (1.0 - rho**2))[stretched], rtol=1e-7, atol=1e-12 * sigma)
    if p == 1:
        np.testing.assert_allclose(np.hypot(a, s), epsilon, rtol=1e-9)
    else:
        t = np.sqrt((epsilon**2 - a**2 - s**2) / (p - 1))
        np.testing.assert_allclose(rho * t * (sigma + t), a * d, rtol=1e-7, atol=1e-12 * sigma**2)


@settings(max_examples=40, deadline=None)
@given(positive_radii, sigmas, dimensions)
def test_the_optimum_changes_its_kind_at_the_last_switch_without_a_jump(e, sigma, p):
    epsilon = e * sigma
    switches = pessimistic_switches(sigma, epsilon, p)
    assert np.all(np.diff(switches) > 0.0)
    for switch in switches:
        width = 1e-6 * switch
        before, after = (pessimistic(c, sigma, epsilon, p) for c in (switch - width, switch + width))
        assert before.d > sigma
        # A convex function rises between its slope before and its slope after.
        rise, slack = after.value - before.value, 1e-12 * (1.0 + abs(before.value))
        assert 2.0 * width * before.slope - slack <= rise <= 2.0 * width * after.slope + slack
    beyond = pessimistic(
        np.append(1.0 + 1e-6, 1.5) * switches[-1] if len(switches) else [0.0, sigma], sigma, epsilon, p
    )
    assert np.all(beyond.d == sigma)


def test_in_one_dimension_two_stretched_optima_take_turns_first():
    first, second = pessimistic_switches(1.0, 0.48, 1)
    d = pessimistic([first - 1e-9, first + 1e-9, second - 1e-9, second + 1e-9], 1.0, 0.48, 1).d
    assert d[0] - d[1] > 0.05
    assert d[1] > d[2] > 1.0
    assert d[3] == 1.0


# Radii at which a root finder that trusts the sign at a node of the curve, decided by rounding, finds nothing.
@pytest.mark.parametrize(
    ("epsilon", "p"),
    [
        (0.392018823761266, 2),
        (0.5799974372327029, 4),
        (0.41644093536858895, 8),
        (1.408572297556863, 30),
        (2.4916971971685133, 100),
    ],
)
def test_switches_are_found_for_radii_at_which_two_kinds_almost_merge(epsilon, p):
    (switch,) = pessimistic_switches(1.0, epsilon, p)
    assert pessimistic(0.999 * switch, 1.0, epsilon, p).d > 1.0
    assert pessimistic(1.001 * switch, 1.0, epsilon, p).d == 1.0


@pytest.mark.parametrize(
    ("c", "epsilon", "p"),
    [
        (0.7452376555689529, 1.0791468550554812, 100),
        (0.6232045443123744, 2.9186217857197763, 100),
        (0.6490031184493689, 2.601837105071265, 100),
    ],
)
def test_pessimistic_is_finite_at_distances_that_are_nodes_of_its_own_curve(c, epsilon, p):
    assert pessimistic(c, 1.0, epsilon, p).value == pytest.approx(naive_pessimistic(c, 1.0, epsilon, p), rel=1e-9)


@pytest.mark.parametrize("c", [1e3, 1e6, 1e12])
@pytest.mark.parametrize("p", [1, 2, 30])
def test_far_away_the_whole_radius_is_a_stretch_or_a_push(c, p):
    value, slope, _, d = optimistic(c, 1.0, 2.0, p)
    assert (value, slope) == (pytest.approx(c**2 / 18.0, rel=1e-4), pytest.approx(c / 9.0, rel=1e-4))
    assert d == pytest.approx(3.0, rel=1e-5)
    value, slope, a, d = pessimistic(c, 1.0, 2.0, p)
    assert (a, d) == (pytest.approx(2.0, rel=1e-2), 1.0)
    assert slope == pytest.approx(c + a)
    assert value == pytest.approx(0.5 * (c + a) ** 2, rel=1e-2)


@settings(max_examples=40, deadline=None)
@given(st.floats(0.01, 0.5), sigmas, dimensions)
def test_at_a_sample_a_small_radius_is_spent_on_all_directions_alike(e, sigma, p):
    value, slope, a, d = pessimistic(0.0, sigma, e * sigma, p)
    assert (slope, a) == (0.0, 0.0)
    assert d == pytest.approx(sigma * (1.0 + e / np.sqrt(p)), rel=1e-12)
    assert value == pytest.approx(p * np.log(d), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("p", [1, 2, 3, 8])
def test_at_a_sample_a_large_radius_pushes_the_sample_away(p):
    t = GOLDEN if p > 1 else 0.0
    a = np.sqrt(16.0 - (p - 1) * t**2)
    found = pessimistic(0.0, 1.0, 4.0, p)
    assert found == pytest.approx((0.5 * a**2 + (p - 1) * np.log1p(t), a, a, 1.0), rel=1e-12)
    assert not len(pessimistic_switches(1.0, 4.0, p))


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 4.0])
@pytest.mark.parametrize("p", [1, 3])
def test_at_a_sample_the_optimistic_component_stays(epsilon, p):
    assert optimistic(0.0, 0.5, epsilon, p) == (p * np.log(0.5), 0.0, 0.0, 0.5)


@pytest.mark.parametrize("profile", [optimistic, pessimistic])
@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (2, 3), (2, 0, 3), (2, 1, 4)])
def test_results_have_the_shape_of_the_distances(profile, shape):
    c = np.linspace(0.0, 3.0, int(np.prod(shape))).reshape(shape)
    found = profile(c, 1.0, 0.7, 3)
    assert all(part.shape == shape for part in found)
    for index in np.ndindex(shape):
        alone = profile(float(c[index]), 1.0, 0.7, 3)
        np.testing.assert_allclose([part[index] for part in found], alone, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("profile", [optimistic, pessimistic])
@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("c", -0.1, ValueError),
        ("c", [0.0, np.nan], ValueError),
        ("c", np.inf, ValueError),
        ("sigma", 0.0, ValueError),
        ("sigma", -1.0, ValueError),
        ("sigma", np.nan, ValueError),
        ("sigma", "1", TypeError),
        ("sigma", True, TypeError),
        ("epsilon", -1e-9, ValueError),
        ("epsilon", np.inf, ValueError),
        ("epsilon", False, TypeError),
        ("p", 0, ValueError),
        ("p", 2.0, TypeError),
        ("p", True, TypeError),
    ],
)
def test_bad_input_raises_and_names_the_argument(profile, name, value, error):
    arguments = {"c": 1.0, "sigma": 1.0, "epsilon": 1.0, "p": 2} | {name: value}
    with pytest.raises(error, match=rf"^{name} must be"):
        profile(**arguments)


@pytest.mark.parametrize(("name", "value"), [("sigma", 0.0), ("epsilon", -1.0), ("p", 0)])
def test_switches_of_bad_input_raise_and_name_the_argument(name, value):
    arguments = {"sigma": 1.0, "epsilon": 1.0, "p": 2} | {name: value}
    with pytest.raises(ValueError, match=rf"^{name} must be"):
        pessimistic_switches(**arguments)


@pytest.mark.parametrize("p", [1, 2, 7])
@pytest.mark.parametrize("profile", [optimistic, pessimistic])
def test_at_any_distance_there_is_a_profile_with_the_shape_of_a_gaussian(profile, p):
    c, epsilon = 10.0 ** np.arange(3, 100, 4), 0.5
    found = profile(c, 1.0, epsilon, p)
    # Far away the worst component only stretches, or is only pushed.
    width = 1.0 + epsilon if profile is optimistic else 1.0
    np.testing.assert_allclose(found.d, width, rtol=1e-2)
    np.testing.assert_allclose(found.value, 0.5 * (c / width) ** 2, rtol=1e-2)
    np.testing.assert_allclose(found.slope, c / width**2, rtol=1e-2)
