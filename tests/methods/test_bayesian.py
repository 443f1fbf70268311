import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from robust_recourse import ActionSet, BayesianRecourse, RobustBayesianRecourse, Status
from robust_recourse.math.odds import log_worst_case_odds
from robust_recourse.math.projections import weighted_cost
from robust_recourse.math.scales import spread


def naive_log_odds(recourse, x):
    """Exact odds at `x` from the samples that the recourse says it used."""
    around = recourse.trace.neighbourhood
    return float(
        log_worst_case_odds(x[around.free], around.free_samples, around.accepted, *recourse.trace.scales).value
    )


@pytest.fixture(scope="module")
def explained(network):
    model, X, refused = network
    method = RobustBayesianRecourse(model, random_state=0).fit(X)
    return method, refused, method.explain(refused)


def test_every_recourse_is_what_the_model_accepts(explained, network):
    _, refused, found = explained
    assert len(found) == len(refused)
    np.testing.assert_array_equal(found.valid, network[0].predict(found.x) == 1)
    assert found.valid.all()
    assert set(found.status) == {Status.OK}


def test_the_boundary_points_are_accepted_too(explained, network):
    assert (network[0].predict(explained[2].boundary) == 1).all()


def test_the_budget_holds_to_the_last_bit(explained):
    _, refused, found = explained
    cost = np.abs(found.x - refused).sum(axis=1)
    np.testing.assert_array_equal(found.cost, cost)
    assert (cost <= found.budget).all()
    boundary_cost = np.abs(found.boundary - refused).sum(axis=1)
    np.testing.assert_allclose(found.budget, boundary_cost + 0.2, rtol=1e-12)


def test_the_odds_are_those_of_the_samples(explained):
    for recourse in explained[2][:5]:
        assert recourse.log_worst_case_odds == pytest.approx(naive_log_odds(recourse, recourse.x), abs=1e-6)
        assert recourse.worst_case_odds == pytest.approx(np.exp(recourse.log_worst_case_odds))


def test_the_odds_are_better_than_at_the_boundary_point_and_nearby(explained):
    rng = np.random.default_rng(0)
    for recourse in explained[2][:8]:
        assert recourse.log_worst_case_odds < naive_log_odds(recourse, recourse.boundary)
        for _ in range(30):
            other = recourse.x + 0.01 * rng.standard_normal(2)
            if weighted_cost(other, recourse.x0, np.ones(2)) <= recourse.budget:
                assert naive_log_odds(recourse, other) >= recourse.log_worst_case_odds - 1e-6


def test_the_path_leads_from_the_boundary_point_to_the_recourse_downhill(explained):
    for recourse in explained[2][:5]:
        np.testing.assert_array_equal(recourse.trace.path[0], recourse.boundary)
        np.testing.assert_allclose(recourse.trace.path[-1], recourse.x, atol=1e-12)
        odds = [naive_log_odds(recourse, x) for x in recourse.trace.path]
        assert (np.diff(odds) < 1e-9).all()


def test_the_worst_case_attains_the_odds(explained):
    recourse = explained[2][0]
    assert recourse.worst_case().log_odds == pytest.approx(recourse.log_worst_case_odds, abs=1e-6)
    at = recourse.worst_case(recourse.boundary)
    assert at.log_odds == pytest.approx(naive_log_odds(recourse, recourse.boundary), abs=1e-9)


def test_queries_are_counted_by_row(counting, wide, monkeypatch):
    predict, X, refused = wide
    model = counting(predict)
    method = RobustBayesianRecourse(model, random_state=0).fit(X)
    before = model.n_rows
    assert before == len(X)
    found = method.explain(refused)
    # What is asked ahead of need, to save calls, does not count.
    assert found.n_queries.sum() <= model.n_rows - before <= 1.5 * found.n_queries.sum()
    assert found.n_queries.max() <= 1500
    assert np.mean([len(batch) for batch in model.batches]) > 20
    monkeypatch.setattr("robust_recourse.sampling.bisection._MOST_LEVELS", 1)
    before = model.n_rows
    again = method.explain(refused)
    assert again.n_queries.sum() == model.n_rows - before
    np.testing.assert_array_equal(again.n_queries, found.n_queries)
    np.testing.assert_array_equal(again.x, found.x)


