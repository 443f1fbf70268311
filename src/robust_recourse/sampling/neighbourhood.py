r"""Labelled samples around the boundary points.

The samples of an array are uniform in a ball. Those of a table live where rows can live. A column that moves in steps
is measured in lengths of which two steps are a sampling radius, if two steps are more than that,

.. math:: z_k = x_k / s_k, \qquad s_k = \max(1,\, 2\,\text{step}_k / r),

and a category counts 0 where it is that of the boundary point and one step, :math:`r / 2`, where it is another. The
ball, the smoothing and the Wasserstein balls of the paper are balls in :math:`z`: its theorems hold for that norm.
Samples are drawn there, rounded to whole steps and switches, and drawn nearer where they break a rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.math.limits import Room
from robust_recourse.sampling.asking import Ask
from robust_recourse.sampling.ball import row_generator, unit_ball
from robust_recourse.sampling.metric import Grid, Metric, metric_of

__all__ = ["Around", "Neighbourhood", "same_width", "sample_neighbourhoods"]

MOST_GROWTHS = 5
"""How often the radius is doubled when a neighbourhood holds one class only."""

_NEARER = 3  # halvings of a sample that breaks a rule, before it is the boundary point itself


@dataclass(frozen=True)
class Neighbourhood:
    """The labelled samples of one instance, kept as the seed they are drawn from.

    Attributes
    ----------
    x0 : ndarray of shape (p,)
        The instance, with 0 for codes of categories: what the samples are drawn from.
    free : ndarray of bool, shape (p,)
        The columns in which the samples vary.
    centre : ndarray of shape (p,)
        The boundary point.
    radius : float
        The sampling radius in the end.
    accepted : ndarray of bool, shape (n,)
        The model's label of every sample.
    seed : int
        The seed of the method.
    growths : int
        How often the radius was doubled; every time the samples were drawn anew.
    bounds : tuple of ndarray or None
        Bounds of the columns that vary, which no sample leaves.
    metric : Metric or None
        How the columns are measured; as they are if None.
    nearer : ndarray of shape (n,) or None
        The part of its way from the centre that each sample was left, because of rules.
    second : ndarray of shape (p,) or None
        The point around which every second sample is drawn; the centre if None.
    """

    x0: FloatArray
    free: BoolArray
    centre: FloatArray
    radius: float
    accepted: BoolArray
    seed: int
    growths: int = 0
    bounds: tuple[FloatArray, FloatArray] | None = None
    metric: Metric | None = None
    nearer: FloatArray | None = None
    second: FloatArray | None = None

    @property
    def numbers(self) -> BoolArray:
        """The columns of numbers in which the samples vary, of shape (p,)."""
        numbers = self.free.copy()
        if self.metric is not None:
            numbers[self.free] = ~self.metric.categories
        return numbers

    @property
    def stretch(self) -> FloatArray:
        """What one unit of length is in units of cost, in the columns that vary."""
        return np.ones(int(self.free.sum())) if self.metric is None else self.metric.stretch

    @property
    def free_samples(self) -> FloatArray:
        """The samples in the columns that vary, as they are measured; drawn again."""
        points = self._drawn()
        return points if self.metric is None else self.metric.lengths(points, self.centre[self.free])

    def lengths(self, points: FloatArray) -> FloatArray:
        """Return points with all columns, of shape (..., p), as they are measured: in the columns that vary."""
        free = points[..., self.free]
        return free if self.metric is None else self.metric.lengths(free, self.centre[self.free])

    @property
    def samples(self) -> FloatArray:
        """The samples in all columns, of shape (n, p)."""
        full = np.tile(self.centre, (len(self.accepted), 1))
        full[:, self.free] = self._drawn()
        return full

    def _drawn(self) -> FloatArray:
        n, d = len(self.accepted), int(self.free.sum())
        if not n:
            return np.empty((0, d))
        rng = row_generator(self.x0, self.seed, self.growths)
        unit, centre = unit_ball([rng], n, d)[0], self.centre[self.free]
        if self.second is not None:
            centre = _in_turn(centre, self.second[self.free], n)
        if self.metric is None:
            points: FloatArray = unit * self.radius + centre
            return points if self.bounds is None else np.clip(points, *self.bounds)
        assert self.bounds is not None
        drawn = unit * self.radius
        if self.nearer is not None:
            drawn *= self.nearer[:, None]
        return self.metric.rows(drawn, centre, self.bounds, rng.random((n, d)))


@dataclass(frozen=True, eq=False)
class Around:
    """The samples of people whose neighbourhoods vary in the same number of columns, within the same radius.

    Attributes
    ----------
    people : ndarray of int, shape (g,)
        Who they are.
    columns : ndarray of int, shape (g, d)
        The columns in which the samples of each vary.
    samples : ndarray of shape (g, n, d)
        The samples in these columns, as they are measured.
    accepted : ndarray of bool, shape (g, n)
        Their labels.
    radius : float
        The sampling radius in the end.
    growths : int
        How often it was doubled.
    metrics : tuple of Metric
        How the columns of each are measured; empty if they are as they are.
    nearer : ndarray of shape (g, n) or None
        The parts of their ways that samples were left, because of rules.
    second : ndarray of shape (g, p) or None
        The points around which every second sample is drawn.
    """

    people: IntArray
    columns: IntArray
    samples: FloatArray
    accepted: BoolArray
    radius: float
    growths: int
    metrics: tuple[Metric, ...] = ()
    nearer: FloatArray | None = None
    second: FloatArray | None = None

    @property
    def two_classes(self) -> BoolArray:
        """Which neighbourhoods hold both classes."""
        return np.asarray(self.accepted.any(axis=1) & ~self.accepted.all(axis=1))

    @property
    def stretch(self) -> FloatArray | float:
        """What one unit of length is in units of cost, of shape (g, d) or 1 for all."""
        return np.array([metric.stretch for metric in self.metrics]) if self.metrics else 1.0

    @property
    def categories(self) -> BoolArray:
        """Which columns hold categories, of shape (g, d)."""
        if not self.metrics:
            return np.zeros(self.columns.shape, dtype=bool)
        return np.array([metric.categories for metric in self.metrics])

    def lengths(self, points: FloatArray, centres: FloatArray) -> FloatArray:
        """Return points of these people, of shape (g, ..., p), as they are measured; `centres` are all of the task."""
        columns = self.columns.reshape(len(self.columns), *[1] * (points.ndim - 2), -1)
        free = np.take_along_axis(points, np.broadcast_to(columns, (*points.shape[:-1], columns.shape[-1])), axis=-1)
        if not self.metrics:
            return free
        own = np.take_along_axis(centres[self.people], self.columns, axis=1)
        return np.stack([one.lengths(at, centre) for one, at, centre in zip(self.metrics, free, own, strict=True)])

    def take(self, which: IntArray | BoolArray) -> Around:
        """Keep some of the people."""
        arrays = {name: getattr(self, name)[which] for name in ("people", "columns", "samples", "accepted")}
        index = np.arange(len(self.people))[which]
        metrics = tuple(self.metrics[i] for i in index) if self.metrics else ()
        nearer, second = (None if known is None else known[which] for known in (self.nearer, self.second))
        return replace(self, **arrays, metrics=metrics, nearer=nearer, second=second)


def same_width(free: BoolArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield the people who may change the same number of columns, and these columns, of shape (g, d)."""
    width = free.sum(axis=1)
    for d in np.unique(width[width > 0]):
        people = np.flatnonzero(width == d)
        yield people, np.nonzero(free[people])[1].reshape(len(people), d)


