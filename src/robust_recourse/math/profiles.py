r"""Exact profiles: the two inner worst cases as functions of one distance.

Both inner problems of the worst-case odds depend on the point :math:`x` only through
:math:`c = \|x - \hat x_i\|_2`. In units of the smoothing :math:`\sigma` (distances :math:`c/\sigma`,
radius :math:`\varepsilon/\sigma`) each is one function of one variable, its *profile*; going back to
the user's units only adds :math:`p \log\sigma` to a value and divides a slope by :math:`\sigma`.
Private functions work in those units, public ones validate and convert.

References
----------
.. [1] T.-D. H. Nguyen, N. Bui, D. Nguyen, M.-C. Yue and V. A. Nguyen, "Robust Bayesian Recourse",
   UAI 2022, Theorem "Optimistic likelihood" and Theorem "Pessimistic likelihood".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq, minimize_scalar
from scipy.optimize.elementwise import find_root

from robust_recourse._typing import FloatArray
from robust_recourse._validation import check_distances, check_integer, check_real

__all__ = [
    "Branch",
    "Profile",
    "optimistic",
    "pessimistic",
    "pessimistic_branches",
    "pessimistic_switches",
]

_QUARTER = np.pi / 2
_CURVE_NODES = 257
_NEWTON_STEPS = 60
_NEWTON_TOLERANCE = 4.0 * np.finfo(float).eps


class Profile(NamedTuple):
    """A profile and its optimal solution at the given distances."""

    value: FloatArray
    slope: FloatArray
    a: FloatArray
    d: FloatArray


def optimistic(c: ArrayLike, sigma: float, epsilon: float, p: int) -> Profile:
    r"""Solve the optimistic problem exactly for every distance.

    .. math::
        \alpha_0(c) = \min_{a \ge 0,\; d \ge \sigma,\; a^2 + (d-\sigma)^2 \le \varepsilon^2}
        \log d + \frac{(c-a)^2}{2 d^2} + (p-1)\log\sigma .

    The component moves towards :math:`x` by :math:`a`; only when that is not enough
    (:math:`c > \varepsilon + \sigma`) does it stretch too, and then :math:`a = \varepsilon\cos t`,
    :math:`d = \sigma + \varepsilon\sin t` with the only root of :math:`\tan t = \rho - 1/\rho`,
    :math:`\rho = (c-a)/d`.

    Parameters
    ----------
    c : array_like of float
        Distances, non-negative.
    sigma : float
        Smoothing, positive.
    epsilon : float
        Ambiguity radius, non-negative.
    p : int
        Dimension, at least 1.

    Returns
    -------
    Profile
        ``value`` (:math:`\alpha_0`), ``slope`` (:math:`\alpha_0'(c) = (c-a)/d^2`), ``a`` and ``d``,
        each of the shape of `c`.

    Notes
    -----
    Theorem "Optimistic likelihood" of [1]_, of which this is the closed solution.

    Examples
    --------
    >>> found = optimistic([0.5, 1.5, 4.0], sigma=1.0, epsilon=1.0, p=2)
    >>> found.value.round(6)
    array([0.      , 0.125   , 2.371667])
    """
    distances, sigma, radius, p = _check(c, sigma, epsilon, p)
    return _in_user_units(_optimistic(distances.ravel() / sigma, radius), sigma, p, distances.shape)


def pessimistic(c: ArrayLike, sigma: float, epsilon: float, p: int) -> Profile:
    r"""Solve the pessimistic problem exactly for every distance.

    .. math::
        M(c) = \max_{a,\, s \ge 0,\; a^2 + p s^2 \le \varepsilon^2}
        \log d + \frac{(c+a)^2}{2 d^2} + (p-1)\log(\sigma + t), \qquad
        d = \sigma + s,\quad t = \sqrt{\frac{\varepsilon^2 - a^2 - s^2}{p-1}} .

    The problem is not concave. Its stationary points are of two kinds, *pushed* (:math:`s = 0`) and
    *stretched* (:math:`s > 0`), and the global one is the better of the two at each distance.
    For :math:`p = 1` there is no :math:`t` and :math:`a^2 + s^2 = \varepsilon^2`.

    Parameters
    ----------
    c, sigma, epsilon, p
        As for :func:`optimistic`.

    Returns
    -------
    Profile
        ``value`` (:math:`M = -\alpha_1`), ``slope`` (:math:`M'(c) = (c+a)/d^2`, the right derivative
        at a kink), ``a`` and ``d``, each of the shape of `c`.

    Notes
    -----
    Theorem "Pessimistic likelihood" of [1]_, with :math:`\varepsilon_1` for its unindexed epsilon.

    Examples
    --------
    >>> pessimistic([0.0, 0.5, 2.0], sigma=1.0, epsilon=1.0, p=2).value.round(8)
    array([1.06959999, 1.34186257, 4.62853203])
    """
    distances, sigma, radius, p = _check(c, sigma, epsilon, p)
    return _in_user_units(_pessimistic(distances.ravel() / sigma, radius, p), sigma, p, distances.shape)


def pessimistic_switches(sigma: float, epsilon: float, p: int) -> FloatArray:
    """Locate the distances at which the pessimistic optimum changes its kind, in increasing order.

    Below the last one the worst component is stretched, above it only pushed; there is none when the
    stretched kind is never the better one. Each is a kink of the profile or a jump of its second
    derivative. There is at most one, except for ``p = 1`` and ``epsilon / sigma`` between 0.47172 and 0.48157,
    where two stretched optima take turns first.

    Examples
    --------
    >>> pessimistic_switches(sigma=1.0, epsilon=1.0, p=2).round(6)
    array([0.312374])
    """
    _, sigma, radius, p = _check(0.0, sigma, epsilon, p)
    return sigma * np.array([branch.start for branch in pessimistic_branches(radius, p)[1:]])


def _check(c: ArrayLike, sigma: float, epsilon: float, p: int) -> tuple[FloatArray, float, float, int]:
    distances = check_distances(c, "c")
    sigma = check_real(sigma, "sigma", minimum=0.0, strict=True)
    epsilon = check_real(epsilon, "epsilon", minimum=0.0)
    return distances, sigma, epsilon / sigma, check_integer(p, "p", minimum=1)


def _in_user_units(unit: Profile, sigma: float, p: int, shape: tuple[int, ...]) -> Profile:
    value, slope, a, d = (part.reshape(shape) for part in unit)
    return Profile(value + p * np.log(sigma), slope / sigma, a * sigma, d * sigma)


def _optimistic(x: FloatArray, e: float) -> Profile:
    a = np.minimum(x, e)
    d = np.ones_like(x)
    far = x > e + 1.0
    if e > 0.0 and far.any():
        t = _root(_optimistic_condition, x[far], e)
        a[far], d[far] = e * np.cos(t), 1.0 + e * np.sin(t)
    rho = (x - a) / d
    return Profile(np.log(d) + 0.5 * rho**2, rho / d, a, d)


def _optimistic_condition(t: FloatArray, x: FloatArray, e: FloatArray) -> FloatArray:
    rho = (x - e * np.cos(t)) / (1.0 + e * np.sin(t))
    return np.sin(t) - np.cos(t) * (rho - 1.0 / rho)


class Branch(NamedTuple):
    """A kind of pessimistic optimum and the distance from which on it is the global one."""

    start: float
    solve: Callable[[FloatArray], Profile]


def _pessimistic(x: FloatArray, e: float, p: int) -> Profile:
    branches = pessimistic_branches(e, p)
    kind = np.searchsorted([branch.start for branch in branches], x, side="right") - 1
    best = Profile(*(np.empty_like(x) for _ in Profile._fields))
    for k, branch in enumerate(branches):
        held = kind == k
        for part, solved in zip(best, branch.solve(x[held]), strict=True):
            part[held] = solved
    return best


def _pushed(x: FloatArray, e: float, p: int) -> Profile:
    """Solve the stationary point with ``s = 0``: the only positive root in ``a`` of ``(x + a) t (1 + t) = a``."""
    if e == 0.0 or p == 1:
        a, t = np.full_like(x, e), np.zeros_like(x)
    else:
        angle = np.empty_like(x)
        # At x = 0 the condition is a (t (1 + t) - 1) = 0: pushed only as far as the golden ratio allows.
        golden = (np.sqrt(5.0) - 1.0) / 2.0
        angle[x == 0.0] = np.arccos(min(1.0, golden * np.sqrt(p - 1) / e))
        away = x > 0.0
        if away.any():
            angle[away] = _root(_pushed_condition, x[away], e, float(p))
        a, t = e * np.sin(angle), e * np.cos(angle) / np.sqrt(p - 1)
    reach = x + a
    return Profile(0.5 * reach**2 + (p - 1) * np.log1p(t), reach, a, np.ones_like(x))


def _pushed_condition(angle: FloatArray, x: FloatArray, e: FloatArray, p: FloatArray) -> FloatArray:
    a, t = e * np.sin(angle), e * np.cos(angle) / np.sqrt(p - 1.0)
    return (x + a) * t * (1.0 + t) - a


class _Run(NamedTuple):
    """Part of the stretched curve on which ``x`` rises with ``rho``: local maxima, the rest are saddles."""

    rho: FloatArray
    x: FloatArray


def _stretched(x: FloatArray, run: _Run, e: float, p: int) -> Profile:
    """Solve the stationary point with ``s > 0`` on a rising run that spans all of ``x``."""
    piece = np.searchsorted(run.x, x, side="right")
    # One node further on both sides: at a node itself rounding decides the sign.
    low, high = run.rho[np.maximum(piece - 2, 0)], run.rho[np.minimum(piece + 1, len(run.rho) - 1)]

    def miss(rho: FloatArray, target: FloatArray) -> FloatArray:
        return _stretched_curve(rho, e, p)[0] - target

    found = find_root(miss, (low, high), args=(x,))
    # Without a change of sign the distance is, up to rounding, an end of the run.
    rho = np.where(found.success, found.x, np.where(np.abs(miss(low, x)) < np.abs(miss(high, x)), low, high))
    _, a, d, t = _stretched_curve(rho, e, p)
    ratio = (x + a) / d
    return Profile(np.log(d) + 0.5 * ratio**2 + (p - 1) * np.log1p(t), ratio / d, a, d)


def _stretched_curve(rho: FloatArray, e: float, p: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Follow the stretched stationary points ``x, a, d, t`` along ``rho = (x + a)/d`` in ``[0, 1]``.

    With ``R^2 = a^2 + s^2`` and ``q^2 = 1 - rho^2 + rho^4`` the ratio condition gives ``a = R rho/q`` and
    ``s = R (1 - rho^2)/q``; the other condition makes ``t (1 + t)`` explicit in ``R``, and
    ``(p - 1) t^2 + R^2 = e^2`` has one root: its left side is convex and increasing in ``R``, so Newton's
    iteration from ``R = e`` decreases to it.
    """
    q = np.sqrt(1.0 - rho**2 + rho**4)
    narrow = 1.0 - rho**2
    R, t = np.full_like(q, e), np.zeros_like(q)
    for _ in range(_NEWTON_STEPS if p > 1 and e > 0.0 else 0):
        u = R / q
        root = np.sqrt(1.0 + 4.0 * u * (1.0 + narrow * u))
        t = 2.0 * u * (1.0 + narrow * u) / (1.0 + root)
        excess = (p - 1) * t**2 + R**2 - e**2
        step = excess / (2.0 * (p - 1) * t * (1.0 + 2.0 * narrow * u) / (root * q) + 2.0 * R)
        R = R - step
        if np.all(np.abs(step) <= _NEWTON_TOLERANCE * R):
            break
    a = R * rho / q
    return rho * (1.0 - rho * a), a, 1.0 + R * narrow / q, t


