"""The last question about the ends of descents, and what is told about them."""

from __future__ import annotations

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray
from robust_recourse.actions.moves import Rounding
from robust_recourse.math.projections import weighted_cost
from robust_recourse.methods._odds_descent import Ends, Problem, Solver, objective_of
from robust_recourse.methods._verify import Outcome
from robust_recourse.result import Answer, Status
from robust_recourse.sampling.neighbourhood import MOST_GROWTHS

__all__ = ["OTHERWISE", "REASONS", "SWITCHED", "describe", "verify"]

OTHERWISE: tuple[Rounding, ...] = ("inward", "outward")

_INCONSISTENT = (
    "The model refuses every point of the search, the boundary point too, which it accepted before: its answers do "
    "not depend on the row alone."
)
REASONS = {
    Status.OK: "The recourse is a local minimum of the worst-case odds within its budget.",
    Status.NOT_CONVERGED: "The descent reached its cap of iterations; the recourse is accepted but may be improved.",
    Status.FELL_BACK: "The model refuses the end of the descent; this is the best iterate that it accepts.",
    Status.ONE_CLASS: (
        f"All samples around the boundary point got the same label, even after {MOST_GROWTHS} doublings of the "
        "sampling radius; this is the boundary point. Try another sampling_radius or more samples."
    ),
}
SWITCHED = (
    "With other categories the model accepts the row with its own numbers, and all samples around them, too; no "
    "cheaper switch was found."
)


def verify(problem: Problem, ends: Ends, solver: Solver, seed: int) -> list[Answer]:
    """Ask the model about what will be returned, after the last rounding; go back along the path if it refuses."""
    every = np.arange(len(problem.boundary))
    last = np.array([path[-1] for path in ends.paths]).reshape(problem.boundary.shape)
    x = problem.settle(last, every)
    valid = problem.ask(x, every)
    _fall_back(problem, ends, x, valid)
    _judge(problem, ends, solver, x)
    outcomes = [
        Outcome(Status.OK, SWITCHED)
        if safe
        else Outcome(status, REASONS[status])
        if yes
        else Outcome(Status.INCONSISTENT_MODEL, _INCONSISTENT)
        for safe, status, yes in zip(problem.safe, ends.status, valid, strict=True)
    ]
    return describe(problem, ends, x, valid, outcomes, seed)


def describe(
    problem: Problem, ends: Ends, x: FloatArray, found: BoolArray, outcomes: list[Outcome], seed: int
) -> list[Answer]:
    """Tell what is known about the rows `x`, which the model accepts; instances that are not `found` have none."""
    every = np.arange(len(problem.boundary))
    boundary = problem.embed(problem.boundary, every)
    cost = weighted_cost(x, problem.x0, problem.limits.weights)
    neighbourhoods = problem.neighbourhoods(seed)
    n_queries = 1 + problem.oracle.n_queries[problem.owners]
    return [
        Answer(
            x0=problem.x0[i],
            x=x[i],
            boundary=boundary[i],
            cost=float(cost[i]),
            budget=float(problem.budget[i]),
            valid=True,
            status=outcomes[i].status,
            reason=outcomes[i].reason,
            log_worst_case_odds=float(ends.log_odds[i]),
            n_queries=int(n_queries[i]),
            weights=problem.limits.weights,
            path=problem.embed(ends.paths[i], np.full(len(ends.paths[i]), i)),
            neighbourhood=neighbourhoods[i],
            scales=ends.scales[i],
        )
        if found[i]
        else Answer.missing(problem.x0[i], *outcomes[i], int(n_queries[i]))
        for i in every
    ]


def _fall_back(problem: Problem, ends: Ends, x: FloatArray, valid: BoolArray) -> None:
    """Replace refused end points by the best iterates that the model accepts, in one batch.

    Where numbers were rounded, the end point rounded otherwise comes before the iterates.
    """
    refused = np.flatnonzero(~valid)
    if not len(refused):
        return
    which = np.repeat(refused, [len(ends.paths[i]) for i in refused])
    iterates = problem.settle(np.concatenate([ends.paths[i] for i in refused]), which)
    if not problem.space.exact:
        last = np.array([ends.paths[i][-1] for i in refused])
        others = [problem.settle(last, refused, rounding) for rounding in OTHERWISE]
        which, iterates = np.concatenate([which, *[refused] * len(others)]), np.concatenate([iterates, *others])
    accepted = np.flatnonzero(problem.ask(iterates, which))
    # Paths only lead down, so the last accepted iterate is the best.
    x[which[accepted]] = iterates[accepted]
    fallen = np.unique(which[accepted])
    valid[fallen] = True
    for i in fallen:
        ends.status[i] = Status.FELL_BACK


def _judge(problem: Problem, ends: Ends, solver: Solver, x: FloatArray) -> None:
    """Give the odds of the points that are returned, where these are not the ends of the descent."""
    moved = [i for i, path in enumerate(ends.paths) if not np.array_equal(path[-1], x[i, problem.free])]
    for scales in {ends.scales[i] for i in moved}:
        if scales is None:
            continue
        group = np.array([i for i in moved if ends.scales[i] == scales])
        objective = objective_of(problem.around, group, solver, scales)
        ends.log_odds[group] = objective(np.ascontiguousarray(x[group][:, problem.free])).value
