"""Many searches at once: grouped by what may change, in parallel, until the time is over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from robust_recourse._progress import track
from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.methods._space import OutOfTime, Space, check_time
from robust_recourse.result import Answer, Status

__all__ = ["Group", "out_of_time", "run"]

_CHUNK_ROWS = 512
_LIMITED_ROWS = 64  # of a chunk if there is a time limit: what a chunk has not finished is lost
_OUT_OF_TIME = (
    "The time limit passed before this row was explained. Explain it again, with a longer time_limit or none."
)


class Group(NamedTuple):
    """Rows that may change the same columns."""

    rows: IntArray  # their numbers in the table
    mask: BoolArray  # (p,)
    where: IntArray  # what they are among all searches


def run(method: Any, space: Space, rows: IntArray, masks: BoolArray, deadline: float | None) -> list[Answer]:
    """Find one recourse for every search: a row, and the columns that may change in it.

    Parameters
    ----------
    method : RecourseMethod
        The method.
    space : Space
        The table.
    rows : ndarray of int, shape (n,)
        Numbers of the rows; they may repeat.
    masks : ndarray of bool, shape (n, p)
        The columns that may change.
    deadline : float or None
        When to stop, in seconds since the epoch.
    """
    groups = list(_groups(method, rows, masks, deadline))
    found: list[Answer | None] = [None] * len(rows)
    for group, recourses in zip(groups, _results(method, space, groups, deadline), strict=True):
        for place, recourse in zip(group.where, recourses, strict=True):
            found[place] = recourse
    return [recourse for recourse in found if recourse is not None]


def _groups(method: Any, rows: IntArray, masks: BoolArray, deadline: float | None) -> Iterator[Group]:
    """Group the searches by columns, and cut the groups to a size that fits in memory."""
    if not len(rows):
        return
    kinds, group = np.unique(masks, axis=0, return_inverse=True)
    most = _CHUNK_ROWS if deadline is None else _LIMITED_ROWS
    share = -(-len(rows) // effective_n_jobs(method.n_jobs))
    for k, mask in enumerate(kinds):
        members = np.flatnonzero(group.ravel() == k)
        members = members[np.argsort(rows[members], kind="stable")]
        size = int(np.clip(method._rows_at_once(int(mask.sum())), 1, min(most, share)))
        for first in range(0, len(members), size):
            part = members[first : first + size]
            yield Group(rows[part], mask, part)


def _results(method: Any, space: Space, groups: list[Group], deadline: float | None) -> Iterator[list[Answer]]:
    if effective_n_jobs(method.n_jobs) == 1 or len(groups) < 2:
        results = (_explain(method, space, group, deadline) for group in groups)
    else:
        parallel = Parallel(n_jobs=method.n_jobs, return_as="generator")
        # Only the rows of a group travel to its process.
        results = parallel(
            delayed(_explain)(method, space.take(np.unique(group.rows)), group, deadline) for group in groups
        )
    return track(results, "explaining", len(groups))


def _explain(method: Any, space: Space, group: Group, deadline: float | None) -> list[Answer]:
    try:
        check_time(deadline)
        found: list[Answer] = method._explain_group(space, group.rows, group.mask, deadline)
    except OutOfTime:
        return [out_of_time(x0) for x0 in space.points[space.place(group.rows)]]
    return found


def out_of_time(x0: FloatArray, n_queries: int = 1) -> Answer:
    """Describe a row that the time limit left out."""
    return Answer.missing(x0, Status.TIME_LIMIT, _OUT_OF_TIME, n_queries)
