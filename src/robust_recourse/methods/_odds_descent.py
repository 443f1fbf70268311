"""From boundary points to verified recourses, for the rows of one chunk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.actions.moves import Rounding
from robust_recourse.math.descent import Descent, minimise
from robust_recourse.math.limits import Limits
from robust_recourse.math.lookup import pessimistic_table
from robust_recourse.math.odds import Inner, Odds, OddsObjective, Scales
from robust_recourse.math.projections import project, settle, weighted_cost
from robust_recourse.methods._space import Space
from robust_recourse.result import Recourse, Status
from robust_recourse.sampling.neighbourhood import MOST_GROWTHS, Neighbourhood, Neighbourhoods
from robust_recourse.sampling.oracle import Oracle

__all__ = ["SOLVERS", "Problem", "Solver", "descend", "verify"]

Solver = Literal["exact", "first-order"]
SOLVERS: tuple[Solver, ...] = get_args(Solver)

_ROUNDINGS = (0.3, 0.03, 0.003)  # of the kinks, in units of the smoothing
_EVALUATIONS, _POLISHING = 100, 10  # of the odds: in all, and after descents on rounded odds
_TIPS = 64  # samples tried as starts where the odds have kinks
_TRIALS = 1024  # of them at once, for all instances together
_TINY = 1e-300
_ROUNDING = 4.0 * float(np.finfo(float).eps)

_OTHERWISE: tuple[Rounding, ...] = ("inward", "outward")

_INNER: dict[Solver, Inner] = {"exact": "table", "first-order": "first-order"}

_INCONSISTENT = (
    "The model refuses every point of the search, the boundary point too, which it accepted before: its answers do "
    "not depend on the row alone."
)
_REASONS = {
    Status.OK: "The recourse is a local minimum of the worst-case odds within its budget.",
    Status.NOT_CONVERGED: "The descent reached its cap of iterations; the recourse is accepted but may be improved.",
    Status.FELL_BACK: "The model refuses the end of the descent; this is the best iterate that it accepts.",
    Status.ONE_CLASS: (
        f"All samples around the boundary point got the same label, even after {MOST_GROWTHS} doublings of the "
        "sampling radius; this is the boundary point. Try another sampling_radius or more samples."
    ),
}


_SWITCHED = (
    "With other categories the model accepts the row with its own numbers, and all samples around them, too; no "
    "cheaper switch was found."
)


@dataclass(frozen=True)
class Problem:
    """Instances with a boundary point and what bounds their recourse.

    *Points* have the columns that may change, *rows* have all columns.
    """

    oracle: Oracle
    owners: IntArray  # (m,): the instances' numbers for the oracle
    x0: FloatArray  # (m, p_all)
    free: BoolArray  # (p_all,)
    limits: Limits  # of all columns
    boundary: FloatArray  # (m, p): points
    around: Neighbourhoods
    budget: FloatArray  # (m,)
    space: Space
    rows: IntArray  # (m,): the instances' numbers in the table
    at_once: BoolArray  # (m,): accepted as they are, because their categories were switched

    def embed(self, points: FloatArray, which: IntArray) -> FloatArray:
        """Put points of the instances `which` back among all columns."""
        rows = self.x0[which]
        rows[:, self.free] = points
        return rows

    def projection(self, group: IntArray) -> Callable[[FloatArray, IntArray], FloatArray]:
        """Return the projection of points onto the feasible sets of a group of instances."""
        limits, x0, budget = self.limits.take(self.free), self.x0[group][:, self.free], self.budget[group]
        lower, upper = limits.box(x0)
        return lambda y, rows: project(y, x0[rows], limits.weights, budget[rows], lower[rows], upper[rows])

    def settle(self, points: FloatArray, which: IntArray, rounding: Rounding = "nearest") -> FloatArray:
        """Return rows that keep bounds, grids and budget to the last bit, with all columns counted."""
        x0, rows, budget, weights = self.x0[which], self.embed(points, which), self.budget[which], self.limits.weights
        box = self.limits.box(x0)
        if self.space.exact:
            return settle(rows, x0, weights, budget, *box)
        rows = np.clip(rows, *box)
        snapped = self.space.snap(rows, self.rows[which], rounding)
        over = np.flatnonzero(weighted_cost(snapped, x0, weights) > budget)
        slack = 0.0
        while len(over):
            # Towards the instance nothing gets dearer, but for the last bit of a number that is on no grid.
            less = settle(rows[over], x0[over], weights, budget[over] * (1.0 - slack), *(side[over] for side in box))
            snapped[over] = self.space.snap(less, self.rows[which[over]], "inward")
            over = over[weighted_cost(snapped[over], x0[over], weights) > budget[over]]
            slack = min(max(2.0 * slack, _ROUNDING), 1.0)
        return snapped

    def ask(self, rows: FloatArray, which: IntArray) -> BoolArray:
        """Ask the model about rows of the instances `which`."""
        return self.oracle(rows[:, self.free], self.owners[which])


class Ends(NamedTuple):
    """Where the descents ended."""

    log_odds: FloatArray
    status: list[Status]
    paths: list[FloatArray]
    scales: list[Scales | None]


def descend(problem: Problem, solver: Solver, scales_of: Callable[[float], Scales]) -> Ends:
    """Minimise the worst-case odds from the boundary points; a grown neighbourhood has scales of its own."""
    m = len(problem.boundary)
    around = problem.around
    ends = Ends(
        log_odds=np.full(m, np.nan),
        status=[Status.ONE_CLASS] * m,
        paths=[problem.boundary[i : i + 1] for i in range(m)],
        scales=[None] * m,
    )
    for radius in np.unique(around.radius[around.two_classes]):
        group = np.flatnonzero(around.two_classes & (around.radius == radius))
        scales = scales_of(float(radius))
        found = _minimise(problem, group, solver, scales)
        ends.log_odds[group] = found.value
        for j, i in enumerate(group):
            ends.scales[i] = scales
            ends.status[i] = Status.OK if found.converged[j] else Status.NOT_CONVERGED
            ends.paths[i] = found.path(j)
    return ends


def verify(problem: Problem, ends: Ends, solver: Solver, seed: int) -> list[Recourse]:
    """Ask the model about what will be returned, after the last rounding; go back along the path if it refuses."""
    every = np.arange(len(problem.boundary))
    last = np.array([path[-1] for path in ends.paths]).reshape(problem.boundary.shape)
    x = problem.settle(last, every)
    valid = problem.ask(x, every)
    _fall_back(problem, ends, x, valid)
    _judge(problem, ends, solver, x)
    boundary = problem.embed(problem.boundary, every)
    cost = weighted_cost(x, problem.x0, problem.limits.weights)
    instances = problem.limits.without_codes(problem.x0)
    safe = problem.at_once & problem.around.accepted.all(axis=1)
    lower, upper = problem.limits.take(problem.free).reach(problem.x0[:, problem.free])
    n_queries = 1 + problem.oracle.n_queries[problem.owners]
    return [
        Recourse(
            x0=problem.x0[i],
            x=x[i],
            boundary=boundary[i],
            cost=float(cost[i]),
            budget=float(problem.budget[i]),
            valid=bool(valid[i]),
            status=Status.OK if safe[i] else ends.status[i],
            reason=_SWITCHED if safe[i] else _REASONS[ends.status[i]],
            log_worst_case_odds=float(ends.log_odds[i]),
            n_queries=int(n_queries[i]),
            weights=problem.limits.weights,
            path=problem.embed(ends.paths[i], np.full(len(ends.paths[i]), i)),
            neighbourhood=Neighbourhood(
                x0=instances[i],
                free=problem.free,
                centre=boundary[i],
                radius=float(problem.around.radius[i]),
                accepted=problem.around.accepted[i],
                seed=seed,
                growths=int(problem.around.growths[i]),
                bounds=(lower[i], upper[i]),
            ),
            scales=ends.scales[i],
        )
        if valid[i]
        else Recourse.missing(problem.x0[i], Status.INCONSISTENT_MODEL, _INCONSISTENT, int(n_queries[i]))
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
        others = [problem.settle(last, refused, rounding) for rounding in _OTHERWISE]
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
        objective = _objective(problem.around, group, solver, scales)
        ends.log_odds[group] = objective(np.ascontiguousarray(x[group][:, problem.free])).value


def _minimise(problem: Problem, group: IntArray, solver: Solver, scales: Scales) -> Descent:
    """Descend from the boundary point or, where that has better odds, from a jump towards the accepted samples.

    The odds have many local minima. A jump of the neighbourhood's diameter, along the line through the centres of
    the two classes and back onto the feasible set, lands in a better basin most of the time. With large ambiguity
    radii they have kinks too, at which a gradient method stalls, and minima at the tips of cones, which are samples
    themselves: there a second descent starts from the best of some samples, and both go over odds whose kinks are
    rounded off, less and less, before a last part on the odds themselves.
    """
    projection = problem.projection(group)
    objective = _objective(problem.around, group, solver, scales)
    x = problem.boundary[group]
    odds = objective(x)
    history, stepped = [x], [np.ones(len(x), dtype=bool)]

    def offer(other: FloatArray) -> BoolArray:
        nonlocal x, odds
        there = objective(other)
        better = there.value < odds.value
        odds = Odds(
            *(np.where(better.reshape(-1, *[1] * (a.ndim - 1)), a, b) for a, b in zip(there, odds, strict=True))
        )
        x = np.where(better[:, None], other, x)
        history.append(x)
        stepped.append(better)
        return better

    offer(projection(x + _ahead(problem.around, group), np.arange(len(group))))
    kinked = solver == "exact" and pessimistic_table(scales.epsilon_1 / scales.sigma, x.shape[1]).kinked
    smooth = np.zeros(len(x), dtype=bool)
    if kinked:
        twice = np.tile(np.arange(len(group)), 2)  # both starts of every instance, together
        ends = np.concatenate([x, _best_sample(problem, group, objective, projection)])
        for rounding in _ROUNDINGS:
            rounded = _objective(problem.around, group, solver, scales, rounding).take(twice)
            ends, _, done, *_ = minimise(rounded, lambda y, rows: projection(y, twice[rows]), ends, length=scales.sigma)
        for end, settled in zip(np.split(ends, 2), np.split(done, 2), strict=True):
            smooth = np.where(offer(end), settled, smooth)
    most = _POLISHING if kinked else _EVALUATIONS
    last = minimise(objective, projection, x, length=scales.sigma, first=odds, max_evaluations=most)
    return Descent(
        last.x,
        last.value,
        last.converged | smooth,
        np.concatenate([np.stack(history), last.history[1:]]),
        np.concatenate([np.stack(stepped), last.stepped[1:]]),
    )


def _ahead(around: Neighbourhoods, group: IntArray) -> FloatArray:
    """Vectors from the centre of the refused samples to that of the accepted ones, two sampling radii long."""
    samples, accepted = around.samples[group], around.accepted[group]
    n_accepted = accepted.sum(axis=1)[:, None]
    total, inside = samples.sum(axis=1), np.einsum("mn,mnp->mp", accepted.astype(float), samples)
    ahead: FloatArray = inside / n_accepted - (total - inside) / (accepted.shape[1] - n_accepted)
    ahead *= 2.0 * around.radius[group, None] / (np.sqrt((ahead**2).sum(axis=1, keepdims=True)) + _TINY)
    return ahead


def _best_sample(
    problem: Problem,
    group: IntArray,
    objective: OddsObjective,
    projection: Callable[[FloatArray, IntArray], FloatArray],
) -> FloatArray:
    """Project some samples of every neighbourhood onto the feasible set and keep the one with the best odds."""
    samples = problem.around.samples
    chosen = np.unique(np.linspace(0, samples.shape[1] - 1, _TIPS).astype(int))
    best, least = problem.boundary[group], np.full(len(group), np.inf)
    # Several samples at a time where there are few instances: every call has its overhead.
    for some in np.array_split(chosen, -(-len(chosen) * len(group) // _TRIALS)):
        rows = np.tile(np.arange(len(group)), len(some))
        points = projection(samples[group][:, some].swapaxes(0, 1).reshape(len(rows), -1), rows)
        values = objective.take(rows)(points).value.reshape(len(some), -1)
        first = values.argmin(axis=0)
        point = points.reshape(len(some), len(group), -1)[first, np.arange(len(group))]
        value = values[first, np.arange(len(group))]
        better = value < least
        best, least = np.where(better[:, None], point, best), np.where(better, value, least)
    return best


def _objective(
    around: Neighbourhoods, group: IntArray, solver: Solver, scales: Scales, rounding: float = 0.0
) -> OddsObjective:
    return OddsObjective(around.samples[group], around.accepted[group], scales, _INNER[solver], rounding)
