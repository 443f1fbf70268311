"""What is known about the search for a recourse: its trace and samples, or why there is nothing to draw."""

from __future__ import annotations

import numpy as np

from robust_recourse._typing import BoolArray
from robust_recourse.result import Recourse, Trace
from robust_recourse.sampling.neighbourhood import Neighbourhood
from robust_recourse.search.doing import may_move

__all__ = ["has_boundary", "may_change", "trace_of", "way_of"]


def trace_of(recourse: Recourse) -> tuple[Trace, Neighbourhood]:
    """Return the trace with its neighbourhood, or raise with the reason why there is none."""
    if not isinstance(recourse, Recourse):
        raise TypeError(f"recourse must be one recourse, as found[0], got {type(recourse).__name__}.")
    if recourse.trace is None:
        raise ValueError(
            "There is nothing to draw: files do not hold the neighbourhoods. Explain the row again with the method."
        )
    if recourse.trace.neighbourhood is None:
        raise ValueError(
            f"There is nothing to draw: no neighbourhood was sampled, the status is {str(recourse.status)!r}. "
            f"{recourse.reason} Draw a recourse of a Bayesian method that has one."
        )
    return recourse.trace, recourse.trace.neighbourhood


def way_of(recourse: Recourse) -> tuple[Trace, Neighbourhood]:
    """Return the trace with its neighbourhood; of a recourse that needed none with one that is empty."""
    trace = recourse.trace if isinstance(recourse, Recourse) else None
    if trace is None or trace.neighbourhood is not None or not recourse.cost > 0.0:
        return trace_of(recourse)
    centre = trace.boundary if has_boundary(trace) else trace.x
    numbers, nobody = may_change(trace) & trace.moves.numbers, np.zeros(0, dtype=bool)
    return trace, Neighbourhood(trace.x0, numbers, centre, 1.0, nobody, 0)


def has_boundary(trace: Trace) -> bool:
    """Whether the search began at a boundary point; a figure is one through the recourse where it did not."""
    return bool(np.isfinite(trace.boundary).all())


def may_change(trace: Trace) -> BoolArray:
    """Return the columns that the person may change, of shape (p,)."""
    moves = trace.moves
    free: BoolArray = may_move(moves.limits(), moves, trace.x0[None], trace.missing[None])[0]
    return free
