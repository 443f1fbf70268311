"""From a data set's raw columns to the numbers in which costs are measured."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from robust_recourse._typing import FloatArray
from robust_recourse.actions import ActionSet
from robust_recourse.paper.datasets import Dataset

__all__ = ["Encoding", "learn_encoding"]


@dataclass(frozen=True)
class Encoding:
    """Numbers standardised, categories as one column of 0 and 1 for each.

    Attributes
    ----------
    numbers : tuple of str
        Columns that are numbers, in order; they come first.
    categories : dict
        Values of every column of categories, in order.
    mean, scale : ndarray
        What is subtracted from the numbers, and what they are divided by.
    """

    numbers: tuple[str, ...]
    categories: dict[str, tuple[str, ...]]
    mean: FloatArray
    scale: FloatArray

    @property
    def columns(self) -> list[str]:
        """Names of the encoded columns."""
        return [*self.numbers, *(f"{name}={value}" for name, values in self.categories.items() for value in values)]

    def encode(self, frame: pd.DataFrame) -> FloatArray:
        """Return the rows of a frame as numbers."""
        numbers = (frame[list(self.numbers)].to_numpy(dtype=float) - self.mean) / self.scale
        dummies = [
            (frame[name].astype(str) == value).to_numpy(dtype=float)[:, None]
            for name, values in self.categories.items()
            for value in values
        ]
        return np.concatenate([numbers, *dummies], axis=1)

    def actions(self, actions: ActionSet) -> ActionSet:
        """Say the same about the encoded columns, by position: bounds are rescaled, 0 and 1 are bounds too."""
        columns = self.columns
        places = {name: [k] for k, name in enumerate(self.numbers)}
        for name, values in self.categories.items():
            places[name] = [columns.index(f"{name}={value}") for value in values]

        def find(names: Sequence[Hashable]) -> list[int]:
            return [k for name in names for k in places[str(name)]]

        bounds: dict[Hashable, tuple[float | None, float | None]] = {}
        for k in find(list(self.categories)):
            bounds[k] = (0.0, 1.0)
        for column, pair in actions.bounds.items():
            k = places[str(column)][0]
            low, high = (None if end is None else float((end - self.mean[k]) / self.scale[k]) for end in pair)
            bounds[k] = (low, high)
        weights: dict[Hashable, float] = {}
        for column, weight in actions.weights.items():
            for k in places[str(column)]:
                # Of a unit of the encoded column.
                weights[k] = weight * float(self.scale[k]) if k < len(self.numbers) else weight
        return ActionSet(
            immutable=find(actions.immutable),
            increase=find(actions.increase),
            decrease=find(actions.decrease),
            bounds=bounds,
            weights=weights,
        )


def learn_encoding(data: Dataset, rows: pd.DataFrame, *, standardise: bool) -> Encoding:
    """Learn means and standard deviations from `rows`; categories are all that D1 or D2 has.

    A column that is constant in `rows` is only centred.
    """
    numbers = tuple(name for name in data.columns if data.kinds[name] != "category")
    categories = {
        name: tuple(sorted({*data.D1[name].astype(str), *data.D2[name].astype(str)}))
        for name in data.columns
        if data.kinds[name] == "category"
    }
    table = rows[list(numbers)].to_numpy(dtype=float)
    mean, scale = np.zeros(len(numbers)), np.ones(len(numbers))
    if standardise:
        mean, spread = table.mean(axis=0), table.std(axis=0)
        scale = np.where(spread > 0.0, spread, 1.0)
    return Encoding(numbers, categories, mean, scale)
