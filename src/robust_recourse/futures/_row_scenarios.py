"""Scenarios in which the data change: each draws the rows and labels of a future model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import pandas as pd

from robust_recourse._typing import IntArray
from robust_recourse._validation import check_share
from robust_recourse.futures._scenario import Drawn, Present, Scenario, check_pair, check_part, number_of
from robust_recourse.futures.rows import TrainingData, append
from robust_recourse.models.errors import name_rows
from robust_recourse.tables.foreign import is_frame

__all__ = ["Arrival", "Bootstrap", "Deletion", "LabelNoise", "Seeds", "Temporal"]

_NUMBERS = ("integer", "floating", "mixed-integer-float", "decimal", "timedelta", "timedelta64")
_DATES = ("date", "datetime", "datetime64", "period")


@dataclass(frozen=True)
class Bootstrap(Scenario):
    """The data might have been others from the same source: as many rows, drawn with replacement."""

    kind = "bootstrap"

    def draw(self, rng: np.random.Generator, data: TrainingData) -> Drawn:
        """Draw with replacement."""
        return Drawn(rng.integers(len(data), size=len(data)))


@dataclass(frozen=True)
class Seeds(Scenario):
    """The same data, another seed: what the randomness of training alone can change."""

    kind = "seeds"

    def draw(self, rng: np.random.Generator, data: TrainingData) -> Drawn:  # noqa: ARG002
        """Keep every row."""
        return Drawn(np.arange(len(data)))


@dataclass(frozen=True)
class Deletion(Scenario):
    """Some people have their rows deleted, as the right to be forgotten allows.

    Parameters
    ----------
    share : float
        Share of the rows that are deleted, between 0 and 1; at least one row is.
    """

    kind = "deletion"

    share: float = 0.1

    def _checked(self) -> Mapping[str, Any]:
        return {"share": check_part(self.share, "Deletion: share")}

    def draw(self, rng: np.random.Generator, data: TrainingData) -> Drawn:
        """Delete rows at random; the others stay in order."""
        gone = rng.choice(len(data), number_of(self.share, len(data) - 1, len(data)), replace=False)
        return Drawn(np.delete(np.arange(len(data)), gone))


@dataclass(frozen=True)
class LabelNoise(Scenario):
    """Some labels were wrong: they are exchanged for another class.

    Parameters
    ----------
    share : float
        Share of the labels that change, above 0 and at most 1; at least one does.
    """

    kind = "label noise"

    share: float = 0.05

    def _checked(self) -> Mapping[str, Any]:
        return {"share": check_share(self.share, "LabelNoise: share")}

    def prepare(self, present: Present) -> tuple[TrainingData, Self]:
        """Check that there are classes."""
        if present.data.codes is None:
            raise ValueError(f"The scenario {self.name!r} needs classes, but y has numbers to regress on.")
        return present.data, self

    def draw(self, rng: np.random.Generator, data: TrainingData) -> Drawn:
        """Change labels at random."""
        assert data.codes is not None
        codes, k = data.codes.copy(), len(data.examples)
        wrong = rng.choice(len(data), number_of(self.share, len(data), len(data)), replace=False)
        codes[wrong] = (codes[wrong] + rng.integers(1, k, size=len(wrong))) % k
        return Drawn(np.arange(len(data)), codes)


@dataclass(frozen=True, eq=False)
class Arrival(Scenario):
    """New data arrive, and the model is trained on the present and a random part of the new.

    Parameters
    ----------
    X_new : DataFrame or array_like of shape (m, p)
        New rows, in the columns of the present ones.
    y_new : array_like of shape (m,)
        Their labels.
    share : float
        Share of the new rows that a model gets, above 0 and at most 1; at least one row.
    """

    kind = "arrival"

    X_new: Any = field(repr=False)
    y_new: Any = field(repr=False)
    share: float = 0.2

    def _checked(self) -> Mapping[str, Any]:
        return {"share": check_share(self.share, "Arrival: share")}

    def prepare(self, present: Present) -> tuple[TrainingData, Self]:
        """Put the new rows behind the present ones."""
        return append(present.data, self.X_new, self.y_new), replace(self, X_new=None, y_new=None)

    def draw(self, rng: np.random.Generator, data: TrainingData) -> Drawn:
        """Draw some of the new rows."""
        n_new = len(data) - data.n_present
        arrived = data.n_present + rng.choice(n_new, number_of(self.share, n_new, n_new), replace=False)
        return Drawn(np.concatenate([np.arange(data.n_present), arrived]))


@dataclass(frozen=True, eq=False)
class Temporal(Scenario):
    """Time passes, and the model forgets the oldest rows.

    Parameters
    ----------
    time : array_like of shape (n,) or column
        When every row is from: numbers or dates, or the name of the column of `X` that says so (the number of the
        column if `X` is an array).
    oldest : (float, float) or float
        Between which shares of the rows are forgotten. The share is drawn for every model, and the rows that are
        forgotten are the oldest; among rows of the same time chance decides.
    """

    kind = "temporal"

    time: Any = field(repr=False)
    oldest: tuple[float, float] | float = (0.1, 0.5)

    def _checked(self) -> Mapping[str, Any]:
        low, high = check_pair(self.oldest, "Temporal: oldest")
        return {"oldest": (check_part(low, "Temporal: oldest"), check_part(high, "Temporal: oldest"))}

    def prepare(self, present: Present) -> tuple[TrainingData, Self]:
        """Put the rows in order."""
        return replace(present.data, times=_places_in_time(self.time, present.data.X)), replace(self, time=None)

    def draw(self, rng: np.random.Generator, data: TrainingData) -> Drawn:
        """Draw how many of the oldest rows go."""
        assert data.times is not None
        share = rng.uniform(*check_pair(self.oldest, "Temporal: oldest"))
        old = np.lexsort((rng.random(len(data)), data.times))[: number_of(share, len(data) - 1, len(data))]
        return Drawn(np.delete(np.arange(len(data)), old), note=f"without the oldest {share:.1%}")


def _places_in_time(time: Any, X: Any) -> IntArray:
    """Return a number for every row of `X`, larger for later rows and the same for rows of the same time."""
    named = isinstance(time, str) or np.ndim(time) == 0
    values = _column(X, time) if named else time
    source = f"column {time!r} of X" if named else "time"
    of_pandas = isinstance(values, pd.Series | pd.Index | pd.api.extensions.ExtensionArray)
    series = pd.Series(values if of_pandas else np.asarray(values))
    if len(series) != len(X):
        raise ValueError(f"Temporal: time must have one value for each of the {len(X)} rows of X, got {len(series)}.")
    missing = np.flatnonzero(series.isna().to_numpy())
    if len(missing):
        raise ValueError(f"Temporal: {source} has no time in {name_rows(missing)}. Fill it in, or leave the rows out.")
    kind = pd.api.types.infer_dtype(series)
    if kind not in (*_NUMBERS, *_DATES) and not (isinstance(series.dtype, pd.CategoricalDtype) and series.cat.ordered):
        raise TypeError(
            f"Temporal: {source} must hold numbers or dates, got {series.iloc[0]!r} ({kind}). pandas.to_datetime reads "
            "dates from texts."
        )
    if series.nunique() < 2:
        raise ValueError(f"Temporal: {source} is {series.iloc[0]} in every row, so that no row is older than others.")
    if isinstance(series.dtype, pd.CategoricalDtype):
        return np.asarray(series.cat.codes, dtype=np.int64)
    return np.asarray(pd.factorize(series, sort=True)[0], dtype=np.int64)


def _column(X: Any, name: Any) -> Any:
    if is_frame(X):
        if name not in X.columns:
            raise ValueError(f"Temporal: X has no column {name!r}. Its columns are {', '.join(map(repr, X.columns))}.")
        return X[name]
    if not isinstance(name, int | np.integer) or isinstance(name, bool):
        raise ValueError(f"Temporal: X is an array, its columns have no names such as {name!r}. Give the number.")
    if not -X.shape[1] <= name < X.shape[1]:
        raise ValueError(f"Temporal: X has no column {name}. Its columns are 0 to {X.shape[1] - 1}.")
    return X[:, name]
