"""What a search answers for one row, in units of cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robust_recourse._typing import FloatArray
from robust_recourse.math.odds import Scales
from robust_recourse.result.status import Status
from robust_recourse.sampling.neighbourhood import Neighbourhood

__all__ = ["Answer"]


@dataclass(frozen=True, eq=False)
class Answer:
    """What a search answers for one row: numbers in units of cost, categories as codes, in the order of training.

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
    jury_share, survival_bound : float
        Share of the jury that accepts exactly `x`, and the proved lower bound for other models; NaN where none was
        asked.
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
    jury_share: float = np.nan
    survival_bound: float = np.nan

    @classmethod
    def unchanged(cls, x0: FloatArray) -> Answer:
        """Describe a row that is accepted as it is."""
        reason = "The model accepts the row as it is."
        nowhere = np.full_like(x0, np.nan)
        return cls(x0, x0.copy(), nowhere, 0.0, 0.0, True, Status.ALREADY_FAVOURABLE, reason, np.nan, 1)

    @classmethod
    def missing(cls, x0: FloatArray, status: Status, reason: str, n_queries: int = 1) -> Answer:
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
    ) -> Answer:
        """Describe a recourse that is a point and nothing else: no boundary point, budget or odds."""
        nowhere = np.full_like(x0, np.nan)
        return cls(x0, x, nowhere, cost, np.nan, valid, status, reason, np.nan, n_queries, weights)
