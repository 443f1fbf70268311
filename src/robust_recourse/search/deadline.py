"""When a search stops: at a time, or when nobody waits for it any more."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from robust_recourse.sampling.asking import OutOfTime

__all__ = ["Deadline", "check_time", "is_timed"]


@dataclass(frozen=True)
class Deadline:
    """When a search stops.

    Attributes
    ----------
    at : float
        Seconds since the epoch; infinite if there is no time limit. People are then searched for in smaller tasks, so
        that those whose turn has come are not lost with the others.
    stopped : callable, optional
        Says whether to stop at once, whatever the time is. It is asked before every question to the model.
    """

    at: float = math.inf
    stopped: Callable[[], bool] | None = None

    @property
    def passed(self) -> bool:
        """Whether nothing more shall be asked."""
        return time.time() > self.at or (self.stopped is not None and self.stopped())


def check_time(deadline: Deadline | None) -> None:
    """Raise if the deadline has passed."""
    if deadline is not None and deadline.passed:
        raise OutOfTime


def is_timed(deadline: Deadline | None) -> bool:
    """Whether there is a time limit."""
    return deadline is not None and deadline.at < math.inf