@pytest.mark.parametrize("method", [RobustBayesianRecourse, BayesianRecourse])
def test_same_seed_same_answer_whatever_the_batch_the_order_and_the_jobs(wide, method, monkeypatch):
    model, X, refused = wide
    fitted = method(model, random_state=3).fit(X)
    reference = fitted.explain(refused)
    order = np.random.default_rng(0).permutation(len(refused))
    np.testing.assert_array_equal(fitted.explain(refused[order]).x, reference.x[order])
    for i in (0, 11):
        alone = fitted.explain(refused[i : i + 1])
        np.testing.assert_array_equal(alone.x[0], reference.x[i])
        assert alone.log_worst_case_odds[0] == reference.log_worst_case_odds[i]
    monkeypatch.setattr("robust_recourse.search.run._PEOPLE", 7)
    np.testing.assert_array_equal(fitted.explain(refused).x, reference.x)
    np.testing.assert_array_equal(fitted.set_params(n_jobs=2).explain(refused).x, reference.x)
    again = method(model, random_state=3).fit(X).explain(refused)
    np.testing.assert_array_equal(again.x, reference.x)
    other = method(model, random_state=4).fit(X).explain(refused)
    assert not np.array_equal(other.x, reference.x)


def test_without_radii_it_is_the_kde_recourse(wide):
    model, X, refused = wide
    kde = BayesianRecourse(model, random_state=0).fit(X).explain(refused)
    nominal = RobustBayesianRecourse(model, epsilon_0=0.0, epsilon_1=0.0, random_state=0).fit(X).explain(refused)
    np.testing.assert_array_equal(kde.x, nominal.x)
    recourse = kde[0]
    around = recourse.trace.neighbourhood
    squares = ((recourse.x - around.samples) ** 2).sum(axis=1) / (2.0 * recourse.trace.scales.sigma**2)
    density = np.exp(-squares)
    naive = np.log(density[~around.accepted].sum() / density[around.accepted].sum())
    assert recourse.log_worst_case_odds == pytest.approx(naive, abs=1e-8)


@pytest.mark.slow
def test_the_exact_solver_is_never_worse_than_the_papers_algorithm(network):
    model, X, refused = network
    exact = RobustBayesianRecourse(model, epsilon_0=0.1, epsilon_1=0.1, random_state=0).fit(X)
    reference = clone(exact).set_params(solver="first-order").fit(X)
    ours, theirs = exact.explain(refused[:6]), reference.explain(refused[:6])
    for mine, other in zip(ours, theirs, strict=True):
        assert naive_log_odds(mine, mine.x) <= naive_log_odds(other, other.x) + 1e-7


def test_default_scales_follow_the_sampling_radius(square, linear_model):
    method = RobustBayesianRecourse(linear_model, sampling_radius=0.4).fit(square)
    assert method.scales_ == pytest.approx((0.1, 0.04, 0.04))
    fixed = RobustBayesianRecourse(linear_model, sigma=1.0, epsilon_0=0.5, epsilon_1=0.0).fit(square)
    assert fixed.scales_ == (1.0, 0.5, 0.0)


def test_the_radius_can_be_in_diameters(square, linear_model):
    method = RobustBayesianRecourse(linear_model, sampling_radius=0.1, radius_unit="diameter").fit(square)
    pairs = np.linalg.norm(square[:, None] - square[None], axis=2)
    assert method.radius_ == pytest.approx(0.1 * pairs.max())
    only = RobustBayesianRecourse(
        linear_model, ActionSet(immutable=[0]), sampling_radius=0.1, radius_unit="diameter"
    ).fit(square)
    assert only.radius_ == pytest.approx(0.1 * np.ptp(square[:, 1]))


