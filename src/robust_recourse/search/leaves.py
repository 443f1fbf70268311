"""The cheapest ways into the leaves of a tree: where the model is a single one, nothing has to be searched."""

from __future__ import annotations

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray
from robust_recourse.models.leaves import accepted_leaves
from robust_recourse.sampling.ranking import best_of_each
from robust_recourse.search.method import Method
from robust_recourse.search.task import Task

__all__ = ["cheapest_leaves"]

_ASKED = 8  # of the cheapest leaves: steps and rules may keep a person out of some


def cheapest_leaves(method: Method, task: Task) -> FloatArray | None:
    """Return the cheapest accepted points of people in the leaves of a tree, NaN without one; None of other models.

    Within bounds the cheapest point of a leaf has every number moved to the nearer end of the leaf, so that the
    cheapest of all leaves is the optimum. On a grid the next rows away from the person are tried.
    """
    space, room = task.space, task.room
    leaves = accepted_leaves(method.model, method.favourable) if method.threshold is None else None
    if leaves is None or leaves[0].shape[1] != room.x0.shape[1] or space.moves.followers or not len(leaves[0]):
        return None
    every, own = np.arange(len(task)), space.table.values
    moves = room.free & ~room.limits.categories
    with np.errstate(over="ignore"):  # a tree takes no such number, and says so itself
        read = own.astype(np.float32)
    cost = np.full((len(task), len(leaves[0])), np.inf)

    def into(leaf: int) -> FloatArray:
        values = np.where(moves, np.clip(own, leaves[0][leaf], leaves[1][leaf]), own)
        points = values if space.exact else space.moves.to_points(values)
        return np.where(values == own, room.x0, points)

    def inside(leaf: int) -> BoolArray:
        kept = (leaves[0][leaf] <= read) & (read <= leaves[1][leaf])
        return np.asarray(kept | moves | room.limits.categories)

    for leaf in range(cost.shape[1]):
        points = into(leaf)
        able = (inside(leaf) & (room.clipped(points.copy(), every) == points)).all(axis=1)
        cost[able, leaf] = room.cost(points, every)[able]
    chosen = np.argsort(cost, axis=1, kind="stable")[:, :_ASKED]
    owner, which = np.repeat(every, chosen.shape[1]), chosen.ravel()
    points = np.empty((len(owner), room.x0.shape[1]))
    for leaf in np.unique(which).tolist():
        points[which == leaf] = into(leaf)[owner[which == leaf]]
    points = task.snap(points, owner, "outward")
    asked = np.flatnonzero(np.isfinite(cost[owner, which]) & (points != room.x0[owner]).any(axis=1))
    asked = asked[task.oracle(points[asked], owner[asked])]
    best = asked[best_of_each(owner[asked], room.cost(points[asked], owner[asked]))]
    found = np.full_like(room.x0, np.nan)
    found[owner[best]] = points[best]
    return found
