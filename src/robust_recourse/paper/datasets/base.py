"""What a data set is: present data, shifted data, and what a reader must know about them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
import pandas as pd
from pandas.api import types

from robust_recourse._typing import IntArray
from robust_recourse.actions import ActionSet

__all__ = ["Dataset", "Kind"]

Kind: TypeAlias = Literal["continuous", "integer", "binary", "category"]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Present data D1 and shifted data D2 with the same columns.

    Attributes
    ----------
    name, title : str
        What :func:`robust_recourse.paper.datasets.load` calls it, and what a page calls it.
    D1, D2 : DataFrame
        Present and shifted data: the features and the label, without missing values.
    label : str
        Name of the label's column.
    favourable : hashable
        Value of the label that a person wants.
    kinds : mapping from column to {"continuous", "integer", "binary", "category"}
        Kind of every feature. Continuous columns are floats, integer columns integers, binary columns the integers
        0 and 1, and categories have a categorical dtype with the same categories in D1 and D2.
    actions : ActionSet
        What a person in these data could change, by the names of the features. An experiment that wants the paper's
        setting, in which everything may change, leaves it out.
    citation, licence : str
        Whom to cite, and under which terms the files stand.
    notes : str
        What a reader must know before using the data.
    hashes : mapping from file name to str
        The sha256 of every file that was read, uncompressed; empty for generated data.
    shared : ndarray of int, shape (len(D2),)
        For every row of D2 the position of the row of D1 that is the same case, -1 where there is none. A future
        model that learns from D2 must leave out the cases that are being explained.
    """

    name: str
    title: str
    D1: pd.DataFrame
    D2: pd.DataFrame
    label: str
    favourable: Hashable
    kinds: Mapping[str, Kind]
    actions: ActionSet
    citation: str
    licence: str
    notes: str
    hashes: Mapping[str, str]
    shared: IntArray

    def __post_init__(self) -> None:
        shared = np.array(self.shared, dtype=np.int64)
        shared.flags.writeable = False
        for field, value in {"kinds": dict(self.kinds), "hashes": dict(self.hashes), "shared": shared}.items():
            object.__setattr__(self, field, value)
        if list(self.D1.columns) != list(self.D2.columns):
            raise ValueError(f"{self.name}: D1 and D2 must have the same columns in the same order.")
        if not self.D1.columns.is_unique or list(self.D1.columns).count(self.label) != 1:
            raise ValueError(f"{self.name}: the columns must be unique and hold the label {self.label!r}.")
        if set(self.kinds) != set(self.columns):
            raise ValueError(f"{self.name}: kinds must name exactly the features {self.columns}.")
        for part in ("D1", "D2"):
            self._check_frame(part, getattr(self, part))
        for column, kind in self.kinds.items():
            if kind == "category" and self.D1[column].dtype != self.D2[column].dtype:
                raise ValueError(f"{self.name}: the categories of {column!r} must be the same in D1 and D2.")
        self._check_shared()
        self.actions.limits(self.columns)

    def _check_frame(self, part: str, frame: pd.DataFrame) -> None:
        where = f"{self.name}, {part}"
        missing = frame.columns[frame.isna().any()]
        if len(missing):
            raise ValueError(f"{where}: column {missing[0]!r} has missing values.")
        values = frame[self.label].unique()
        if len(values) != 2 or self.favourable not in values:
            raise ValueError(
                f"{where}: the label must have two values, one of them {self.favourable!r}, got {list(values)}."
            )
        for column, kind in self.kinds.items():
            if not _is_kind(frame[column], kind):
                raise ValueError(f"{where}: column {column!r} of dtype {frame[column].dtype} is not of kind {kind!r}.")

    def _check_shared(self) -> None:
        cases = self.shared[self.shared >= 0]
        if self.shared.shape != (len(self.D2),) or (self.shared < -1).any() or (cases >= len(self.D1)).any():
            raise ValueError(f"{self.name}: shared must hold a position in D1 or -1 for each of the rows of D2.")
        if len(np.unique(cases)) != len(cases):
            raise ValueError(f"{self.name}: shared names a row of D1 twice.")

    def __repr__(self) -> str:
        return (
            f"Dataset({self.name!r}: {len(self.D1)} + {len(self.D2)} rows, {len(self.columns)} columns, "
            f"favourable {self.label} = {self.favourable!r})"
        )

    @property
    def columns(self) -> list[str]:
        """Names of the features, in order."""
        return [str(column) for column in self.D1.columns if column != self.label]

    @property
    def X1(self) -> pd.DataFrame:  # noqa: N802
        """Features of the present data."""
        return self.D1[self.columns]

    @property
    def X2(self) -> pd.DataFrame:  # noqa: N802
        """Features of the shifted data."""
        return self.D2[self.columns]

    @property
    def y1(self) -> IntArray:
        """Labels of the present data: 1 for favourable, 0 for unfavourable."""
        return self._labels(self.D1)

    @property
    def y2(self) -> IntArray:
        """Labels of the shifted data: 1 for favourable, 0 for unfavourable."""
        return self._labels(self.D2)

    def _labels(self, frame: pd.DataFrame) -> IntArray:
        return (frame[self.label] == self.favourable).to_numpy().astype(np.int64)


def _is_kind(values: pd.Series, kind: Kind) -> bool:
    match kind:
        case "category":
            return isinstance(values.dtype, pd.CategoricalDtype)
        case "continuous":
            return types.is_float_dtype(values.dtype) and bool(np.isfinite(values.to_numpy()).all())
        case "integer":
            return types.is_integer_dtype(values.dtype)
        case "binary":
            return types.is_integer_dtype(values.dtype) and bool(values.isin([0, 1]).all())
    raise ValueError(f"the kind of {values.name!r} must be one of {get_args(Kind)}, got {kind!r}.")
