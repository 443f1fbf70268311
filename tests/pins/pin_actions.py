"""What the judge of constraints says of 20,000 random changes under five action sets (bounds, steps, directions, rules,
links, effects, categories, gaps; with training rows, without, and of an array), and which key and column the message of
each of forty wrong action files names. Tables may rename the judge, its kinds of violation and the words of messages,
and may name more in a message than today; which changes are broken, and that a wrong file is refused, stays.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tests.pins.pinning import digest

from robust_recourse import ActionSet

EACH = 4000
"""Changes under every action set."""
SCHOOLS = ["none", "primary", "high", "college"]
YEARS = {"none": 0, "primary": 6, "high": 12, "college": 16}


def observe(folder: Path) -> Any:
    """Return counts of violations, digests of whole answers, and what messages about files name."""
    people, trained = table(), training()
    judged = {
        name: _judged(actions, people, changed(people, seed)) for seed, (name, actions) in enumerate(_sets(trained))
    }
    judged["of an array"] = _judged_array()
    return {"changes": judged, "wrong files": dict(_files(folder, trained))}


def table(n: int = EACH, seed: int = 0) -> pd.DataFrame:
    """Return people of all kinds of columns."""
    rng = np.random.default_rng(seed)
    schools = rng.choice(SCHOOLS, n)
    limit = 100.0 * rng.integers(5, 60, n)
    frame = pd.DataFrame(
        {
            "amount": 50 * rng.integers(5, 400, n),
            "rate": rng.integers(2, 50, n) / 200,
            "savings": rng.integers(0, 90000, n) / 10,
            "income": rng.integers(100000, 900000, n) / 100,
            "used": np.round(limit * rng.random(n), 2),
            "limit": limit,
            "debts": pd.array(rng.integers(0, 9, n), dtype="Int64"),
            "age": rng.integers(18, 80, n),
            "school": schools,
            "years": [YEARS[school] for school in schools],
            "job": rng.choice(["clerk", "cook", "driver", "nurse"], n),
            "state": pd.Categorical(rng.choice(["single", "married", "divorced"], n)),
            "owns": rng.random(n) < 0.4,
            "sex": rng.choice(["f", "m"], n),
        },
        index=[f"p{k}" for k in range(n)],
    )
    frame.loc[rng.random(n) < 0.1, "debts"] = pd.NA
    frame.loc[rng.random(n) < 0.1, "savings"] = np.nan
    return frame


def training() -> pd.DataFrame:
    """Return a table that action sets learn from."""
    return table(300, seed=1)


def changed(before: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return the table with up to three columns of each row changed, for better or worse."""
    rng = np.random.default_rng([seed, len(before)])
    n = len(before)
    picked = np.argsort(rng.random(before.shape), axis=1) < rng.integers(0, 4, n)[:, None]
    after = before.astype({"amount": float, "age": float})
    numbers = {"amount": 50, "rate": 0.005, "savings": 0.1, "income": 0.01, "used": 0.01, "limit": 100, "age": 1}
    others = {
        "school": [*SCHOOLS, "doctor"],
        "years": list(YEARS.values()),
        "job": ["clerk", "cook", "driver", "nurse", "pilot", None],
        "state": ["single", "married", "divorced"],
        "owns": [False, True],
        "sex": ["f", "m"],
        "debts": [*range(-1, 9), pd.NA],
    }
    for k, column in enumerate(before.columns):
        rows = picked[:, k]
        if column in numbers:
            new = _moved(after[column].to_numpy(), numbers[column], rng)
        else:
            new = pd.array(others[column], dtype=before[column].dtype).take(rng.integers(0, len(others[column]), n))
        after[column] = after[column].where(~rows, pd.Series(new, index=after.index))
    followers = picked[:, before.columns.get_loc("school")] & (rng.random(n) < 0.7)
    following = after["school"].map(YEARS).fillna(16).astype(int)
    after["years"] = after["years"].where(~followers, following)
    return after


def _moved(old: np.ndarray, step: float, rng: np.random.Generator) -> np.ndarray:
    """Return other numbers: on the grid and beside it, near and far, and none."""
    decimals = max(0, len(f"{step:.10f}".rstrip("0").split(".")[1]))
    steps = rng.integers(-40, 41, len(old))
    near = np.round((np.round(np.nan_to_num(old) / step) + steps) * step, decimals)
    how = rng.integers(0, 21, len(old))
    beside = near + step * rng.random(len(old))
    conditions = [how < 14, how < 17, how == 17, how == 18, how == 19]
    return np.select(conditions, [near, beside, 100.0 * near, -near - step, np.full(len(old), np.inf)], np.nan)


