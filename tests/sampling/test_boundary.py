import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from robust_recourse.actions import ActionSet
from robust_recourse.math.limits import Room
from robust_recourse.math.projections import weighted_cost
from robust_recourse.sampling.boundary import Look, find_boundary
from robust_recourse.sampling.competing import Competition
from robust_recourse.sampling.segments import Axes, Joined, _cheapest, nearest_segments


def leave_as_it_is(patch):
    """Let points be what the segments tell, neither polished nor filled."""
    for name in ("polish", "fill"):
        patch.setattr(f"robust_recourse.sampling.boundary.{name}", lambda *asked: asked[-1])


@pytest.fixture(scope="session")
def search(asked):
    def search(model, x0, candidates, actions=None, n_neighbors=1000, resolution=0.01, ranges=None, free=None):
        limits = (actions or ActionSet()).limits(x0.shape[1])
        room = Room(limits, x0, np.ones(x0.shape, dtype=bool) if free is None else free)
        ask = asked(model, len(x0))
        return find_boundary(ask, room, candidates, Look(n_neighbors, resolution, ranges)), ask

    return search


def naive_cheapest_crossing(model, x0, candidates, limits):
    """Where segments that end accepted cross the boundary of a convex set, each by bisection; the cheapest."""
    lower, upper = limits.box(x0[None])
    ends = np.clip(candidates, lower, upper)
    ends = ends[np.asarray(model(ends), dtype=bool)]
    low, high = np.zeros((len(ends), 1)), np.ones((len(ends), 1))
    for _ in range(50):
        middle = 0.5 * (low + high)
        yes = np.asarray(model(x0 + middle * (ends - x0)), dtype=bool)[:, None]
        low, high = np.where(yes, low, middle), np.where(yes, middle, high)
    return weighted_cost(x0 + high * (ends - x0), x0, limits.weights).min(initial=np.inf)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 5), st.booleans(), st.booleans())
def test_no_segment_has_a_cheaper_point(search, seed, p, restricted, polished):
    rng = np.random.default_rng(seed)
    normal, centre = rng.standard_normal(p), rng.uniform(-1, 1, p)

    # The accepted set is convex, so that every segment crosses its boundary once.
    def model(X):
        return (X @ normal > 0.2) & (((X - centre) ** 2).sum(axis=1) < 3.0)

    X = rng.uniform(-2, 2, (300, p))
    x0, candidates = X[~model(X)][:6], X[model(X)]
    if not len(x0) or not len(candidates):
        return
    actions = ActionSet(increase=[0], bounds={p - 1: (-1.5, 1.5)}, weights={0: 2.0}) if restricted else ActionSet()
    limits = actions.limits(p)
    x0 = x0[limits.holds(x0)]
    with pytest.MonkeyPatch.context() as patch:
        if not polished:
            leave_as_it_is(patch)
        found, _ = search(model, x0, candidates, actions)
    for i, x in enumerate(x0):
        naive = naive_cheapest_crossing(model, x, candidates, limits)
        assert found.found[i] == np.isfinite(naive)
        if found.found[i]:
            assert weighted_cost(found.x[i], x, limits.weights) <= naive * (1.0 + 1e-5)


def test_the_point_is_on_the_favourable_side_and_next_to_the_other(search, linear_model, square):
    x0 = square[linear_model(square) == 0][:50]
    found, _ = search(linear_model, x0, square[linear_model(square) == 1])
    assert found.found.all()
    assert linear_model(found.x).all()
    assert not linear_model(x0 + (1.0 - 2e-6) * (found.x - x0)).any()


def test_the_resolution_holds_far_away_too(search):
    x0, candidates = np.array([[0.0, 0.0]]), np.array([[3e6, 1e6]])
    found, _ = search(lambda Z: Z[:, 0] > 1e6, x0, candidates, resolution=1e-4)
    assert 1e6 < found.x[0, 0] <= 1e6 + 1e-4


def test_for_a_linear_model_the_cost_is_close_to_the_closed_form(search):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (5000, 2))

    def model(Z):
        return Z[:, 0] + 2.0 * Z[:, 1] > 1.0

    x0 = X[~model(X)][:100]
    found, _ = search(model, x0, X[model(X)])
    # The cheapest L1 way to raise x1 + 2 x2 is x2 alone.
    best = (1.0 - x0[:, 0] - 2.0 * x0[:, 1]) / 2.0
    ratio = weighted_cost(found.x, x0, np.ones(2)) / best
    assert ratio.min() > 1.0 - 1e-9
    assert np.median(ratio) < 1.02


