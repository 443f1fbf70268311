r"""The cheapest recourse whose worst-case odds are at most promised ones.

.. math::
    \min_x \; \sum_k w_k |x_k - x_{0k}| \quad\text{s.t.}\quad F(x) \le \text{target},\; x \in \text{action set}.

The least odds :math:`v(\delta)` within a budget fall as the budget grows, so the least budget that is enough is
found by bisection. Every descent starts where the neighbouring budgets ended.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.actions.moves import Rounding
from robust_recourse.math.odds import Scales
from robust_recourse.math.projections import weighted_cost
from robust_recourse.methods._odds_descent import (
    Ends,
    Problem,
    Solver,
    ahead,
    best_start,
    minimise_odds,
    objective_of,
    some_samples,
)
from robust_recourse.methods._odds_verify import OTHERWISE, REASONS, SWITCHED, describe
from robust_recourse.methods._verify import Outcome
from robust_recourse.result import Answer, Status
from robust_recourse.result.recourse import odds_of

__all__ = ["keep_promise"]

_PRECISION = 2e-3  # of the budget, relative
_GROWTHS = 5  # doublings of the budget beyond the boundary point, from the one that crosses the neighbourhood
_RESTARTS = 3  # from other samples, as long as that helps
_EVALUATIONS = 30  # of the odds in a descent: the next one goes on from its end
_STALLED = 1e-9  # in the logarithm of the odds

_KEPT = "The cheapest point that was found with worst-case odds of at most the promised {:g}."
_ONE_CLASS = (
    "All samples around the boundary point are refused, also within larger radii, so that there are no odds to "
    "promise. Try another sampling_radius or more samples."
)
_BEYOND = (
    "No budget reaches worst-case odds of {:g}: the least that was found is {:.3g}. Promise larger odds, allow more "
    "columns to change, or use smaller radii epsilon_0 and epsilon_1 or another sampling_radius."
)
_REFUSED = (
    "The model refuses all points with worst-case odds of at most {:g} that were found. Promise smaller odds, or try "
    "another sampling_radius."
)


def keep_promise(
    problem: Problem, solver: Solver, scales_of: Callable[[float], Scales], target: float, seed: int
) -> list[Answer]:
    """Find the cheapest accepted rows with promised odds.

    Parameters
    ----------
    problem : Problem
        The instances; their budgets are the costs of their boundary points.
    solver : {"exact", "first-order"}
        How the inner problems are solved.
    scales_of : callable
        Smoothing and ambiguity radii that belong to a sampling radius.
    target : float
        The promised odds, positive.
    seed : int
        Seed of the method.
    """
    around, m = problem.around, len(problem.boundary)
    known = _Known(problem, target)
    scales: list[Scales | None] = [None] * m
    for radius in np.unique(around.radius[around.two_classes]):
        group = np.flatnonzero(around.two_classes & (around.radius == radius))
        for i in group:
            scales[i] = scales_of(float(radius))
        _Search(problem, known, group, solver, scales_of(float(radius))).run()
    # Where no sample is refused the odds are 0, and the boundary point is the cheapest that is known.
    known.keep(np.flatnonzero(around.accepted.all(axis=1)))
    ends = Ends(
        log_odds=np.where(around.two_classes, known.log_odds, np.nan),
        status=[Status.OK] * m,
        paths=[np.stack([start, row[problem.free]]) for start, row in zip(problem.boundary, known.x, strict=True)],
        scales=scales,
    )
    enough = replace(problem, budget=known.cost)
    return describe(enough, ends, known.x, np.isfinite(known.cost), known.outcomes(), seed)


class _Known:
    """The cheapest rows so far that keep the promise, of all instances."""

    def __init__(self, problem: Problem, target: float) -> None:
        self._problem, self._target = problem, target
        m = len(problem.boundary)
        self.x = problem.settle(problem.boundary, np.arange(m))
        self.cost, self.log_odds, self.least = np.full(m, np.inf), np.full(m, np.nan), np.full(m, np.inf)

    def keep(self, which: IntArray) -> None:
        """Keep the boundary points of instances for which there is nothing else to ask."""
        asked = which[self._problem.ask(self.x[which], which)]
        self.cost[asked] = weighted_cost(self.x[asked], self._problem.x0[asked], self._problem.limits.weights)

    def offer(self, rows: FloatArray, which: IntArray, log_odds: FloatArray) -> BoolArray:
        """Keep rows that are cheaper than what is known, if they keep the promise; return which rows keep it."""
        np.minimum.at(self.least, which, log_odds)
        kept: BoolArray = odds_of(log_odds) <= self._target
        cost = weighted_cost(rows, self._problem.x0[which], self._problem.limits.weights)
        some = np.flatnonzero(kept)
        kept[some] = self._problem.ask(rows[some], which[some])
        better = np.flatnonzero(kept & (cost < self.cost[which]))
        self.x[which[better]], self.cost[which[better]] = rows[better], cost[better]
        self.log_odds[which[better]] = log_odds[better]
        return kept

    def outcomes(self) -> list[Outcome]:
        """Say how every search ended."""
        problem, beyond = self._problem, odds_of(self.least)
        found: list[Outcome] = []
        for i, two_classes in enumerate(problem.around.two_classes):
            if problem.safe[i]:
                found.append(Outcome(Status.OK, SWITCHED))
            elif not two_classes:
                kept = np.isfinite(self.cost[i])
                found.append(Outcome(Status.ONE_CLASS, REASONS[Status.ONE_CLASS] if kept else _ONE_CLASS))
            elif np.isfinite(self.cost[i]):
                found.append(Outcome(Status.OK, _KEPT.format(self._target)))
            elif beyond[i] <= self._target:
                found.append(Outcome(Status.OUT_OF_REACH, _REFUSED.format(self._target)))
            else:
                found.append(Outcome(Status.OUT_OF_REACH, _BEYOND.format(self._target, float(beyond[i]))))
        return found


class _Search:
    """The bisection of the budgets of instances with the same scales, all at once."""

    def __init__(self, problem: Problem, known: _Known, group: IntArray, solver: Solver, scales: Scales) -> None:
        self._problem, self._known, self._group = problem, known, group
        self._solver, self._scales = solver, scales
        self._objective = objective_of(problem.around, group, solver, scales)
        self._roundings: tuple[Rounding, ...] = ("nearest",) if problem.space.exact else ("nearest", *OTHERWISE)
        # Ends of the last descents that were not enough, and of those that were.
        self._below = problem.boundary[group].copy()
        self._above = self._below + ahead(problem.around, group)

    def run(self) -> None:
        """Search between no budget and one that is enough, which is looked for by doubling."""
        group, boundary = self._group, self._problem.budget[self._group]
        self._judge(self._below, np.arange(len(group)), boundary)
        low, tried = np.zeros(len(group)), boundary.copy()
        weights = self._problem.limits.take(self._problem.free).weights
        across = self._problem.around.radius[group] * np.sqrt((weights**2).sum())
        rows = np.arange(len(group))
        for growth in range(_GROWTHS + 1):
            before = self._known.least[group[rows]].copy()
            reached = self._try(rows, tried[rows])
            rows = rows[~reached]
            # Odds that fall no further are the least there are.
            falling = (self._known.least[group[rows]] < before[~reached] - _STALLED) | (growth == 0)
            low[rows] = tried[rows]
            rows = rows[falling]
            if not len(rows):
                break
            tried[rows] = boundary[rows] + across[rows] * 2.0**growth
        self._bisect(low)
        rows = np.flatnonzero(np.isfinite(self._known.cost[group]))
        for _ in range(_RESTARTS):
            rows = self._restart(rows)

    def _bisect(self, low: FloatArray) -> None:
        while True:
            high = self._known.cost[self._group]
            rows = np.flatnonzero(np.isfinite(high))
            rows = rows[high[rows] - low[rows] > _PRECISION * high[rows]]
            if not len(rows):
                return
            budget = 0.5 * (low[rows] + high[rows])
            kept = self._try(rows, budget)
            low[rows[~kept]] = budget[~kept]

    def _restart(self, rows: IntArray) -> IntArray:
        """Look elsewhere for something cheaper than what is known; return where that was found.

        The odds have many local minima. Descents start from the best of some samples, and from the best corner of the
        budget, where one column has changed alone.
        """
        if not len(rows):
            return rows
        low = self._known.cost[self._group]
        budget = (1.0 - 2.0 * _PRECISION) * low[rows]
        limited, which = self._limited(rows, budget), self._group[rows]
        projection, objective = limited.projection(which), self._objective.take(rows)
        better = np.zeros(len(rows), dtype=bool)
        for points in (some_samples(limited.around, which), self._corners(which, budget)):
            better |= self._try(rows, budget, best_start(objective, projection, points))
        low[rows[better]] *= 0.5
        self._bisect(low)
        return rows[better]

    def _corners(self, which: IntArray, budget: FloatArray) -> FloatArray:
        free = self._problem.free
        x0, reach = self._problem.x0[which][:, free], budget[:, None] / self._problem.limits.take(free).weights
        steps = np.einsum("mk,kl->mkl", reach, np.eye(x0.shape[1]))
        corners: FloatArray = x0[:, None, :] + np.concatenate([steps, -steps], axis=1)
        return corners

    def _try(self, rows: IntArray, budget: FloatArray, start: FloatArray | None = None) -> BoolArray:
        """Minimise the odds within budgets; return where that keeps the promise."""
        limited, which = self._limited(rows, budget), self._group[rows]
        projection, every = limited.projection(which), np.arange(len(rows))
        starts = [self._below[rows], self._above[rows]] if start is None else [start]
        feasible = [projection(points, every) for points in starts]
        found = minimise_odds(limited, which, self._solver, self._scales, feasible, _EVALUATIONS)
        kept = self._judge(found.x, rows, budget)
        for ends, part in ((self._above, kept), (self._below, ~kept)):
            ends[rows[part]] = found.x[part]
        return kept

    def _judge(self, points: FloatArray, rows: IntArray, budget: FloatArray) -> BoolArray:
        """Round points to rows within budgets and offer these; return which points lead to a row that is kept."""
        limited, which = self._limited(rows, budget), self._group[rows]
        kept = np.zeros(len(rows), dtype=bool)
        for rounding in self._roundings:
            settled = limited.settle(points, which, rounding)
            at = np.ascontiguousarray(settled[:, limited.free])
            kept |= self._known.offer(settled, which, self._objective.take(rows)(at).value)
        return kept

    def _limited(self, rows: IntArray, budget: FloatArray) -> Problem:
        budgets = self._problem.budget.copy()
        budgets[self._group[rows]] = budget
        return replace(self._problem, budget=budgets)
