"""Configurations of a method, measured on some people and some future models; what is finished is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone

from robust_recourse._files import part_key
from robust_recourse._provenance import source, versions
from robust_recourse._typing import FloatArray, IntArray
from robust_recourse.checkpoints import Store
from robust_recourse.futures import FutureModels
from robust_recourse.result.future import Share, judged_together
from robust_recourse.tables.rows import take
from robust_recourse.tuning._tunable import Tunable

__all__ = ["EXACT", "Measured", "Study"]

EXACT = 12  # digits of a validity: 18 of 20 are 0.9, and not a bit less


@dataclass(frozen=True, eq=False)
class Measured:
    """What a configuration does for some people.

    Attributes
    ----------
    parameters : mapping
        The configuration.
    costs : ndarray of shape (n,)
        Cost of each person's recourse; NaN where there is none.
    shares : ndarray of shape (n,)
        Share of the models that accept it; 0 where there is none.
    answers : ndarray of shape (m,)
        Share of the people whose recourse each model accepts.
    n_queries : int
        Rows that the present model was asked for.
    """

    parameters: Mapping[str, Any]
    costs: FloatArray
    shares: FloatArray
    answers: FloatArray
    n_queries: int

    @property
    def validity(self) -> float:
        """Mean future validity; who has no recourse counts as not accepted."""
        return round(float(self.shares.mean()), EXACT)

    @property
    def error(self) -> float:
        """Standard error of the validity, over people and over models."""
        people, models = (values.var(ddof=1) / len(values) for values in (self.shares, self.answers))
        return float(np.sqrt(people + models))

    @property
    def missing(self) -> float:
        """Share of the people without a recourse."""
        return float(np.isnan(self.costs).mean())

    @property
    def cost(self) -> float:
        """Mean cost; who has no recourse counts with the dearest of the others, so that losing people saves little."""
        known = self.costs[~np.isnan(self.costs)]
        return float(np.where(np.isnan(self.costs), known.max(), self.costs).mean()) if len(known) else np.inf

    def interval(self, level: float = 0.95) -> Share:
        """Return the validity with an interval."""
        return judged_together(self.shares, len(self.answers), level)._replace(share=self.validity)


class _Numbers(NamedTuple):
    """What a measurement consists of; see `Measured`."""

    costs: FloatArray
    shares: FloatArray
    answers: FloatArray
    n_queries: int


class Study:
    """The people and the models on which configurations are measured.

    Parameters
    ----------
    method : Tunable
        The method, with its model and action set.
    X : table
        Training rows, to fit it.
    people : table
        Refused rows.
    folder : Path or None
        Where measurements are kept.
    facts : str
        What the measurements depend on, besides what they are called with.
    n_jobs : int or None
        Number of processes.
    """

    def __init__(
        self, method: Tunable, X: Any, people: Any, folder: Path | None, facts: str, n_jobs: int | None = None
    ) -> None:
        self._method, self._X, self._people, self._n_jobs = method, X, people, n_jobs
        self._store = None if folder is None else Store(folder / "measured")
        self._facts = (versions(), source(), facts)
        self._known: dict[str, _Numbers] = {}  # measured or read in this run
        self.work = 0  # recourses that were asked for, also in earlier runs

    def measure(
        self, configurations: Sequence[Mapping[str, Any]], rows: IntArray, models: FutureModels, name: str
    ) -> Iterator[Measured]:
        """Measure configurations on some of the people; `name` tells the models from others.

        What was measured before is read. The others are measured in parallel, and kept by the process that is done.
        """
        self.work += len(configurations) * len(rows)
        people, store = take(self._people, rows), self._store
        keys = [part_key(self._facts, dict(parameters), rows.tolist(), name) for parameters in configurations]
        for key in keys:
            old = None if store is None or key in self._known else _read(store, key, len(rows))
            if old is not None:
                self._known[key] = old
        missing = [key not in self._known for key in keys]
        jobs = (
            delayed(_measure)(self._method, self._X, people, models, parameters, store, key)
            for parameters, key, new in zip(configurations, keys, missing, strict=True)
            if new
        )
        with store.writing() if store is not None and any(missing) else nullcontext():
            measured = Parallel(n_jobs=self._n_jobs, return_as="generator")(jobs)
            for parameters, key, new in zip(configurations, keys, missing, strict=True):
                if new:
                    self._known[key] = next(measured)
                yield Measured(parameters, *self._known[key])


def _measure(
    method: Tunable,
    X: Any,
    people: Any,
    models: FutureModels,
    parameters: Mapping[str, Any],
    store: Store | None,
    key: str,
) -> _Numbers:
    found = clone(method).set_params(**parameters).fit(X).explain(people, unseen="ignore")
    future = found.future_validity(models)
    answers = future.accepted.mean(axis=0)
    numbers = _Numbers(found.cost, future.by_person, answers, int(found.n_queries.sum()))
    if store is not None:
        # NaN is what Python writes for somebody without a recourse, and reads again.
        store.write(key, json.dumps([part if isinstance(part, int) else part.tolist() for part in numbers]).encode())
    return numbers


def _read(store: Store, key: str, n_people: int) -> _Numbers | None:
    """Return what is kept; None if it is not there, or makes no sense."""
    content = store.read(key)
    if content is None:
        return None
    try:
        *parts, n_queries = json.loads(content)
        costs, shares, answers = (np.array(part, dtype=float) for part in parts)
        if not costs.shape == shares.shape == (n_people,) or answers.ndim != 1:
            raise ValueError("it is about other people")
        return _Numbers(costs, shares, answers, int(n_queries))
    except (RecursionError, TypeError, ValueError) as error:
        store.refuse(key, str(error))
        return None
