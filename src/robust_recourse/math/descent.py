r"""Spectral projected gradient for many small problems at once.

Every problem has its own Barzilai-Borwein step and its own Armijo backtracking, so that its result does not
depend on which others it is solved with.

References
----------
.. [1] E. G. Birgin, J. M. Martínez and M. Raydan, "Nonmonotone spectral projected gradient methods on convex
   sets", SIAM Journal on Optimization 10 (2000); here with a monotone line search.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.math.odds import Odds

__all__ = ["Descent", "minimise"]

_SUFFICIENT = 1e-4
_SHORTEST, _LONGEST = 1e-8, 1e8
_SMALLEST_FACTOR = 2.0**-30
_NEGLIGIBLE = 1e-12
_CROWD = 0.75  # finished rows are dropped from the batch once it is at most this full


class Objective(Protocol):
    """A batch of functions, one for every row."""

    def __call__(self, x: FloatArray, /) -> Odds: ...
    def take(self, rows: IntArray, /) -> Objective: ...


class Descent(NamedTuple):
    """Where the descents ended, and how they got there."""

    x: FloatArray
    value: FloatArray
    converged: BoolArray
    history: FloatArray  # (n_evaluations + 1, m, p)
    stepped: BoolArray  # (n_evaluations + 1, m): whether the row had a new iterate then

    def path(self, row: int) -> FloatArray:
        """Return the iterates of a row, from its start to its end."""
        iterates: FloatArray = self.history[self.stepped[:, row], row]
        return iterates


def minimise(
    objective: Objective,
    project: Callable[[FloatArray, IntArray], FloatArray],
    start: FloatArray,
    *,
    length: float,
    first: Odds | None = None,
    max_evaluations: int = 100,
    tolerance: float = 1e-4,
) -> Descent:
    r"""Minimise every row's objective over its convex set.

    Each pass evaluates one trial point of every row that still descends: a row whose trial decreases its
    objective enough moves there and plans its next direction, another halves its step along the old one.

    Parameters
    ----------
    objective : Objective
        Values and gradients of all rows at once.
    project : callable
        ``project(points, rows)`` projects points of the given rows.
    start : ndarray of shape (m, p)
        Feasible starting points.
    length : float
        The natural length of the problem (the smoothing): the first step is its square.
    first : Odds, optional
        Values and gradients at the starting points, if they are known.
    max_evaluations : int
        Largest number of evaluations of a row.
    tolerance : float
        A row has converged when :math:`\|P(x - \ell^2 \nabla) - x\|_2 \le \text{tolerance}\cdot\ell`, or when
        the projected gradient promises no decrease that could be told from rounding.

    Returns
    -------
    Descent
        End points, values, whether each row converged, and the iterates.
    """
    m = len(start)
    x = start.copy()
    value, gradient = (part.copy() for part in first or objective(x))
    step, factor = np.full(m, length**2), np.ones(m)
    direction, promise = np.zeros_like(x), np.zeros(m)
    converged = np.zeros(m, dtype=bool)
    history, stepped = [x.copy()], [np.ones(m, dtype=bool)]

    def plan(rows: IntArray) -> IntArray:
        """Choose the next direction of `rows`; return those that have not converged."""
        aim = project(x[rows] - step[rows, None] * gradient[rows], rows) - x[rows]
        direction[rows], factor[rows] = aim, 1.0
        promise[rows] = -(aim * gradient[rows]).sum(axis=1)
        size = np.sqrt((aim**2).sum(axis=1)) * np.maximum(1.0, length**2 / step[rows])
        converged[rows] = (size <= tolerance * length) | (promise[rows] <= _NEGLIGIBLE)
        return rows[~converged[rows]]

    active = plan(np.arange(m))
    kept, local = np.arange(m), objective
    for _ in range(max_evaluations):
        if not len(active):
            break
        if len(active) <= _CROWD * len(kept):
            local, kept = local.take(np.searchsorted(kept, active)), active
        trial = x[kept] + factor[kept, None] * direction[kept]
        odds = local(trial)
        at = np.searchsorted(kept, active)
        better = odds.value[at] <= value[active] - _SUFFICIENT * factor[active] * promise[active]
        rows, at = active[better], at[better]
        moved, change = trial[at] - x[rows], odds.gradient[at] - gradient[rows]
        x[rows], value[rows], gradient[rows] = trial[at], odds.value[at], odds.gradient[at]
        step[rows] = _spectral_step(moved, change, length)
        history.append(x.copy())
        stepped.append(np.zeros(m, dtype=bool))
        stepped[-1][rows] = True
        waiting = active[~better]
        factor[waiting] *= 0.5
        # No step along a descent direction helps any more: the row is at a kink.
        stuck = factor[waiting] < _SMALLEST_FACTOR
        converged[waiting[stuck]] = True
        active = np.sort(np.concatenate([plan(rows), waiting[~stuck]]))
    return Descent(x, value, converged, np.stack(history), np.stack(stepped))


def _spectral_step(moved: FloatArray, change: FloatArray, length: float) -> FloatArray:
    """Barzilai-Borwein step ``s's / s'y``; the longest one where the curvature is not positive."""
    curvature = (moved * change).sum(axis=1)
    longest, shortest = _LONGEST * length**2, _SHORTEST * length**2
    positive = curvature > 0.0
    step = (moved**2).sum(axis=1) / np.where(positive, curvature, 1.0)
    return np.where(positive, np.clip(step, shortest, longest), longest)
