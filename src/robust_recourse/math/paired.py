r"""Exact profiles at many pairs of distance and radius, and how they grow with the radius.

:mod:`~robust_recourse.math.profiles` solves a profile for one radius and many distances. Here every distance comes
with a radius :math:`e` of its own, in units of the smoothing, and the same stationary points are found by Newton's
iteration on scalar equations without trigonometry. The value at a feasible point is off by the *square* of its
distance from the optimum, so that two or three steps give all digits.

*Optimistic*, :math:`x > e + 1`. With :math:`w = \tan\tau`, :math:`a = e/\sqrt{1 + w^2}`, :math:`d = 1 + wa`,
:math:`\rho = (x-a)/d` the condition is :math:`w = \rho - 1/\rho`.

*Pessimistic, pushed.* With :math:`v = t/a` the condition :math:`(x+a)\,t\,(1+t) = a` is
:math:`(x+a)\,v\,(1 + va) = 1`, where :math:`a = e/\sqrt{1 + (p-1)v^2}`. It can only be the maximum if
:math:`x + a \ge 1`, and then :math:`v \le 1`.

*Pessimistic, stretched*, :math:`x < 1`. On the curve of all stretched points :math:`u = R/q = (\rho - x)/\rho^3`, so
that for a given distance the radius :math:`E(\rho)` that is used up is explicit; :math:`E(\rho) = e` is to be solved.
Where :math:`E` rises the point is a local maximum. In the unknown :math:`\zeta` with :math:`\rho = x(1 + x^2\zeta)` the
equation is regular down to :math:`x = 0`. For :math:`p \ge 2` the first rise was concave wherever it was looked at, so
that Newton's iteration climbs it without overshooting; for :math:`p = 1` there can be a second rise, which is entered
from its end.

*Rates.* By the envelope theorem, with the multiplier of the radius,

.. math::
    \frac{\partial \alpha_0}{\partial e} = -\frac{\rho}{d} \sqrt{1 + w^2}, \qquad
    \frac{\partial M}{\partial e} = \frac{e}{t(1+t)} = \frac{e\,(x+a)}{a d^2} .
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.optimize.elementwise import find_root

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.math import profiles

__all__ = ["Paired", "optimistic", "pessimistic"]

_ANGLES = 0.0, np.pi / 2
_SURE_STEPS, _MORE_STEPS, _CLIMBING_STEPS = 2, 20, 60
_TOLERANCE = 1e-8  # of the value before the last step, which squares it
_CLIMBED = 1e-7  # relative step that ends a climb: the value is then off by its square
_LEAST = 1e-150  # radius that stands for 0: its square is still a normal number
_FEW = 0.2  # share of elements below which leaving them out costs more than it saves
_SLACK = 1e-6  # relative, where two kinds merge

Step = Callable[[FloatArray, FloatArray, FloatArray], tuple[FloatArray, FloatArray]]
Root = Callable[[FloatArray, FloatArray], FloatArray]


class Paired(NamedTuple):
    """A profile at pairs of distance and radius."""

    value: FloatArray
    rate: FloatArray  # its derivative with respect to the radius
    solution: tuple[FloatArray, ...]  # where to start with the same distances at radii near by


def optimistic(x: FloatArray, e: FloatArray, start: tuple[FloatArray, ...] = ()) -> Paired:
    """Solve the optimistic problem, in units of the smoothing, at the distances `x` with the radii `e`.

    Parameters
    ----------
    x, e : ndarray of shape (n,)
        Distances and radii, non-negative.
    start : tuple of ndarray, optional
        The solution of the same distances at radii near by.
    """
    if not e.any():
        square = x * x
        return Paired(0.5 * square, -np.sqrt(square + np.maximum(square - 1.0, 0.0) ** 2), ())
    far = x > e + 1.0
    every = bool(far.all())
    at = x if every else np.where(far, x, e + 2.0)
    solved = _newton(_optimistic_step, _optimistic_root, start[0] if start else _first_angle(at, e), at, e, e)
    w = solved if every else np.where(far, solved, 0.0)
    longer = np.sqrt(1.0 + w * w)
    a = e / longer
    d = 1.0 + w * a
    rho = (x - a) / d
    if not every:
        np.maximum(rho, 0.0, out=rho)
    return Paired(np.log(d) + 0.5 * rho * rho, -longer * rho / d, (solved,))


def _first_angle(x: FloatArray, e: FloatArray) -> FloatArray:
    w = x - 1.0 / x
    a = e / np.sqrt(1.0 + w * w)
    # The solution of radius 0 is inserted into the condition once: that alone is a contraction. No ratio is less than
    # with all of the radius spent both on moving and on stretching.
    rho = np.maximum((x - a) / (1.0 + w * a), np.maximum((x - e) / (1.0 + e), 1.0))
    first: FloatArray = rho - 1.0 / rho
    return first


def _optimistic_step(w: FloatArray, x: FloatArray, e: FloatArray) -> tuple[FloatArray, FloatArray]:
    r = 1.0 / (1.0 + w * w)
    a = e * np.sqrt(r)
    d = 1.0 + w * a
    rho = (x - a) / d
    inverse = 1.0 / rho
    behind = w - rho
    miss = behind + inverse
    return miss / (1.0 - (1.0 + inverse * inverse) * a * r / d * behind), miss


def _optimistic_root(x: FloatArray, e: FloatArray) -> FloatArray:
    angle: FloatArray = find_root(profiles._optimistic_condition, _ANGLES, args=(x, e)).x
    return np.tan(angle)


def pessimistic(x: FloatArray, e: FloatArray, p: int, start: tuple[FloatArray, ...] = ()) -> Paired:
    """Solve the pessimistic problem, in units of the smoothing, at the distances `x` with the radii `e`.

    Parameters
    ----------
    x, e : ndarray of shape (n,)
        Distances and radii, non-negative.
    p : int
        Dimension.
    start : tuple of ndarray, optional
        The solution of the same distances at radii near by.
    """
    if not e.any():
        square = x * x
        return Paired(0.5 * square, np.sqrt(square + np.maximum(1.0 - square, 0.0) ** 2 + (p - 1)), ())
    close = np.flatnonzero(x < 1.0)
    if not close.size:
        return _pushed(x, e, p, start)
    inside, radius = x[close], e[close]
    short = close[radius < _merging_radius(inside, p) * (1.0 - _SLACK)]
    pushed = _pushed_beyond(short, x, e, p, start)
    # No stretched point is worth more: its ratio is less than 1, and the logarithm is concave.
    beaten = pushed.value[close] >= 0.5 + p * np.log1p(radius / np.sqrt(p))
    stretched = _stretched(inside, radius, p, _where(~beaten), start[1] if start else None)
    better = stretched.value > pushed.value[close]
    pushed.value[close[better]], pushed.rate[close[better]] = stretched.value[better], stretched.rate[better]
    return Paired(pushed.value, pushed.rate, (*pushed.solution, *stretched.solution))


def _pushed_beyond(short: IntArray, x: FloatArray, e: FloatArray, p: int, start: tuple[FloatArray, ...]) -> Paired:
    """Solve the pushed points but for those `short` of 1, whose value is minus infinity."""
    if len(short) < _FEW * len(x):
        at = x.copy()
        at[short] = 1.0
        found = _pushed(at, e, p, start)
        found.value[short] = -np.inf
        return found
    beyond = np.ones(len(x), dtype=bool)
    beyond[short] = False
    rows = np.flatnonzero(beyond)
    found = Paired(np.full_like(x, -np.inf), np.zeros_like(x), (np.ones_like(x),))
    some = _pushed(x[rows], e[rows], p, tuple(part[rows] for part in start[:1]))
    found.value[rows], found.rate[rows], found.solution[0][rows] = some.value, some.rate, some.solution[0]
    return found


def _pushed(x: FloatArray, e: FloatArray, p: int, start: tuple[FloatArray, ...]) -> Paired:
    """Solve the stationary point with ``s = 0``, where it reaches 1."""
    v = np.zeros_like(x)
    if p > 1:
        first = start[0] if start else _first_slope(x, e, p)
        v = _newton(partial(_pushed_step, p=p), partial(_pushed_root, p=p), first, x, e, p * e)
    longer = np.sqrt(1.0 + (p - 1) * v * v)
    a = e / longer
    reach = x + a
    return Paired(0.5 * reach * reach + (p - 1) * np.log(1.0 + v * a), reach * longer, (v,))


def _first_slope(x: FloatArray, e: FloatArray, p: int) -> FloatArray:
    reach = np.maximum(x + e, 1.0)
    first: FloatArray = 1.0 / np.maximum(x + e / np.sqrt(1.0 + (p - 1) / (reach * reach)), 1.0)
    return first


def _pushed_step(v: FloatArray, x: FloatArray, e: FloatArray, p: int) -> tuple[FloatArray, FloatArray]:
    r = 1.0 / (1.0 + (p - 1) * v * v)
    a = e * np.sqrt(r)
    t = v * a
    reach = x + a
    wider = 1.0 + t
    lever = reach * v
    miss = lever * wider - 1.0
    return miss / (reach * (wider + t) - (p - 1) * r * v * t * (wider + lever)), miss


def _pushed_root(x: FloatArray, e: FloatArray, p: int) -> FloatArray:
    # At the sample itself no push is a root, too, but not the limit of the others.
    at = np.maximum(x, _LEAST)
    angle: FloatArray = find_root(profiles._pushed_condition, _ANGLES, args=(at, e, np.full_like(at, p))).x
    v: FloatArray = 1.0 / (np.sqrt(p - 1.0) * np.tan(angle))
    return v


def _merging_radius(x: FloatArray, p: int) -> FloatArray:
    """Radius from which on the pushed point reaches 1, and can be a maximum."""
    u = 1.0 - x
    t = 2.0 * u / (1.0 + np.sqrt(1.0 + 4.0 * u))
    radius: FloatArray = np.sqrt((p - 1) * t * t + u * u)
    return radius


def _newton(step: Step, root: Root, z: FloatArray, x: FloatArray, e: FloatArray, weight: FloatArray) -> FloatArray:
    """Find the positive root from `z` on, element by element; where Newton's iteration is not enough, call `root`.

    The result of an element must not depend on its company: all take the same first steps, then each takes its own.
    Its value is off by at most `weight` times the last step and the last miss.
    """
    change = miss = z
    for _ in range(_SURE_STEPS):
        change, miss = step(z, x, e)
        z = np.maximum(z - change, 0.0)
    left = np.flatnonzero(~(np.abs(weight * change * miss) <= _TOLERANCE))
    for _ in range(_MORE_STEPS):
        if not left.size:
            return z
        change, miss = step(z[left], x[left], e[left])
        z[left] = np.maximum(z[left] - change, 0.0)
        left = left[~(np.abs(weight[left] * change * miss) <= _TOLERANCE)]
    if left.size:
        z[left] = root(x[left], e[left])
    return z


def _where(mask: BoolArray) -> IntArray | slice:
    """Return where the mask holds; everywhere costs nothing."""
    return slice(None) if mask.all() else np.flatnonzero(mask)


class _Curve(NamedTuple):
    """The stretched points of given distances."""

    rho: FloatArray
    u: FloatArray
    radius: FloatArray
    slope: FloatArray  # of the square of the radius, by zeta


def _follow(zeta: FloatArray, x: FloatArray, p: int) -> _Curve:
    square = x * x
    y = 1.0 + square * zeta
    y2 = y * y
    rho, u = x * y, zeta / (y * y2)
    du, drho = (y - 3.0 * square * zeta) / (y2 * y2), x * square
    rho2 = rho * rho
    narrow = 1.0 - rho2
    wide = 1.0 + narrow * u
    root = np.sqrt(1.0 + 4.0 * u * wide)
    t = 2.0 * u * wide / (1.0 + root)
    dt = (du * (wide + narrow * u) - 2.0 * rho * drho * u * u) / root
    q2, dq2 = 1.0 - rho2 * narrow, rho * (4.0 * rho2 - 2.0) * drho
    radius = np.sqrt((p - 1) * t * t + u * u * q2)
    return _Curve(rho, u, radius, 2.0 * ((p - 1) * t * dt + u * du * q2) + u * u * dq2)


def _stretched(x: FloatArray, e: FloatArray, p: int, rows: IntArray | slice, start: FloatArray | None) -> Paired:
    """Solve the stationary points with ``s > 0`` in `rows`; where there is none the value is minus infinity."""
    found = Paired(np.full_like(x, -np.inf), np.zeros_like(x), (np.full_like(x, np.nan),))
    x, e = x[rows], np.maximum(e[rows], _LEAST)
    # The tangent at 0 of a concave rise is above it: that start is left of the root.
    first = e / np.sqrt(p - 1 + 1.0 - x**2 + x**4)
    # What is kept is the quotient of zeta and radius, which changes little.
    known = np.full_like(x, np.nan) if start is None else start[rows] * e
    climbed = _climb(np.where(np.isnan(known), first, np.maximum(known, first)), x, e, p)
    # From a bad start, on the flat top or beyond, the step is too long.
    lost = np.flatnonzero(np.isnan(climbed[0]) & ~np.isnan(known))
    climbed[:, lost] = _climb(first[lost], x[lost], e[lost], p)
    zeta, rho, u = climbed
    best = _worth(rho, u, x, e, p)
    if p == 1:
        steep = np.maximum(x, 0.5)
        last = np.where(x > 0.5, (1.0 / steep - 1.0) / steep**2, np.nan)
        _, rho, u = _climb(last, x, e, p)
        second = _worth(rho, u, x, e, p)
        better = second[0] > best[0]
        best = np.where(better, second[0], best[0]), np.where(better, second[1], best[1])
    found.value[rows], found.rate[rows], found.solution[0][rows] = *best, zeta / e
    return found


def _climb(zeta: FloatArray, x: FloatArray, e: FloatArray, p: int) -> FloatArray:
    """Solve for the radius by Newton's iteration; return ``zeta``, ``rho`` and ``u``, NaN where it leaves the rise."""
    found = np.full((3, len(x)), np.nan)
    rows = np.flatnonzero(~np.isnan(zeta))
    zeta, x, e = zeta[rows], x[rows], e[rows]
    for trial in range(_CLIMBING_STEPS):
        if not rows.size:
            break
        rho, u, radius, slope = _follow(zeta, x, p)
        rising = (slope > 0.0) & (rho <= 1.0 + _SLACK)
        step = 2.0 * radius * (e - radius) / np.where(rising, slope, np.inf)
        zeta = np.maximum(zeta + step, 0.0)
        # Close to the top a climb slows down: where it is at last is as good.
        arrived = rising & ((np.abs(step) <= _CLIMBED * zeta) | (trial == _CLIMBING_STEPS - 1))
        on = rising & ~arrived
        if on.all():
            continue
        there = np.flatnonzero(arrived)
        for part, values in zip(found, (zeta, rho, u), strict=True):
            part[rows[there]] = values[there]
        rows, zeta, x, e = rows[on], zeta[on], x[on], e[on]
    return found


def _worth(rho: FloatArray, u: FloatArray, x: FloatArray, e: FloatArray, p: int) -> tuple[FloatArray, FloatArray]:
    """Value and rate of the feasible points that belong to ``rho`` and ``u``; minus infinity where these are NaN."""
    none = np.isnan(rho)
    narrow = np.maximum(1.0 - rho * rho, 0.0)
    a, s = u * rho, u * narrow
    if p == 1:
        length = e / np.sqrt(a * a + s * s)
        a, s, t = a * length, s * length, np.zeros_like(s)
    else:
        t = np.sqrt(np.maximum(e * e - a * a - s * s, 0.0) / (p - 1))
    d = 1.0 + s
    ratio = (x + a) / d
    value = np.log(d) + 0.5 * ratio * ratio + (p - 1) * np.log(1.0 + t)
    return np.where(none, -np.inf, value), np.where(none, 0.0, e / (u * d))
