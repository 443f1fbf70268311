"""The brute force of the benchmarks is right: on a problem that can be solved by hand, and against a plain loop."""

from __future__ import annotations

import importlib.util
import itertools
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from robust_recourse import ActionSet

FILE = Path(__file__).parents[1] / "benchmarks" / "brute.py"


@pytest.fixture(scope="module")
def brute() -> ModuleType:
    if not FILE.exists():
        pytest.skip("The benchmarks are not here.")
    spec = importlib.util.spec_from_file_location("brute", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Total:
    """An estimator that accepts rows whose encoded columns sum to 10 or more."""

    def fit(self, X: object, y: object) -> Total:  # noqa: ARG002
        self.fitted_ = True
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return (X.sum(axis=1) >= 10.0).astype(int)


def by_hand() -> tuple[pd.DataFrame, ActionSet, object]:
    table = pd.DataFrame(
        {"a": np.arange(0, 7), "b": np.arange(0, 14, 2), "home": list("xyxyxyx"), "age": range(30, 37)}
    )
    actions = ActionSet(table, immutable=["age"], decrease=["b"], bounds={"a": (0, 5)}, weights={"home": 3.0})
    columns = make_column_transformer((OneHotEncoder(sparse_output=False), ["home"]), ("passthrough", ["a", "b"]))
    return table, actions, make_pipeline(columns, Total()).fit(table, np.ones(7))


def test_cheapest_by_hand(brute: ModuleType) -> None:
    table, actions, model = by_hand()
    grid = brute.Grid(actions, table)
    row = pd.Series({"a": 2, "b": 4, "home": "x", "age": 30}, dtype=object)
    person = brute.Person(grid, model, row)
    # The sum is 2 + 4 + 1 of the home: a must rise to 5, as b may only fall. A second change can be another home only.
    unit = grid.columns[0].unit
    cost, changes = person.cheapest(1)
    assert cost == pytest.approx(3 / unit)
    assert person.told(changes).iloc[0].to_dict() == {"a": 5, "b": 4, "home": "x", "age": 30}
    assert person.cheapest(2)[0] == pytest.approx(3 / unit + 3.0)
    assert person.cheapest(1, below=3 / unit)[1] is None
    # With 2 in b it would have to be 7, beyond the bound.
    poorer = brute.Person(grid, model, row.where(row.index != "b", 2))
    assert [poorer.cheapest(size) for size in (1, 2)] == [(np.inf, None)] * 2


def test_breaking_the_action_set_by_hand(brute: ModuleType) -> None:
    table, actions, _ = by_hand()
    grid = brute.Grid(actions, table)
    before = pd.DataFrame({"a": [2] * 7, "b": [4] * 7, "home": ["x"] * 7, "age": [30] * 7})
    after = before.assign(
        a=[2, 6, 2, 2, 3, 2, 2.5], b=[4, 4, 6, 4, 2, 4, 4], home=list("xxxxxzx"), age=[30, 30, 30, 31, 30, 30, 30]
    )
    assert grid.broken(before, after).tolist() == [False, True, True, True, False, True, True]
    assert grid.broken(before, after, max_changes=1).tolist() == [False, True, True, True, True, True, True]
    assert grid.cost(before, after)[4] == pytest.approx(1 / grid.columns[0].unit + 2 / grid.columns[1].unit)


def least(grid: Any, model: Any, row: pd.Series, size: int) -> float:
    """Return the least cost of `size` changes that the model accepts, found one frame at a time."""
    best = np.inf
    for some in itertools.combinations(grid.singles(row), size):
        after = row.astype(object).copy()
        for k, value, _ in some:
            after[grid.names[k]] = value
        before, frame = (pd.DataFrame([one]).astype(grid.dtypes) for one in (row, after))
        several = len({k for k, *_ in some}) == size
        if several and not grid.actions.check(before, frame) and model.predict(frame)[0] == 1:
            best = min(best, float(grid.cost(before, frame)[0]))
    return best


@pytest.mark.parametrize("seed", range(3))
def test_the_same_as_a_plain_loop_over_frames(brute: ModuleType, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "used": rng.integers(0, 12, 80),
            "limit": rng.normal(8, 3, 80).round(1),
            "home": rng.choice(["own", "rent", "family"], 80),
            "job": rng.choice(["a", "b"], 80),
        }
    )
    table.loc[::9, "limit"] = np.nan
    actions = ActionSet(table, increase=["limit"], step={"used": 2}, rules=["used <= limit"], weights={"home": 0.4})
    columns = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["home", "job"]), remainder="passthrough", verbose_feature_names_out=False
    )
    good = (table["limit"].fillna(5) + 2 * (table["home"] == "own") + rng.normal(0, 2, 80) > 9).astype(int)
    model = make_pipeline(columns, DecisionTreeClassifier(random_state=0)).fit(table, good)
    grid = brute.Grid(actions, table, n_values=4)
    for _, row in table[model.predict(table) == 0].head(2).iterrows():
        person = brute.Person(grid, model, row)
        for size in (1, 2):
            assert person.cheapest(size)[0] == pytest.approx(least(grid, model, row, size))


def test_linear_program_by_hand(brute: ModuleType) -> None:
    weights, low, high = np.array([1.0, 2.0]), np.zeros(2), np.array([10.0, 1.0])
    # The second column is worth twice as much, but has only 1 to give.
    assert brute.linear_optimum(np.zeros(2), weights, -3.0, low, high) == pytest.approx(2.0)
    assert brute.linear_optimum(np.zeros(2), weights, -30.0, low, high) == np.inf


@pytest.mark.parametrize("seed", range(3))
def test_integer_program_is_brute_force_where_that_is_complete(brute: ModuleType, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "used": rng.integers(0, 9, 80),
            "limit": rng.integers(2, 12, 80).astype(float),
            "home": rng.choice(["own", "rent", "family"], 80),
        }
    )
    table.loc[0, "limit"] = 5.5  # off the grid
    actions = ActionSet(
        table,
        increase=["limit"],
        step={"limit": 2},
        bounds={"used": (1, 7)},
        rules=["used <= limit"],
        weights={"home": 0.4},
    )
    columns = make_column_transformer((OneHotEncoder(sparse_output=False), ["home"]), remainder=StandardScaler())
    good = (table["limit"] - table["used"] + 2 * (table["home"] == "own") + rng.normal(0, 1, 80) > 6).astype(int)
    model = make_pipeline(columns, LogisticRegression()).fit(table, good)
    grid = brute.Grid(actions, table)
    refused = table[model.predict(table) == 0]
    for _, row in refused.head(12).iterrows():
        person = brute.Person(grid, model, row)
        one, two = (person.cheapest(size)[0] for size in (1, 2))
        program = brute.Program(person)
        assert program.cheapest(1) == pytest.approx(one)
        assert program.cheapest(2) == pytest.approx(min(one, two))
        assert program.cheapest() <= program.cheapest(2) + 1e-9
