"""Notices in plain sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from robust_recourse.notices.notice import Change, Notice, by_person
from robust_recourse.notices.values import column_text, label_text, measured
from robust_recourse.notices.writing import PERCENT, Writer

__all__ = ["CAUTIONS", "NO_RECOURSE", "consent", "describe", "describe_all", "how", "least_share", "percent", "phrases"]

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
    "quorum out of reach": "Fewer of the retrained models accept these values than was looked for.",
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


def describe(notice: Notice) -> str:
    """Say in plain sentences what to change, what the present model says to it, and what it costs."""
    if notice.needs_nothing:
        return "Nothing needs to change: the present model accepts these values as they are."
    if notice.recommended:
        said = (
            f"{_sentence(recommendation(notice))} The present model accepts exactly these values"
            f"{consent(notice)}. {_cost(notice)}"
        )
        return said if notice.status in _WITHOUT_NOTE else f"{said} Note ({notice.status}): {notice.reason}"
    words = NO_RECOURSE.get(notice.status)
    said = f"No recourse was found: {words}." if words else "No recourse was found."
    if notice.changes:
        said += f" The best that was tried, and is refused: {recommendation(notice)}."
    return f"{said} Reason ({notice.status}): {notice.reason}"


def consent(notice: Notice) -> str:
    """Say what retrained models say, as the end of a sentence; nothing where none was asked."""
    said = ""
    if not math.isnan(notice.jury_share):
        said += f", and so do {percent(notice.jury_share, notice.locale)} of the retrained models that were asked"
    if not math.isnan(notice.survival_bound):
        least = percent(notice.survival_bound, notice.locale)
        said += f"; of those that took no part in the search at least {least} do, as far as the check can prove"
    return said


def least_share(notices: Sequence[Notice]) -> str:
    """Write the least share of the jury that accepts one of several recourses; nothing where none was asked."""
    shares = [notice.jury_share for notice in notices]
    if any(map(math.isnan, shares)):
        return ""
    return f"{'at least ' if len(shares) > 1 else ''}{percent(min(shares), notices[0].locale)}"


def percent(share: float, locale: str | None = None) -> str:
    """Write a share as a whole number of percent, never more than it is."""
    return Writer(PERCENT, locale=locale).text(math.floor(100.0 * share + 1e-9))


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
