import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from robust_recourse import ActionSet, NearestAccepted, Status
from robust_recourse.methods import nearest
from robust_recourse.sampling import segments


def brute_force(model, X, x0, actions=None):
    """The cheapest of all accepted training rows, moved into the action set and asked about again."""
    limits = (actions or ActionSet()).limits(X.shape[1])
    lower, upper = limits.box(x0[None])
    moved = np.clip(X[np.asarray(model(X), dtype=bool)], lower, upper)
    moved = moved[np.asarray(model(moved), dtype=bool)]
    return (np.abs(moved - x0) * limits.weights).sum(axis=1).min(initial=np.inf)


def test_without_an_action_set_it_is_the_cheapest_accepted_training_row(wide):
    model, X, refused = wide
    found = NearestAccepted(model).fit(X).explain(refused)
    accepted = X[model(X)]
    distances = np.abs(accepted[None] - refused[:, None]).sum(axis=2)
    np.testing.assert_array_equal(found.x, accepted[distances.argmin(axis=1)])
    np.testing.assert_allclose(found.cost, distances.min(axis=1))
    assert found.valid.all()
    assert set(found.status) == {Status.OK}


ACTION_SETS = [
    ActionSet(immutable=[0, 4]),
    ActionSet(increase=[0], decrease=[1, 2]),
    ActionSet(bounds={0: (-3.0, 0.4), 1: (None, 2.0)}, weights={1: 0.3}),
    ActionSet(immutable=[2], increase=[0, 1], bounds={0: (-4.0, 4.0)}, weights={0: 2.0, 5: 7.0}),
    ActionSet(immutable=[1, 2, 3], bounds={0: (-4.0, 0.6)}),
]


@pytest.mark.parametrize("actions", ACTION_SETS, ids=repr)
def test_within_an_action_set_no_moved_row_is_cheaper(wide, actions):
    model, X, refused = wide
    limits = actions.limits(8)
    refused = refused[limits.holds(refused)]
    found = NearestAccepted(model, actions).fit(X).explain(refused)
    naive = np.array([brute_force(model, X, x0, actions) for x0 in refused])
    done = np.isfinite(naive)
    np.testing.assert_array_equal(found.status == Status.OK, done)
    np.testing.assert_array_equal(found.status == Status.NO_CANDIDATE, ~done)
    np.testing.assert_allclose(found.cost[done], naive[done], rtol=1e-12)
    lower, upper = limits.box(refused)
    assert (found.x[done] >= lower[done]).all()
    assert (found.x[done] <= upper[done]).all()
    np.testing.assert_array_equal(found.valid[done], model(found.x[done]))
    assert found.valid[done].all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 60))
def test_candidates_are_tried_in_the_order_of_their_cost_to_the_last(seed, p, n):
    rng = np.random.default_rng(seed)
    normal, holes = rng.standard_normal(p), rng.uniform(-2, 2, (20, p))

    # Holes in the accepted half space: many moved candidates are refused. Rounded values make ties.
    def model(Z):
        near = (np.abs(Z[:, None] - holes).max(axis=2) < 0.5).any(axis=1)
        return (Z @ normal > 0.3) & ~near

    X = np.round(rng.uniform(-2, 2, (n, p)), 1)
    rows = np.round(rng.uniform(-1.5, 1.5, (5, p)), 1)
    rows = rows[~model(rows)]
    actions = ActionSet(increase=[0], bounds={p - 1: (-1.5, 1.5)}, weights={0: 2.0})
    if not model(X).any() or not len(rows):
        return
    found = NearestAccepted(model, actions).fit(X).explain(rows)
    for i, x0 in enumerate(rows):
        naive = brute_force(model, X, x0, actions)
        if np.isfinite(naive):
            assert found.cost[i] == pytest.approx(naive, rel=1e-12)
            assert model(found.x[i : i + 1])[0]
        else:
            # A single column that only goes up, at its upper bound already, leaves nothing to try.
            stuck = p == 1 and x0[0] >= 1.5
            assert found.status[i] is (Status.NOTHING_MAY_CHANGE if stuck else Status.NO_CANDIDATE)
            assert np.isnan(found.x[i]).all()


def test_a_row_that_cannot_reach_acceptance_says_why(square, linear_model):
    found = NearestAccepted(linear_model, ActionSet(decrease=[0, 1])).fit(square).explain([[-1.0, -1.0]])
    assert found.status[0] is Status.NO_CANDIDATE
    assert "None of the" in found.reason[0]
    assert not found.valid[0]
    assert np.isnan(found.cost[0])


def test_queries_are_counted_and_few(counting, wide):
    predict, X, refused = wide
    model = counting(predict)
    method = NearestAccepted(model, ActionSet(immutable=[3])).fit(X)
    before = model.n_rows
    found = method.explain(refused)
    assert found.n_queries.sum() == model.n_rows - before
    assert found.n_queries.max() <= 2 + 8 * 4


def test_a_row_does_not_depend_on_its_company_nor_on_blocks(wide, monkeypatch):
    model, X, refused = wide
    method = NearestAccepted(model, ActionSet(immutable=[3], increase=[0, 1])).fit(X)
    together = method.explain(refused)
    for i in (0, 7, 23):
        np.testing.assert_array_equal(method.explain(refused[i : i + 1]).x[0], together.x[i])
    monkeypatch.setattr(nearest, "_PAIRS", 50)
    monkeypatch.setattr(segments, "_DISTANCES", 700)
    np.testing.assert_array_equal(method.explain(refused).x, together.x)
    np.testing.assert_array_equal(method.set_params(n_jobs=2).explain(refused).x, together.x)


def test_a_model_that_works_in_place_changes_nothing_of_ours(square):
    def scales_in_place(X):
        X -= 1.0
        return X[:, 0] + X[:, 1] > -1.0

    refused = np.array([[-1.0, -0.5], [-0.2, -0.9]])
    found = NearestAccepted(scales_in_place).fit(square).explain(refused.copy())
    accepted = square[square.sum(axis=1) > 1.0]
    nearest_rows = accepted[np.abs(accepted[None] - refused[:, None]).sum(axis=2).argmin(axis=1)]
    np.testing.assert_array_equal(found.x, nearest_rows)


def test_frames_in_frames_out():
    X = pd.DataFrame(np.random.default_rng(0).uniform(-2, 2, (300, 2)), columns=["income", "debt"])
    refused = X[X["income"] <= X["debt"]].head(4)
    method = NearestAccepted(lambda F: F["income"] > F["debt"], ActionSet(decrease=["debt"])).fit(X)
    found = method.explain(refused)
    assert list(found.x.columns) == ["income", "debt"]
    assert found.x.index.equals(refused.index)
    assert (found.x["debt"] <= refused["debt"]).all()
    assert (found.x["income"] > found.x["debt"]).all()


def test_it_can_be_cloned(wide):
    model, X, refused = wide
    method = NearestAccepted(model, ActionSet(immutable=[2]), random_state=3)
    copy = clone(method)
    assert copy.get_params() == method.get_params()
    np.testing.assert_array_equal(copy.fit(X).explain(refused[:3]).x, method.fit(X).explain(refused[:3]).x)
