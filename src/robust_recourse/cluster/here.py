"""Parts one after another, in this process."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = ["Late", "Outcome", "run_here"]

Outcome = tuple[Any, dict[str, Any] | None, str]
"""A part, what is known about it, and why nothing is."""


class Late(BaseException):
    """A part took too long; no error of a model, which somebody might handle."""


def run_here(
    work: Callable[[Any], dict[str, Any]], parts: Iterable[Any], time_limit: float | None
) -> Iterator[Outcome]:
    """Yield each part with what became of it.

    Raises
    ------
    OSError
        If results cannot be written.
    """
    for part in parts:
        try:
            with limited(time_limit):
                done = work(part)
        except (OSError, MemoryError):
            raise
        except Late as late:
            yield part, None, str(late)
        except Exception as error:
            yield part, None, why(error)
        else:
            yield part, done, ""


def why(error: BaseException) -> str:
    """Say in a line why a part failed."""
    text = " ".join(str(error).split())
    return text if isinstance(error, ValueError | TimeoutError) and text else f"{type(error).__name__}: {text}"


@contextmanager
def limited(seconds: float | None) -> Iterator[None]:
    """Raise :class:`Late` in what takes too long, if this is the main thread of a system with such a clock."""
    if seconds is None or threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise Late(f"it took longer than {seconds:g} seconds.")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
