"""How a command ends: with a line that says why, and without leaving processes behind."""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from robust_recourse.cli._wording import in_options
from robust_recourse.notices.values import printable

__all__ = ["Terminated", "complain", "defect", "ending", "flush", "reason", "unread"]


_LONGEST = 800  # signs of a line that quotes what was given


class Terminated(KeyboardInterrupt):
    """The process was told to end (SIGTERM)."""


@contextmanager
def ending() -> Iterator[None]:
    """Let SIGTERM end a command as Ctrl-C does, so that it cleans up, and show warnings as lines.

    Without this SIGTERM would end the process at once, and helper processes of joblib would wait for work for minutes.
    """
    main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, _terminate) if main else None
    shown = warnings.showwarning
    warnings.showwarning = _Lines()
    try:
        yield
    finally:
        warnings.showwarning = shown
        if main:
            signal.signal(signal.SIGTERM, before)


def reason(error: BaseException) -> str:
    """Say in one line why a command ended."""
    text = in_options(" ".join(str(error).split()))
    if isinstance(error, OSError) and error.filename is not None:
        text = f"{error.filename}: {error.strerror or text}"
    elif isinstance(error, MemoryError):
        text = (
            f"there is not enough memory{f' ({text})' if text else ''}. Use smaller numbers, or fewer rows at a time."
        )
    elif isinstance(error, RecursionError):
        text = "what was given is nested too deeply."
    elif isinstance(error, OverflowError):
        text = f"a number is too large ({text})."
    text = printable(text)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 2 :]}"


def defect(error: BaseException) -> str:
    """Say in one line that a command ended as none should, and show where that happened."""
    cause = error.__context__
    if isinstance(error, SystemExit) and isinstance(cause, OSError):  # as rich leaves when nobody reads any more
        return unread(cause)
    if sys.stderr is not None:  # it would be printed to standard output
        with suppress(OSError, ValueError):
            traceback.print_exception(error)
    return f"this should not happen: {type(error).__name__}: {reason(error)}"


def unread(error: BaseException) -> str:
    """Say in one line why standard output takes no more."""
    closed = "standard output was closed before everything was printed."
    return closed if isinstance(error, BrokenPipeError) else reason(error)


def complain(text: str) -> None:
    """Print a line to standard error, if that takes any."""
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            print(f"robust-recourse: {text}", file=sys.stderr)  # noqa: T201


def flush() -> None:
    """Write what was printed; if that cannot be, forget it, so that it cannot change the exit code later."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)
        raise


def _terminate(_number: int, _frame: FrameType | None) -> None:
    raise Terminated


class _Lines:
    """Shows every warning as a line, and once: a table that is read twice is warned of once."""

    def __init__(self) -> None:
        self._shown: set[str] = set()

    def __call__(self, message: Warning | str, *_: Any, **__: Any) -> None:
        line = f"warning: {printable(in_options(' '.join(str(message).split())))}"
        if line not in self._shown:
            self._shown.add(line)
            complain(line)
