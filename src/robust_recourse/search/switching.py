"""Categories switch first, to those of the cheapest boundary point; then a method moves the numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray
from robust_recourse.math.limits import Room
from robust_recourse.result.answer import Answer
from robust_recourse.result.status import Status
from robust_recourse.search.method import Method
from robust_recourse.search.task import Task
from robust_recourse.search.verify import Outcome, verify_points

__all__ = ["solve_switched", "switch", "with_price"]

_AT_ONCE = "With other categories, and no number changed, the model accepts the row; no cheaper switch was found."
_NO_NUMBERS = (
    "No number of this row may change, so that it has no neighbourhood and no odds to promise. Leave target_odds None, "
    "or let a number change."
)


def switch(task: Task, boundary: FloatArray) -> Task:
    """Give people the categories of their boundary points; what is left to change are their numbers."""
    numbers = ~task.limits.categories
    start = np.where(numbers, task.x0, boundary)
    snapped = task.snap(boundary, np.arange(len(task)))
    switched: BoolArray = ((snapped == task.x0) | ~numbers).all(axis=1)
    room = Room(task.limits, start, task.free & numbers)
    boundary = np.where(numbers, boundary, start)
    return replace(task, room=room, boundary=boundary, switched=switched, before=task.room)


def solve_switched(method: Method, task: Task) -> list[Answer]:
    """Let the method move the numbers of people whose categories have been switched, where that is not enough."""
    assert task.switched is not None
    # Who counts votes has something to ask where no number may change, too.
    done: BoolArray = np.asarray(~task.free.any(axis=1) & (not method.counts_votes))
    if not method.goes_beyond:
        done = done | task.switched
    moved = iter(method.solve(task.take(~done)) if not done.all() else [])
    ready = iter(_switched_only(method, task.take(done)) if done.any() else [])
    return [next(ready) if known else next(moved) for known in done]


def with_price(answer: Answer, x0: FloatArray, price: float) -> Answer:
    """Describe an answer to a switched person as one to the person itself: what the switches cost is added."""
    return replace(answer, x0=x0, cost=answer.cost + price, budget=answer.budget + price)


def _switched_only(method: Method, task: Task) -> list[Answer]:
    """Describe people who are accepted with their new categories as they are, after asking once more."""
    if method.promises:
        return [task.missing(i, Status.OUT_OF_REACH, _NO_NUMBERS) for i in range(len(task))]
    found, outcomes = np.ones(len(task), dtype=bool), [Outcome(Status.OK, _AT_ONCE)] * len(task)
    return verify_points(task, task.x0, found, outcomes)
