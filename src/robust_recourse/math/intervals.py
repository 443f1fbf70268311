"""Confidence intervals: of a share and of a median, exact, and of a mean."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betainccinv, betaincinv, stdtrit

from robust_recourse._typing import FloatArray
from robust_recourse._validation import check_distances, check_real, check_vector

__all__ = [
    "Bounds",
    "Interval",
    "check_level",
    "clopper_pearson",
    "mean_interval",
    "median_interval",
    "share_at_least",
]


class Interval(NamedTuple):
    """Both ends of an interval; infinite where nothing can be said."""

    low: float
    high: float


class Bounds(NamedTuple):
    """Both ends of many intervals."""

    low: FloatArray
    high: FloatArray


def check_level(level: float, name: str = "level") -> float:
    """Return `level` as a float between 0 and 1, both excluded."""
    level = check_real(level, name, minimum=0.0, strict=True)
    if level >= 1.0:
        raise ValueError(f"{name} must be less than 1, got {level:g}. For 95 % pass 0.95.")
    return level


def clopper_pearson(successes: ArrayLike, trials: ArrayLike, level: float = 0.95) -> Bounds:
    r"""Return the exact intervals of Clopper and Pearson for shares.

    With :math:`k` successes in :math:`n` independent trials the ends are the shares :math:`q` with

    .. math:: P(B(n, q) \ge k) = \alpha / 2 \quad\text{and}\quad P(B(n, q) \le k) = \alpha / 2, \qquad
        \alpha = 1 - \text{level},

    and 0 for :math:`k = 0`, 1 for :math:`k = n`. Whatever the true share, the interval holds it with a probability of
    at least `level`.

    Parameters
    ----------
    successes : array_like
        At least 0 and at most `trials`. Between whole numbers the ends move continuously, by the beta distributions
        that the binomial tails are.
    trials : array_like
        Number of trials, broadcast against `successes`; with 0 of them the interval is all of [0, 1].
    level : float
        Least probability of the interval to hold the true share.

    Returns
    -------
    low, high : ndarray
        Ends, in [0, 1].

    References
    ----------
    C. Clopper, E. Pearson (1934). The use of confidence or fiducial limits illustrated in the case of the binomial.
    Biometrika 26(4).

    Examples
    --------
    >>> low, high = clopper_pearson([0, 19, 20], 20)
    >>> low.round(3), high.round(3)
    (array([0.   , 0.751, 0.832]), array([0.168, 0.999, 1.   ]))
    """
    tail = 0.5 * (1.0 - check_level(level))
    k, n = _counts(successes, trials)
    missed = k < n
    high = np.where(missed, betainccinv(k + 1.0, np.where(missed, n - k, 1.0), tail), 1.0)
    return Bounds(_lower(k, n, tail), high)


def _counts(successes: ArrayLike, trials: ArrayLike) -> tuple[FloatArray, FloatArray]:
    k, n = np.broadcast_arrays(check_distances(successes, "successes"), check_distances(trials, "trials"))
    if (k > n).any():
        where = tuple(int(i) for i in np.argwhere(k > n)[0])
        raise ValueError(f"successes must be at most trials, got {k[where]:g} of {n[where]:g} at index {where}.")
    return k, n


def _lower(k: FloatArray, n: FloatArray, tail: float) -> FloatArray:
    """Return the shares at which so many successes, or more, have the probability `tail`."""
    some = k > 0.0
    return np.where(some, betaincinv(np.where(some, k, 1.0), n - k + 1.0, tail), 0.0)


def share_at_least(successes: ArrayLike, trials: ArrayLike, level: float = 0.95) -> FloatArray:
    r"""Return the exact lower bounds of Clopper and Pearson for shares, each at this level alone.

    It is the share :math:`q` with :math:`P(B(n, q) \ge k) = 1 - \text{level}`, and 0 for :math:`k = 0`: the lower end
    of the interval that leaves out as much on the other side. Whatever the true share, the bound exceeds it with a
    probability of at most :math:`1 - \text{level}`.

    Parameters
    ----------
    successes, trials, level
        As for :func:`clopper_pearson`.

    Examples
    --------
    >>> share_at_least([19, 20], 20).round(3)
    array([0.784, 0.861])
    """
    tail = 1.0 - check_level(level)
    k, n = _counts(successes, trials)
    return _lower(k, n, tail)


def median_interval(values: ArrayLike, level: float = 0.95) -> Interval:
    r"""Return the narrowest symmetric interval of order statistics that holds the median.

    .. math:: [x_{(k+1)}, x_{(n-k)}], \qquad k = \max\{k : P(B(n, 1/2) \le k) \le \alpha / 2\}

    holds the median of any distribution with a probability of at least `level`. With too few values, five or fewer at
    a level of 95 %, there is no such :math:`k`: both ends are infinite.

    Parameters
    ----------
    values : array_like of shape (n,)
        Independent draws.
    level : float
        Least probability of the interval to hold the median.

    Examples
    --------
    >>> median_interval([7.0, 1.0, 3.0, 2.0, 9.0, 4.0, 5.0, 8.0])
    Interval(low=1.0, high=9.0)
    >>> median_interval([1.0, 2.0, 3.0])
    Interval(low=-inf, high=inf)
    """
    tail = 0.5 * (1.0 - check_level(level))
    ordered = np.sort(check_vector(values, "values"))
    n = len(ordered)
    below = np.arange((n + 1) // 2)
    usable = int((betainc(n - below, below + 1.0, 0.5) <= tail).sum())
    if not usable:
        return Interval(-np.inf, np.inf)
    return Interval(float(ordered[usable - 1]), float(ordered[n - usable]))


def mean_interval(values: ArrayLike, level: float = 0.95) -> Interval:
    r"""Return Student's interval of a mean, :math:`\bar x \pm t_{n-1} s / \sqrt n`.

    Exact for normal values, and an approximation for others that is too narrow for a few values of a skewed
    distribution. With fewer than two values both ends are infinite.

    Parameters
    ----------
    values : array_like of shape (n,)
        Independent draws.
    level : float
        Probability of the interval to hold the mean.

    Examples
    --------
    >>> low, high = mean_interval([1.0, 2.0, 3.0, 4.0])
    >>> round(low, 2), round(high, 2)
    (0.45, 4.55)
    """
    tail = 0.5 * (1.0 - check_level(level))
    drawn = check_vector(values, "values")
    n = len(drawn)
    if n < 2:
        return Interval(-np.inf, np.inf)
    centre = float(drawn.mean())
    half = -float(stdtrit(n - 1, tail)) * float(drawn.std(ddof=1)) / float(np.sqrt(n))
    return Interval(centre - half, centre + half)
