"""Labelled samples around the boundary points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.sampling.ball import row_generator, unit_ball
from robust_recourse.sampling.oracle import Oracle

__all__ = ["Neighbourhood", "Neighbourhoods", "sample_neighbourhoods"]

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


class Neighbourhoods(NamedTuple):
    """Samples of many instances, in the columns that may change."""

    samples: FloatArray  # (m, n, p)
    accepted: BoolArray  # (m, n)
    radius: FloatArray  # (m,)
    growths: IntArray  # (m,): how often the radius was doubled

    @property
    def two_classes(self) -> BoolArray:
        """Which neighbourhoods hold both classes."""
        return np.asarray(self.accepted.any(axis=1) & ~self.accepted.all(axis=1))


def sample_neighbourhoods(
    oracle: Oracle,
    owners: IntArray,
    x0: FloatArray,
    centres: FloatArray,
    radius: float,
    n_samples: int,
    seed: int,
    bounds: tuple[FloatArray, FloatArray] | None = None,
    once: BoolArray | None = None,
) -> Neighbourhoods:
    """Draw and label the neighbourhoods; where all labels are equal draw anew with twice the radius, a few times.

    Parameters
    ----------
    oracle : Oracle
        The model.
    owners : ndarray of int, shape (m,)
        The instances' numbers for the oracle.
    x0 : ndarray of shape (m, p_all)
        The instances with all columns: what the samples are drawn from.
    centres : ndarray of shape (m, p)
        Boundary points in the columns that may change.
    radius : float
        Sampling radius.
    n_samples : int
        Number of samples of each instance.
    seed : int
        Seed of the method.
    bounds : tuple of ndarray of shape (m, p), optional
        Bounds of the columns: a sample outside is moved onto them, so that the model is never asked beyond.
    once : ndarray of bool, shape (m,), optional
        Instances whose samples are drawn once, whatever their labels.
    """
    m, p = centres.shape
    found = Neighbourhoods(
        samples=np.empty((m, n_samples, p)),
        accepted=np.zeros((m, n_samples), dtype=bool),
        radius=np.full(m, radius),
        growths=np.zeros(m, dtype=np.int64),
    )
    rows = np.arange(m)
    for growth in range(MOST_GROWTHS + 1):
        unit = unit_ball([row_generator(row, seed, growth) for row in x0[rows]], n_samples, p)
        found.growths[rows] = growth
        found.radius[rows] = radius * 2.0**growth
        unit *= found.radius[rows, None, None]
        unit += centres[rows, None, :]
        if bounds is not None:
            np.clip(unit, *(bound[rows, None] for bound in bounds), out=unit)
        found.samples[rows] = unit
        labels = oracle(unit.reshape(-1, p), np.repeat(owners[rows], n_samples))
        found.accepted[rows] = labels.reshape(-1, n_samples)
        rows = np.flatnonzero(~found.two_classes if once is None else ~found.two_classes & ~once)
        if not len(rows):
            break
    return found
