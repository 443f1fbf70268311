"""A check as a page that an auditor can read: what was promised, what holds, what does not and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from robust_recourse.ledger.remedies import Additions, Threshold, verdicts_of
from robust_recourse.ledger.state import Promise
from robust_recourse.notices.reading import differs
from robust_recourse.notices.values import amount, column_text, plain, printable, text
from robust_recourse.report.page import Section, Table, page_of
from robust_recourse.result import Recourse
from robust_recourse.result.future import Share

if TYPE_CHECKING:
    from robust_recourse.ledger.check import Check

__all__ = ["check_page"]

_MOST = 200  # broken promises that the page lists
_COUNTS = ["promises", "kept", "broken"]


def check_page(
    check: Check,
    *,
    groups: Sequence[Any],
    at_least: float | None,
    additions: Additions | None,
    threshold: Threshold | None,
    title: str,
) -> str:
    """Return the page; see :meth:`robust_recourse.ledger.Check.to_html`."""
    sections = [
        _result(check, at_least),
        _promised(check),
        *_holding(check, groups),
        *_broken(check, additions),
        *_remedies(check, additions, threshold),
        _how(check),
    ]
    return page_of(
        Path(), title=title, lead=_lead(check, at_least), sections=sections, footer="Made with robust-recourse."
    )


def _lead(check: Check, at_least: float | None) -> str:
    name = printable(check.name)
    if not len(check):
        return f"There is no open promise that {name} could break."
    said = f"{name} accepts {check.n_kept:,} of {len(check):,} rows that people were promised to be accepted with."
    if at_least is None:
        return said
    kept = check.share >= at_least
    return f"{said} At least {at_least:.4g} was asked: the model {'passes' if kept else 'does not pass'}."


def _result(check: Check, at_least: float | None) -> Section:
    share, low, high = check.share, *check.interval
    tiles = [
        (f"{len(check):,}", "open promises"),
        (f"{check.n_kept:,}", "are kept"),
        (f"{check.n_broken:,}", "are broken"),
        ("\N{EN DASH}" if np.isnan(share) else f"{share:.1%}", f"kept; {low:.1%} to {high:.1%}"),
    ]
    if at_least is not None:
        tiles.append((f"{at_least:.4g}", "was asked for, at least"))
    level = f"{100.0 * check.level:.4g} %"
    notes = [f"The range is the exact interval of Clopper and Pearson at a level of {level}."]
    return Section("The result", tiles=tiles, notes=notes)


def _promised(check: Check) -> Section:
    lines: dict[tuple[Any, ...], int] = {}
    for run, n in zip(*np.unique(check.asked.runs, return_counts=True), strict=True):
        known = check.runs[int(run)]
        maker = known.facts["provenance"]
        print_of = maker["model_fingerprint"] or "not known"
        key = (printable(known.model), maker["method"], maker["version"], print_of[:12], known.until.isoformat())
        lines[key] = lines.get(key, 0) + int(n)
    names = ["model that promised", "method", "library", "fingerprint of the model", "until", "promises"]
    frame = pd.DataFrame([(*key, n) for key, n in lines.items()], columns=names)
    words = (
        "Each of these people was told: change this, and you will be accepted. The model of that time accepted the row."
    )
    return Section("What was promised", [words], table=Table(frame, "Open promises, by who made them"))


def _holding(check: Check, groups: Sequence[Any]) -> Iterator[Section]:
    tables = [
        ("by the model that promised", check.by_model()),
        ("by the month in which they were made", check.by_month()),
    ]
    tables += [(f"by {column_text(name)}", check.by_group(name)) for name in groups]
    for words, frame in tables:
        shares = [str(Share(*line)) for line in frame[["share", "low", "high"]].to_numpy(float)]
        labels = [printable(str(label)) for label in frame.index]
        shown = (
            frame[_COUNTS].assign(**{"share kept": shares}).set_axis(pd.Index(labels, name=frame.index.name), axis=0)
        )
        yield Section(f"What holds, {words}", table=Table(shown))


def _broken(check: Check, additions: Additions | None) -> Iterator[Section]:
    if not check.n_broken:
        return
    numbers = check.broken_numbers[:_MOST]
    known = check.source.promises(numbers)
    said = verdicts_of(check)
    values = np.column_stack([said["value"], said["needed"]])[: len(known)]
    more: dict[int, Recourse | None] = {}
    if additions is not None:
        wanted = zip(additions.numbers.tolist()[:_MOST], additions.found, strict=False)
        more = {number: recourse if recourse.valid else None for number, recourse in wanted}
    lines = [_line(promise, value, more) for promise, value in zip(known, values, strict=True)]
    words = [
        "The model of the time accepted each of these rows; the new one refuses it. Beside it stands the probability, "
        "or the score, that the new model gives the row, and the one that it had to reach."
    ]
    notes = [] if check.n_broken <= _MOST else [f"These are the first {_MOST} of {check.n_broken:,}."]
    caption = "Broken promises: what was asked, and what the new model says to it"
    yield Section("What does not hold, and why", words, table=Table(pd.DataFrame(lines), caption), notes=notes)


def _line(promise: Promise, value: Any, more: Mapping[int, Recourse | None]) -> dict[str, Any]:
    names, data = promise.run.columns.texts, promise.data
    asked = [(names[k], data["before"][k], data["promised"][k]) for k, _ in data["changes"]]
    line = {
        "person": printable(promise.person),
        "until": promise.run.until.isoformat(),
        "what was asked": _told(asked, data["cost"]),
        "value (needed)": f"{value[0]:.3g} ({value[1]:.3g})",
    }
    if promise.number not in more:
        return line
    added = more[promise.number]
    if added is None:
        return line | {"would be needed, too": "no change was found that is enough"}
    return line | {"would be needed, too": _told(_changes(added, names), added.cost)}


def _changes(added: Recourse, names: Sequence[str]) -> list[tuple[str, Any, Any]]:
    pairs = zip(names, list(added.x0), list(added.x), strict=True)
    return [(name, old, new) for name, old, new in pairs if differs(plain(old), plain(new))]


def _told(changes: Sequence[tuple[str, Any, Any]], cost: Any) -> str:
    said = "; ".join(f"{name}: {text(old)} \N{RIGHTWARDS ARROW} {text(new)}" for name, old, new in changes)
    return f"{printable(said) or 'nothing'} (cost {amount(float('nan') if cost is None else float(cost))})"


def _remedies(check: Check, additions: Additions | None, threshold: Threshold | None) -> Iterator[Section]:
    words = []
    if additions is not None and len(additions):
        frame = additions.to_frame()
        extra = frame["extra_cost"].dropna()
        words.append(
            f"{len(extra):,} of {len(frame):,} people whose promise is broken could be accepted with further changes"
            f"{f', at a median cost of {amount(float(extra.median()))}' if len(extra) else ''}. They were not told of "
            "these: honour what was promised, or tell them and renew the promise."
        )
    if threshold is not None:
        said = (
            f"With a threshold of {threshold.threshold:.6g} the new model keeps {threshold.share:.1%} of the promises."
        )
        if threshold.changed is not None:
            said += (
                f" That changes {threshold.changed:,} of {threshold.others:,} other decisions: "
                f"{threshold.newly_accepted:,} more would be accepted, {threshold.newly_refused:,} more refused."
            )
        words.append(said)
    if words and len(check):
        yield Section("What can be done", words)


def _how(check: Check) -> Section:
    entry = "nothing was recorded" if check.number is None else f"recorded as entry {check.number} of the ledger"
    rows = "present rows of people with the promised changes" if check.current is not None else "the promised rows"
    frame = pd.DataFrame(
        [
            ("model", printable(check.name)),
            ("asked on", check.made[:19].replace("T", " ") + " UTC"),
            ("asked about", rows),
            ("ledger", entry),
            ("verified up to", str(check.head)),
        ],
        columns=["what", "how"],
    )
    return Section("How it was checked", table=Table(frame))
