"""Several recourses for a row."""

import numpy as np
import pandas as pd
import pytest

from robust_recourse import (
    ROAR,
    ActionSet,
    BayesianRecourse,
    NearestAccepted,
    RobustBayesianRecourse,
    Status,
    Wachter,
)

METHODS = [RobustBayesianRecourse, BayesianRecourse, NearestAccepted, Wachter, ROAR]


@pytest.fixture(scope="module")
def train():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "a": rng.normal(size=60),
            "n": rng.integers(0, 9, 60),
            "u": rng.choice(list("xyz"), 60),
            "w": rng.random(60) < 0.5,
        },
        index=[f"p{k}" for k in range(60)],
    )


def model(rows):
    worth = (
        rows["a"].to_numpy()
        + 0.3 * rows["n"].to_numpy(float)
        + (rows["u"] == "x").to_numpy()
        + rows["w"].to_numpy(float)
    )
    return 1.0 / (1.0 + np.exp(3.2 - worth))


def fitted(method, train, **settings):
    samples = {} if method in (NearestAccepted, Wachter) else {"n_samples": 30}
    return method(model, actions=ActionSet(train, **settings), random_state=0, **samples).fit(train)


@pytest.mark.parametrize("method", METHODS)
def test_recourses_of_a_row_change_different_columns_and_the_cheapest_comes_first(method, train):
    rows = train[model(train) <= 0.5][:4]
    search = fitted(method, train)
    found = search.explain(rows, n_recourses=3)
    assert len(found) > 6
    assert ActionSet(train).check(rows, found.x) == []
    np.testing.assert_array_equal(np.unique(found.person), np.arange(4))
    assert (np.diff(found.person) >= 0).all()
    pd.testing.assert_frame_equal(found.x0, rows.iloc[found.person])
    assert found.x.index.equals(found.x0.index)
    for person in range(4):
        mine = np.flatnonzero(found.person == person)
        np.testing.assert_array_equal(found.rank[mine], np.arange(1, len(mine) + 1))
        assert (np.diff(found.cost[mine]) >= 0).all()
        changed = [tuple(found.x.iloc[i] != found.x0.iloc[i]) for i in mine]
        assert len(set(changed)) == len(changed)
        assert found.valid[mine].all() or len(mine) == 1
    assert (model(found.x[found.valid].astype(rows.dtypes)) > 0.5).all()
    again = search.explain(rows, n_recourses=3)
    pd.testing.assert_frame_equal(again.x, found.x)
    np.testing.assert_array_equal(again.n_queries, found.n_queries)


@pytest.mark.parametrize("method", METHODS)
def test_the_cheapest_is_never_dearer_than_the_only_one(method, train):
    rows = train[model(train) <= 0.5][:4]
    search = fitted(method, train)
    one, several = search.explain(rows), search.explain(rows, n_recourses=3)
    assert (several.cost[several.rank == 1] <= one.cost)[one.valid].all()


def test_there_may_be_fewer_than_asked_for(train):
    rows = train[model(train) <= 0.5][:3]
    search = fitted(NearestAccepted, train, immutable=["a", "n"])
    found = search.explain(rows, n_recourses=50)
    # There are three sets of columns at most: either one, or both.
    assert np.bincount(found.person, minlength=3).max() <= 3
    assert np.bincount(found.person, minlength=3).min() >= 1
    for i in np.flatnonzero(~found.valid):
        assert found.status[i] == Status.NO_CANDIDATE


def test_rows_that_need_none_or_have_none_have_one_entry(train):
    accepted, refused = train[model(train) > 0.5][:2], train[model(train) <= 0.5][:1]
    search = fitted(NearestAccepted, train, bounds={"a": (-9, 9)})
    found = search.explain(pd.concat([accepted, refused.assign(a=-99.0)]), n_recourses=4, unseen="ignore")
    assert list(found.status[:2]) == [Status.ALREADY_FAVOURABLE] * 2
    np.testing.assert_array_equal(found.rank[:2], 1)
    assert not ((found.x["a"] < -9) & (found.x["a"] != -99.0) | (found.x["a"] > 9)).any()


@pytest.mark.parametrize("method", [RobustBayesianRecourse, NearestAccepted])
def test_all_keep_to_max_changes(method, train):
    rows = train[model(train) <= 0.5][:4]
    actions = ActionSet(train, max_changes=1)
    found = fitted(method, train, max_changes=1).explain(rows, n_recourses=4)
    assert actions.check(rows, found.x) == []
    for person in np.unique(found.person[found.valid]):
        mine = found.valid & (found.person == person)
        changed = [tuple(pair) for pair in (found.x[mine].astype(rows.dtypes) != found.x0[mine]).to_numpy()]
        assert len(set(changed)) == len(changed)
        assert all(sum(columns) == 1 for columns in changed)
