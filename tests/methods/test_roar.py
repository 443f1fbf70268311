import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from robust_recourse import ROAR, ActionSet, Status
from robust_recourse.math.linear_recourse import cheapest_accepted
from robust_recourse.math.linear_worst_case import worst_case_score
from robust_recourse.math.projections import weighted_cost
from robust_recourse.math.scales import spread
from robust_recourse.methods import roar

SURROGATES = ("limels", "lime")
NORMAL, OFFSET = np.array([0.48, 0.6, 0.64]), -1.2


def straight(X):
    """A probability that is linear wherever it is asked for, so that every surrogate is the model itself."""
    return 0.5 + 0.02 * (np.asarray(X) @ NORMAL + OFFSET)


@pytest.fixture(scope="module")
def rows():
    X = np.random.default_rng(0).standard_normal((600, 3))
    return X, X[straight(X) <= 0.5][:25]


def exact(**parameters):
    return ROAR(straight, **{"alpha": 1e-9, "random_state": 0, **parameters})


@pytest.fixture(scope="module", params=SURROGATES)
def explained(request, network):
    model, X, refused = network
    method = ROAR(model, surrogate=request.param, random_state=0).fit(X)
    return method, refused, method.explain(refused)


@pytest.fixture
def surrogates(monkeypatch):
    """The scores that the last call of `explain` fitted."""
    seen = {}

    def spy(w, b, *others):
        seen.update(w=w, b=b)
        return cheapest_accepted(w, b, *others)

    monkeypatch.setattr(roar, "cheapest_accepted", spy)
    return seen


@pytest.mark.parametrize("surrogate", SURROGATES)
def test_without_radius_a_linear_model_has_the_closed_form(surrogate, rows):
    X, refused = rows
    weights = np.array([1.0, 2.0, 0.5])
    actions = ActionSet(weights=dict(enumerate(weights)))
    found = exact(actions=actions, surrogate=surrogate, delta_max=0.0).fit(X).explain(refused)
    cost = -(refused @ NORMAL + OFFSET) / (NORMAL / weights).max()
    np.testing.assert_allclose(found.cost, cost, rtol=1e-5)
    assert (np.flatnonzero(np.abs(found.x - refused).max(axis=0)) == [2]).all()


@pytest.mark.parametrize("surrogate", SURROGATES)
@pytest.mark.parametrize("norm", ["2", "inf"])
def test_a_linear_model_is_its_own_surrogate(surrogate, norm, rows):
    X, refused = rows
    found = exact(surrogate=surrogate, delta_max=0.15, norm=norm).fit(X).explain(refused)
    m, free = len(refused), np.full_like(refused, np.inf)
    w, b = np.tile(NORMAL, (m, 1)), np.full(m, OFFSET)
    best, _ = cheapest_accepted(w, b, 0.15, refused, np.ones(3), -free, free, norm)
    np.testing.assert_allclose(found.cost, weighted_cost(best, refused, np.ones(3)), rtol=1e-4)
    np.testing.assert_allclose(worst_case_score(found.x, w, b, 0.15, norm), 0.0, atol=1e-4)
    assert found.valid.all()
    assert set(found.status) == {Status.OK}


def test_columns_that_may_not_change_count_in_the_worst_case(rows):
    X, refused = rows
    refused = refused.copy()
    refused[:, 1] = np.linspace(-3.0, 0.0, len(refused))
    found = exact(actions=ActionSet(immutable=[1]), surrogate="lime", delta_max=0.2).fit(X).explain(refused)
    np.testing.assert_array_equal(found.x[:, 1], refused[:, 1])
    # The surrogate has no slope there: the model's part is in the offset, and the normal is the rest of length 1.
    free = np.hypot(*NORMAL[[0, 2]])
    w = np.tile(NORMAL * [1.0, 0.0, 1.0] / free, (len(refused), 1))
    b = (OFFSET + NORMAL[1] * refused[:, 1]) / free
    np.testing.assert_allclose(worst_case_score(found.x, w, b, 0.2), 0.0, atol=1e-4)