@pytest.mark.parametrize(("polished", "more"), [(False, 300), (True, 600)])
def test_few_rows_are_asked_in_few_batches(search, wide, monkeypatch, polished, more):
    model, X, refused = wide
    if not polished:
        leave_as_it_is(monkeypatch)
    calls = []

    def asked(Z):
        calls.append(len(Z))
        return model(Z)

    _, oracle = search(asked, refused, X[model(X)])
    n_candidates = int(model(X).sum())
    # What is asked ahead of need does not count.
    assert oracle.n_queries.sum() <= sum(calls) <= 1.5 * oracle.n_queries.sum()
    assert oracle.n_queries.max() <= min(n_candidates, 1000) + more
    assert len(calls) < 110


def test_a_row_gets_the_same_point_alone_and_in_a_batch(search, wide):
    model, X, refused = wide
    candidates = X[model(X)]
    together, _ = search(model, refused, candidates)
    backwards, _ = search(model, refused[::-1], candidates)
    np.testing.assert_array_equal(together.x, backwards.x[::-1])
    for i in (0, 7, 39):
        np.testing.assert_array_equal(search(model, refused[i : i + 1], candidates)[0].x[0], together.x[i])


@pytest.mark.parametrize(
    "actions",
    [
        ActionSet(increase=[0], decrease=[1]),
        ActionSet(bounds={0: (-2.0, 0.5), 2: (-0.3, None)}),
        ActionSet(decrease=[2], weights={1: 5.0}),
    ],
)
def test_the_action_set_holds_exactly(search, actions):
    rng = np.random.default_rng(3)
    X = rng.uniform(-2, 2, (500, 3))

    def model(Z):
        return Z[:, 0] - Z[:, 1] - Z[:, 2] > 1.0

    limits = actions.limits(3)
    x0 = X[~model(X) & limits.holds(X)][:60]
    found, _ = search(model, x0, X[model(X)], actions)
    lower, upper = limits.box(x0)
    x = found.x[found.found]
    assert len(x) > 30
    assert ((lower <= found.x) & (found.x <= upper))[found.found].all()
    assert model(x).all()


def test_all_candidates_are_tried_before_giving_up(search):
    # Only a far candidate is accepted once moved: the nearest ones differ in the column that may not fall.
    candidates = np.concatenate([np.stack([np.linspace(-1, -0.1, 200), np.full(200, 0.1)], axis=1), [[5.0, 0.0]]])

    def model(Z):
        return (Z[:, 0] > 3.0) | (Z[:, 0] < -0.05)

    found, oracle = search(model, np.array([[0.0, 0.0]]), candidates, ActionSet(increase=[0]), n_neighbors=10)
    assert found.found[0]
    assert found.x[0, 0] == pytest.approx(3.0, rel=1e-5)
    assert oracle.n_queries[0] < 400


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 12))
def test_ranks_with_ties_are_split_without_loss(seed, n_neighbors):
    distances = np.random.default_rng(seed).integers(0, 4, (5, 30)).astype(float)
    parts, first, last = [], 0, n_neighbors
    while first < 30:
        parts.append(_cheapest(distances, first, min(last, 30)))
        first, last = last, 3 * last
    chosen = np.concatenate(parts, axis=1)
    np.testing.assert_array_equal(np.sort(chosen, axis=1), np.tile(np.arange(30), (5, 1)))
    kept = np.take_along_axis(distances, parts[0], axis=1).max(axis=1)
    np.testing.assert_array_equal(kept, np.sort(distances, axis=1)[:, min(n_neighbors, 30) - 1])


def test_many_unreachable_instances_are_looked_at_in_parts(search, linear_model, square, monkeypatch):
    x0 = square[linear_model(square) == 0][:40]
    candidates = square[linear_model(square) == 1]
    whole, _ = search(linear_model, x0, candidates, n_neighbors=20)
    monkeypatch.setattr("robust_recourse.sampling.boundary._PAIRS", 50)
    parts, _ = search(linear_model, x0, candidates, n_neighbors=20)
    np.testing.assert_array_equal(whole.x, parts.x)


def test_an_unreachable_instance_is_said_to_be_so(search, linear_model, square):
    x0 = np.array([[-1.0, -1.0], [0.0, 0.4]])
    actions = ActionSet(bounds={0: (-2, 0), 1: (-2, 0.45)})
    found, _ = search(linear_model, x0, square[linear_model(square) == 1], actions)
    assert not found.found.any()
    assert np.isnan(found.x).all()


