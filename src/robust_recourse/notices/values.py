"""How values, names and labels are written: for people, and in JSON."""

from __future__ import annotations

import numbers
from collections.abc import Hashable
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

__all__ = ["amount", "column_text", "is_missing", "json_value", "label_text", "measured", "plain", "printable", "text"]

_QUOTES = ("'", '"')


def is_missing(value: Any) -> bool:
    """Say whether a value is None, NaN, NaT or NA."""
    if isinstance(value, str | int | float):  # most values are one, and pandas is slow to say
        return value != value
    return value is None or (pd.api.types.is_scalar(value) and bool(pd.isna(value)))


def plain(value: Any) -> Any:
    """Return the Python value of a NumPy scalar where that is the same value.

    Short floats stay as they are: as Python floats they would grow digits that nobody gave.
    """
    if is_missing(value):
        return None
    if not isinstance(value, np.generic):
        return value
    if isinstance(value, np.datetime64):
        return pd.Timestamp(value)
    if isinstance(value, np.bool_ | np.integer | np.float64 | np.str_ | np.bytes_):
        return value.item()
    return value


def printable(words: str) -> str:
    r"""Return the text with everything that is not printable (controls, changes of direction) as an escape, ``\n``."""
    if words.isprintable():
        return words
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in words)


def text(value: Any, *, quoted: bool = False) -> str:
    """Write a value for people.

    Numbers have separators and all the digits that are needed to read the value back, and no more.

    Parameters
    ----------
    value : object
        A cell of a table.
    quoted : bool
        Whether text stands in quotes, as in a sentence.

    Examples
    --------
    >>> text(2050.0), text(1234567), text(0.1), text(True), text(float("nan"))
    ('2,050', '1,234,567', '0.1', 'yes', 'missing')
    >>> text("rent", quoted=True)
    "'rent'"
    """
    value = plain(value)
    if value is None:
        return "missing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, numbers.Real | Decimal):
        return _number(value)
    if isinstance(value, datetime):
        return _moment(value)
    words = printable(value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value))
    if not quoted or not isinstance(value, str | bytes):
        return words or "(empty)"
    mark = _QUOTES["'" in words and '"' not in words]
    return f"{mark}{words}{mark}"


def amount(number: float) -> str:
    """Write a measured number, such as a cost, with three digits or all before the point.

    >>> amount(1.23456), amount(12345.6), amount(0.00012345), amount(2.0)
    ('1.23', '12,346', '0.000123', '2')
    """
    return text(measured(number))


def measured(number: float) -> float:
    """Round a measured number to three digits, or to all before the point."""
    if not np.isfinite(number):
        return number
    return float(f"{number:.3g}") if abs(number) < 100.0 else float(round(number))


def column_text(name: Hashable) -> str:
    """Write the name of a column; what is not text is called a column.

    >>> column_text("savings"), column_text(0), column_text(("income", "net"))
    ('savings', 'column 0', 'income / net')
    """
    if isinstance(name, tuple):
        return " / ".join(label_text(part) for part in name if part != "") or "(unnamed)"
    return label_text(name) if isinstance(name, str) else f"column {label_text(name)}"


def label_text(label: Hashable) -> str:
    """Write the label of a row: as it is, without separators.

    >>> label_text(10234), label_text(("Leeds", 7))
    ('10234', 'Leeds / 7')
    """
    if isinstance(label, tuple):
        return " / ".join(label_text(part) for part in label)
    label = plain(label)
    if isinstance(label, numbers.Number) and not isinstance(label, bool):
        return str(label)
    return text(label)


def json_value(value: Any) -> Any:
    """Return what stands for a value in JSON: missing is null, what JSON has no word for is text, a tuple is a list."""
    value = plain(value)
    if isinstance(value, tuple):
        return [json_value(part) for part in value]
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float | np.floating):
        number = float(str(value))
        return number if np.isfinite(number) else str(number)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def _number(value: Any) -> str:
    if isinstance(value, numbers.Integral):
        return f"{int(value):,}"
    if isinstance(value, Decimal):
        return f"{value:,}"
    if not isinstance(value, float | np.floating):
        return str(value)
    size = abs(float(value))
    if size == np.inf:
        return "infinity" if value > 0 else "-infinity"
    if size and not 1e-6 <= size < 1e16:
        return str(value)
    whole, point, decimals = np.format_float_positional(value, unique=True, trim="-").partition(".")
    grouped = f"{int(whole):,}"
    sign = "-" if value < 0 and not grouped.startswith("-") else ""
    return f"{sign}{grouped}{point}{decimals}"


def _moment(value: datetime) -> str:
    """Write a date, with the time of day if it has one."""
    if value.time() == time() and value.tzinfo is None:
        return value.date().isoformat()
    return value.isoformat(sep=" ")
