"""A log that does not flood."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable

__all__ = ["Sparing"]

_KINDS = 1000  # that are remembered


class Sparing(logging.Filter):
    """Lets a warning or error pass once in a while, and then says how many like it were left out.

    Those are alike that one place writes, whatever it fills in. Lines that are made for one request differ, and pass.

    Parameters
    ----------
    seconds : float
        Within which one passes.
    clock : callable
        Seconds that never go back.
    """

    def __init__(self, seconds: float = 10.0, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._seconds, self._clock = seconds, clock
        self._known: dict[tuple[object, ...], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Say whether a record is written."""
        if record.levelno < logging.WARNING:
            return True
        error = record.exc_info[0] if record.exc_info else None
        kind = (record.name, record.levelno, str(record.msg).partition("\n")[0], error)
        passed, left_out = self._known.get(kind, (-math.inf, 0))
        now = self._clock()
        if now - passed < self._seconds:
            self._known[kind] = passed, left_out + 1
            return False
        if len(self._known) >= _KINDS:
            self._known.clear()
        self._known[kind] = now, 0
        if left_out:
            record.msg, record.args = f"{record.getMessage()} ({left_out:,} more like this were left out)", ()
        return True
