"""No more changes than allowed, against all that few changes can reach."""

import time
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse import (
    ROAR,
    ActionSet,
    BayesianRecourse,
    NearestAccepted,
    RobustBayesianRecourse,
    Status,
    Wachter,
)
from robust_recourse.search import Answer
from robust_recourse.search import few_changes as few
from robust_recourse.search.space import Space

METHODS = [RobustBayesianRecourse, BayesianRecourse, NearestAccepted, Wachter, ROAR]
WORTH = {"a": -1.0, "b": 0.3, "c": 1.1, "d": 0.7}


def make(seed, n=40):
    """A small table, what its cells are worth, and what is needed."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "n": rng.integers(0, 9, n),
            "m": rng.integers(0, 5, n),
            "u": rng.choice(list("abcd"), n),
            "v": rng.choice(list("abc"), n),
            "w": rng.random(n) < 0.5,
        }
    )
    slopes, prices = rng.uniform(-0.4, 0.4, 2), rng.uniform(0.2, 1.5, 3)

    def score(rows):
        worth = slopes[0] * rows["n"].to_numpy(float) + slopes[1] * rows["m"].to_numpy(float)
        worth = (
            worth + prices[0] * rows["u"].map(WORTH).to_numpy(float) + prices[1] * rows["v"].map(WORTH).to_numpy(float)
        )
        return worth + prices[2] * rows["w"].to_numpy(float)

    limit = float(np.quantile(score(frame), 0.8))
    return frame, lambda rows: 1.0 / (1.0 + np.exp(limit + 1e-9 - score(rows)))


def reachable(row, train, accepted, model, most):
    """Whether some row with so few changes is accepted: every set of columns, every value of a table with few."""
    values = {
        name: list(range(int(train[name].min()), int(train[name].max()) + 1))
        if name in "nm"
        else sorted(set(accepted[name]))
        for name in train.columns
    }
    trials = [
        {**row, **dict(zip(chosen, cells, strict=True))}
        for chosen in combinations(train.columns, most)
        for cells in product(*(values[name] for name in chosen))
    ]
    return bool((model(pd.DataFrame(trials)) > 0.5).any())


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 2), st.sampled_from([RobustBayesianRecourse, NearestAccepted]))
def test_what_few_changes_can_reach_is_found(seed, most, method):
    train, model = make(seed)
    accepted, rows = train[model(train) > 0.5], train[model(train) <= 0.5][:4]
    if not len(accepted) or not len(rows):
        return
    actions = ActionSet(train, max_changes=most)
    samples = {"n_samples": 20} if method is RobustBayesianRecourse else {}
    found = method(model, actions=actions, random_state=0, **samples).fit(train).explain(rows)
    assert actions.check(rows, found.x) == []
    for i, (_, row) in enumerate(rows.iterrows()):
        assert found.valid[i] == reachable(dict(row), train, accepted, model, most)
        if not found.valid[i]:
            assert found.status[i] == Status.TOO_MANY_CHANGES
            assert "max_changes" in found.reason[i]
    changed = (found.x[found.valid].astype(rows.dtypes) != rows[found.valid]).sum(axis=1)
    assert (changed <= most).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("most", [1, 2, 3])
def test_no_method_changes_more_than_allowed(method, most):
    rng = np.random.default_rng(1)
    train = pd.DataFrame(rng.normal(size=(80, 6))).add_prefix("n").assign(c=rng.choice(list("xyz"), 80))

    def model(rows):
        worth = rows.filter(like="n").to_numpy().sum(axis=1) + (rows["c"] == "x").to_numpy()
        return 1.0 / (1.0 + np.exp(3.0 - worth))

    rows = train[model(train) <= 0.5][:5]
    actions = ActionSet(train, max_changes=most)
    found = method(model, actions=actions, random_state=0).fit(train).explain(rows)
    assert actions.check(rows, found.x) == []
    assert found.valid.any()
    assert (model(found.x[found.valid]) > 0.5).all()
    assert all(status == Status.TOO_MANY_CHANGES for status in found.status[np.isnan(found.cost)])


@pytest.mark.parametrize("method", METHODS)
def test_arrays_have_a_limit_too(method):
    train = np.random.default_rng(2).normal(size=(200, 4))

    def model(rows):
        return 1.0 / (1.0 + np.exp(1.0 - rows @ [1.0, 0.9, 0.8, 0.7]))

    rows = train[model(train) <= 0.5][:6]
    found = method(model, actions=ActionSet(max_changes=1), random_state=0).fit(train).explain(rows)
    assert ((found.x != rows).sum(axis=1)[found.valid] == 1).all()
    assert found.valid.any()


def test_a_candidate_that_moves_onto_the_row_is_no_problem():
    train = pd.DataFrame({"a": [0.5, 1.25, 3.0], "b": [1.5, 9.25, 3.5], "c": ["x", "x", "y"]})

    def model(rows):
        return (rows["a"].to_numpy() > 1.0) & (rows["b"].to_numpy() > 2.0)

    actions = ActionSet(train, max_changes=1)
    method = NearestAccepted(model, actions=actions).fit(train)
    found = method.explain(pd.DataFrame({"a": [0.5, 1.25], "b": [9.25, 1.5], "c": ["x", "y"]}))
    assert found.valid.all()
    assert found.x["a"].tolist() == [1.25, 1.25]
    assert found.x["b"].tolist()[0] == 9.25


def test_a_model_that_changes_its_mind_is_said_to_be_inconsistent():
    train = pd.DataFrame({"a": [0.5, 1.25, 3.0], "b": [1.5, 9.25, 3.5]})
    calls = []

    def model(rows):
        calls.append(len(rows))
        answer = (rows["a"].to_numpy() > 1.0) & (rows["b"].to_numpy() > 2.0)
        return answer if len(calls) < 8 else np.zeros(len(rows), dtype=bool)

    actions = ActionSet(train, max_changes=1)
    method = NearestAccepted(model, actions=actions).fit(train)
    found = method.explain(pd.DataFrame({"a": [0.5], "b": [9.25]}))
    assert found.valid[0] == (found.status[0] == Status.OK)


def wide_problem(m=4, p=300):
    """Many columns of a linear model, of which the five best are enough for some people, by little."""
    rng = np.random.default_rng(0)
    slope = rng.normal(size=p) * rng.uniform(0.2, 1.0, p)
    X = rng.uniform(-1, 1, (600, p))
    limit = float(np.quantile(X @ slope, 0.7))
    refused = X[X @ slope <= limit]
    # What every column can do at most, within the range of the training rows.
    gain = np.where(slope > 0.0, X.max(axis=0) - refused, refused - X.min(axis=0)) * np.abs(slope)
    best = refused @ slope + np.sort(gain, axis=1)[:, -5:].sum(axis=1)
    order = np.argsort(best)
    some = np.concatenate([order[:2], order[np.searchsorted(best[order], limit + 0.2) :][: m - 2]])
    return X, slope, limit, refused[some], best[some] > limit


@pytest.mark.slow
def test_what_five_columns_of_three_hundred_can_do_is_found():
    X, slope, limit, rows, enough = wide_problem()
    assert enough.any()
    assert not enough.all()

    def model(Z):
        return Z.to_numpy() @ slope > limit

    names = [f"c{k}" for k in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    method = NearestAccepted(model, ActionSet(frame, max_changes=5)).fit(frame)
    found = method.explain(pd.DataFrame(rows, columns=names))
    np.testing.assert_array_equal(found.valid, enough)
    assert set(found.status[~enough]) == {Status.TOO_MANY_CHANGES}
    changed = (found.x.to_numpy(float) != rows)[enough].sum(axis=1)
    assert (changed <= 5).all()


class Stub:
    """A method whose searches are answered by the test."""

    promises = True


def answer(x0, x, cost, valid, status=Status.OK, asked=5):
    return replace(Answer.missing(x0, status, "as told", asked), x=x, cost=cost, valid=valid)


def test_of_promises_a_valid_one_is_kept_however_cheap_others_are(monkeypatch):
    X = np.zeros((2, 3))
    actions = ActionSet(max_changes=1)
    schema = actions.schema_for(X)
    space = Space.of(schema.read(X, "X"), actions.resolve(schema))
    many = [answer(x0, np.array([1.0, 2.0, 3.0]), 6.0, True) for x0 in X]

    def run(_, space, people, masks, deadline):  # noqa: ARG001
        out = []
        for mask in masks:
            x = np.where(mask, 4.0, 0.0)
            if mask[0]:
                out.append(answer(X[0], x, 0.5, False, Status.REFUSED))
            elif mask[1]:
                out.append(Answer.missing(X[0], Status.OUT_OF_REACH, "nowhere", 7))
            else:
                out.append(answer(X[0], x, 4.0, True))
        for i, person in enumerate(people):
            if person == 1:
                out[i] = Answer.missing(X[1], Status.OUT_OF_REACH, "nowhere", 7)
        return out

    monkeypatch.setattr(few, "run", run)
    masks = np.ones((2, 3), dtype=bool)
    found = few.few_changes(Stub(), space, np.arange(2), masks, many, 1, None)
    assert found[0].valid
    np.testing.assert_array_equal(found[0].x, [0.0, 0.0, 4.0])
    assert found[0].n_queries == 5 + 4 + 6 + 4  # each search counts the row itself
    assert not found[1].valid
    assert found[1].status == Status.OUT_OF_REACH
    assert np.isnan(found[1].x).all()


def test_people_with_few_enough_changes_are_left_alone(monkeypatch):
    def never(*_):
        raise AssertionError("nothing to search for")

    monkeypatch.setattr(few, "run", never)
    monkeypatch.setattr(few, "make_task", never)
    X = np.zeros((2, 3))
    actions = ActionSet(max_changes=2)
    schema = actions.schema_for(X)
    space = Space.of(schema.read(X, "X"), actions.resolve(schema))
    found = [answer(X[0], np.array([1.0, 0.0, 2.0]), 3.0, True), Answer.missing(X[1], Status.NO_CANDIDATE, "none")]
    for promises in (True, False):
        method = Stub()
        method.promises = promises
        assert few.few_changes(method, space, np.arange(2), np.ones((2, 3), bool), found, 2, None) == found


@pytest.mark.parametrize("method", METHODS)
def test_when_the_time_is_over_no_recourse_has_too_many_changes(method, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    train = np.random.default_rng(2).normal(size=(200, 4))

    def model(rows):
        now[0] += 1.0
        return 1.0 / (1.0 + np.exp(2.0 - rows @ [1.0, 0.9, 0.8, 0.7]))

    rows = train[model(train) <= 0.5][:6]
    search = method(model, actions=ActionSet(max_changes=1), random_state=0).fit(train)
    seen = set()
    for limit in range(0, 130, 9):
        found = search.explain(rows, time_limit=limit)
        changed = (found.x != rows).sum(axis=1)[np.isfinite(found.cost)]
        assert (changed <= 1).all()
        out = found.status == Status.TIME_LIMIT
        assert np.isnan(found.x[out]).all()
        assert (found.n_queries >= 1).all()
        seen |= set(found.status)
    assert Status.TIME_LIMIT in seen
