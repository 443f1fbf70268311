"""The recourse of one row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from robust_recourse._typing import FloatArray
from robust_recourse.math.adversary import WorstCase
from robust_recourse.result.status import Status
from robust_recourse.result.trace import Trace

__all__ = ["Recourse", "odds_of"]


def odds_of(log_odds: ArrayLike) -> FloatArray:
    """Odds beyond the range of floating point are infinite; the logarithm stays exact."""
    with np.errstate(over="ignore"):
        odds: FloatArray = np.exp(np.asarray(log_odds, dtype=float))
    return odds


@dataclass(frozen=True, eq=False)
class Recourse:
    """The recourse of one row, in the columns and units of the table that was explained.

    Attributes
    ----------
    x0, x, boundary : Series or ndarray of shape (p,)
        Instance, recourse and boundary point: a Series if a frame was explained. Missing where there is none.
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
    trace : Trace or None
        How the search came to it, in units of cost; None if the recourse was read from a file.
    """

    x0: Any
    x: Any
    boundary: Any
    cost: float
    budget: float
    valid: bool
    status: Status
    reason: str
    log_worst_case_odds: float
    n_queries: int
    trace: Trace | None = field(default=None, repr=False)

    @property
    def worst_case_odds(self) -> float:
        """Worst-case posterior odds of refusal at `x`."""
        return float(odds_of(self.log_worst_case_odds))

    def worst_case(self, at: Any = None) -> WorstCase:
        """Recover the worst-case mixtures at the recourse, or at another row `at`.

        They live in the columns that may change, in units of cost.

        Parameters
        ----------
        at : array_like of shape (p,) or Series, optional
            A row with all columns, in the units of the table; a Series is read by its names.

        Raises
        ------
        ValueError
            If no neighbourhood was sampled, or the recourse was read from a file, which does not hold it.
        """
        if self.trace is None:
            raise ValueError(
                "There is no worst case: files do not hold the neighbourhoods. Explain the row again with the method."
            )
        if self.trace.neighbourhood is None or self.trace.scales is None:
            raise ValueError(f"There is no worst case, the status is {self.status}: {self.reason}")
        if isinstance(at, pd.Series) and isinstance(self.x, pd.Series):
            unknown = self.x.index.difference(at.index)
            if len(unknown):
                raise ValueError(f"at must have the columns of the table; it lacks {list(unknown)}.")
            at = at[self.x.index]
        return self.trace.worst_case(self.trace.x if at is None else self.trace.point(at))