def test_a_corner_that_only_the_candidate_itself_reaches_is_found(search):
    rng = np.random.default_rng(0)
    for _ in range(20):
        corner, x0 = rng.standard_normal(4), rng.standard_normal((5, 4)) - 3.0
        found, _ = search(lambda points, low=corner: (points >= low).all(axis=1), x0, corner[None])
        # What is beyond the corner already stays.
        np.testing.assert_array_equal(found.x, np.maximum(corner, x0))


def test_one_dimension_with_all_candidates_on_one_ray(search):
    candidates = np.linspace(1.0, 9.0, 2000)[:, None]
    found, oracle = search(lambda Z: Z[:, 0] > 0.7, np.array([[0.0]]), candidates)
    assert found.x[0, 0] == pytest.approx(0.7, rel=1e-6)
    assert oracle.n_queries[0] < 1200


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 6), st.booleans())
def test_along_single_columns_a_hyperplane_is_reached_at_the_least_cost(search, seed, p, restricted):
    rng = np.random.default_rng(seed)
    normal, weights = rng.standard_normal(p), rng.uniform(0.5, 2.0, p)
    X = rng.uniform(-2, 2, (200, p))

    def model(Z):
        return Z @ normal > 0.3

    x0, candidates = X[~model(X)][:10], X[model(X)]
    if not len(candidates):
        return
    increase = [0] if restricted else []
    actions = ActionSet(increase=increase, weights=dict(enumerate(weights)))
    low, high = np.full(p, -1e3), np.full(p, 1e3)
    found, oracle = search(model, x0, candidates, actions, ranges=(low, high))
    plain, asked_before = search(model, x0, candidates, actions)
    useful = np.abs(normal) / weights
    if restricted and normal[0] < 0:
        useful[0] = 0.0
    cost = weighted_cost(found.x, x0, weights)
    least = (0.3 - x0 @ normal) / max(useful.max(), 1e-300)
    reached = found.found
    assert reached[plain.found].all()  # a single column may reach what no candidate does
    assert (cost[reached] <= least[reached] * (1.0 + 1e-5)).all()
    assert (cost <= weighted_cost(plain.x, x0, weights) * (1.0 + 1e-5))[plain.found].all()
    assert model(found.x[reached]).all()
    # Where candidates alone are quickly done with, the columns ask what there is to ask.
    assert (oracle.n_queries <= np.maximum(asked_before.n_queries, 200) + 2 * p + 100).all()


def test_single_columns_stay_within_range_and_action_set(search):
    def model(Z):
        return Z[:, 0] + 2.0 * Z[:, 1] > 3.0

    x0, candidates = np.array([[0.0, 0.0], [2.5, 0.0]]), np.array([[4.0, 4.0]])

    def reach(actions=None, high=4.0):
        ranges = np.array([-1.0, -1.0]), np.array([2.0, high])
        found, _ = search(model, x0, candidates, actions, ranges=ranges)
        assert model(found.x).all()
        return found.x

    np.testing.assert_allclose(reach(), [[0.0, 1.5], [2.5, 0.25]], atol=1e-4)
    for narrow in (reach(high=1.0), reach(ActionSet(bounds={1: (None, 1.0)}))):
        assert narrow[0, 0] > 0.9  # the second column alone is not enough
        np.testing.assert_allclose(narrow[1], [2.5, 0.25], atol=1e-4)
    held = reach(ActionSet(immutable=[1]))
    np.testing.assert_array_equal(held[:, 1], 0.0)
    np.testing.assert_allclose(held[:, 0], 3.0, atol=1e-4)  # beyond the range of single columns: towards the candidate
    only_down = ActionSet(decrease=[1])
    np.testing.assert_array_equal(reach(only_down), reach(ActionSet(immutable=[1])))