def test_valid_is_what_the_model_says(explained, network):
    _, refused, found = explained
    np.testing.assert_array_equal(found.valid, network[0].predict(found.x) == 1)
    np.testing.assert_array_equal(found.cost, np.abs(found.x - refused).sum(axis=1))
    assert set(found.status) <= {Status.OK, Status.REFUSED}
    np.testing.assert_array_equal(found.status == Status.OK, found.valid)


def test_the_local_surrogate_is_mostly_right_about_the_network(network):
    model, X, refused = network
    valid = [ROAR(model, delta_max=delta, random_state=0).fit(X).explain(refused).valid.mean() for delta in (0.0, 0.1)]
    assert valid[0] < valid[1]
    assert valid[1] > 0.9


@pytest.mark.parametrize("surrogate", SURROGATES)
def test_the_cost_grows_with_the_radius(surrogate, network):
    model, X, refused = network
    costs = np.array(
        [
            ROAR(model, surrogate=surrogate, delta_max=delta, random_state=0).fit(X).explain(refused).cost
            for delta in (0.0, 0.05, 0.1, 0.2)
        ]
    )
    assert np.all(np.diff(costs, axis=0) >= 0.0)
    assert costs[-1].mean() > costs[0].mean() + 0.1


def published(x0, w, b, delta, weight=0.1, rate=0.01):
    """The descent of the published method for one instance."""
    x = x0.copy()
    for _ in range(10):
        for _ in range(1000):
            size = np.sqrt(x @ x + 1.0)
            probability = 1.0 / (1.0 + np.exp(delta * size - w @ x - b))
            if probability >= 0.5:
                return x
            x = x - rate * (weight * np.sign(x - x0) - (1.0 - probability) * (w - delta * x / size))
        weight *= 0.5
    return x


def test_it_is_the_limit_of_the_published_descent(network, surrogates):
    """With a small step and weight the descent is accepted too and never cheaper, and mostly not much dearer."""
    model, X, refused = network
    found = ROAR(model, random_state=0).fit(X).explain(refused[:12])
    descended = np.array(
        [published(*each, 0.1) for each in zip(refused[:12], surrogates["w"], surrogates["b"], strict=True)]
    )
    assert np.all(worst_case_score(descended, surrogates["w"], surrogates["b"], 0.1) >= 0.0)
    cost = np.abs(descended - refused[:12]).sum(axis=1)
    assert np.all(cost >= found.cost - 1e-9)
    assert cost.mean() < 1.3 * found.cost.mean()