def sample_neighbourhoods(
    ask: Ask,
    room: Room,
    centres: FloatArray,
    radius: float,
    n_samples: int,
    seed: int,
    once: BoolArray | None = None,
    grid: Grid | None = None,
    second: FloatArray | None = None,
) -> list[Around]:
    """Draw and label the neighbourhoods; where all labels are equal draw anew with twice the radius, a few times.

    Parameters
    ----------
    ask : Ask
        The model.
    room : Room
        The people, and the columns that each may change: at least one. A sample beyond the bounds of a column is moved
        onto them, so that the model is never asked there.
    centres : ndarray of shape (m, p)
        Boundary points.
    radius : float
        Sampling radius.
    n_samples : int
        Number of samples of each person.
    seed : int
        Seed of the method.
    once : ndarray of bool, shape (m,), optional
        People whose samples are drawn once, whatever their labels.
    grid : Grid, optional
        Where the rows of a table can be; an array has none.
    second : ndarray of shape (m, p), optional
        Other points of the people, rows of a table: every second sample is drawn around these.
    """
    free = room.free if grid is None else room.free | (grid.room.free & room.limits.categories)
    found: list[Around] = []
    drawn = list(same_width(free))
    for growth in range(MOST_GROWTHS + 1):
        length = radius * 2.0**growth
        clouds = [_Cloud(ask, room, centres, grid, second, people, columns, seed, growth) for people, columns in drawn]
        points = [cloud.draw(length, n_samples) for cloud in clouds]
        labels = ask(np.concatenate(points), np.repeat(np.concatenate([people for people, _ in drawn]), n_samples))
        cuts = np.cumsum([len(people) for people, _ in drawn])[:-1]
        again = []
        for cloud, (people, columns), accepted in zip(
            clouds, drawn, np.split(labels.reshape(-1, n_samples), cuts), strict=True
        ):
            around = cloud.labelled(accepted, length)
            grows = ~around.two_classes & (growth < MOST_GROWTHS)
            if once is not None:
                grows &= ~once[people]
            if not grows.all():
                found.append(around.take(~grows))
            if grows.any():
                again.append((people[grows], columns[grows]))
        drawn = again
        if not drawn:
            break
    return found


