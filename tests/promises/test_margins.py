"""Whoever asks for a larger margin never gets less of one: what is out of reach is answered with the most there is."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from robust_recourse import (
    ROAR,
    ActionSet,
    BayesianRecourse,
    NearestAccepted,
    Recourses,
    RobustBayesianRecourse,
    Status,
    Wachter,
)

MARGINS = (0.6, 0.8, 0.95, 0.999)
GRAIN = 0.5 / 128  # between the levels that are tried
QUICK = {"n_samples": 30, "n_neighbors": 80, "random_state": 0}


def labels(worth, rng):
    return (worth + rng.normal(size=len(worth)) > 0.0).astype(int)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(
        {
            "income": rng.gamma(4.0, 600.0, 300).round(-1),
            "debt": rng.gamma(2.0, 900.0, 300).round(-1),
            "months": rng.integers(1, 60, 300),
            "job": rng.choice(["clerk", "cook", "none"], 300),
            "phone": rng.choice(["yes", "no"], 300),
        }
    )
    worth = X["income"] / 1200 - X["debt"] / 1000 + X["months"] / 30 - (X["job"] == "none") + (X["phone"] == "yes") - 2
    return X, labels(worth, rng), ["job", "phone"]


@pytest.fixture(scope="module")
def array():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 4))
    return X, labels(X @ [1.0, 0.7, -0.5, 0.3] - 0.3, rng), []


def forest():
    return RandomForestClassifier(8, min_samples_leaf=4, random_state=0)


def fitted(data, kind):
    X, y, names = data
    last = forest() if kind == "trees" else LogisticRegression()
    if not names:
        return last.fit(X, y)
    rest = "passthrough" if kind == "trees" else StandardScaler()
    return make_pipeline(make_column_transformer((OneHotEncoder(), names), remainder=rest), last).fit(X, y)


def actions_of(data):
    """Let so little change that many margins are out of reach."""
    X, _, names = data
    if names:
        return ActionSet(X, immutable=["job"], bounds={"income": (None, 2400), "debt": (900, None)})
    return ActionSet(immutable=[3], bounds={0: (None, 0.6), 1: (None, 0.8), 2: (-0.5, None)})


def probability(model, found):
    has = np.full(len(found), np.nan)
    x = found.x[found.valid]
    has[found.valid] = model.predict_proba(x.astype(found.x0.dtypes.to_dict()) if hasattr(x, "iloc") else x)[:, 1]
    return has


@pytest.mark.slow
@pytest.mark.parametrize("budget", [{"delta_plus": 0.0}, {}])
@pytest.mark.parametrize("kind", ["trees", "logistic"])
@pytest.mark.parametrize("name", ["table", "array"])
def test_whoever_asks_for_more_never_gets_less(name, kind, budget, request):
    data = request.getfixturevalue(name)
    X, model = data[0], fitted(data, kind)
    people, before, out = X[model.predict(X) == 0][:4], None, 0
    for margin in MARGINS:
        search = RobustBayesianRecourse(model, actions_of(data), margin=margin, **budget, **QUICK).fit(X)
        found = search.explain(people)
        has = probability(model, found)
        lost = found.status == Status.MARGIN_OUT_OF_REACH
        assert ((has >= margin) | lost | ~found.valid).all()
        assert (has[lost] < margin).all()
        if before is not None:
            # More than was asked for is luck; less than that, and than was had, is none.
            assert (has >= np.minimum(before, margin) - GRAIN)[~np.isnan(before)].all(), (margin, before, has)
        before, out = has, out + lost.sum()
    assert out
    backwards = search.explain(people[::-1])
    alone = Recourses.concat([search.explain(people[i : i + 1]) for i in range(len(people))])
    for other in (backwards[np.arange(len(people))[::-1]], alone):
        np.testing.assert_array_equal(np.asarray(other.x), np.asarray(found.x))
        assert other.reason.tolist() == found.reason.tolist()


@pytest.mark.parametrize(
    "make",
    [
        lambda *args, **how: RobustBayesianRecourse(*args, **QUICK, **how),
        lambda *args, **how: BayesianRecourse(*args, **QUICK, **how),
        lambda *args, **how: NearestAccepted(*args, **how),
        lambda *args, **how: Wachter(*args, **how),
        lambda *args, **how: ROAR(*args, **QUICK, **how),
    ],
)
def test_every_method_answers_a_margin_out_of_reach_with_the_most_that_it_finds(make, array):
    X, model = array[0], fitted(array, "logistic")
    people, actions = X[model.predict(X) == 0][:6], actions_of(array)
    less = make(model, actions, margin=0.6).fit(X).explain(people)
    more = make(model, actions, margin=0.999).fit(X).explain(people)
    has = [probability(model, found) for found in (less, more)]
    assert more.valid[less.valid].all()
    assert (more.status[more.valid] == Status.MARGIN_OUT_OF_REACH).all()
    assert more.valid.any()
    assert (has[1] >= np.minimum(has[0], 0.6) - GRAIN)[less.valid].all()
    for i in np.flatnonzero(more.valid):
        assert "probability of 0.999; this one has at least" in more.reason[i]


def test_the_most_is_the_most_of_all_rows():
    """Three columns of few values, so that all rows can be asked about."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({name: rng.integers(0, 7, 200) for name in "abc"})
    y = labels((X["a"] - 3) * (X["b"] > 2) + 0.5 * X["c"] - 2.0, rng)
    model = forest().fit(X, y)
    people = X[model.predict(X) == 0][:15]
    actions = ActionSet(X, increase=["c"], integer=list("abc"))
    found = RobustBayesianRecourse(model, actions, margin=0.9999, **QUICK).fit(X).explain(people)
    every = pd.DataFrame(itertools.product(range(7), repeat=3), columns=list("abc"))
    said, has = model.predict_proba(every)[:, 1], probability(model, found)
    most = np.array([said[every["c"] >= row.c].max() for row in people.itertuples()])
    assert (found.status == Status.MARGIN_OUT_OF_REACH).all()
    assert (has >= most - GRAIN).mean() >= 0.9
    assert (has >= most - 0.05).all()
