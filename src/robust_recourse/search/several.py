"""Several recourses for a person, which change different columns."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from robust_recourse._typing import BoolArray, IntArray
from robust_recourse.result.answer import Answer
from robust_recourse.result.status import Status
from robust_recourse.search.deadline import Deadline, is_timed
from robust_recourse.search.few_changes import few_changes
from robust_recourse.search.method import Method
from robust_recourse.search.run import run
from robust_recourse.search.space import Space

__all__ = ["several"]

_SEARCHES = 24  # made for every further recourse of a person, at most
_NUMBERS = 2**22  # in the points with fewer changes that are held together
_LIMITED = 16  # people of a group who are searched for, and get fewer changes, together if there is a time limit
_GROUPS = 3  # at least, if there is one
_ROUNDS = 2  # of searches for every further recourse: some find nothing but more of the same changes
_NOT_ALL = " The time limit passed before all further recourses of this row were searched for."


def several(
    method: Method,
    space: Space,
    people: IntArray,
    masks: BoolArray,
    n_recourses: int,
    deadline: Deadline | None,
    n_wanted: int | None = None,
) -> list[list[Answer]]:
    """Find up to `n_recourses` recourses for every person that change different sets of columns, the cheapest first.

    The first search lets everything change that may. Every set that is found is then split: for each of its columns, a
    search in which that column keeps its value. What is found there changes another set, and the cheapest of all is the
    next recourse [1]_, unless it changes all that a cheaper one changes and more. What the first search found, the
    answer to a single recourse, is always among them.

    Parameters
    ----------
    method : Method
        The method.
    space : Space
        The table.
    people : ndarray of int, shape (n,)
        Who is searched for.
    masks : ndarray of bool, shape (n, p)
        The columns that may change.
    n_recourses : int
        How many recourses at most.
    deadline : Deadline or None
        When to stop.
    n_wanted : int, optional
        How many somebody waits for, if these are fewer: who has as many is not told that there was no time for more.

    Returns
    -------
    list of list of Answer
        At least one for every person; one without a point if there is no recourse. Their numbers of questions add up to
        all that were asked about the person.

    References
    ----------
    .. [1] E. L. Lawler, "A procedure for computing the K best solutions to discrete optimization problems and its
       application to the shortest path problem", Management Science 18 (1972).
    """
    first = _search(method, space, people, masks, deadline)
    if n_recourses == 1:
        return [[recourse] for recourse in first]
    known = [_Person(space, *found) for found in zip(people.tolist(), first, masks, strict=True)]
    for _ in range(_ROUNDS * (n_recourses - 1)):
        wanting = [person for person in known if len(person.chosen) < n_recourses]
        splits = [(person, mask) for person in wanting for mask in person.split()]
        if not splits and not any(person.waiting for person in wanting):
            break
        searched = np.array([person.number for person, _ in splits], dtype=np.int64)
        columns = np.array([mask for _, mask in splits], dtype=bool).reshape(len(splits), masks.shape[1])
        others = _search(method, space, searched, columns, deadline)
        for (person, mask), recourse in zip(splits, others, strict=True):
            person.offer(recourse, mask)
        for person in wanting:
            person.choose()
    return [person.ranked(n_recourses if n_wanted is None else n_wanted) for person in known]


def _search(
    method: Method, space: Space, people: IntArray, masks: BoolArray, deadline: Deadline | None
) -> list[Answer]:
    """Find one recourse for every search, with no more changes than are allowed."""
    most = space.moves.max_changes
    if most is None:
        return run(method, space, people, masks, deadline)
    few: list[Answer] = []
    size = max(1, _NUMBERS // masks.shape[1] ** 2)
    # A recourse with too many changes is none yet: with a time limit some people are finished before others begin.
    n_groups = max(_GROUPS, -(-len(people) // _LIMITED)) if is_timed(deadline) else 1
    for group in np.array_split(np.arange(len(people)), n_groups):
        found = run(method, space, people[group], masks[group], deadline)
        for first in range(0, len(group), size):
            part = group[first : first + size]
            few += few_changes(method, space, people[part], masks[part], found[first : first + size], most, deadline)
    return few


class _Person:
    """The recourses of one person, and those that may still be chosen."""

    def __init__(self, space: Space, number: int, first: Answer, mask: BoolArray) -> None:
        self.number, self._space = number, space
        found = _Found(first, mask, _changed(space, number, first))
        self.chosen = [found]
        self._open = [found] if first.valid else []  # to be split
        self.waiting: list[_Found] = []  # to be chosen
        self._seen, self._tried = {found.changed}, {mask.tobytes()}
        self._asked = first.n_queries  # in all searches
        self._late = False  # whether there was no time for one of them

    def split(self) -> list[BoolArray]:
        """Return the columns of further searches: each leaves out one that a recourse changes."""
        masks = []
        for recourse, mask, changed in self._open:
            cost = self._space.column_costs(recourse.x[None], np.array([self.number]))[0]
            for k in sorted(changed, key=lambda k: (-cost[k], k))[:_SEARCHES]:
                without = mask.copy()
                without[k] = False
                if without.any() and without.tobytes() not in self._tried:
                    self._tried.add(without.tobytes())
                    masks.append(without)
        self._open = []
        return masks

    def offer(self, recourse: Answer, mask: BoolArray) -> None:
        """Remember what a search found, if it changes other columns than all before."""
        # Every search counts the question about the row itself.
        recourse = replace(recourse, n_queries=recourse.n_queries - 1)
        self._asked += recourse.n_queries
        self._late |= recourse.status is Status.TIME_LIMIT
        if not recourse.valid:
            return
        found = _Found(recourse, mask, _changed(self._space, self.number, recourse))
        if found.changed not in self._seen:
            self._seen.add(found.changed)
            self.waiting.append(found)

    def choose(self) -> None:
        """Choose the cheapest that is waiting; what only adds changes to a cheaper one is split, but not chosen."""
        self._open += [found for found in self.waiting if self._adds_to_another(found)]
        self.waiting = [found for found in self.waiting if not self._adds_to_another(found)]
        if not self.waiting:
            return
        self.waiting.sort(key=_order)
        found = self.waiting.pop(0)
        self._open.append(found)
        self.chosen.append(found)

    def _adds_to_another(self, found: _Found) -> bool:
        return any(
            known.changed < found.changed and known.recourse.cost <= found.recourse.cost for known in self.chosen
        )

    def ranked(self, wanted: int) -> list[Answer]:
        """Return what was chosen, the cheapest first; it takes the questions of all searches in vain on itself."""
        first, *others = (found.recourse for found in sorted(self.chosen, key=_order))
        vain = self._asked - first.n_queries - sum(recourse.n_queries for recourse in others)
        first = replace(first, n_queries=first.n_queries + vain)
        if not self._late or len(self.chosen) >= wanted:
            return [first, *others]
        return [replace(answer, reason=answer.reason + _NOT_ALL) for answer in (first, *others)]


def _order(found: _Found) -> tuple[float, list[int]]:
    return found.recourse.cost, sorted(found.changed)


class _Found(NamedTuple):
    """A recourse, the columns that could change in its search, and those that it changes."""

    recourse: Answer
    mask: BoolArray
    changed: frozenset[int]


def _changed(space: Space, number: int, answer: Answer) -> frozenset[int]:
    return frozenset(np.flatnonzero(answer.x != space.points[number]).tolist())
