"""The recourse of one row."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from robust_recourse._typing import FloatArray
from robust_recourse.math.adversary import WorstCase
from robust_recourse.notices import Columns, Notice, Pair, describe, odds_sentence
from robust_recourse.notices.survival import of_all
from robust_recourse.notices.values import amount
from robust_recourse.result._showing import changes_text
from robust_recourse.result.status import Status
from robust_recourse.result.trace import Trace

__all__ = ["Recourse", "odds_of"]


def odds_of(log_odds: ArrayLike) -> FloatArray:
    """Odds beyond the range of floating point are infinite; the logarithm stays exact."""
    with np.errstate(over="ignore"):
        odds: FloatArray = np.exp(np.asarray(log_odds, dtype=float))
    return odds


@dataclass(frozen=True, eq=False, repr=False)
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
    label : hashable
        Label of the row.
    column_costs : ndarray of shape (p,)
        What the change of every column costs.
    columns : Columns
        What is known about the columns, to tell people about them.
    jury_share, survival_bound, confidence : float
        See :class:`Recourses`, and the confidence of the bound; NaN without a jury, and without a check.

    Examples
    --------
    >>> import pandas as pd
    >>> from robust_recourse import ActionSet, NearestAccepted
    >>> people = pd.DataFrame({"income": [1500, 2400, 3000], "job": ["clerk", "clerk", "none"]})
    >>> actions = ActionSet(units={"income": "EUR"})
    >>> method = NearestAccepted(lambda frame: frame["income"] > 2000, actions).fit(people)
    >>> method.explain(people)[0]
    Recourse(ok, cost 1.62: raise income from 1,500 EUR to 2,400 EUR. Survival was not measured.)
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
    trace: Trace | None = None
    label: Hashable = None
    column_costs: FloatArray = field(default_factory=lambda: np.empty(0))
    columns: Columns = field(default_factory=lambda: Columns(()))
    jury_share: float = np.nan
    survival_bound: float = np.nan
    confidence: float = np.nan

    def __repr__(self) -> str:
        told = changes_text(self._notice())
        if not np.isfinite(self.cost):
            return f"Recourse({self.status}: {told})"
        odds = odds_sentence(self.worst_case_odds)
        survival = f". {self._survival}" if self._survival else ""
        return f"Recourse({self.status}, cost {amount(self.cost)}: {told}{f'; {odds}' if odds else ''}{survival})"

    def describe(self, *, names: Mapping[Hashable, str] | None = None, locale: str | None = None) -> str:
        """Say in plain sentences what to change, what the present model says to it, what survives, and what it costs.

        Parameters
        ----------
        names, locale
            As for :meth:`Recourses.describe`.
        """
        return describe(self._notice(names, locale))

    @property
    def _survival(self) -> str:
        """What is known about survival, in a sentence; see :class:`Recourses`."""
        return of_all(np.array([self.valid]), np.array([self.survival_bound]), self.confidence)

    def _notice(self, names: Mapping[Hashable, str] | None = None, locale: str | None = None) -> Notice:
        pair = Pair(_table(self.x0), _table(self.x), self.column_costs[None], self.columns, names or {}, locale)
        before, after, changes = pair.rows([0])[0]
        return Notice(
            label=self.label,
            person=0,
            rank=1,
            status=str(self.status),
            reason=self.reason,
            valid=self.valid,
            cost=self.cost,
            worst_case_odds=self.worst_case_odds,
            log_worst_case_odds=self.log_worst_case_odds,
            jury_share=self.jury_share,
            survival_bound=self.survival_bound,
            confidence=self.confidence,
            before=before,
            after=after,
            changes=changes,
            writers=pair.writers(),
        )

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
            A row with all columns, in the units of the table; a Series is read by its names. Where columns follow
            others, it is what the person does.

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


def _table(row: Any) -> Any:
    """Return a row as a table; the values of a Series keep their types."""
    return pd.DataFrame([list(row)], columns=row.index, dtype=object) if isinstance(row, pd.Series) else row[None]
