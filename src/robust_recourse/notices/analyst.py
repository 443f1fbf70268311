"""The summary for those who run the model: how many, how much, and why not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence

import numpy as np

from robust_recourse._typing import FloatArray
from robust_recourse.notices._histogram import histogram
from robust_recourse.notices._markup import Markup, element, table, value
from robust_recourse.notices.notice import Notice, by_person
from robust_recourse.notices.values import amount, column_text, label_text, printable

__all__ = ["analyst"]

_EXAMPLES = 5  # labels that stand for all rows with the same reason
_MOST_COLUMNS = 20
_NONE = "\N{EN DASH}"


def analyst(notices: Sequence[Notice], link: Callable[[Notice], str] | None = None) -> list[Markup]:
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


def _section(heading: str, *parts: Markup) -> Markup:
    return element("section", element("h2", heading, class_="head"), *parts)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else _NONE


def _overview(firsts: Sequence[Notice], n_found: int) -> Markup:
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
    tiles = [element("li", element("b", f"{number:,}"), words) for number, words in facts]
    return _section("Summary", element("ul", *tiles, class_="tiles"))


def _statuses(firsts: Sequence[Notice]) -> Markup:
    counts = Counter(notice.status for notice in firsts)
    accepted = Counter(notice.status for notice in firsts if notice.valid)
    rows = [(status, f"{n:,}", _share(n, len(firsts)), f"{accepted[status]:,}") for status, n in counts.most_common()]
    caption = "How the searches ended, by the cheapest recourse of each row"
    return _section("Status", table(caption, ("Status", "Rows", "Share", "Accepted"), rows, numbers=(1, 2, 3)))


def _costs(firsts: Sequence[Notice]) -> Markup:
    costs: FloatArray = np.array([notice.cost for notice in firsts])
    names = ("Lowest", "Lower quarter", "Median", "Upper quarter", "Highest")
    quantiles = [amount(q) for q in np.quantile(costs, [0.0, 0.25, 0.5, 0.75, 1.0])]
    caption = f"Cost of the cheapest recourse, over {len(costs):,} {'row' if len(costs) == 1 else 'rows'}"
    spread = table(caption, ("", *names), [("Cost", *quantiles)], numbers=range(1, 6))
    return _section("Cost", histogram(costs), spread)


def _columns(found: Sequence[Notice]) -> Markup:
    changed: dict[Hashable, list[float]] = {}
    ways: Counter[tuple[Hashable, int]] = Counter()
    for notice in found:
        for change in notice.changes:
            changed.setdefault(change.column, []).append(change.cost)
            ways[change.column, change.direction] += 1
    most = sorted(changed, key=lambda column: -len(changed[column]))
    rows = [
        (
            value(column_text(column)),
            f"{len(changed[column]):,}",
            _share(len(changed[column]), len(found)),
            *(f"{ways[column, way]:,}" for way in (1, -1, 0)),
            amount(float(np.median(changed[column]))),
        )
        for column in most[:_MOST_COLUMNS]
    ]
    caption = f"What the {len(found):,} accepted recourses change"
    if len(most) > _MOST_COLUMNS:
        caption += f": the {_MOST_COLUMNS} most frequent of {len(most):,} columns"
    head = ("Column", "Recourses", "Share", "Raised", "Lowered", "Switched", "Median cost")
    return _section("Columns", table(caption, head, rows, numbers=range(1, 7)))


def _reasons(missing: Sequence[Notice]) -> Markup:
    groups: dict[tuple[str, str], list[Notice]] = {}
    for notice in missing:
        groups.setdefault((notice.status, notice.reason), []).append(notice)
    rows = []
    for (status, reason), members in sorted(groups.items(), key=lambda item: -len(item[1])):
        labels = ", ".join(label_text(notice.label) for notice in members[:_EXAMPLES])
        more = f" and {len(members) - _EXAMPLES:,} more" if len(members) > _EXAMPLES else ""
        rows.append((status, printable(reason), f"{len(members):,}", value(labels + more)))
    head = ("Status", "Reason", "Number", "Rows")
    return _section("No recourse", table("Why rows have no recourse", head, rows, numbers=(2,)))


def _rows(notices: Sequence[Notice], link: Callable[[Notice], str] | None) -> Markup:
    several = any(notice.rank > 1 for notice in notices)
    rows = []
    for notice in notices:
        label = value(label_text(notice.label))
        cells = [label if link is None else element("a", label, href=link(notice))]
        cells += [Markup(str(notice.rank))] * several
        measures = (notice.cost, notice.worst_case_odds)
        costs = [_NONE if np.isnan(number) else amount(number) for number in measures]
        changes = f"{len(notice.changes):,}" if notice.after is not None else _NONE
        rows.append([*cells, "accepted" if notice.valid else "refused", notice.status, changes, *costs])
    head = ["Row", *["Option"] * several, "Model's answer", "Status", "Changes", "Cost", "Worst-case odds"]
    numbers = range(3 + several, 6 + several)
    return _section("All rows", table("Every recourse and how it was found", head, rows, numbers=numbers))