ACTION_SETS = [
    ActionSet(immutable=[0, 4]),
    ActionSet(increase=[0], decrease=[1, 2]),
    ActionSet(bounds={0: (-3.0, 0.4), 1: (None, 2.0)}, weights={1: 0.3}),
    ActionSet(immutable=[2], increase=[0, 1], bounds={0: (-4.0, 4.0)}, weights={0: 2.0}),
]


@pytest.mark.parametrize("actions", ACTION_SETS, ids=repr)
def test_the_action_set_holds_exactly(wide, actions):
    model, X, refused = wide
    found = RobustBayesianRecourse(model, actions, random_state=0).fit(X).explain(refused)
    limits = actions.limits(8)
    done = np.isfinite(found.x).all(axis=1)
    assert done.sum() >= 15
    lower, upper = limits.box(refused)
    for points in (found.x[done], found.boundary[done]):
        assert (points >= lower[done]).all()
        assert (points <= upper[done]).all()
    np.testing.assert_array_equal(found.cost[done], (np.abs(found.x - refused) * limits.weights).sum(axis=1)[done])
    assert (found.cost[done] <= found.budget[done]).all()
    np.testing.assert_array_equal(found.valid[done], model(found.x[done]))


def test_samples_vary_only_in_the_columns_that_may_change(wide):
    model, X, refused = wide
    found = RobustBayesianRecourse(model, ActionSet(immutable=[0, 4]), random_state=0).fit(X).explain(refused)
    recourse = next(r for r in found if r.status is Status.OK)
    samples = recourse.trace.neighbourhood.samples
    assert (samples[:, [0, 4]] == recourse.x0[[0, 4]]).all()
    assert (np.ptp(samples[:, [1, 2, 3, 5, 6, 7]], axis=0) > 0.0).all()
    assert recourse.worst_case().refused.means.shape[1] == 6


def test_a_column_at_its_bound_is_frozen_for_that_row_only(square, linear_model):
    actions = ActionSet(increase=[0], bounds={0: (-2.0, 0.0)})
    x0 = np.array([[0.0, -1.0], [-1.0, -1.0]])
    found = RobustBayesianRecourse(linear_model, actions, random_state=0).fit(square).explain(x0)
    np.testing.assert_array_equal(found[0].trace.neighbourhood.free, [False, True])
    np.testing.assert_array_equal(found[1].trace.neighbourhood.free, [True, True])
    assert found.valid.all()
    assert found.x[0, 0] == 0.0


def test_an_accepted_row_is_returned_as_it_is(square, linear_model):
    x = np.array([[1.0, 1.0], [-1.0, -1.0]])
    found = RobustBayesianRecourse(linear_model, random_state=0).fit(square).explain(x)
    assert found.status[0] is Status.ALREADY_FAVOURABLE
    assert found.status[1] is Status.OK
    np.testing.assert_array_equal(found.x[0], x[0])
    assert found.cost[0] == 0.0
    assert found.valid[0]
    assert found.n_queries[0] == 1
    assert np.isnan(found.worst_case_odds[0])
    with pytest.raises(ValueError, match="no worst case, the status is already favourable"):
        found[0].worst_case()


def test_a_row_that_cannot_reach_acceptance_says_why(square, linear_model):
    method = RobustBayesianRecourse(linear_model, ActionSet(decrease=[0, 1]), random_state=0).fit(square)
    found = method.explain(np.array([[-1.0, -1.0]]))
    assert found.status[0] is Status.NO_CANDIDATE
    assert "None of the" in found.reason[0]
    assert np.isnan(found.x).all()
    assert not found.valid[0]
    assert np.isnan(found.cost[0])


def test_a_row_in_which_nothing_may_change_says_so(square, linear_model):
    found = RobustBayesianRecourse(linear_model, ActionSet(immutable=[0, 1])).fit(square).explain([[-1.0, -1.0]])
    assert found.status[0] is Status.NOTHING_MAY_CHANGE
    assert np.isnan(found.x).all()


