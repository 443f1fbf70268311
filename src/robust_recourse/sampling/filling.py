r"""From an accepted point with many changes to a cheaper one: fill the columns in the order in which they help.

Of a linear model the cheapest accepted point moves the columns one after the other to the ends of their ranges, those
that help most for their price first. Which these are is estimated around an accepted point next to the boundary, from
answers to rows that are moved in all columns at random, by as much in cost,

.. math:: \hat n_k = \operatorname{cov}(\Delta_k, y) / \operatorname{var}(\Delta_k),

the slopes of the answers :math:`y` in the moves :math:`\Delta_k`. The way through the columns by
:math:`|\hat n_k| / w_k` is then bisected as any other.
"""

from __future__ import annotations

import numpy as np

from robust_recourse._typing import FloatArray, IntArray
from robust_recourse.math.limits import Room
from robust_recourse.sampling.asking import Ask
from robust_recourse.sampling.bisection import Lines, bisect
from robust_recourse.sampling.polishing import polish

__all__ = ["fill"]

_NARROW = 24  # columns among which all trades are tried: up to three changes are settled by them, else one
_ROUNDS = 3  # at most: they end where nothing gets cheaper
_MOVES = 16  # random moves for every column
_LENGTH = 1.0 / 16.0  # of a move in a column, of the cost of the point
_CHEAPER = 1.0 / 128.0  # part of the cost that is worth a new point; and of the bracket
_NUMBERS = 2**22  # in the points that are asked about together
_TINY = 1e-300


def fill(ask: Ask, room: Room, x: FloatArray) -> FloatArray:
    """Replace points that change many numbers by cheaper ones, where the order of columns tells some; polish these.

    Parameters
    ----------
    ask : Ask
        The model.
    room : Room
        The people, and how far they may go.
    x : ndarray of shape (m, p)
        A point of each that the model accepts.

    Returns
    -------
    ndarray of shape (m, p)
        Points that the model accepts, and that are rows.
    """
    x, numbers = x.copy(), ~room.limits.categories
    settled = np.where((room.free & numbers).sum(axis=1) <= _NARROW, 3, 1)
    going = np.flatnonzero(((x != room.x0) & numbers).sum(axis=1) > settled)
    size = max(1, _NUMBERS // (_MOVES * x.shape[1] ** 2))
    for _ in range(_ROUNDS):
        if not len(going):
            break
        left = []
        for part in np.array_split(going, -(-len(going) // size)):
            found, better = _filled(ask.take(part), room.take(part), x[part])
            x[part[better]] = found[better]
            left.append(part[better])
        going = np.concatenate(left)
        x[going] = polish(ask.take(going), room.take(going), x[going])
    return x


def _filled(ask: Ask, room: Room, x: FloatArray) -> tuple[FloatArray, IntArray]:
    slopes = _slopes(ask, room, x)
    weights, (lower, upper) = room.limits.weights, room.box
    numbers = room.free & ~room.limits.categories
    ends = np.where(numbers & (slopes != 0.0), np.where(slopes > 0.0, upper, lower), room.x0)
    prices = np.where(numbers, np.abs(ends - room.x0) * weights, 0.0)
    order = np.argsort(-np.abs(slopes) / weights, axis=1, kind="stable")
    sums = np.cumsum(np.take_along_axis(prices, order, axis=1), axis=1)
    before = np.zeros_like(sums)  # what the columns cost that come before each
    np.put_along_axis(before, order[:, 1:], sums[:, :-1], axis=1)
    # Categories are those of the point.
    base = np.where(room.limits.categories, x, room.x0)
    every = np.arange(len(x))
    switched = room.cost(base, every)

    def point(which: IntArray, at: FloatArray) -> FloatArray:
        left = np.clip(at[:, None] - switched[which, None] - before[which], 0.0, prices[which])
        moved = base[which] + np.sign(slopes[which]) * left / weights
        moved = np.where(left < prices[which], moved, ends[which])
        return room.clipped(np.where(left > 0.0, moved, base[which]), which)

    limit = room.cost(x, every) * (1.0 - _CHEAPER)
    able = np.flatnonzero(limit > switched)
    able = able[ask(point(able, limit[able]), able)]
    if not len(able):
        return x, able
    lines = Lines(able, switched[able], lambda which, at: point(able[which], at))
    _, high, _ = bisect(
        ask, lines, switched[able], limit[able], lambda _, low, high: high - low <= _CHEAPER / 8.0 * high
    )
    found = x.copy()
    found[able] = ask.rows(point(able, high), able)
    cost = room.cost(found, every)
    return found, able[(cost[able] < room.cost(x, every)[able]) & (cost[able] > 0.0)]


def _slopes(ask: Ask, room: Room, x: FloatArray) -> FloatArray:
    """Estimate how much the columns help around points; 0 for those that may not change."""
    m, p = x.shape
    numbers = room.free & ~room.limits.categories
    # The same moves for everybody, so that nobody depends on anybody else.
    signs = np.random.default_rng(p).choice([-1.0, 1.0], size=(_MOVES * p, p))
    length = _LENGTH * room.cost(x, np.arange(m))[:, None] / room.limits.weights
    moved = x[:, None, :] + np.where(numbers, length, 0.0)[:, None, :] * signs
    owner = np.repeat(np.arange(m), len(signs))
    points = ask.rows(room.clipped(moved.reshape(-1, p), owner), owner)
    yes = ask(points, owner).reshape(m, len(signs), 1).astype(float)
    moves = np.where(numbers[:, None, :], points.reshape(m, len(signs), p) - x[:, None, :], 0.0)
    moves -= moves.mean(axis=1, keepdims=True)
    together = (moves * (yes - yes.mean(axis=1, keepdims=True))).sum(axis=1)
    slopes: FloatArray = together / np.maximum((moves**2).sum(axis=1), _TINY)
    return slopes
