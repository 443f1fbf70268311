"""Which searches are made for a row: few changes, and several recourses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from robust_recourse._typing import BoolArray, IntArray
from robust_recourse.methods._few_changes import few_changes
from robust_recourse.methods._space import Space
from robust_recourse.methods._tasks import run
from robust_recourse.result import Recourse

__all__ = ["plan"]

_SEARCHES = 24  # made for every further recourse of a row, at most


def plan(
    method: Any, space: Space, rows: IntArray, masks: BoolArray, n_recourses: int, deadline: float | None
) -> list[list[Recourse]]:
    """Find up to `n_recourses` recourses for every row that change different sets of columns, the cheapest first.

    The first search lets everything change that may. Every set that is found is then split: for each of its columns, a
    search in which that column keeps its value. What is found there changes another set, and the cheapest of all is the
    next recourse [1]_.

    Parameters
    ----------
    method : RecourseMethod
        The method.
    space : Space
        The table.
    rows : ndarray of int, shape (n,)
        Numbers of the rows.
    masks : ndarray of bool, shape (n, p)
        The columns that may change.
    n_recourses : int
        How many recourses at most.
    deadline : float or None
        When to stop, in seconds since the epoch.

    Returns
    -------
    list of list of Recourse
        At least one for every row; one without a point if there is no recourse. Their numbers of questions add up to
        all that were asked about the row.

    References
    ----------
    .. [1] E. L. Lawler, "A procedure for computing the K best solutions to discrete optimization problems and its
       application to the shortest path problem", Management Science 18 (1972).
    """
    first = _search(method, space, rows, masks, deadline)
    if n_recourses == 1:
        return [[recourse] for recourse in first]
    people = [_Person(row, recourse, mask) for row, recourse, mask in zip(rows, first, masks, strict=True)]
    for _ in range(n_recourses - 1):
        splits = [(person, mask) for person in people for mask in person.split(space)]
        if not splits:
            break
        others = _search(
            method,
            space,
            np.array([person.row for person, _ in splits]),
            np.array([mask for _, mask in splits]),
            deadline,
        )
        for (person, mask), recourse in zip(splits, others, strict=True):
            person.offer(space, recourse, mask)
        for person in people:
            person.choose()
    return [person.ranked() for person in people]


def _search(method: Any, space: Space, rows: IntArray, masks: BoolArray, deadline: float | None) -> list[Recourse]:
    """Find one recourse for every search, with no more changes than are allowed."""
    found = run(method, space, rows, masks, deadline)
    most = space.moves.max_changes
    return found if most is None else few_changes(method, space, rows, masks, found, most, deadline)


class _Person:
    """The recourses of one row, and those that may still be chosen."""

    def __init__(self, row: int, first: Recourse, mask: BoolArray) -> None:
        self.row, self.chosen = row, [first]
        self._last: tuple[Recourse, BoolArray] | None = (first, mask)
        self._waiting: list[tuple[Recourse, BoolArray, frozenset[int]]] = []
        self._seen: set[frozenset[int]] = set()
        self._asked = 0  # in searches whose recourses were not chosen

    def split(self, space: Space) -> list[BoolArray]:
        """Return the columns of further searches: each leaves out one that the last recourse changes."""
        if self._last is None or not self._last[0].valid:
            return []
        recourse, mask = self._last
        changed = _changed(space, self.row, recourse)
        self._seen.add(changed)
        self._last = None
        dearest = sorted(changed, key=lambda k: (-abs(recourse.x[k] - recourse.x0[k]), k))[:_SEARCHES]
        masks = []
        for k in dearest:
            without = mask.copy()
            without[k] = False
            if without.any():
                masks.append(without)
        return masks

    def offer(self, space: Space, recourse: Recourse, mask: BoolArray) -> None:
        """Remember what a search found, if it changes other columns than all before."""
        # Every search counts the question about the row itself.
        recourse = replace(recourse, n_queries=recourse.n_queries - 1)
        self._asked += recourse.n_queries
        if not recourse.valid:
            return
        changed = _changed(space, self.row, recourse)
        if changed not in self._seen:
            self._seen.add(changed)
            self._waiting.append((recourse, mask, changed))

    def choose(self) -> None:
        """Choose the cheapest that is waiting."""
        if not self._waiting:
            return
        self._waiting.sort(key=lambda entry: (entry[0].cost, sorted(entry[2])))
        recourse, mask, _ = self._waiting.pop(0)
        self._asked -= recourse.n_queries
        self.chosen.append(recourse)
        self._last = (recourse, mask)

    def ranked(self) -> list[Recourse]:
        """Return what was chosen, the cheapest first; it takes the questions of all searches in vain on itself."""
        first, *others = sorted(self.chosen, key=lambda recourse: recourse.cost)
        return [replace(first, n_queries=first.n_queries + self._asked), *others]


def _changed(space: Space, row: int, recourse: Recourse) -> frozenset[int]:
    own = space.points[space.place(np.array([row]))[0]]
    return frozenset(np.flatnonzero(recourse.x != own).tolist())
