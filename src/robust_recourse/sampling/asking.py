"""What the samplers know of the model: a question about points of people, answered by yes or no."""

from __future__ import annotations

from typing import Protocol

from robust_recourse._typing import BoolArray, FloatArray, IntArray, Rounding

__all__ = ["Ahead", "Ask", "OutOfTime"]


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

    def keeps_rules(self, points: FloatArray, people: IntArray, /) -> BoolArray:
        """Return which points stand for rows that keep the rules; the model is not asked."""
        ...

    def take(self, people: IntArray, /) -> Ask:
        """Ask about some of the people, numbered anew."""
        ...
