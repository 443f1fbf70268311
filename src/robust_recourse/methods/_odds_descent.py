"""From boundary points down to the least worst-case odds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.math.descent import Descent, minimise
from robust_recourse.math.lookup import pessimistic_table
from robust_recourse.math.odds import Inner, Odds, OddsObjective, Scales
from robust_recourse.methods._odds_problem import Part, Problem
from robust_recourse.result import Status
from robust_recourse.sampling.neighbourhood import Around

__all__ = [
    "SOLVERS",
    "Ends",
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
_TRIALS = 1024  # of them projected at once, for all people together
_TINY = 1e-300

_INNER: dict[Solver, Inner] = {"exact": "table", "first-order": "first-order"}


class Ends(NamedTuple):
    """Where the descents of all people of a problem ended."""

    log_odds: FloatArray
    status: list[Status]
    paths: list[FloatArray]  # (n, p) each
    scales: list[Scales | None]


def descend(problem: Problem, solver: Solver, scales_of: Callable[[float], Scales]) -> Ends:
    """Minimise the worst-case odds from the boundary points; a grown neighbourhood has scales of its own."""
    m = len(problem)
    ends = Ends(
        log_odds=np.full(m, np.nan),
        status=[Status.ONE_CLASS] * m,
        paths=[problem.boundary[i : i + 1] for i in range(m)],
        scales=[None] * m,
    )
    for part in problem.parts(scales_of):
        found = minimise_odds(part, solver)
        ends.log_odds[part.people] = found.value
        for j, i in enumerate(part.people):
            ends.scales[i], ends.paths[i] = part.scales, part.way(found.path(j), j)
            ends.status[i] = Status.OK if found.converged[j] else Status.NOT_CONVERGED
    return ends


def minimise_odds(
    part: Part, solver: Solver, starts: Sequence[FloatArray] = (), max_evaluations: int = _EVALUATIONS
) -> Descent:
    """Descend from the boundary point or, where that has better odds, from a jump towards the accepted samples.

    If `starts` are given, feasible points of every person, the descent begins at the best of them instead.

    The odds have many local minima. A jump of the neighbourhood's diameter, along the line through the centres of
    the two classes and back onto the feasible set, lands in a better basin most of the time. With large ambiguity
    radii they have kinks too, at which a gradient method stalls, and minima at the tips of cones, which are samples
    themselves: there a second descent starts from the best of some samples, and both go over odds whose kinks are
    rounded off, less and less, before a last part on the odds themselves.
    """
    scales, every = part.scales, np.arange(len(part.people))
    objective = objective_of(part, solver)
    x = starts[0] if starts else part.start
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

    for other in starts[1:] or [part.project(x + ahead(part.around), every)]:
        offer(other)
    kinked = solver == "exact" and pessimistic_table(scales.epsilon_1 / scales.sigma, x.shape[1]).kinked
    smooth = np.zeros(len(x), dtype=bool)
    if kinked:
        twice = np.tile(every, 2)  # both starts of every person, together
        ends = np.concatenate([x, best_start(objective, part.project, some_samples(part.around))])
        for rounding in _ROUNDINGS:
            rounded = objective_of(part, solver, rounding).take(twice)
            ends, _, done, *_ = minimise(
                rounded,
                lambda y, rows: part.project(y, twice[rows]),
                ends,
                length=scales.sigma,
                tolerance=_CLOSE * rounding,
            )
        for end, settled in zip(np.split(ends, 2), np.split(done, 2), strict=True):
            smooth = np.where(offer(end), settled, smooth)
    most = _POLISHING if kinked else max_evaluations
    last = minimise(objective, part.project, x, length=scales.sigma, first=odds, max_evaluations=most)
    return Descent(
        last.x,
        last.value,
        last.converged | smooth,
        np.concatenate([np.stack(history), last.history[1:]]),
        np.concatenate([np.stack(stepped), last.stepped[1:]]),
    )


def ahead(around: Around) -> FloatArray:
    """Vectors from the centre of the refused samples to that of the accepted ones, two sampling radii long."""
    samples, accepted = around.samples, around.accepted
    n_accepted = accepted.sum(axis=1)[:, None]
    total, inside = samples.sum(axis=1), np.einsum("mn,mnp->mp", accepted.astype(float), samples)
    ahead: FloatArray = inside / n_accepted - (total - inside) / (accepted.shape[1] - n_accepted)
    ahead *= 2.0 * around.radius / (np.sqrt((ahead**2).sum(axis=1, keepdims=True)) + _TINY)
    return ahead


def some_samples(around: Around) -> FloatArray:
    """Return a few accepted samples of every neighbourhood, of shape (g, k, d)."""
    samples, accepted = around.samples, around.accepted
    first = np.argsort(~accepted, axis=1, kind="stable")
    chosen = (np.linspace(0.0, 1.0, _TIPS) * (accepted.sum(axis=1, keepdims=True) - 1)).astype(int)
    return np.take_along_axis(samples, np.take_along_axis(first, chosen, axis=1)[:, :, None], axis=1)


def best_start(
    objective: OddsObjective, projection: Callable[[FloatArray, IntArray], FloatArray], points: FloatArray
) -> FloatArray:
    """Project points of every person, of shape (g, k, d), onto its feasible set; return those with the best odds."""
    m, n, p = points.shape
    trials = np.empty_like(points)
    at_once = max(1, _TRIALS // m)
    for k in range(0, n, at_once):
        some = points[:, k : k + at_once]
        rows = np.repeat(np.arange(m), some.shape[1])
        trials[:, k : k + at_once] = projection(some.reshape(-1, p), rows).reshape(some.shape)
    best: FloatArray = trials[np.arange(m), objective.values(trials).argmin(axis=1)]
    return best


def objective_of(part: Part, solver: Solver, rounding: float = 0.0) -> OddsObjective:
    """Return the worst-case log odds of the people of a part."""
    return OddsObjective(part.around.samples, part.around.accepted, part.scales, _INNER[solver], rounding)
