"""People with a boundary point, the samples around it, and a budget: what the Bayesian methods solve."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray, Rounding
from robust_recourse.math.odds import Scales
from robust_recourse.math.projections import project, settle
from robust_recourse.methods._sure import Reach
from robust_recourse.sampling.neighbourhood import Around, Neighbourhood
from robust_recourse.search import Task

__all__ = ["Part", "Problem"]

_COARSE = 1.0 / 16.0  # of a sampling radius: steps of so much are looked at one by one
_ROUNDING = 4.0 * float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class Part:
    """People of a problem whose samples have the same dimension and radius, in the columns in which these vary.

    Everything is as the samples are measured; categories stay as they are.
    """

    around: Around
    centres: FloatArray  # (m, p): boundary points of all people of the problem
    scales: Scales
    start: FloatArray  # (g, d): boundary points
    x0: FloatArray  # (g, d)
    lower: FloatArray  # (g, d)
    upper: FloatArray  # (g, d)
    weights: FloatArray  # (g, d)
    budget: FloatArray  # (g,)

    @property
    def people(self) -> IntArray:
        """Who they are in the problem."""
        return self.around.people

    def take(self, which: IntArray) -> Part:
        """Keep some of the people."""
        names = ("start", "x0", "lower", "upper", "weights", "budget")
        return replace(self, around=self.around.take(which), **{name: getattr(self, name)[which] for name in names})

    def project(self, y: FloatArray, which: IntArray) -> FloatArray:
        """Project points of the people onto their feasible sets."""
        sides = self.x0[which], self.weights[which], self.budget[which], self.lower[which], self.upper[which]
        return project(y, *sides)

    def gather(self, points: FloatArray) -> FloatArray:
        """Return points of all people of the problem, of shape (m, ..., p), as those of these are measured."""
        return self.around.lengths(points[self.people], self.centres)

    def embed(self, points: FloatArray, base: FloatArray) -> FloatArray:
        """Put points of these people back among all columns, where they have the values and categories of `base`."""
        rows = base[self.people]
        known = np.take_along_axis(rows, self.around.columns, axis=1)
        numbers = np.where(self.around.categories, known, points * self.around.stretch)
        np.put_along_axis(rows, self.around.columns, numbers, axis=1)
        return rows

    def way(self, path: FloatArray, j: int) -> FloatArray:
        """Return a path of the j-th of these people in all columns."""
        return replace(self.take(np.full(len(path), j)), budget=np.zeros(len(path))).embed(path, self.centres)


@dataclass(frozen=True, eq=False)
class Problem:
    """The people of a task, all with a boundary point, and what bounds their recourse."""

    task: Task
    around: tuple[Around, ...]
    budget: FloatArray  # (m,)
    reach: Reach | None = None  # of the default budget of a table

    def __len__(self) -> int:
        return len(self.task)

    @property
    def boundary(self) -> FloatArray:
        """The boundary points, of shape (m, p)."""
        assert self.task.boundary is not None
        return self.task.boundary

    @property
    def safe(self) -> BoolArray:
        """Who is accepted with other categories and the own numbers, with all samples around them."""
        safe = np.zeros(len(self), dtype=bool)
        for around in self.around:
            safe[around.people] = around.accepted.all(axis=1)
        return safe if self.task.switched is None else safe & self.task.switched

    def parts(self, scales_of: Callable[[float], Scales]) -> Iterator[Part]:
        """Yield the people whose neighbourhoods hold both classes; `scales_of(radius)` are smoothing and radii."""
        room = self.task.room
        for around in self.around:
            both = around.take(around.two_classes)
            if not len(both.people):
                continue
            sides = (room.x0, *room.box, np.broadcast_to(room.limits.weights, room.x0.shape))
            x0, lower, upper, weights = (np.take_along_axis(side[both.people], both.columns, axis=1) for side in sides)
            start, fixed, stretch = (
                both.lengths(self.boundary[both.people], self.boundary),
                both.categories,
                both.stretch,
            )
            x0, lower, upper = (np.where(fixed, start, side / stretch) for side in (x0, lower, upper))
            weights = np.where(fixed, 1.0, weights * stretch)
            budget = self.budget[both.people]
            yield Part(both, self.boundary, scales_of(both.radius), start, x0, lower, upper, weights, budget)

    def cost(self, rows: FloatArray, people: IntArray) -> FloatArray:
        """Return what rows of the people cost, less the switches that were made before."""
        task = self.task
        if task.before is None:
            return task.room.cost(rows, people)
        return task.before.cost(rows, people) - task.before.cost(task.x0[people], people)

    def close(self, rows: FloatArray, radius: FloatArray) -> tuple[FloatArray, IntArray]:
        """Return the rows next to some, one of each person: a step up or down in a column, or another category.

        Parameters
        ----------
        rows : ndarray of shape (m, p)
            The rows.
        radius : ndarray of shape (m,)
            Sampling radii. Steps of less than a fraction of them are not looked at: a descent tells these.

        Returns
        -------
        points : ndarray of shape (n, p)
            Rows within bounds and budgets.
        owner : ndarray of shape (n,)
            Whose they are.
        """
        task, steps = self.task, self.task.space.steps
        every = np.arange(len(rows))
        points, owners = [], []
        for k in np.flatnonzero((task.free & (steps >= _COARSE * radius[:, None])).any(axis=0)):
            people = every[task.free[:, k] & (steps[k] >= _COARSE * radius)]
            for sign in (-1.0, 1.0):
                moved = rows[people]
                moved[:, k] += sign * steps[k]
                points.append(task.room.clipped(moved, people))
                owners.append(people)
        before = task.before or task.room
        for k in np.flatnonzero(task.limits.categories & before.free.any(axis=0)):
            people = every[before.free[:, k]]
            codes = np.flatnonzero(task.limits.targets[k]).astype(float)  # type: ignore[arg-type]
            for own, code in [(before.x0[people, k], None), *((None, code) for code in codes)]:
                moved = rows[people]
                moved[:, k] = own if code is None else code
                able = np.ones(len(people), dtype=bool) if code is None else before.may_switch(int(k), people, code)
                points.append(moved[able])
                owners.append(people[able])
        if not points:
            return np.zeros((0, rows.shape[1])), np.zeros(0, dtype=np.int64)
        owner = np.concatenate(owners)
        found = task.snap(np.concatenate(points), owner)
        fits = (found != rows[owner]).any(axis=1) & (self.cost(found, owner) <= self.budget[owner])
        return found[fits], owner[fits]

    def settle(self, points: FloatArray, people: IntArray, rounding: Rounding = "nearest") -> FloatArray:
        """Return rows that keep bounds, grids and budget to the last bit."""
        x0, weights, limit = self.task.x0[people], self.task.limits.weights, self.budget[people]
        box = tuple(side[people] for side in self.task.room.box)
        if self.task.space.exact:
            return settle(points, x0, weights, limit, *box)
        rows = np.clip(points, *box)
        snapped = self.task.snap(rows, people, rounding)
        over = np.flatnonzero(self.task.limits.cost(snapped, x0) > limit)
        slack = 0.0
        while len(over):
            # Towards the person nothing gets dearer, but for the last bit of a number that is on no grid.
            less = settle(rows[over], x0[over], weights, limit[over] * (1.0 - slack), *(side[over] for side in box))
            snapped[over] = self.task.snap(less, people[over], "inward")
            over = over[self.task.limits.cost(snapped[over], x0[over]) > limit[over]]
            slack = min(max(2.0 * slack, _ROUNDING), 1.0)
        return snapped

    def neighbourhoods(self) -> list[Neighbourhood]:
        """Return the neighbourhoods to keep, which draw their samples again from the seed."""
        task = self.task
        instances, bounds = task.limits.without_codes(task.x0), task.limits.reach(task.x0)
        found: list[Neighbourhood | None] = [None] * len(self)
        for around in self.around:
            for j, i in enumerate(around.people):
                columns = around.columns[j]
                found[i] = Neighbourhood(
                    x0=instances[i],
                    free=np.isin(np.arange(len(instances[i])), columns),
                    centre=self.boundary[i],
                    radius=around.radius,
                    accepted=around.accepted[j],
                    seed=task.seed,
                    growths=around.growths,
                    bounds=(bounds[0][i, columns], bounds[1][i, columns]),
                    metric=around.metrics[j] if around.metrics else None,
                    nearer=None if around.nearer is None else around.nearer[j],
                    second=None if around.second is None else around.second[j],
                )
        drawn = [known for known in found if known is not None]
        assert len(drawn) == len(self)
        return drawn
