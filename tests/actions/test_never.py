"""Switches that an action set forbids."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse import ActionSet, NearestAccepted, RobustBayesianRecourse
from robust_recourse.math.limits import Limits

# The models of these tests look at one column.
pytestmark = pytest.mark.filterwarnings("ignore:Column .* alone tells whom the model accepts")

STATES = ["single", "married", "divorced", "widowed"]
PEOPLE = pd.DataFrame({"state": STATES * 10, "income": np.arange(40.0)})


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_forbidden_switch_is_the_only_difference(data):
    n = data.draw(st.integers(1, 4))
    flags = st.lists(st.booleans(), min_size=n, max_size=n)
    targets, never = np.array(data.draw(flags)), np.array([data.draw(flags) for _ in range(n)])
    rises, falls = np.array([data.draw(st.booleans())]), np.array([data.draw(st.booleans())])
    plain = Limits(np.zeros(1), np.ones(1), rises, falls, np.ones(1), (targets,))
    limits = Limits(np.zeros(1), np.ones(1), rises, falls, np.ones(1), (targets,), (never,))
    own, code = np.meshgrid(np.arange(-2.0, n), np.arange(-2.0, n), indexing="ij")
    expected = plain.may_switch(0, own, code)
    for i, j in np.ndindex(own.shape):
        if own[i, j] >= 0 and code[i, j] >= 0 and never[int(own[i, j]), int(code[i, j])]:
            expected[i, j] = False
    assert limits.may_switch(0, own, code).tolist() == expected.tolist()
    assert limits.take(np.array([True])).may_switch(0, own, code).tolist() == expected.tolist()


@pytest.mark.parametrize("method", [RobustBayesianRecourse, NearestAccepted])
def test_the_search_keeps_to_it(method):
    actions = ActionSet(PEOPLE, immutable=["income"], never={"state": [("single", "widowed"), ("divorced", "single")]})
    found = method(lambda X: X["state"] == "widowed", actions, random_state=0).fit(PEOPLE).explain(PEOPLE.head(4))
    assert found.x["state"].fillna("").tolist() == ["", "widowed", "widowed", "widowed"]
    assert found.valid.tolist() == [False, True, True, True]
    assert actions.check(PEOPLE.head(4), found.x) == []


def test_somebody_with_no_other_switch_may_change_nothing():
    never = {"state": [("single", state) for state in STATES[1:]]}
    actions = ActionSet(PEOPLE, immutable=["income"], never=never)
    found = NearestAccepted(lambda X: X["state"] == "widowed", actions).fit(PEOPLE).explain(PEOPLE.head(1))
    assert found.status[0] == "nothing may change"


def test_the_check_names_it():
    actions = ActionSet(never={"state": [("single", "widowed")]})
    [violation] = actions.check(PEOPLE.head(2), PEOPLE.head(2).assign(state="widowed"))
    assert (violation.row, violation.column, violation.rule) == (0, "state", "never")
    assert str(violation) == "Row 0: state changed from 'single' to 'widowed', but it never may switch so."


@pytest.mark.parametrize(
    ("never", "message"),
    [
        ({"income": [(1.0, 2.0)]}, "actions.never names column 'income', which holds numbers"),
        ({"state": [("single", "windowed")]}, "actions.never['state'] has 'windowed', which no training row has"),
        ({"state": [("single", "single")]}, "must list pairs of different values"),
        ({"state": ["single"]}, "must list pairs of different values, (from, to), got 'single'"),
        ({"state": [("single", "married", "widowed")]}, "must list pairs"),
        ({"status": [("single", "married")]}, "names column 'status', which is not there"),
    ],
)
def test_what_makes_no_sense_raises(never, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        ActionSet(PEOPLE, never=never)


def test_it_reads_back_from_a_file(tmp_path):
    actions = ActionSet(PEOPLE, never={"state": [("single", "widowed"), ("married", "single")]})
    file = tmp_path / "actions.toml"
    file.write_text(actions.to_toml())
    again = ActionSet.from_toml(file, PEOPLE)
    assert again == actions
    assert again != ActionSet(PEOPLE)
    assert "never = [['single', 'widowed']" in file.read_text().replace('"', "'")
    file.write_text('[columns.state]\nnever = ["single", "widowed"]\n')
    with pytest.raises(ValueError, match="never must be a list of pairs"):
        ActionSet.from_toml(file)


def test_an_overview_says_it():
    actions = ActionSet(PEOPLE, never={"state": [("single", "widowed")]})
    assert "'divorced', 'married', 'single', 'widowed', never 'single' to 'widowed'" in str(actions)
