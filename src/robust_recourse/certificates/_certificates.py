"""What is certified: for a point, and for many."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
import pandas as pd
from scipy.special import softmax

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse._validation import check_integer, check_real
from robust_recourse.certificates._surroundings import Local, Surroundings
from robust_recourse.math import profiles
from robust_recourse.math.adversary import WorstCase, recover
from robust_recourse.math.odds import Scales
from robust_recourse.result.recourse import odds_of

__all__ = ["Certificate", "Certificates"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Certificate:
    """What is certified at one point.

    Attributes
    ----------
    log_nominal_odds, log_worst_case_odds : float
        Logarithms of the odds of refusal without ambiguity, and of the largest ones with the radii of `scales`.
    certified_radius : float
        Largest common radius at which the odds stay below 1.
    scales : Scales
        Smoothing and ambiguity radii.
    reason : str
        The same in a sentence, or why there is no certificate; the numbers are then NaN.
    """

    log_nominal_odds: float
    log_worst_case_odds: float
    certified_radius: float
    scales: Scales
    reason: str
    _local: Local | None = field(repr=False)

    @property
    def certified(self) -> bool:
        """Whether the nominal odds are below 1, so that there is a radius."""
        return self.log_nominal_odds < 0.0

    @property
    def nominal_odds(self) -> float:
        """Odds of refusal without ambiguity."""
        return float(odds_of(self.log_nominal_odds))

    @property
    def worst_case_odds(self) -> float:
        """Largest odds of refusal with the radii of `scales`."""
        return float(odds_of(self.log_worst_case_odds))

    @property
    def point(self) -> FloatArray:
        """The point, in the columns in which the samples vary and in their units."""
        return self._known().point

    @property
    def samples(self) -> FloatArray:
        """The samples, of shape (n, p)."""
        return self._known().samples

    @property
    def labels(self) -> IntArray:
        """Their labels: 1 (accepted) or 0 (refused)."""
        return self._known().accepted.astype(np.int64)

    def worst_case(self, epsilon: float | None = None) -> WorstCase:
        """Recover the witness: the mixtures under which the odds at the point are largest.

        Parameters
        ----------
        epsilon : float, optional
            Common ambiguity radius; None for those of `scales`. At the certified radius the odds are just below 1.
        """
        point, samples, accepted = self._known()
        return recover(point, samples, accepted, *self._scales(epsilon))

    def weights(self, epsilon: float | None = None) -> pd.DataFrame:
        r"""Return how much each sample counts in the worst-case odds.

        The odds are a quotient of two sums, one for each class; the weight of a sample is its part of the sum of its
        class, so that the weights of a class sum to 1. It is also the rate at which the log odds change with the log
        density of the sample's component.

        Parameters
        ----------
        epsilon : float, optional
            Common ambiguity radius; None for those of `scales`.

        Returns
        -------
        DataFrame
            One line for each sample, in their order: `label`, `distance` from the point and `weight`.
        """
        point, samples, accepted = self._known()
        sigma, *radii = self._scales(epsilon)
        away = point - samples
        c = np.sqrt(np.einsum("np,np->n", away, away))
        weight = np.empty_like(c)
        profile = profiles.optimistic, profiles.pessimistic
        for members, solve, radius in zip((~accepted, accepted), profile, radii, strict=True):
            weight[members] = softmax(-solve(c[members], sigma, radius, len(point)).value)
        index = pd.RangeIndex(len(c), name="sample")
        return pd.DataFrame({"label": accepted.astype(np.int64), "distance": c, "weight": weight}, index=index)

    def most_important(self, k: int = 5, epsilon: float | None = None) -> pd.DataFrame:
        """Return the `k` samples of largest weight, of both classes together; see :meth:`weights`."""
        k = check_integer(k, "k", minimum=1)
        return self.weights(epsilon).sort_values("weight", ascending=False, kind="stable").head(k)

    def _known(self) -> Local:
        if self._local is None:
            raise ValueError(f"There is no certificate: {self.reason}")
        return self._local

    def _scales(self, epsilon: float | None) -> Scales:
        if epsilon is None:
            return self.scales
        radius = check_real(epsilon, "epsilon", minimum=0.0)
        return Scales(self.scales.sigma, radius, radius)

    def __repr__(self) -> str:
        if self._local is None:
            return f"Certificate(none: {self.reason})"
        return (
            f"Certificate(nominal odds {self.nominal_odds:.3g}, worst-case odds {self.worst_case_odds:.3g}, "
            f"certified radius {self.certified_radius:.3g})"
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Certificates:
    """What is certified at many points; index or iterate for single ones.

    Attributes
    ----------
    log_nominal_odds, log_worst_case_odds : ndarray of shape (m,)
        Logarithms of the odds of refusal without ambiguity, and of the largest ones with `epsilon_0` and `epsilon_1`.
    certified_radius : ndarray of shape (m,)
        Largest common radius at which the odds stay below 1; 0 where already the nominal odds do not.
    sigma, epsilon_0, epsilon_1 : ndarray of shape (m,)
        Smoothing and ambiguity radii.
    labels : Index
        What each point is called: the index of the frame, or its position; of recourses in arrays, the person.

    Notes
    -----
    A point that cannot be judged has NaN in all of these, and :attr:`reason` says why.
    """

    log_nominal_odds: FloatArray
    log_worst_case_odds: FloatArray
    certified_radius: FloatArray
    sigma: FloatArray
    epsilon_0: FloatArray
    epsilon_1: FloatArray
    labels: pd.Index[Any]
    _missing: np.ndarray[Any, np.dtype[np.object_]] = field(repr=False)
    _surroundings: Surroundings = field(repr=False)
    _entries: dict[str, IntArray] = field(repr=False)

    @property
    def nominal_odds(self) -> FloatArray:
        """Odds of refusal without ambiguity."""
        return odds_of(self.log_nominal_odds)

    @property
    def worst_case_odds(self) -> FloatArray:
        """Largest odds of refusal with `epsilon_0` and `epsilon_1`."""
        return odds_of(self.log_worst_case_odds)

    @property
    def certified(self) -> BoolArray:
        """Which points have nominal odds below 1, so that there is a radius."""
        return self.log_nominal_odds < 0.0

    @property
    def reason(self) -> np.ndarray[Any, np.dtype[np.object_]]:
        """What is certified in a sentence, or why nothing is, of shape (m,)."""
        sentences = np.empty(len(self), dtype=object)
        sentences[:] = [self._reason(i) for i in range(len(self))]
        return sentences

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[Certificate]:
        return (self[i] for i in range(len(self)))

    @overload
    def __getitem__(self, i: int) -> Certificate: ...
    @overload
    def __getitem__(self, i: slice) -> tuple[Certificate, ...]: ...
    def __getitem__(self, i: int | slice) -> Certificate | tuple[Certificate, ...]:
        if isinstance(i, slice):
            return tuple(self[k] for k in range(len(self))[i])
        row = range(len(self))[i]
        return Certificate(
            log_nominal_odds=float(self.log_nominal_odds[row]),
            log_worst_case_odds=float(self.log_worst_case_odds[row]),
            certified_radius=float(self.certified_radius[row]),
            scales=Scales(float(self.sigma[row]), float(self.epsilon_0[row]), float(self.epsilon_1[row])),
            reason=self._reason(row),
            _local=None if self._missing[row] else self._surroundings.local(row),
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one table of pandas with a line for each point; of several recourses of a person, with their ranks."""
        columns = {
            **self._entries,
            "nominal_odds": self.nominal_odds,
            "worst_case_odds": self.worst_case_odds,
            "certified": self.certified,
            "certified_radius": self.certified_radius,
            "sigma": self.sigma,
            "epsilon_0": self.epsilon_0,
            "epsilon_1": self.epsilon_1,
            "reason": self.reason,
        }
        return pd.DataFrame(columns, index=self.labels)

    def __repr__(self) -> str:
        held = self.certified
        parts = [f"{held.sum():,} certified"]
        if held.any():
            parts[0] += f", median radius {np.median(self.certified_radius[held]):.2g}"
        missing = int((self._missing != "").sum())
        above = len(self) - int(held.sum()) - missing
        if above:
            parts.append(f"{above:,} with nominal odds of 1 or more")
        if missing:
            parts.append(f"{missing:,} without a certificate")
        return f"Certificates({len(self):,} points: {'; '.join(parts)})"

    def _reason(self, i: int) -> str:
        if self._missing[i]:
            return str(self._missing[i])
        if not self.log_nominal_odds[i] < 0.0:
            return "The odds of refusal are not below 1, even without ambiguity: there is no radius to certify."
        radius = f"an ambiguity radius of {self.certified_radius[i]:.4g}"
        if self.log_worst_case_odds[i] < 0.0:
            return f"The odds of refusal stay below 1 up to {radius}."
        return f"The odds of refusal stay below 1 up to {radius}, but not with the radii that were asked for."
