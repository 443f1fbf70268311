"""Categories switch first, to those of the cheapest boundary point; then a method moves the numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray
from robust_recourse.math.limits import Limits
from robust_recourse.methods._chunk import Chunk
from robust_recourse.methods._verify import Outcome, verify_points
from robust_recourse.result import Answer, Status
from robust_recourse.sampling.boundary import Boundary
from robust_recourse.sampling.oracle import Oracle
from robust_recourse.sampling.segments import mixed_cost

__all__ = ["at_once", "switch", "with_price"]

_AT_ONCE = "With other categories, and no number changed, the model accepts the row; no cheaper switch was found."


def switch(chunk: Chunk, mask: BoolArray, boundary: Boundary) -> Chunk:
    """Give the rows of a chunk the categories of their boundary points.

    Parameters
    ----------
    chunk : Chunk
        The rows; its free columns are numbers.
    mask : ndarray of bool, shape (p,)
        All columns that may change: the numbers, and columns of categories.
    boundary : Boundary
        Boundary points in these columns, one for every row.
    """
    whole = chunk.x0.copy()
    whole[:, mask] = boundary.x
    snapped = chunk.space.snap(whole, chunk.rows)
    start = np.where(chunk.free, chunk.x0, whole)
    at_once = (np.where(chunk.free, snapped, 0.0) == np.where(chunk.free, chunk.x0, 0.0)).all(axis=1)
    return chunk._replace(x0=start, centres=np.ascontiguousarray(whole[:, chunk.free]), at_once=at_once)


def at_once(chunk: Chunk, oracle: Oracle, limits: Limits) -> list[Answer]:
    """Describe instances that the model accepts with their new categories as they are, after asking once more."""
    if not len(chunk.rows):
        return []
    found = np.ones(len(chunk.rows), dtype=bool)
    outcomes = [Outcome(Status.OK, _AT_ONCE)] * len(chunk.rows)
    return verify_points(oracle, chunk, limits, chunk.x0[:, chunk.free], found, outcomes)


def with_price(recourse: Answer, x0: FloatArray, limits: Limits, start: FloatArray, n_queries: int) -> Answer:
    """Describe a recourse of a switched instance as one of the row itself: what the switches cost is added."""
    price = float(mixed_cost(start[None], x0[None], limits)[0])
    asked = recourse.n_queries + n_queries
    return replace(recourse, x0=x0, cost=recourse.cost + price, budget=recourse.budget + price, n_queries=asked)
