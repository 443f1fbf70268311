"""Labelled samples around the boundary points."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.math.limits import Room
from robust_recourse.sampling.asking import Ask
from robust_recourse.sampling.ball import row_generator, unit_ball

__all__ = ["Around", "Neighbourhood", "same_width", "sample_neighbourhoods"]

MOST_GROWTHS = 5
"""How often the radius is doubled when a neighbourhood holds one class only."""


@dataclass(frozen=True)
class Neighbourhood:
    """The labelled samples of one instance, kept as the seed they are drawn from.

    Attributes
    ----------
    x0 : ndarray of shape (p,)
        The instance, with 0 for codes of categories: what the samples are drawn from.
    free : ndarray of bool, shape (p,)
        The columns that may change: the samples vary in these only.
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
        Bounds of the columns that may change, which no sample leaves.
    """

    x0: FloatArray
    free: BoolArray
    centre: FloatArray
    radius: float
    accepted: BoolArray
    seed: int
    growths: int = 0
    bounds: tuple[FloatArray, FloatArray] | None = None

    @property
    def free_samples(self) -> FloatArray:
        """The samples in the columns that may change, drawn again."""
        unit = unit_ball([row_generator(self.x0, self.seed, self.growths)], len(self.accepted), int(self.free.sum()))
        points: FloatArray = unit[0] * self.radius + self.centre[self.free]
        return points if self.bounds is None else np.clip(points, *self.bounds)

    @property
    def samples(self) -> FloatArray:
        """The samples in all columns, of shape (n, p)."""
        full = np.tile(self.centre, (len(self.accepted), 1))
        full[:, self.free] = self.free_samples
        return full


@dataclass(frozen=True, eq=False)
class Around:
    """The samples of people who may change the same number of columns, within the same radius.

    Attributes
    ----------
    people : ndarray of int, shape (g,)
        Who they are.
    columns : ndarray of int, shape (g, d)
        The columns that each may change.
    samples : ndarray of shape (g, n, d)
        The samples in these columns.
    accepted : ndarray of bool, shape (g, n)
        Their labels.
    radius : float
        The sampling radius in the end.
    growths : int
        How often it was doubled.
    """

    people: IntArray
    columns: IntArray
    samples: FloatArray
    accepted: BoolArray
    radius: float
    growths: int

    @property
    def two_classes(self) -> BoolArray:
        """Which neighbourhoods hold both classes."""
        return np.asarray(self.accepted.any(axis=1) & ~self.accepted.all(axis=1))

    def take(self, which: IntArray | BoolArray) -> Around:
        """Keep some of the people."""
        arrays = {name: getattr(self, name)[which] for name in ("people", "columns", "samples", "accepted")}
        return replace(self, **arrays)


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
    """
    instances, bounds = room.limits.without_codes(room.x0), room.limits.reach(room.x0)
    found: list[Around] = []
    drawn = list(same_width(room.free))
    for growth in range(MOST_GROWTHS + 1):
        length = radius * 2.0**growth
        clouds = []
        for people, columns in drawn:
            rngs = [row_generator(row, seed, growth) for row in instances[people]]
            sides = (side[people] for side in (centres, *bounds))
            centre, low, high = (np.take_along_axis(side, columns, axis=1)[:, None, :] for side in sides)
            clouds.append(_cloud(rngs, n_samples, length, centre, (low, high)))
        points = [_embedded(cloud, centres[own], columns) for cloud, (own, columns) in zip(clouds, drawn, strict=True)]
        labels = ask(np.concatenate(points), np.repeat(np.concatenate([people for people, _ in drawn]), n_samples))
        cuts = np.cumsum([len(people) for people, _ in drawn])[:-1]
        own_labels = np.split(labels.reshape(-1, n_samples), cuts)
        again = []
        for cloud, (people, columns), accepted in zip(clouds, drawn, own_labels, strict=True):
            around = Around(people, columns, cloud, accepted, length, growth)
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


def _cloud(
    rngs: list[np.random.Generator],
    n_samples: int,
    radius: float,
    centre: FloatArray,
    bounds: tuple[FloatArray, FloatArray],
) -> FloatArray:
    """Draw samples around centres within bounds, all of shape (g, 1, d)."""
    cloud = unit_ball(rngs, n_samples, centre.shape[2])
    cloud *= radius
    cloud += centre
    if any(np.isfinite(side).any() for side in bounds):
        np.clip(cloud, *bounds, out=cloud)
    return cloud


def _embedded(cloud: FloatArray, centres: FloatArray, columns: IntArray) -> FloatArray:
    """Put samples back among all columns, one below the other."""
    g, n, d = cloud.shape
    if d == centres.shape[1]:
        return cloud.reshape(-1, d)
    points = np.repeat(centres, n, axis=0)
    np.put_along_axis(points, np.repeat(columns, n, axis=0), cloud.reshape(g * n, d), axis=1)
    return points