class _Cloud:
    """The samples of people whose neighbourhoods vary in the same number of columns, before they are labelled."""

    def __init__(
        self,
        ask: Ask,
        room: Room,
        centres: FloatArray,
        grid: Grid | None,
        second: FloatArray | None,
        people: IntArray,
        columns: IntArray,
        seed: int,
        growth: int,
    ) -> None:
        self._ask, self._people, self._columns, self._growth = ask, people, columns, growth
        self._centres, self._grid = centres[people], grid
        self._rngs = [row_generator(row, seed, growth) for row in room.limits.without_codes(room.x0[people])]
        sides = (self._centres, *(side[people] for side in room.limits.reach(room.x0)))
        self._centre, *bounds = (np.take_along_axis(side, columns, axis=1) for side in sides)
        self._bounds = bounds[0], bounds[1]
        self._metrics: tuple[Metric, ...] = ()
        self._nearer: FloatArray | None = None
        self._second = None if second is None else second[people]

    def draw(self, radius: float, n: int) -> FloatArray:
        """Draw samples; return them in all columns, one below the other."""
        unit = unit_ball(self._rngs, n, self._columns.shape[1])
        unit *= radius
        if self._grid is None:
            unit += self._centre[:, None, :]
            low, high = self._bounds
            if np.isfinite(low).any() or np.isfinite(high).any():
                np.clip(unit, low[:, None, :], high[:, None, :], out=unit)
            self._samples = unit
            return self._embedded(unit)
        self._metrics = tuple(metric_of(self._grid, *each, radius) for each in zip(*self._places(), strict=True))
        chance = [rng.random((n, self._columns.shape[1])) for rng in self._rngs]
        points = self._rows(unit, chance, np.arange(len(unit)))
        self._keep_rules(unit, chance, points)
        lengths = zip(self._metrics, points, self._centre, strict=True)
        self._samples = np.stack([metric.lengths(some, centre) for metric, some, centre in lengths])
        return self._embedded(points)

    def labelled(self, accepted: BoolArray, radius: float) -> Around:
        """Return the samples with their labels."""
        drawn = self._growth, self._metrics, self._nearer, self._second
        return Around(self._people, self._columns, self._samples, accepted, radius, *drawn)

    def _places(self) -> tuple[IntArray, IntArray, FloatArray]:
        return self._people, self._columns, self._centre

    def _rows(self, drawn: FloatArray, chance: list[FloatArray], which: IntArray) -> FloatArray:
        """Turn lengths into values, of some of the people."""
        second = self._centre if self._second is None else np.take_along_axis(self._second, self._columns, axis=1)
        low, high = self._bounds
        rows = []
        for j in which:
            centre = _in_turn(self._centre[j], second[j], drawn.shape[1])
            rows.append(self._metrics[j].rows(drawn[j], centre, (low[j], high[j]), chance[j]))
        return np.stack(rows)

    def _keep_rules(self, drawn: FloatArray, chance: list[FloatArray], points: FloatArray) -> None:
        """Draw samples nearer that break a rule, in place."""
        g, n, _ = drawn.shape
        owner, broken = np.repeat(self._people, n), np.ones(g * n, dtype=bool)
        for halving in range(_NEARER + 1):
            broken[broken] = ~self._ask.keeps_rules(self._embedded(points)[broken], owner[broken])
            if not broken.any():
                return
            if self._nearer is None:
                self._nearer = np.ones((g, n))
            self._nearer[broken.reshape(g, n)] = 0.5 ** (halving + 1) if halving < _NEARER else 0.0
            which = np.flatnonzero(broken.reshape(g, n).any(axis=1))
            points[which] = self._rows(drawn * self._nearer[:, :, None], chance, which)

    def _embedded(self, cloud: FloatArray) -> FloatArray:
        """Put samples back among all columns, one below the other."""
        g, n, d = cloud.shape
        if d == self._centres.shape[1]:
            return cloud.reshape(-1, d)
        points = np.repeat(self._centres, n, axis=0)
        np.put_along_axis(points, np.repeat(self._columns, n, axis=0), cloud.reshape(g * n, d), axis=1)
        return points


def _in_turn(one: FloatArray, other: FloatArray, n: int) -> FloatArray:
    """Return two points in turn, of shape (n, d)."""
    return np.resize(np.stack([one, other]), (n, len(one)))
