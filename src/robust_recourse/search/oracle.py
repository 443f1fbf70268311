"""The one place between the search and the model."""

from __future__ import annotations

import time
from typing import Any, Protocol

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.search.space import Space

__all__ = ["Criterion", "Oracle", "OutOfTime", "check_time"]

# Large enough to hide the overhead of a call, small enough for a network's activations to stay in the cache.
_BATCH = 8192


class OutOfTime(Exception):  # noqa: N818
    """The time limit has passed; caught where the people who are left get their status."""


def check_time(deadline: float | None) -> None:
    """Raise if the deadline, in seconds since the epoch, has passed."""
    if deadline is not None and time.time() > deadline:
        raise OutOfTime


class Criterion(Protocol):
    """What a row must satisfy: the consent of a model, or more."""

    def __call__(self, X: Any, rows: IntArray, /) -> BoolArray:
        """Return which rows of `X`, as a model gets them, satisfy it; `rows` are their numbers in messages."""
        ...


class Oracle:
    """Answers whether points are recourses, and counts the questions.

    A point stands for a row that can be told to a person; where it breaks a rule it is none, and nobody is asked.
    On a grid many points stand for the same row: an answer about a table is remembered, for each person.

    Parameters
    ----------
    space : Space
        The people.
    criterion : Criterion
        What the search must satisfy.
    present : Criterion, optional
        The present model, which verifies in the end; the criterion itself if None.
    deadline : float, optional
        When to stop asking, in seconds since the epoch.

    Attributes
    ----------
    n_queries : ndarray of int, shape (m,)
        Different rows that the search needed to know about each person, and rows that were verified. What was asked
        ahead of need, to save calls, does not count, so that the number does not depend on a person's company.
    """

    def __init__(
        self, space: Space, criterion: Criterion, present: Criterion | None = None, deadline: float | None = None
    ) -> None:
        self.space, self._criterion, self._present = space, criterion, present or criterion
        self.deadline = deadline
        self.n_queries = np.zeros(len(space), dtype=np.int64)
        self._known: dict[bytes, bool] = {}
        self._counted: set[bytes] = set()

    def __call__(self, points: FloatArray, people: IntArray) -> BoolArray:
        """Return which points, of these people, are recourses."""
        return self._ask(points, people, counted=True)

    def ahead(self, points: FloatArray, people: IntArray) -> BoolArray:
        """Return the same for points of which some may never be needed, without counting."""
        return self._ask(points, people, counted=False)

    def count(self, points: FloatArray, people: IntArray) -> None:
        """Count questions that were asked ahead."""
        if self.space.exact:
            self._add(people)
        else:
            self._count_keys(self._keys(self.space.legal(points, people), people), people)

    def take(self, people: IntArray) -> Some:
        """Return the same oracle for some of the people, numbered anew."""
        return Some(self, people)

    def verify(self, points: FloatArray, people: IntArray) -> BoolArray:
        """Ask the present model about exactly the rows that points stand for, whatever is remembered."""
        values = self.space.legal(points, people)
        self._add(people)
        return self._answers(self._present, values, people)

    def answers(self, ask: Criterion, points: FloatArray, people: IntArray) -> Any:
        """Put another question about points to the model, such as for probabilities; one answer for each point."""
        check_time(self.deadline)
        self._add(people)
        # A copy: a model may write into what it is given.
        values = self.space.legal(points, people)
        return ask(self.space.decode(values.copy() if values is points else values, people), self.space.rows[people])

    def _ask(self, points: FloatArray, people: IntArray, counted: bool) -> BoolArray:
        accepted = np.zeros(len(points), dtype=bool)
        for first in range(0, len(points), _BATCH):
            block = slice(first, first + _BATCH)
            values = self.space.legal(points[block], people[block])
            if self.space.exact:
                accepted[block] = self._answers(self._criterion, values, people[block])
                if counted:
                    self._add(people[block])
            else:
                accepted[block] = self._remembered(values, people[block], counted)
        return accepted

    def _remembered(self, values: FloatArray, people: IntArray, counted: bool) -> BoolArray:
        keys, known = self._keys(values, people), self._known
        new = {key: place for place, key in enumerate(keys) if key not in known}
        if new:
            places = np.fromiter(new.values(), dtype=np.int64, count=len(new))
            answers = self._answers(self._criterion, values[places], people[places])
            known.update(zip(new, answers.tolist(), strict=True))
        if counted:
            self._count_keys(keys, people)
        return np.fromiter((known[key] for key in keys), dtype=bool, count=len(keys))

    def _keys(self, values: FloatArray, people: IntArray) -> list[bytes]:
        # Adding zero turns -0.0 into 0.0.
        rows = np.column_stack([people.astype(float), values + 0.0])
        keys: list[bytes] = rows.view(f"V{rows.shape[1] * rows.itemsize}").ravel().tolist()
        return keys

    def _count_keys(self, keys: list[bytes], people: IntArray) -> None:
        for key, person in zip(keys, people.tolist(), strict=True):
            if key not in self._counted:
                self._counted.add(key)
                self.n_queries[person] += 1

    def _add(self, people: IntArray) -> None:
        self.n_queries += np.bincount(people, minlength=len(self.n_queries))

    def _answers(self, criterion: Criterion, values: FloatArray, people: IntArray) -> BoolArray:
        check_time(self.deadline)
        if not self.space.moves.rules:
            return self._decide(criterion, values, people)
        kept = self.space.keeps_rules(values, people)
        which = np.flatnonzero(kept)
        if len(which):
            kept[which] = self._decide(criterion, values[which], people[which])
        return kept

    def _decide(self, criterion: Criterion, values: FloatArray, people: IntArray) -> BoolArray:
        return np.asarray(criterion(self.space.decode(values, people), self.space.rows[people]), dtype=bool)


class Some:
    """An oracle for some of its people, who are numbered anew."""

    def __init__(self, oracle: Oracle, people: IntArray) -> None:
        self._oracle, self._people = oracle, people

    def __call__(self, points: FloatArray, people: IntArray) -> BoolArray:
        """Return which points, of these people, are recourses."""
        return self._oracle(points, self._people[people])

    def ahead(self, points: FloatArray, people: IntArray) -> BoolArray:
        """Return the same for points of which some may never be needed, without counting."""
        return self._oracle.ahead(points, self._people[people])

    def count(self, points: FloatArray, people: IntArray) -> None:
        """Count questions that were asked ahead."""
        self._oracle.count(points, self._people[people])

    def take(self, people: IntArray) -> Some:
        """Return the same oracle for some of these people, numbered anew."""
        return Some(self._oracle, self._people[people])

    def verify(self, points: FloatArray, people: IntArray) -> BoolArray:
        """Ask the present model about exactly the rows that points stand for."""
        return self._oracle.verify(points, self._people[people])

    def answers(self, ask: Criterion, points: FloatArray, people: IntArray) -> Any:
        """Put another question about points to the model."""
        return self._oracle.answers(ask, points, self._people[people])

    @property
    def n_queries(self) -> IntArray:
        """How many questions were asked about each of these people."""
        return self._oracle.n_queries[self._people]
