"""From an accepted point to a cheaper one: take one change back, in part or as a whole, and move another column.

Where a model is a staircase, as one of trees, no single change of a point may be taken back although two columns
together may be: one gives much and the other takes little. So all such pairs are tried where nothing else helps.
"""

from __future__ import annotations

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.math.limits import Room
from robust_recourse.sampling.asking import Ask
from robust_recourse.sampling.few import LESS, cheapest_of_each
from robust_recourse.sampling.options import ROUNDED

__all__ = ["exchange"]

_ROUNDS = 2  # after something cheaper was found
_BACK = (1.0, 0.75, 0.5, 0.25)  # parts of a change that are taken back
_SPENT = (1.0, 0.6, 0.3, 0.1)  # parts of what that saves that another column gets
_DEAREST, _WIDEST = 4, 24  # changes that are taken back, and columns that all may get something
_NUMBERS = 2**23  # in the points that are asked about together


def exchange(ask: Ask, room: Room, x: FloatArray, most: int | None = None) -> FloatArray:
    """Replace points with two changes or more by cheaper ones, where there are any.

    Parameters
    ----------
    ask : Ask
        The model.
    room : Room
        The people, and how far they may go.
    x : ndarray of shape (m, p)
        A point of each that the model accepts, NaN without one.
    most : int, optional
        How many columns may change.

    Returns
    -------
    ndarray of shape (m, p)
        Points that the model accepts, and that are rows; what was known where nothing is cheaper.
    """
    x, width = x.copy(), x.shape[1]
    going = np.flatnonzero(~np.isnan(x).any(axis=1) & ((x != room.x0).sum(axis=1) > 1))
    size = max(1, _NUMBERS // (_DEAREST * len(_BACK) * len(_SPENT) * 2 * min(width, _WIDEST) * width))
    for _ in range(_ROUNDS):
        left = [going[:0]]
        for part in np.array_split(going, -(-len(going) // size) or 1):
            found = _once(ask.take(part), room.take(part), x[part], most)
            better = ~np.isnan(found).any(axis=1)
            x[part[better]] = found[better]
            left.append(part[better])
        going = np.concatenate(left)
        if not len(going):
            break
    return x


def _once(ask: Ask, room: Room, x: FloatArray, most: int | None) -> FloatArray:
    """Return cheaper points, NaN where there are none."""
    limit = room.limits.cost(x, room.x0) * (1.0 - LESS)
    base, owner, given = _taken_back(ask, room, x)
    spare = limit[owner] - room.cost(base, owner)
    some = np.flatnonzero(spare > 0.0)
    base, owner, given, spare = base[some], owner[some], given[some], spare[some]
    takes = room.free[owner] & (given[:, None] != np.arange(x.shape[1]))
    takes &= (x != room.x0)[owner] | (room.free[owner].sum(axis=1, keepdims=True) <= _WIDEST)
    numbers, switches = _moved(room, base, owner, spare, takes), _switched(room, base, owner, spare, takes)
    points, which = (np.concatenate(both) for both in zip(numbers, switches, strict=True))
    owner = owner[which]
    points = ask.rows(points, owner)
    cost = room.cost(points, owner)
    fits = (cost > 0.0) & (cost <= limit[owner] * ROUNDED)
    if most is not None:
        fits &= (points != room.x0[owner]).sum(axis=1) <= most
    asked = np.flatnonzero(fits)
    asked = asked[ask(points[asked], owner[asked])]
    return cheapest_of_each(ask, room, points[asked], owner[asked])


def _taken_back(ask: Ask, room: Room, x: FloatArray) -> tuple[FloatArray, IntArray, IntArray]:
    """Return rows in which parts of one of the dearest changes are taken back, of whom they are, and the columns."""
    numbers = ~room.limits.categories
    saved = np.where(numbers, np.abs(x - room.x0), x != room.x0) * room.limits.weights
    rank = np.argsort(np.argsort(-saved, axis=1, kind="stable"), axis=1)
    every = np.nonzero((saved > 0.0) & (rank < _DEAREST))
    points, owners, columns = [], [], []
    for part in _BACK:
        which = np.flatnonzero(numbers[every[1]] | (part == 1.0))
        owner, column = every[0][which], every[1][which]
        base, rows, own = x[owner], np.arange(len(owner)), room.x0[owner, column]
        base[rows, column] = own if part == 1.0 else base[rows, column] * (1.0 - part) + own * part
        points.append(ask.rows(base, owner, "inward"))
        owners.append(owner)
        columns.append(column)
    return np.concatenate(points), np.concatenate(owners), np.concatenate(columns)


def _moved(
    room: Room, base: FloatArray, owner: IntArray, spare: FloatArray, takes: BoolArray
) -> tuple[FloatArray, IntArray]:
    """Spend parts of what is spare on numbers, away from the person; return points, and of which rows they are."""
    lower, upper = (side[owner] for side in room.box)
    own, numbers = room.x0[owner], ~room.limits.categories
    points, whose = [], []
    for sign, able in ((1.0, (base >= own) & (base < upper)), (-1.0, (base <= own) & (base > lower))):
        which, column = np.nonzero(takes & numbers & able)
        for part in _SPENT:
            moved, rows = base[which], np.arange(len(which))
            moved[rows, column] += sign * part * spare[which] / room.limits.weights[column]
            points.append(room.clipped(moved, owner[which]))
            whose.append(which)
    return np.concatenate(points), np.concatenate(whose)


def _switched(
    room: Room, base: FloatArray, owner: IntArray, spare: FloatArray, takes: BoolArray
) -> tuple[FloatArray, IntArray]:
    """Spend what is spare on switches; return points, and of which rows they are."""
    points, whose = [base[:0]], [owner[:0]]
    for k in map(int, np.flatnonzero(room.limits.categories)):
        affords = np.flatnonzero(takes[:, k] & (base[:, k] == room.x0[owner, k]) & (spare >= room.limits.weights[k]))
        codes = np.flatnonzero(room.limits.targets[k]).astype(float)  # type: ignore[arg-type]
        which, code = np.repeat(affords, len(codes)), np.tile(codes, len(affords))
        allowed = room.may_switch(k, owner[which], code)
        moved = base[which[allowed]]
        moved[:, k] = code[allowed]
        points.append(moved)
        whose.append(which[allowed])
    return np.concatenate(points), np.concatenate(whose)
