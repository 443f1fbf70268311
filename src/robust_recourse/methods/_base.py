"""What all methods share: learning the candidates, and explaining the rows of a table."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse._validation import check_integer, check_jobs, check_real, check_seed
from robust_recourse.actions import ActionSet
from robust_recourse.math.limits import Limits
from robust_recourse.methods._chunk import Chunk
from robust_recourse.methods._collect import collect
from robust_recourse.methods._plans import plan
from robust_recourse.methods._space import Question, Space
from robust_recourse.methods._switching import at_once, switch, with_price
from robust_recourse.methods._tasks import out_of_time
from robust_recourse.models.predictor import Predictor
from robust_recourse.result import Recourse, Recourses, Status
from robust_recourse.sampling.boundary import Boundary, find_boundary
from robust_recourse.sampling.oracle import Oracle

__all__ = ["Chunk", "RecourseMethod"]

_BATCH = 8192  # rows that the model is asked about together
_NEIGHBOURS = 1000  # candidates towards which methods without a number of their own look for categories
_RESOLUTION = 0.002  # of a boundary point, in units of cost, for these


class RecourseMethod(ABC, BaseEstimator):  # type: ignore[misc]
    """Base of the methods: a subclass says how a chunk of refused rows is explained."""

    model: Any
    actions: ActionSet | None
    favourable: Any = None
    threshold: float | None = None
    random_state: int | np.random.Generator | np.random.RandomState | None
    n_jobs: int | None

    _switches = False  # whether the method switches categories itself, and needs no boundary for it
    _starts_at_boundary = False  # whether it moves on from the boundary also where a switch is enough

    @property
    def _promises(self) -> bool:
        """Whether a recourse has to keep more than the model's consent."""
        return False

    def __sklearn_clone__(self) -> Self:
        """Copy the parameters; the model is given, so that it stays fitted."""
        return type(self)(**self.get_params(deep=False))

    def fit(self, X: Any, y: None = None) -> Self:  # noqa: ARG002
        """Learn the accepted training rows.

        Parameters
        ----------
        X : DataFrame or array_like of shape (n, p)
            Training rows. A frame may hold numbers, booleans, categories, text and missing values, of which kinds,
            units of cost and steps are inferred, see :class:`robust_recourse.ActionSet`. The columns of an array are
            continuous and their unit is 1.
        y : None
            Ignored: the model's predictions count, not the true labels.

        Returns
        -------
        self
        """
        self._check_parameters()
        check_jobs(self.n_jobs)
        if not isinstance(self.actions, ActionSet | None):
            raise TypeError(f"actions must be an ActionSet, got {type(self.actions).__name__}.")
        actions = self.actions or ActionSet()
        schema = actions.schema_for(X).typed(X)
        moves = actions.resolve(schema)
        table = schema.read(X, "X")
        space = Space(table, moves, np.arange(len(table)))
        accepted, _ = self._accepted(space, "the training rows")
        if not accepted.any():
            raise ValueError(
                f"X has no favourable row: the model refuses all {len(table)} training rows, "
                "so there is nothing to search towards. Check which class the model calls favourable."
            )
        self.schema_, self.moves_, self.n_features_in_ = schema, moves, table.values.shape[1]
        points = _filled(space)
        self.candidates_ = points[accepted]
        self.limits_ = _reachable(moves.limits(), self.candidates_)
        self.seed_ = check_seed(self.random_state)
        self._learn(points, space)
        return self

    def explain(self, X: Any, n_recourses: int = 1, time_limit: float | None = None) -> Recourses:
        """Find recourses for every row.

        Parameters
        ----------
        X : DataFrame or array_like of shape (m, p)
            Rows to explain. Accepted ones are returned as they are, with a status that says so.
        n_recourses : int
            How many recourses a row gets at most. They differ in the columns that they change, and the cheapest
            comes first.
        time_limit : float, optional
            Seconds after which no more questions are asked, but for a first one. What is done by then is returned,
            and the rows that are left have the status "out of time". A question that the model is answering is not
            interrupted.

        Returns
        -------
        Recourses
            The recourses of every row, in the order of `X`; a row without any has one entry with a status and NaN.
        """
        check_is_fitted(self, "candidates_")
        self._check_parameters()
        check_integer(n_recourses, "n_recourses", minimum=1)
        deadline = None
        if time_limit is not None:
            deadline = time.time() + check_real(time_limit, "time_limit", minimum=0.0)
        table = self.schema_.read(X, "X")
        space = Space(table, self.moves_, np.arange(len(table)))
        accepted, asked = self._accepted(space, "X", deadline)
        outside = self.moves_.outside(table.values, table.missing)
        movable = self._movable(space)
        found: list[list[Recourse]] = [[] for _ in range(len(table))]
        for row, x0 in enumerate(space.points):
            if not asked[row]:
                found[row] = [out_of_time(x0, 0)]
            elif accepted[row]:
                found[row] = [Recourse.unchanged(x0)]
            elif outside[row].any():
                found[row] = [Recourse.missing(x0, Status.OUTSIDE_BOUNDS, self._outside(space, row, outside[row]))]
            elif not movable[row].any():
                reason = "The action set lets no column of this row change."
                found[row] = [Recourse.missing(x0, Status.NOTHING_MAY_CHANGE, reason)]
        refused = np.array([row for row, known in enumerate(found) if not known], dtype=np.int64)
        planned = plan(self, space, refused, movable[refused], n_recourses, deadline)
        for row, recourses in zip(refused, planned, strict=True):
            found[row] = recourses
        return collect(self, space, found)

    def _explain_group(self, space: Space, rows: IntArray, mask: BoolArray, deadline: float | None) -> list[Recourse]:
        """Explain rows that may change the columns of `mask`, numbers or categories; for the planning of a search."""
        numbers = mask & ~self.limits_.categories
        chunk = Chunk(rows, space.points[space.place(rows)], mask if self._switches else numbers, space, deadline)
        if self._switches or not (mask & self.limits_.categories).any():
            return self._explain_chunk(chunk)
        oracle = self._oracle(chunk._replace(free=mask))
        boundary = self._find_boundary(oracle, chunk.x0, mask)
        held = np.flatnonzero(boundary.found)
        switched = switch(chunk.take(held), mask, Boundary(boundary.x[held], boundary.found[held]))
        recourses = iter(self._explain_switched(switched))
        starts = iter(switched.x0)
        return [
            with_price(next(recourses), chunk.x0[i], self.limits_, next(starts), int(oracle.n_queries[i]))
            if boundary.found[i]
            else Recourse.missing(chunk.x0[i], Status.NO_CANDIDATE, self._no_candidate(), 1 + int(oracle.n_queries[i]))
            for i in range(len(rows))
        ]

    def _explain_switched(self, chunk: Chunk) -> list[Recourse]:
        done = np.zeros(len(chunk.rows), dtype=bool) if self._starts_at_boundary else chunk.at_once
        if not chunk.free.any():
            done = np.ones(len(chunk.rows), dtype=bool)
        assert done is not None
        others = chunk.take(~done)
        moved = iter(self._explain_chunk(others) if len(others.rows) else [])
        ready = iter(self._describe_switched(chunk.take(done)))
        return [next(ready) if known else next(moved) for known in done]

    def _describe_switched(self, chunk: Chunk) -> list[Recourse]:
        """Describe rows that are accepted with other categories and their own numbers."""
        return at_once(chunk, self._oracle(chunk), self.limits_)

    def _oracle(self, chunk: Chunk) -> Oracle:
        """Return what answers for the points of a chunk, in its free columns, and counts."""
        question = Question(self._predictor(chunk.space), chunk.space, chunk.deadline)
        return Oracle(question, chunk.x0, chunk.rows, chunk.free)

    def _predictor(self, space: Space, data: str = "X") -> Predictor:
        return Predictor(self.model, space.decode, data, favourable=self.favourable, threshold=self.threshold)

    def _accepted(self, space: Space, data: str, deadline: float | None = None) -> tuple[BoolArray, BoolArray]:
        """Ask about the rows of a table as they are; return which are accepted, and which there was time for."""
        predict = self._predictor(space, data)
        accepted, asked = np.zeros((2, len(space.rows)), dtype=bool)
        for first in range(0, len(space.rows), _BATCH):
            block = slice(first, first + _BATCH)
            # The first block always: somebody who is accepted already is told so.
            if first and deadline is not None and time.time() > deadline:
                break
            accepted[block] = predict(space.points[block].copy(), space.rows[block])
            asked[block] = True
        return accepted, asked

    def _find_boundary(self, oracle: Oracle, x0: FloatArray, mask: BoolArray) -> Boundary:
        """Find boundary points in the columns of `mask`."""
        # A selection of columns is laid out by columns, and sums over a row would then depend on the batch.
        points, candidates = (np.ascontiguousarray(rows[:, mask]) for rows in (x0, self.candidates_))
        limits, (n_neighbors, resolution, ranges) = self.limits_.take(mask), self._looking()
        within = None if ranges is None else (ranges[0][mask], ranges[1][mask])
        # For arrays the search is that of the evaluation of the paper.
        thin = within is not None and self.schema_.names is not None
        return find_boundary(oracle, points, candidates, limits, n_neighbors, resolution, within, thin=thin)

    def _looking(self) -> tuple[int, float, tuple[FloatArray, FloatArray] | None]:
        """How to look for a boundary: the number of candidates, the resolution, the range of single columns."""
        return _NEIGHBOURS, _RESOLUTION, (self.candidates_.min(axis=0), self.candidates_.max(axis=0))

    def _movable(self, space: Space) -> BoolArray:
        """Which cells may change, and can: of shape (m, p)."""
        limits, points = self.limits_, space.points
        lower, upper = limits.box(points)
        movable = (lower < upper) & ~space.table.missing & self.moves_.numbers
        for k in np.flatnonzero(limits.categories):
            codes = np.flatnonzero(limits.targets[k]).astype(float)  # type: ignore[arg-type]
            known, own = np.unique(points[:, k], return_inverse=True)
            somewhere = np.array([limits.may_switch(int(k), code, codes).any() for code in known])
            movable[:, k] = somewhere[own.ravel()] & ~space.table.missing[:, k]
        return movable

    def _outside(self, space: Space, row: int, outside: BoolArray) -> str:
        k = int(np.flatnonzero(outside)[0])
        return (
            f"The row's own value {space.table.values[row, k]:g} of column {self.schema_.label(k)} is outside its "
            f"bounds ({self.moves_.lower[k]:g}, {self.moves_.upper[k]:g}). Widen them, or make the column immutable."
        )

    def _no_candidate(self) -> str:
        """Say why a row has no candidate."""
        rules = ", ".join(repr(rule.text) for rule in self.moves_.rules)
        kept = f" and keeps the rules ({rules})" if rules else ""
        return (
            f"None of the {len(self.candidates_)} accepted training rows, moved into the action set of this row, "
            f"is accepted by the model{kept}. Allow more columns to change, wider bounds or smaller steps"
            f"{', or change the rules' if rules else ''}."
        )

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise for parameters out of range."""

    @abstractmethod
    def _learn(self, points: FloatArray, space: Space) -> None:
        """Learn what else the method needs from the training rows: as points, without gaps, and as a space."""

    @abstractmethod
    def _rows_at_once(self, n_free: int) -> int:
        """How many rows fit in memory together, with so many free columns."""

    @abstractmethod
    def _explain_chunk(self, chunk: Chunk) -> list[Recourse]:
        """Explain the rows of a chunk."""


def _reachable(limits: Limits, candidates: FloatArray) -> Limits:
    """Keep the categories that some candidate has."""
    targets = tuple(
        target if target is None else target & np.isin(np.arange(len(target)), candidates[:, k])
        for k, target in enumerate(limits.targets)
    )
    return replace(limits, targets=targets)


def _filled(space: Space) -> FloatArray:
    """Return the points of a table; an empty number is the median of its column."""
    points, missing = space.points.copy(), space.table.missing & space.moves.numbers
    for k in np.flatnonzero(missing.any(axis=0)):
        known = points[~missing[:, k], k]
        points[missing[:, k], k] = np.median(known) if len(known) else 0.0
    return points
