"""What is promised about columns that follow others, on random tables, models and action sets.

The judge below knows the user's words and Python's arithmetic, and none of the library's code.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from robust_recourse import ROAR, ActionSet, BayesianRecourse, NearestAccepted, RobustBayesianRecourse, Wachter

pytestmark = [
    pytest.mark.slow,
    # Random models may follow one column.
    pytest.mark.filterwarnings("ignore:Column .* alone tells whom the model accepts"),
]

METHODS = {
    "RBR": lambda model, actions: RobustBayesianRecourse(model, actions, n_samples=30, random_state=0),
    "Bayesian": lambda model, actions: BayesianRecourse(model, actions, n_samples=30, random_state=0),
    "Wachter": lambda model, actions: Wachter(model, actions, max_halvings=12, max_iter=25),
    "ROAR": lambda model, actions: ROAR(model, actions, n_samples=60, random_state=0),
    "nearest": lambda model, actions: NearestAccepted(model, actions),
}
NUMBERS = ["code", "a", "b", "c"]
GROUPS = ["p", "q", "r", "s"]


def number(kind, n, rng):
    match kind:
        case "cents":
            return np.round(rng.gamma(2.0, 300.0, n), 2)
        case "whole":
            return rng.integers(-40, 60, n)
        case "single":
            return rng.normal(0.0, 3.0, n).astype(np.float32)
        case "gaps":
            return np.where(rng.random(n) < 0.2, np.nan, np.round(rng.normal(50.0, 20.0, n), 1))
    return rng.normal(0.0, 1.0, n)


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    n = 60
    group = rng.choice(GROUPS[: draw(st.integers(2, 4))], n)
    codes = dict(zip(GROUPS, rng.permutation([3, 7, 7, 12]), strict=True))
    kinds = st.sampled_from(["cents", "whole", "single", "gaps", "float"])
    frame = pd.DataFrame({"group": group, "code": [codes[g] for g in group]})
    frame["level"] = frame["code"].map({3: "low", 7: "middle", 12: "high"})
    for name in "abc":
        frame[name] = number(draw(kinds), n, rng)
    return frame


@st.composite
def action_sets(draw, frame):
    words = {"link": {"code": "group"}, "effects": {}, "immutable": [], "increase": [], "bounds": {}}
    if draw(st.booleans()):
        words["link"]["level"] = "code"  # a chain
    order = ["code", *draw(st.permutations(["a", "b", "c"]))]
    for i, source in enumerate(order):
        for target in order[max(i + 1, 1) :]:
            if draw(st.booleans()):
                rate = draw(st.sampled_from([-1.5, -0.3, 0.1, 0.25, 1.0]))
                words["effects"].setdefault(source, {})[target] = rate
    for name in ("a", "b", "c"):
        word = draw(st.sampled_from(["immutable", "increase", None, None]))
        if word:
            words[word].append(name)
        if draw(st.integers(0, 3)) == 0:
            words["bounds"][name] = tuple(map(float, frame[name].quantile([0.02, 0.98])))
    if draw(st.booleans()):
        known = sorted(set(frame["group"]))
        pairs = [(one, other) for one in known for other in known if one != other]
        words["never"] = {"group": draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=3, unique=True))}
    if draw(st.integers(0, 2)) == 0:
        words["rules"] = [f"a <= b + {float(np.nanquantile(frame['a'] - frame['b'], 0.9)):.2f}"]
    words["cost"] = draw(st.sampled_from([None, None, "percentile"]))
    words["max_changes"] = draw(st.sampled_from([None, None, 1, 2]))
    return words


class Remembers:
    """Accepts the better part by a sum, and remembers every row it was asked about."""

    def __init__(self, frame, rng):
        self.asked = set()
        self._weights = rng.normal(0.0, 1.0, 5)
        self._scale = [frame[name].std() or 1.0 for name in NUMBERS]
        self._bar = 0.0
        self._bar = float(np.quantile(self.score(frame), 0.6))

    def score(self, X):
        total = self._weights[4] * (X["level"] == "high").to_numpy(dtype=float)
        for name, weight, scale in zip(NUMBERS, self._weights[:4], self._scale, strict=True):
            total = total + weight * X[name].fillna(0.0).to_numpy(dtype=float) / scale
        return total - self._bar

    def __call__(self, X):
        self.asked.update(map(repr, plain(X)))
        return 1.0 / (1.0 + np.exp(-np.clip(self.score(X), -30.0, 30.0)))


def plain(frame):
    rows = zip(*(frame[name].tolist() for name in frame.columns), strict=True)
    return [
        tuple("gap" if pd.isna(cell) else cell if isinstance(cell, str) else float(cell) for cell in row)
        for row in rows
    ]


def unit_of(values):
    known = values.dropna().astype(float).to_numpy()
    low, high = np.quantile(known, [0.25, 0.75])
    middle = (high - low) / 1.349
    return min(middle, known.std()) if middle > 0 else known.std()


class Judge:
    """Says what is wrong with a recourse, from the words alone."""

    def __init__(self, frame, words):
        self.frame, self.words = frame, words
        self.codes = dict(zip(frame["group"], frame["code"], strict=True))
        self.levels = dict(zip(frame["code"], frame["level"], strict=True))
        self.units = {name: unit_of(frame[name]) for name in NUMBERS}

    def shift(self, name, before, after):
        """By how much others move a number."""
        return sum(
            moved[name] * (after[source] - before[source])
            for source, moved in self.words["effects"].items()
            if name in moved and not pd.isna(before[source])
        )

    def effort(self, name, value):
        """Where a number is, as costs go."""
        if self.words["cost"] is None:
            return value / self.units[name]
        known = np.sort(self.frame[name].dropna().to_numpy(dtype=float))
        shares = [np.mean(known < seen) + np.mean(known == seen) / 2 for seen in np.unique(known)]
        inside = np.interp(value, np.unique(known), shares)
        ends = [np.mean(known == known[0]) / 2, 1.0 - np.mean(known == known[-1]) / 2]
        slope = (ends[1] - ends[0]) / (known[-1] - known[0])
        return inside + slope * (min(value - known[0], 0.0) + max(value - known[-1], 0.0))

    def near(self, name):
        """How far rounding to the grid of a column may go."""
        dtype, values = self.frame[name].dtype, self.frame[name].dropna().to_numpy()
        for digits in range(-3, 5):
            if (np.round(values, digits) == values).all():
                return 0.5 * 10.0**-digits * 1.001
        return 1e-5 if dtype == np.float32 else 1e-9

    def faults(self, before, after, cost):
        words, paid, done = self.words, 0.0, []
        if after["group"] != before["group"]:
            paid += 1.0
            done.append("group")
            if (before["group"], after["group"]) in words.get("never", {}).get("group", []):
                yield "a switch that is forbidden"
        code = self.codes[after["group"]] if after["group"] != before["group"] else before["code"]
        if after["code"] != code:
            yield f"code is {after['code']} and not {code}"
        if "level" in words["link"]:
            level = self.levels[after["code"]] if after["code"] != before["code"] else before["level"]
            if after["level"] != level:
                yield f"level is {after['level']} and not {level}"
        elif after["level"] != before["level"]:
            paid += 1.0
            done.append("level")
        slack = 1e-9
        for name in ("a", "b", "c"):
            if pd.isna(before[name]):
                if not pd.isna(after[name]):
                    yield f"{name} was missing"
                continue
            own, new, shift = float(before[name]), float(after[name]), self.shift(name, before, after)
            near = self.near(name) if shift else 0.0
            tiny = near + 1e-9 * max(1.0, abs(own), abs(shift))
            act = new - own - shift
            costs = [abs(self.effort(name, own + act + far) - self.effort(name, own)) for far in (-tiny, 0.0, tiny)]
            paid += costs[1] if abs(act) > tiny else 0.0
            slack += max(costs) - min(costs) + costs[1] * (abs(act) <= tiny)
            if abs(act) > tiny:
                done.append(name)
                if name in words["immutable"]:
                    yield f"{name} never may change, but did by {act}"
                if name in words["increase"] and act < 0:
                    yield f"{name} fell by {act}"
            if name in words["bounds"] and new != own:
                low, high = words["bounds"][name]
                if not low <= new <= high:
                    yield f"{name} is out of bounds: {new}"
        if len(done) > (words.get("max_changes") or math.inf):
            yield f"{done} changed"
        if not paid - slack <= cost <= paid + slack:
            yield f"it costs {paid} and not {cost}"
        # A column with one value never changes, and moves nothing.
        moved = {t for source, targets in words["effects"].items() if len(set(self.frame[source])) > 1 for t in targets}
        for rule in words.get("rules", ()) if {"a", "b"} - ({*words["immutable"]} - moved) else ():
            if not pd.isna(after["a"] + after["b"]) and not eval(rule, {}, {"a": after["a"], "b": after["b"]}):
                yield f"{rule} is broken"


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
@pytest.mark.parametrize("method", METHODS)
def test_consequences_are_exact_and_only_what_is_done_is_paid(method, data):
    frame = data.draw(tables())
    words = data.draw(action_sets(frame))
    model = Remembers(frame, np.random.default_rng(data.draw(st.integers(0, 2**20))))
    actions = ActionSet(frame, **words)
    refused = frame[model(frame) < 0.5].head(6)
    assume(len(refused))
    fitted = METHODS[method](model, actions).fit(frame)
    model.asked.clear()
    found = fitted.explain(refused)
    judge, exists = Judge(frame, words), np.isfinite(found.cost)
    assert actions.check(refused, found.x) == []
    told = found.x[exists].astype(frame.dtypes.to_dict())
    assert set(map(repr, plain(told[found.valid[exists]]))) <= model.asked
    assert ((model(told) >= 0.5) == found.valid[exists]).all() if len(told) else True
    np.testing.assert_allclose(found.column_costs[exists].sum(axis=1), found.cost[exists], rtol=1e-6, atol=1e-9)
    before, after = refused.to_dict("records"), found.x.to_dict("records")
    for i in np.flatnonzero(exists):
        assert list(judge.faults(before[found.person[i]], after[i], found.cost[i])) == []
