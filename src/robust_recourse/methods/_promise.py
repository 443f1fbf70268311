r"""The cheapest recourse whose worst-case odds are at most promised ones.

.. math::
    \min_x \; \sum_k w_k |x_k - x_{0k}| \quad\text{s.t.}\quad F(x) \le \text{target},\; x \in \text{action set}.

The least odds :math:`v(\delta)` within a budget fall as the budget grows, so the least budget that is enough is
found by bisection. Every descent starts where the neighbouring budgets ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray, Rounding
from robust_recourse.math.odds import Scales
from robust_recourse.methods._odds_descent import (
    Ends,
    Solver,
    ahead,
    best_start,
    minimise_odds,
    objective_of,
    some_samples,
)
from robust_recourse.methods._odds_problem import Part, Problem
from robust_recourse.methods._odds_rows import ROUNDINGS
from robust_recourse.methods._odds_verify import REASONS, SWITCHED, describe
from robust_recourse.result import Answer, Status
from robust_recourse.result.recourse import odds_of
from robust_recourse.search import Outcome

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


def keep_promise(problem: Problem, solver: Solver, scales_of: Callable[[float], Scales], target: float) -> list[Answer]:
    """Find the cheapest accepted rows with promised odds.

    Parameters
    ----------
    problem : Problem
        The people; their budgets are the costs of their boundary points.
    solver : {"exact", "first-order"}
        How the inner problems are solved.
    scales_of : callable
        Smoothing and ambiguity radii that belong to a sampling radius.
    target : float
        The promised odds, positive.
    """
    known = _Known(problem, target)
    scales: list[Scales | None] = [None] * len(problem)
    parts = list(problem.parts(scales_of))
    for part in parts:
        for i in part.people:
            scales[i] = part.scales
    if parts:
        _Search(problem, known, parts, solver).run()
    # Where no sample is refused the odds are 0, and the boundary point is the cheapest that is known.
    known.keep(np.flatnonzero(_all_accepted(problem)))
    known.verify()
    ends = Ends(
        log_odds=known.log_odds,
        status=[Status.OK] * len(problem),
        paths=[np.stack([start, row]) for start, row in zip(problem.boundary, known.x, strict=True)],
        scales=scales,
    )
    enough = replace(problem, budget=known.cost)
    return describe(enough, ends, known.x, np.isfinite(known.cost), known.outcomes())


def _all_accepted(problem: Problem) -> BoolArray:
    accepted = np.zeros(len(problem), dtype=bool)
    for around in problem.around:
        accepted[around.people] = around.accepted.all(axis=1)
    return accepted


class _Known:
    """The cheapest rows so far that keep the promise, of all people."""

    def __init__(self, problem: Problem, target: float) -> None:
        self._problem, self._target = problem, target
        m = len(problem)
        self.x = problem.settle(problem.boundary, np.arange(m))
        self.cost, self.log_odds, self.least = np.full(m, np.inf), np.full(m, np.nan), np.full(m, np.inf)
        self._two_classes, self._accepted = np.zeros(m, dtype=bool), _all_accepted(problem)
        for around in problem.around:
            self._two_classes[around.people] = around.two_classes

    def _costs(self, rows: FloatArray, people: IntArray) -> FloatArray:
        return self._problem.cost(rows, people)

    def keep(self, people: IntArray) -> None:
        """Keep the boundary points of people for whom there is nothing else to ask."""
        asked = people[self._problem.task.oracle(self.x[people], people)]
        self.cost[asked] = self._costs(self.x[asked], asked)

    def verify(self) -> None:
        """Ask about what is kept once more, and forget what is refused."""
        people = np.flatnonzero(np.isfinite(self.cost))
        if len(people):
            self.cost[people[~self._problem.task.oracle.verify(self.x[people], people)]] = np.inf

    def offer(self, rows: FloatArray, people: IntArray, log_odds: FloatArray) -> BoolArray:
        """Keep rows that are cheaper than what is known, if they keep the promise; return which rows keep it."""
        np.minimum.at(self.least, people, log_odds)
        kept: BoolArray = odds_of(log_odds) <= self._target
        cost = self._costs(rows, people)
        some = np.flatnonzero(kept)
        kept[some] = self._problem.task.oracle(rows[some], people[some])
        better = np.flatnonzero(kept & (cost < self.cost[people]))
        self.x[people[better]], self.cost[people[better]] = rows[better], cost[better]
        self.log_odds[people[better]] = log_odds[better]
        return kept

    def outcomes(self) -> list[Outcome]:
        """Say how every search ended."""
        beyond, found, safe = odds_of(self.least), [], self._problem.safe
        for i, two_classes in enumerate(self._two_classes):
            if safe[i]:
                found.append(Outcome(Status.OK, SWITCHED))
            elif not two_classes:
                known = np.isfinite(self.cost[i]) or self._accepted[i]
                found.append(Outcome(Status.ONE_CLASS, REASONS[Status.ONE_CLASS] if known else _ONE_CLASS))
            elif np.isfinite(self.cost[i]):
                found.append(Outcome(Status.OK, _KEPT.format(self._target)))
            elif beyond[i] <= self._target:
                found.append(Outcome(Status.OUT_OF_REACH, _REFUSED.format(self._target)))
            else:
                found.append(Outcome(Status.OUT_OF_REACH, _BEYOND.format(self._target, float(beyond[i]))))
        return found


class _Search:
    """The bisection of the budgets of all people at once: they descend part by part, and are asked about together."""

    def __init__(self, problem: Problem, known: _Known, parts: list[Part], solver: Solver) -> None:
        self._problem, self._known, self._parts, self._solver = problem, known, parts, solver
        self._people = np.sort(np.concatenate([part.people for part in parts]))
        self._roundings: tuple[Rounding, ...] = ROUNDINGS[:1] if problem.task.space.exact else ROUNDINGS
        # Ends of the last descents that were not enough, and of those that were; all columns.
        self._below, self._above = problem.boundary.copy(), problem.boundary.copy()
        for part in parts:
            self._above[part.people] = part.embed(part.start + ahead(part.around), problem.boundary)

    def run(self) -> None:
        """Search between no budget and one that is enough, which is looked for by doubling."""
        people, known = self._people, self._known
        boundary = self._problem.budget
        self._judge(self._below, people, boundary)
        low, tried, across = np.zeros_like(boundary), boundary.copy(), np.zeros_like(boundary)
        for part in self._parts:
            across[part.people] = part.around.radius * np.sqrt((part.weights**2).sum(axis=1))
        going = people
        for growth in range(_GROWTHS + 1):
            before = known.least.copy()
            reached = self._try(going, tried)
            going = going[~reached]
            # Odds that fall no further are the least there are.
            falling = (known.least[going] < before[going] - _STALLED) | (growth == 0)
            low[going] = tried[going]
            going = going[falling]
            if not len(going):
                break
            tried[going] = boundary[going] + across[going] * 2.0**growth
        self._bisect(low)
        going = people[np.isfinite(known.cost[people])]
        for _ in range(_RESTARTS):
            going = self._restart(going)

    def _bisect(self, low: FloatArray) -> None:
        while True:
            high = self._known.cost
            people = self._people[np.isfinite(high[self._people])]
            people = people[high[people] - low[people] > _PRECISION * high[people]]
            if not len(people):
                return
            budget = np.where(np.isfinite(high), 0.5 * (low + high), low)
            kept = self._try(people, budget)
            low[people[~kept]] = budget[people[~kept]]

    def _restart(self, people: IntArray) -> IntArray:
        """Look elsewhere for something cheaper than what is known; return for whom that was found.

        The odds have many local minima. Descents start from the best of some samples, and from the best corner of the
        budget, where one column has changed alone.
        """
        if not len(people):
            return people
        low = self._known.cost.copy()
        budget = (1.0 - 2.0 * _PRECISION) * low
        better = np.zeros(len(people), dtype=bool)
        for candidates in (lambda part: some_samples(part.around), _corners):
            better |= self._try(people, budget, candidates)
        low[people[better]] *= 0.5
        self._bisect(low)
        return people[better]

    def _try(
        self, people: IntArray, budget: FloatArray, candidates: Callable[[Part], FloatArray] | None = None
    ) -> BoolArray:
        """Minimise the odds within budgets; return for whom that keeps the promise."""
        ends = self._problem.boundary.copy()
        for part in self._limited(people, budget):
            every = np.arange(len(part.people))
            if candidates is None:
                starts = [part.project(part.gather(known), every) for known in (self._below, self._above)]
            else:
                starts = [best_start(objective_of(part, self._solver), part.project, candidates(part))]
            found = minimise_odds(part, self._solver, starts, _EVALUATIONS)
            ends[part.people] = part.embed(found.x, self._problem.boundary)
        kept = self._judge(ends, people, budget)
        for known, some in ((self._above, people[kept]), (self._below, people[~kept])):
            known[some] = ends[some]
        return kept

    def _judge(self, points: FloatArray, people: IntArray, budget: FloatArray) -> BoolArray:
        """Round points to rows within budgets and offer these; return which points lead to a row that is kept."""
        limited = replace(self._problem, budget=budget)
        kept = np.zeros(len(people), dtype=bool)
        for rounding in self._roundings:
            settled = limited.settle(points[people], people, rounding)
            rows, log_odds = points.copy(), np.full(len(points), np.nan)
            rows[people] = settled
            for part in self._limited(people, budget):
                log_odds[part.people] = objective_of(part, self._solver)(part.gather(rows)).value
            kept |= self._known.offer(settled, people, log_odds[people])
        return kept

    def _limited(self, people: IntArray, budget: FloatArray) -> Iterator[Part]:
        """Yield the parts of some people, with these budgets."""
        for part in self._parts:
            some = np.flatnonzero(np.isin(part.people, people))
            if len(some):
                yield replace(part.take(some), budget=budget[part.people[some]])


def _corners(part: Part) -> FloatArray:
    """Points at which one column has the whole budget, of shape (g, 2 d, d)."""
    steps = np.einsum("mk,kl->mkl", part.budget[:, None] / part.weights, np.eye(part.x0.shape[1]))
    corners: FloatArray = part.x0[:, None, :] + np.concatenate([steps, -steps], axis=1)
    return corners