def test_a_row_outside_its_bounds_keeps_its_value(square, linear_model):
    method = RobustBayesianRecourse(linear_model, ActionSet(bounds={0: (0.0, 1.0)})).fit(square)
    found = method.explain([[-1.0, -1.0], [0.5, -1.0]])
    assert found.x[0, 0] == -1.0
    assert found.valid[1]


def test_a_neighbourhood_with_one_class_gives_the_boundary_point_and_a_status():
    # Accepted only at isolated needles, which no sample hits.
    needles = np.array([[1.0, 0.0], [0.0, 1.5]])

    def model(X):
        return (np.abs(np.asarray(X)[:, None] - needles).max(axis=2) < 1e-9).any(axis=1)

    X = np.concatenate([needles, np.random.default_rng(0).uniform(-1, 1, (20, 2))])
    found = RobustBayesianRecourse(model, random_state=0).fit(X).explain(np.array([[0.0, 0.0]]))
    assert found.status[0] is Status.ONE_CLASS
    np.testing.assert_allclose(found.x[0], needles[0])
    assert found.valid[0]
    assert np.isnan(found.worst_case_odds[0])


def test_a_grown_neighbourhood_has_scales_of_its_own(square, linear_model):
    # With two samples about half of the neighbourhoods see one class only at first.
    refused = square[linear_model(square) == 0][:30]
    found = RobustBayesianRecourse(linear_model, n_samples=2, random_state=0).fit(square).explain(refused)
    grown = [recourse for recourse in found if recourse.trace.neighbourhood.growths and recourse.trace.scales]
    assert len(grown) > 5
    for recourse in grown:
        radius = 0.2 * 2.0**recourse.trace.neighbourhood.growths
        assert recourse.trace.neighbourhood.radius == radius
        assert recourse.trace.scales == pytest.approx((0.25 * radius, 0.1 * radius, 0.1 * radius))
        assert recourse.worst_case().log_odds == pytest.approx(recourse.log_worst_case_odds, abs=1e-6)


def test_a_refused_end_falls_back_to_the_best_accepted_iterate():
    # A thin accepted shell: the odds, smoothed over a wide neighbourhood, lead through it and out again.
    def model(X):
        x = np.asarray(X)[:, 0]
        return (x > 1.0) & (x < 1.0 + 0.02) | (x > 1.6)

    X = np.concatenate([np.random.default_rng(0).uniform(-2, 3, (500, 1)), [[1.01]]])
    method = RobustBayesianRecourse(model, sampling_radius=1.0, delta_plus=0.3, random_state=0).fit(X)
    recourse = method.explain(np.array([[0.0]]))[0]
    assert recourse.status is Status.FELL_BACK
    assert recourse.valid
    assert model(recourse.x[None])[0]
    accepted = recourse.trace.path[model(recourse.trace.path)]
    assert naive_log_odds(recourse, recourse.x) == pytest.approx(min(naive_log_odds(recourse, x) for x in accepted))
    assert recourse.log_worst_case_odds == pytest.approx(naive_log_odds(recourse, recourse.x), abs=1e-6)


def test_a_model_that_contradicts_itself_is_found_out(square):
    class Moody:
        """Accepts the right side of a line until it has labelled a neighbourhood, then nothing."""

        open = True

        def predict(self, X):
            answer = (X[:, 0] > 0) & self.open
            self.open &= len(X) != 123
            return answer

    method = RobustBayesianRecourse(Moody(), n_samples=123, random_state=0).fit(square)
    found = method.explain(np.array([[-1.0, 0.0]]))
    assert found.status[0] is Status.INCONSISTENT_MODEL
    assert "do not depend on the row alone" in found.reason[0]
    assert not found.valid[0]
    assert np.isnan(found.x).all()


def test_a_descent_that_is_cut_short_says_so(wide, monkeypatch):
    model, X, refused = wide
    from robust_recourse.methods import _odds_descent

    def impatient(*args, **kwargs):
        return minimise(*args, **{**kwargs, "max_evaluations": 1})

    minimise = _odds_descent.minimise
    monkeypatch.setattr(_odds_descent, "minimise", impatient)
    found = RobustBayesianRecourse(model, random_state=0).fit(X).explain(refused[:5])
    assert Status.NOT_CONVERGED in set(found.status)
    assert found.valid.all()


