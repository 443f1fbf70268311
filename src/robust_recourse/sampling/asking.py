"""What the samplers know of the model: a question about points of people, answered by yes or no."""

from __future__ import annotations

from typing import Protocol

from robust_recourse._typing import BoolArray, FloatArray, IntArray

__all__ = ["Ask"]


class Ask(Protocol):
    """Asks whether points are accepted; `people[i]` is the person of the i-th point."""

    def __call__(self, points: FloatArray, people: IntArray, /) -> BoolArray:
        """Return which points are accepted, and count the questions."""
        ...

    def ahead(self, points: FloatArray, people: IntArray, /) -> BoolArray:
        """Return which points are accepted, of which some may never be needed; none is counted."""
        ...

    def count(self, points: FloatArray, people: IntArray, /) -> None:
        """Count questions that were asked ahead, now that they are needed."""
        ...

    def take(self, people: IntArray, /) -> Ask:
        """Ask about some of the people, numbered anew."""
        ...
