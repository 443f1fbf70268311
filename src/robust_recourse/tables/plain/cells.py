"""Values of cells: numbers of NumPy, dates, and what pandas makes of them."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse.tables.plain.coding import Kind, exactly

__all__ = ["CELLS"]


def _alike(back: Any, value: Any) -> bool:
    """Whether a value of a cell is the same, with its type, its digits and its time zone."""
    return type(back) is type(value) and repr(back) == repr(value) and (back == value or value != value)


def _cell(name: str, kind: type, pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> Kind:
    return Kind(name, exactly(kind), pack, unpack, _alike)


def _pack_scalar(value: np.generic) -> list[str]:
    return [value.dtype.str, str(value) if isinstance(value, np.str_) else value.tobytes().hex()]


def _unpack_scalar(packed: list[str]) -> Any:
    dtype, content = np.dtype(packed[0]), packed[1]
    return np.str_(content) if dtype.kind == "U" else np.frombuffer(bytes.fromhex(content), dtype)[0]


def _pack_instant(value: Any) -> list[Any]:
    # A time with a zone is UTC inside.
    return [value.asm8, None if value.tz is None else str(value.tz)]


def _unpack_instant(packed: list[Any]) -> Any:
    instant = pd.Timestamp(packed[0])
    return instant if packed[1] is None else instant.tz_localize("UTC").tz_convert(packed[1])


def _pack_duration(value: datetime.timedelta) -> list[int]:
    return [value.days, value.seconds, value.microseconds]


CELLS: tuple[Kind, ...] = (
    Kind("scalar", lambda value: isinstance(value, np.generic), _pack_scalar, _unpack_scalar, _alike),
    _cell("bytes", bytes, bytes.hex, bytes.fromhex),
    _cell("decimal", Decimal, str, Decimal),
    _cell("date", datetime.date, datetime.date.isoformat, datetime.date.fromisoformat),
    _cell("time", datetime.time, datetime.time.isoformat, datetime.time.fromisoformat),
    _cell("datetime", datetime.datetime, datetime.datetime.isoformat, datetime.datetime.fromisoformat),
    _cell("duration", datetime.timedelta, _pack_duration, lambda p: datetime.timedelta(*p)),
    Kind("missing", lambda value: value is pd.NA or value is pd.NaT, str, {"<NA>": pd.NA, "NaT": pd.NaT}.__getitem__),
    _cell("instant", pd.Timestamp, _pack_instant, _unpack_instant),
    _cell("difference", pd.Timedelta, lambda value: value.asm8, pd.Timedelta),
    _cell("period", pd.Period, lambda v: [v.ordinal, v.freqstr], lambda p: pd.Period(ordinal=p[0], freq=p[1])),
    _cell("interval", pd.Interval, lambda v: [v.left, v.right, v.closed], lambda p: pd.Interval(*p)),
)
