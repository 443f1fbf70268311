"""Three hundred promises in a ledger of SQLite, under a clock that a script moves from November 2026 to June 2027: who
is promised what by two models, what a stricter model keeps and breaks, shares by group, model and month, additions to
broken promises, the thresholds that would keep shares, what becomes of promises (fulfilled, short, withdrawn, replaced,
renewed, expired, forgotten), histories, the timeline, and that all of it verifies. Hashes and codes are salted, so they
are not recorded. The engine may change costs and rows, and with them what is kept; production may change how the ledger
keeps and calls all this; neither may change who is asked about whom, nor what a day does to a promise.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from robust_recourse import ActionSet, NearestAccepted

pytest.importorskip("sqlalchemy")
from robust_recourse.ledger import Ledger, LedgerError

ADDED = 8  # broken promises whose additions are recorded
SHARES = (0.55, 0.65, 0.7, 0.8, 0.9, 0.98)
TOLD = (
    "promise",
    "status",
    "made",
    "model",
    "until",
    "note",
    "before",
    "promised",
    "changes",
    "cost",
    "bounds",
    "events",
)


class Clock:
    """A clock that stands still until it is set."""

    def on(self, day: str) -> None:
        self.now = datetime.fromisoformat(f"{day}T12:00:00+00:00")

    def __call__(self) -> datetime:
        return self.now


def observe(folder: Path) -> dict:
    """Return what the ledger says, step by step."""
    clock, table = Clock(), people()
    ledger = Ledger(folder / "promises.db", clock=clock)
    linear, tree, newer = models(table)
    actions = ActionSet(table, immutable=["region", "owner"], increase=["income"], decrease=["debt"])
    seen: dict = {}

    clock.on("2026-11-16")
    first = NearestAccepted(linear, actions, random_state=0).fit(table)
    found = first.explain(table[linear.predict(table) == 0].head(200))
    ids = [f"a{i}" for i in range(200)]
    seen["recorded"] = recorded(ledger.record(found, people=ids, model="linear", method=first, until="2027-05-31"))
    again = ledger.record(found, people=ids, model="linear", method=first, until="2027-05-31")
    seen["recorded again"] = recorded(again)

    clock.on("2026-12-03")
    second = NearestAccepted(tree, actions, random_state=0).fit(table)
    others = second.explain(table[tree.predict(table) == 0].tail(100))
    seen["recorded by a tree"] = recorded(
        ledger.record(others, people=range(100), model="tree", method=second, until="2027-01-31", note="short")
    )
    seen["refused"] = refusal(
        lambda: ledger.record(others[:1], people=["a0"], model="tree", method=second, until="2027-01-31")
    )

    clock.on("2026-12-20")
    better = found.x.iloc[1].copy()
    better["income"] += 500
    seen["fulfilled"] = {
        "exactly": fulfilment(ledger.fulfil("a0", found.x.iloc[0])),
        "further": fulfilment(ledger.fulfil("a1", better)),
        "short": fulfilment(ledger.fulfil("a2", found.x0.iloc[2])),
    }
    ledger.withdraw("a3", reason="moved abroad")
    seen["replaced"] = recorded(
        ledger.record(others[:2], people=["a4", "a5"], model="tree", method=second, until="2027-03-31", replace=True)
    )
    seen["forgotten"] = ledger.forget("a6")

    clock.on("2027-01-15")
    check = ledger.check(newer, name="newer")
    seen["check"] = checked(check)
    additions = check.additions(train=table)
    lines = additions.to_frame()
    seen["additions"] = {
        "possible": int(lines["possible"].sum()),
        "extra": lines["extra_cost"].dropna().quantile([0.0, 0.5, 1.0]).tolist(),
        "first": lines.drop(columns="addition").head(ADDED).reset_index().to_dict("records"),
    }
    seen["thresholds"] = [list(asdict(check.threshold(share, others=table)).values()) for share in SHARES]
    present = found.x0.iloc[10:60].set_axis(ids[10:60]).assign(debt=100)
    seen["on present rows"] = checked(ledger.check(newer, name="newer", current=present, dry_run=True))
    seen["renewed"] = recorded(ledger.renew(check, check.same_method(table)))
    seen["check of renewed"] = checked(ledger.check(newer, name="newer"))
    seen["counts in January"] = ledger.counts()

    clock.on("2027-01-31")
    seen["counts on the last day"] = ledger.counts()
    seen["asked on the last day"] = len(ledger.check(newer, name="newer", dry_run=True))
    clock.on("2027-02-01")
    seen["counts on the day after"] = ledger.counts()
    seen["check in February"] = checked(ledger.check(newer, name="newer", dry_run=True))
    clock.on("2027-06-01")
    last = ledger.check(tree, name="tree again")
    seen["check in June"] = [len(last), last.n_kept, *last.interval]
    seen["counts in June"] = ledger.counts()
    seen["expired"] = "".join(ledger.promises("expired").index.astype(str).str.slice(-1))
    dtypes = ledger.promises(None).dtypes
    seen["types"] = {name: str(dtype) for name, dtype in dtypes.items() if dtype.kind in "bif"}
    seen["columns"] = list(dtypes.index)
    seen["timeline"] = [{name: plain(value) for name, value in row.items()} for row in timeline(ledger)]
    names = ["a0", "a1", "a2", "a3", "a4", "7", check.broken["person"].iloc[0]]
    seen["histories"] = {name: [{key: one[key] for key in TOLD} for one in ledger.history(name)] for name in names}
    seen["nobody"] = refusal(lambda: ledger.history("a6"))
    seen["receipt"] = [ledger.receipt(2).promise["status"], ledger.receipt(2).intact]
    seen["entries"], seen["flaws"] = ledger.head.number, [str(flaw) for flaw in ledger.verify()]
    return seen


def people() -> pd.DataFrame:
    """Return applicants."""
    rng, n = np.random.default_rng(25), 900
    return pd.DataFrame(
        {
            "income": rng.integers(10, 40, n) * 100,
            "debt": rng.integers(0, 60, n) * 100,
            "job": rng.choice(["none", "part", "full"], n),
            "region": rng.choice(["north", "south"], n),
            "owner": rng.random(n) < 0.3,
        }
    )


def models(table: pd.DataFrame) -> list:
    """Return two models of this year, and a stricter one of the next."""
    score = table["income"] - 0.1 * table["debt"] + 1200 * (table["job"] == "full")
    score += np.random.default_rng(26).normal(0, 150, len(table))

    def trained(estimator, least):
        encoded = make_column_transformer(
            (OneHotEncoder(), ["job", "region", "owner"]), (StandardScaler(), ["income", "debt"])
        )
        return make_pipeline(encoded, estimator).fit(table, (score > least).astype(int))

    return [
        trained(LogisticRegression(), 3000),
        trained(DecisionTreeClassifier(max_depth=5, random_state=0), 2950),
        trained(LogisticRegression(), 3080),
    ]


def recorded(entry) -> dict:
    """Return who was promised something under which number."""
    numbers = list(entry.promises.values())
    return {
        "promises": len(numbers),
        "known": len(entry.known),
        "numbers": [numbers[0], numbers[-1]] if numbers else [],
        "people": " ".join([*entry.promises][:3]),
    }


def checked(check) -> dict:
    """Return what a model keeps, and of whom."""
    groups = {"model": check.by_model(), "month": check.by_month(), "region": check.by_group("region")}
    return {
        "promises": len(check),
        "kept": check.n_kept,
        "share": [check.share, *check.interval],
        "asked": " ".join(f"{number}{'+' if yes else '-'}" for number, yes in verdicts(check)),
        "groups": {
            name: [[str(label), int(line["kept"]), int(line["broken"]), line["low"], line["high"]]
                   for label, line in frame.iterrows()]
            for name, frame in groups.items()
        },
    }  # fmt: skip


def verdicts(check) -> list:
    """Return the numbers of all promises that were asked about, and whether each is kept."""
    return sorted([(n, True) for n in check.kept.index] + [(n, False) for n in check.broken.index])


def fulfilment(outcome) -> list:
    """Return what a person did."""
    return [
        outcome.fulfilled,
        outcome.exactly,
        list(outcome.moved),
        outcome.columns[["column", "outcome"]].to_numpy().tolist(),
    ]


def refusal(call) -> str:
    """Return the kind of error that a call raises."""
    try:
        call()
    except LedgerError as error:
        return type(error).__name__
    return "none"


def timeline(ledger) -> list:
    """Return the timeline as records."""
    frame = ledger.timeline()
    return frame.assign(month=frame.index.astype(str)).to_dict("records")


def plain(value):
    """Return a cell as JSON has it."""
    return None if pd.isna(value) else value.item() if hasattr(value, "item") else value
