import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from robust_recourse import ActionSet, BayesianRecourse, RobustBayesianRecourse, Status, load, save
from robust_recourse.math.odds import OddsObjective, log_worst_case_odds
from robust_recourse.methods._promise import _Known
from robust_recourse.sampling.neighbourhood import Neighbourhood
from robust_recourse.search.oracle import Oracle


def promise(network, target, rows=12, **parameters):
    model, X, refused = network
    method = RobustBayesianRecourse(model, target_odds=target, random_state=0, **parameters).fit(X)
    return method.explain(refused[:rows])


def kept_at(recourse, model, target, cost, n=600):
    """Whether some point of this cost, of many all around the instance, keeps the promise and is accepted."""
    share = np.linspace(0.0, 1.0, n)
    sides = [(share, 1.0 - share), (-share, 1.0 - share), (share, share - 1.0), (-share, share - 1.0)]
    points = recourse.x0 + cost * np.concatenate([np.stack(side, axis=1) for side in sides])
    around = recourse.trace.neighbourhood
    samples = np.broadcast_to(around.free_samples, (len(points), *around.free_samples.shape))
    accepted = np.broadcast_to(around.accepted, samples.shape[:2])
    odds = OddsObjective(samples, accepted, recourse.trace.scales)(points).value
    return bool(((odds <= np.log(target)) & (model.predict(points) == 1)).any())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "scales"),
    [
        (0.5, {}),
        (0.05, {}),
        (0.05, {"sigma": 0.1, "epsilon_0": 0.0, "epsilon_1": 0.0}),
        (1e-3, {"epsilon_0": 0.0, "epsilon_1": 0.0}),
    ],
)
def test_the_cost_is_within_one_percent_of_a_fine_scan(network, target, scales):
    found = promise(network, target, rows=6, **scales)
    assert (found.status == Status.OK).all()
    for recourse in found:
        assert kept_at(recourse, network[0], target, recourse.cost * (1.0 + 1e-6))
        for share in (0.99, 0.95, 0.9, 0.8):
            assert not kept_at(recourse, network[0], target, share * recourse.cost)


def test_the_promise_is_kept_to_the_last_bit_and_the_model_accepts(network):
    found = promise(network, 0.05)
    assert (found.worst_case_odds <= 0.05).all()
    assert found.valid.all()
    assert (network[0].predict(found.x) == 1).all()
    np.testing.assert_array_equal(found.cost, np.abs(found.x - network[2][:12]).sum(axis=1))
    np.testing.assert_array_equal(found.budget, found.cost)
    for recourse in found:
        around = recourse.trace.neighbourhood
        exact = log_worst_case_odds(recourse.x, around.free_samples, around.accepted, *recourse.trace.scales)
        assert recourse.log_worst_case_odds == pytest.approx(float(exact.value), abs=1e-6)


def test_a_better_promise_costs_more(network):
    costs = np.array([promise(network, target).cost for target in (0.8, 0.4, 0.1, 0.02)])
    # Budgets are found up to 0.2 %.
    assert (costs[1:] >= costs[:-1] * (1.0 - 4e-3)).all()
    assert (costs[-1] > costs[0]).all()


def test_a_little_less_than_the_cost_is_no_budget_for_the_promise(network):
    model, X, refused = network
    found = promise(network, 0.05)
    boundary = np.abs(found.boundary - refused[:12]).sum(axis=1)
    for i in np.flatnonzero(found.cost > boundary / 0.98)[:5]:
        plus = 0.98 * found.cost[i] - boundary[i]
        less = RobustBayesianRecourse(model, delta_plus=float(plus), random_state=0).fit(X).explain(refused[i : i + 1])
        assert less.worst_case_odds[0] > 0.05


def test_what_no_budget_reaches_has_a_status_and_no_recourse(network):
    found = promise(network, 1e-12, epsilon_0=0.1, epsilon_1=0.1)
    assert (found.status == Status.OUT_OF_REACH).all()
    assert np.isnan(found.x).all()
    assert not found.valid.any()
    assert all(np.isnan(found.cost))
    assert "No budget reaches worst-case odds of 1e-12: the least that was found is" in found.reason[0]


def test_the_same_answer_whatever_the_batch(network):
    model, X, refused = network
    method = RobustBayesianRecourse(model, target_odds=0.1, random_state=0).fit(X)
    together = method.explain(refused[:6])
    for i in range(6):
        np.testing.assert_array_equal(method.explain(refused[i : i + 1]).x[0], together.x[i])


