"""The ledger: promises are recorded, checked against a new model, fulfilled, withdrawn, renewed and forgotten."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from itertools import islice
from types import EllipsisType
from typing import Any

import pandas as pd
from sqlalchemy import URL, Connection

from robust_recourse._validation import check_choice, check_flag, check_integer
from robust_recourse.ledger import checking, forgetting, fulfilling, history, recording, renewing
from robust_recourse.ledger.address import read_address
from robust_recourse.ledger.asking import Decision, Piece, pieces
from robust_recourse.ledger.chain import Book, Head, read_head, read_kept, to_text
from robust_recourse.ledger.check import Check
from robust_recourse.ledger.clocks import GAP, Clock
from robust_recourse.ledger.current import Current
from robust_recourse.ledger.database import Database
from robust_recourse.ledger.errors import LedgerError
from robust_recourse.ledger.fulfilling import Fulfilment
from robust_recourse.ledger.given import need_method, need_text, read_date, read_people, read_person
from robust_recourse.ledger.migrating import need_schema
from robust_recourse.ledger.receipts import Receipt, read_receipt
from robust_recourse.ledger.recording import Recorded
from robust_recourse.ledger.runs import read_runs
from robust_recourse.ledger.schema import CLOCK
from robust_recourse.ledger.source import Source, frame_of
from robust_recourse.ledger.state import STATUSES, Promise, need_open, of_people, promises
from robust_recourse.ledger.verifying import Flaw, flaws
from robust_recourse.math.intervals import check_level
from robust_recourse.result import Recourses

__all__ = ["Ledger"]


class Ledger:
    """Promises in a database: nothing in it is ever changed, and what was altered from outside is found.

    Nothing is opened before it is needed, and no connection stays open between two calls.

    Parameters
    ----------
    where : path or URL
        A file of SQLite, or the URL of a database: ``sqlite:///promises.db``,
        ``postgresql+psycopg://user@host/promises``.
    create : bool
        Whether to make the ledger if there is none. A new file can be read by its owner only.
    clock : callable, optional
        What tells the time, with its zone; the clock of the system if None. Nothing is recorded or checked while it is
        more than five minutes behind the last entry, or more than `max_gap` ahead of it.
    max_gap : timedelta
        How long the ledger may rest.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from robust_recourse import NearestAccepted
    >>> method = NearestAccepted(lambda X: X[:, 0] > 0.0).fit(np.array([[0.5], [1.5], [-1.0]]))
    >>> found = method.explain(np.array([[-1.0], [-2.0]]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = Ledger(Path(folder, "promises.db"))
    ...     ledger.record(found, people=["ann", "bob"], model="2026", method=method, until="2099-12-31")
    ...     check = ledger.check(lambda X: X[:, 0] > 0.7, name="2027")
    ...     check.share, ledger.verify()
    Recorded(2 promises)
    (0.0, [])
    """

    def __init__(
        self,
        where: str | os.PathLike[str] | URL,
        *,
        create: bool = True,
        clock: Callable[[], datetime] | None = None,
        max_gap: timedelta = GAP,
    ) -> None:
        self._database = Database(read_address(where))
        self._source = Source(self._database, Clock(clock, max_gap))
        self._create, self._opened = check_flag(create, "create"), False

    def __repr__(self) -> str:
        return f"Ledger({self.name!r})"

    @property
    def name(self) -> str:
        """What it is called: its file, or its URL without a password."""
        return self._database.name

    def record(
        self,
        found: Recourses,
        *,
        people: Sequence[Any],
        model: str,
        method: Any,
        until: date | str,
        note: str = "",
        notices: Sequence[str] | None = None,
        certificates: Any = None,
        replace: bool = False,
    ) -> Recorded:
        """Record recourses as promises, all of them or none.

        What was recorded before is not recorded again: the same rows, promised to the same person by the same model
        until the same day with the same note. So a call that was interrupted can be repeated.

        Parameters
        ----------
        found : Recourses
            Valid recourses, one for a person.
        people : sequence of str or int
            The ids of the people, in the order of `found`; they are kept as text.
        model : str
            The name of the model that promises.
        method : RecourseMethod
            The method that found the recourses. Its model is asked once more.
        until : date or str
            The last day on which the promises hold.
        note : str
            What else is to be remembered.
        notices : sequence of str, optional
            What people were told; the sentences of ``found.describe()`` if None.
        certificates : Certificates, optional
            What :func:`robust_recourse.certify` said of them: the certified radius is kept.
        replace : bool
            Whether the new promise replaces another one that is open.

        Returns
        -------
        Recorded
            The numbers of the promises.

        Raises
        ------
        LedgerError
            If the present model refuses a recourse, the day is over, a person has another open promise, or the open
            promises are about other columns. Nothing is recorded then.
        """
        if not isinstance(found, Recourses):
            raise TypeError(f"found must be Recourses, got {type(found).__name__}.")
        check_flag(replace, "replace")
        now = self._source.clock.now()
        prepared = recording.prepare(
            found,
            read_people(people, len(found)),
            need_method(method),
            model=need_text(model, "model", "the name of a model"),
            until=read_date(until, "until", now.date()),
            note=need_text(note, "note", "a text") if note else "",
            told=notices,
            sent=now.isoformat(timespec="seconds"),
            radius=getattr(certificates, "certified_radius", None),
        )
        with self._ready.writing() as (connection, book):
            new, known = recording.append(connection, book, prepared, book.day, replace=replace)
        return Recorded(new, tuple(known), book.head)

    def promises(
        self, status: str | None = "open", *, people: Sequence[Any] | None = None, most: int | None = None
    ) -> pd.DataFrame:
        """Return promises as a table: person, the row promised, cost, status, bounds, made, until and model.

        Parameters
        ----------
        status : {"open", "fulfilled", "withdrawn", "expired", "renewed"} or None
            What has become of them; None for all.
        people : sequence of str or int, optional
            Whose.
        most : int, optional
            How many, the first ones.
        """
        if status is not None:
            check_choice(status, "status", STATUSES)
        people = None if people is None else [read_person(person) for person in people]
        with self._ready.reading() as (connection, runs):
            known = promises(connection, runs, self._source.today(), people=people)
            return frame_of(list(islice((one for one in known if status in (None, one.status)), most)))

    def history(self, person: Any = None, *, status: str | None = None) -> list[dict[str, Any]]:
        """Return everything that is kept about a person, or about everybody: promises, each with all of its events.

        Parameters
        ----------
        person : str or int, optional
            The id; None for everybody.
        status : str, optional
            What has become of the promises, as for :meth:`promises`; None for all.
        """
        if status is not None:
            check_choice(status, "status", STATUSES)
        if person is None:
            return history.of_everybody(self._ready, status)
        told = history.of_person(self._ready, read_person(person))
        return [promise for promise in told if status in (None, promise["status"])]

    def counts(self) -> dict[str, int]:
        """Return how many promises there are of every status."""
        with self._ready.reading() as (connection, runs):
            known = Counter(promise.status for promise in promises(connection, runs, self._source.today(), data=False))
        return {status: known[status] for status in STATUSES}

    def check(
        self,
        model: Any,
        *,
        name: str,
        current: Any = None,
        favourable: Any = ...,
        threshold: float | EllipsisType | None = ...,
        level: float = 0.95,
        dry_run: bool = False,
        head: Head | str | None = None,
    ) -> Check:
        """Verify the ledger, and ask a new model about every open promise in it.

        Parameters
        ----------
        model : object or callable
            Whatever the recourse methods take as a model.
        name : str
            What to call it.
        current : DataFrame, optional
            Present rows of people, whose ids are the index: the promised changes are put on these.
        favourable, threshold
            As the recourse methods take them; what was told about the model that promised if left out.
        level : float
            Level of the intervals.
        dry_run : bool
            Whether nothing is recorded.
        head : Head or str, optional
            An earlier :attr:`head` that was kept elsewhere, as for :meth:`verify`.

        Raises
        ------
        LedgerDamagedError
            If the ledger does not add up; its message names the first entry. The model is not asked then.
        LedgerClockError
            If the clock is too far from the last entry.
        """
        need_text(name, "name", "the name of a model")
        return checking.check(
            self._ready,
            model,
            name=name,
            decision=Decision(favourable, threshold),
            current=None if current is None else Current.of(current),
            level=check_level(level),
            known=read_kept(head),
            dry_run=check_flag(dry_run, "dry_run"),
        )

    def pieces(self) -> Iterator[Piece]:
        """Yield the rows of all open promises, some thousands at a time, for whoever asks many models about them."""
        with self._ready.reading() as (connection, runs):
            yield from pieces(connection, runs, self._source.today())

    def columns(self) -> pd.DataFrame:
        """Return the columns of the newest promises, as a table of theirs without rows."""
        return self._ready.columns()

    def check_until(self, until: date | str) -> date:
        """Return the day until which promises are to hold; raise if it is over, or if the ledger cannot be used."""
        with self._ready.reading_only() as connection:
            now = self._source.clock.following(connection, self.name)
        return read_date(until, "until", now.date())

    def receipt(self, promise: int) -> Receipt:
        """Return a promise by its number, with the code by which it can be verified."""
        return read_receipt(self._ready, check_integer(promise, "promise", minimum=1))

    def fulfil(self, person: Any, row: Any, *, promise: int | None = None) -> Fulfilment:
        """Say whether what a person did is what was promised, or better; if it is, record it.

        Parameters
        ----------
        person : str or int
            The id.
        row : Series, mapping, DataFrame of one row or array_like
            The person's row as it is now.
        promise : int, optional
            The number of the promise, if no other one is meant.
        """
        with self._promise(person) as (connection, book, known):
            if promise is not None and promise != known.number:
                raise LedgerError(f"Promise {promise} is open no more: it was followed by promise {known.number}.")
            data = next(iter(self._source.promises_in(connection, [known.number]))).data
            outcome = fulfilling.compare(known.run.columns, data, row)
            if outcome.fulfilled:
                told = to_text(fulfilling.told(outcome))
                book.add("fulfilled", about=known.number, person=known.person, data=told)
        return outcome

    def withdraw(self, person: Any, *, reason: str) -> int:
        """Withdraw the open promise to a person, for a reason; return the number of the entry."""
        need_text(reason, "reason", "a text")
        with self._promise(person) as (_, book, promise):
            return book.add("withdrawn", about=promise.number, person=promise.person, data=to_text({"reason": reason}))

    def renew(self, check: Check, method: Any, *, until: date | str | None = None, note: str = "") -> Recorded:
        """Promise what broken promises need under the new model, linked to the old ones.

        Parameters
        ----------
        check : Check
            What the new model made of the promises.
        method : RecourseMethod
            A method that was fitted with the new model, see :meth:`Check.same_method`.
        until : date or str, optional
            The last day of the new promises; that of each old one if None.
        note : str
            What else is to be remembered.

        Returns
        -------
        Recorded
            The new promises. Who has no valid addition, or whose promise is open no more, is left out.
        """
        now = self._source.clock.now()
        day = None if until is None else read_date(until, "until", now.date())
        groups = renewing.prepare(check, need_method(method), until=day, note=note, now=now)
        new: dict[str, int] = {}
        known: list[str] = []
        with self._ready.writing() as (connection, book):
            for prepared in groups:
                some, same = renewing.append(connection, book, prepared, book.day)
                new |= some
                known += same
        return Recorded(new, tuple(known), book.head)

    def forget(self, person: Any) -> int:
        """Erase everything that is known about a person, leave a tombstone, and return how many entries were emptied.

        The chain still verifies. Copies of the database are not reached.
        """
        with self._ready.writing() as (connection, book):
            erased = forgetting.forget(connection, book, read_runs(connection), read_person(person))
        self._database.tidy()
        return erased

    def confirm_clock(self, *, reason: str) -> int:
        """Say that the clock is right, however far it is from the last entry; return the number of the entry.

        For a ledger that rested for longer than `max_gap`, or whose last entries were made with a wrong clock. Times
        that run backwards before this entry are not reported any more: the reason stands in the chain.
        """
        need_text(reason, "reason", "a text")
        with self._ready.writing(at_any_time=True) as (_, book):
            return book.add(CLOCK, {"reason": reason})

    def verify(self, head: Head | str | None = None) -> list[Flaw]:
        """Return the entries that do not add up; an empty list if all is well.

        Parameters
        ----------
        head : Head or str, optional
            An earlier :attr:`head` that was kept elsewhere, or only its hash: then a chain that was written anew, or
            cut off together with its head, is found, too.
        """
        known = read_kept(head)
        with self._ready.reading_only() as connection:
            return flaws(connection, known)

    @property
    def head(self) -> Head:
        """The last entry: number and hash. Kept elsewhere, it proves later that nothing before it was changed."""
        with self._ready.reading_only() as connection:
            return read_head(connection)

    def timeline(self) -> pd.DataFrame:
        """Return what happened in every month: promises made, fulfilled, withdrawn, expired and renewed, and checks."""
        return history.timeline(self._ready)

    @property
    def _ready(self) -> Source:
        """The ledger, which is made or upgraded first, once."""
        if not self._opened:
            need_schema(self._database, create=self._create)
            self._opened = True
        return self._source

    @contextmanager
    def _promise(self, person: Any) -> Iterator[tuple[Connection, Book, Promise]]:
        """Append to the open promise of a person."""
        name = read_person(person)
        with self._ready.writing() as (connection, book):
            known = of_people(connection, read_runs(connection), book.day, [name])[name]
            yield connection, book, need_open(known, name)
