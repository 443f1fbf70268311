"""Asking a new model about all open promises, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from types import EllipsisType
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection, select

from robust_recourse._progress import track
from robust_recourse._typing import BoolArray, IntArray
from robust_recourse.ledger.blocks import read_block
from robust_recourse.ledger.current import Current
from robust_recourse.ledger.runs import Run
from robust_recourse.ledger.schema import blocks
from robust_recourse.ledger.state import closed, promises
from robust_recourse.models.acceptance import accepted_by
from robust_recourse.models.errors import ModelError
from robust_recourse.tables.values import stack, take

__all__ = ["Asked", "Decision", "Piece", "ask", "pieces"]

_ROWS = 8192  # that a model is asked about together, at least if there are so many
_BLOCKS = 8  # that are read together


class Piece(NamedTuple):
    """Open promises of a run.

    Attributes
    ----------
    run : Run
        The run.
    numbers : ndarray of int, shape (n,)
        The numbers of the promises.
    made : ndarray of object, shape (n,)
        The months in which they were made.
    table : DataFrame or ndarray of n rows
        The rows to ask about.
    """

    run: Run
    numbers: IntArray
    made: Any
    table: Any


@dataclass(frozen=True)
class Decision:
    """What a model decides: what each run says, or what was given for all."""

    favourable: Any = ...
    threshold: float | EllipsisType | None = ...

    def of(self, run: Run) -> dict[str, Any]:
        """Return `favourable` and `threshold` for the promises of a run."""
        return {
            "favourable": run.favourable if self.favourable is ... else self.favourable,
            "threshold": run.threshold if isinstance(self.threshold, EllipsisType) else self.threshold,
        }


class Asked(NamedTuple):
    """What a model says about open promises: for each its number, run, month and verdict."""

    numbers: IntArray
    runs: IntArray
    months: Any
    accepted: BoolArray


def pieces(
    connection: Connection,
    runs: Mapping[int, Run],
    today: date,
    *,
    only: IntArray | None = None,
    current: Current | None = None,
    what: str = "Reading promises",
) -> Iterator[Piece]:
    """Yield open promises with their rows, or those with the numbers `only`, in order and in pieces of one run each."""
    gone = closed(connection) if only is None else np.empty(0, dtype=np.int64)
    waiting: list[Piece] = []
    for row in _rows(connection, only, what):
        run = runs[row.run]
        if only is None and run.until < today:
            continue
        if waiting and (waiting[-1].run is not run or sum(len(piece.numbers) for piece in waiting) >= _ROWS):
            yield _joined(waiting, connection, current, runs, today)
            waiting = []
        positions, table = read_block(row.content, run.columns)
        numbers = positions + row.first
        wanted = ~_among(numbers, gone) if only is None else _among(numbers, only)
        if not wanted.all():
            numbers, table = numbers[wanted], take(table, np.flatnonzero(wanted))
        if len(numbers):
            waiting.append(Piece(run, numbers, np.full(len(numbers), row.made[:7], dtype=object), table))
    if waiting:
        yield _joined(waiting, connection, current, runs, today)


def ask(
    connection: Connection,
    runs: Mapping[int, Run],
    today: date,
    model: Any,
    decision: Decision,
    current: Current | None = None,
) -> Asked:
    """Ask a model about all open promises."""
    found: list[tuple[IntArray, IntArray, Any, BoolArray]] = []
    for piece in pieces(connection, runs, today, current=current, what="Asking the model"):
        try:
            accepted = accepted_by(model, piece.table, **decision.of(piece.run), like=piece.table)
        except ModelError as error:
            raise ModelError(f"Asked about promises {piece.numbers[0]} to {piece.numbers[-1]}: {error}") from error
        found.append((piece.numbers, np.full(len(accepted), piece.run.number), piece.made, accepted))
    numbers, run, months, accepted = (
        np.concatenate([np.empty(0, dtype=kind), *(part[k] for part in found)])
        for k, kind in enumerate((np.int64, np.int64, object, bool))
    )
    return Asked(numbers, run, months, accepted)


def _among(numbers: IntArray, others: IntArray) -> BoolArray:
    """Which numbers are among others; both rise, and the others may be many."""
    if not len(numbers):
        return np.zeros(0, dtype=bool)
    first, last = np.searchsorted(others, [numbers[0], numbers[-1] + 1])
    return np.isin(numbers, others[first:last])


def _rows(connection: Connection, only: IntArray | None, what: str) -> Iterator[Any]:
    """Yield blocks in order: all, or those that have one of some promises."""
    firsts = np.array(
        connection.execute(select(blocks.c.first).order_by(blocks.c.first)).scalars().all(), dtype=np.int64
    )
    chosen = select(blocks.c.first, blocks.c.run, blocks.c.made, blocks.c.content).order_by(blocks.c.first)
    if only is None:
        rows = connection.execute(chosen.execution_options(yield_per=_BLOCKS))
        yield from track(rows, what, len(firsts))
        return
    places = np.unique(np.searchsorted(firsts, only, side="right") - 1)
    for place in track(places, what, len(places)):
        yield connection.execute(chosen.where(blocks.c.first == int(firsts[place]))).one()


def _joined(
    waiting: list[Piece], connection: Connection, current: Current | None, runs: Mapping[int, Run], today: date
) -> Piece:
    """Return pieces of a run as one, with present rows if there are some."""
    run = waiting[0].run
    numbers = np.concatenate([piece.numbers for piece in waiting])
    made = np.concatenate([piece.made for piece in waiting])
    table = stack([piece.table for piece in waiting]) if len(waiting) > 1 else waiting[0].table
    if current is not None:
        known = list(promises(connection, runs, today, numbers=numbers.tolist()))
        table = current.with_changes(table, run.columns, known)
    return Piece(run, numbers, made, table)
