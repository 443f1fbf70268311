r"""Proximal descent for many penalised scores at once.

.. math:: \min_x \; \log(1 + e^{-s(x)}) + \lambda \sum_k w_k |x_k - x_{0k}| \quad\text{s.t.}\quad l \le x \le u.

A plain proximal gradient step sees the loss as a plane, and where the score is steep it zigzags across the bend of
the loss. The score is much closer to linear than the loss, so that only the score is linearised here: a step solves

.. math:: \min_y \; \log(1 + e^{-s(x) - \nabla s(x)^\top (y - x)}) + \lambda \sum_k w_k |y_k - x_{0k}|
    + \frac{1}{2t} \sum_k \frac{(y_k - x_k)^2}{r_k^2} \quad\text{s.t.}\quad l \le y \le u

with the scales :math:`r` of the columns, exactly: with :math:`\mu` the slope of the loss at its solution, that is the
proximal map of :math:`x + t \mu r^2 \nabla s`, and :math:`\mu` is the root of a monotone function of one variable.
If the score is linear a long step is the solution itself. Where a step fails although it is short the score has a kink,
as those of networks do, and the next one is taken along that. Every row has its own trade-off :math:`\lambda` and step
length :math:`t`, so that its result does not depend on which others it is solved with.

References
----------
.. [1] D. Drusvyatskiy and C. Paquette, "Efficiency of minimizing compositions of convex functions and smooth maps",
   Mathematical Programming 178 (2019).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.models.gradients import Score

__all__ = ["Descent", "Field", "Iterate", "Penalty", "proximal", "violation"]

_ENOUGH, _POOR, _GOOD = 0.1, 0.25, 0.75  # parts of the promised decrease: to move at all, and to shorten or lengthen t
_SHORTER, _LONGER = 0.25, 10.0
_LONGEST = 1e5  # in scales, what a step could take off a column: beyond that its own rounding shows
_NEGLIGIBLE = 0.1  # part of the tolerance: a shorter move, relative to the cost, is none
_MOST_FAILURES = 8  # trials in a row without a move, after which the row must be at a kink
_MOST_HALVINGS = 60
_ROOT = 1e-12

Field = Callable[[FloatArray, IntArray], Score]  # scores at points of the given rows


class Penalty(NamedTuple):
    """The cost and the bounds of every row."""

    x0: FloatArray  # (m, p): within the bounds
    lower: FloatArray  # (m, p)
    upper: FloatArray  # (m, p)
    weights: FloatArray  # (p,)
    scale: FloatArray  # (p,)

    def take(self, rows: IntArray) -> Penalty:
        """Keep the selected rows."""
        return Penalty(self.x0[rows], self.lower[rows], self.upper[rows], self.weights, self.scale)

    def length(self, way: FloatArray) -> FloatArray:
        """Return the weighted L1 length of every row."""
        length: FloatArray = (np.abs(way) * self.weights).sum(axis=1)
        return length

    def cost(self, x: FloatArray) -> FloatArray:
        """Return the weighted L1 distance of every row from its instance."""
        return self.length(x - self.x0)


class Iterate(NamedTuple):
    """Points with their scores and gradients."""

    x: FloatArray
    score: FloatArray
    gradient: FloatArray

    def take(self, rows: IntArray | BoolArray) -> Iterate:
        """Keep the selected rows."""
        return Iterate(self.x[rows], self.score[rows], self.gradient[rows])

    def put(self, rows: IntArray, other: Iterate) -> None:
        """Replace the selected rows."""
        self.x[rows], self.score[rows], self.gradient[rows] = other

    def copy(self) -> Iterate:
        """Return a copy that can be changed."""
        return Iterate(*(part.copy() for part in self))


class Descent:
    """Minimisations of many rows, each advanced by one evaluation of its score at a time.

    Parameters
    ----------
    field : callable
        ``field(points, rows)`` gives scores and gradients at points of the given rows.
    start : Iterate
        Points within the bounds.
    penalty : Penalty
        Cost and bounds.
    max_iter : int
        Largest number of evaluations of a row between two restarts.
    tolerance : float
        A row has converged when its :func:`violation` is at most this.

    Attributes
    ----------
    now : Iterate
        Where the rows are.
    """

    def __init__(self, field: Field, start: Iterate, penalty: Penalty, *, max_iter: int, tolerance: float) -> None:
        m = len(start.x)
        self._field, self._penalty, self._max_iter, self._tolerance = field, penalty, max_iter, tolerance
        self.now = start.copy()
        self.trade_off, self._value = np.ones(m), np.zeros(m)
        self._step = np.ones(m)
        self._aim, self._lift = start.gradient.copy(), np.zeros(m)  # of the plane that stands for the score
        self._failures, self._left = np.zeros(m, dtype=int), np.zeros(m, dtype=int)

    def restart(self, rows: IntArray, start: Iterate, trade_off: FloatArray) -> None:
        """Give rows another trade-off and starting points; their step lengths stay."""
        self.now.put(rows, start)
        self.trade_off[rows] = trade_off
        self._value[rows] = _loss(start.score) + trade_off * self._penalty.take(rows).cost(start.x)
        self._failures[rows], self._left[rows] = 0, self._max_iter
        self._aim[rows], self._lift[rows] = start.gradient, 0.0

    def advance(self, rows: IntArray) -> BoolArray:
        """Let every one of `rows` try a step; return which of them had ended already, and did not."""
        now, penalty = self.now.take(rows), self._penalty.take(rows)
        price = self.trade_off[rows, None] * penalty.weights
        ended: BoolArray = self.stuck(rows) | (violation(now, penalty, price) <= self._tolerance)
        going = np.flatnonzero(~ended)
        if len(going):
            self._try(rows[going], now.take(going), penalty.take(going), price[going])
        return ended

    def stuck(self, rows: IntArray) -> BoolArray:
        """Whether the rows make no progress any more, as at a kink of the score, or have had all their steps."""
        stuck: BoolArray = (self._failures[rows] >= _MOST_FAILURES) | (self._left[rows] == 0)
        return stuck

    def _try(self, rows: IntArray, now: Iterate, penalty: Penalty, price: FloatArray) -> None:
        longest = _LONGEST / (penalty.scale * price).max(axis=1)
        step = np.minimum(self._step[rows], longest)
        plane = Iterate(now.x, now.score + self._lift[rows], self._aim[rows])
        trial = _solve(plane, penalty, price, step)
        there = self._field(trial, rows)
        way = trial - now.x
        expected = plane.score + (plane.gradient * way).sum(axis=1)
        paid = self.trade_off[rows] * penalty.cost(trial)
        promised = self._value[rows] - (_loss(expected) + paid)
        gained = self._value[rows] - (_loss(there.value) + paid)
        # The first failure teaches a second plane; only if that is of no use the step was too long.
        wait = (gained >= _POOR * promised) | (self._failures[rows] == 0)
        self._step[rows] = step * np.where(gained >= _GOOD * promised, _LONGER, np.where(wait, 1.0, _SHORTER))
        better = (gained > 0.0) & (gained >= _ENOUGH * promised)
        small = penalty.length(way) <= _NEGLIGIBLE * self._tolerance * penalty.cost(trial)
        self._failures[rows] = np.where(better & ~small, 0, self._failures[rows] + 1)
        self._left[rows] -= 1
        tried = Iterate(trial, *there)
        aim, lift = _between(now, tried, penalty, price, self._step[rows])
        self._aim[rows] = np.where(better[:, None], there.gradient, aim)
        self._lift[rows] = np.where(better, 0.0, lift)
        self._value[rows[better]] = (_loss(there.value) + paid)[better]
        self.now.put(rows[better], tried.take(better))


def proximal(y: FloatArray, penalty: Penalty, threshold: FloatArray) -> FloatArray:
    r"""Return :math:`\arg\min_x \sum_k \tfrac12 (x_k - y_k)^2 + \tau_k |x_k - x_{0k}|` within the bounds.

    Each column on its own: shrink towards the instance by its threshold, then clip, which is exact because the
    instance itself is within the bounds.
    """
    way = y - penalty.x0
    shrunk = np.copysign(np.maximum(np.abs(way) - threshold, 0.0), way)
    return np.clip(penalty.x0 + shrunk, penalty.lower, penalty.upper)


def violation(now: Iterate, penalty: Penalty, price: FloatArray) -> FloatArray:
    r"""Return by how much the rows violate their optimality conditions.

    The largest rate at which the objective falls along an axis, within the bounds, relative to the price
    :math:`\lambda w_k` of that column; zero or negative at a minimum.
    """
    worst: FloatArray = (np.abs(_downhill(now, now.gradient, penalty, price)) / price).max(axis=1)
    return worst


def _downhill(now: Iterate, gradient: FloatArray, penalty: Penalty, price: FloatArray) -> FloatArray:
    """Rates at which the objective falls along the axes, signed by the direction in which it does."""
    force = expit(-now.score)[:, None] * gradient
    up = force - np.where(now.x >= penalty.x0, price, -price)
    down = -force - np.where(now.x <= penalty.x0, price, -price)
    rises = np.where(now.x < penalty.upper, np.maximum(up, 0.0), 0.0)
    return np.where(now.x > penalty.lower, rises - np.maximum(down, 0.0), rises)


def _between(
    now: Iterate, tried: Iterate, penalty: Penalty, price: FloatArray, step: FloatArray
) -> tuple[FloatArray, FloatArray]:
    r"""Combine the tangent planes here and at a trial that failed; return gradient and lift of the combination.

    If the score bends down in between, as at a kink, it is below both planes, and the lower of the two stands for
    it. The best step under that is the step under one combination of the two, that with the least
    :math:`\tfrac t2 \|\text{fall}\|^2 + \mu \cdot \text{lift}`: along a kink that is close by, and as if there were
    none if it is far away.
    """
    slope = expit(-now.score)
    lift = np.maximum(tried.score + (tried.gradient * (now.x - tried.x)).sum(axis=1) - now.score, 0.0)
    here = _downhill(now, now.gradient, penalty, price) * penalty.scale
    there = _downhill(now, tried.gradient, penalty, price) * penalty.scale
    apart = here - there
    size = (apart**2).sum(axis=1)
    share = (slope * lift / step - (there * apart).sum(axis=1)) / np.where(size > 0.0, size, 1.0)
    share = np.where(size > 0.0, np.clip(share, 0.0, 1.0), 1.0)
    aim = share[:, None] * now.gradient + (1.0 - share)[:, None] * tried.gradient
    return aim, (1.0 - share) * lift


def _solve(now: Iterate, penalty: Penalty, price: FloatArray, step: FloatArray) -> FloatArray:
    """Minimise the loss of the linearised score, with its penalty and the price of a long step.

    The score ``v`` at the solution is the root of ``v - s - g'(y(v) - x)``, which increases: the higher the score,
    the smaller the slope of the loss and the less far ``y(v)`` goes. Newton's method, safeguarded by bisection.
    """
    length = step[:, None] * penalty.scale**2
    pull, threshold = length * now.gradient, length * price

    def reach(v: FloatArray) -> FloatArray:
        return proximal(now.x + expit(-v)[:, None] * pull, penalty, threshold)

    def rise(x: FloatArray) -> FloatArray:
        along: FloatArray = (now.gradient * (x - now.x)).sum(axis=1)
        return along

    other = now.score + rise(reach(now.score))
    low, high = np.minimum(now.score, other), np.maximum(now.score, other)
    v, move, searching = 0.5 * (low + high), high - low, low < high
    for _ in range(_MOST_HALVINGS):
        if not searching.any():
            break
        y = reach(v)
        excess = v - now.score - rise(y)
        low, high = np.where(excess <= 0.0, v, low), np.where(excess >= 0.0, v, high)
        moving = (y != penalty.x0) & (y > penalty.lower) & (y < penalty.upper)
        slope = 1.0 + expit(v) * expit(-v) * np.where(moving, pull * now.gradient, 0.0).sum(axis=1)
        newton = v - excess / slope
        # Between two kinks the method can go back and forth for ever: each move must be half the one before.
        trusted = (newton > low) & (newton < high) & (np.abs(newton - v) <= 0.5 * move)
        v_next = np.where(trusted, newton, 0.5 * (low + high))
        move = np.abs(v_next - v)
        searching &= move > _ROOT * np.maximum(1.0, np.abs(v))
        # A row that is done stays where it is, however long the others take.
        v = np.where(searching, v_next, v)
    return reach(v)


def _loss(score: FloatArray) -> FloatArray:
    loss: FloatArray = np.logaddexp(0.0, -score)
    return loss
