"""Which columns follow others, and in what order that is settled."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robust_recourse.actions.column_rule import ColumnRule

__all__ = ["following"]


def following(rules: Iterable[ColumnRule]) -> dict[Hashable, list[Hashable]]:
    """Return what follows from what: every column that others move, and these, in an order in which all is known.

    Raises
    ------
    ValueError
        If columns follow each other in a circle, or one is linked and moved by an effect.
    """
    moved: dict[Hashable, list[Hashable]] = {}
    for rule in rules:
        for target in rule.effects or ():
            moved.setdefault(target, []).append(rule.column)
    for rule in rules:
        if rule.link is None:
            continue
        if rule.column in moved:
            raise ValueError(
                f"actions: column {rule.column!r} follows {rule.link[0]!r} by link, and effects of "
                f"{moved[rule.column][0]!r} move it too. Leave one of them out."
            )
        moved[rule.column] = [rule.link[0]]
    try:
        order = list(TopologicalSorter(moved).static_order())
    except CycleError as error:
        circle = ", ".join(map(repr, reversed(error.args[1])))
        raise ValueError(f"actions: link and effects lead in a circle: {circle}. Leave one of them out.") from error
    return {column: moved[column] for column in order if column in moved}