def _sets(trained: pd.DataFrame) -> Iterator[tuple[str, ActionSet]]:
    """Yield action sets for the tables."""
    plain = {
        "immutable": ["sex", "state"],
        "increase": ["age", "owns"],
        "decrease": ["debts"],
        "bounds": {"amount": (500, 15000), "rate": (0.02, None), "income": (None, 8000)},
        "integer": ["age"],
        "step": {"amount": 50, "rate": 0.005},
        "categories": {"job": ["clerk", "cook", "nurse"]},
    }
    yield "without training rows", ActionSet(**plain, never={"school": [("high", "none"), ("college", "none")]})
    yield "with training rows", ActionSet(trained, **plain)
    yield (
        "following",
        ActionSet(
            trained,
            ordered={"school": SCHOOLS},
            increase=["school", "savings"],
            link={"years": "school"},
            effects={"savings": {"income": 0.1}, "limit": {"used": -0.01}},
            bounds={"used": (0, 5000), "savings": (None, 8000)},
            never={"state": [("married", "single"), ("divorced", "single")]},
            max_changes=2,
        ),
    )
    rules = ["used <= limit", "2 * amount + 10 * income >= 12 * savings", "limit <= 6000"]
    yield "inequalities", ActionSet(trained, rules=rules, immutable=["limit"], max_changes=1)


def _judged(actions: ActionSet, before: Any, after: Any) -> dict[str, Any]:
    """Return what is broken how often, and a digest of every violation; its message is not part of it."""
    found = [(str(each.row), str(each.column), each.rule) for each in actions.check(before, after)]
    counts = Counter(f"{rule}: {column}" for _, column, rule in found)
    return {
        "rows broken": len({row for row, _, _ in found}),
        "violations": dict(sorted(counts.items())),
        "all of them": digest(*map(repr, found), prefix="answers:"),
    }


def _judged_array() -> dict[str, Any]:
    rng = np.random.default_rng(5)
    before = rng.integers(-20, 21, (EACH, 5)) / 4
    after = np.where(rng.random(before.shape) < 0.3, before + rng.integers(-9, 10, before.shape) / 8, before)
    actions = ActionSet(
        immutable=[0],
        increase=[1],
        bounds={2: (-3, 3.5)},
        step={3: 0.25},
        effects={1: {4: 0.5}},
        max_changes=2,
        rules=["x1 + x2 <= 6", "x3 >= -4.5"],
    )
    return _judged(actions, before, after)


WRONG = (
    "[columns.amount]\nimutable = true",
    "[columns.amount]\nbounds = [1, 2]",
    "[columns.amount]\nincrease = true",
    "[amount]\nmin = 1",
    "[columns.credit.history]\nmin = 1",
    "max_change = 3",
    "max_changes = 2.5",
    "max_changes = 0",
    'rules = "used <= limit"',
    'rules = ["used * limit <= 1"]',
    'rules = ["used <= height"]',
    'rules = ["used <= job"]',
    "columns = 3",
    "[columns]\namount = 3",
    '[columns.sex]\nimmutable = "yes"',
    '[columns.amount]\ndirection = "left"',
    '[columns.amount]\nmin = "3"',
    "[columns.amount]\nmax = true",
    "[columns.amount]\nmin = nan",
    "[columns.amount]\nmin = 3\nmax = 2",
    "[columns.amount]\nstep = -1",
    "[columns.amount]\nstep = 0.3",
    "[columns.amount]\nweight = 0",
    '[columns.job]\ncategories = "cook"',
    "[columns.job]\ncategories = []",
    '[columns.job]\ncategories = ["pilot"]',
    "[columns.job]\nmin = 3",
    '[columns.job]\ndirection = "up"',
    '[columns.school]\nordered = ["none", "high"]',
    '[columns.school]\nordered = ["none", "high"]\ncategories = ["none"]',
    '[columns.state]\nnever = [["married", "widowed"]]',
    '[columns.years]\nfollows = "education"',
    '[columns.age]\nfollows = "school"',
    '[columns.years]\npairs = [["none", 0]]',
    "[columns.savings]\neffects = { job = 0.1 }",
    '[columns.savings]\neffects = { income = "0.1" }',
    '[columns.amount]\ncost = "percent"',
    "[columns.amount]\ncost = [[0, 1], [900, 0]]",
    "[columns.height]\nmin = 3",
    "[positions.amount]\nmin = 3",
    "[columns.amount]\nunit = 3",
    '[columns.sex]\nimmutable = true\ndirection = "up"',
    "[columns.amount\nmin = 3",
    "[columns.amount]\n[columns.amount]",
)


def _files(folder: Path, trained: pd.DataFrame) -> Iterator[tuple[str, Any]]:
    """Yield wrong files with the error, and which of their own keys and columns the message names."""
    path = folder / "actions.toml"
    for text in WRONG:
        path.write_text(text, encoding="utf-8")
        try:
            ActionSet.from_toml(path, trained)
        except Exception as error:
            own = re.findall(r"[\w.]+", text)
            keys = re.findall(r"(?m)^(\w+) =", text)
            message = str(error).replace(str(path), "FILE")
            said = set(re.findall(r"\w+", message))
            yield (
                text,
                {
                    "error": type(error).__name__,
                    "names the file": "FILE" in message,
                    "lines": len(message.splitlines()),
                    "keys": [key for key in keys if key in said],
                    "columns": [column for column in _columns(own, trained) if column in said],
                },
            )
        else:
            yield text, "accepted"


def _columns(words: list[str], trained: pd.DataFrame) -> list[str]:
    """Return the columns that a file is about, also those that are not there."""
    named = [part for word in words for part in word.split(".")]
    return [word for word in dict.fromkeys(named) if word in {*trained.columns, "height", "education", "credit"}]
