"""The recourse of one row."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from robust_recourse._typing import FloatArray
from robust_recourse._validation import check_vector
from robust_recourse.math.adversary import WorstCase, recover
from robust_recourse.math.odds import Scales
from robust_recourse.sampling.neighbourhood import Neighbourhood

__all__ = ["Recourse", "Status", "odds_of"]


class Status(StrEnum):
    """How the search for a recourse ended."""

    OK = "ok"
    ALREADY_FAVOURABLE = "already favourable"
    FELL_BACK = "fell back to an accepted iterate"
    NOT_CONVERGED = "not converged"
    ONE_CLASS = "one-class neighbourhood"
    NO_CANDIDATE = "no favourable candidate reachable"
    NOTHING_MAY_CHANGE = "nothing may change"
    OUTSIDE_BOUNDS = "outside the bounds"
    INCONSISTENT_MODEL = "inconsistent model"
    REFUSED = "refused by the model"
    NOT_FOUND = "no accepted point found"
    TOO_MANY_CHANGES = "more changes needed than allowed"
    TIME_LIMIT = "out of time"
    OUT_OF_REACH = "promised odds out of reach"


def odds_of(log_odds: ArrayLike) -> FloatArray:
    """Odds beyond the range of floating point are infinite; the logarithm stays exact."""
    with np.errstate(over="ignore"):
        odds: FloatArray = np.exp(np.asarray(log_odds, dtype=float))
    return odds


@dataclass(frozen=True, eq=False)
class Recourse:
    """The recourse of one row.

    Attributes
    ----------
    x0, x, boundary : ndarray of shape (p,)
        Instance, recourse and boundary point; NaN where there is none.
    cost, budget : float
        Weighted L1 distance of the recourse from the instance, and the most it was allowed to be.
    valid : bool
        What the present model said when asked about `x`, last.
    status : Status
        How the search ended.
    reason : str
        The same in a sentence.
    log_worst_case_odds : float
        Logarithm of the worst-case posterior odds of refusal at `x`.
    n_queries : int
        Rows that the model was asked for.
    weights : ndarray of shape (p,) or None
        Cost weights of the columns.
    path : ndarray of shape (n_steps + 1, p) or None
        The iterates from the boundary point to the end of the descent.
    neighbourhood : Neighbourhood or None
        The labelled samples; None where none were drawn.
    scales : Scales or None
        Smoothing and ambiguity radii of the odds; None where there are no odds.
    unit : ndarray of shape (p,) or None
        A numeric row times `unit` is in the units of the table; None: it already is.
    """

    x0: FloatArray
    x: FloatArray
    boundary: FloatArray
    cost: float
    budget: float
    valid: bool
    status: Status
    reason: str
    log_worst_case_odds: float
    n_queries: int
    weights: FloatArray | None = None
    path: FloatArray | None = None
    neighbourhood: Neighbourhood | None = None
    scales: Scales | None = None
    unit: FloatArray | None = None

    @classmethod
    def unchanged(cls, x0: FloatArray) -> Recourse:
        """Describe a row that is accepted as it is."""
        reason = "The model accepts the row as it is."
        nowhere = np.full_like(x0, np.nan)
        return cls(x0, x0.copy(), nowhere, 0.0, 0.0, True, Status.ALREADY_FAVOURABLE, reason, np.nan, 1)

    @classmethod
    def missing(cls, x0: FloatArray, status: Status, reason: str, n_queries: int = 1) -> Recourse:
        """Describe a row that has no recourse."""
        nowhere = np.full_like(x0, np.nan)
        return cls(x0, nowhere, nowhere, np.nan, np.nan, False, status, reason, np.nan, n_queries)

    @classmethod
    def point(
        cls,
        x0: FloatArray,
        x: FloatArray,
        cost: float,
        valid: bool,
        status: Status,
        reason: str,
        n_queries: int,
        weights: FloatArray,
    ) -> Recourse:
        """Describe a recourse that is a point and nothing else: no boundary point, budget or odds."""
        nowhere = np.full_like(x0, np.nan)
        return cls(x0, x, nowhere, cost, np.nan, valid, status, reason, np.nan, n_queries, weights)

    @property
    def worst_case_odds(self) -> float:
        """Worst-case posterior odds of refusal at `x`."""
        return float(odds_of(self.log_worst_case_odds))

    def worst_case(self, at: FloatArray | None = None) -> WorstCase:
        """Recover the worst-case mixtures at the recourse, or at another point `at`.

        They live in the columns that may change; the point is given with all columns.
        """
        around = self.neighbourhood
        if around is None or self.scales is None:
            raise ValueError(f"There is no worst case, the status is {self.status}: {self.reason}")
        point = self.x if at is None else check_vector(at, "at", width=len(self.x))
        return recover(point[around.free], around.free_samples, around.accepted, *self.scales)
