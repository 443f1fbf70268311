"""The cheapest ways into the leaves of a tree: where the model is a single one, nothing has to be searched.

A tree may be the last step of a pipeline that encodes the columns of a table one by one: which encoded columns a column
makes, and where it crosses their ends, is found out by trying.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.models.encoding import Ends, Made, borders, made_of, split_off
from robust_recourse.models.leaves import accepted_leaves
from robust_recourse.sampling.ranking import best_of_each
from robust_recourse.search.method import Method
from robust_recourse.search.task import Task

__all__ = ["cheapest_leaves"]

_ASKED = 8  # of the cheapest leaves: steps and rules may keep a person out of some
_TRIED = 33  # values of a number, to see what is made of it


def cheapest_leaves(method: Method, task: Task, most: int | None = None) -> FloatArray | None:
    """Return the cheapest accepted points of people in the leaves of a tree, NaN without one; None of other models.

    Within bounds the cheapest point of a leaf has every number moved to the nearer end of the leaf, and every category
    that it does not hold switched, so that the cheapest of all leaves is the optimum. On a grid the next rows away from
    the person are tried. With `most`, only leaves count that are reached with so few changes.
    """
    encode, tree = split_off(method.model)
    leaves = accepted_leaves(tree, method.favourable) if method.threshold is None else None
    if leaves is None or task.space.moves.followers or not len(leaves[0]):
        return None
    # What fills gaps may look at other columns.
    gaps: BoolArray = np.asarray(task.space.table.missing.any(axis=1))
    if gaps.any():
        some = None if gaps.all() else cheapest_leaves(method, task.take(~gaps), most)
        found = np.full_like(task.x0, np.nan)
        found[~gaps] = np.nan if some is None else some
        return found
    ways = _Ways.of(task, encode, method.candidates_, *leaves)
    if ways is None:
        return None
    room, every, n = task.room, np.arange(len(task)), len(leaves[0])
    cost = np.full((len(task), n), np.inf)
    for leaf in range(n):
        points, able = ways.into(leaf)
        able &= (room.clipped(points.copy(), every) == points).all(axis=1)
        if most is not None:
            able &= (points != room.x0).sum(axis=1) <= most
        cost[able, leaf] = room.cost(points, every)[able]
    chosen = np.argsort(cost, axis=1, kind="stable")[:, :_ASKED]
    owner, which = np.repeat(every, chosen.shape[1]), chosen.ravel()
    points = np.empty((len(owner), room.x0.shape[1]))
    for leaf in np.unique(which).tolist():
        points[which == leaf] = ways.into(leaf)[0][owner[which == leaf]]
    points = task.snap(points, owner, "outward")
    asked = np.flatnonzero(np.isfinite(cost[owner, which]) & (points != room.x0[owner]).any(axis=1))
    asked = asked[task.oracle(points[asked], owner[asked])]
    best = asked[best_of_each(owner[asked], room.cost(points[asked], owner[asked]))]
    found = np.full_like(room.x0, np.nan)
    found[owner[best]] = points[best]
    return found


class _Ways:
    """The ways of people into leaves, whose ends are those of encoded columns."""

    def __init__(self, task: Task, encoded: FloatArray, low: FloatArray, high: FloatArray) -> None:
        self._task, self._low, self._high = task, low, high
        self._own, self._encoded = task.space.table.values, encoded
        self._numbers: list[tuple[int, IntArray]] = []  # columns, and the encoded ones that are made of them
        self._codes: list[tuple[int, IntArray, FloatArray, BoolArray]] = []  # the same, codes, and which a leaf holds
        self._others = np.ones(low.shape[1], dtype=bool)  # encoded columns of nothing that may change
        self._lowest, self._highest = np.full((2, len(low), self._own.shape[1]), [[[-np.inf]], [[np.inf]]])

    @classmethod
    def of(
        cls,
        task: Task,
        pipeline: Callable[[Any], FloatArray],
        candidates: FloatArray,
        low: FloatArray,
        high: FloatArray,
    ) -> _Ways | None:
        """Try what is made of every column; None if that of two is mixed, or a number neither rises nor falls."""
        space, free, values = task.space, task.free, task.space.table.values

        def encode(rows: FloatArray, people: IntArray) -> FloatArray:
            with np.errstate(over="ignore"):  # a tree takes no such number, and says so itself
                return pipeline(space.decode(rows.copy(), people)).astype(np.float32)

        encoded = encode(values, np.arange(len(task)))
        if encoded.shape[1:] != low.shape[1:]:
            return None
        ways, conditions = cls(task, encoded, low, high), []
        people: list[int] = []
        for k in map(int, np.flatnonzero(free.any(axis=0))):
            tried, pair = ways._tried(k, candidates), np.flatnonzero(free[:, k])[[0, -1]]
            made, again = (
                made_of(partial(_of_one, encode, person), values[person], k, tried) for person in pair.tolist()
            )
            if not np.array_equal(made.columns, again.columns) or (made.encoded != again.encoded).any():
                return None
            if not ways._others[made.columns].all():
                return None
            ways._others[made.columns] = False
            if task.limits.categories[k]:
                inside = (low[:, None, made.columns] <= made.encoded) & (made.encoded <= high[:, None, made.columns])
                ways._codes.append((k, made.columns, tried, np.asarray(inside.all(axis=2))))
            elif not made.sign.all():
                return None
            else:
                ways._numbers.append((k, made.columns))
                conditions += ways._conditions(k, made, tried)
                people += [int(pair[0])] * (len(conditions) - len(people))
        if conditions:
            ways._find(conditions, np.array(people), encode)
        return ways

    def _tried(self, k: int, candidates: FloatArray) -> FloatArray:
        """Return values of a column to see what is made of them: all codes, or numbers up to the ends of the range."""
        limits, x0, space = self._task.limits, self._task.x0, self._task.space
        if limits.categories[k]:
            return np.flatnonzero(limits.targets[k]).astype(float)  # type: ignore[arg-type]
        low = limits.lower[k] if np.isfinite(limits.lower[k]) else candidates[:, k].min()
        high = limits.upper[k] if np.isfinite(limits.upper[k]) else candidates[:, k].max()
        points = np.tile(x0[0], (_TRIED, 1))
        points[:, k] = np.linspace(min(low, x0[:, k].min()), max(high, x0[:, k].max()), _TRIED)
        tried: FloatArray = (points if space.exact else space.moves.to_values(points))[:, k]
        return tried

    def _conditions(self, k: int, made: Made, tried: FloatArray) -> list[tuple[int, int, float, bool, float, float]]:
        """Return the conditions that leaves put on a number: encoded column, column, end, which, inside, outside."""
        found = []
        for column, sign in zip(made.columns.tolist(), made.sign.tolist(), strict=True):
            for least, ends in ((True, self._low[:, column]), (False, self._high[:, column])):
                inside, outside = (tried[-1], tried[0]) if least == (sign > 0) else (tried[0], tried[-1])
                found += [(column, k, end, least, inside, outside) for end in np.unique(ends[np.isfinite(ends)])]
        return found

    def _find(
        self,
        conditions: list[tuple[int, int, float, bool, float, float]],
        people: IntArray,
        encode: Callable[[FloatArray, IntArray], FloatArray],
    ) -> None:
        """Find the ends of every leaf in the columns of the table."""
        ends = Ends(*(np.array(part) for part in zip(*conditions, strict=True)))

        def encoded(rows: FloatArray) -> FloatArray:
            return encode(rows, np.repeat(people, len(rows) // len(people)))

        found = borders(encoded, self._own[people], ends)
        for made, k, end, least, up, border in zip(*ends[:4], ends.inside > ends.outside, found, strict=True):
            leaves = (self._low if least else self._high)[:, made] == end
            side = self._lowest if up else self._highest
            # A condition that never holds keeps everybody out who does not satisfy it already.
            side[leaves, k] = (np.maximum if up else np.minimum)(side[leaves, k], border)

    def into(self, leaf: int) -> tuple[FloatArray, BoolArray]:
        """Return the cheapest points of people in a leaf, and who can reach it."""
        task, values = self._task, self._own.copy()
        held = (self._low[leaf] <= self._encoded) & (self._encoded <= self._high[leaf])
        able: BoolArray = held[:, self._others].all(axis=1)
        for k, columns in self._numbers:
            moves, low, high = ~held[:, columns].all(axis=1), self._lowest[leaf, k], self._highest[leaf, k]
            able &= ~moves | (task.free[:, k] & bool(low <= high))
            if low <= high:
                values[moves, k] = np.clip(values[moves, k], low, high)
        for k, columns, codes, holds in self._codes:
            moves = np.flatnonzero(~held[:, columns].all(axis=1))
            for i, code in zip(moves, self._first_code(k, moves, codes[holds[leaf]]), strict=True):
                able[i] &= not np.isnan(code)
                values[i, k] = values[i, k] if np.isnan(code) else code
        points = values if task.space.exact else task.space.moves.to_points(values)
        return np.where(values == self._own, task.x0, points), able

    def _first_code(self, k: int, people: IntArray, codes: FloatArray) -> Iterator[float]:
        """Return the first of some codes that each of some people may switch to, NaN if there is none."""
        allowed = np.array([self._task.room.may_switch(k, people, np.full(len(people), code)) for code in codes])
        for at in range(len(people)):
            yield float(codes[np.argmax(allowed[:, at])]) if len(codes) and allowed[:, at].any() else np.nan


def _of_one(encode: Callable[[FloatArray, IntArray], FloatArray], person: int, rows: FloatArray) -> FloatArray:
    return encode(rows, np.full(len(rows), person))
