"""Checks of what is given to a ledger, before anything is written."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse.ledger.errors import LedgerError
from robust_recourse.methods.base import RecourseMethod

__all__ = ["listed", "need_method", "need_text", "read_date", "read_people", "read_person"]

_MOST = 5  # people that a message names


def read_person(person: Any) -> str:
    """Return the id of a person as text; whole numbers are written as such."""
    if isinstance(person, bool | np.bool_) or not isinstance(person, str | numbers.Integral):
        raise TypeError(f"people must be ids, texts or whole numbers, got {person!r}.")
    return need_text(str(person), "people", "an id")


def read_people(people: Any, n: int) -> list[str]:
    """Return the ids of `n` people, each another."""
    if isinstance(people, str | bytes) or not np.iterable(people):
        raise TypeError(f"people must be a sequence of ids, one for every recourse, got {people!r}.")
    read = [read_person(person) for person in people]
    if len(read) != n:
        raise LedgerError(f"people must have one id for each of the {n} recourses, got {len(read)}.")
    twice = pd.Series(read, dtype=object)
    if twice.duplicated().any():
        raise LedgerError(f"people names {listed(twice[twice.duplicated()].unique())} more than once.")
    return read


def need_text(text: str, name: str, what: str) -> str:
    """Return a text that every database can hold, and that is not empty."""
    if not isinstance(text, str):
        raise TypeError(f"{name} must be {what}, got {text!r}.")
    if not text.strip():
        raise LedgerError(f"{name} must be {what}, got an empty text.")
    if "\0" in text or any("\ud800" <= sign <= "\udfff" for sign in text):
        raise LedgerError(f"{name} must be {what}, got signs that are no text: {text!r}.")
    return text


def read_date(day: Any, name: str, today: date) -> date:
    """Return a day that is not over."""
    if isinstance(day, str):
        try:
            read = date.fromisoformat(day)
        except ValueError:
            raise LedgerError(f"{name} must be a date such as 2027-05-31, got {day!r}.") from None
    elif isinstance(day, datetime | pd.Timestamp) and not pd.isna(day):
        read = day.date()
    elif isinstance(day, date):
        read = day
    else:
        raise TypeError(f"{name} must be a date such as '2027-05-31', got {day!r}.")
    if read < today:
        raise LedgerError(f"{name} is {read}, which is in the past: it is {today}.")
    return read


def need_method(method: Any) -> RecourseMethod:
    """Return a fitted method, that of a tuned one if it is one."""
    method = getattr(method, "best_method_", method)
    if not isinstance(method, RecourseMethod):
        raise TypeError(f"method must be a method of recourse, got {type(method).__name__}.")
    if not hasattr(method, "candidates_"):
        raise LedgerError("method is not fitted yet. Call fit first.")
    return method


def listed(names: Iterable[Any]) -> str:
    """Name some people in a message."""
    known: Sequence[Any] = list(names)
    shown = ", ".join(repr(name) for name in known[:_MOST])
    return shown + (f", ... ({len(known)} people)" if len(known) > _MOST else "")
