"""What reads a ledger and appends to it: promises as tables when somebody asks for them, and one writer at a time."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Connection

from robust_recourse._typing import IntArray
from robust_recourse.ledger.asking import Piece, pieces
from robust_recourse.ledger.chain import Book, read_head
from robust_recourse.ledger.clocks import Clock
from robust_recourse.ledger.current import Current
from robust_recourse.ledger.database import Database
from robust_recourse.ledger.errors import LedgerError
from robust_recourse.ledger.migrating import confirm
from robust_recourse.ledger.runs import Run, read_runs
from robust_recourse.ledger.state import Promise, promises
from robust_recourse.notices.frames import beside
from robust_recourse.notices.values import label_text
from robust_recourse.tables import to_pandas

__all__ = ["BOUNDS", "Source", "frame_of"]

BOUNDS = ("worst_case_odds", "certified_radius", "jury_share", "survival_bound")


@dataclass(frozen=True)
class Source:
    """A ledger to read from and to append to, as it is on a day."""

    database: Database
    clock: Clock

    def today(self) -> date:
        """Return the day."""
        return self.clock.today()

    @contextmanager
    def reading(self) -> Iterator[tuple[Connection, dict[int, Run]]]:
        """Read in one state: a connection, and the runs."""
        with self.reading_only() as connection:
            yield connection, read_runs(connection)

    def promises(self, numbers: IntArray | None = None, people: Sequence[str] | None = None) -> list[Promise]:
        """Return promises with their data: all, some numbers, or those of some people."""
        with self.reading() as (connection, runs):
            given = None if numbers is None else numbers.tolist()
            return list(promises(connection, runs, self.today(), numbers=given, people=people))

    def promises_in(self, connection: Connection, numbers: Sequence[int]) -> list[Promise]:
        """Return promises with their data, read with a connection that is open already."""
        return list(promises(connection, read_runs(connection), self.today(), numbers=numbers))

    @contextmanager
    def reading_only(self) -> Iterator[Connection]:
        """Read in one state, whatever the entries hold."""
        with self.database.reading() as connection:
            confirm(connection, self.database.name)
            yield connection

    @contextmanager
    def writing(self, *, at_any_time: bool = False) -> Iterator[tuple[Connection, Book]]:
        """Append entries in a transaction; they are written at its end."""
        with self.database.writing() as connection:
            confirm(connection, self.database.name)
            last = read_head(connection, lock=True)
            # While nobody else can append, so that entries of a machine never run backwards.
            now = self.clock.now() if at_any_time else self.clock.following(connection, self.database.name)
            book = Book(last, now)
            yield connection, book
            book.write(connection)

    def columns(self) -> pd.DataFrame:
        """Return the columns of the newest promises, as a table of theirs without rows."""
        with self.reading() as (_, runs):
            if not runs:
                return pd.DataFrame()
            table = to_pandas(runs[max(runs)].columns.table("promised", []))
        return table if isinstance(table, pd.DataFrame) else pd.DataFrame(table)

    def frame(self, numbers: IntArray, extra: Callable[[], Mapping[str, Any]] | None = None) -> pd.DataFrame:
        """Return promises as a table, with more columns."""
        frame = frame_of(self.promises(numbers))
        if extra is None or not len(frame):
            return frame
        return beside(frame, extra())

    def people(self, numbers: IntArray) -> list[str | None]:
        """Return the ids of the people to whom promises were made; None for those who were forgotten."""
        with self.reading() as (connection, runs):
            known = promises(connection, runs, self.today(), numbers=numbers.tolist(), data=False)
            ids = {promise.number: promise.person for promise in known}
        return [ids.get(number) for number in numbers.tolist()]

    def column(self, numbers: IntArray, name: Hashable) -> list[str]:
        """Return a column of promised rows, as text."""
        held = np.full(len(numbers), "(forgotten)", dtype=object)
        for piece in self.pieces(numbers):
            table = to_pandas(piece.table)
            table = table if isinstance(table, pd.DataFrame) else pd.DataFrame(table)
            if name not in table.columns:
                known = ", ".join(repr(column) for column in table.columns)
                raise LedgerError(f"The promises have no column {name!r}. They have {known}.")
            cells = table[name].tolist()
            texts = {cell: label_text(cell) for cell in set(cells)}  # many people, few texts
            held[np.searchsorted(numbers, piece.numbers)] = [texts[cell] for cell in cells]
        return list(held)

    def pieces(self, numbers: IntArray, current: Current | None = None) -> Iterator[Piece]:
        """Yield promised rows in pieces of one run each."""
        with self.reading() as (connection, runs):
            yield from pieces(connection, runs, self.today(), only=np.asarray(numbers), current=current)


def frame_of(known: Sequence[Promise]) -> pd.DataFrame:
    """Return promises as a table: person, the row promised, cost, status, bounds, made, until and model."""
    parts = [_frame(run, list(some)) for run, some in groupby(known, key=lambda promise: promise.run)]
    if not parts:
        names = ["person", "cost", "status", *BOUNDS, "made", "until", "model"]
        return pd.DataFrame({name: pd.Series(dtype=object) for name in names}, index=pd.Index([], name="promise"))
    return pd.concat(parts) if len(parts) > 1 else parts[0]


def _frame(run: Run, some: list[Promise]) -> pd.DataFrame:
    table = to_pandas(run.columns.table("promised", [promise.data for promise in some]))
    table = table if isinstance(table, pd.DataFrame) else pd.DataFrame(table)
    extra: dict[str, Any] = {
        "cost": [_number(promise.data["cost"]) for promise in some],
        "status": [promise.status for promise in some],
        **{name: [_number(promise.data["bounds"].get(name)) for promise in some] for name in BOUNDS},
        "made": pd.to_datetime([promise.made for promise in some], format="ISO8601"),
        "until": [run.until] * len(some),
        "model": [run.model] * len(some),
    }
    frame = beside(table, {"person": [promise.person for promise in some], **extra})
    names = list(frame.columns)
    front = table.shape[1]
    ordered = frame.iloc[:, [front, *(k for k in range(len(names)) if k != front)]]
    return ordered.set_axis(pd.Index([promise.number for promise in some], name="promise"), axis=0)


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)