@lru_cache(maxsize=256)
def _rising_runs(e: float, p: int) -> tuple[_Run, ...]:
    """Split the stretched curve at its turning points and keep the rising runs."""
    # Denser towards rho = 1, where the second turning point of p = 1 hides.
    rho = 1.0 - np.linspace(1.0, 0.0, _CURVE_NODES) ** 1.5
    x = _stretched_curve(rho, e, p)[0]
    rises = np.diff(x) > 0.0
    turns = np.flatnonzero(rises[1:] != rises[:-1]) + 1
    ends = [0.0, *(_turn(rho[i - 1], rho[i + 1], bool(rises[i - 1]), e, p) for i in turns), 1.0]
    runs = []
    for low, high in pairwise(ends):
        nodes = np.concatenate([[low], rho[(low < rho) & (rho < high)], [high]])
        along = _stretched_curve(nodes, e, p)[0]
        if along[-1] > along[0]:
            runs.append(_Run(nodes, np.maximum.accumulate(along)))
    return tuple(runs)


def _turn(low: float, high: float, top: bool, e: float, p: int) -> float:
    sign = -1.0 if top else 1.0
    return float(
        minimize_scalar(
            lambda r: sign * float(_stretched_curve(np.array(r), e, p)[0]),
            bounds=(low, high),
            method="bounded",
            options={"xatol": 1e-10},
        ).x
    )


