"""Costs that are not as dear everywhere."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse import ROAR, ActionSet, NearestAccepted, RobustBayesianRecourse, Wachter, load, save
from robust_recourse.search.space import Space

RNG = np.random.default_rng(0)
PEOPLE = pd.DataFrame(
    {
        "income": RNG.lognormal(8.0, 0.6, 200).round(-1),
        "savings": np.where(RNG.random(200) < 0.3, 0.0, RNG.gamma(1.0, 4000, 200).round(2)),
        "ratio": RNG.uniform(0.0, 1.0, 200).astype(np.float32),
        "depth": RNG.normal(0.0, 1.0, 200),
        "housing": RNG.choice(["own", "rent"], 200),
    }
)


def share(column, value):
    """How many of the training rows are below a value of theirs, the equal ones by half."""
    known = PEOPLE[column].to_numpy(dtype=float)
    return np.mean(known < value) + 0.5 * np.mean(known == value)


def model(X):
    return X["income"] / 3000 + X["savings"] / 8000 + X["ratio"] + X["depth"] / 4 + (X["housing"] == "own") > 3.5


def soft(X):
    return 1.0 / (1.0 + np.exp(-(X["income"] / 3000 + X["savings"] / 8000 - 2.5)))


@pytest.mark.parametrize("method", [RobustBayesianRecourse, NearestAccepted, ROAR])
def test_a_change_costs_the_share_that_it_overtakes(method):
    actions = ActionSet(PEOPLE, cost="percentile", weights={"income": 2.0})
    refused = PEOPLE[~model(PEOPLE)].head(12)
    found = method(model, actions, random_state=0).fit(PEOPLE).explain(refused)
    assert actions.check(refused, found.x) == []
    assert found.valid.sum() > 6
    for i in np.flatnonzero(found.valid):
        before, after = refused.iloc[i], found.x.iloc[i]
        for k, name in enumerate(PEOPLE.columns):
            if name == "housing":
                assert found.column_costs[i, k] == (before[name] != after[name])
                continue
            # Between two training rows it is between theirs.
            near = PEOPLE[name].astype(float)
            low, high = near[near <= float(after[name])].max(), near[near >= float(after[name])].min()
            own, weight = share(name, before[name]), 2.0 if name == "income" else 1.0
            between = sorted(weight * abs(share(name, end) - own) for end in (low, high))
            assert between[0] - 1e-9 <= found.column_costs[i, k] <= between[1] + 1e-9
    np.testing.assert_allclose(found.column_costs[found.valid].sum(axis=1), found.cost[found.valid])
    assert np.asarray(model(found.x[found.valid].astype(PEOPLE.dtypes.to_dict()))).all()


def test_the_way_at_the_top_is_cheap_where_few_people_are():
    others = [name for name in PEOPLE if name != "income"]
    low, high = PEOPLE["income"].quantile([0.97, 1.0])
    costs = []
    for cost in (None, "percentile"):
        actions = ActionSet(PEOPLE, cost=cost, immutable=others)
        method = NearestAccepted(lambda X: X["income"] >= high, actions).fit(PEOPLE)
        costs += method.explain(PEOPLE.head(1).assign(income=low), unseen="ignore").cost.tolist()
    assert costs[1] < 0.04 < 0.5 < costs[0]


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_what_is_told_comes_back_to_the_bit(data):
    cost = data.draw(st.sampled_from(["percentile", {"income": [(0, 0), (500, 1), (90000, 1.5)]}]))
    actions = ActionSet(PEOPLE, cost=cost, bounds={"savings": (-5000, 100000)})
    schema = actions.schema_for(PEOPLE)
    space = Space.of(schema.read(PEOPLE, "X"), actions.resolve(schema))
    people = np.arange(len(PEOPLE))
    spread = data.draw(st.sampled_from([0.01, 0.3, 3.0]))
    noise = np.random.default_rng(data.draw(st.integers(0, 2**20))).normal(0.0, spread, space.points.shape)
    noise[:, 4] = 0.0
    rounding = data.draw(st.sampled_from(["nearest", "inward", "outward"]))
    snapped = space.snap(space.points + noise, people, rounding)
    values = space.legal(space.points + noise, people, rounding)
    columns = [0, 1, 2]  # the last number is in double precision, and may lose its last bit
    for again in ("nearest", "inward", "outward"):
        np.testing.assert_array_equal(space.legal(snapped, people, again)[:, columns], values[:, columns])
    np.testing.assert_allclose(space.legal(snapped, people), values, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(space.legal(space.points, people), space.table.values)
    numbers = space.moves.numbers
    costs = np.abs(snapped - space.points)[:, numbers]
    np.testing.assert_allclose(space.column_costs(snapped, people)[:, numbers], costs, atol=1e-12)


def test_a_table_of_efforts():
    actions = ActionSet(
        PEOPLE, immutable=["savings", "ratio", "depth", "housing"], cost={"income": [(0, 0), (2000, 1), (4000, 5)]}
    )
    method = NearestAccepted(lambda X: X["income"] >= 3000, actions).fit(PEOPLE)
    found = method.explain(PEOPLE.head(1).assign(income=1000.0))
    income = found.x["income"].item()
    assert found.cost[0] == pytest.approx(0.5 + (income - 2000) / 500)
    assert actions == ActionSet(cost={"income": {0: 0, 2000: 1, 4000: 5}}, immutable=actions.immutable)


def test_gradients_are_those_of_the_new_coordinates():
    actions = ActionSet(PEOPLE, cost="percentile", immutable=["ratio", "depth", "housing"])
    refused = PEOPLE[soft(PEOPLE) < 0.5].head(5)
    found = Wachter(soft, actions).fit(PEOPLE).explain(refused)
    assert found.valid.all()
    assert actions.check(refused, found.x) == []


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        ("rank", "actions.cost must be 'percentile' or a dictionary from columns, got 'rank'"),
        ({"income": "rank"}, "actions.cost['income'] must be 'percentile' or two or more pairs"),
        ({"income": [(0, 0)]}, "two or more pairs"),
        ({"income": [(0, 0), (1, 0)]}, "must have rising efforts, got 0 before 0"),
        ({"income": [(1, 0), (0, 1)]}, "must have rising values, got 1 before 0"),
        ({"income": 3}, "must be 'percentile' or two or more pairs (value, effort), got 3"),
        ({"housing": "percentile"}, "names column 'housing', which holds categories. Use weights"),
        ({"wage": "percentile"}, "names column 'wage', which is not there"),
    ],
)
def test_what_makes_no_sense_raises(cost, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        ActionSet(PEOPLE, cost=cost)


@pytest.mark.parametrize("cost", ["percentile", {0: "percentile"}])
def test_arrays_have_no_such_costs(cost):
    with pytest.raises(ValueError, match="columns of an array are continuous"):
        NearestAccepted(lambda X: X[:, 0] > 0.5, ActionSet(cost=cost)).fit(RNG.uniform(size=(20, 2)))


@pytest.mark.parametrize("cost", ["percentile", {"income": "percentile", "savings": [(0, 0), (1000.5, 2)]}])
def test_it_survives_files(cost, tmp_path):
    file = tmp_path / "actions.toml"
    actions = ActionSet(PEOPLE, cost=cost)
    file.write_text(actions.to_toml())
    assert ActionSet.from_toml(file, PEOPLE) == actions != ActionSet(PEOPLE)
    method = RobustBayesianRecourse(model, ActionSet(cost=cost), random_state=0).fit(PEOPLE)
    save(method, tmp_path / "method", include_model=False)
    again = load(tmp_path / "method", model=model)
    refused = PEOPLE[~model(PEOPLE)].head(4)
    assert again.explain(refused).equals(method.explain(refused))


def test_a_file_says_it_once(tmp_path):
    file = tmp_path / "actions.toml"
    file.write_text('cost = "percentile"\n[columns.income]\ncost = "percentile"\n')
    with pytest.raises(ValueError, match="cost stands above all tables, and at column 'income' again"):
        ActionSet.from_toml(file)
    file.write_text("[columns.income]\ncost = 2\n")
    with pytest.raises(ValueError, match="cost must be a text or a list of pairs"):
        ActionSet.from_toml(file)


def test_an_overview_says_it():
    text = str(ActionSet(PEOPLE, cost={"income": "percentile", "savings": [(0, 0), (1, 1)]}))
    assert "income costs the share of the training rows that is overtaken" in text
    assert "savings costs as its table says" in text


def test_worst_cases_take_rows_of_the_table():
    method = RobustBayesianRecourse(model, ActionSet(PEOPLE, cost="percentile"), random_state=0).fit(PEOPLE)
    found = method.explain(PEOPLE[~model(PEOPLE)].head(1))
    own = found[0].worst_case().log_odds
    assert found[0].worst_case(found[0].x).log_odds == pytest.approx(own, abs=1e-9)
    assert found[0].worst_case(found[0].x0).log_odds > own