@pytest.mark.parametrize("p", [3, 30])
def test_changes_that_do_not_help_are_taken_back(search, monkeypatch, p):
    rng = np.random.default_rng(p)
    normal, X = rng.standard_normal(p), rng.standard_normal((300, p))

    def model(Z):
        return Z @ normal > 0.5

    candidates, x0 = X[model(X)], X[~model(X)][:40]
    thin, _ = search(model, x0, candidates, n_neighbors=100, resolution=1e-3)
    with monkeypatch.context() as patch:
        leave_as_it_is(patch)
        plain, _ = search(model, x0, candidates, n_neighbors=100, resolution=1e-3)
    assert model(thin.x).all()
    before, after = (weighted_cost(found.x, x0, np.ones(p)) for found in (plain, thin))
    assert (after <= before).all()
    assert after.mean() < before.mean()
    # A hyperplane tells which way every column helps.
    moves = (thin.x - x0) * normal
    assert (moves >= 0.0).mean() > (((plain.x - x0) * normal) >= 0.0).mean()
    assert (moves < 0.0).mean() < 0.05


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 5), st.booleans())
def test_nothing_is_asked_or_found_beyond_what_a_person_may_change(search, keeps_within, seed, p, alone):
    rng = np.random.default_rng(seed)
    normal, X = rng.standard_normal(p), rng.uniform(-2, 2, (120, p))

    def model(Z):
        return np.sin(3.0 * Z).sum(axis=1) + Z @ normal > 0.7

    x0, candidates, ranges = X[~model(X)][:8], X[model(X)], (X.min(axis=0), X.max(axis=0))
    if not len(x0) or not len(candidates):
        return
    actions = ActionSet(increase=[0], bounds={p - 1: (-1.0, 1.0)}, weights={0: 2.0})
    free = rng.random(x0.shape) < 0.7
    found, ask = search(model, x0, candidates, actions, ranges=ranges if alone else None, free=free)
    room = Room(actions.limits(p), x0, free)
    assert not ask.leaves(room)
    reached = np.flatnonzero(found.found)
    assert keeps_within(room, found.x[reached], reached).all()
    assert np.asarray(model(found.x[reached]), dtype=bool).all()
    assert np.isnan(found.x[~found.found]).all()


def dense_scan(model, room, candidates, ranges, steps=2000):
    """The cheapest accepted point of all segments of every person, by brute force."""
    segments = Joined([Axes(room, room.x0, *ranges), nearest_segments(room, candidates, 0, len(candidates))])
    every = np.flatnonzero(segments.cost.ravel() > 0.0)
    owner, end, best = segments.owner(every), segments.cost.ravel()[every], np.full(len(room), np.inf)
    for part in np.linspace(0.0, 1.0, steps + 1)[1:]:
        yes = model(segments.point(every, part * end))
        np.minimum.at(best, owner[yes], part * end[yes])
    return best


def test_a_single_tree_is_crossed_where_it_is_crossed_first(search, monkeypatch):
    ratios, before = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-2, 2, (400, 3))
        score = np.sin(2.5 * X[:, 0]) + np.cos(3.0 * X[:, 1]) + 0.5 * X[:, 2] + rng.normal(0.0, 0.5, 400)
        tree = DecisionTreeClassifier(max_depth=8, random_state=0).fit(X, score > 0.6)

        def model(Z, tree=tree):
            return tree.predict(Z).astype(bool)

        x0, candidates, ranges = X[~model(X)][:40], X[model(X)], (X.min(axis=0), X.max(axis=0))
        room = Room(ActionSet().limits(3), x0, np.ones(x0.shape, dtype=bool))
        best = dense_scan(model, room, candidates, ranges, steps=400)
        for looks, costs in ((Competition._look_back, ratios), (lambda _: None, before)):
            monkeypatch.setattr(Competition, "_look_back", looks)
            found, _ = search(model, x0, candidates, ranges=ranges)
            costs.extend(room.cost(found.x, np.arange(40)) / best)
            monkeypatch.undo()
    # Slivers that the scan finds are missed, but by few.
    assert (np.array(ratios) <= 1.0 + 1e-5).mean() > 0.85
    assert np.mean(ratios) < np.mean(before) < 1.1


def test_a_segment_that_is_accepted_earlier_too_is_followed_back(search):
    def model(Z):
        return ((Z[:, 0] > 0.4) & (Z[:, 0] < 0.48)) | (Z[:, 0] > 0.9)

    found, _ = search(model, np.zeros((1, 1)), np.array([[1.0]]))
    assert found.x[0, 0] == pytest.approx(0.4, rel=1e-5)


@pytest.mark.parametrize("ranges", [True, False])
def test_no_column_goes_beyond_the_training_rows(search, ranges):
    X = np.random.default_rng(0).uniform(-1, 1, (300, 3))

    def model(Z):
        return Z @ [3.0, 1.0, 1.0] > 2.5

    x0, candidates = X[X @ [3.0, 1.0, 1.0] < -2.0], X[model(X)]
    low, high = (X if ranges else candidates).min(axis=0), (X if ranges else candidates).max(axis=0)
    found, _ = search(model, x0, candidates, ranges=(low, high) if ranges else None)
    assert found.found.all()
    assert (found.x <= np.maximum(high, x0)).all()
    assert (found.x >= np.minimum(low, x0)).all()
    # The first column alone would do, and would be the cheapest, were there no end to it.
    alone = x0[:, 0] + (2.5 - x0 @ [3.0, 1.0, 1.0]) / 3.0
    assert (alone > high[0]).mean() > 0.4
    assert (found.x[alone > high[0], 0] > 0.95 * high[0]).all()
