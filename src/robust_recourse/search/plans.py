"""What is done with the answers of many people, of whom each has one or more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from robust_recourse._typing import FloatArray, IntArray
from robust_recourse.result.answer import Answer
from robust_recourse.search.space import Space

__all__ = ["asked_about", "counting", "each"]

_BATCH = 8192  # rows that a model is asked about together


def asked_about(space: Space, found: list[list[Answer]], ask: Callable[[Any, IntArray], FloatArray]) -> FloatArray:
    """Ask about the rows that answers stand for, person by person; NaN where there is none."""
    people = np.repeat(np.arange(len(found)), [len(answers) for answers in found])
    points = np.array([answer.x for answers in found for answer in answers]).reshape(len(people), space.points.shape[1])
    value, some = np.full(len(people), np.nan), np.flatnonzero(~np.isnan(points).any(axis=1))
    for first in range(0, len(some), _BATCH):
        part = some[first : first + _BATCH]
        rows = space.decode(space.legal(points[part], people[part]), people[part])
        value[part] = ask(rows, space.rows_of(people[part]))
    return value


def each(found: list[list[Answer]], change: Callable[[Answer, int], Answer]) -> list[list[Answer]]:
    """Change every answer; it is told its place among all."""
    places = iter(range(sum(map(len, found))))
    return [[change(answer, next(places)) for answer in answers] for answers in found]


def counting(before: list[Answer], after: list[Answer]) -> list[Answer]:
    """Count the questions of a search that was in vain, too."""
    # Every search counts the question about the row itself.
    asked = sum(answer.n_queries for answer in before) - 1
    return [replace(after[0], n_queries=after[0].n_queries + asked), *after[1:]]
