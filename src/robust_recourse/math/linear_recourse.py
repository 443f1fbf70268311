r"""The cheapest point that a linear score accepts in the worst case, for many instances at once.

.. math::
    \min_x \sum_k c_k |x_k - x_{0k}| \quad\text{s.t.}\quad h(x) \ge 0,\qquad l \le x \le u,

with the worst-case score :math:`h` of :mod:`robust_recourse.math.linear_worst_case`. It is a linear program for the
largest-entry norm and a second-order cone program for the Euclidean one; both fall apart into columns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize.elementwise import find_root

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.math.linear_worst_case import Norm, worst_case_score

__all__ = ["Cheapest", "cheapest_accepted"]

_FAR = 1e8  # the longest move, relative to the instance and the offset: a longer one would say nothing to anybody
_NO_RADIUS = float(np.finfo(float).eps)  # a smaller radius is lost when the score is computed
_HALVINGS = 60


class Cheapest(NamedTuple):
    """The cheapest points, and which instances have one."""

    x: FloatArray  # (m, p), the instance itself where there is none
    found: BoolArray  # (m,)


class _Problem(NamedTuple):
    """The data of many instances, and the radius common to all."""

    w: FloatArray
    b: FloatArray
    x0: FloatArray
    c: FloatArray
    lower: FloatArray
    upper: FloatArray
    delta: float

    def take(self, rows: IntArray) -> _Problem:
        w, b, x0, lower, upper = (each[rows] for each in (self.w, self.b, self.x0, self.lower, self.upper))
        return _Problem(w, b, x0, self.c, lower, upper, self.delta)

    def score(self, x: FloatArray) -> FloatArray:
        return worst_case_score(x, self.w, self.b, self.delta)


def cheapest_accepted(
    w: FloatArray,
    b: FloatArray,
    delta: float,
    x0: FloatArray,
    weights: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    norm: Norm = "2",
) -> Cheapest:
    r"""Solve the program of every instance, exactly.

    *Largest-entry norm.* :math:`h` is a sum of concave functions of one column with at most one kink, at 0. So each
    column offers two pieces at most, with a gain of :math:`h` for every unit of cost, and the best ones are bought
    until the instance is accepted: a continuous knapsack.

    *Euclidean norm.* For a price :math:`\mu` the maximiser of :math:`h(x) - \mu \sum_k c_k |x_k - x_{0k}|` over the
    box is unique, and its score and cost fall as :math:`\mu` grows. Since
    :math:`2 \sqrt{\|x\|^2 + 1} = \min_r \{(\|x\|^2 + 1)/r + r\}`, it is, with :math:`\theta = r / \delta`,

    .. math::
        x(\theta) = \operatorname{clip}(\operatorname{clip}(x_0, \theta (w - \mu c), \theta (w + \mu c)), l, u),
        \qquad \|x(\theta)\|_2^2 + 1 = \delta^2 \theta^2,

    and :math:`(\|x(\theta)\|^2 + 1)/\theta^2` decreases: the kinks are sorted, the piece with the root is found, and
    the root is read off. What remains is the root in :math:`\mu` of the score.

    Parameters
    ----------
    w : ndarray of shape (m, p)
        Normals.
    b : ndarray of shape (m,)
        Offsets.
    delta : float
        Non-negative radius of the ball of parameters.
    x0, lower, upper : ndarray of shape (m, p)
        Instances and bounds (infinite where there is none), :math:`l \le x_0 \le u`. All columns count in
        :math:`h`; one that may not change has :math:`l = x_0 = u`.
    weights : ndarray of shape (p,)
        Positive prices :math:`c`.
    norm : {"2", "inf"}
        Norm of the ball.

    Returns
    -------
    Cheapest
        Points whose worst-case scores are 0 up to rounding. An instance that is accepted already is its own answer.
        There is none where every point within the bounds, and within :math:`10^8` times the size of the instance
        and the offset, is refused.

    Examples
    --------
    With ``delta = 0`` the column with the steepest score for its price moves alone; a radius makes long moves
    dearer, and other columns follow.

    >>> free = np.full((1, 2), np.inf)
    >>> w, b, x0 = np.array([[0.6, 0.8]]), np.array([-1.0]), np.zeros((1, 2))
    >>> cheapest_accepted(w, b, 0.0, x0, np.ones(2), -free, free).x
    array([[0.  , 1.25]])
    >>> cheapest_accepted(w, b, 0.4, x0, np.ones(2), -free, free).x.round(3)
    array([[0.714, 1.807]])
    """
    if delta <= _NO_RADIUS:
        delta, norm = 0.0, "inf"  # no radius, no matter of which norm
    x, found = x0.copy(), worst_case_score(x0, w, b, delta, norm) >= 0.0
    reach = _FAR * (_length(x0) + np.abs(b)[:, None])
    box = np.maximum(lower, x0 - reach), np.minimum(upper, x0 + reach)
    rows = np.flatnonzero(~found)
    problem = _Problem(w, b, x0, weights, *box, delta).take(rows)
    x[rows], found[rows] = _knapsack(problem) if norm == "inf" else _cone(problem)
    return Cheapest(x, found)


def _knapsack(problem: _Problem) -> Cheapest:
    """Buy the pieces with the most gain for their price until every refused instance is accepted."""
    w, b, x0, c, lower, upper, delta = problem
    rise = w - np.where(x0 >= 0.0, delta, -delta)
    fall = -w + np.where(x0 > 0.0, delta, -delta)
    side = np.where(rise > 0.0, 1.0, np.where(fall > 0.0, -1.0, 0.0))
    room = np.where(side > 0.0, upper - x0, np.where(side < 0.0, x0 - lower, 0.0))
    # Towards zero the radius helps, beyond it hinders. The two pieces of a column stand side by side, so that of
    # columns that are equally good one moves before the next.
    inwards = np.where(side * x0 < 0.0, np.minimum(np.abs(x0), room), 0.0)
    slope = np.stack([side * w + delta, side * w - delta], axis=2).reshape(len(w), 2 * len(c))
    length = np.stack([inwards, room - inwards], axis=2).reshape(len(w), 2 * len(c))
    length[slope <= 0.0] = 0.0
    gain = slope * length
    order = np.argsort(-slope / np.repeat(c, 2), axis=1, kind="stable")
    offered = np.take_along_axis(gain, order, axis=1)
    total = offered.cumsum(axis=1)
    deficit = -worst_case_score(x0, w, b, delta, "inf")[:, None]
    bought = np.empty_like(gain)
    left = deficit - np.insert(total[:, :-1], 0, 0.0, axis=1)
    np.put_along_axis(bought, order, np.clip(left, 0.0, offered), axis=1)
    whole = (bought == gain) & (gain > 0.0)
    part = np.where(whole, length, bought / np.where(slope > 0.0, slope, 1.0))
    size = part[:, ::2] + part[:, 1::2]
    found = total[:, -1] >= deficit[:, 0]
    move = np.where(found[:, None], side * size, 0.0)
    return Cheapest(np.clip(x0 + move, lower, upper), found)


def _cone(problem: _Problem) -> Cheapest:
    """Find the price at which every refused instance is just accepted."""
    x0 = problem.x0
    nothing = np.zeros(len(x0))
    found = problem.score(_response(problem, nothing)) >= 0.0
    rows = np.flatnonzero(found)
    x = x0.copy()
    if not len(rows):
        return Cheapest(x, found)
    slope = problem.w - problem.delta * x0 / _length(x0)
    too_dear = 2.0 * (np.abs(slope) / problem.c).max(axis=1)  # nothing is bought at half of it

    def score(price: FloatArray, row: FloatArray) -> FloatArray:
        part = problem.take(row.astype(np.int64))
        point = _response(part, price)
        relative: FloatArray = part.score(point) / _length(point)[:, 0]
        return relative

    root = find_root(score, (nothing[rows], too_dear[rows]), args=(rows.astype(float),))
    part = problem.take(rows)
    accepted, refused = (_response(part, price) for price in root.bracket)
    # Without a change of sign the instance itself is, up to rounding, just accepted.
    refused = np.where(root.success[:, None], refused, part.x0)
    x[rows] = _first_accepted(part, refused, accepted)
    return Cheapest(x, found)


def _response(problem: _Problem, price: FloatArray) -> FloatArray:
    """Maximise the worst-case score less the price of the moves, over a bounded box."""
    w, _, x0, c, lower, upper, delta = problem
    down, up = w - price[:, None] * c, w + price[:, None] * c

    def at(theta: FloatArray) -> FloatArray:
        point: FloatArray = np.clip(np.clip(x0, theta * down, theta * up), lower, upper)
        return point

    last = np.sqrt(np.maximum(lower**2, upper**2).sum(axis=1, keepdims=True) + 1.0) / delta
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        kinks = np.concatenate([x0 / down, x0 / up, upper / down, lower / up, last, np.zeros_like(last)], axis=1)
    kinks = np.sort(np.where(kinks > 0.0, np.minimum(kinks, last), 0.0), axis=1)
    row = np.arange(len(w))
    low, high = np.zeros(len(w), dtype=int), np.full(len(w), kinks.shape[1] - 1)
    for _ in range(kinks.shape[1].bit_length()):
        halfway = (low + high) // 2
        theta = kinks[row, halfway][:, None]
        short = _length(at(theta)) > delta * theta
        low, high = np.where(short[:, 0], halfway, low), np.where(short[:, 0], high, halfway)
    before, after = kinks[row, low][:, None], kinks[row, high][:, None]
    middle = 0.5 * (before + after)
    rises = (middle * down > x0) & (middle * down < upper)
    falls = (middle * up < x0) & (middle * up > lower)
    slope = np.where(rises, down, np.where(falls, up, 0.0))
    rest = np.where(rises | falls, 0.0, at(middle))
    steep = delta**2 - (slope**2).sum(axis=1, keepdims=True)
    level = (rest**2).sum(axis=1, keepdims=True) + 1.0
    theta = np.where(steep > 0.0, np.sqrt(level / np.where(steep > 0.0, steep, 1.0)), after)
    return at(np.clip(theta, before, after))


def _first_accepted(problem: _Problem, refused: FloatArray, accepted: FloatArray) -> FloatArray:
    """Return where the segments from refused to accepted points, both of the same price, become accepted.

    Where a small radius makes the response steep, or a tie makes it jump, the two are far apart, and every point
    between them is as good for its cost.
    """
    low, high = np.zeros((len(refused), 1)), np.ones((len(refused), 1))
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        yes = problem.score(_mix(refused, accepted, middle))[:, None] >= 0.0
        low, high = np.where(yes, low, middle), np.where(yes, middle, high)
    return _mix(refused, accepted, high)


def _mix(start: FloatArray, end: FloatArray, part: FloatArray) -> FloatArray:
    """Return points of segments; a column that is the same at both ends keeps its bits."""
    point: FloatArray = np.clip((1.0 - part) * start + part * end, np.minimum(start, end), np.maximum(start, end))
    return point


def _length(x: FloatArray) -> FloatArray:
    """Euclidean length of ``(x, 1)``, as a column."""
    length: FloatArray = np.sqrt((x**2).sum(axis=1, keepdims=True) + 1.0)
    return length
