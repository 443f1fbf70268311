"""How a command ends: with a line that says why, and without leaving processes behind."""

from __future__ import annotations

import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from robust_recourse.cli._wording import in_options
from robust_recourse.notices.values import printable

__all__ = ["Terminated", "ending", "reason"]


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
    warnings.showwarning = _show
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


def _terminate(_number: int, _frame: FrameType | None) -> None:
    raise Terminated


def _show(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"robust-recourse: warning: {printable(in_options(' '.join(str(message).split())))}", file=sys.stderr)  # noqa: T201
