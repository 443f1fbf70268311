"""Notices in plain sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from robust_recourse.notices.notice import Change, Notice, by_person
from robust_recourse.notices.survival import GUIDES, of_one
from robust_recourse.notices.values import column_text, label_text, measured
from robust_recourse.notices.writing import Writer

__all__ = ["CAUTIONS", "NO_RECOURSE", "describe", "describe_all", "how", "phrases"]

_WITHOUT_NOTE = {"ok", "sure", "nearest accepted row"}  # nothing to note about the change
# What the person is told; the reason of the search is for those who run it.
NO_RECOURSE: Mapping[str, str] = {
    "no favourable candidate reachable": "the model accepts none of the changes that were tried",
    "nothing may change": "none of the details that were used may change",
    "impossible": "no change that is allowed is accepted and keeps all rules: that is proven",
    "inconsistent model": "the model gave different answers to the same question",
    "refused by the model": "the model refuses the best change that the search came to",
    "no accepted point found": "the search came to no change that the model accepts",
    "none found with so few changes": "none was found with as few changes at a time as are allowed",
    "promised odds out of reach": "no change that was tried is as certain to last as was promised",
    "out of time": "the time for the search was over before it got to this one",
}
# What the person is told of a change that the model accepts, and that is not all that was looked for.
CAUTIONS: Mapping[str, str] = {
    "at the edge": (
        "These values are just enough, without a margin: a later model that differs only a little may refuse them."
    ),
    "one-class neighbourhood": "How far these values are from a refusal could not be found out.",
    "stopped early": (
        "The time for the search was over before it was finished. There may be changes that are easier or more certain "
        "to last."
    ),
    "promised odds out of reach": "No change that was tried is as certain to last as was looked for.",
    "margin out of reach": "No change that was tried is accepted as clearly as was looked for.",
    "quorum out of reach": f"Fewer of {GUIDES} accept these values than was looked for.",
    "promised survival out of reach": "These values are less certain to last than was looked for.",
}
_PLAIN = Writer()
_VERBS = {1: "raise", -1: "lower", 0: "change"}


def phrases(notice: Notice) -> list[tuple[str, ...]]:
    """Return what to change, and what follows from it, in words that alternate with what comes from the table.

    The first, third, fifth of each phrase are ours, the others are a name and values.
    """
    changes: list[tuple[str, ...]] = []
    for change in sorted(notice.changes, key=lambda change: change.follows):
        writer = notice.writer(change.column)
        before, after = writer.pair(change.before, change.after)
        if change.follows:
            changes.append(("", column_text(change.column), " then becomes ", after))
        else:
            changes.append((f"{_verb(change, writer)} ", column_text(change.column), " from ", before, " to ", after))
    return changes + [("keep everything else",)] * (len(notice.changes) < len(notice.before))


def recommendation(notice: Notice) -> str:
    """Say what to change: parts of a sentence, without capital and full stop."""
    return "; ".join("".join(phrase) for phrase in phrases(notice))


def how(change: Change, writer: Writer = _PLAIN) -> str:
    """Say how a value changes: "raise by 850 EUR", "lower", "change"."""
    if change.follows:
        return "follows from the rest"
    verb = _verb(change, writer)
    apart = writer.apart(change.before, change.after) if change.kind == "number" else ""
    return f"{verb} by {apart}" if apart else verb


def describe(notice: Notice, survival: str | None = None) -> str:
    """Say in plain sentences what to change, what the present model says to it, what survives, and what it costs.

    Parameters
    ----------
    notice : Notice
        What there is to say.
    survival : str, optional
        What was measured later, in place of what the notice knows.
    """
    survival = of_one(notice) if survival is None else survival
    if notice.needs_nothing:
        return f"Nothing needs to change: the present model accepts these values as they are. {survival}"
    if notice.recommended:
        said = (
            f"{_sentence(recommendation(notice))} The present model accepts exactly these values. {survival} "
            f"{_cost(notice)}"
        )
        return said if notice.status in _WITHOUT_NOTE else f"{said} Note ({notice.status}): {notice.reason}"
    words = NO_RECOURSE.get(notice.status)
    said = f"No recourse was found: {words}." if words else "No recourse was found."
    if notice.changes:
        said += f" The best that was tried, and is refused: {recommendation(notice)}."
    return f"{said} Reason ({notice.status}): {notice.reason}"


def describe_all(notices: Sequence[Notice]) -> str:
    """Describe every notice in a line that begins with its label."""
    lines = []
    for group in by_person(notices):
        # By their place, not their rank: of a selection some may be left out.
        for number, notice in enumerate(group, start=1):
            option = f", option {number} of {len(group)}" if len(group) > 1 else ""
            lines.append(f"{label_text(notice.label)}{option}: {describe(notice)}")
    return "\n".join(lines)


def _verb(change: Change, writer: Writer) -> str:
    return _VERBS[0 if writer.dates else change.direction]


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _cost(notice: Notice) -> str:
    if not np.isfinite(notice.cost):
        return "The cost is not known."
    told = measured(notice.cost)
    about = "" if told == notice.cost else "about "
    return f"The cost is {about}{Writer(locale=notice.locale).text(told)} {'unit' if told == 1.0 else 'units'}."