def test_the_action_set_holds(network):
    model, X, refused = network
    actions = ActionSet(immutable=[0], bounds={1: (None, 0.9)})
    free = RobustBayesianRecourse(model, actions=actions, target_odds=0.2, random_state=0).fit(X)
    found = free.explain(refused[:12])
    kept = found.status == Status.OK
    assert kept.any()
    np.testing.assert_array_equal(found.x[kept][:, 0], refused[:12][kept][:, 0])
    assert (found.x[kept][:, 1] <= 0.9).all()
    assert (found.worst_case_odds[kept] <= 0.2).all()


def test_several_recourses_keep_the_promise_each(network):
    model, X, refused = network
    method = RobustBayesianRecourse(model, target_odds=0.2, random_state=0).fit(X)
    found = method.explain(refused[:3], n_recourses=2)
    assert (found.rank == 2).any()
    assert (found.worst_case_odds <= 0.2).all()


def test_no_time_is_no_promise(network):
    model, X, refused = network
    found = RobustBayesianRecourse(model, target_odds=0.2, random_state=0).fit(X).explain(refused[:3], time_limit=0.0)
    assert set(found.status) == {Status.TIME_LIMIT}


@pytest.mark.slow
def test_a_promising_method_can_be_saved(network, tmp_path):
    pytest.importorskip("skops")
    model, X, refused = network
    method = RobustBayesianRecourse(model, target_odds=0.2, random_state=0).fit(X)
    save(method, tmp_path / "method.zip")
    again = load(tmp_path / "method.zip", model=model)
    with pytest.raises(ValueError, match="delta_plus was changed after fit"):
        load(tmp_path / "method.zip", model=model).set_params(delta_plus=0.7).explain(refused[:2])
    np.testing.assert_array_equal(again.explain(refused[:2]).x, method.explain(refused[:2]).x)


def test_where_all_samples_are_refused_there_are_no_odds_to_promise():
    def slab(X):
        return (X[:, 0] > 1.0) & (X[:, 0] < 1.0 + 1e-6)

    X = np.array([[1.0 + 5e-7, 0.0], [0.0, 0.0], [2.0, 0.0]])
    method = RobustBayesianRecourse(slab, target_odds=0.5, random_state=0, n_samples=10).fit(X)
    found = method.explain([[0.5, 0.0]])
    assert found.status[0] == Status.ONE_CLASS
    assert np.isnan(found.x).all()
    assert "no odds to promise" in found.reason[0]


def test_where_the_model_refuses_what_has_such_odds_the_reason_says_so(network, monkeypatch):
    offer = _Known.offer

    def refuse(known, rows, people, log_odds):
        with monkeypatch.context() as patch:
            patch.setattr(Oracle, "__call__", lambda _, points, who: np.zeros(len(who), dtype=bool))  # noqa: ARG005
            return offer(known, rows, people, log_odds)

    monkeypatch.setattr(_Known, "offer", refuse)
    found = promise(network, 0.5, rows=2)
    assert set(found.status) == {Status.OUT_OF_REACH}
    assert not found.valid.any()
    assert "The model refuses all points with worst-case odds of at most 0.5" in found.reason[0]


def test_the_bayesian_recourse_promises_too(network):
    model, X, refused = network
    found = BayesianRecourse(model, target_odds=0.01, random_state=0).fit(X).explain(refused[:5])
    assert (found.worst_case_odds <= 0.01).all()


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "savings": rng.integers(0, 100, 400) * 100,
            "years": rng.integers(0, 30, 400),
            "job": rng.choice(["clerk", "cook", "none"], 400),
        }
    )

    def model(rows):
        score = rows["savings"] / 2000 + rows["years"] / 8 + (rows["job"] != "none") * 1.0
        return (score > 4.0).to_numpy()

    return frame, model


@given(seed=st.integers(0, 2**16), target=st.sampled_from([0.9, 0.3, 0.05]), most=st.sampled_from([None, 1, 2]))
@settings(max_examples=5, deadline=None)
def test_rounded_rows_keep_the_promise(table, seed, target, most):
    frame, model = table
    actions = ActionSet(frame, step={"savings": 500}, max_changes=most)
    method = RobustBayesianRecourse(
        model, actions, target_odds=target, epsilon_0=0.0, epsilon_1=0.0, sampling_radius=0.6, random_state=seed
    ).fit(frame)
    refused = frame[~model(frame)].sample(6, random_state=seed)
    found = method.explain(refused)
    kept = found.valid
    judged = kept & ~np.isnan(found.worst_case_odds)
    assert (found.worst_case_odds[judged] <= target).all()
    assert actions.check(refused, found.x) == []
    for i in np.flatnonzero(kept & (found.status == Status.OK)):
        recourse = found[i]
        if np.isnan(recourse.log_worst_case_odds):
            continue
        at = recourse.trace.neighbourhood.lengths(recourse.trace.x)
        exact = log_worst_case_odds(
            at, recourse.trace.neighbourhood.free_samples, recourse.trace.neighbourhood.accepted, *recourse.trace.scales
        )
        assert float(exact.value) <= np.log(target) + 1e-6