def test_a_model_that_works_in_place_changes_nothing_of_ours(square):
    def scales_in_place(X):
        X -= 1.0
        X *= 3.0
        return X[:, 0] + X[:, 1] > -3.0

    refused = np.array([[-1.0, -0.5], [-0.2, -0.9]])
    before, rows = square.copy(), refused.copy()
    found = RobustBayesianRecourse(scales_in_place, random_state=0).fit(square).explain(refused)
    np.testing.assert_array_equal(square, before)
    np.testing.assert_array_equal(refused, rows)
    assert set(found.status) == {Status.OK}
    assert (found.x.sum(axis=1) > 1.0).all()
    refused[:] = 7.0
    np.testing.assert_array_equal(found[0].x0, rows[0])


def test_the_model_is_never_asked_beyond_the_bounds():
    X = np.random.default_rng(0).lognormal(-2.0, 1.0, (500, 2))

    def logarithm(Z):
        if (Z < 1e-3).any():
            raise ValueError("negative income")
        return np.log(Z).sum(axis=1) > -4.0

    X = X.clip(1e-3)
    actions = ActionSet(bounds={0: (1e-3, None), 1: (1e-3, None)})
    found = RobustBayesianRecourse(logarithm, actions, random_state=0).fit(X).explain(X[:50])
    assert found.valid.all()
    recourse = next(r for r in found if r.status is Status.OK)
    np.testing.assert_array_equal(
        logarithm(recourse.trace.neighbourhood.samples), recourse.trace.neighbourhood.accepted
    )


def test_the_sign_of_a_zero_that_may_not_change_stays():
    X = np.round(2.0 * np.random.default_rng(0).standard_normal((300, 9)))
    weights = np.random.default_rng(1).standard_normal(9)
    actions = ActionSet(immutable=[0, 1], weights={2: 0.3})
    found = RobustBayesianRecourse(lambda Z: Z @ weights > 0, actions, random_state=0).fit(X).explain(X)
    done = np.isfinite(found.x).all(axis=1)
    np.testing.assert_array_equal(np.signbit(found.x[done][:, :2]), np.signbit(X[done][:, :2]))


def test_a_failed_fit_leaves_the_method_as_it_was():
    X = np.random.default_rng(0).standard_normal((200, 3))
    method = RobustBayesianRecourse(lambda Z: Z[:, 0] > 0, random_state=0).fit(X)
    before = method.explain(X[:5]).x
    with pytest.raises(ValueError, match="no favourable row"):
        method.fit(-np.abs(X[:, :2]))
    np.testing.assert_array_equal(method.explain(X[:5]).x, before)


def test_fallbacks_are_asked_together(counting):
    def shell(X):
        x = np.asarray(X)[:, 0]
        return (x > 1.0) & (x < 1.02) | (x > 1.6)

    model = counting(shell)
    X = np.concatenate([np.random.default_rng(0).uniform(-2, 3, (500, 1)), [[1.01]]])
    method = RobustBayesianRecourse(model, sampling_radius=1.0, delta_plus=0.3, random_state=0).fit(X)
    model.batches.clear()
    found = method.explain(np.linspace(-1.0, 0.5, 60)[:, None])
    assert (found.status == Status.FELL_BACK).sum() > 20
    assert found.valid.all()
    assert len(model.batches) < 100


@pytest.mark.parametrize("actions", [None, ActionSet(immutable=[3], increase=[0, 1], bounds={2: (-1.5, 1.5)})])
def test_kinks_and_action_sets_do_not_make_a_row_depend_on_its_company(actions):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((800, 13))
    refused = X[X[:, 0] + X[:, 1] < 0.3][:12]
    refused[:, 2] = refused[:, 2].clip(-1.5, 1.5)
    method = RobustBayesianRecourse(
        lambda Z: np.asarray(Z)[:, 0] + np.asarray(Z)[:, 1] > 0.5, actions, epsilon_0=0.1, epsilon_1=0.1, random_state=0
    ).fit(X)
    together = method.explain(refused)
    for i in (0, 5, 11):
        np.testing.assert_array_equal(method.explain(refused[i : i + 1]).x[0], together.x[i])


