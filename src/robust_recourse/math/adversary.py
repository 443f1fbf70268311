r"""The worst-case mixtures :math:`Q_0^\star, Q_1^\star` behind the worst-case odds (appendix "Recovery")."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from robust_recourse._typing import FloatArray
from robust_recourse._validation import check_labelled_samples, check_real, check_vector
from robust_recourse.math import profiles

__all__ = ["GaussianMixture", "WorstCase", "recover"]


@dataclass(frozen=True)
class GaussianMixture:
    r"""An equally weighted mixture of Gaussians in the ambiguity set.

    Attributes
    ----------
    means : ndarray of shape (n, p)
        Means of the components.
    nominal_means : ndarray of shape (n, p)
        The samples: the means before the perturbation.
    directions : ndarray of shape (n, p)
        Unit vectors from each sample to the point.
    along, across : ndarray of shape (n,)
        Standard deviations along that direction and across it.
    sigma : float
        The nominal standard deviation.
    """

    means: FloatArray
    nominal_means: FloatArray
    directions: FloatArray
    along: FloatArray
    across: FloatArray
    sigma: float

    @property
    def covariances(self) -> FloatArray:
        """Covariance matrices of the components, of shape (n, p, p)."""
        outer = self.directions[:, :, None] * self.directions[:, None, :]
        isotropic = self.across[:, None, None] ** 2 * np.eye(self.means.shape[1])
        matrices: FloatArray = isotropic + (self.along**2 - self.across**2)[:, None, None] * outer
        return matrices

    @property
    def transport_cost(self) -> FloatArray:
        r"""Distance of each component from its nominal one, at most the ambiguity radius.

        .. math:: \sqrt{\|\mu - \hat\mu\|_2^2 + \operatorname{Tr}[\Sigma + \sigma^2 I - 2 \sigma \Sigma^{1/2}]}
        """
        p = self.means.shape[1]
        moved = ((self.means - self.nominal_means) ** 2).sum(axis=1)
        stretched = (self.along - self.sigma) ** 2 + (p - 1) * (self.across - self.sigma) ** 2
        cost: FloatArray = np.sqrt(moved + stretched)
        return cost

    def log_likelihood(self, x: ArrayLike) -> float:
        """Log density of the mixture at the point `x`."""
        n, p = self.means.shape
        away = check_vector(x, "x", width=p) - self.means
        along = (away * self.directions).sum(axis=1)
        across = np.maximum((away**2).sum(axis=1) - along**2, 0.0)
        quadratic = (along / self.along) ** 2 + across / self.across**2
        log_det = np.log(self.along) + (p - 1) * np.log(self.across)
        return float(logsumexp(-log_det - 0.5 * quadratic) - np.log(n) - 0.5 * p * np.log(2.0 * np.pi))


@dataclass(frozen=True)
class WorstCase:
    """The mixtures that attain the worst-case odds at a point."""

    x: FloatArray
    refused: GaussianMixture
    accepted: GaussianMixture

    @property
    def log_odds(self) -> float:
        """Posterior log odds of refusal at the point under these mixtures: the worst-case log odds."""
        n_refused, n_accepted = len(self.refused.means), len(self.accepted.means)
        ratio = self.refused.log_likelihood(self.x) - self.accepted.log_likelihood(self.x)
        return float(np.log(n_refused) - np.log(n_accepted) + ratio)


def recover(
    x: ArrayLike, samples: ArrayLike, labels: ArrayLike, sigma: float, epsilon_0: float, epsilon_1: float
) -> WorstCase:
    r"""Recover the mixtures that maximise the posterior odds of refusal at `x`.

    A refused component moves by :math:`a^\star` towards :math:`x` and stretches along :math:`x - \mu`; an
    accepted one moves away, and spends the radius that is left mostly across that direction.

    Parameters
    ----------
    x : array_like of shape (p,)
        The point.
    samples, labels, sigma, epsilon_0, epsilon_1
        As for :func:`robust_recourse.math.odds.log_worst_case_odds`.

    Returns
    -------
    WorstCase
        The mixtures of the refused and of the accepted class.

    Notes
    -----
    Lemmas "Likelihood maximizer" and "Likelihood minimizer" of the paper, where :math:`d_p` and :math:`d_1`
    are square roots of eigenvalues. At a sample itself every direction is as bad; the first axis is taken.

    Examples
    --------
    >>> worst = recover([1.0, 0.0], [[0.0, 0.0], [2.0, 0.0]], [0, 1], sigma=1.0, epsilon_0=0.5, epsilon_1=0.5)
    >>> worst.refused.means
    array([[0.5, 0. ]])
    """
    samples_, accepted = check_labelled_samples(samples, labels)
    p = samples_.shape[1]
    point = check_vector(x, "x", width=p)
    sigma = check_real(sigma, "sigma", minimum=0.0, strict=True)
    epsilon_0 = check_real(epsilon_0, "epsilon_0", minimum=0.0)
    epsilon_1 = check_real(epsilon_1, "epsilon_1", minimum=0.0)

    def perturb(nominal: FloatArray, epsilon: float, sign: float) -> GaussianMixture:
        away = point - nominal
        c = np.sqrt((away**2).sum(axis=1))
        directions = np.where(c[:, None] > 0.0, away / np.where(c > 0.0, c, 1.0)[:, None], np.eye(p)[0])
        solve = profiles.optimistic if sign > 0.0 else profiles.pessimistic
        _, _, a, d = solve(c, sigma, epsilon, p)
        across = np.full_like(d, sigma)
        if sign < 0.0 and p > 1:
            across += np.sqrt(np.maximum(epsilon**2 - a**2 - (d - sigma) ** 2, 0.0) / (p - 1))
        return GaussianMixture(nominal + sign * a[:, None] * directions, nominal, directions, d, across, sigma)

    return WorstCase(point, perturb(samples_[~accepted], epsilon_0, 1.0), perturb(samples_[accepted], epsilon_1, -1.0))
