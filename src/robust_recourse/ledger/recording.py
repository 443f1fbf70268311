"""Promises on their way into the ledger: checked, written as text, and appended all or none."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from robust_recourse import notices
from robust_recourse.ledger.blocks import LARGEST, write_block
from robust_recourse.ledger.chain import Book, to_text
from robust_recourse.ledger.errors import LedgerError
from robust_recourse.ledger.given import listed
from robust_recourse.ledger.rows import promised_rows, write_rows
from robust_recourse.ledger.runs import Run, describe_run, read_runs
from robust_recourse.ledger.schema import entries
from robust_recourse.ledger.state import Promise, of_people, unclosed
from robust_recourse.methods.base import RecourseMethod
from robust_recourse.models.acceptance import accepted_by
from robust_recourse.result import Provenance, Recourses
from robust_recourse.result.document import measure
from robust_recourse.tables.values import take

__all__ = ["Prepared", "Recorded", "append", "prepare"]


@dataclass(frozen=True)
class Recorded:
    """What a call has recorded.

    Attributes
    ----------
    promises : mapping of str to int
        The entries of the new promises, by person.
    known : tuple of str
        People to whom the very same was promised before; they are not recorded again.
    head : Head
        The last entry of the ledger after it.
    """

    promises: Mapping[str, int]
    known: tuple[str, ...]
    head: Any

    def __repr__(self) -> str:
        known = f", {len(self.known)} known already" if self.known else ""
        return f"Recorded({len(self.promises)} promises{known})"


@dataclass(frozen=True, eq=False)
class Prepared:
    """Promises that are checked and written as text."""

    facts: dict[str, Any]
    people: list[str]
    keys: list[str]
    texts: list[str]
    table: Any
    signature: frozenset[tuple[str, str]]

    def of(self, places: Sequence[int]) -> Prepared:
        """Return some of them."""
        people, keys, texts = ([held[i] for i in places] for held in (self.people, self.keys, self.texts))
        rows = take(self.table, np.array(places, dtype=np.int64))
        return Prepared(self.facts, people, keys, texts, rows, self.signature)


def prepare(
    found: Recourses,
    people: list[str],
    method: RecourseMethod,
    *,
    model: str,
    until: date,
    note: str,
    told: Sequence[str] | None,
    sent: str,
    radius: Any,
) -> Prepared:
    """Check that recourses can be promised, and write them as text; nothing is recorded."""
    if (found.rank > 1).any():
        raise LedgerError("found has several recourses for a person: promise one of them, found[found.rank == 1].")
    _check_maker(found, method)
    table = promised_rows(found)
    valid = np.asarray(found.valid).copy()
    valid[valid] = accepted_by(
        method.model,
        take(table, np.flatnonzero(valid)),
        favourable=found.favourable,
        threshold=found.threshold,
        like=take(found.x0, np.flatnonzero(valid)),
    )
    if not valid.all():
        refused = [person for person, good in zip(people, valid, strict=True) if not good]
        raise LedgerError(
            f"The present model refuses what would be promised to {listed(refused)}. Only valid recourses can be "
            "promised: found[found.valid]."
        )
    columns, rows = write_rows(found, table)
    facts = describe_run(found, columns, method, model=model, until=until, note=note)
    said = [notices.describe(notice) for notice in found._notices()] if told is None else list(told)
    if len(said) != len(found):
        raise LedgerError(f"notices must have one text for each of the {len(found)} recourses, got {len(said)}.")
    bounds = _bounds(found, radius)
    shared = to_text([model, until.isoformat(), note])
    keys, texts = [], []
    for i, (person, row, words) in enumerate(zip(people, rows, said, strict=True)):
        # Most of the text is these two, and both the text and its key have them.
        before, promised = (_compact(row.pop(which)) for which in ("before", "promised"))
        keys.append(hashlib.sha256(to_text([person, shared, before, promised]).encode()).hexdigest())
        row["cost"], row["status"] = measure(found.cost[i]), str(found.status[i])
        row["bounds"] = {name: measure(float(values[i])) for name, values in bounds.items()}
        digest = hashlib.sha256(words.encode("utf-8", "backslashreplace")).hexdigest()
        row["notice"] = {"text": words, "hash": digest, "sent": sent}
        texts.append(f'{{"before":{before},"promised":{promised},{_compact(row)[1:]}')
    return Prepared(facts, people, keys, texts, table, columns.signature)


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def _bounds(found: Recourses, radius: Any) -> dict[str, Any]:
    """Return what is known about how long recourses last: only what the result has."""
    known = {"worst_case_odds": found.worst_case_odds, "certified_radius": radius, **found.consent}
    return {name: np.asarray(values, dtype=float) for name, values in known.items() if values is not None}


def _check_maker(found: Recourses, method: RecourseMethod) -> None:
    """Raise if another method, or another model, has found the recourses."""
    given = found.provenance if isinstance(found.provenance, tuple) else (found.provenance,)
    own = Provenance.of(method)
    for maker in given:
        if maker is not None and (maker.method, maker.model_fingerprint) != (own.method, own.model_fingerprint):
            raise LedgerError(
                f"found was made by {maker.method} with another model or method than the {own.method} that is given as "
                "method. Pass the one that found these recourses."
            )


def append(
    connection: Connection, book: Book, prepared: Prepared, today: date, *, replace: bool, renews: Sequence[int] = ()
) -> tuple[dict[str, int], list[str]]:
    """Append promises, and close those that they replace; return the new ones, and who had the same already.

    Parameters
    ----------
    connection, book
        Where to.
    prepared : Prepared
        The promises.
    today : date
        The day.
    replace : bool
        Whether an open promise to a person is replaced.
    renews : sequence of int
        Promises that are replaced whatever `replace` says.

    Raises
    ------
    LedgerError
        If a person has another open promise, or if open promises are about other columns.
    """
    runs = read_runs(connection)
    earlier = of_people(connection, runs, today, prepared.people)
    known, new, replaced = _sorted(prepared, earlier)
    others = [person for person, old in replaced.items() if not replace and old.number not in renews]
    if others:
        raise LedgerError(
            f"There is an open promise to {listed(others)} already. Withdraw it, or pass replace=True. Nothing was "
            "recorded."
        )
    if not new:
        return {}, known
    closing = {old.number for old in replaced.values()}
    _check_columns(connection, runs, prepared, today, closing)
    run = _run(connection, book, prepared)
    numbers: dict[str, int] = {}
    for first in range(0, len(new), LARGEST):
        some = new[first : first + LARGEST]
        rows = take(prepared.table, np.array(some, dtype=np.int64))
        digest, block = book.block(book.next, run, book.made, write_block(rows, range(len(some))))
        book.add_block(block)
        for place, i in enumerate(some):
            numbers[prepared.people[i]] = book.add(
                "promise",
                {"block": digest} if place == 0 else None,
                about=run,
                person=prepared.people[i],
                data=prepared.texts[i],
                key=prepared.keys[i],
            )
    for person, old in replaced.items():
        book.add("renewed", {"by": numbers[person]}, about=old.number)
    return numbers, known


def _sorted(
    prepared: Prepared, earlier: Mapping[str, list[Promise]]
) -> tuple[list[str], list[int], dict[str, Promise]]:
    """Return who has the same promise already, the positions of new promises, and open ones that they would replace."""
    known, new, replaced = [], [], {}
    for i, (person, key) in enumerate(zip(prepared.people, prepared.keys, strict=True)):
        if any(promise.key == key for promise in earlier[person]):
            known.append(person)
            continue
        new.append(i)
        still = [promise for promise in earlier[person] if promise.status == "open"]
        if still:
            replaced[person] = still[0]
    return known, new, replaced


def _check_columns(
    connection: Connection, runs: Mapping[int, Run], prepared: Prepared, today: date, closing: set[int]
) -> None:
    """Raise if promises that stay open are about other columns: no model could be asked about both."""
    other = [n for n, run in runs.items() if run.until >= today and run.columns.signature != prepared.signature]
    for number, run, person in unclosed(connection, other):
        if number not in closing:
            apart = sorted(name for name, _ in runs[run].columns.signature ^ prepared.signature)
            raise LedgerError(
                f"The open promise to {person!r} is about other columns than these ({', '.join(apart)}). Keep promises "
                "about other columns in a ledger of their own. Nothing was recorded."
            )


def _run(connection: Connection, book: Book, prepared: Prepared) -> int:
    """Return the number of the entry with the facts of the run; it is appended if there is none."""
    same = select(entries.c.number).where(entries.c.kind == "run", entries.c.facts == to_text(prepared.facts))
    found = connection.execute(same.limit(1)).scalar()
    return book.add("run", prepared.facts) if found is None else int(found)
