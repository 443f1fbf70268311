"""Values that single columns of a person may take, and what each costs: what small changes are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from robust_recourse._typing import FloatArray, IntArray
from robust_recourse.math.limits import Room
from robust_recourse.sampling.asking import Ask

__all__ = ["ROUNDED", "Ladder", "Options", "ladder_of", "options_of"]

_RUNGS = 129  # quantiles of a column

ROUNDED = 1.0 + 2.0**-40
"""A cost may be so many times what was to be spent, by rounding."""

Ladder = Sequence[FloatArray]
"""Values of every column that occur in the training rows, in units of cost; those of categories are not used."""


class Options(NamedTuple):
    """Single changes of people, sorted by person."""

    owner: IntArray  # (n,)
    column: IntArray  # (n,)
    value: FloatArray  # (n,)
    cost: FloatArray  # (n,)

    def take(self, which: IntArray) -> Options:
        """Keep some of them."""
        return Options(self.owner[which], self.column[which], self.value[which], self.cost[which])

    def points(self, room: Room) -> FloatArray:
        """Return the people with these changes, one each."""
        points = room.x0[self.owner]
        points[np.arange(len(points)), self.column] = self.value
        return points


def ladder_of(points: FloatArray) -> Ladder:
    """Return values of every column that occur in rows: their quantiles.

    Examples
    --------
    >>> ladder_of(np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]]))
    [array([1., 2., 3.]), array([5.])]
    """
    rungs = np.quantile(points, np.linspace(0.0, 1.0, _RUNGS), axis=0, method="nearest")
    return [np.unique(column) for column in rungs.T]


def options_of(ask: Ask, room: Room, ladder: Ladder, most: FloatArray, n: int) -> Options:
    """Return changes of single columns that cost at most `most`, as rows can hold them.

    Parameters
    ----------
    ask : Ask
        Knows which rows points stand for.
    room : Room
        The people.
    ladder : Ladder
        Values of the columns.
    most : ndarray of shape (m,)
        What each person may spend; infinite if nothing is known.
    n : int
        How many values of a number are taken on either side of a person's own at most: the dearest that it may spend
        on, and others of the ladder between.
    """
    none = np.zeros(0, dtype=np.int64)
    owners, columns, values = [none], [none], [np.zeros(0)]
    lower, upper = room.box
    for k in map(int, np.flatnonzero(room.free.any(axis=0))):
        people = np.flatnonzero(room.free[:, k])
        if room.limits.categories[k]:
            codes = np.flatnonzero(room.limits.targets[k]).astype(float)  # type: ignore[arg-type]
            owner, value = np.repeat(people, len(codes)), np.tile(codes, len(people))
            allowed = room.may_switch(k, owner, value)
            owner, value = owner[allowed], value[allowed]
        else:
            reach = np.minimum(most[people] / room.limits.weights[k], np.finfo(float).max / 4.0)
            low = np.maximum(lower[people, k], room.x0[people, k] - reach)
            high = np.minimum(upper[people, k], room.x0[people, k] + reach)
            owner, value = _rungs(people, room.x0[people, k], low, high, ladder[k], n)
        owners.append(owner)
        columns.append(np.full(len(owner), k))
        values.append(value)
    owner, column, value = np.concatenate(owners), np.concatenate(columns), np.concatenate(values)
    found = Options(owner, column, value, np.zeros(len(owner)))
    points = ask.rows(found.points(room), found.owner, "inward")
    value = points[np.arange(len(points)), found.column]
    found = found._replace(value=value, cost=room.cost(points, found.owner))
    found = found.take(np.flatnonzero((found.cost > 0.0) & (found.cost <= most[found.owner] * ROUNDED)))
    order = np.lexsort((found.value, found.column, found.owner))
    found = found.take(order)
    same = np.zeros(len(order), dtype=bool)
    same[1:] = np.all([part[1:] == part[:-1] for part in (found.owner, found.column, found.value)], axis=0)
    return found.take(np.flatnonzero(~same))


def _rungs(
    people: IntArray, own: FloatArray, low: FloatArray, high: FloatArray, rungs: FloatArray, n: int
) -> tuple[IntArray, FloatArray]:
    """Choose at most `n` values on either side of the own one, the ends of the range among them."""
    owners, values = [], []
    # The columns of an array may have no bounds: the ladder has.
    low = np.where(np.isfinite(low) & (low > -np.finfo(float).max / 8.0), low, np.minimum(rungs[0], own))
    high = np.where(np.isfinite(high) & (high < np.finfo(float).max / 8.0), high, np.maximum(rungs[-1], own))
    for end, sign in ((low, -1.0), (high, 1.0)):
        owners.append(people)
        values.append(end)
        if n < 2:
            continue
        inside = (sign * rungs > sign * own[:, None]) & (sign * rungs < sign * end[:, None])
        rank = np.cumsum(inside, axis=1)
        count = rank[:, -1:]
        # Of more than enough, those that are spread evenly.
        chosen = inside & (rank * n // (count + 1) != (rank - 1) * n // (count + 1))
        chosen = np.where(count < n, inside, chosen)
        which, rung = np.nonzero(chosen)
        owners.append(people[which])
        values.append(rungs[rung])
    return np.concatenate(owners), np.concatenate(values)
