"""How far the default budget of a table reaches: up to the cheapest row of which the model is sure."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from robust_recourse import ActionSet, Jury, NearestAccepted, RobustBayesianRecourse, Status

MODELS = {
    "logistic": lambda: LogisticRegression(max_iter=500),
    "forest": lambda: RandomForestClassifier(30, min_samples_leaf=3, random_state=0),
    "boosted": lambda: HistGradientBoostingClassifier(max_iter=20, max_leaf_nodes=8, random_state=0),
}


def case(seed=0, kind="boosted", n=300, people=12):
    draw = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "whole": draw.integers(0, 9, n),
            "flag": draw.integers(0, 2, n),
            "half": draw.integers(0, 12, n) / 2,
            "kind": draw.choice(["a", "b", "c"], n),
        }
    )
    score = X.whole / 3 + X.flag + X.half - (X.kind == "a") + draw.normal(0.0, 0.7, n)
    numbers = X.assign(kind=(X.kind == "a") * 1.0)
    inner = MODELS[kind]().fit(numbers.to_numpy(), score > score.median())

    class Model:
        classes_ = np.array([0, 1])

        def predict_proba(self, rows):
            return inner.predict_proba(rows.assign(kind=(rows.kind == "a") * 1.0).to_numpy(dtype=float))

    model = Model()
    refused = X[model.predict_proba(X)[:, 1] <= 0.5][:people]
    return X, model, refused


def favourable(model, rows):
    return model.predict_proba(rows)[:, 1]


@pytest.mark.parametrize("kind", MODELS)
def test_the_level_is_what_four_in_five_accepted_training_rows_have(kind):
    X, model, _ = case(kind=kind)
    method = RobustBayesianRecourse(model, random_state=0).fit(X)
    accepted = np.sort(favourable(model, X)[favourable(model, X) > 0.5])
    assert (accepted >= expit(method.sure_)).mean() >= 0.8
    assert (accepted > expit(method.sure_) + 1e-5).mean() < 0.8


def test_there_is_no_level_without_scores():
    X, model, people = case()

    def labels(rows):
        return favourable(model, rows) > 0.5

    method = RobustBayesianRecourse(labels, random_state=0).fit(X)
    assert method.sure_ is None
    assert not (method.explain(people).status == Status.SURE).any()
    numbers = X.drop(columns="kind").to_numpy(dtype=float)
    assert RobustBayesianRecourse(lambda rows: rows[:, 0] > 4, random_state=0).fit(numbers).sure_ is None


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_networks_are_sure_of_half_of_the_accepted_training_rows():
    X = case()[0].drop(columns="kind")
    network = make_pipeline(StandardScaler(), MLPClassifier((8,), max_iter=300, random_state=0))
    network.fit(X, X.half + X.whole / 3 > 4.0)
    for model in (network, GridSearchCV(network, {"mlpclassifier__alpha": [1e-4]}, cv=2).fit(X, network.predict(X))):
        method = RobustBayesianRecourse(model, random_state=0).fit(X)
        accepted = favourable(model, X)[favourable(model, X) > 0.5]
        assert (accepted >= expit(method.sure_)).mean() >= 0.5
        assert (accepted > expit(method.sure_) + 1e-5).mean() < 0.5


def test_scores_have_levels_of_their_own():
    X, _, _ = case()

    def euros(rows):
        return 1000.0 * rows["whole"].to_numpy() + 10.0 * rows["half"].to_numpy()

    method = RobustBayesianRecourse(euros, threshold=2000.0, random_state=0).fit(X)
    kept = euros(X)[euros(X) > 2000.0] - 2000.0
    least = method.sure_ * method.score_unit_
    assert (kept >= least).mean() >= 0.8
    assert least > 100.0  # not what log odds are cut at
    people = X[euros(X) < 1500.0].head(5)
    found, nearest = method.explain(people), NearestAccepted(euros, threshold=2000.0).fit(X).explain(people)
    sure = euros(found.x.astype(X.dtypes)) >= 2000.0 + least
    assert (sure | (found.cost <= nearest.cost + 1e-9)).all()


def test_a_function_and_a_model_are_sure_of_the_same():
    X, model, people = case(kind="logistic")
    for words in ({}, {"margin": 0.6}, {"threshold": 0.6}, {"threshold": 0.5, "margin": 0.55}):
        found = [
            RobustBayesianRecourse(asked, random_state=0, **words).fit(X).explain(people)
            for asked in (model, lambda rows: favourable(model, rows))
        ]
        if "threshold" not in words and "margin" not in words:
            pd.testing.assert_frame_equal(found[0].x, found[1].x)
        for one in found:
            told = one.status == Status.SURE
            if not told.any():
                continue
            accepted = favourable(model, X)
            level = np.sort(accepted[accepted > words.get("threshold", 0.5)])
            least = level[int(0.2 * len(level))]
            assert (favourable(model, one.x[told].astype(X.dtypes)) >= least - 1e-4).all()


@pytest.mark.parametrize("kind", MODELS)
def test_the_budget_is_that_of_the_cheapest_sure_row_or_of_the_nearest_accepted_one(kind):
    X, model, people = case(kind=kind, people=30)
    actions = ActionSet(X, step={"half": 0.5})
    method = RobustBayesianRecourse(model, actions, random_state=0).fit(X)
    found, nearest = method.explain(people), NearestAccepted(model, actions).fit(X).explain(people)
    values = [sorted(X[column].unique()) for column in X]
    every = pd.DataFrame(list(product(*values)), columns=list(X)).astype(X.dtypes.to_dict())
    sure = every[logit(favourable(model, every)) >= method.sure_]
    points, ends, boundary = (method.to_points(rows) for rows in (people, sure, found.boundary.astype(X.dtypes)))
    reached = 0
    for i in range(len(people)):
        least = min(method.limits_.cost(ends, points[[i] * len(ends)]).min(), nearest.cost[i])
        if least <= method.limits_.cost(boundary[[i]], points[[i]])[0] + 1e-9:
            continue
        assert least - 1e-9 <= found.budget[i] <= 1.15 * least + 1e-9
        reached += 1
    assert reached >= 5


@pytest.mark.parametrize("kind", MODELS)
def test_nobody_pays_more_than_for_the_nearest_row_and_what_is_sure_is_so(kind):
    X, model, people = case(seed=3, kind=kind, people=30)
    method = RobustBayesianRecourse(model, random_state=0).fit(X)
    found, nearest = method.explain(people), NearestAccepted(model).fit(X).explain(people)
    assert found.valid.all()
    points, boundary = method.to_points(people), method.to_points(found.boundary.astype(X.dtypes))
    edge = method.limits_.cost(boundary, points)
    assert (found.cost <= np.where(nearest.cost > edge + 1e-9, nearest.cost, edge + 0.2) + 1e-9).all()
    told = found.status == Status.SURE
    assert (logit(favourable(model, found.x[told].astype(X.dtypes))) >= method.sure_ - 1e-9).all()
    assert ((found.status == Status.OK) <= (found.log_worst_case_odds <= 0.0)).all()


def test_a_sure_row_with_bad_odds_says_so():
    X, model, people = case(seed=1, people=60)
    found = RobustBayesianRecourse(model, random_state=0, sigma=0.05).fit(X).explain(people)
    told = np.flatnonzero((found.status == Status.SURE) & (found.log_worst_case_odds > 0.0))
    assert len(told)
    for i in told:
        assert "as sure as it mostly is" in found.reason[i]


def test_budgets_promises_and_juries_of_ones_own_reach_as_far_as_they_say():
    X, model, people = case()
    assert RobustBayesianRecourse(model, random_state=0).fit(X).sureness > 0.0
    for words in ({"delta_plus": 0.3}, {"target_odds": 0.5}, {"jury": Jury([model, model])}):
        method = RobustBayesianRecourse(model, random_state=0, **words).fit(X)
        assert method.sureness is None
        assert not (method.explain(people).status == Status.SURE).any()


def test_a_margin_is_part_of_being_sure():
    X, model, people = case(kind="logistic")
    plain = RobustBayesianRecourse(model, random_state=0).fit(X)
    level = float(expit(plain.sure_))
    below = RobustBayesianRecourse(model, margin=(level + 0.5) / 2, random_state=0).fit(X)
    assert below.sureness == pytest.approx(plain.sure_ - logit((level + 0.5) / 2), abs=1e-5)
    assert below.asking(0.55, None).sureness is None  # it was learnt beyond another margin
    above = RobustBayesianRecourse(model, margin=(level + 1.0) / 2, random_state=0).fit(X)
    assert above.sureness < 0.0
    found = above.explain(people)
    assert (favourable(model, found.x[found.valid].astype(X.dtypes)) >= (level + 1.0) / 2).all()
    assert found.valid.any()


@pytest.mark.parametrize("kind", ["forest", "boosted"])
def test_does_not_depend_on_the_company(kind):
    X, model, people = case(kind=kind)
    method = RobustBayesianRecourse(model, random_state=0).fit(X)
    together = method.explain(people)
    for i in range(4):
        assert method.explain(people.iloc[[i]]).equals(together[[i]])


def test_labels_that_contradict_probabilities_decide():
    draw = np.random.default_rng(0)
    X = pd.DataFrame(draw.normal(size=(80, 3)).round(2), columns=list("abc"))
    inner = SVC().fit(X, X.sum(axis=1) + draw.normal(0.0, 1.0, 80) > 0)

    class Model:
        """Says of some rows that it refuses that they are likely, as support vector machines do."""

        classes_ = inner.classes_

        def predict(self, rows):
            return inner.predict(rows)

        def predict_proba(self, rows):
            share = expit(2.0 * inner.decision_function(rows) + 0.5)
            return np.column_stack([1.0 - share, share])

    model = Model()
    people = X[~model.predict(X)].head(10)
    found = RobustBayesianRecourse(model, random_state=0).fit(X).explain(people)
    assert (model.predict(found.x[found.valid])).all()
    assert found.valid.all()


@pytest.mark.slow
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 500),
    words=st.sampled_from(
        [
            {"immutable": ["flag"]},
            {"bounds": {"whole": (2, 6)}},
            {"step": {"half": 1.0}},
            {"rules": ["whole <= half + 6"]},
            {"increase": ["half"]},
            {"max_changes": 2},
        ]
    ),
)
def test_whoever_may_do_more_pays_no_more_to_be_as_sure(seed, words):
    draw = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"whole": draw.integers(0, 9, 200), "flag": draw.integers(0, 2, 200), "half": draw.integers(0, 12, 200) / 2}
    )
    score = X.whole / 3 + X.flag + X.half + draw.normal(0.0, 0.7, 200)
    model = LogisticRegression().fit(X, score > score.median())
    people = X[~model.predict(X)][:6]
    costs = []
    for limits in ({}, words):
        method = RobustBayesianRecourse(model, ActionSet(X, **limits), random_state=0).fit(X)
        found = method.explain(people)
        rows = found.x.fillna(people).astype(X.dtypes.to_dict())
        sure = found.valid & (logit(model.predict_proba(rows)[:, 1]) >= method.sure_)
        costs.append((np.where(found.valid, found.cost, np.inf), sure))
    (loose, _), (tight, surely) = costs
    assert (loose[surely] <= 1.01 * tight[surely] + 1e-9).all()


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("unit", [2.0**-40, 2.0**30])
def test_it_does_not_matter_what_a_score_is_counted_in(unit, sign):
    X, model, people = case(people=6)

    def score(rows, unit=1.0):
        return sign * unit * logit(favourable(model, rows))

    def explained(unit):
        side = {"threshold": sign * 0.2 * unit, "favourable": "above" if sign > 0.0 else "below"}
        return RobustBayesianRecourse(lambda rows: score(rows, unit), random_state=0, **side).fit(X).explain(people)

    # Powers of two change no bit.
    found, other = explained(1.0), explained(unit)
    pd.testing.assert_frame_equal(found.x, other.x)
    pd.testing.assert_frame_equal(found.boundary, other.boundary)
    assert (found.status == other.status).all()
    assert (found.n_queries == other.n_queries).all()


def test_a_method_that_knows_no_unit_of_scores_asks_for_them_as_they_are():
    X, model, people = case(people=4)
    words = {"threshold": 0.0, "favourable": "above", "random_state": 0}
    method = RobustBayesianRecourse(lambda rows: logit(favourable(model, rows)), **words).fit(X)
    assert method.score_unit_ == pytest.approx(np.std(logit(favourable(model, X))), rel=0.5)
    del method.score_unit_  # as it is loaded from an older file
    assert method.explain(people).valid.all()


def test_a_method_that_knows_no_level_reaches_up_to_the_nearest_row():
    X, model, people = case()
    method = RobustBayesianRecourse(model, random_state=0).fit(X)
    del method.sure_  # as it is loaded from an older file
    found, nearest = method.explain(people), NearestAccepted(model).fit(X).explain(people)
    assert found.valid.all()
    assert not (found.status == Status.SURE).any()
    assert (found.cost <= nearest.cost + 0.2 + 1e-9).all()