@lru_cache(maxsize=256)
def pessimistic_branches(e: float, p: int) -> tuple[Branch, ...]:
    """Find which kind of optimum is the global one from which distance on, in units of ``sigma``.

    Between two starts the profile is smooth: the best of the rising runs and of the pushed kind is compared on
    a grid, and every change is located by a root of the difference of the two values.
    """
    runs = _rising_runs(e, p) if e > 0.0 else ()
    solvers = [*(partial(_stretched, run=run, e=e, p=p) for run in runs), partial(_pushed, e=e, p=p)]
    spans = [*((max(run.x[0], 0.0), run.x[-1]) for run in runs), (0.0, np.inf)]

    def lead(x: float, old: int, new: int) -> float:
        at = np.array([x])
        return float(solvers[old](at).value[0] - solvers[new](at).value[0])

    ends = [end for span in spans[:-1] for end in span]
    x = np.unique(np.concatenate([np.linspace(0.0, max(ends, default=0.0), _CURVE_NODES), ends, [1.0]]))
    values = np.full((len(solvers), len(x)), -np.inf)
    for row, solver, (low, high) in zip(values, solvers, spans, strict=True):
        held = (low <= x) & (x <= high)
        row[held] = solver(x[held]).value
    best = values.argmax(axis=0)
    branches = [Branch(0.0, solvers[best[0]])]
    for i in np.flatnonzero(best[1:] != best[:-1]):
        old, new = int(best[i]), int(best[i + 1])
        low, high = max(x[i], spans[new][0]), min(x[i + 1], spans[old][1])
        # Two kinds that merge smoothly meet at the end of the run, without a change of sign.
        merges = high <= low or lead(high, old, new) >= 0.0 or lead(low, old, new) <= 0.0
        start = high if merges else brentq(lead, low, high, args=(old, new), xtol=1e-15)
        branches.append(Branch(float(start), solvers[new]))
    return tuple(branches)


def _root(condition: Callable[..., FloatArray], x: FloatArray, *args: float) -> FloatArray:
    found = find_root(condition, (0.0, _QUARTER), args=(x, *args))
    # So far away that the root differs from a quarter by less than rounding there is no change of sign.
    return np.where(found.success, found.x, _QUARTER)
