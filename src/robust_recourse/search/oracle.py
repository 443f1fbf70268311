"""The one place between the search and the model."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from robust_recourse._typing import BoolArray, FloatArray, IntArray, Rounding, Rows
from robust_recourse.models.criteria import Criterion
from robust_recourse.search.deadline import Deadline, check_time
from robust_recourse.search.space import Space

__all__ = ["Oracle", "Question"]

# Large enough to hide the overhead of a call, small enough for a network's activations to stay in the cache.
_BATCH = 8192


Question: TypeAlias = Callable[[Any, Rows], Any]
ObjectArray: TypeAlias = NDArray[np.object_]


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
    deadline : Deadline, optional
        When to stop asking.
    asks_for_more : bool
        Whether the criterion is more than the consent of the present model, if that is given.
    sure : Question, optional
        How sure the model is of rows: positive where they satisfy the criterion.
    least : float, optional
        The least score that says that rows of a table satisfy the criterion; None if only the criterion knows.
    """

    def __init__(
        self,
        space: Space,
        criterion: Criterion,
        present: Criterion | None = None,
        deadline: Deadline | None = None,
        *,
        asks_for_more: bool = True,
        sure: Question | None = None,
        least: float | None = None,
    ) -> None:
        self._asked = _Asked(space, criterion, present or criterion, deadline, sure)
        # (m,): NaN where the criterion is asked
        self._least = None if least is None or space.exact else np.full(len(space), least)
        self.asks_for_more = asks_for_more and present is not None
        self._people = np.arange(len(space))

    def take(self, people: IntArray | BoolArray) -> Oracle:
        """Return the same oracle for some of the people, numbered anew."""
        some = copy(self)
        some._people = self._people[people]
        some._least = None if self._least is None else self._least[people]
        return some

    def surer(self, least: FloatArray) -> Oracle:
        """Return an oracle of the same people, whose points are recourses if the model is at least so sure of them.

        Parameters
        ----------
        least : ndarray of shape (m,)
            The least score of each, NaN for those of whom the criterion is asked.
        """
        surer = copy(self)
        surer._least = least if self._least is None else np.where(np.isnan(least), self._least, least)
        return surer

    @property
    def n_queries(self) -> IntArray:
        """How many questions were asked about each person: different rows that the search needed to know about.

        What was asked ahead of need, to save calls, does not count, so that it does not depend on a person's company.
        """
        return self._asked.n_queries[self._people]

    def __call__(self, points: FloatArray, people: IntArray) -> BoolArray:
        """Return which points, of these people, are recourses."""
        answers = self.ahead(points, people)
        answers.count(np.arange(len(points)))
        return answers.accepted

    def ahead(self, points: FloatArray, people: IntArray) -> Answers:
        """Ask about points of which some may never be needed; none is counted yet."""
        everybody = self._people[people]
        if self._least is None:
            return self._asked.answers(points, everybody)
        least, accepted = self._least[people], np.zeros(len(points), dtype=bool)
        keys, by_score = np.empty(len(points), dtype=object), ~np.isnan(least)
        plain, surely = np.flatnonzero(~by_score), np.flatnonzero(by_score)
        if len(plain):
            answers = self._asked.answers(points[plain], everybody[plain])
            accepted[plain], keys[plain] = answers.accepted, answers._keys
        if len(surely):
            scores, keys[surely] = self._asked.scores(points[surely], everybody[surely])
            accepted[surely] = scores >= least[surely]
        return Answers(accepted, everybody, keys, self._asked)

    def rows(self, points: FloatArray, people: IntArray, rounding: Rounding = "nearest") -> FloatArray:
        """Return the points of the rows that points stand for."""
        return self._asked.space.snap(points, self._people[people], rounding)

    def scores(self, points: FloatArray, people: IntArray) -> FloatArray | None:
        """Return how sure the model is of points, least of those that break rules; None if it does not say."""
        if not self._asked.scored:
            return None
        scores, keys = self._asked.scores(points, self._people[people])
        self._asked.count(self._people[people], keys)
        return scores if self._least is None else scores - np.nan_to_num(self._least[people])

    def keeps_rules(self, points: FloatArray, people: IntArray) -> BoolArray:
        """Return which points stand for rows that keep the rules; the model is not asked."""
        space, everybody = self._asked.space, self._people[people]
        if not space.moves.rules:
            return np.ones(len(points), dtype=bool)
        return space.keeps_rules(space.legal(points, everybody), everybody)

    def verify(self, points: FloatArray, people: IntArray) -> BoolArray:
        """Ask the present model about exactly the rows that points stand for, whatever is remembered."""
        return self._asked.verify(points, self._people[people])

    def consents(self, points: FloatArray, people: IntArray, valid: BoolArray) -> BoolArray:
        """Return which of the points, of which the `valid` ones are verified, satisfy the criterion, too."""
        consented = valid.copy()
        left = np.flatnonzero(valid)
        if self.asks_for_more and len(left):
            consented[left] = self(points[left], people[left])
        return consented

    def put(self, question: Question, points: FloatArray, people: IntArray) -> Any:
        """Put another question about points to the model, such as for probabilities, and count it.

        Parameters
        ----------
        question : callable
            ``question(X, rows)``, called as a :class:`Criterion` is, with any answer.
        points : ndarray of shape (n, p)
            The points.
        people : ndarray of int, shape (n,)
            Whose points they are.
        """
        self.charge(people)
        space, everybody = self._asked.space, self._people[people]
        return question(space.decode(space.legal(points.copy(), everybody), everybody), space.rows_of(everybody))

    def charge(self, people: IntArray, rows: IntArray | int = 1) -> None:
        """Count questions that a method puts to the model itself; stops the search if the time is over."""
        self._asked.charge(self._people[people], rows)


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers to questions about points of people, which are counted when they are needed."""

    accepted: BoolArray
    _people: IntArray
    _keys: ObjectArray | None  # of the rows that the points stand for; None: all are different
    _asked: _Asked

    def count(self, which: IntArray) -> None:
        """Count some of the questions."""
        self._asked.count(self._people[which], None if self._keys is None else self._keys[which])


class _Asked:
    """What was asked about all people, and what is known of the answers."""

    def __init__(
        self,
        space: Space,
        criterion: Criterion,
        present: Criterion,
        deadline: Deadline | None,
        sure: Question | None,
    ) -> None:
        self.space, self._criterion, self._present, self._deadline = space, criterion, present, deadline
        self._sure = sure
        self.n_queries = np.zeros(len(space), dtype=np.int64)
        self._known: dict[bytes, bool] = {}
        self._scores: dict[bytes, float] = {}
        self._counted: set[bytes] = set()

    def answers(self, points: FloatArray, people: IntArray) -> Answers:
        accepted, keys = np.zeros(len(points), dtype=bool), []
        for first in range(0, len(points), _BATCH):
            block = slice(first, first + _BATCH)
            check_time(self._deadline)
            values, owners = self.space.legal(points[block], people[block]), people[block]
            if self.space.exact:
                accepted[block] = self._decide(self._criterion, values, owners)
            else:
                keys += _keys(values, owners)
                accepted[block] = self._remembered(values, owners, keys[first:])
        return Answers(accepted, people, None if self.space.exact else np.array([*keys, None], dtype=object)[:-1], self)

    @property
    def scored(self) -> bool:
        return self._sure is not None

    def scores(self, points: FloatArray, people: IntArray) -> tuple[FloatArray, ObjectArray]:
        """Return how sure the model is of points, and what their rows are known by; nothing is counted."""
        assert self._sure is not None
        check_time(self._deadline)
        values = self.space.legal(points, people)
        keys, known = _keys(values, people), self._scores
        new = {key: place for place, key in enumerate(keys) if key not in known}
        places = np.fromiter(new.values(), dtype=np.int64, count=len(new))
        answers = np.full(len(places), -np.inf)
        kept = np.flatnonzero(self.space.keeps_rules(values[places], people[places]))
        for part in np.array_split(kept, -(-len(kept) // _BATCH) or 1):
            if len(part):
                some, owners = values[places[part]], people[places[part]]
                answers[part] = self._sure(self.space.unpacked(some, owners), self.space.rows_of(owners))
        known.update(zip(new, answers.tolist(), strict=True))
        scores = np.fromiter(map(known.__getitem__, keys), dtype=float, count=len(keys))
        return scores, np.array([*keys, None], dtype=object)[:-1]

    def count(self, people: IntArray, keys: ObjectArray | None) -> None:
        if keys is not None:
            counted = self._counted
            before = len(counted)
            new = [place for place, key in enumerate(keys) if key not in counted and not counted.add(key)]  # type: ignore[func-returns-value]
            assert len(counted) == before + len(new)
            people = people[new]
        self._add(people)

    def verify(self, points: FloatArray, people: IntArray) -> BoolArray:
        # Also after the deadline: what was found by then is not lost.
        self._add(people)
        return self._decide(self._present, self.space.legal(points, people), people)

    def charge(self, people: IntArray, rows: IntArray | int = 1) -> None:
        check_time(self._deadline)
        np.add.at(self.n_queries, people, rows)

    def _remembered(self, values: FloatArray, people: IntArray, keys: list[bytes]) -> BoolArray:
        known = self._known
        new = {key: place for place, key in enumerate(keys) if key not in known}
        if new:
            places = np.fromiter(new.values(), dtype=np.int64, count=len(new))
            answers = self._decide(self._criterion, values[places], people[places])
            known.update(zip(new, answers.tolist(), strict=True))
        return np.fromiter(map(known.__getitem__, keys), dtype=bool, count=len(keys))

    def _add(self, people: IntArray) -> None:
        self.n_queries += np.bincount(people, minlength=len(self.n_queries))

    def _decide(self, criterion: Criterion, values: FloatArray, people: IntArray) -> BoolArray:
        space = self.space
        if not len(values):
            return np.zeros(0, dtype=bool)
        if not space.moves.rules:
            # A copy: a model may write into what it is given.
            return criterion(space.unpacked(values.copy(), people), space.rows_of(people))
        kept = space.keeps_rules(values, people)
        which = np.flatnonzero(kept)
        if len(which):
            kept[which] = criterion(space.unpacked(values[which], people[which]), space.rows_of(people[which]))
        return kept


def _keys(values: FloatArray, people: IntArray) -> list[bytes]:
    # Adding zero turns -0.0 into 0.0.
    rows = np.column_stack([people.astype(float), values + 0.0])
    keys: list[bytes] = rows.view(f"V{rows.shape[1] * rows.itemsize}").ravel().tolist()
    return keys
