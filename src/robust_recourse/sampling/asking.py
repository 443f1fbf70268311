"""What the samplers know of the model: a question about points of people, answered by yes or no."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray, Rounding
from robust_recourse.math.limits import Room

__all__ = ["Ahead", "Ask", "Dearer", "OutOfTime"]


class OutOfTime(Exception):  # noqa: N818
    """The time limit has passed: nothing more is asked."""


class Ahead(Protocol):
    """Answers to questions of which some may never be needed."""

    @property
    def accepted(self) -> BoolArray:
        """Which points are accepted."""
        ...

    def count(self, which: IntArray, /) -> None:
        """Count some of the questions, now that they are needed."""
        ...


class Ask(Protocol):
    """Asks whether points are accepted; `people[i]` is the person of the i-th point."""

    def __call__(self, points: FloatArray, people: IntArray, /) -> BoolArray:
        """Return which points are accepted, and count the questions."""
        ...

    def ahead(self, points: FloatArray, people: IntArray, /) -> Ahead:
        """Ask about points of which some may never be needed; none is counted yet."""
        ...

    def rows(self, points: FloatArray, people: IntArray, rounding: Rounding = "nearest", /) -> FloatArray:
        """Return the points of the rows that points stand for, or of the next ones towards or away from the person."""
        ...

    def scores(self, points: FloatArray, people: IntArray, /) -> FloatArray | None:
        """Return how sure the model is of points, positive where it accepts; None if it does not say."""
        ...

    def keeps_rules(self, points: FloatArray, people: IntArray, /) -> BoolArray:
        """Return which points stand for rows that keep the rules; the model is not asked."""
        ...

    def take(self, people: IntArray, /) -> Ask:
        """Ask about some of the people, numbered anew."""
        ...


class Dearer(NamedTuple):
    """Asks about points that cost at least so much; cheaper ones are not accepted, and nobody is asked about them."""

    ask: Ask
    room: Room
    least: FloatArray  # (m,)

    def __call__(self, points: FloatArray, people: IntArray, /) -> BoolArray:
        """Return which points are accepted, and count the questions."""
        answers = self.ahead(points, people)
        answers.count(np.arange(len(points)))
        return answers.accepted

    def ahead(self, points: FloatArray, people: IntArray, /) -> Ahead:
        """Ask about points of which some may never be needed; none is counted yet."""
        cost = self.room.cost(self.rows(points, people), people)
        which = np.flatnonzero(cost >= self.least[people])
        return _Some(len(points), which, self.ask.ahead(points[which], people[which]))

    def rows(self, points: FloatArray, people: IntArray, rounding: Rounding = "nearest", /) -> FloatArray:
        """Return the points of the rows that points stand for, or of the next ones towards or away from the person."""
        return self.ask.rows(points, people, rounding)

    def scores(self, points: FloatArray, people: IntArray, /) -> FloatArray | None:
        """Return how sure the model is of points, positive where it accepts; None if it does not say."""
        return self.ask.scores(points, people)

    def keeps_rules(self, points: FloatArray, people: IntArray, /) -> BoolArray:
        """Return which points stand for rows that keep the rules; the model is not asked."""
        return self.ask.keeps_rules(points, people)

    def take(self, people: IntArray, /) -> Ask:
        """Ask about some of the people, numbered anew."""
        return Dearer(self.ask.take(people), self.room.take(people), self.least[people])


class _Some:
    """Answers to questions of which only some were asked; the others are no."""

    def __init__(self, n: int, which: IntArray, answers: Ahead) -> None:
        self._answers, self._place = answers, np.full(n, -1)
        self._place[which] = np.arange(len(which))
        self.accepted = np.zeros(n, dtype=bool)
        self.accepted[which] = answers.accepted

    def count(self, which: IntArray, /) -> None:
        """Count some of the questions, now that they are needed."""
        place = self._place[which]
        self._answers.count(place[place >= 0])
