"""Whoever may do more does not pay more, and nobody is told that nothing was found where something is near."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from robust_recourse import ActionSet, RobustBayesianRecourse, Status

# Random models may follow one column.
pytestmark = pytest.mark.filterwarnings("ignore:Column .* alone tells whom the model accepts")

MODELS = {
    "logistic": lambda: LogisticRegression(max_iter=500),
    "tree": lambda: DecisionTreeClassifier(max_depth=3, random_state=0),
    "boosted": lambda: HistGradientBoostingClassifier(max_iter=15, max_leaf_nodes=8, random_state=0),
}


def case(seed, kind):
    draw = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "whole": draw.integers(0, 12, 300),
            "flag": draw.integers(0, 2, 300),
            "rate": draw.normal(0.0, 1.0, 300).round(2),
            "amount": draw.gamma(2.0, 500.0, 300).round(-1),
            "other": draw.normal(5.0, 2.0, 300).round(1),
        }
    )
    score = X.whole / 4 + X.flag + X.rate - X.amount / 800 + draw.normal(0.0, 0.7, 300)
    model = MODELS[kind]().fit(X, score > score.median())
    people = X[~model.predict(X)][:6].reset_index(drop=True)
    return X, model, people


def boundary_costs(model, X, people, margin=None, **words):
    method = RobustBayesianRecourse(model, ActionSet(**words), margin=margin, random_state=0).fit(X)
    found = method.explain(people)
    points, ends = method.to_points(people), np.array([trace.boundary for trace in found._traces])
    snapped = method.to_points(found.boundary.fillna(people).astype(people.dtypes.to_dict()))
    costs = method.limits_.cost(np.where(np.isnan(ends), np.nan, snapped), points)
    costs = np.where(np.isnan(costs), np.where(found.valid, found.cost, np.inf), costs)
    # Who cannot have the margin is told of a row with less, which is another promise.
    return np.where(found.status == Status.MARGIN_OUT_OF_REACH, np.inf, costs)


TIGHTER = [
    {"max_changes": 1},
    {"max_changes": 2},
    {"immutable": ["rate"]},
    {"bounds": {"whole": (2, 8)}},
    {"step": {"other": 0.5}},
    {"rules": ["whole <= other + 9"]},
    {"increase": ["whole"], "decrease": ["amount"]},
]


@pytest.mark.slow
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 50), kind=st.sampled_from(["logistic", "tree"]), words=st.sampled_from(TIGHTER))
def test_a_looser_action_set_is_not_dearer(seed, kind, words):
    X, model, people = case(seed, kind)
    loose, tight = boundary_costs(model, X, people), boundary_costs(model, X, people, **words)
    assert (loose <= 1.01 * tight + 1e-9).all(), (loose / tight).max()


@pytest.mark.slow
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 1000),
    kind=st.sampled_from(list(MODELS)),
    margin=st.sampled_from([None, 0.6]),
    words=st.sampled_from([{}, *TIGHTER[2:]]),
)
def test_whoever_may_change_more_columns_pays_no_more(seed, kind, margin, words):
    X, model, people = case(seed, kind)
    limits = [1, 2, 3, 4, None]
    costs = [boundary_costs(model, X, people, margin, max_changes=most, **words) for most in limits]
    for most, dear, cheap in zip(limits[1:], costs, costs[1:], strict=False):
        # Not a bit: the search with a lower limit is a part of it. Integer programs of linear models round their ends.
        assert (cheap <= dear * (1.0 + (1e-3 if kind == "logistic" else 1e-12))).all(), (most, cheap, dear)


@pytest.mark.slow
@pytest.mark.parametrize("kind", MODELS)
def test_one_and_two_columns_are_searched_exhaustively(kind):
    X, model, people = case(7, kind)
    values = {column: np.unique(np.quantile(X[column], np.linspace(0, 1, 13), method="nearest")) for column in X}
    for most in (1, 2):
        found = RobustBayesianRecourse(model, ActionSet(max_changes=most), random_state=0).fit(X).explain(people)
        for row in range(len(people)):
            if found.valid[row]:
                continue
            columns = list(X)
            for a, one in enumerate(columns):
                for other in columns[a:] if most == 2 else [one]:
                    grid = [(v, w) for v in values[one] for w in values[other]]
                    tried = pd.concat([people.iloc[[row]]] * len(grid), ignore_index=True)
                    tried[other], tried[one] = [w for _, w in grid], [v for v, _ in grid]
                    assert not model.predict(tried.astype(X.dtypes.to_dict())).any(), (row, one, other)
