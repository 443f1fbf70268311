"""Where a table moves in steps, the recourse is the best row around, and says so where it has no margin."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from robust_recourse import ActionSet, NearestAccepted, RobustBayesianRecourse
from robust_recourse.math.odds import log_worst_case_odds


@pytest.fixture(scope="module")
def steps():
    draw = np.random.default_rng(3)
    X = pd.DataFrame(
        {
            "children": draw.integers(0, 5, 600),
            "jobs": draw.integers(0, 4, 600),
            "flag": draw.integers(0, 2, 600),
            "kind": draw.choice(["a", "b", "c"], 600),
        }
    )
    score = X.children + 1.5 * X.jobs + 2 * X.flag + X.kind.map({"a": 0, "b": 1, "c": 3}) + draw.normal(0, 0.5, 600)
    train = pd.get_dummies(X, columns=["kind"], dtype=int)
    inner = LogisticRegression(max_iter=1000).fit(train, score > score.median() + 1)

    def model(rows):
        return inner.predict(
            pd.get_dummies(rows, columns=["kind"], dtype=int).reindex(columns=train.columns, fill_value=0)
        )

    return X, model


def test_samples_see_the_other_side_of_a_step(steps):
    X, model = steps
    method = RobustBayesianRecourse(model, random_state=0, sampling_radius=0.05).fit(X)
    found = method.explain(X[~model(X)][:10])
    around = [trace.neighbourhood for trace in found._traces if trace.neighbourhood is not None]
    assert around
    for known in around:
        samples = known.samples
        assert 0 < known.accepted.sum() < len(known.accepted)
        # Whole numbers stay whole, and categories are codes that exist.
        children = samples[:, 0] * method.moves_.units[0]
        np.testing.assert_allclose(children, np.round(children), atol=1e-9)
        assert len(np.unique(samples[:, 3])) > 1
        assert set(samples[:, 3]) <= {0.0, 1.0, 2.0}
        np.testing.assert_array_equal(samples, known.samples)  # drawn again, they are the same


def test_samples_keep_the_rules(steps):
    X, model = steps
    actions = ActionSet(rules=["jobs <= children + 1"])
    method = RobustBayesianRecourse(model, actions, random_state=0).fit(X)
    people = X[~model(X) & (X.jobs <= X.children + 1)][:8]
    for trace in method.explain(people)._traces:
        if trace.neighbourhood is not None:
            values = trace.neighbourhood.samples * method.moves_.units
            assert (np.round(values[:, 1], 6) <= np.round(values[:, 0], 6) + 1).all()


def neighbours(row, X):
    """Rows a step or a switch away, within the range of the table."""
    for column in ("children", "jobs", "flag"):
        for step in (-1, 1):
            if X[column].min() <= row[column] + step <= X[column].max():
                yield {**row, column: row[column] + step}
    for kind in "abc":
        if kind != row["kind"]:
            yield {**row, "kind": kind}


def test_no_neighbour_within_the_budget_has_better_odds(steps):
    X, model = steps
    method = RobustBayesianRecourse(model, random_state=0, delta_plus=1.5).fit(X)
    people = X[~model(X)][:8]
    found = method.explain(people)
    compared = 0
    for i in np.flatnonzero(found.valid & np.isfinite(found.log_worst_case_odds)):
        trace, budget, own = found._traces[i], found.budget[i], method.to_points(people.iloc[[i]])
        rows = pd.DataFrame(list(neighbours(found.x.iloc[i].to_dict(), X)))[list(X)].astype(X.dtypes.to_dict())
        points = method.to_points(rows)
        able = (method.limits_.cost(points, own) <= budget) & np.asarray(model(rows), dtype=bool)
        for point in points[able]:
            around = trace.neighbourhood
            lengths, labels = around.lengths(point), around.accepted.astype(int)
            there = log_worst_case_odds(lengths, around.free_samples, labels, *trace.scales).value
            compared += 1
            assert there >= found.log_worst_case_odds[i] - 1e-6
    assert compared > 5


def test_ok_means_that_refusal_is_the_less_likely_in_the_worst_case(steps):
    X, model = steps
    people = X[~model(X)][:40]
    for words in ({}, {"delta_plus": 0.0}):
        found = RobustBayesianRecourse(model, random_state=0, **words).fit(X).explain(people)
        odds = found.log_worst_case_odds[found.status == "ok"]
        assert not (odds > 0.0).any()
        assert (found.log_worst_case_odds[found.status == "at the edge"] > 0.0).all()
        assert found.valid.all()
    assert (found.status == "at the edge").any()
    assert "margin" in found[int(np.flatnonzero(found.status == "at the edge")[0])].reason


def test_nobody_spends_more_than_the_way_to_the_nearest_accepted_row(steps):
    X, model = steps
    people, few = X[~model(X)][:30], X[::20]  # so few that many accepted rows are no training rows
    method = RobustBayesianRecourse(model, random_state=0).fit(few)
    found, points = method.explain(people), method.to_points(people)
    nearest = NearestAccepted(model).fit(few).explain(people).cost
    boundary = method.limits_.cost(method.to_points(found.boundary.astype(X.dtypes.to_dict())), points)
    dearer = nearest > boundary + 1e-9
    assert dearer.any()
    assert (found.cost <= np.where(dearer, nearest, boundary + 0.2) + 1e-9).all()


def test_every_second_sample_is_around_the_nearest_accepted_row(steps):
    X, model = steps
    X = X.assign(hours=np.random.default_rng(1).normal(0.0, 1.0, len(X)))
    people = X[~model(X.drop(columns="hours"))][:12]

    def ask(rows):
        return model(rows.drop(columns="hours"))

    method = RobustBayesianRecourse(ask, random_state=0, sampling_radius=0.05).fit(X)
    nearest = method.to_points(NearestAccepted(ask).fit(X).explain(people).x.astype(X.dtypes))
    found = method.explain(people)
    far = 0
    for trace, near in zip(found._traces, nearest, strict=True):
        known = trace.neighbourhood
        if known is None or known.metric is None:
            continue
        np.testing.assert_allclose(known.second, near)
        for centre, samples in ((known.centre, known.samples[::2]), (known.second, known.samples[1::2])):
            away = np.abs(samples - centre)[:, known.numbers] / known.stretch[known.numbers[known.free]]
            assert (np.sqrt((away**2).sum(axis=1)) <= known.radius * np.sqrt(len(near))).all()
            assert np.abs(samples[:, 4] - centre[4]).max() <= known.radius  # a column without steps
        far += abs(known.second[4] - known.centre[4]) > 2.0 * known.radius
        rows = people.iloc[[0] * len(known.samples)].copy()
        rows[["children", "jobs", "flag", "hours"]] = known.samples[:, [0, 1, 2, 4]] * method.moves_.units[[0, 1, 2, 4]]
        rows["kind"] = np.array(["a", "b", "c"])[known.samples[:, 3].astype(int)]
        np.testing.assert_array_equal(ask(rows) == 1, known.accepted)
    assert far
    given = RobustBayesianRecourse(ask, random_state=0, delta_plus=0.3).fit(X).explain(people)
    assert all(trace.neighbourhood is None or trace.neighbourhood.second is None for trace in given._traces)
