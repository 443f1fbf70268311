"""What all methods share: learning the candidates, and explaining rows in chunks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from robust_recourse._progress import track
from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse._validation import check_seed
from robust_recourse.actions import ActionSet
from robust_recourse.models.predictor import Predictor
from robust_recourse.result import Recourse, Recourses, Status
from robust_recourse.sampling.oracle import Oracle
from robust_recourse.tables import like, read_table

__all__ = ["Chunk", "RecourseMethod"]

_CHUNK_ROWS = 512


class Chunk(NamedTuple):
    """Refused rows that are explained together: they may change the same columns."""

    rows: IntArray  # numbers of the rows in the table
    x0: FloatArray  # (m, p), all columns
    free: BoolArray  # (p,): the columns that may change


class RecourseMethod(ABC, BaseEstimator):  # type: ignore[misc]
    """Base of the methods: a subclass says how a chunk of refused rows is explained."""

    model: Any
    actions: ActionSet | None
    random_state: int | np.random.Generator | np.random.RandomState | None
    n_jobs: int | None

    def __sklearn_clone__(self) -> Self:
        """Copy the parameters; the model is given, so that it stays fitted."""
        return type(self)(**self.get_params(deep=False))

    def fit(self, X: Any, y: None = None) -> Self:  # noqa: ARG002
        """Learn the accepted training rows.

        Parameters
        ----------
        X : array_like or DataFrame of shape (n, p)
            Training rows, finite numbers.
        y : None
            Ignored: the model's predictions count, not the true labels.

        Returns
        -------
        self
        """
        self._check_parameters()
        if not isinstance(self.actions, ActionSet | None):
            raise TypeError(f"actions must be an ActionSet, got {type(self.actions).__name__}.")
        table = read_table(X, "X")
        columns = X.columns if isinstance(X, pd.DataFrame) else None
        limits = (self.actions or ActionSet()).limits(table.shape[1] if columns is None else list(columns))
        every = np.arange(len(table))
        accepted = Oracle(Predictor(self.model, columns, "the training rows"), table, every)(table.copy(), every)
        if not accepted.any():
            raise ValueError(
                f"X has no favourable row: the model refuses all {len(table)} training rows, "
                "so there is nothing to search towards. Check which class the model calls 1."
            )
        self.n_features_in_, self.columns_, self.limits_ = table.shape[1], columns, limits
        self.candidates_ = table[accepted]
        self.seed_ = check_seed(self.random_state)
        self._learn(table)
        return self

    def explain(self, X: Any) -> Recourses:
        """Find a recourse for every row.

        Parameters
        ----------
        X : array_like or DataFrame of shape (m, p)
            Rows to explain. Accepted ones are returned as they are, with a status that says so.

        Returns
        -------
        Recourses
            One recourse for every row, in the order of `X`; a row without one has NaN and a status.
        """
        check_is_fitted(self, "candidates_")
        self._check_parameters()
        table = read_table(X, "X", width=self.n_features_in_, columns=self.columns_)
        found: list[Recourse | None] = [None] * len(table)
        refused = []
        every = np.arange(len(table))
        accepted = Oracle(self._predictor(), table, every)(table.copy(), every)
        within, (lower, upper) = self.limits_.holds(table), self.limits_.box(table)
        free = lower < upper
        for row, x0 in enumerate(table):
            if accepted[row]:
                found[row] = Recourse.unchanged(x0)
            elif not within[row]:
                found[row] = Recourse.missing(x0, Status.OUTSIDE_BOUNDS, self._outside(x0))
            elif not free[row].any():
                reason = "The action set lets no column of this row change."
                found[row] = Recourse.missing(x0, Status.NOTHING_MAY_CHANGE, reason)
            else:
                refused.append(row)
        chunks = list(self._chunks(table, free, np.array(refused, dtype=np.int64)))
        for chunk, recourses in zip(chunks, self._explain_all(chunks), strict=True):
            for row, recourse in zip(chunk.rows, recourses, strict=True):
                found[row] = recourse
        return self._collect(X, [recourse for recourse in found if recourse is not None])

    def _explain_all(self, chunks: list[Chunk]) -> Iterator[list[Recourse]]:
        if effective_n_jobs(self.n_jobs) == 1 or len(chunks) < 2:
            results = (self._explain_chunk(chunk) for chunk in chunks)
        else:
            parallel = Parallel(n_jobs=self.n_jobs, return_as="generator")
            results = parallel(delayed(self._explain_chunk)(chunk) for chunk in chunks)
        return track(results, "explaining", len(chunks))

    def _chunks(self, table: FloatArray, free: BoolArray, rows: IntArray) -> Iterator[Chunk]:
        """Group the rows by the columns that they may change, and cut the groups to a size that fits in memory."""
        if not len(rows):
            return
        masks, group = np.unique(free[rows], axis=0, return_inverse=True)
        for k, mask in enumerate(masks):
            members = rows[group.ravel() == k]
            share = -(-len(rows) // effective_n_jobs(self.n_jobs))
            size = int(np.clip(self._rows_at_once(int(mask.sum())), 1, min(_CHUNK_ROWS, share)))
            for first in range(0, len(members), size):
                part = members[first : first + size]
                yield Chunk(part, table[part], mask)

    def _collect(self, X: Any, rows: list[Recourse]) -> Recourses:
        def column(name: str, dtype: Any = float) -> Any:
            return np.array([getattr(row, name) for row in rows], dtype=dtype)

        status = np.empty(len(rows), dtype=object)
        status[:] = [row.status for row in rows]
        return Recourses(
            x=like(column("x"), X, self.columns_),
            boundary=like(column("boundary"), X, self.columns_),
            cost=column("cost"),
            budget=column("budget"),
            valid=column("valid", bool),
            status=status,
            reason=column("reason", object),
            log_worst_case_odds=column("log_worst_case_odds"),
            n_queries=column("n_queries", np.int64),
            _rows=tuple(rows),
        )

    def _predictor(self) -> Predictor:
        return Predictor(self.model, self.columns_)

    def _outside(self, x0: FloatArray) -> str:
        limits = self.limits_
        wrong = ((x0 < limits.lower) | (x0 > limits.upper)) & (limits.rises | limits.falls)
        k = int(np.flatnonzero(wrong)[0])
        name = k if self.columns_ is None else repr(self.columns_[k])
        return (
            f"The row's own value {x0[k]:g} of column {name} is outside its bounds "
            f"({limits.lower[k]:g}, {limits.upper[k]:g}). Widen them, or make the column immutable."
        )

    def _no_candidate(self) -> str:
        """Say why a row has no candidate."""
        return (
            f"None of the {len(self.candidates_)} accepted training rows, moved into the action set of this row, "
            "is accepted by the model. Allow more columns to change, or wider bounds."
        )

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise for parameters out of range."""

    @abstractmethod
    def _learn(self, table: FloatArray) -> None:
        """Learn what else the method needs from the training rows."""

    @abstractmethod
    def _rows_at_once(self, n_free: int) -> int:
        """How many rows fit in memory together, with so many free columns."""

    @abstractmethod
    def _explain_chunk(self, chunk: Chunk) -> list[Recourse]:
        """Explain the rows of a chunk."""
