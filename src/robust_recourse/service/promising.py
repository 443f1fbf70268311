"""Promises at the counter: made of verified recourses, read, and redeemed."""

from __future__ import annotations

import logging
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from robust_recourse.notices.values import json_value
from robust_recourse.service.bodies import PromiseOf
from robust_recourse.service.problems import Fault, Problem
from robust_recourse.service.settings import Settings
from robust_recourse.service.stating import Statements

if TYPE_CHECKING:
    from robust_recourse.ledger import Ledger, Receipt

__all__ = ["Promises"]

_LOG = logging.getLogger("robust_recourse.service")
_BROKEN = "The ledger cannot be used now. Nothing was recorded."


class Promises:
    """The ledger behind the counter.

    Parameters
    ----------
    settings : Settings
        What the service was started with.
    statements : Statements
        What verifies recourses.
    """

    def __init__(self, settings: Settings, statements: Statements) -> None:
        from robust_recourse.ledger import Ledger

        assert settings.ledger is not None
        self._ledger: Ledger = Ledger(settings.ledger)
        self._ledger.counts()  # an address that is wrong is told at once
        self._statements, self._name, self._days = statements, settings.name, settings.promise_days

    def make(self, asked: PromiseOf) -> tuple[bool, dict[str, Any]]:
        """Record a promise; return whether it is new, and what is kept of it."""
        from robust_recourse.ledger import LedgerError

        until = self._until(asked.until)
        found = self._statements.verified(asked)
        if not np.nansum(np.abs(found.column_costs)):
            raise Problem("conflict", "Nothing changes: there is nothing to promise.")
        try:
            recorded = self._ledger.record(
                found,
                people=[asked.person],
                model=self._name,
                method=self._statements.method,
                until=until,
                note=asked.note,
                replace=asked.replace,
            )
            if recorded.promises:
                [number] = recorded.promises.values()
            else:
                number = self._same(asked, until)
        except LedgerError as error:
            raise _problem(error) from error
        return bool(recorded.promises), self.read(number)

    def read(self, number: int, code: str | None = None) -> dict[str, Any]:
        """Return what is kept of a promise, and whether it still adds up; with a code, whether it has that."""
        from robust_recourse.ledger import LedgerError

        try:
            receipt = self._ledger.receipt(number)
        except LedgerError as error:
            if "has no promise" in str(error):
                raise Problem("not-found", f"There is no promise {number}, or its person was forgotten.") from error
            raise _problem(error) from error
        return _told(receipt, code)

    def fulfil(self, number: int, row: Any) -> dict[str, Any]:
        """Say whether a person did what was promised; if so, record it."""
        from robust_recourse.ledger import LedgerError

        known = self.read(number)
        if known["status"] != "open":
            raise Problem("conflict", f"Promise {number} is not open: it is {known['status']}.")
        table = self._statements.row(row)
        try:
            outcome = self._ledger.fulfil(
                known["person"], table if hasattr(table, "iloc") else table[0], promise=number
            )
        except LedgerError as error:
            raise _problem(error) from error
        lines = outcome.columns.to_dict("records")
        return {
            "fulfilled": outcome.fulfilled,
            "exactly": outcome.exactly,
            "columns": [{str(name): json_value(value) for name, value in line.items()} for line in lines],
            "moved": list(outcome.moved),
            "promise": self.read(number),
        }

    def _same(self, asked: PromiseOf, until: date) -> int:
        """Return the number of the same promise that was made before."""
        known = [
            promise
            for promise in self._ledger.history(asked.person)
            if (promise["until"], promise["note"], promise["model"]) == (until.isoformat(), asked.note, self._name)
        ]
        return int(known[-1]["promise"])

    def _until(self, day: str | None) -> date:
        today = datetime.now(UTC).date()
        last = today + timedelta(days=self._days)
        if day is None:
            return last
        try:
            read = date.fromisoformat(day)
        except ValueError:
            raise Problem("invalid-request", faults=[Fault("until", "must be a date such as 2027-05-31.")]) from None
        if read < today:
            raise Problem("invalid-request", faults=[Fault("until", f"is in the past: it is {today}.")])
        if read > last:
            raise Problem("widens", faults=[Fault("until", f"must be {last} or earlier, got {read}.")])
        return read


def _problem(error: ValueError) -> Problem:
    """Return what the ledger does not allow, or that it cannot be used; messages of databases stay here."""
    from robust_recourse.ledger import LedgerClockError, LedgerDamagedError, LedgerUnavailableError

    if isinstance(error, LedgerClockError | LedgerDamagedError | LedgerUnavailableError):
        _LOG.warning("the ledger cannot be used: %s", error)
        return Problem("unavailable", _BROKEN, headers={"Retry-After": "5"})
    return Problem("conflict", str(error))


def _told(receipt: Receipt, code: str | None) -> dict[str, Any]:
    known, bounds = receipt.promise, receipt.promise["bounds"]
    taken = ("person", "status", "made", "until", "model", "note", "before", "promised", "changes", "cost", "events")
    return {
        "id": known["promise"],
        **{name: known[name] for name in taken},
        "jury_share": bounds.get("jury_share"),
        "survival_bound": bounds.get("survival_bound"),
        "notice": known["notice"]["text"],
        "code": receipt.code,
        "hash": receipt.hash,
        "verified": receipt.intact and (code is None or receipt.has(code)),
    }
