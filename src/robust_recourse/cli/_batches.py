"""Explaining many rows: batch by batch, and what is finished is kept until everything is."""

from __future__ import annotations

import math
import re
import sys
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
from joblib import effective_n_jobs

from robust_recourse.checkpoints import Store, rows_fingerprint
from robust_recourse.models.predictor import ModelError
from robust_recourse.result import Recourses
from robust_recourse.search.explain import accepted_rows
from robust_recourse.search.run import predictor
from robust_recourse.search.space import Space

__all__ = ["Batches"]

_FIRST = 32  # rows of the first batch, for each process
_GROWTH = 4  # of a batch from one to the next
_SECONDS = 20.0  # that a batch may take and still grow: it is lost when everything stops
_PAYS = 1.3  # times as many rows in a second, for which a batch grows although it takes longer


class Batches:
    """The rows of a table, of which some are explained already.

    Parameters
    ----------
    X : DataFrame
        The rows.
    name : str
        What messages call them.
    store : Store
        Where recourses are kept, batch by batch. A batch is used again only for exactly the rows that it answers.
    key : str
        What tells apart whatever gives other recourses.
    earlier : Recourses, optional
        What the rows were told before.
    """

    def __init__(self, X: pd.DataFrame, name: str, store: Store, key: str, earlier: Recourses | None = None) -> None:
        self._X, self._name, self._store, self._key, self._earlier = X, name, store, key, earlier

    def explain(self, method: Any, n_recourses: int, time_limit: float | None) -> Recourses:
        """Explain the rows as ``method.explain(X)`` does, all but those that are kept.

        Parameters
        ----------
        method : RecourseMethod
            A fitted method. A row gets the same recourse whatever it is explained with, so batches change nothing.
        n_recourses, time_limit
            As for `explain`; rows are explained in order, and those that are left when the time is over are the last.

        Raises
        ------
        KeyboardInterrupt
            With a message that says what is kept where.
        ModelError
            If the model cannot answer.
        """
        first, known = 0, dict(self._kept())
        deadline = math.inf if time_limit is None else time.monotonic() + time_limit
        size, speed = _FIRST * effective_n_jobs(method.n_jobs), 0.0
        parts: list[Recourses] = []
        self._ask(method)
        try:
            while first < len(self._X):
                last = known.pop(first, None)
                found = None if last is None else self._read(first, last)
                if found is None:
                    started = time.monotonic()
                    # Once the time is over, one call says so of all that are left.
                    most = first + size if started < deadline else len(self._X)
                    last = min([most, len(self._X), *(later for later in known if later > first)])
                    left = None if time_limit is None else max(deadline - started, 0.0)
                    found = self._explain(method, first, last, n_recourses, left)
                    if time.monotonic() < deadline:
                        self._store.write(
                            self._piece(first, last), found.to_json(indent=None).encode(), self._answers(first, last)
                        )
                    took = max(time.monotonic() - started, 1e-9)
                    before, speed = speed, (last - first) / took
                    # Batches never shrink: much of what one costs does not depend on its rows, so small ones are dear.
                    if took < _SECONDS or speed > _PAYS * before:
                        size *= _GROWTH
                    _tell(last, len(self._X))
                parts.append(found)
                assert last is not None
                first = last
        except KeyboardInterrupt as stop:
            raise type(stop)(self._left()) from None
        except ModelError as error:
            raise ModelError(f"In a batch of {self._name} that begins with row {first}: {error}") from error
        return Recourses.concat(parts or [self._explain(method, 0, 0, n_recourses, time_limit)])

    def _explain(self, method: Any, first: int, last: int, n_recourses: int, time_limit: float | None) -> Recourses:
        """Explain some rows; what looks like a mistake is a question about all of them."""
        told, X = {}, self._X.iloc[first:last]
        if self._earlier is not None:
            person = self._earlier.person
            told["earlier"] = self._earlier[(first <= person) & (person < last)]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The model accepts all")
            found: Recourses = method.explain(X, n_recourses, time_limit, unseen="ignore", **told)
        return found

    def forget(self) -> None:
        """Remove what is kept; what another command keeps in the same place is left, for it may be continued."""
        self._store.remove([self._piece(first, last) for first, last in self._kept()])

    def _ask(self, method: Any) -> None:
        """Ask the model about all rows as they are: one that it cannot take fails now, not after hours."""
        space = Space.of(method.schema_.read(self._X, self._name, fewest=0), method.moves_)
        accepted_rows(predictor(method, self._name), space)

    def _kept(self) -> list[tuple[int, int]]:
        """Return first and last row of every batch that is kept; the last one is not in it."""
        matches = (re.fullmatch(rf"{self._key}-(\d{{9}})-(\d{{9}})", key) for key in self._store.pieces())
        spans = [(int(match[1]), int(match[2])) for match in matches if match]
        return [(first, last) for first, last in spans if first < last <= len(self._X)]

    def _read(self, first: int, last: int) -> Recourses | None:
        piece = self._piece(first, last)
        content = self._store.read(piece, self._answers(first, last))
        if content is None:
            return None
        try:
            if not content.startswith(b"{"):
                raise ValueError("it is no document")  # and must not be taken for the name of one
            found = Recourses.from_json(content.decode())
            if not np.array_equal(np.unique(found.person), np.arange(last - first)):
                raise ValueError("it is about other people")
        except ValueError as error:
            self._store.refuse(piece, str(error))
            return None
        return found

    def _piece(self, first: int, last: int) -> str:
        return f"{self._key}-{first:09d}-{last:09d}"

    def _answers(self, first: int, last: int) -> str:
        return rows_fingerprint(self._X.iloc[first:last])

    def _left(self) -> str:
        finished = sum(last - first for first, last in self._kept())
        if not finished:
            return f"none of {len(self._X)} rows is finished, and nothing is kept."
        return (
            f"{finished} of {len(self._X)} rows are finished and kept in {self._store.folder}. Run the same command "
            "again to continue with the others."
        )


def _tell(done: int, total: int) -> None:
    if sys.stderr.isatty() and done < total:
        print(f"{done:,} of {total:,} rows are explained", end="\r", file=sys.stderr, flush=True)  # noqa: T201
