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
from robust_recourse.notices.survival import GUIDES, of_all, percent
from robust_recourse.notices.values import column_text, label_text, measured, printable
from robust_recourse.notices.writing import PERCENT, Writer

__all__ = ["Section", "summary"]

_EXAMPLES = 5  # labels that stand for all rows with the same reason
_MOST_COLUMNS = 20
_NONE = "\N{EN DASH}"


class Section(NamedTuple):
    """A part of the summary: numbers with what they count, a picture, a table, sentences."""

    heading: str
    table: Grid | None = None
    tiles: Sequence[tuple[str, str]] = ()
    histogram: Histogram | None = None
    notes: Sequence[str] = ()


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
    writer = Writer(locale=notices[0].locale if notices else None)
    sections = [_overview(firsts, len(found), writer), *_survival(notices), _statuses(firsts, writer)]
    if found:
        sections += [_costs([notice for notice in firsts if notice.recommended], writer), _columns(found, writer)]
    missing = [notice for notice in firsts if not notice.valid]
    if missing:
        sections.append(_reasons(missing, writer))
    if notices:
        sections.append(_rows(notices, link, writer))
    return sections


def _share(part: int, whole: int, writer: Writer) -> str:
    return Writer(PERCENT, locale=writer.locale).text(round(100.0 * part / whole, 1)) if whole else _NONE


def _overview(firsts: Sequence[Notice], n_found: int, writer: Writer) -> Section:
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
    return Section("Summary", tiles=[(writer.text(number), words) for number, words in facts])


def _survival(notices: Sequence[Notice]) -> list[Section]:
    """Say how far all that is recommended was measured, whether it is a person's first option or not."""
    valid = np.array([notice.valid for notice in notices], dtype=bool)
    bounds = np.array([notice.survival_bound for notice in notices])
    confidences = {notice.confidence for notice in notices if not np.isnan(notice.survival_bound)}
    confidence = confidences.pop() if len(confidences) == 1 else np.nan
    said = of_all(valid, bounds, confidence, notices[0].locale if notices else None)
    return [Section("Survival", notes=[said])] if said else []


def _statuses(firsts: Sequence[Notice], writer: Writer) -> Section:
    counts = Counter(notice.status for notice in firsts)
    accepted = Counter(notice.status for notice in firsts if notice.valid)
    rows = [
        (status, writer.text(n), _share(n, len(firsts), writer), writer.text(accepted[status]))
        for status, n in counts.most_common()
    ]
    caption = "How the searches ended, by the cheapest recourse of each row"
    return Section("Status", grid(caption, ("Status", "Rows", "Share", "Accepted"), rows, numbers=(1, 2, 3)))


def _costs(firsts: Sequence[Notice], writer: Writer) -> Section:
    costs: FloatArray = np.array([notice.cost for notice in firsts])
    names = ("Lowest", "Lower quarter", "Median", "Upper quarter", "Highest")
    quantiles = [writer.text(measured(float(q))) for q in np.quantile(costs, [0.0, 0.25, 0.5, 0.75, 1.0])]
    caption = f"Cost of the cheapest recourse, over {writer.text(len(costs))} {'row' if len(costs) == 1 else 'rows'}"
    spread = grid(caption, ("", *names), [("Cost", *quantiles)], numbers=range(1, 6))
    return Section("Cost", spread, histogram=histogram(costs, writer))


def _columns(found: Sequence[Notice], writer: Writer) -> Section:
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
            writer.text(len(changed[column])),
            _share(len(changed[column]), len(found), writer),
            *(writer.text(ways[column, way]) for way in (1, -1, 0)),
            writer.text(measured(float(np.median(changed[column])))),
        ]
        for column in most[:_MOST_COLUMNS]
    ]
    caption = f"What the {writer.text(len(found))} accepted recourses change"
    if len(most) > _MOST_COLUMNS:
        caption += f": the {_MOST_COLUMNS} most frequent of {writer.text(len(most))} columns"
    head = ("Column", "Recourses", "Share", "Raised", "Lowered", "Switched", "Median cost")
    return Section("Columns", grid(caption, head, rows, numbers=range(1, 7)))


def _reasons(missing: Sequence[Notice], writer: Writer) -> Section:
    groups: dict[tuple[str, str], list[Notice]] = {}
    for notice in missing:
        groups.setdefault((notice.status, notice.reason), []).append(notice)
    rows = []
    for (status, reason), members in sorted(groups.items(), key=lambda item: -len(item[1])):
        labels = ", ".join(label_text(notice.label) for notice in members[:_EXAMPLES])
        more = f" and {writer.text(len(members) - _EXAMPLES)} more" if len(members) > _EXAMPLES else ""
        rows.append((status, printable(reason), writer.text(len(members)), Cell(labels + more, foreign=True)))
    head = ("Status", "Reason", "Number", "Rows")
    return Section("No recourse", grid("Why rows have no recourse", head, rows, numbers=(2,)))


def _consent(notice: Notice) -> tuple[float, float]:
    return notice.jury_share, notice.survival_bound


def _rows(notices: Sequence[Notice], link: Callable[[Notice], str] | None, writer: Writer) -> Section:
    several = any(notice.rank > 1 for notice in notices)
    known = np.array([_consent(notice) for notice in notices])
    asked = [f"Of {GUIDES}", "Survival at least"][: int((~np.isnan(known)).any(axis=0).sum())]
    rows = []
    for notice in notices:
        label = Cell(label_text(notice.label), foreign=True, link="" if link is None else link(notice))
        rows.append(
            [
                label,
                *[str(notice.rank)] * several,
                "accepted" if notice.valid else "refused",
                notice.status,
                writer.text(len(notice.changes)) if notice.after is not None else _NONE,
                _NONE if np.isnan(notice.cost) else writer.text(measured(notice.cost)),
                odds_text(notice.worst_case_odds, writer.locale) or _NONE,
                *(
                    _NONE if np.isnan(share) else percent(share, writer.locale)
                    for share in _consent(notice)[: len(asked)]
                ),
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
