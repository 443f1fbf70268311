"""Time limits."""

import time

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
NAP = 0.02


@pytest.fixture(scope="module")
def train():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"a": rng.normal(size=90), "b": rng.normal(size=90), "u": rng.choice(list("xyz"), 90)})


def model(rows):
    worth = rows["a"].to_numpy() + rows["b"].to_numpy() + (rows["u"] == "x").to_numpy()
    return 1.0 / (1.0 + np.exp(2.0 - worth))


def slow(rows):
    time.sleep(NAP)
    return model(rows)


def fitted(method, train, asked, **settings):
    samples = {} if method in (NearestAccepted, Wachter) else {"n_samples": 30}
    return method(asked, actions=ActionSet(train, **settings), random_state=0, **samples).fit(train)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("settings", [{}, {"max_changes": 1}])
def test_without_time_every_refused_row_says_so(method, settings, train):
    found = fitted(method, train, model, **settings).explain(train, n_recourses=2, time_limit=0)
    refused = model(train) <= 0.5
    assert set(found.status[refused]) == {Status.TIME_LIMIT}
    assert set(found.status[~refused]) == {Status.ALREADY_FAVOURABLE}
    assert found.x[refused].isna().all(axis=None)
    assert all("time_limit" in reason for reason in found.reason[refused])
    assert (found.n_queries == 1).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("limit", [0.05, 0.3])
@pytest.mark.parametrize("settings", [{}, {"max_changes": 1}])
def test_a_slow_model_is_not_asked_after_the_time_is_over(method, limit, settings, train):
    search = fitted(method, train, slow, **settings)
    begin = time.time()
    starts = []

    def watched(rows):
        starts.append(time.time() - begin)
        return slow(rows)

    rows = train[model(train) <= 0.5][:20]
    for n_recourses in (1, 2):
        begin = time.time()
        starts.clear()
        found = search.set_params(model=watched).explain(rows, n_recourses=n_recourses, time_limit=limit)
        assert found.person.max() == 19
        # A question may begin just before the end, and the clock is read before the point is made a row.
        assert max(starts) <= limit + NAP
        assert (found.valid | (found.status != Status.OK)).all()


def test_finished_rows_are_the_same_as_without_a_limit(train, monkeypatch):
    monkeypatch.setattr("robust_recourse.methods._tasks._LIMITED_ROWS", 2)
    rows = train[model(train) <= 0.5][:8]
    search = fitted(NearestAccepted, train, slow)
    whole, part = search.explain(rows), search.explain(rows, time_limit=4.5 * NAP)
    done = part.status != Status.TIME_LIMIT
    assert done.any()
    assert not done.all()
    pd.testing.assert_frame_equal(part.x[done], whole.x[done])
    np.testing.assert_array_equal(part.n_queries[done], whole.n_queries[done])
    assert not part.valid[~done].any()


def test_processes_keep_to_the_limit_too(train):
    # A function of its own travels to the processes, one of this module does not.
    def model(rows):
        return rows["a"].to_numpy() + rows["b"].to_numpy() + (rows["u"] == "x").to_numpy() > 2.0

    search = fitted(NearestAccepted, train, model).set_params(n_jobs=2)
    rows = train[~model(train)][:6]
    found = search.explain(rows, time_limit=0)
    assert set(found.status) == {Status.TIME_LIMIT}
    enough = search.explain(rows, time_limit=600)
    pd.testing.assert_frame_equal(enough.x, search.explain(rows).x)


@pytest.mark.parametrize("limit", [-1.0, np.inf, np.nan, "1"])
def test_a_limit_is_a_number_of_seconds(limit, train):
    with pytest.raises((TypeError, ValueError), match="time_limit must be"):
        fitted(NearestAccepted, train, model).explain(train, time_limit=limit)
