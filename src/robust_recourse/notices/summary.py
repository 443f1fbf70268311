"""The summary for those who run the model: how many, how much, and why not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import numpy as np

from robust_recourse._typing import FloatArray
from robust_recourse.notices._histogram import Histogram, histogram
from robust_recourse.notices.cells import Cell, Grid, grid
from robust_recourse.notices.notice import Notice, by_person
from robust_recourse.notices.odds import odds_text
from robust_recourse.notices.sentences import percent
from robust_recourse.notices.values import amount, column_text, label_text, printable

__all__ = ["Section", "summary"]

_EXAMPLES = 5  # labels that stand for all rows with the same reason
_MOST_COLUMNS = 20
_NONE = "\N{EN DASH}"


class Section(NamedTuple):
    """A part of the summary: numbers with what they count, a picture, a table."""

    heading: str
    table: Grid | None = None
    tiles: Sequence[tuple[str, str]] = ()
    histogram: Histogram | None = None


def summary(notices: Sequence[Notice], link: Callable[[Notice], str] | None = None) -> list[Section]:
    """Return the sections of the summary.

    Parameters
    ----------
    notices : sequence of Notice
        All of them.
    link : callable, optional
        Where a person's notice is; None: nowhere.
    """
    firsts = [options[0] for options in by_person(notices)]
    found = [notice for notice in notices if notice.recommended]
    sections = [_overview(firsts, len(found)), _statuses(firsts)]
    if found:
        sections += [_costs([notice for notice in firsts if notice.recommended]), _columns(found)]
    missing = [notice for notice in firsts if not notice.valid]
    if missing:
        sections.append(_reasons(missing))
    if notices:
        sections.append(_rows(notices, link))
    return sections


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else _NONE


def _overview(firsts: Sequence[Notice], n_found: int) -> Section:
    accepted = sum(notice.needs_nothing for notice in firsts)
    helped = sum(notice.recommended for notice in firsts)
    facts = [
        (len(firsts), "rows explained"),
        (helped, "have a recourse that the present model accepts"),
        (accepted, "are accepted as they are"),
        (len(firsts) - helped - accepted, "have none"),
    ]
    if n_found > helped:
        facts.append((n_found, "recourses in all"))
    return Section("Summary", tiles=[(f"{number:,}", words) for number, words in facts])


def _statuses(firsts: Sequence[Notice]) -> Section:
    counts = Counter(notice.status for notice in firsts)
    accepted = Counter(notice.status for notice in firsts if notice.valid)
    rows = [(status, f"{n:,}", _share(n, len(firsts)), f"{accepted[status]:,}") for status, n in counts.most_common()]
    caption = "How the searches ended, by the cheapest recourse of each row"
    return Section("Status", grid(caption, ("Status", "Rows", "Share", "Accepted"), rows, numbers=(1, 2, 3)))


def _costs(firsts: Sequence[Notice]) -> Section:
    costs: FloatArray = np.array([notice.cost for notice in firsts])
    names = ("Lowest", "Lower quarter", "Median", "Upper quarter", "Highest")
    quantiles = [amount(q) for q in np.quantile(costs, [0.0, 0.25, 0.5, 0.75, 1.0])]
    caption = f"Cost of the cheapest recourse, over {len(costs):,} {'row' if len(costs) == 1 else 'rows'}"
    spread = grid(caption, ("", *names), [("Cost", *quantiles)], numbers=range(1, 6))
    return Section("Cost", spread, histogram=histogram(costs))


def _columns(found: Sequence[Notice]) -> Section:
    changed: dict[Hashable, list[float]] = {}
    ways: Counter[tuple[Hashable, int]] = Counter()
    for notice in found:
        for change in notice.changes:
            changed.setdefault(change.column, []).append(change.cost)
            ways[change.column, change.direction] += 1
    most = sorted(changed, key=lambda column: -len(changed[column]))
    rows: list[list[str | Cell]] = [
        [
            Cell(column_text(column), foreign=True),
            f"{len(changed[column]):,}",
            _share(len(changed[column]), len(found)),
            *(f"{ways[column, way]:,}" for way in (1, -1, 0)),
            amount(float(np.median(changed[column]))),
        ]
        for column in most[:_MOST_COLUMNS]
    ]
    caption = f"What the {len(found):,} accepted recourses change"
    if len(most) > _MOST_COLUMNS:
        caption += f": the {_MOST_COLUMNS} most frequent of {len(most):,} columns"
    head = ("Column", "Recourses", "Share", "Raised", "Lowered", "Switched", "Median cost")
    return Section("Columns", grid(caption, head, rows, numbers=range(1, 7)))


def _reasons(missing: Sequence[Notice]) -> Section:
    groups: dict[tuple[str, str], list[Notice]] = {}
    for notice in missing:
        groups.setdefault((notice.status, notice.reason), []).append(notice)
    rows = []
    for (status, reason), members in sorted(groups.items(), key=lambda item: -len(item[1])):
        labels = ", ".join(label_text(notice.label) for notice in members[:_EXAMPLES])
        more = f" and {len(members) - _EXAMPLES:,} more" if len(members) > _EXAMPLES else ""
        rows.append((status, printable(reason), f"{len(members):,}", Cell(labels + more, foreign=True)))
    head = ("Status", "Reason", "Number", "Rows")
    return Section("No recourse", grid("Why rows have no recourse", head, rows, numbers=(2,)))


def _consent(notice: Notice) -> tuple[float, float]:
    return notice.jury_share, notice.survival_bound


def _rows(notices: Sequence[Notice], link: Callable[[Notice], str] | None) -> Section:
    several = any(notice.rank > 1 for notice in notices)
    known = np.array([_consent(notice) for notice in notices])
    asked = ["Of the jury", "Survival at least"][: int((~np.isnan(known)).any(axis=0).sum())]
    rows = []
    for notice in notices:
        label = Cell(label_text(notice.label), foreign=True, link="" if link is None else link(notice))
        rows.append(
            [
                label,
                *[str(notice.rank)] * several,
                "accepted" if notice.valid else "refused",
                notice.status,
                f"{len(notice.changes):,}" if notice.after is not None else _NONE,
                _NONE if np.isnan(notice.cost) else amount(notice.cost),
                odds_text(notice.worst_case_odds) or _NONE,
                *(_NONE if np.isnan(share) else percent(share) for share in _consent(notice)[: len(asked)]),
            ]
        )
    head = [
        "Row",
        *["Option"] * several,
        "Model's answer",
        "Status",
        "Changes",
        "Cost",
        "Odds of refusal in the worst case",
        *asked,
    ]
    numbers = range(3 + several, 6 + several)
    return Section("All rows", grid("Every recourse and how it was found", head, rows, numbers=numbers))
