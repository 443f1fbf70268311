r"""The paper's first-order method for the two inner problems (Algorithm 1), kept as a reference.

Both problems live on a quarter of a disc, :math:`\{v \ge 0 : \|v\|_2 \le R\}`, onto which projection is a
closed form. The exact profiles of :mod:`robust_recourse.math.profiles` solve the same problems globally and
thousands of times faster; this module is what they are compared with.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from robust_recourse._typing import FloatArray
from robust_recourse._validation import check_distances, check_integer, check_real
from robust_recourse.math.profiles import Profile

__all__ = ["optimistic", "pessimistic", "project_quarter_disc"]

_Objective = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]

_MOST_HALVINGS = 60


def optimistic(
    c: ArrayLike,
    sigma: float,
    epsilon: float,
    p: int,
    *,
    beta: float = 1.0,
    theta: float = 0.5,
    max_iter: int = 1000,
    tolerance: float = 1e-8,
) -> Profile:
    r"""Solve the optimistic problem by projected gradient descent from :math:`v = (a, d - \sigma) = 0`.

    Parameters
    ----------
    c, sigma, epsilon, p
        As for :func:`robust_recourse.math.profiles.optimistic`.
    beta, theta : float
        First step and factor of the backtracking line search.
    max_iter : int
        Largest number of steps.
    tolerance : float
        A problem stops when its step is shorter than this.

    Returns
    -------
    Profile
        Value, slope, ``a`` and ``d`` where the descent ended.
    """
    distances, sigma, epsilon, p = _check(c, sigma, epsilon, p)

    def objective(v: FloatArray, dist: FloatArray) -> tuple[FloatArray, FloatArray]:
        d, gap = v[:, 1] + sigma, dist - v[:, 0]
        value = np.log(d) + gap**2 / (2.0 * d**2)
        return value, np.stack([-gap / d**2, 1.0 / d - gap**2 / d**3], axis=1)

    flat = distances.ravel()
    v = _descend(objective, flat, epsilon, beta, theta, max_iter, tolerance)
    a, d = v[:, 0], v[:, 1] + sigma
    value = np.log(d) + (flat - a) ** 2 / (2.0 * d**2) + (p - 1) * np.log(sigma)
    return Profile(*(part.reshape(distances.shape) for part in (value, (flat - a) / d**2, a, d)))


def pessimistic(
    c: ArrayLike,
    sigma: float,
    epsilon: float,
    p: int,
    *,
    zeta: float = 1e-6,
    beta: float = 1.0,
    theta: float = 0.5,
    max_iter: int = 1000,
    tolerance: float = 1e-8,
) -> Profile:
    r"""Solve the perturbed pessimistic problem by projected gradient descent.

    In :math:`u = (a/\sqrt p,\, d - \sigma)` the feasible set is a quarter disc of radius
    :math:`\varepsilon/\sqrt p`, and `zeta` keeps the gradient finite where the radius is used up. The value
    returned is that of the unperturbed problem at the point where the descent ended, a lower bound of the
    exact :func:`robust_recourse.math.profiles.pessimistic`.

    Parameters
    ----------
    zeta : float
        Perturbation, positive.
    c, sigma, epsilon, p, beta, theta, max_iter, tolerance
        As for :func:`optimistic`.

    Returns
    -------
    Profile
        Value :math:`M`, slope, ``a`` and ``d`` where the descent ended.
    """
    distances, sigma, epsilon, p = _check(c, sigma, epsilon, p)
    zeta = check_real(zeta, "zeta", minimum=0.0, strict=True)
    others = max(p - 1, 1)

    def objective(u: FloatArray, dist: FloatArray) -> tuple[FloatArray, FloatArray]:
        d, reach = u[:, 1] + sigma, dist + np.sqrt(p) * u[:, 0]
        t = np.sqrt((zeta + epsilon**2 - p * u[:, 0] ** 2 - u[:, 1] ** 2) / others)
        value = -np.log(d) - reach**2 / (2.0 * d**2) - (p - 1) * np.log(sigma + t)
        pull = (p - 1) / (others * t * (sigma + t))
        gradient = [-np.sqrt(p) * reach / d**2 + pull * p * u[:, 0], -1.0 / d + reach**2 / d**3 + pull * u[:, 1]]
        return value, np.stack(gradient, axis=1)

    flat = distances.ravel()
    u = _descend(objective, flat, epsilon / np.sqrt(p), beta, theta, max_iter, tolerance)
    a, s = np.sqrt(p) * u[:, 0], u[:, 1]
    d, reach = s + sigma, flat + a
    t = np.sqrt(np.maximum(epsilon**2 - a**2 - s**2, 0.0) / others)
    value = np.log(d) + reach**2 / (2.0 * d**2) + (p - 1) * np.log(sigma + t)
    return Profile(*(part.reshape(distances.shape) for part in (value, reach / d**2, a, d)))


def project_quarter_disc(v: FloatArray, radius: float) -> FloatArray:
    r"""Project the rows of `v` onto :math:`\{v \ge 0 : \|v\|_2 \le R\}`.

    The seven cases of the paper's appendix are one: drop what is negative, then scale what is too long.
    """
    positive = np.maximum(v, 0.0)
    length = np.hypot(positive[:, 0], positive[:, 1])
    longest = np.maximum(length, radius)
    return positive * (radius / np.where(longest > 0.0, longest, 1.0))[:, None]


def _check(c: ArrayLike, sigma: float, epsilon: float, p: int) -> tuple[FloatArray, float, float, int]:
    return (
        check_distances(c, "c"),
        check_real(sigma, "sigma", minimum=0.0, strict=True),
        check_real(epsilon, "epsilon", minimum=0.0),
        check_integer(p, "p", minimum=1),
    )


def _descend(
    objective: _Objective,
    distances: FloatArray,
    radius: float,
    beta: float,
    theta: float,
    max_iter: int,
    tolerance: float,
) -> FloatArray:
    """Run Algorithm 1 for all distances at once; each stops on its own."""
    v = np.zeros((len(distances), 2))
    active = np.arange(len(distances))
    for _ in range(max_iter):
        if not len(active):
            break
        current, dist = v[active], distances[active]
        value, gradient = objective(current, dist)
        step = np.full(len(active), beta)
        new = project_quarter_disc(current - step[:, None] * gradient, radius)
        pending = np.arange(len(active))
        for _ in range(_MOST_HALVINGS):
            moved = ((current[pending] - new[pending]) ** 2).sum(axis=1)
            bound = value[pending] - moved / (2.0 * step[pending])
            pending = pending[objective(new[pending], dist[pending])[0] > bound]
            if not len(pending):
                break
            step[pending] *= theta
            trial = current[pending] - step[pending, None] * gradient[pending]
            new[pending] = project_quarter_disc(trial, radius)
        new[pending] = current[pending]
        v[active] = new
        active = active[np.abs(new - current).max(axis=1) > tolerance]
    return v
