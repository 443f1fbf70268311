"""Models of the future, and what happened to each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, overload

import numpy as np
import pandas as pd

from robust_recourse._typing import BoolArray, IntArray
from robust_recourse._validation import check_integer

__all__ = ["FutureModels", "listed"]

_Texts = np.ndarray[Any, np.dtype[np.object_]]


@dataclass(frozen=True, eq=False, repr=False)
class FutureModels(Sequence[Any]):
    """Retrained models; index or iterate for single ones.

    A slice, or an array of numbers or booleans, gives some of them, with what is known about them. Models of several
    calls are put together with ``+``.

    Attributes
    ----------
    models : tuple
        The models.
    scenario : ndarray of str, shape (n,)
        The name of the scenario of each.
    number : ndarray of int, shape (n,)
        Its number in that scenario.
    note : ndarray of str, shape (n,)
        What was drawn for it, if that can be said in a word.
    """

    models: tuple[Any, ...]
    scenario: _Texts
    number: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    note: _Texts = field(default_factory=lambda: np.empty(0, dtype=object))

    def __post_init__(self) -> None:
        checked = {
            "models": tuple(self.models),
            "scenario": np.array(list(self.scenario), dtype=object),
            "number": np.array(self.number, dtype=np.int64),
            "note": np.array(list(self.note), dtype=object),
        }
        n = len(checked["models"])
        if not len(checked["number"]):
            checked["number"] = np.arange(n)
        if not len(checked["note"]):
            checked["note"] = np.full(n, "", dtype=object)
        for name, values in checked.items():
            if len(values) != n:
                raise ValueError(f"{name} must have one entry for each of the {n} models, got {len(values)}.")
            object.__setattr__(self, name, values)

    def __len__(self) -> int:
        return len(self.models)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.models)

    @overload
    def __getitem__(self, i: int) -> Any: ...
    @overload
    def __getitem__(self, i: slice | IntArray | BoolArray) -> FutureModels: ...
    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, Integral):
            return self.models[int(i)]
        places = np.arange(len(self))[i]
        models = tuple(self.models[place] for place in places)
        return FutureModels(models, self.scenario[places], self.number[places], self.note[places])

    def __add__(self, other: FutureModels) -> FutureModels:
        if not isinstance(other, FutureModels):
            return NotImplemented
        pairs = ((getattr(self, name), getattr(other, name)) for name in ("scenario", "number", "note"))
        return FutureModels(self.models + other.models, *(np.concatenate(pair) for pair in pairs))

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(part)} {name}" for name, part in self.by_scenario().items())
        return f"FutureModels({len(self)} models{': ' if counts else ''}{counts})"

    def by_scenario(self) -> dict[str, FutureModels]:
        """Return the models of every scenario, by its name."""
        return {str(name): self[self.scenario == name] for name in dict.fromkeys(self.scenario)}

    def split(self, n: int) -> tuple[FutureModels, FutureModels]:
        """Return the first `n` models of every scenario, and the others: some to choose with, some to verify with."""
        n = check_integer(n, "n", minimum=1)
        rank = np.empty(len(self), dtype=np.int64)
        for name in dict.fromkeys(self.scenario):
            places = np.flatnonzero(self.scenario == name)
            rank[places] = np.arange(len(places))
        return self[rank < n], self[rank >= n]

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a line for every model: scenario, number and note."""
        return pd.DataFrame({"scenario": self.scenario, "number": self.number, "note": self.note})


def listed(models: Any, name: str) -> tuple[Any, ...]:
    """Return several models as a tuple of at least one."""
    if isinstance(models, Mapping) and models:
        raise TypeError(f"{name} must be a sequence of models, got a mapping. Pass list({name}.values()).")
    one = callable(models) or callable(getattr(models, "predict", None))
    if one or isinstance(models, str) or not np.iterable(models):
        raise TypeError(f"{name} must be a sequence of models, got one {type(models).__name__}. Pass a list, [model].")
    several = tuple(models)
    if not several:
        raise ValueError(f"{name} is empty: at least one retrained model is needed.")
    return several
