"""From boundary points down to the least worst-case odds, for the rows of one chunk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from robust_recourse.result import Status
from robust_recourse.sampling.neighbourhood import Neighbourhood, Neighbourhoods
from robust_recourse.sampling.oracle import Oracle

__all__ = [
    "SOLVERS",
    "Ends",
    "Problem",
    "Solver",
    "ahead",
    "best_start",
    "descend",
    "minimise_odds",
    "objective_of",
    "some_samples",
]

Solver = Literal["exact", "first-order"]
SOLVERS: tuple[Solver, ...] = get_args(Solver)

_ROUNDINGS = (0.3, 0.03, 0.003)  # of the kinks, in units of the smoothing
_CLOSE = 1 / 30  # of a rounding: as near as that its descent must come, the next one goes on from there
_EVALUATIONS, _POLISHING = 100, 10  # of the odds: in all, and after descents on rounded odds
_TIPS = 48  # accepted samples tried as starts where the odds have kinks
_TRIALS = 1024  # of them projected at once, for all instances together
_TINY = 1e-300
_ROUNDING = 4.0 * float(np.finfo(float).eps)

_INNER: dict[Solver, Inner] = {"exact": "table", "first-order": "first-order"}


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

    @property
    def safe(self) -> BoolArray:
        """Which instances are accepted as they are, with all samples around them."""
        safe: BoolArray = self.at_once & self.around.accepted.all(axis=1)
        return safe

    def neighbourhoods(self, seed: int) -> list[Neighbourhood]:
        """Return the neighbourhoods to keep, drawn with this seed."""
        centres = self.embed(self.boundary, np.arange(len(self.boundary)))
        instances = self.limits.without_codes(self.x0)
        lower, upper = self.limits.take(self.free).reach(self.x0[:, self.free])
        return [
            Neighbourhood(
                x0=instances[i],
                free=self.free,
                centre=centres[i],
                radius=float(self.around.radius[i]),
                accepted=self.around.accepted[i],
                seed=seed,
                growths=int(self.around.growths[i]),
                bounds=(lower[i], upper[i]),
            )
            for i in range(len(centres))
        ]


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
        found = minimise_odds(problem, group, solver, scales)
        ends.log_odds[group] = found.value
        for j, i in enumerate(group):
            ends.scales[i] = scales
            ends.status[i] = Status.OK if found.converged[j] else Status.NOT_CONVERGED
            ends.paths[i] = found.path(j)
    return ends


def minimise_odds(
    problem: Problem,
    group: IntArray,
    solver: Solver,
    scales: Scales,
    starts: Sequence[FloatArray] = (),
    max_evaluations: int = _EVALUATIONS,
) -> Descent:
    """Descend from the boundary point or, where that has better odds, from a jump towards the accepted samples.

    If `starts` are given, feasible points of every instance of the group, the descent begins at the best of them
    instead.

    The odds have many local minima. A jump of the neighbourhood's diameter, along the line through the centres of
    the two classes and back onto the feasible set, lands in a better basin most of the time. With large ambiguity
    radii they have kinks too, at which a gradient method stalls, and minima at the tips of cones, which are samples
    themselves: there a second descent starts from the best of some samples, and both go over odds whose kinks are
    rounded off, less and less, before a last part on the odds themselves.
    """
    projection = problem.projection(group)
    objective = objective_of(problem.around, group, solver, scales)
    x = starts[0] if starts else problem.boundary[group]
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

    for other in starts[1:] or [projection(x + ahead(problem.around, group), np.arange(len(group)))]:
        offer(other)
    kinked = solver == "exact" and pessimistic_table(scales.epsilon_1 / scales.sigma, x.shape[1]).kinked
    smooth = np.zeros(len(x), dtype=bool)
    if kinked:
        twice = np.tile(np.arange(len(group)), 2)  # both starts of every instance, together
        ends = np.concatenate([x, best_start(objective, projection, some_samples(problem.around, group))])
        for rounding in _ROUNDINGS:
            rounded = objective_of(problem.around, group, solver, scales, rounding).take(twice)
            ends, _, done, *_ = minimise(
                rounded,
                lambda y, rows: projection(y, twice[rows]),
                ends,
                length=scales.sigma,
                tolerance=_CLOSE * rounding,
            )
        for end, settled in zip(np.split(ends, 2), np.split(done, 2), strict=True):
            smooth = np.where(offer(end), settled, smooth)
    most = _POLISHING if kinked else max_evaluations
    last = minimise(objective, projection, x, length=scales.sigma, first=odds, max_evaluations=most)
    return Descent(
        last.x,
        last.value,
        last.converged | smooth,
        np.concatenate([np.stack(history), last.history[1:]]),
        np.concatenate([np.stack(stepped), last.stepped[1:]]),
    )


def ahead(around: Neighbourhoods, group: IntArray) -> FloatArray:
    """Vectors from the centre of the refused samples to that of the accepted ones, two sampling radii long."""
    samples, accepted = around.samples[group], around.accepted[group]
    n_accepted = accepted.sum(axis=1)[:, None]
    total, inside = samples.sum(axis=1), np.einsum("mn,mnp->mp", accepted.astype(float), samples)
    ahead: FloatArray = inside / n_accepted - (total - inside) / (accepted.shape[1] - n_accepted)
    ahead *= 2.0 * around.radius[group, None] / (np.sqrt((ahead**2).sum(axis=1, keepdims=True)) + _TINY)
    return ahead


def some_samples(around: Neighbourhoods, group: IntArray) -> FloatArray:
    """Return a few accepted samples of every neighbourhood, of shape (g, k, p)."""
    samples, accepted = around.samples[group], around.accepted[group]
    first = np.argsort(~accepted, axis=1, kind="stable")
    chosen = (np.linspace(0.0, 1.0, _TIPS) * (accepted.sum(axis=1, keepdims=True) - 1)).astype(int)
    return np.take_along_axis(samples, np.take_along_axis(first, chosen, axis=1)[:, :, None], axis=1)


def best_start(
    objective: OddsObjective, projection: Callable[[FloatArray, IntArray], FloatArray], points: FloatArray
) -> FloatArray:
    """Project points of every instance, of shape (g, k, p), onto its feasible set; return those with the best odds."""
    m, n, p = points.shape
    trials = np.empty_like(points)
    at_once = max(1, _TRIALS // m)
    for k in range(0, n, at_once):
        some = points[:, k : k + at_once]
        rows = np.repeat(np.arange(m), some.shape[1])
        trials[:, k : k + at_once] = projection(some.reshape(-1, p), rows).reshape(some.shape)
    best: FloatArray = trials[np.arange(m), objective.values(trials).argmin(axis=1)]
    return best


def objective_of(
    around: Neighbourhoods, group: IntArray, solver: Solver, scales: Scales, rounding: float = 0.0
) -> OddsObjective:
    return OddsObjective(around.samples[group], around.accepted[group], scales, _INNER[solver], rounding)
