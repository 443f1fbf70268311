"""The last question about the ends of descents, and what is told about them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray
from robust_recourse.math.odds import Scales
from robust_recourse.methods._odds_descent import Ends, Solver, objective_of
from robust_recourse.methods._odds_problem import Problem
from robust_recourse.methods._odds_rows import best_rows
from robust_recourse.methods._steady import Steadiness
from robust_recourse.result import Answer, Status
from robust_recourse.sampling.neighbourhood import MOST_GROWTHS
from robust_recourse.search import Outcome

__all__ = ["AT_THE_EDGE", "REASONS", "SWITCHED", "describe", "verify"]

_INCONSISTENT = (
    "The model refuses every point of the search, the boundary point too, which it accepted before: its answers do "
    "not depend on the row alone."
)
REASONS = {
    Status.OK: "The recourse is a local minimum of the worst-case odds within its budget.",
    Status.NOT_CONVERGED: "The descent reached its cap of iterations; the recourse is accepted but may be improved.",
    Status.FELL_BACK: ("The model refuses the end of the descent; this is the best of its iterates that it accepts."),
    Status.SURE: (
        "This is the cheapest row found of which the model is as sure as it mostly is of accepted training rows; of "
        "the row with the best worst-case odds that costs no more it is less sure."
    ),
    Status.NEAREST: (
        "This is the nearest accepted training row, moved into the action set: it is steadier than the row with the "
        "best worst-case odds, of which the model is less sure, or around which it accepts fewer rows."
    ),
    Status.ONE_CLASS: (
        f"All samples around the boundary point got the same label, even after {MOST_GROWTHS} doublings of the "
        "sampling radius; this is the boundary point. Try another sampling_radius or more samples."
    ),
}
AT_THE_EDGE = (
    "The model accepts the row, but in the worst case its refusal is likelier than not: nothing within the budget has "
    "a margin. A larger budget, delta_plus, or more columns to change may give one."
)
_SURE_AT_THE_EDGE = (
    "This is the cheapest row found of which the model is as sure as it mostly is of accepted training rows. In the "
    "worst case its refusal is likelier than not, and nothing that costs no more has better odds."
)
SWITCHED = (
    "With other categories the model accepts the row with its own numbers, and all samples around them, too; no "
    "cheaper switch was found."
)


def verify(
    problem: Problem, ends: Ends, solver: Solver, scales_of: Callable[[float], Scales], steadiness: Steadiness
) -> list[Answer]:
    """Ask the model about what will be returned, after the last rounding; go back along the path if it refuses."""
    every = np.arange(len(problem))
    last = np.array([path[-1] for path in ends.paths]).reshape(problem.boundary.shape)
    if problem.task.space.exact:
        x = problem.settle(last, every)
        _fall_back(problem, ends, x, problem.task.oracle(x, every))
    else:
        x = best_rows(problem, list(problem.parts(scales_of)), solver, last)
        for i in np.flatnonzero(steadiness.prefers_reach(problem, x)):
            assert problem.reach is not None
            x[i], ends.status[i] = problem.reach.rows[i], Status.SURE if problem.reach.sure[i] else Status.NEAREST
    sure = np.zeros(len(problem), dtype=bool)
    if problem.reach is not None:
        sure = problem.reach.sure & (x == problem.reach.rows).all(axis=1)
    valid = problem.task.oracle.verify(x, every)
    _judge(problem, ends, solver, scales_of, x)
    outcomes = [
        Outcome(Status.OK, SWITCHED)
        if safe
        else _outcome(ends.status[i], ends.log_odds[i], edge=not problem.task.oracle.asks_for_more, sure=sure[i])
        if valid[i]
        else Outcome(Status.INCONSISTENT_MODEL, _INCONSISTENT)
        for i, safe in enumerate(problem.safe)
    ]
    return describe(problem, ends, x, valid, outcomes)


def _outcome(status: Status, log_odds: float, *, edge: bool, sure: bool) -> Outcome:
    """Say how a search ended that found a row which the model accepts.

    There is no `edge` where a criterion asks for more than the model's consent, or the model is `sure`: that is the
    margin.
    """
    if log_odds > 0.0 and status in {Status.OK, Status.NOT_CONVERGED}:
        if sure:
            return Outcome(Status.SURE, _SURE_AT_THE_EDGE)
        if edge:
            return Outcome(Status.AT_THE_EDGE, AT_THE_EDGE)
    return Outcome(status, REASONS[status])


def describe(problem: Problem, ends: Ends, x: FloatArray, found: BoolArray, outcomes: list[Outcome]) -> list[Answer]:
    """Tell what is known about the rows `x`, which the model accepts; people who are not `found` have none."""
    task = problem.task
    cost, neighbourhoods = problem.cost(x, np.arange(len(problem))), problem.neighbourhoods()
    n_queries = 1 + task.oracle.n_queries
    return [
        Answer(
            x0=task.x0[i],
            x=x[i],
            boundary=problem.boundary[i],
            cost=float(cost[i]),
            budget=float(problem.budget[i]),
            valid=True,
            status=outcomes[i].status,
            reason=outcomes[i].reason,
            log_worst_case_odds=float(ends.log_odds[i]),
            n_queries=int(n_queries[i]),
            weights=task.limits.weights,
            path=ends.paths[i],
            neighbourhood=neighbourhoods[i],
            scales=ends.scales[i],
        )
        if found[i]
        else task.missing(i, *outcomes[i])
        for i in range(len(problem))
    ]


def _fall_back(problem: Problem, ends: Ends, x: FloatArray, valid: BoolArray) -> None:
    """Replace refused end points by the best iterates that the model accepts, in one batch."""
    refused = np.flatnonzero(~valid)
    if not len(refused):
        return
    which = np.repeat(refused, [len(ends.paths[i]) for i in refused])
    iterates = problem.settle(np.concatenate([ends.paths[i] for i in refused]), which)
    accepted = np.flatnonzero(problem.task.oracle(iterates, which))
    # Paths only lead down, so the last accepted iterate is the best.
    x[which[accepted]] = iterates[accepted]
    for i in np.unique(which[accepted]):
        ends.status[i] = Status.FELL_BACK


def _judge(problem: Problem, ends: Ends, solver: Solver, scales_of: Callable[[float], Scales], x: FloatArray) -> None:
    """Give the odds of the points that are returned, where these are not the ends of the descent."""
    for part in problem.parts(scales_of):
        moved = np.array([not np.array_equal(ends.paths[i][-1], x[i]) for i in part.people], dtype=bool)
        some = part.take(np.flatnonzero(moved))
        if len(some.people):
            ends.log_odds[some.people] = objective_of(some, solver)(some.gather(x)).value