@pytest.mark.parametrize("surrogate", SURROGATES)
@pytest.mark.parametrize("norm", ["2", "inf"])
def test_the_action_set_holds_to_the_last_bit(surrogate, norm, wide):
    model, X, refused = wide
    actions = ActionSet(
        immutable=[0], increase=[1], decrease=[2], bounds={3: (-3.5, 3.5), 4: (None, 4.0)}, weights={1: 3.0}
    )
    method = ROAR(model, actions, surrogate=surrogate, norm=norm, delta_max=0.05, random_state=0).fit(X)
    found = method.explain(refused)
    some = ~np.isnan(found.cost)
    x, x0 = found.x[some], refused[some]
    assert len(x) > 10
    np.testing.assert_array_equal(x[:, 0], x0[:, 0])
    assert (x[:, 1] >= x0[:, 1]).all()
    assert (x[:, 2] <= x0[:, 2]).all()
    assert (np.abs(x[:, 3]) <= 3.5).all()
    assert (x[:, 4] <= 4.0).all()
    weights = np.array([1.0, 3.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    np.testing.assert_array_equal(found.cost[some], weighted_cost(x, x0, weights))
    np.testing.assert_array_equal(found.valid[some], model(x))


@pytest.mark.slow
@pytest.mark.parametrize("surrogate", SURROGATES)
def test_same_seed_same_answer_whatever_the_batch_the_order_and_the_jobs(surrogate, network, monkeypatch):
    model, X, refused = network
    fitted = ROAR(model, ActionSet(increase=[0]), surrogate=surrogate, random_state=3).fit(X)
    reference = fitted.explain(refused)
    order = np.random.default_rng(0).permutation(len(refused))
    np.testing.assert_array_equal(fitted.explain(refused[order]).x, reference.x[order])
    for i in (0, 11):
        np.testing.assert_array_equal(fitted.explain(refused[i : i + 1]).x[0], reference.x[i])
    monkeypatch.setattr("robust_recourse.search.run._PEOPLE", 7)
    np.testing.assert_array_equal(fitted.explain(refused).x, reference.x)
    np.testing.assert_array_equal(clone(fitted).set_params(n_jobs=2).fit(X).explain(refused).x, reference.x)
    other = clone(fitted).set_params(random_state=4).fit(X).explain(refused)
    assert not np.array_equal(other.x, reference.x)


@pytest.mark.parametrize("surrogate", SURROGATES)
def test_queries_are_counted_by_row(surrogate, counting, rows, monkeypatch):
    X, refused = rows
    model = counting(straight)
    method = ROAR(model, surrogate=surrogate, n_samples=30, random_state=0).fit(X)
    before = model.n_rows
    found = method.explain(refused)
    assert found.n_queries.sum() <= model.n_rows - before
    monkeypatch.setattr("robust_recourse.sampling.bisection._MOST_LEVELS", 1)  # nothing is asked ahead of need
    before = model.n_rows
    np.testing.assert_array_equal(method.explain(refused).n_queries, found.n_queries)
    assert found.n_queries.sum() == model.n_rows - before
    if surrogate == "lime":
        np.testing.assert_array_equal(found.n_queries, 1 + 30 + 1)


@pytest.mark.parametrize("surrogate", SURROGATES)
def test_frames_come_back_as_frames(surrogate, rows):
    X, refused = rows
    columns, index = ["age", "income", "debt"], [f"person {i}" for i in range(len(refused))]

    def decide(X):
        # By labels the boundary is searched alike; scores lead the search in a table elsewhere, within its resolution.
        return straight(X) > 0.5 if surrogate == "limels" else straight(X)

    def model(frame):
        assert list(frame.columns) == columns
        return decide(frame.to_numpy())

    # Steps so fine that rounding to what can be told does not matter below.
    actions = ActionSet(immutable=["age"], step=dict.fromkeys(columns, 1e-12))
    method = ROAR(model, actions, surrogate=surrogate, random_state=0).fit(pd.DataFrame(X, columns=columns))
    frame = pd.DataFrame(refused, columns=columns, index=index)
    found = method.explain(frame)
    assert list(found.x.index) == index
    assert list(found.x.columns) == columns
    # A frame is an array in units of cost, within the range of the training rows.
    units = np.array([spread(X[:, [k]])[0] for k in range(3)])  # column by column, for the same bits
    bounds = {k: (X[:, k].min() / units[k], X[:, k].max() / units[k]) for k in range(3)}
    actions = ActionSet(immutable=[0], bounds=bounds)
    arrays = ROAR(lambda Z: decide(Z * units), actions, surrogate=surrogate, random_state=0)
    plain = arrays.fit(X / units).explain(refused / units)
    np.testing.assert_allclose(found.x.to_numpy(), plain.x * units, rtol=1e-9)
    assert list(found.to_frame()["status"]) == list(plain.status)


@pytest.mark.parametrize("surrogate", SURROGATES)
def test_a_model_that_only_knows_labels_will_do(surrogate, square, linear_model):
    refused = square[linear_model(square) == 0][:20]
    found = ROAR(linear_model, surrogate=surrogate, delta_max=0.2, random_state=0).fit(square).explain(refused)
    assert np.isfinite(found.cost).all()
    assert found.valid.mean() > 0.8


@pytest.mark.parametrize("surrogate", SURROGATES)
@pytest.mark.parametrize("norm", ["2", "inf"])
def test_a_radius_beyond_reach_is_named(surrogate, norm, rows):
    X, refused = rows
    found = exact(surrogate=surrogate, delta_max=2.5, norm=norm).fit(X).explain(refused[:4])
    assert set(found.status) == {Status.NOT_FOUND}
    assert np.isnan(found.x).all()
    assert np.isnan(found.cost).all()
    assert all("delta_max = 2.5" in reason for reason in found.reason)
    assert not found.valid.any()


def test_bounds_that_leave_no_point_are_no_error():
    """Of two instances only one can reach what every surrogate accepts."""
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (300, 2))
    model = lambda Z: 0.5 + 0.2 * np.asarray(Z)[:, 0]  # noqa: E731
    actions = ActionSet(immutable=[1], bounds={0: (-1.0, 1.0)})
    found = ROAR(model, actions, delta_max=0.5, random_state=0).fit(X).explain([[-0.5, 0.0], [-0.5, 3.0]])
    assert list(found.status) == [Status.OK, Status.NOT_FOUND]
    assert found.x[0, 0] == pytest.approx(np.sqrt(1 / 3), abs=0.05)


@pytest.mark.parametrize("surrogate", SURROGATES)
def test_a_surrogate_without_slope_is_no_recourse(surrogate, square):
    # Only the label depends on the row; the probability does not.
    class Stubborn:
        def predict(self, X):
            return (np.asarray(X)[:, 0] > 0.0).astype(int)

        def predict_proba(self, X):
            return np.tile([0.6, 0.4], (len(X), 1))

    found = ROAR(Stubborn(), surrogate=surrogate, random_state=0).fit(square).explain([[-0.5, 0.0]])
    assert found.status[0] == Status.NOT_FOUND
    assert "no slope" in found.reason[0]


def test_an_instance_that_its_surrogate_accepts_stays_and_is_refused(square):
    """The refused instance is alone in a hole of an accepted world, which a global line cannot see."""

    def model(X):
        X = np.asarray(X)
        return np.where(np.abs(X).max(axis=1) < 0.05, 0.0, 0.9 + 0.01 * np.tanh(X[:, 0]))

    found = ROAR(model, surrogate="lime", random_state=0).fit(square).explain([[0.01, 0.0]])
    assert found.status[0] == Status.REFUSED
    assert not found.valid[0]
    assert found.cost[0] == 0.0
    np.testing.assert_array_equal(found.x[0], [0.01, 0.0])


def test_without_a_boundary_point_there_is_no_local_surrogate(square, linear_model):
    actions = ActionSet(immutable=[1], bounds={0: (-2.0, 2.0)})
    local = ROAR(linear_model, actions, random_state=0).fit(square)
    found = local.explain([[0.0, -1.9], [0.0, 0.3]])
    assert found.status[0] == Status.NO_CANDIDATE
    assert found.status[1] in {Status.OK, Status.REFUSED}
    assert "accepted training rows" in found.reason[0]


def test_rows_that_are_accepted_or_have_nothing_to_change(square, linear_model):
    method = ROAR(linear_model, ActionSet(immutable=[0, 1]), random_state=0).fit(square)
    found = method.explain([[2.0, 2.0], [-1.0, -1.0]])
    assert list(found.status) == [Status.ALREADY_FAVOURABLE, Status.NOTHING_MAY_CHANGE]


def test_the_radius_can_be_in_diameters(square, linear_model):
    method = ROAR(linear_model, sampling_radius=0.1, radius_unit="diameter").fit(square)
    pairs = np.linalg.norm(square[:, None] - square[None], axis=2)
    assert method.radius_ == pytest.approx(0.1 * pairs.max())
    with pytest.raises(ValueError, match="X has diameter 0"):
        ROAR(linear_model, radius_unit="diameter").fit(np.ones((3, 2)))


@pytest.mark.parametrize(
    ("parameters", "error", "match"),
    [
        ({"surrogate": "shap"}, ValueError, "surrogate must be one of 'limels', 'lime', got 'shap'"),
        ({"delta_max": -0.1}, ValueError, "delta_max must be at least 0"),
        ({"delta_max": np.nan}, ValueError, "delta_max must be finite"),
        ({"delta_max": "small"}, TypeError, "delta_max must be a real number"),
        ({"norm": 2}, ValueError, "norm must be one of '2', 'inf', got 2"),
        ({"alpha": 0.0}, ValueError, "alpha must be greater than 0"),
        ({"n_samples": 1}, ValueError, "n_samples must be at least 2"),
        ({"n_neighbors": 0}, ValueError, "n_neighbors must be at least 1"),
        ({"sampling_radius": 0.0}, ValueError, "sampling_radius must be greater than 0"),
        ({"radius_unit": "miles"}, ValueError, "radius_unit must be one of 'absolute', 'diameter'"),
        ({"actions": {"immutable": [0]}}, TypeError, "actions must be an ActionSet"),
    ],
)
def test_parameters(parameters, error, match, square, linear_model):
    method = ROAR(linear_model, **parameters)
    with pytest.raises(error, match=match):
        method.fit(square)


def test_a_slope_made_of_rounding_errors_is_none(linear_model, square):
    # The first is so far from all samples that LIME's weights are next to nothing but for the instance itself.
    rows = np.array([[-6.0, -6.0], [-1.0, -1.0]])
    found = ROAR(linear_model, surrogate="lime", random_state=0).fit(square).explain(rows)
    assert found.status[0] == Status.NOT_FOUND
    assert "next to no slope" in found.reason[0]
    assert np.isnan(found.cost[0])
    assert found.cost[1] < 10.0


@pytest.mark.parametrize("surrogate", ["lime", "limels"])
def test_a_model_may_write_into_what_it_is_given(linear_model, square, surrogate):
    def careless(X):
        answer = linear_model(X)
        X[:] = 0.0
        return answer

    rows = square[linear_model(square) == 0][:5]
    careful, found = (
        ROAR(m, surrogate=surrogate, random_state=0).fit(square).explain(rows) for m in (linear_model, careless)
    )
    np.testing.assert_array_equal(found.x, careful.x)


@pytest.mark.parametrize("surrogate", SURROGATES)
@pytest.mark.parametrize("scale", [1e15, 1e30, 1e60, 1e95])
def test_large_numbers_are_explained_or_have_a_status(surrogate, scale):
    X = np.random.default_rng(0).standard_normal((200, 3)) * scale
    found = ROAR(lambda Z: Z[:, 0] + Z[:, 1] > 0.5 * scale, surrogate=surrogate, random_state=0).fit(X).explain(X[:20])
    assert set(found.status) <= {Status.OK, Status.ALREADY_FAVOURABLE, Status.REFUSED, Status.NOT_FOUND}


@pytest.mark.parametrize("surrogate", ["lime", "limels"])
@pytest.mark.parametrize("scale", [1e10, 1e73])
def test_columns_that_repeat_each_other_at_a_large_scale_are_no_error(surrogate, scale):
    X = np.random.default_rng(0).normal(size=(60, 3)) * scale
    X[:, 1] = X[:, 0]
    # So few samples do not span the columns, and beside their squares the penalty is lost.
    method = ROAR(lambda X: X.sum(axis=1) > 0.0, surrogate=surrogate, n_samples=3, sampling_radius=0.2 * scale)
    method = method.set_params(random_state=0).fit(X)
    found = method.explain(X[:20])
    known = {Status.ALREADY_FAVOURABLE, Status.OK, Status.REFUSED, Status.NOT_FOUND}
    assert set(found.status) <= known
    assert Status.OK in found.status
