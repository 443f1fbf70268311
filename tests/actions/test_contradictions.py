"""Rules that nobody can keep are told before the search."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from robust_recourse import ActionSet, RobustBayesianRecourse


@pytest.fixture
def table():
    draw = np.random.default_rng(0)
    return pd.DataFrame(
        {"used": draw.integers(0, 100, 300), "limit": draw.integers(50, 200, 300), "rate": draw.normal(size=300)}
    )


def test_rules_that_exclude_everything_are_named(table):
    method = RobustBayesianRecourse(
        lambda X: X.rate > 1,
        ActionSet(rules=["used <= limit - 40"], bounds={"used": (60, 100), "limit": (50, 90)}),
        random_state=0,
    )
    people = pd.DataFrame({"used": [80, 10], "limit": [60, 80], "rate": [0.0, 0.0]})
    found = method.fit(table).explain(people)
    assert str(found.status[0]) == "impossible"
    assert "used <= limit - 40" in found.reason[0]
    assert found.valid[1]


def test_a_rule_that_can_be_mended_is_searched(table):
    method = RobustBayesianRecourse(lambda X: X.rate > 1, ActionSet(rules=["used <= limit - 40"]), random_state=0).fit(
        table
    )
    found = method.explain(pd.DataFrame({"used": [80], "limit": [60], "rate": [0.0]}))
    assert found.valid[0]
    assert found.x.used[0] <= found.x.limit[0] - 40
