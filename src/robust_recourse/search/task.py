"""Refused people who are searched together."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray, Rounding
from robust_recourse.math.limits import Limits, Room
from robust_recourse.result.answer import Answer
from robust_recourse.result.status import Status
from robust_recourse.sampling.ball import row_generator
from robust_recourse.search.oracle import Oracle
from robust_recourse.search.space import Space

__all__ = ["Task"]


@dataclass(frozen=True, eq=False)
class Task:
    """Refused people, what each may change, and whom to ask.

    Everything about a person is in units of cost and has all columns of the table; people are numbered by their place
    in the task.

    Attributes
    ----------
    space : Space
        The people as rows of the table.
    room : Room
        Where they start, and how far they may go. A method that does not switch categories itself gets people whose
        categories have been switched, if that is cheaper, and of whom only numbers may change.
    oracle : Oracle
        Whom to ask about their points.
    seed : int
        Seed of the method. What is random depends on it and on the person alone.
    boundary : ndarray of shape (m, p) or None
        Their boundary points; None if the method does not look for any.
    switched : ndarray of bool, shape (m,)
        Who is accepted with other categories and the own numbers.
    sure : ndarray of shape (m, p) or None
        The cheapest rows of which the model is as sure as the method wants, NaN without one; None if it does not.
    before : Room or None
        The people before their categories were switched, and what they could change then; None if nothing was switched.
    """

    space: Space
    room: Room
    oracle: Oracle
    seed: int
    boundary: FloatArray | None = None
    switched: BoolArray | None = None
    sure: FloatArray | None = None
    before: Room | None = None

    def __len__(self) -> int:
        return len(self.space)

    @property
    def x0(self) -> FloatArray:
        """Where the people start, of shape (m, p)."""
        return self.room.x0

    @property
    def free(self) -> BoolArray:
        """Which columns each may change, of shape (m, p)."""
        return self.room.free

    @property
    def limits(self) -> Limits:
        """The limits of the columns."""
        return self.room.limits

    def take(self, people: IntArray | BoolArray) -> Task:
        """Keep some of the people."""
        index: IntArray = np.arange(len(self))[people]
        return replace(
            self,
            space=self.space.take(index),
            room=self.room.take(index),
            oracle=self.oracle.take(index),
            boundary=None if self.boundary is None else self.boundary[index],
            switched=None if self.switched is None else self.switched[index],
            sure=None if self.sure is None else self.sure[index],
            before=None if self.before is None else self.before.take(index),
        )

    def snap(self, points: FloatArray, people: IntArray, rounding: Rounding = "nearest") -> FloatArray:
        """Move points to the rows that they stand for."""
        return self.space.snap(points, people, rounding)

    def generator(self, person: int, draw: int = 0) -> np.random.Generator:
        """Return random numbers for a person: the same ones wherever, and with whomever, the person is searched for."""
        return row_generator(self.limits.without_codes(self.x0[person]), self.seed, draw)

    def missing(self, person: int, status: Status, reason: str) -> Answer:
        """Describe a person without a recourse."""
        return Answer.missing(self.x0[person], status, reason, 1 + int(self.oracle.n_queries[person]))
