"""Of a linear model the cheapest accepted row is known, and that there is none."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.svm import LinearSVC, LinearSVR

from robust_recourse import ActionSet, RobustBayesianRecourse, Status, Wachter
from robust_recourse.search.doing import movable
from robust_recourse.search.run import make_task
from robust_recourse.search.space import Space
from robust_recourse.search.starting import find_starts
from robust_recourse.search.sums import cheapest_sum

# Random models may follow one column.
pytestmark = pytest.mark.filterwarnings("ignore:Column .* alone tells whom the model accepts")

VALUES = {"whole": range(7), "flag": (0, 1), "half": np.arange(9) / 2, "kind": ("a", "b", "c")}


def mixed(seed, encoder=OneHotEncoder, numbers=StandardScaler, linear=LogisticRegression, before=SimpleImputer):
    draw = np.random.default_rng(seed)
    X = pd.DataFrame({name: draw.choice(list(values), 300) for name, values in VALUES.items()})
    factors = draw.normal(size=3)
    score = X[["whole", "flag", "half"]].to_numpy(float) @ factors + X.kind.map(
        dict(zip("abc", draw.normal(size=3), strict=True))
    )
    good = score + draw.normal(0.0, 0.3, 300) > score.quantile(0.6)
    columns = make_column_transformer((encoder(), ["kind"]), remainder=make_pipeline(before(), numbers()))
    return X, make_pipeline(columns, linear()).fit(X, good)


def sums_of(model, X, people, most=None, kind=RobustBayesianRecourse, settings=None, **words):
    method = kind(model, ActionSet(X, step={"half": 0.5}, **words), random_state=0, **(settings or {})).fit(X)
    space = Space.of(method.schema_.read(people, "X"), method.moves_)
    task = make_task(method, space, movable(method.limits_, space))
    return method, task, cheapest_sum(method, task, most)


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 1000),
    encoder=st.sampled_from([OneHotEncoder, OrdinalEncoder]),
    linear=st.sampled_from([LogisticRegression, RidgeClassifier, LinearSVC]),
    most=st.sampled_from([None, 1, 2]),
    words=st.sampled_from(
        [
            {},
            {"immutable": ["half"]},
            {"increase": ["whole"], "weights": {"kind": 0.3, "flag": 2.0}},
            {"rules": ["whole <= half + 3"]},
            {"rules": ["whole >= half", "whole + half >= 2"], "bounds": {"half": (1, 3)}},
            {"never": {"kind": [("a", "b"), ("c", "b")]}},
        ]
    ),
)
def test_no_row_of_the_table_is_cheaper(seed, encoder, linear, most, words):
    X, model = mixed(seed, encoder, linear=linear)
    people = X[~model.predict(X)][:5]
    method, task, found = sums_of(model, X, people, most, **words)
    every = pd.DataFrame(list(product(*VALUES.values())), columns=list(VALUES)).astype(X.dtypes.to_dict())
    every = every[model.predict(every)]
    for i in range(len(people)):
        own = people.iloc[[i] * len(every)].set_axis(every.index)
        broken = {violation.row for violation in method.actions.check(own, every)}
        kept = ~every.index.isin(list(broken))
        points = method.to_points(every)
        kept &= (points != task.x0[i]).sum(axis=1) <= (most or len(VALUES))
        cost = method.limits_.cost(points[kept], task.x0[i])
        if found.impossible[i] or not found.known[i]:
            assert not kept.any()
        else:
            assert method.limits_.cost(found.x[i], task.x0[i]) <= cost.min() * (1 + 1e-3)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), p=st.sampled_from([2, 5, 20]))
def test_the_boundary_of_an_array_is_the_linear_program(seed, p):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(200, p))
    model = LogisticRegression().fit(X, X @ draw.normal(size=p) + draw.normal(size=200) > 0.5)
    assume(0 < model.predict(X).sum() < len(X))
    people = X[model.predict(X) == 0][:4]
    low, high = X.min(axis=0), X.max(axis=0)
    found = RobustBayesianRecourse(model, random_state=0).fit(X).explain(people)
    for own, boundary in zip(people, found.boundary, strict=True):
        rooms = np.maximum(np.concatenate([high - own, own - low]), 0.0)
        exact = linprog(
            np.ones(2 * p),
            A_ub=[np.concatenate([-model.coef_[0], model.coef_[0]])],
            b_ub=model.decision_function(own[None]),
            bounds=[(0, room) for room in rooms],
        )
        assert np.abs(boundary - own).sum() == pytest.approx(exact.fun, rel=1e-5)


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ({"threshold": 0.8}, lambda p: p >= 0.8),
        ({"threshold": 0.2}, lambda p: p >= 0.2),
        ({"margin": 0.7}, lambda p: p >= 0.7),
        ({"threshold": 0.3, "margin": 0.6}, lambda p: p >= 0.6),
    ],
)
def test_thresholds_and_margins_are_met_and_not_exceeded(asked, kept):
    X, model = mixed(3)
    likely = model.predict_proba(X)[:, 1]
    people = X[~kept(likely) & (likely < 0.2)][:6]
    method, task, found = sums_of(model, X, people, settings=asked)
    assert found.known.any()
    every = pd.DataFrame(list(product(*VALUES.values())), columns=list(VALUES)).astype(X.dtypes.to_dict())
    points = method.to_points(every[kept(model.predict_proba(every)[:, 1])])
    for i in np.flatnonzero(found.known):
        cost = method.limits_.cost(points, task.x0[i])
        assert method.limits_.cost(found.x[i], task.x0[i]) == pytest.approx(cost.min(), rel=1e-3)
    # Out of the reach of a margin is not out of the reach of the model.
    assert not (found.impossible.any() and "margin" in asked)


def test_nothing_is_proven_of_an_array_with_values_out_of_the_bounds():
    draw = np.random.default_rng(1)
    X = draw.normal(size=(200, 2))
    model = LogisticRegression().fit(X, X @ [1.0, -1.0] + 0.1 * draw.normal(size=200) > 0.0)
    person, within = np.array([[-1.0, 50.0]]), np.array([[2.0, 0.0]])
    actions = ActionSet(bounds={0: (-3, 3), 1: (-3, 3)})
    assert actions.check(person, within) == []
    assert model.predict(within)[0]
    method = RobustBayesianRecourse(model, actions, random_state=0).fit(X)
    found = method.explain(person, unseen="ignore")
    assert found.status[0] == Status.NO_CANDIDATE  # not impossible: an array's value stays, a frame's would not
    both = method.explain([[-50.0, 50.0]], unseen="ignore")
    assert both.status[0] == Status.NOTHING_MAY_CHANGE
    assert "stay in an array" in both.reason[0]


class Own(Ridge):
    """A subclass may do anything."""


@pytest.mark.parametrize("favourable", ["above", "below", None])
@pytest.mark.parametrize("linear", [LinearRegression, Ridge, LinearSVR, PoissonRegressor, Own])
def test_no_row_has_a_score_beyond_a_threshold_for_less(linear, favourable):
    X, draw = mixed(5)[0], np.random.default_rng(5)
    sign = -1.0 if favourable == "below" else 1.0
    target = 300.0 * (X.whole / 2 + X.flag + X.half / 3 + (X.kind == "b") + draw.random(300))
    columns = make_column_transformer((OneHotEncoder(), ["kind"]), remainder=StandardScaler())
    model = make_pipeline(columns, linear()).fit(X, target)
    score = model.predict(X)
    threshold = float(np.quantile(score, 0.6 if sign > 0.0 else 0.4))
    people = X[sign * score < sign * threshold][:6]
    settings = {"threshold": threshold, "favourable": favourable}
    method, task, found = sums_of(model, X, people, settings=settings)
    if linear in (PoissonRegressor, Own):
        assert found is None
        return
    every = pd.DataFrame(list(product(*VALUES.values())), columns=list(VALUES)).astype(X.dtypes.to_dict())
    scores = sign * (model.predict(every) - threshold)
    points = method.to_points(every)
    assert method.sure_ > 0.0
    sure = find_starts(method, task).sure
    for i in range(len(people)):
        cost = method.limits_.cost(points, task.x0[i])
        for point, least in ((found.x[i], 0.0), (sure[i], method.sure_ * method.score_unit_)):
            assert method.limits_.cost(point, task.x0[i]) == pytest.approx(cost[scores >= least].min(), rel=1e-3)
    assert method.explain(people).valid.all()


def test_labels_may_be_the_other_way_round():
    X, model = mixed(0)
    people = X[model.predict(X)][:4]
    _, task, found = sums_of(model, X, people, settings={"favourable": False})
    assert found.known.any()
    rows = task.space.decode(
        task.space.legal(found.x[found.known], np.flatnonzero(found.known)), np.flatnonzero(found.known)
    )
    assert not model.predict(rows).any()


@pytest.mark.parametrize(
    "numbers",
    [
        PCA,
        lambda: FunctionTransformer(np.square),
        lambda: make_pipeline(StandardScaler(), PolynomialFeatures(2, include_bias=False)),
        lambda: KBinsDiscretizer(3, encode="ordinal", strategy="uniform"),
    ],
)
def test_what_mixes_or_bends_columns_is_left_to_the_search(numbers):
    X, model = mixed(0, numbers=numbers)
    people = X[~model.predict(X)][:3]
    method, _, found = sums_of(model, X, people)
    assert found is None or not (found.known.any() or found.impossible.any())
    assert method.explain(people).valid.all()


def test_who_has_gaps_is_known_where_each_is_filled_from_its_own_column_only():
    for before in (SimpleImputer, KNNImputer):
        X, model = mixed(0, before=before)
        X.loc[::7, "half"] = np.nan
        model.fit(X, model.predict(X))
        people = X[~model.predict(X)][:20]
        assert 0 < people["half"].isna().sum() < len(people)
        found = sums_of(model, X, people)[2]
        if before is KNNImputer:
            assert found is None
        else:
            assert (found.known | found.impossible).all()


class Lenient(LogisticRegression):
    def predict(self, X):
        return self.predict_proba(X)[:, 1] > 0.2


def test_nothing_is_said_to_be_impossible_that_is_not():
    draw = np.random.default_rng(0)
    X = pd.DataFrame({"a": draw.integers(0, 11, 400).astype(float), "b": draw.integers(0, 11, 400).astype(float)})
    product_of = PolynomialFeatures(2, interaction_only=True, include_bias=False)
    product = make_pipeline(product_of, StandardScaler(), LogisticRegression(C=10)).fit(X, X.a * X.b > 30)
    # Neither column alone does anything for this person.
    nobody = pd.DataFrame({"a": [0.0], "b": [0.0]})
    assert RobustBayesianRecourse(product, random_state=0).fit(X).explain(nobody).valid.all()
    # One of eleven values counts.
    bins = make_column_transformer((OneHotEncoder(), ["a"]), remainder="passthrough")
    single = make_pipeline(bins, LogisticRegression(C=0.5)).fit(X, (X.a == 5) | (X.b > 9))
    people = pd.DataFrame({"a": [1.0, 8.0], "b": [3.0, 4.0]})
    method = RobustBayesianRecourse(single, ActionSet(X, immutable=["b"]), random_state=0).fit(X)
    found = method.explain(people)
    five = single.predict(people.assign(a=5.0))
    assert five.any()
    np.testing.assert_array_equal(found.valid, five)
    # A subclass decides as it likes.
    good = X.a + X.b + draw.normal(0.0, 3.0, 400) > 14
    lenient = Lenient().fit(X, good)
    bounds = dict.fromkeys(X, (0, 6))
    people = X[(X.a < 3) & (X.b < 3)].head(3)
    corner = pd.DataFrame({"a": [6.0], "b": [6.0]})
    assert lenient.predict(corner).all()
    assert not LogisticRegression().fit(X, good).predict(corner).any()
    assert (
        RobustBayesianRecourse(lenient, ActionSet(X, bounds=bounds), random_state=0).fit(X).explain(people).valid.all()
    )


def test_categories_that_nobody_may_have_are_not_tried():
    draw = np.random.default_rng(1)
    X = pd.DataFrame(
        {"a": draw.normal(size=200), "kind": pd.Categorical(draw.choice(["x", "z"], 200), ["x", "y", "z"])}
    )
    columns = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    model = make_pipeline(columns, LogisticRegression()).fit(X, X.a + (X.kind == "z") > 0.5)
    people = X[~model.predict(X)].head(4)
    found = RobustBayesianRecourse(model, ActionSet(X), random_state=0).fit(X).explain(people)
    assert found.valid.all()


def test_who_is_out_of_the_range_of_a_scaler_that_ends_there_is_left_to_the_search():
    X, model = mixed(0, numbers=lambda: MinMaxScaler(clip=True))
    people = X[~model.predict(X)][:6].reset_index(drop=True)
    people.loc[2, "whole"] = 40
    people.loc[4, "half"] = -9.5
    people = people[~model.predict(people)]
    _, _, found = sums_of(model, X, people)
    outside = people.index.isin([2, 4])
    assert outside.any()
    np.testing.assert_array_equal(found.known | found.impossible, ~outside)


def test_nobody_depends_on_company_or_on_the_order_of_people():
    X, model = mixed(5)
    people = X[~model.predict(X)][:12]
    words = {"decrease": ["whole"], "rules": ["whole <= half + 4"]}
    _, _, found = sums_of(model, X, people, **words)
    for order in ([3], [11, 0, 5], list(range(11, -1, -1))):
        _, _, some = sums_of(model, X, people.iloc[order], **words)
        np.testing.assert_array_equal(some.x, found.x[order])
        np.testing.assert_array_equal(some.impossible, found.impossible[order])


def test_who_cannot_be_accepted_is_told_so():
    X, model = mixed(1)
    people = X[~model.predict(X)]
    actions = ActionSet(X, immutable=["half", "kind", "flag"], bounds={"whole": (2, 4)}, step={"half": 0.5})
    method = RobustBayesianRecourse(model, actions, random_state=0).fit(X)
    found = method.explain(people.head(40))
    lost = found.status == Status.IMPOSSIBLE
    assert lost.any()
    assert "adds up" in found.reason[np.flatnonzero(lost)[0]]
    for i in np.flatnonzero(lost):
        every = people.iloc[[i] * 3].assign(whole=range(2, 5))
        assert not model.predict(every).any()
    assert found.n_queries[lost].max() <= 2


def test_who_needs_more_changes_is_told_that_it_is_proven():
    X, model = mixed(2)
    people = X[~model.predict(X)].head(40)
    actions = ActionSet(X, max_changes=1, step={"half": 0.5})
    found = RobustBayesianRecourse(model, actions, random_state=0).fit(X).explain(people)
    lost = np.flatnonzero(found.status == Status.TOO_MANY_CHANGES)
    assert len(lost)
    assert all("no 1 of the changes" in found.reason[i] for i in lost)
    for i in lost:
        for name, values in VALUES.items():
            every = people.iloc[[i] * len(values)].assign(**{name: list(values)}).astype(X.dtypes.to_dict())
            assert not model.predict(every).any()


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), drop=st.sampled_from(["immutable", "bounds", "rules", "max_changes", "increase"]))
def test_whoever_may_do_more_never_pays_more(seed, drop):
    X, model = mixed(seed)
    people = X[~model.predict(X)][:6]
    words = {
        "immutable": ["flag"],
        "bounds": {"half": (1, 3)},
        "rules": ["whole <= half + 3"],
        "increase": ["whole"],
        "max_changes": 2,
    }
    more = {name: value for name, value in words.items() if name != drop}
    costs = []
    for said in (words, more):
        most = said.pop("max_changes", None)
        method, task, found = sums_of(model, X, people, most, **said)
        costs.append(np.where(found.known, method.limits_.cost(found.x, task.x0), np.inf))
    assert (costs[1] <= costs[0] * (1 + 1e-3)).all()


def test_the_papers_search_stays_the_papers():
    X = np.random.default_rng(0).normal(size=(200, 3))
    model = LogisticRegression().fit(X, X.sum(axis=1) > 0)
    people = X[model.predict(X) == 0][:3]
    paper = RobustBayesianRecourse(model, axes=False, random_state=0).fit(X).explain(people)
    ours = RobustBayesianRecourse(model, random_state=0).fit(X).explain(people)
    assert (ours.n_queries < paper.n_queries).all()
    assert ((paper.boundary != people).all(axis=1)).all()


def test_other_methods_know_it_too():
    X, model = mixed(0)
    people = X[~model.predict(X)][:3]
    assert sums_of(model, X, people, kind=Wachter)[2].known.any()
