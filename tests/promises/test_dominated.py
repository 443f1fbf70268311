"""No plan is told that another one of the same person beats, found on a mixed table where a survival is promised."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from robust_recourse import ActionSet, Jury, RobustBayesianRecourse, Status

SURVIVAL = 0.7


@pytest.fixture(scope="module")
def bank():
    """A mixed table, its labels and a model that somebody might train on it."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "income": rng.gamma(4.0, 600.0, 300).round(-1),
            "debt": rng.gamma(2.0, 900.0, 300).round(-1),
            "months": rng.integers(1, 60, 300),
            "age": rng.integers(18, 70, 300),
            "housing": rng.choice(["own", "rent", "free"], 300),
            "job": rng.choice(["clerk", "cook", "none"], 300),
        }
    )
    worth = X["income"] / 1200 - X["debt"] / 1200 + X["months"] / 30 + (X["housing"] == "own") - (X["job"] == "none")
    y = (worth + 1.2 * rng.normal(size=300) > 2.0).astype(int)
    encoded = make_column_transformer((OneHotEncoder(), ["housing", "job"]), remainder=StandardScaler())
    return X, y, make_pipeline(encoded, LogisticRegression(max_iter=1000))


@pytest.fixture(scope="module")
def told(bank):
    """What people are told who want one plan, and who want four."""
    X, y, estimator = bank
    model = estimator.fit(X, y)
    jury = Jury.retrain(estimator, X, y, n_models=6, quorum=0.8, survival=SURVIVAL, random_state=0)
    search = RobustBayesianRecourse(
        model, ActionSet(X, immutable=["age"]), jury=jury, n_samples=40, n_neighbors=50, random_state=0
    ).fit(X)
    people = X[model.predict(X) == 0][:9]
    return search, people, search.explain(people), search.explain(people, n_recourses=4)


def beaten(found, i, others, j):
    """Whether plan `j` of some costs less than plan `i`, and survives as well as far as anybody knows."""
    return bool(
        others.valid[j]
        and others.cost[j] < found.cost[i]
        and others.jury_share[j] >= found.jury_share[i]
        and others.survival_bound[j] >= found.survival_bound[i]
    )


@pytest.mark.slow
def test_no_plan_costs_less_than_the_recommended_one_and_survives_as_well(told):
    _, people, one, four = told
    for i in range(len(people)):
        for j in np.flatnonzero(four.person == i):
            assert not beaten(one, i, four, j), (i, one.cost[i], four.cost[j])
    assert (one.survival_bound >= SURVIVAL).all()


@pytest.mark.slow
def test_of_several_plans_none_beats_another_and_the_first_is_the_recommended_one(told):
    _, _, one, four = told
    first = four[np.asarray(four.rank) == 1]
    pd.testing.assert_frame_equal(first.x, one.x)
    np.testing.assert_array_equal(first.survival_bound, one.survival_bound)
    for i in range(len(four)):
        mine = np.flatnonzero(four.person == four.person[i])
        assert not any(beaten(four, i, four, j) for j in mine)
        assert four.survival_bound[i] >= SURVIVAL
    # Whoever has a further plan pays for a better bound.
    further = np.flatnonzero(np.asarray(four.rank) > 1)
    assert len(further)
    assert (four.survival_bound[further] > four.survival_bound[further - 1]).all()


@pytest.mark.slow
def test_whoever_is_explained_alone_is_recommended_the_same_plan(told):
    search, people, one, four = told
    backwards = search.explain(people[::-1], n_recourses=2)
    firsts = backwards[np.asarray(backwards.rank) == 1]
    pd.testing.assert_frame_equal(firsts.x[::-1], one.x)
    alone = search.explain(people[3:4], n_recourses=4)
    mine = four[np.asarray(four.person) == 3]
    pd.testing.assert_frame_equal(alone.x, mine.x)
    np.testing.assert_array_equal(alone.survival_bound, mine.survival_bound)


def test_a_budget_that_somebody_names_is_spent(told, bank):
    search, people, one, _ = told
    X, _, _ = bank
    spending = RobustBayesianRecourse(**{**search.get_params(deep=False), "delta_plus": 0.5}).fit(X).explain(people[:4])
    assert (spending.status == Status.OK).all()
    assert (spending.cost > one.cost[:4] + 0.2).any()
    assert (spending.worst_case_odds <= one.worst_case_odds[:4]).all()


@pytest.mark.slow
def test_of_several_plans_that_are_checked_and_not_promised_none_beats_another(told, bank):
    search, people, _, _ = told
    jury = search.jury.asking(survival=None, quorum=0.5)
    checked = RobustBayesianRecourse(**{**search.get_params(deep=False), "jury": jury, "delta_plus": 0.0}).fit(bank[0])
    four, one = checked.explain(people, n_recourses=4), checked.explain(people)
    unchecked = RobustBayesianRecourse(**{**checked.get_params(deep=False), "jury": jury.asking(check=None)})
    assert len(unchecked.fit(bank[0]).explain(people, n_recourses=4)) > len(four) > len(people)
    for i in range(len(four)):
        mine = np.flatnonzero(four.person == four.person[i])
        assert not any(beaten(four, i, four, j) for j in mine)
    first = four[np.asarray(four.rank) == 1]
    assert (first.cost <= one.cost).all()
