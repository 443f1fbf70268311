"""Searches in tasks, in parallel, until the time is over."""

import time
from dataclasses import replace
from itertools import count

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
from robust_recourse.sampling.asking import OutOfTime
from robust_recourse.search.run import make_task
from robust_recourse.search.space import Space
from robust_recourse.search.starting import find_starts

METHODS = [RobustBayesianRecourse, BayesianRecourse, NearestAccepted, Wachter, ROAR]


class Clock:
    """Time that passes when the model is asked, a second for every call, and not otherwise."""

    def __init__(self):
        self.now = 1000.0

    def time(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(time, "time", clock.time)
    return clock


@pytest.fixture(scope="module")
def train():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"a": rng.normal(size=90), "b": rng.normal(size=90), "u": rng.choice(list("xyz"), 90)})


def model(rows):
    worth = rows["a"].to_numpy() + rows["b"].to_numpy() + (rows["u"] == "x").to_numpy()
    return 1.0 / (1.0 + np.exp(2.0 - worth))


def fitted(method, train, asked, **settings):
    samples = {} if method in (NearestAccepted, Wachter) else {"n_samples": 30}
    return method(asked, actions=ActionSet(train, **settings), random_state=0, **samples).fit(train)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("settings", [{}, {"max_changes": 1}])
def test_without_time_every_refused_row_says_so(method, settings, train, clock):
    def slow(rows):
        clock.now += 1.0
        return model(rows)

    found = fitted(method, train, slow, **settings).explain(train, n_recourses=2, time_limit=0)
    refused = model(train) <= 0.5
    assert set(found.status[refused]) == {Status.TIME_LIMIT}
    assert set(found.status[~refused]) == {Status.ALREADY_FAVOURABLE}
    assert found.x[refused].isna().all(axis=None)
    assert all("time_limit" in reason for reason in found.reason[refused])
    assert (found.n_queries == 1).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("limit", [0, 3, 12, 40])
@pytest.mark.parametrize("settings", [{}, {"max_changes": 1}])
def test_the_model_is_not_asked_after_the_time_is_over(method, limit, settings, train, clock):
    starts = []

    def slow(rows):
        starts.append(clock.now)
        clock.now += 1.0
        return model(rows)

    search = fitted(method, train, slow, **settings)
    rows = train[model(train) <= 0.5][:20]
    for n_recourses in (1, 2):
        begin = clock.now
        starts.clear()
        found = search.explain(rows, n_recourses=n_recourses, time_limit=limit)
        assert found.person.max() == 19
        # Three roundings of what was found by then are verified at most, for either number of recourses.
        assert sum(start > begin + limit for start in starts) <= 6
        assert (found.valid | (found.status != Status.OK)).all()
        # What there was no time for is said to be so, and no recourse changes too much instead.
        most = settings.get("max_changes", 3)
        exists = np.isfinite(found.cost)
        changed = (found.x[exists].astype(rows.dtypes) != rows.iloc[found.person[exists]]).sum(axis=1)
        assert (changed <= most).all()
        assert (found.status[~found.valid & ~exists] != Status.OK).all()


def test_finished_rows_are_the_same_as_without_a_limit(train, monkeypatch, clock):
    monkeypatch.setattr("robust_recourse.search.run._LIMITED", 2)

    def slow(rows):
        clock.now += 1.0
        return model(rows)

    rows = train[model(train) <= 0.5][:8]
    search = fitted(NearestAccepted, train, slow)
    whole, part = search.explain(rows), search.explain(rows, time_limit=4.5)
    done = part.status != Status.TIME_LIMIT
    assert done.any()
    assert not done.all()
    pd.testing.assert_frame_equal(part.x[done], whole.x[done])
    np.testing.assert_array_equal(part.n_queries[done], whole.n_queries[done])
    assert not part.valid[~done].any()


def test_the_first_block_of_rows_is_asked_about_in_any_case(train, monkeypatch, clock):
    monkeypatch.setattr("robust_recourse.search.explain._BATCH", 10)
    asked = []

    def slow(rows):
        clock.now += 1.0
        asked.append(len(rows))
        return model(rows)

    search = fitted(NearestAccepted, train, slow)
    asked.clear()
    found = search.explain(train[:40], time_limit=1.5)
    # The second block begins in time.
    assert asked == [10, 10]
    np.testing.assert_array_equal(found.status[:20] == Status.ALREADY_FAVOURABLE, model(train[:20]) > 0.5)
    assert set(found.status[20:]) == {Status.TIME_LIMIT}
    np.testing.assert_array_equal(found.n_queries, np.repeat([1, 0], 20))


def test_accepted_people_are_told_so_even_without_any_time(train, monkeypatch):
    search = fitted(NearestAccepted, train, model)
    ticks = count(1000)
    monkeypatch.setattr(time, "time", lambda: float(next(ticks)))
    found = search.explain(train, time_limit=0)
    np.testing.assert_array_equal(found.status == Status.ALREADY_FAVOURABLE, model(train) > 0.5)
    assert set(found.status) == {Status.ALREADY_FAVOURABLE, Status.TIME_LIMIT}


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


