r"""The worst-case posterior odds of refusal and its gradient.

.. math::
    \log F(x) = \log\!\sum_{i \in I_0} e^{-\alpha_0(c_i)} - \log\!\sum_{j \in I_1} e^{-M(c_j)},
    \qquad c_i = \|x - \hat x_i\|_2 .

By the envelope theorem its gradient needs the slopes of the profiles only, so one pass over the samples gives
both; with tabulated profiles no inner problem is solved at all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse._validation import check_labelled_samples, check_matrix, check_real, check_vector
from robust_recourse.math import first_order, profiles
from robust_recourse.math.lookup import optimistic_table, pessimistic_table

__all__ = ["Odds", "OddsObjective", "Scales", "log_worst_case_odds"]

ProfileFunction = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
Inner = Literal["table", "direct", "first-order"]


_BLOCK = 2**17  # numbers in the samples of a block: 1 MiB


class Odds(NamedTuple):
    """Logarithm of the worst-case odds and its gradient."""

    value: FloatArray
    gradient: FloatArray


class Scales(NamedTuple):
    """Smoothing and ambiguity radii, in the user's units."""

    sigma: float
    epsilon_0: float
    epsilon_1: float


class OddsObjective:
    """Worst-case log odds of many instances at once, each with its own samples.

    Parameters
    ----------
    samples : ndarray of shape (m, n, p)
        Neighbourhoods of `m` instances.
    accepted : ndarray of bool, shape (m, n)
        Labels of the samples; every row has both classes.
    scales : Scales
        Smoothing and ambiguity radii.
    inner : {"table", "direct", "first-order"}
        How the profiles are found: interpolated from a table of the exact ones, solved exactly at every distance,
        or by the paper's Algorithm 1.
    rounding : float
        With tables: distance, in units of the smoothing, over which the kinks of the profile are rounded off.
    """

    def __init__(
        self,
        samples: FloatArray,
        accepted: BoolArray,
        scales: Scales,
        inner: Inner = "table",
        rounding: float = 0.0,
    ) -> None:
        self._samples, self._accepted = samples, accepted
        self._settings = scales, inner, rounding
        _, n, p = samples.shape
        size = max(1, _BLOCK // (n * p))
        profiles = _profile_functions(inner, scales, p, rounding)
        self._blocks = [
            _Block(samples[i : i + size], accepted[i : i + size], scales.sigma, profiles)
            for i in range(0, len(samples), size)
        ]

    def take(self, rows: IntArray) -> OddsObjective:
        """Keep the instances `rows`."""
        return OddsObjective(self._samples[rows], self._accepted[rows], *self._settings)

    def __call__(self, x: FloatArray) -> Odds:
        """Evaluate at `x` of shape (m, p), one point for every instance."""
        value, gradient = np.empty(len(x)), np.empty_like(x)
        scratch = np.empty(self._blocks[0].samples.shape)
        first = 0
        for block in self._blocks:
            rows = slice(first, first + len(block.samples))
            value[rows], gradient[rows] = block.evaluate(x[rows], scratch[: len(block.samples)])
            first = rows.stop
        return Odds(value, gradient)

    def values(self, points: FloatArray) -> FloatArray:
        """Evaluate at several points of every instance, of shape (m, k, p); return the values, of shape (m, k)."""
        found = np.empty(points.shape[:2])
        first = 0
        for block in self._blocks:
            rows = slice(first, first + len(block.samples))
            at_once = max(1, _BLOCK // block.samples.size)
            scratch = np.empty((at_once, *block.samples.shape))
            for k in range(0, points.shape[1], at_once):
                some = points[rows, k : k + at_once].swapaxes(0, 1)
                found[rows, k : k + at_once] = block.values(some, scratch[: len(some)]).T
            first = rows.stop
        return found


class _Block:
    """Instances whose samples fit in the cache together."""

    def __init__(
        self,
        samples: FloatArray,
        accepted: BoolArray,
        sigma: float,
        profiles: tuple[ProfileFunction, ProfileFunction],
    ) -> None:
        self.samples, self._sigma = samples, sigma
        m, n = accepted.shape
        # Distances are laid out class by class, row by row: a profile then is one call on a slice, and the sums
        # over a class of a row are sums over a segment.
        self._order = np.argsort(accepted.ravel(), kind="stable")
        self._back = np.empty_like(self._order)
        self._back[self._order] = np.arange(m * n)
        n_accepted = accepted.sum(axis=1)
        sizes = np.concatenate([n - n_accepted, n_accepted])
        self._segments = np.cumsum(sizes) - sizes
        self._segment_of = np.repeat(np.arange(2 * m), sizes)
        n_refused = int(sizes[:m].sum())
        self._by_class = tuple(zip((slice(n_refused), slice(n_refused, None)), profiles, strict=True))

    def evaluate(self, x: FloatArray, away: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return values and gradients; `away` is overwritten."""
        np.subtract(x[:, None, :], self.samples, out=away)
        ordered = self._distances(away)
        loss, slope = np.empty_like(ordered), np.empty_like(ordered)
        for part, profile in self._by_class:
            loss[part], slope[part] = profile(ordered[part])
        value, weights, total = self._log_odds(loss)
        signed = 1.0 / (total * self._sigma**2)
        signed[: len(x)] *= -1.0
        weights *= slope
        weights *= signed.take(self._segment_of)
        # At a sample itself the zero subgradient is taken.
        ordered[ordered == 0.0] = np.inf
        weights /= ordered
        pull = weights.take(self._back).reshape(away.shape[:2])
        return value, np.einsum("mn,mnp->mp", pull, away)

    def values(self, points: FloatArray, away: FloatArray) -> FloatArray:
        """Return values only, at points of shape (k, m, p); `away` is overwritten."""
        np.subtract(points[:, :, None, :], self.samples, out=away)
        ordered = self._distances(away)
        loss = np.empty_like(ordered)
        for part, profile in self._by_class:
            loss[:, part] = profile(ordered[:, part].ravel())[0].reshape(len(points), -1)
        return self._log_odds(loss)[0]

    def _distances(self, away: FloatArray) -> FloatArray:
        """Lengths in units of the smoothing, those of all instances in a row, class by class."""
        c = np.sqrt(np.einsum("...p,...p->...", away, away))
        c /= self._sigma
        ordered: FloatArray = c.reshape(*c.shape[:-2], -1).take(self._order, axis=-1)
        return ordered

    def _log_odds(self, loss: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return log odds, weights and sums of weights, from losses that are overwritten."""
        # Log-sum-exp of minus the losses by segment. In units of sigma every loss lacks p log sigma: that cancels.
        least = np.minimum.reduceat(loss, self._segments, axis=-1)
        np.subtract(least.take(self._segment_of, axis=-1), loss, out=loss)
        weights = np.exp(loss, out=loss)
        total = np.add.reduceat(weights, self._segments, axis=-1)
        log = np.log(total) - least
        m = len(self.samples)
        return log[..., :m] - log[..., m:], weights, total


def log_worst_case_odds(
    x: ArrayLike,
    samples: ArrayLike,
    labels: ArrayLike,
    sigma: float,
    epsilon_0: float,
    epsilon_1: float,
) -> Odds:
    r"""Return the worst-case log odds of refusal at `x`, and its gradient, with the exact profiles.

    Parameters
    ----------
    x : array_like of shape (p,) or (m, p)
        The point or points.
    samples : array_like of shape (n, p)
        The neighbourhood.
    labels : array_like of shape (n,)
        1 (accepted) or 0 (refused) for every sample; both occur.
    sigma : float
        Smoothing, positive.
    epsilon_0, epsilon_1 : float
        Ambiguity radii of the refused and of the accepted samples. With both 0 this is the KDE-Bayesian
        recourse's objective with bandwidth `sigma`.

    Returns
    -------
    Odds
        ``value`` (a scalar or of shape (m,)) and ``gradient`` of the shape of `x`.

    Examples
    --------
    >>> samples, labels = [[0.0, 0.0], [2.0, 0.0]], [0, 1]
    >>> value, gradient = log_worst_case_odds([1.5, 0.0], samples, labels, 1.0, 0.0, 0.0)
    >>> float(value), gradient
    (-1.0, array([-2.,  0.]))
    >>> float(log_worst_case_odds([1.5, 0.0], samples, labels, 1.0, 0.5, 0.5).value) > float(value)
    True
    """
    samples_, accepted = check_labelled_samples(samples, labels)
    single = np.ndim(x) == 1
    points = check_vector(x, "x")[None] if single else check_matrix(x, "x")
    points = check_matrix(points, "x", width=samples_.shape[1])
    scales = Scales(
        check_real(sigma, "sigma", minimum=0.0, strict=True),
        check_real(epsilon_0, "epsilon_0", minimum=0.0),
        check_real(epsilon_1, "epsilon_1", minimum=0.0),
    )
    shape = (len(points), *samples_.shape)
    objective = OddsObjective(np.broadcast_to(samples_, shape), np.broadcast_to(accepted, shape[:2]), scales, "direct")
    odds = objective(points)
    return Odds(odds.value[0], odds.gradient[0]) if single else odds


def _profile_functions(
    inner: Inner, scales: Scales, p: int, rounding: float
) -> tuple[ProfileFunction, ProfileFunction]:
    """Return the optimistic and the pessimistic profile in units of the smoothing."""
    e0, e1 = scales.epsilon_0 / scales.sigma, scales.epsilon_1 / scales.sigma
    if inner == "table":
        return optimistic_table(e0), pessimistic_table(e1, p, rounding)
    module = profiles if inner == "direct" else first_order
    return lambda c: module.optimistic(c, 1.0, e0, p)[:2], lambda c: module.pessimistic(c, 1.0, e1, p)[:2]
