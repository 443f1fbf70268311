"""From the end of a descent to a row that can be told, chosen for its odds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robust_recourse._typing import FloatArray, IntArray, Rounding
from robust_recourse.methods._odds_descent import Solver, objective_of
from robust_recourse.methods._odds_problem import Part, Problem
from robust_recourse.sampling.ranking import best_of_each, rank_within

__all__ = ["ROUNDINGS", "best_rows"]

ROUNDINGS: tuple[Rounding, ...] = ("nearest", "inward", "outward")

_ROUNDS = 64  # of steps to a better neighbour, at most
_BETTER = 1e-9  # in the logarithm of the odds


def best_rows(problem: Problem, parts: Sequence[Part], solver: Solver, ends: FloatArray) -> FloatArray:
    """Return the rows with the least worst-case odds that are found around the ends of descents.

    Rounding to a grid may throw away what a descent gained. So several roundings compete with the row of the boundary
    point and with the nearest accepted candidate, and the best that the model accepts walks on to better neighbours, a
    step or a switch at a time, as long as the model accepts them and the budget suffices. The end has no neighbour on
    the grid that is better, and is never worse than the boundary point.

    Parameters
    ----------
    problem : Problem
        The people of a table, and their budgets.
    parts : sequence of Part
        Those who have odds; the others get the row of their boundary point.
    solver : {"exact", "first-order"}
        How the inner problems are solved.
    ends : ndarray of shape (m, p)
        Ends of the descents.
    """
    return _Climb(problem, parts, solver).run(ends)


class _Climb:
    """The best rows so far."""

    def __init__(self, problem: Problem, parts: Sequence[Part], solver: Solver) -> None:
        self._problem, self._parts = problem, parts
        self._objectives = [objective_of(part, solver) for part in parts]
        self._radius = np.full(len(problem), np.inf)
        for part in parts:
            self._radius[part.people] = part.around.radius
        self.x = problem.task.snap(problem.boundary, np.arange(len(problem)))
        self._log_odds = self._judged(self.x, np.arange(len(problem)))

    def run(self, ends: FloatArray) -> FloatArray:
        """Start from roundings of the ends, and walk."""
        every = np.concatenate([np.zeros(0, dtype=np.int64), *(part.people for part in self._parts)])
        rows = [self._problem.settle(ends[every], every, rounding) for rounding in ROUNDINGS]
        if self._problem.reach is not None:
            rows.append(self._problem.reach.rows[every])
        owner, points = np.tile(every, len(rows)), np.concatenate(rows)
        able = self._problem.cost(points, owner) <= self._problem.budget[owner]
        moved = self._offer(points[able], owner[able])
        moved = np.unique(np.append(moved, every))
        for _ in range(_ROUNDS):
            if not len(moved):
                break
            points, owner = self._problem.close(self.x, self._radius)
            going = np.isin(owner, moved)
            moved = self._offer(points[going], owner[going])
        return self.x

    def _offer(self, points: FloatArray, owner: IntArray) -> IntArray:
        """Take the best of some rows that are better and that the model accepts; return for whom there is one."""
        log_odds = self._judged(points, owner)
        better = np.flatnonzero(log_odds < self._log_odds[owner] - _BETTER)
        better = better[self._problem.task.oracle(points[better], owner[better])]
        first = better[best_of_each(owner[better], log_odds[better])]
        self.x[owner[first]], self._log_odds[owner[first]] = points[first], log_odds[first]
        found: IntArray = owner[first]
        return found

    def _judged(self, points: FloatArray, owner: IntArray) -> FloatArray:
        """Return the log odds of rows; infinite for people who have none."""
        log_odds = np.full(len(points), np.inf)
        for part, objective in zip(self._parts, self._objectives, strict=True):
            place = np.full(len(self._problem), -1)
            place[part.people] = np.arange(len(part.people))
            mine = np.flatnonzero(place[owner] >= 0)
            if not len(mine):
                continue
            whose = place[owner[mine]]
            order = np.argsort(whose, kind="stable")
            mine, whose = mine[order], whose[order]
            rank = rank_within(whose)
            # People have different numbers of rows: what is missing is the row they have.
            padded = np.repeat(self.x[part.people][:, None, :], rank.max() + 1, axis=1)
            padded[whose, rank] = points[mine]
            log_odds[mine] = objective.values(part.around.lengths(padded, part.centres))[whose, rank]
        return log_odds