def test_frames_in_frames_out():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(-2, 2, (300, 2)), columns=["income", "debt"])
    model = LogisticRegression().fit(X, (X["income"] > X["debt"]).astype(int))
    refused = X[model.predict(X) == 0].head(5)
    # Steps so fine that rounding to what can be told does not matter below.
    actions = ActionSet(decrease=["debt"], step=dict.fromkeys(X, 1e-12))
    method = RobustBayesianRecourse(model, actions, random_state=0).fit(X)
    found = method.explain(refused)
    assert list(found.x.columns) == ["income", "debt"]
    assert found.x.index.equals(refused.index)
    assert (found.x["debt"] <= refused["debt"]).all()
    swapped = method.explain(refused[["debt", "income"]])
    assert list(swapped.x.columns) == ["debt", "income"]
    np.testing.assert_array_equal(swapped.x[["income", "debt"]], found.x)
    # A frame is an array in units of cost, within the range of the training rows; it is only searched more thoroughly.
    units, Z = spread(X.to_numpy()), X.to_numpy() / spread(X.to_numpy())
    bounds = {k: (Z[:, k].min(), Z[:, k].max()) for k in range(2)}
    arrays = RobustBayesianRecourse(
        lambda Z: model.predict(pd.DataFrame(Z * units, columns=X.columns)),
        ActionSet(decrease=[1], bounds=bounds),
        random_state=0,
    )
    plain = arrays.fit(Z).explain(refused.to_numpy() / units)
    before = np.abs(plain.boundary - plain.x0).sum(axis=1)
    after = (np.abs(found.boundary - refused) / units).sum(axis=1).to_numpy()
    assert (after <= 1.001 * before).all()


def test_the_table_of_results_has_a_row_for_everybody(explained):
    found = explained[2]
    frame = found.to_frame()
    assert list(frame.columns) == [0, 1, "cost", "budget", "valid", "status", "reason", "worst_case_odds", "n_queries"]
    assert len(frame) == len(found)
    assert (frame["status"] == "ok").all()
    assert repr(found) == f"Recourses({len(found)} rows: {len(found)} ok. Survival was not measured.)"


def test_a_feature_called_cost_keeps_its_name():
    X = pd.DataFrame(np.random.default_rng(0).uniform(-1, 1, (200, 2)), columns=["cost", "b"])
    found = RobustBayesianRecourse(lambda F: F["cost"] > 0, random_state=0).fit(X).explain(X[X["cost"] < 0].head(2))
    frame = found.to_frame()
    np.testing.assert_array_equal(frame["cost"], found.x["cost"])
    np.testing.assert_array_equal(frame["recourse_cost"], found.cost)


def test_one_column_and_many_columns():
    rng = np.random.default_rng(0)
    for p in (1, 120):
        X = rng.standard_normal((400, p))
        found = (
            RobustBayesianRecourse(lambda Z: np.asarray(Z)[:, 0] > 0.3, random_state=0)
            .fit(X)
            .explain(X[X[:, 0] < 0][:3])
        )
        assert found.valid.all()
        assert set(found.status) <= {Status.OK, Status.NOT_CONVERGED, Status.AT_THE_EDGE}


def test_without_axes_the_search_is_the_papers_towards_training_rows_only():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (400, 3))

    def model(Z):
        return Z @ [1.0, 0.2, 0.1] > 0.4

    refused = X[~model(X)][:20]
    ours, papers = (
        RobustBayesianRecourse(model, axes=axes, random_state=0).fit(X).explain(refused) for axes in (True, False)
    )
    assert ((ours.boundary != refused).sum(axis=1) == 1).all()  # the first column is worth most
    assert ((papers.boundary != refused).sum(axis=1) == 3).all()
    assert (ours.budget < papers.budget).all()