@pytest.mark.parametrize("method", METHODS)
def test_tasks_of_any_size_find_the_same(method, train, monkeypatch):
    search = fitted(method, train, model, rules=["a <= b + 3"])
    rows = train[model(train) <= 0.5][:7]
    whole = search.explain(rows, n_recourses=2)
    for size in (1, 3):
        monkeypatch.setattr("robust_recourse.search.run._PEOPLE", size)
        parts = search.explain(rows, n_recourses=2)
        pd.testing.assert_frame_equal(parts.x, whole.x)
        np.testing.assert_array_equal(parts.n_queries, whole.n_queries)


def test_what_a_deadline_finds_half_improved_is_returned(train, clock):
    rows = train[model(train) <= 0.5][:24]

    def slow(frame):
        clock.now += 1.0
        return model(frame)

    search = fitted(RobustBayesianRecourse, train, slow)
    begin = clock.now
    # Fewer people are searched together if there is a limit, so the whole time is that with one.
    assert search.explain(rows, time_limit=1e6).valid.all()
    whole = clock.now - begin
    hurried = []
    for part in (0.5, 0.6, 0.7, 0.8, 0.9, 0.95):
        found = search.explain(rows, time_limit=part * whole)
        assert found.valid.sum() >= len(rows) / 3
        early = found.status == Status.HURRIED
        assert found.valid[early].all()
        hurried += found.reason[early].tolist()
    assert hurried
    assert all("time limit passed" in reason for reason in hurried)


def test_whoever_is_not_searched_for_in_time_takes_nobody_along(train, monkeypatch):
    def late(*_):
        raise OutOfTime

    people = train[model(train) <= 0.5].head(5).reset_index(drop=True)
    people.loc[0, "a"] = -9.0  # whom nothing helps
    method = fitted(RobustBayesianRecourse, train, model, immutable=["a"])
    before = method.explain(people, unseen="ignore")
    lost = before.status == Status.NO_CANDIDATE
    assert lost[0]
    assert not lost.all()
    monkeypatch.setattr("robust_recourse.sampling.boundary._searched", late)
    found = method.explain(people, unseen="ignore")
    assert (found.status[lost] == Status.TIME_LIMIT).all()
    assert found.valid[~lost].all()
    assert not (found.status[~lost] == Status.TIME_LIMIT).any()


def test_boundary_points_are_told_where_the_time_for_sure_ones_is_over(train, monkeypatch):
    def late(*_):
        raise OutOfTime

    method = fitted(RobustBayesianRecourse, train, model)
    people = train[model(train) <= 0.5].head(3)
    space = Space.of(method.read(people), method.moves_)
    task = make_task(method, space, np.ones(space.points.shape, dtype=bool))
    boundary = method.candidates_[:3]
    monkeypatch.setattr("robust_recourse.search.starting.find_boundary", late)
    starts = find_starts(method, replace(task, boundary=boundary))
    assert starts.boundary is boundary
    assert starts.sure is None
    with pytest.raises(OutOfTime):
        find_starts(method, task)


@pytest.mark.parametrize("limit", [1, 2])
def test_with_few_changes_a_third_is_answered_in_half_of_the_time(limit, train, clock):
    rows = train[model(train) <= 0.5][:24]

    def slow(frame):
        clock.now += 1.0 + len(frame) / 500.0  # as a call costs something, and a row
        return model(frame)

    search = fitted(RobustBayesianRecourse, train, slow, max_changes=limit)
    begin = clock.now
    # Fewer people are searched together if there is a limit, so the whole time is that with one.
    whole = search.explain(rows, time_limit=1e6)
    full = clock.now - begin
    assert (whole.status == Status.TOO_MANY_CHANGES).sum() <= len(rows) / 3
    hurried = []
    for part in (0.5, 0.7, 0.9):
        found = search.explain(rows, time_limit=part * full)
        assert (found.status != Status.TIME_LIMIT).sum() >= len(rows) / 3
        early = found.status == Status.HURRIED
        assert found.valid[early].all()
        hurried += found.reason[early].tolist()
        told = found.x.fillna(rows).astype(rows.dtypes.to_dict())
        assert ((told != rows).sum(axis=1) <= limit).all()
    assert all("time limit passed" in reason for reason in hurried)


def test_who_was_not_searched_for_again_is_told_so(train, clock):
    rows = train[model(train) <= 0.5][:8]

    def slow(frame):
        clock.now += 1.0
        return model(frame)

    search = fitted(RobustBayesianRecourse, train, slow)
    begin = clock.now
    whole = search.explain(rows, n_recourses=3, time_limit=1e6)
    full = clock.now - begin
    assert not any("time limit" in reason for reason in whole.reason)
    fewer = []
    for part in (0.3, 0.5, 0.7, 0.9):
        found = search.explain(rows, n_recourses=3, time_limit=part * full)
        for person in range(len(rows)):
            own, all_of_them = found.person == person, whole.person == person
            if own.sum() < all_of_them.sum():
                fewer += found.reason[own].tolist()
            if own.sum() == 3:
                assert not any("further recourses" in reason for reason in found.reason[own])
    assert fewer
    assert all("time limit passed" in reason for reason in fewer)
