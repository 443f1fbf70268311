"""Recourses that somebody else chose."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from robust_recourse import ActionSet, Jury, NearestAccepted, RobustBayesianRecourse, Status
from robust_recourse.search.stating import state

RNG = np.random.default_rng(3)
N = 200
SCHOOL = RNG.choice(["none", "some", "high"], N)
TRAIN = pd.DataFrame(
    {
        "income": RNG.integers(5, 60, N) * 100,
        "debt": RNG.normal(20.0, 5.0, N).round(2),
        "school": SCHOOL,
        "years": pd.Series(SCHOOL).map({"none": 8, "some": 10, "high": 13}),
        "savings": RNG.integers(0, 90, N) * 50,
        "age": RNG.integers(20, 70, N),
    }
)
ACTIONS = ActionSet(
    TRAIN,
    immutable=["age"],
    decrease=["debt"],
    bounds={"income": (500, 5900)},
    ordered={"school": ["none", "some", "high"]},
    increase=["school"],
    link={"years": "school"},
    effects={"savings": {"income": 0.1}},
    rules=["debt <= income"],
    max_changes=4,
)


def accept(X, least=3.0):
    return X["income"] / 1000 - X["debt"] / 20 + X["years"] / 10 + X["savings"] / 3000 > least


def refused():
    return TRAIN[~accept(TRAIN)].head(25)


def stated(method, before, after):
    return state(method, method.read(before), method.read(after, unseen="ignore"))


@pytest.mark.parametrize("kind", [RobustBayesianRecourse, NearestAccepted])
def test_what_was_found_is_stated_as_it_was_found(kind):
    jury = Jury([lambda X, least=least: accept(X, least) for least in np.linspace(2.8, 3.2, 5)], quorum=0.6)
    method = kind(accept, ACTIONS, jury=jury, random_state=0).fit(TRAIN)
    people = refused()
    found = method.explain(people)
    found = found[found.valid]
    again = stated(method, people.loc[found.labels], found.x.astype(TRAIN.dtypes))
    np.testing.assert_array_equal(again.cost, found.cost)
    np.testing.assert_array_equal(again.column_costs, found.column_costs)
    np.testing.assert_array_equal(again.jury_share, found.jury_share)
    assert again.valid.all()
    assert set(again.status) == {Status.OK}
    pd.testing.assert_frame_equal(again.x, found.x)


@pytest.mark.parametrize(
    "change",
    [
        {"age": 33},  # immutable
        {"income": 6000},  # out of bounds
        {"income": 5555.5},  # off the grid
        {"debt": 99.0},  # the wrong way
        {"years": 13},  # nobody does that alone
        {"school": "high"},  # its years do not follow
        {"school": "high", "years": 12},
    ],
)
def test_what_no_action_leads_to_is_impossible(change):
    method = NearestAccepted(accept, ACTIONS, random_state=0).fit(TRAIN)
    before = TRAIN[(TRAIN["school"] == "none") & (TRAIN["savings"] < 2000)].head(1)
    after = before.assign(**change)
    if (after.dtypes == before.dtypes).all():
        assert ACTIONS.check(before, after)
    found = stated(method, before, after)
    assert found.status[0] is Status.IMPOSSIBLE
    assert not found.valid[0]


def test_a_row_that_the_model_or_the_jury_refuses_is_told_so():
    jury = Jury([lambda X, least=least: accept(X, least) for least in (3.0, 9.0)], quorum=1.0)
    method = NearestAccepted(accept, ACTIONS, jury=jury, random_state=0)
    method.fit(TRAIN)
    before = refused().query("income < 1500").head(1)
    low, high = (stated(method, before, before.assign(income=before["income"] + more)) for more in (100, 4400))
    assert low.status[0] is Status.REFUSED
    assert high.valid[0]
    assert high.status[0] is Status.QUORUM_OUT_OF_REACH
    assert high.jury_share[0] == 0.5


def test_nothing_done_is_stated_too():
    method = NearestAccepted(accept, ACTIONS, random_state=0).fit(TRAIN)
    before = TRAIN[accept(TRAIN)].head(3)
    found = stated(method, before, before)
    assert found.valid.all()
    np.testing.assert_array_equal(found.cost, 0.0)
