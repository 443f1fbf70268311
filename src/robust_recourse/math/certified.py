r"""The certified radius: how much ambiguity a point bears before its worst-case odds of refusal reach 1.

With both ambiguity radii equal to :math:`\varepsilon` the worst-case log odds at a point,

.. math::
    G(\varepsilon) = \log\!\sum_{i \in I_0} e^{-\alpha_0(c_i;\, \varepsilon)}
    - \log\!\sum_{j \in I_1} e^{-M(c_j;\, \varepsilon)} ,

rise with :math:`\varepsilon`: the ambiguity sets are nested. If the nominal odds :math:`e^{G(0)}` are below 1 there is
one root, because :math:`\alpha_0` is least from :math:`\varepsilon = \min_i c_i` on while
:math:`M(c) \ge (c + \varepsilon)^2 / (2\sigma^2) + p \log\sigma`. It is bracketed by evaluations of the exact profiles
at the point's own radii (:mod:`~robust_recourse.math.paired`); the trial radii come from inverse cubic interpolation of
:math:`G` and its derivative.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robust_recourse._typing import BoolArray, FloatArray
from robust_recourse._validation import check_distances, check_integer
from robust_recourse.math import paired

__all__ = ["FARTHEST", "Certified", "certify_distances"]

FARTHEST = 1e6
"""Largest distance, in units of the smoothing, at which odds can be told apart in floating point."""

_ABSOLUTE, _RELATIVE = 1e-9, 1e-6  # width of the last bracket, in units of the smoothing
_BLOCK = 2**15  # distances that are worked on together
_MOST_TRIALS = 100
_NEAR = 0.02  # relative distance from the last trial within which a root is known well
_PATIENCE = 8  # trials after which every other one halves the bracket
_ROUNDING = 16.0 * float(np.finfo(float).eps)


class Certified(NamedTuple):
    """What is certified at each of `m` points."""

    log_nominal_odds: FloatArray
    log_worst_case_odds: FloatArray
    radius: FloatArray


def certify_distances(
    c: ArrayLike,
    labels: ArrayLike,
    p: int,
    sigma: ArrayLike,
    epsilon_0: ArrayLike = 0.0,
    epsilon_1: ArrayLike = 0.0,
) -> Certified:
    r"""Return nominal odds, worst-case odds and certified radius of points, given their distances from the samples.

    Parameters
    ----------
    c : array_like of shape (m, n)
        Distances of each point from its samples.
    labels : array_like of shape (m, n) or (n,)
        1 (accepted) or 0 (refused) for every sample; both occur in every row.
    p : int
        Dimension, at least 1.
    sigma : float or array_like of shape (m,)
        Smoothing, positive, and at least a millionth of the distances.
    epsilon_0, epsilon_1 : float or array_like of shape (m,)
        Ambiguity radii of the refused and of the accepted samples, for the worst-case odds.

    Returns
    -------
    Certified
        ``log_nominal_odds`` (:math:`G(0)`), ``log_worst_case_odds`` and ``radius``, each of shape (m,).

    Notes
    -----
    With :math:`r` the certified radius, :math:`G(r) < 0`, and :math:`G(r') \ge 0` at
    :math:`r' = r\,(1 + 10^{-6}) + 10^{-9} \sigma`, both with the exact profiles; :math:`r = 0` where
    :math:`G(0) \ge 0`.

    Examples
    --------
    One sample of each class, at the distances 1.3 and 0.7 in one dimension: both components move by half of the
    difference until they are as far from the point.

    >>> certified = certify_distances([[1.3, 0.7]], [0, 1], p=1, sigma=1.0, epsilon_0=0.1, epsilon_1=0.2)
    >>> [float(part[0].round(4)) for part in certified]
    [-0.6, -0.3019, 0.3]
    """
    distances = check_distances(c, "c")
    if distances.ndim != 2 or 0 in distances.shape:
        raise ValueError(f"c must have a row for each point and a column for each sample, got shape {distances.shape}.")
    m, n = distances.shape
    given = np.asarray(labels)
    if given.shape not in {(n,), (m, n)}:
        raise ValueError(f"labels must have shape ({n},) or ({m}, {n}), as c has, got {given.shape}.")
    accepted = given == 1
    if not (accepted | (given == 0)).all():
        raise ValueError(f"labels must be 0 or 1, got {given[~(accepted | (given == 0))][0]!r}.")
    accepted = np.broadcast_to(accepted, distances.shape)
    one_class = np.flatnonzero(accepted.all(axis=1) | ~accepted.any(axis=1))
    if one_class.size:
        raise ValueError(f"labels must hold both classes in every row, row {one_class[0]} has one only.")
    p = check_integer(p, "p", minimum=1)
    sigmas, epsilons_0, epsilons_1 = (
        _check_scale(value, name, m)
        for name, value in (("sigma", sigma), ("epsilon_0", epsilon_0), ("epsilon_1", epsilon_1))
    )
    if not sigmas.all():
        raise ValueError("sigma must be greater than 0, got 0.")
    distances /= sigmas[:, None]
    e0, e1 = epsilons_0 / sigmas, epsilons_1 / sigmas
    for name, lengths in (("c", distances.max(axis=1)), ("epsilon_0", e0), ("epsilon_1", e1)):
        if lengths.max() > FARTHEST:
            raise ValueError(
                f"{name} must be at most {FARTHEST:g} times sigma, it is {lengths.max():g} times in row "
                f"{lengths.argmax()}: the odds could not be told apart in floating point. Use a larger sigma."
            )
    nominal, worst, radius = _certify(distances, accepted, p, e0, e1)
    return Certified(nominal, worst, radius * sigmas)


def _check_scale(value: ArrayLike, name: str, m: int) -> FloatArray:
    scale = check_distances(value, name)
    if scale.shape not in {(), (m,)}:
        raise ValueError(f"{name} must be one number or one for each of the {m} rows of c, got shape {scale.shape}.")
    return np.broadcast_to(scale, (m,))


def _certify(c: FloatArray, accepted: BoolArray, p: int, e0: FloatArray, e1: FloatArray) -> Certified:
    """Certify in units of the smoothing, a block of rows at a time."""
    m, n = c.shape
    found = Certified(np.empty(m), np.empty(m), np.zeros(m))
    size = max(1, _BLOCK // n)
    for first in range(0, m, size):
        rows = slice(first, first + size)
        block = _Block(c[rows], accepted[rows], p)
        found.log_worst_case_odds[rows] = block.evaluate(e0[rows], e1[rows]).odds
        nominal = block.evaluate(np.zeros(block.m), np.zeros(block.m))
        found.log_nominal_odds[rows] = nominal.odds
        below = nominal.odds < 0.0
        if below.all():
            found.radius[rows] = _solve(block, nominal)
        elif below.any():
            some = _Block(c[rows][below], accepted[rows][below], p)
            found.radius[rows][below] = _solve(some, nominal.take(below))
    return found


class _Trial(NamedTuple):
    """Radii with the log odds there, their derivative, and what rounding may have made of them."""

    e: FloatArray
    odds: FloatArray
    rate: FloatArray
    rounding: FloatArray

    def take(self, rows: BoolArray) -> _Trial:
        return _Trial(*(part[rows] for part in self))


class _Block:
    """Log odds of a few points as functions of their radii."""

    def __init__(self, c: FloatArray, accepted: BoolArray, p: int) -> None:
        self.m, self._p = len(c), p
        self._refused, self._accepted = _Members(c, ~accepted), _Members(c, accepted)

    def evaluate(self, e0: FloatArray, e1: FloatArray, *, follow: bool = False) -> _Trial:
        """Evaluate the log odds, and their derivative by a common radius; `follow` starts where it ended last time."""
        refused, accepted = self._refused, self._accepted
        at_0 = paired.optimistic(refused.x, refused.spread(e0), refused.solution if follow else ())
        at_1 = paired.pessimistic(accepted.x, accepted.spread(e1), self._p, accepted.solution if follow else ())
        if follow:
            refused.solution, accepted.solution = at_0.solution, at_1.solution
        (log_0, rate_0), (log_1, rate_1) = refused.log_sum(at_0), accepted.log_sum(at_1)
        rounding = _ROUNDING * (1.0 + np.abs(log_0) + np.abs(log_1))
        return _Trial(e0, log_0 - log_1, rate_0 - rate_1, rounding)

    @property
    def largest_radius(self) -> FloatArray:
        """Radius at which no odds are below 1: a refused component is at the point, and accepted ones are far away."""
        pushed = np.sqrt(2.0 * np.log(self._accepted.sizes)) - self._accepted.nearest
        radius: FloatArray = np.maximum(self._refused.nearest, pushed) * (1.0 + _RELATIVE) + _ABSOLUTE
        return radius


class _Members:
    """Distances of the samples of one class, row after row."""

    def __init__(self, c: FloatArray, members: BoolArray) -> None:
        self.x: FloatArray = c[members]
        self.sizes = members.sum(axis=1)
        self._starts = np.cumsum(self.sizes) - self.sizes
        self._row = np.repeat(np.arange(len(c)), self.sizes)
        self.solution: tuple[FloatArray, ...] = ()

    def spread(self, of_rows: FloatArray) -> FloatArray:
        """Repeat a number of every row for each of its samples."""
        return of_rows.take(self._row)

    @property
    def nearest(self) -> FloatArray:
        """Smallest distance in every row."""
        return np.minimum.reduceat(self.x, self._starts)

    def log_sum(self, at: paired.Paired) -> tuple[FloatArray, FloatArray]:
        """Log-sum-exp of minus the values in every row, and its derivative by the radius."""
        least = np.minimum.reduceat(at.value, self._starts)
        weights = np.exp(self.spread(least) - at.value)
        total = np.add.reduceat(weights, self._starts)
        weights *= at.rate
        return np.log(total) - least, -np.add.reduceat(weights, self._starts) / total


def _solve(block: _Block, nominal: _Trial) -> FloatArray:
    """Return the roots of the log odds, all negative at radius 0: lower ends of brackets that are narrow enough."""
    low, high = np.zeros(block.m), block.largest_radius
    searching = np.ones(block.m, dtype=bool)
    now, e = nominal, np.minimum(-nominal.odds / nominal.rate, 0.5 * high)
    for trial in range(_MOST_TRIALS):
        before, now = now, block.evaluate(e, e, follow=True)
        # What rounding could turn round is neither end.
        low = np.where(searching & (now.odds < -now.rounding), np.maximum(low, e), low)
        high = np.where(searching & (now.odds > now.rounding), np.minimum(high, e), high)
        searching &= high > low * (1.0 + _RELATIVE) + _ABSOLUTE
        if not searching.any():
            break
        e = np.where(searching, _next(before, now, low, high, trial), e)
    return low


def _next(before: _Trial, now: _Trial, low: FloatArray, high: FloatArray, trial: int) -> FloatArray:
    """Choose the next radii: where the root is expected, and when that is known well, on both sides of it."""
    middle = 0.5 * (low + high)
    if trial >= _PATIENCE and trial % 2:
        return np.where(high > 4.0 * low, np.maximum(np.sqrt(low * high), 1e-3 * high), middle)
    root = _interpolate(before, now)
    root = np.where((low < root) & (root < high), root, now.e - now.odds / now.rate)
    root = np.where((low < root) & (root < high), root, middle)
    aside = np.maximum(0.25 * (_RELATIVE * root + _ABSOLUTE), 4.0 * now.rounding / now.rate)
    below = np.where(low < root - 2.0 * aside, root - aside, np.minimum(root + aside, high))
    return np.where(np.abs(root - now.e) < _NEAR * root, np.maximum(below, low), root)


def _interpolate(before: _Trial, now: _Trial) -> FloatArray:
    """Follow the cubic that takes log odds to radii, with values and slopes of both trials, to log odds of 0."""
    rise = now.odds - before.odds
    rise = np.where(rise == 0.0, 1.0, rise)
    s = -before.odds / rise
    back = 1.0 - s
    root: FloatArray = back * back * ((1.0 + 2.0 * s) * before.e + s * rise / before.rate) + s * s * (
        (1.0 + 2.0 * back) * now.e - back * rise / now.rate
    )
    return root
