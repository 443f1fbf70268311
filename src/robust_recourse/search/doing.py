"""What people may do, and what they do who become a row."""

from __future__ import annotations

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray
from robust_recourse.actions.consequences import Effect
from robust_recourse.actions.moves import Moves
from robust_recourse.math.limits import Limits
from robust_recourse.search.space import Space
from robust_recourse.tables import Table

__all__ = ["done_to_become", "may_move", "movable"]


def done_to_become(space: Space, after: Table) -> tuple[FloatArray, BoolArray]:
    """Return the points of what people do who become the rows of a table, one each, and who may do that.

    Nothing is moved: who would have to leave the bounds or the grid, break a rule, or become something else than what
    follows from what is done, may not.
    """
    points, able = _reached(space, after, still=True)
    if not able.all() and any(isinstance(rule, Effect) for rule in space.moves.followers):
        # What follows may end at a bound: then it looks as if that had not been done, too.
        others, also = _reached(space, after, still=False)
        points, able = np.where(able[:, None], points, others), able | also
    return points, able


def _reached(space: Space, after: Table, *, still: bool) -> tuple[FloatArray, BoolArray]:
    moves, limits, people = space.moves, space.moves.limits(), np.arange(len(space))
    own, missing = space.table.values, space.table.missing
    done = _done(moves, after.values, own, missing, still=still)
    points = np.where(done == own, space.points, moves.to_points(done))
    free, changed = movable(limits, space), done != own
    told = (space.consequences(space.legal(points, people), people) == after.values) | missing
    able: BoolArray = told.all(axis=1) & (after.missing == missing).all(axis=1) & space.keeps_rules(done, people)
    able &= ~(changed & ~free).any(axis=1)
    for k in np.flatnonzero(limits.categories).tolist():
        able &= ~changed[:, k] | limits.may_switch(k, own[:, k], done[:, k])
    if space.exact:
        # Nothing is rounded into the bounds of an array.
        low, high = limits.box(space.points)
        able &= (~changed | ((low <= points) & (points <= high))).all(axis=1)
    if moves.max_changes is not None:
        able &= changed.sum(axis=1) <= moves.max_changes
    return points, able


def movable(limits: Limits, space: Space) -> BoolArray:
    """Which cells may change, and can: of shape (m, p)."""
    return may_move(limits, space.moves, space.points, space.table.missing)


def may_move(limits: Limits, moves: Moves, points: FloatArray, missing: BoolArray) -> BoolArray:
    """Which cells of points of shape (m, p) may change, and can, by the limits of a table; empty ones never."""
    lower, upper = limits.box(points)
    free: BoolArray = (lower < upper) & ~missing & moves.numbers
    if moves.plain:
        # Nothing is rounded into the bounds of an array: who is out of them keeps the value.
        free &= (points >= limits.lower) & (points <= limits.upper)
    for k in np.flatnonzero(limits.categories):
        codes = np.flatnonzero(limits.targets[k]).astype(float)  # type: ignore[arg-type]
        known, own = np.unique(points[:, k], return_inverse=True)
        somewhere = np.array([limits.may_switch(int(k), code, codes).any() for code in known], dtype=bool)
        free[:, k] = somewhere[own.ravel()] & ~missing[:, k]
    return free


def _done(moves: Moves, became: FloatArray, own: FloatArray, missing: BoolArray, *, still: bool) -> FloatArray:
    """Return what people do who become this, as far as that can be told; what follows is taken away again.

    Where a column may just follow, it is taken to do so if `still`.
    """
    done = became.copy()
    # The last that follows first: what moves it is then as it became.
    for rule in reversed(moves.followers):
        k = rule.column
        untouched = became.copy()
        untouched[:, k] = own[:, k]
        follows = rule.become(untouched, own, missing, moves.told(k)) == became[:, k]
        if isinstance(rule, Effect):
            shift = sum(rate * (became[:, s] - own[:, s]) for s, rate in zip(rule.sources, rule.rates, strict=True))
            other = moves.told(k)(became[:, k] - shift)
            follows &= still
        else:
            other = became[:, k]
        done[:, k] = np.where(follows, own[:, k], other)
    return done
