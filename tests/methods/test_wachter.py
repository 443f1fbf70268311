import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from robust_recourse import ActionSet, NearestAccepted, Status, Wachter
from robust_recourse.math.projections import weighted_cost


class Linear:
    """A linear model with given coefficients, as scikit-learn's are."""

    def __init__(self, coefficients, intercept):
        self.coef_, self.intercept_ = np.array([coefficients]), np.array([intercept])

    def decision_function(self, X):
        return (np.asarray(X) * self.coef_).sum(axis=1) + self.intercept_[0]

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)


def cheapest(model, x0, limits):
    """What acceptance costs: a continuous knapsack, filled in the order of what a unit of cost gains."""
    slope, missing = model.coef_[0], -model.decision_function(x0[None])[0]
    lower, upper = (bound[0] for bound in limits.box(x0[None]))
    room = np.where(slope > 0, upper - x0, x0 - lower)
    cost = 0.0
    for k in np.argsort(-np.abs(slope) / limits.weights):
        if slope[k] == 0.0 or room[k] == 0.0:
            continue
        move = min(room[k], missing / abs(slope[k]))
        cost += limits.weights[k] * move
        missing -= abs(slope[k]) * move
        if missing <= 1e-12:
            return cost
    return np.inf


@st.composite
def linear_problems(draw):
    """A linear model, training rows, and an action set with every kind of rule."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    p = draw(st.integers(1, 7))
    units = 10.0 ** rng.uniform(-3, 3, p) if draw(st.booleans()) else np.ones(p)
    slope = rng.standard_normal(p) * 10.0 ** rng.uniform(-1, 1, p) / units * 10.0 ** draw(st.floats(-2, 2))
    X = rng.standard_normal((100, p)) * units
    rules = rng.integers(0, 6, p)
    wide = 1.1 * np.abs(X).max(axis=0)
    actions = ActionSet(
        immutable=[k for k in range(p) if rules[k] == 0],
        increase=[k for k in range(p) if rules[k] == 1],
        decrease=[k for k in range(p) if rules[k] == 2],
        bounds={k: (-wide[k], wide[k]) for k in range(p) if rng.random() < 0.5},
        weights={k: float(10.0 ** rng.uniform(-1, 1) / units[k]) for k in range(p)},
    )
    # So that about a third is accepted.
    return Linear(slope, -np.quantile(X @ slope, 0.66)), X, actions


@pytest.mark.filterwarnings("ignore:The columns of X have very different scales")  # some that are drawn do
@settings(max_examples=60, deadline=None)
@given(linear_problems())
def test_the_cheapest_accepted_point_of_a_linear_model_is_found(problem):
    model, X, actions = problem
    refused = X[model.predict(X) == 0][:12]
    found = Wachter(model, actions).fit(X).explain(refused)
    limits = actions.limits(X.shape[1])
    lower, upper = limits.box(refused)
    for i, x0 in enumerate(refused):
        known = cheapest(model, x0, limits)
        if found.status[i] is Status.NOTHING_MAY_CHANGE:
            assert np.isinf(known)
        elif np.isinf(known):
            assert found.status[i] is Status.NOT_FOUND
            assert np.isnan(found.x[i]).all()
            assert not found.valid[i]
        else:
            assert found.status[i] is Status.OK
            assert found.valid[i]
            assert model.predict(found.x[i : i + 1])[0] == 1
            assert known <= found.cost[i] * (1.0 + 1e-9)
            assert found.cost[i] <= known * (1.0 + 1e-3)
            assert (found.x[i] >= lower[i]).all()
            assert (found.x[i] <= upper[i]).all()
            assert found.cost[i] == weighted_cost(found.x[i], x0, limits.weights)


def test_without_limits_only_the_best_column_moves():
    model = Linear([1.0, -3.0, 2.0], -1.0)
    X = np.random.default_rng(0).standard_normal((300, 3))
    x0 = X[model.predict(X) == 0]
    found = Wachter(model, ActionSet(weights={1: 2.0})).fit(X).explain(x0)
    # Per unit of cost the columns gain 1, 1.5 and 2. The others keep their bits.
    np.testing.assert_array_equal(found.x[:, :2], x0[:, :2])
    np.testing.assert_allclose(found.cost, -model.decision_function(x0) / 2.0, rtol=2e-6)


ACTION_SETS = [
    None,
    ActionSet(immutable=[0]),
    ActionSet(increase=[1], decrease=[0]),
    ActionSet(bounds={0: (-3.0, 1.0), 1: (None, 1.5)}, weights={1: 0.3}),
]


@pytest.fixture(scope="module")
def explained(network):
    model, X, refused = network
    return Wachter(model).fit(X).explain(refused)


@pytest.mark.parametrize("actions", ACTION_SETS, ids=repr)
def test_the_action_set_holds_exactly_and_the_model_has_the_last_word(network, actions):
    model, X, refused = network
    limits = (actions or ActionSet()).limits(2)
    refused = refused[limits.holds(refused)]
    found = Wachter(model, actions).fit(X).explain(refused)
    done = found.status == Status.OK
    assert done.mean() > 0.6
    assert set(found.status) <= {Status.OK, Status.NOT_FOUND}
    lower, upper = limits.box(refused)
    assert (found.x[done] >= lower[done]).all()
    assert (found.x[done] <= upper[done]).all()
    np.testing.assert_array_equal(found.cost[done], weighted_cost(found.x, refused, limits.weights)[done])
    np.testing.assert_array_equal(found.valid[done], model.predict(found.x[done]) == 1)
    assert found.valid[done].all()
    assert np.isnan(found.x[~done]).all()


def test_the_end_is_next_to_a_refused_point(explained, network):
    model, _, refused = network
    # A little closer to the instance the model refuses: the boundary is right there.
    closer = refused + (1.0 - 1e-3) * (explained.x - refused)
    assert (model.predict(closer) == 0).mean() > 0.95


def test_most_networks_let_it_beat_the_line_to_the_nearest_accepted_row(explained, network):
    model, X, refused = network
    ends = NearestAccepted(model).fit(X).explain(refused).x
    low, high = np.zeros(len(refused)), np.ones(len(refused))
    for _ in range(40):
        middle = 0.5 * (low + high)
        yes = model.predict(refused + middle[:, None] * (ends - refused)) == 1
        low, high = np.where(yes, low, middle), np.where(yes, middle, high)
    line = high * np.abs(ends - refused).sum(axis=1)
    assert explained.valid.all()
    assert (explained.cost <= line * (1.0 + 1e-6)).mean() > 0.6


def test_no_point_around_the_end_is_cheaper_and_accepted(explained, network):
    # The network is convex enough for most ends to be local minima of the cost among accepted points.
    model = network[0]
    rng = np.random.default_rng(0)
    minimal = []
    for recourse in explained:
        around = recourse.x + 0.02 * recourse.cost * rng.uniform(-1, 1, (300, 2))
        cheaper = np.abs(around - recourse.x0).sum(axis=1) < 0.999 * recourse.cost
        minimal.append(not (model.predict(around[cheaper]) == 1).any())
    assert np.mean(minimal) > 0.8


@pytest.mark.slow
@pytest.mark.parametrize("actions", [None, ActionSet(increase=[0], weights={1: 0.7})], ids=repr)
def test_a_row_does_not_depend_on_its_company(explained, network, actions, monkeypatch):
    model, X, refused = network
    method = Wachter(model, actions).fit(X)
    together = method.explain(refused)
    order = np.random.default_rng(0).permutation(len(refused))[:30]
    np.testing.assert_array_equal(method.explain(refused[order]).x, together.x[order])
    for i in (0, 11):
        np.testing.assert_array_equal(method.explain(refused[i : i + 1]).x[0], together.x[i])
    monkeypatch.setattr("robust_recourse.search.run._PEOPLE", 16)
    np.testing.assert_array_equal(method.explain(refused[:40]).x, together.x[:40])
    if actions is None:
        np.testing.assert_array_equal(together.x, explained.x)
        np.testing.assert_array_equal(method.set_params(n_jobs=2).explain(refused[:6]).x, together.x[:6])


def test_queries_are_counted_by_row(counting):
    def smooth(Z):
        return 1.0 / (1.0 + np.exp(-(Z[:, 0] + np.sin(Z[:, 1]) + Z[:, 2] ** 2 - 1.5)))

    model = counting(smooth)
    X = np.random.default_rng(0).standard_normal((300, 3))
    refused = X[smooth(X) <= 0.5][:40]
    method = Wachter(model, ActionSet(immutable=[2])).fit(X)
    before = model.n_rows
    found = method.explain(refused)
    assert found.n_queries.sum() == model.n_rows - before
    assert (found.n_queries[found.status == Status.OK] > 10).all()
    assert found.n_queries.max() <= 3000


def test_people_who_may_change_different_columns_are_asked_about_their_own(counting):
    def smooth(Z):
        return 1.0 / (1.0 + np.exp(-(Z[:, 0] + np.sin(Z[:, 1]) + Z[:, 2] ** 2 - 1.5)))

    model, X = counting(smooth), np.random.default_rng(0).standard_normal((300, 3)).clip(-1.0, 1.0)
    refused = X[smooth(X) <= 0.5][:40]
    # Who is at a bound already, and may only go towards it, cannot change that column.
    method = Wachter(model, ActionSet(increase=[0, 2], bounds={0: (-1, 1), 2: (-1, 1)})).fit(X)
    assert 0 < (refused[:, [0, 2]] == 1.0).sum() < 40
    before = model.n_rows
    together = method.explain(refused)
    assert together.n_queries.sum() == model.n_rows - before
    for i in range(0, 40, 7):
        alone = method.explain(refused[i : i + 1])
        assert alone.equals(together[i : i + 1])


@pytest.mark.parametrize(
    "make",
    [
        lambda: make_pipeline(StandardScaler(), MLPClassifier((8,), activation="tanh", max_iter=3000, random_state=0)),
        lambda: LogisticRegression(),
    ],
    ids=["pipeline", "linear"],
)
def test_differences_lead_where_gradients_lead(make):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3)) * [1.0, 20.0, 0.1]
    model = make().fit(X, (X[:, 0] + X[:, 1] / 20.0 > 0.4).astype(int))
    refused = X[model.predict(X) == 0][:15]
    actions = ActionSet(weights={1: 0.05, 2: 10.0})
    found = Wachter(model, actions).fit(X).explain(refused)
    # A callable hides the closed form.
    hidden = Wachter(model.predict_proba, actions).fit(X).explain(refused)
    assert found.valid.all()
    assert hidden.valid.all()
    np.testing.assert_allclose(hidden.cost, found.cost, rtol=1e-3)
    assert (hidden.n_queries > found.n_queries).all()


def test_a_problem_without_recourse_says_which_parameters_matter(square):
    model = Linear([1.0, 2.0], -1.0)
    actions = ActionSet(bounds={0: (-2.0, 0.2), 1: (-2.0, 0.2)})
    method = Wachter(model, actions, trade_off=0.5, max_halvings=20).fit(square)
    found = method.explain([[-1.0, -1.0], [0.1, 0.0]])
    assert set(found.status) == {Status.NOT_FOUND}
    assert "trade-offs from 0.5 down to 4.76837e-07" in found.reason[0]
    assert "max_halvings" in found.reason[0]
    assert np.isnan(found.x).all()
    assert np.isnan(found.cost).all()
    assert (found.n_queries > 10).all()


def test_a_row_that_may_only_get_worse_says_so(square):
    found = Wachter(Linear([1.0, 2.0], -1.0), ActionSet(decrease=[0, 1])).fit(square).explain([[-1.0, -1.0]])
    assert found.status[0] is Status.NOT_FOUND
    assert "rises in no direction that the action set allows" in found.reason[0]


def test_too_few_halvings_find_nothing(square):
    model = Linear([1e-3, 2e-3], -1e-3)
    assert Wachter(model, max_halvings=3).fit(square).explain([[-1.0, -1.0]]).status[0] is Status.NOT_FOUND
    assert Wachter(model).fit(square).explain([[-1.0, -1.0]]).status[0] is Status.OK


@pytest.mark.parametrize("model", [DecisionTreeClassifier(max_depth=4), RandomForestClassifier(10, random_state=0)])
def test_a_flat_model_gets_statuses_not_exceptions(model, square, linear_model):
    model = model.fit(square, linear_model(square))
    refused = square[model.predict(square) == 0][:40]
    found = Wachter(model).fit(square).explain(refused)
    assert set(found.status) <= {Status.OK, Status.NOT_FOUND}
    flat = ["flat" in reason for reason in found.reason]
    assert np.mean(flat) > 0.5
    assert "RobustBayesianRecourse" in found.reason[flat.index(True)]
    assert found.valid[found.status == Status.OK].all()


@pytest.mark.parametrize("model", [lambda Z: Z[:, 0] > 0, RandomForestClassifier(3, random_state=0)])
def test_a_model_that_only_labels_is_refused_at_once(model, square):
    if hasattr(model, "fit"):
        model = model.fit(square, (square[:, 0] > 0).astype(int)).predict
    with pytest.raises(TypeError, match=r"labels only.*predict_proba or decision_function"):
        Wachter(model).fit(square)


@pytest.mark.parametrize(
    ("parameters", "error", "match"),
    [
        ({"trade_off": 0.0}, ValueError, "trade_off must be greater than 0"),
        ({"trade_off": 1e60}, ValueError, "trade_off must be at most"),
        ({"max_halvings": -1}, ValueError, "max_halvings must be at least 0"),
        ({"max_halvings": 1000}, ValueError, "max_halvings must be at most 200"),
        ({"max_iter": 0}, ValueError, "max_iter must be at least 1"),
        ({"max_iter": 2.5}, TypeError, "max_iter must be an integer"),
        ({"tolerance": 0.0}, ValueError, "tolerance must be at least"),
        ({"tolerance": 0.5}, ValueError, "tolerance must be at most 0.1"),
        ({"step": 0.0}, ValueError, "step must be greater than 0"),
    ],
)
def test_parameters_out_of_range_are_named(parameters, error, match, square):
    with pytest.raises(error, match=match):
        Wachter(Linear([1.0, 2.0], -1.0), **parameters).fit(square)


def test_a_threshold_other_than_one_half_is_met(square):
    # The labels decide, whatever the score says.
    class Strict(Linear):
        def predict(self, X):
            return (self.decision_function(X) > 1.5).astype(int)

    model = Strict([1.0, 2.0], 0.0)
    found = Wachter(model).fit(square).explain([[-1.0, -1.0], [0.5, 0.2]])
    assert found.valid.all()
    np.testing.assert_allclose(found.cost, [2.25, 0.3], rtol=1e-3)


def test_the_model_is_never_asked_beyond_the_bounds():
    X = np.random.default_rng(0).lognormal(-2.0, 1.0, (300, 2)).clip(1e-3)

    def logarithm(Z):
        if (Z < 1e-3).any():
            raise ValueError("negative income")
        return 1.0 / (1.0 + np.exp(-np.log(Z).sum(axis=1) - 4.0))

    actions = ActionSet(bounds={0: (1e-3, None), 1: (1e-3, None)})
    rows = np.concatenate([X[:20], np.tile([1e-3, 0.01], (3, 1))])
    assert Wachter(logarithm, actions).fit(X).explain(rows).valid.all()


def test_a_model_that_wavers_at_the_boundary_gets_a_safer_point(square):
    class Wavering(Linear):
        """Stricter, by the rounding of single precision, from a call on."""

        calls, strict_from = 0, np.inf

        def predict(self, X):
            self.calls += 1
            return (self.decision_function(X) > (1e-5 if self.calls >= self.strict_from else 0.0)).astype(int)

    model = Wavering([1.0, 2.0], -1.0)
    method = Wachter(model, tolerance=1e-2).fit(square)
    x0 = np.array([[-1.0, -1.0], [0.3, -0.4]])
    model.calls = 0
    before = method.explain(x0)
    # The last two questions: about all ends at once, and the verification.
    model.calls, model.strict_from = 0, model.calls - 1
    found = method.explain(x0)
    assert (model.decision_function(before.x) < 1e-5).all()
    assert found.valid.all()
    assert set(found.status) == {Status.OK}
    np.testing.assert_allclose(found.cost, before.cost, rtol=2e-2)


def test_a_model_that_works_in_place_changes_nothing_of_ours(square):
    def in_place(Z):
        Z -= 1.0
        return 1.0 / (1.0 + np.exp(-(Z[:, 0] + 2.0 * Z[:, 1] + 2.0)))

    refused = np.array([[-1.0, -0.5], [-0.2, -0.9]])
    rows, before = refused.copy(), square.copy()
    found = Wachter(in_place).fit(square).explain(refused)
    np.testing.assert_array_equal(refused, rows)
    np.testing.assert_array_equal(square, before)
    np.testing.assert_allclose(found.cost, (1.0 - refused @ [1.0, 2.0]) / 2.0, rtol=1e-5)
    np.testing.assert_array_equal(found.x[:, 0], rows[:, 0])


def test_frames_in_frames_out():
    X = pd.DataFrame(np.random.default_rng(0).uniform(-2, 2, (300, 2)), columns=["income", "debt"])
    for model in (LogisticRegression(), GaussianNB()):
        model = model.fit(X, (X["income"] > X["debt"]).astype(int))
        refused = X[model.predict(X) == 0].head(5)
        method = Wachter(model, ActionSet(decrease=["debt"])).fit(X)
        found = method.explain(refused)
        assert list(found.x.columns) == ["income", "debt"]
        assert found.x.index.equals(refused.index)
        assert (found.x["debt"] <= refused["debt"]).all()
        assert (model.predict(found.x) == 1).all()
        swapped = method.explain(refused[["debt", "income"]])
        np.testing.assert_array_equal(swapped.x[["income", "debt"]], found.x)


def test_it_can_be_cloned_and_asked_for_its_parameters(network):
    model, X, refused = network
    method = Wachter(model, ActionSet(increase=[1]), trade_off=2.0, tolerance=1e-3, random_state=3)
    copy = clone(method)
    assert copy.get_params() == method.get_params()
    assert copy.model is model
    np.testing.assert_array_equal(copy.fit(X).explain(refused[:4]).x, method.fit(X).explain(refused[:4]).x)


def test_one_column_and_many_columns():
    rng = np.random.default_rng(0)
    for p in (1, 60):
        X = rng.standard_normal((300, p))
        model = LogisticRegression().fit(X, X[:, 0] > 0.3)
        found = Wachter(model).fit(X).explain(X[:20])
        assert found.valid.all()


@pytest.mark.slow
@pytest.mark.parametrize("single", [False, True])
def test_a_torch_copy_of_a_network_gives_the_same_recourse(network, single):
    torch = pytest.importorskip("torch")
    model, X, refused = network
    layers = []
    for weights, shift in zip(model.coefs_, model.intercepts_, strict=True):
        layer = torch.nn.Linear(*weights.shape).double()
        with torch.no_grad():
            layer.weight.copy_(torch.tensor(weights.T))
            layer.bias.copy_(torch.tensor(shift))
        layers += [layer, torch.nn.ReLU()]
    module = torch.nn.Sequential(*layers[:-1], torch.nn.Sigmoid())
    module = module.float() if single else module
    ours, theirs = (Wachter(one).fit(X).explain(refused) for one in (model, module))
    assert theirs.valid.all()
    same = np.isclose(ours.cost, theirs.cost, rtol=1e-3)
    # Where the score has kinks, rounding can lead to another of them.
    assert same.mean() > (0.8 if single else 0.9)
