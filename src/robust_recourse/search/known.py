"""What a model that can be seen through says of people, before anything is searched for."""

from __future__ import annotations

import numpy as np

from robust_recourse.search.exact import Exact
from robust_recourse.search.leaves import cheapest_leaves
from robust_recourse.search.method import Method
from robust_recourse.search.sums import cheapest_sum
from robust_recourse.search.task import Task

__all__ = ["known_points"]


def known_points(method: Method, task: Task, most: int | None = None) -> Exact | None:
    """Return the cheapest accepted points of linear models, and good ones of a tree; None of other models.

    With `most`, only so many columns may change. A method that asks for the paper's search alone has no other.
    """
    exact = cheapest_sum(method, task, most) if method.look().polished else None
    if exact is not None:
        return exact
    leaves = cheapest_leaves(method, task, most)
    return None if leaves is None else Exact(leaves, np.zeros(len(task), dtype=bool), cheapest=False)
