"""The clock of a ledger: it stands near the last entry, or nothing is recorded or checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from sqlalchemy import Connection, select

from robust_recourse.ledger.errors import LedgerClockError, reading_entry
from robust_recourse.ledger.schema import entries

__all__ = ["BEHIND", "GAP", "Clock", "read_time"]

BEHIND = timedelta(minutes=5)
"""How far a clock may be behind the last entry: those of two machines never agree."""
GAP = timedelta(days=366)
"""How far it may be ahead, if nobody says otherwise: longer than any ledger in use rests."""


@dataclass(frozen=True)
class Clock:
    """What tells the time, and how long a ledger may rest.

    Parameters
    ----------
    tells : callable or None
        Returns the time with its zone; None for the clock of the system.
    gap : timedelta
        How far it may be ahead of the last entry.
    """

    tells: Callable[[], datetime] | None
    gap: timedelta

    def __post_init__(self) -> None:
        if not isinstance(self.gap, timedelta):
            raise TypeError(f"max_gap must be a timedelta, got {type(self.gap).__name__}.")
        if self.gap < timedelta(days=1):
            raise ValueError(f"max_gap must be at least one day, got {self.gap}.")

    def now(self) -> datetime:
        """Return the time, in UTC."""
        now = datetime.now(UTC) if self.tells is None else self.tells()
        if now.tzinfo is None:
            raise ValueError("clock must return a time with its zone.")
        return now.astimezone(UTC)

    def today(self) -> date:
        """Return the day, in UTC."""
        return self.now().date()

    def following(self, connection: Connection, ledger: str) -> datetime:
        """Return the time; raise if it cannot be right, as far as the last entry tells."""
        chosen = select(entries.c.number, entries.c.made).order_by(entries.c.number.desc()).limit(1)
        found = connection.execute(chosen).one_or_none()
        now = self.now()
        if found is None:
            return now
        last = read_time(*found)
        if -BEHIND <= now - last <= self.gap:
            return now
        limit = f"{BEHIND.seconds // 60} minutes before" if now < last else f"{self.gap.days} days after"
        raise LedgerClockError(
            f"{ledger}: the clock of this machine says {_shown(now)}, which is more than {limit} the last entry, made "
            f"at {_shown(last)}. Set the clock of this machine right or, if it is right, record why with "
            "'robust-recourse ledger clock'."
        )


def read_time(number: int, made: str) -> datetime:
    """Return when an entry was made."""
    with reading_entry(number):
        return datetime.fromisoformat(made).astimezone(UTC)


def _shown(time: datetime) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S UTC")
