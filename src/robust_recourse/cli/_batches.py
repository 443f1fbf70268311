"""Explaining many rows: batch by batch, and what is finished is kept in a file until everything is."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import effective_n_jobs

from robust_recourse._typing import FloatArray
from robust_recourse.methods._collect import collect
from robust_recourse.methods._space import Space
from robust_recourse.methods.base import RecourseMethod
from robust_recourse.models.predictor import ModelError
from robust_recourse.result import Answer, Recourse, Recourses, Status

__all__ = ["Kept", "explain_all"]

_FIRST = 32  # rows of the first batch, for each process
_GROWTH = 4  # of a batch from one to the next
_SECONDS = 20.0  # that a batch may take and still grow: it is lost when everything stops
_PAYS = 1.3  # times as many rows in a second, for which a batch grows although it takes longer


class Kept:
    """The recourses of the people that are finished, in a file with a line for each.

    Parameters
    ----------
    path : Path
        The file. Its name must tell apart whatever gives other recourses.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, points: FloatArray) -> list[list[Answer]]:
        """Return what is there: that of the first people; `points` are the rows of all. A damaged end is cut off."""
        people: list[list[Answer]] = []
        if not self.path.exists():
            return people
        whole = 0
        with self.path.open("r+b") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break  # torn, even if it reads well: what is appended would continue it
                try:
                    people.append([_recourse(entry, points[len(people)]) for entry in json.loads(line)])
                except (AttributeError, IndexError, KeyError, TypeError, ValueError):
                    break
                whole += len(line)
            file.truncate(whole)
        return people

    def append(self, people: list[list[Answer]]) -> None:
        """Keep more, for good: it is on the disk when this returns."""
        with self.path.open("ab") as file:
            file.writelines(json.dumps([_entry(recourse) for recourse in known]).encode() + b"\n" for known in people)
            file.flush()
            os.fsync(file.fileno())

    def remove(self) -> None:
        """Forget everything."""
        self.path.unlink(missing_ok=True)


def explain_all(
    method: RecourseMethod, X: pd.DataFrame, name: str, kept: Kept, n_recourses: int, time_limit: float | None
) -> Recourses:
    """Explain the rows of a table as ``method.explain(X)`` does, continuing after those that are kept.

    Parameters
    ----------
    method : RecourseMethod
        A fitted method. A row gets the same recourse whatever it is explained with, so batches change nothing.
    X : DataFrame
        The rows.
    name : str
        What messages call them.
    kept : Kept
        Where what is finished is kept.
    n_recourses, time_limit
        As for `explain`; rows are explained in order, and those that are left when the time is over are the last.

    Raises
    ------
    KeyboardInterrupt
        With a message that says what is kept where.
    ModelError
        If the model cannot answer.
    """
    deadline = math.inf if time_limit is None else time.monotonic() + time_limit
    space = Space(method.schema_.read(X, name), method.moves_, np.arange(len(X)))
    method._accepted(space, name)  # a row that the model cannot take fails now
    people = kept.read(space.points)
    size, speed = _FIRST * effective_n_jobs(method.n_jobs), 0.0
    try:
        while len(people) < len(X):
            first, started = len(people), time.monotonic()
            # Once the time is over, one call says so of all that are left.
            last = first + size if started < deadline else len(X)
            left = None if time_limit is None else max(deadline - started, 0.0)
            found = list(_people(method.explain(X.iloc[first:last], n_recourses, left)))
            if time.monotonic() < deadline:
                kept.append(found)
            people += found
            took = max(time.monotonic() - started, 1e-9)
            before, speed = speed, len(found) / took
            # Batches never shrink: much of what one costs does not depend on its rows, so small ones are dear.
            if took < _SECONDS or speed > _PAYS * before:
                size *= _GROWTH
            _tell(len(people), len(X))
    except KeyboardInterrupt:
        if not kept.path.exists():
            raise KeyboardInterrupt(f"none of {len(X)} rows is finished, and nothing is kept.") from None
        raise KeyboardInterrupt(
            f"{len(people)} of {len(X)} rows are finished and kept in {kept.path}. Run the same command again to "
            "continue with the others."
        ) from None
    except ModelError as error:
        raise ModelError(f"In a batch of {name} that begins with row {first}: {error}") from error
    return collect(method, space, people)


def _people(found: Recourses) -> Iterator[list[Answer]]:
    """Yield the recourses person by person, without the samples around them, which nobody will look at."""
    for _, entries in groupby(zip(found.person, found, strict=True), key=lambda pair: pair[0]):
        yield [_answer(recourse) for _, recourse in entries]


def _answer(recourse: Recourse) -> Answer:
    assert recourse.trace is not None
    names = ("cost", "budget", "valid", "status", "reason", "log_worst_case_odds", "n_queries")
    points = {name: getattr(recourse.trace, name) for name in ("x0", "x", "boundary")}
    return Answer(**points, **{name: getattr(recourse, name) for name in names})


def _entry(recourse: Answer) -> dict[str, Any]:
    return {
        "x": recourse.x.tolist(),
        "boundary": recourse.boundary.tolist(),
        "cost": float(recourse.cost),
        "budget": float(recourse.budget),
        "valid": bool(recourse.valid),
        "status": str(recourse.status),
        "reason": recourse.reason,
        "log_worst_case_odds": float(recourse.log_worst_case_odds),
        "n_queries": int(recourse.n_queries),
    }


def _recourse(entry: dict[str, Any], x0: FloatArray) -> Answer:
    x, boundary = (np.array(entry.pop(name), dtype=float) for name in ("x", "boundary"))
    if x.shape != x0.shape or boundary.shape != x0.shape:
        raise ValueError("This is the recourse of another table.")
    return Answer(x0=x0, x=x, boundary=boundary, status=Status(entry.pop("status")), **entry)


def _tell(done: int, total: int) -> None:
    if sys.stderr.isatty() and done < total:
        print(f"{done:,} of {total:,} rows are explained", end="\r", file=sys.stderr, flush=True)  # noqa: T201