@pytest.mark.parametrize("target", [0.1, 0.4])
def test_more_freedom_never_loses_a_promise(table, target):
    frame, model = table
    refused = frame[~model(frame)].head(25)
    settings_ = {"target_odds": target, "sampling_radius": 0.6, "epsilon_0": 0.0, "epsilon_1": 0.0, "random_state": 0}
    narrow, free = (
        RobustBayesianRecourse(model, ActionSet(frame, immutable=immutable), **settings_).fit(frame).explain(refused)
        for immutable in (["job"], [])
    )
    assert narrow.valid.any()
    assert free.valid[narrow.valid].all()


def test_with_few_changes_all_small_sets_are_searched(table):
    frame, model = table
    refused = frame[~model(frame)].head(15)
    settings_ = {"target_odds": 0.3, "sampling_radius": 0.6, "epsilon_0": 0.0, "epsilon_1": 0.0, "random_state": 0}
    found = RobustBayesianRecourse(model, ActionSet(frame, max_changes=1), **settings_).fit(frame).explain(refused)
    alone = [
        RobustBayesianRecourse(model, ActionSet(frame, immutable=fixed), **settings_).fit(frame).explain(refused)
        for fixed in (["years", "job"], ["savings", "job"])
    ]
    best = np.fmin(*(np.where(one.valid, one.cost, np.nan) for one in alone))
    # In one column the neighbourhood is another than in two, so that costs cannot be compared.
    assert found.valid[~np.isnan(best)].all()
    assert ((found.x != refused).sum(axis=1) <= 1).all()


def test_a_row_in_which_only_categories_change_has_no_odds_to_promise(table):
    frame, model = table
    actions = ActionSet(frame, immutable=["savings", "years"])
    method = RobustBayesianRecourse(model, actions, target_odds=0.5, random_state=0).fit(frame)
    score = frame["savings"] / 2000 + frame["years"] / 8
    close = frame[(frame["job"] == "none") & (score > 3.0) & (score <= 4.0)].head(2)
    found = method.explain(close)
    assert set(found.status) == {Status.OUT_OF_REACH}
    assert "No number of this row may change" in found.reason[0]


def test_neighbourhoods_are_those_of_the_search(network):
    model, X, refused = network
    method = RobustBayesianRecourse(model, random_state=0).fit(X)
    found = method.explain(refused[:4])
    for known, around in zip(found, method.neighbourhoods_of(refused[:4], found.x), strict=True):
        assert isinstance(around, Neighbourhood)
        np.testing.assert_array_equal(around.free_samples, known.trace.neighbourhood.free_samples)
        np.testing.assert_array_equal(around.accepted, known.trace.neighbourhood.accepted)


def test_neighbourhoods_have_the_categories_of_the_points(table):
    frame, model = table
    method = RobustBayesianRecourse(model, ActionSet(frame), random_state=0).fit(frame)
    refused = frame[~model(frame) & (frame["job"] == "none")].head(3)
    points = refused.assign(job="cook", savings=9000)
    around = method.neighbourhoods_of(refused, points)
    codes = method.to_points(points)[:, list(method.schema_.names).index("job")]
    for i, one in enumerate(around):
        assert one.centre[list(method.schema_.names).index("job")] == codes[i]


def test_a_neighbourhood_needs_a_number_that_may_change(table):
    frame, model = table
    actions = ActionSet(frame, immutable=["savings", "years"])
    method = RobustBayesianRecourse(model, actions, random_state=0).fit(frame)
    refused = frame[~model(frame)].head(1)
    assert "No number" in method.neighbourhoods_of(refused, refused)[0]
    with pytest.raises(ValueError, match="x0 must have one row for each of the 1 points, got 2"):
        method.neighbourhoods_of(pd.concat([refused, refused]), refused)


def test_first_order_promises_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    model = LogisticRegression().fit(X, X.sum(axis=1) > 0)
    method = RobustBayesianRecourse(model, target_odds=0.3, solver="first-order", random_state=0, n_samples=10).fit(X)
    found = method.explain(X[model.predict(X) == 0][:1])
    assert (found.worst_case_odds <= 0.3).all()
