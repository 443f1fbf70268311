"""Pipelines of scikit-learn that begin with a ColumnTransformer, asked without the price of its checks.

A search asks about few rows in many calls, and a jury multiplies these by its models. Of such a call a
ColumnTransformer takes most: it cuts the table apart and checks every column. Encoders of categories and scalers, which
it is mostly made of, are done here by looking up and by the same arithmetic; the numbers that come out are the same,
bit by bit. That is found out with the first rows of each model, and where it is not so, or a table looks different, the
pipeline is asked itself.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import repeat
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
from scipy import sparse

from robust_recourse._typing import FloatArray, IntArray
from robust_recourse.models.networks import Quickly, network_quickly

__all__ = ["pipeline_quickly"]

Fill: TypeAlias = Callable[[pd.DataFrame, FloatArray], None]
"""Writes what becomes of some columns of a table into those of a result."""


class _Strange(Exception):  # noqa: N818
    """Something that only the pipeline itself knows how to take."""


class _Encoder(NamedTuple):
    """What a ColumnTransformer does, as steps that fill a result."""

    made_of: Any  # what it was made of: another `fit` makes another
    names: list[Hashable]  # columns of the table
    width: int  # columns of the result
    sparse: bool
    fills: list[tuple[slice, Fill]]

    def __call__(self, X: Any) -> Any:
        if list(X.columns) != self.names:
            raise _Strange
        result = np.zeros((len(X), self.width))
        for place, fill in self.fills:
            fill(X, result[:, place])
        return sparse.csr_matrix(result) if self.sparse else result


class _Known(NamedTuple):
    """What is known of a pipeline: its encoder, None if none is quick, and the tables that it was tried with."""

    made_of: Any
    encoder: _Encoder | None
    tried: set[tuple[Any, ...]]  # types of their columns


_KNOWN: WeakKeyDictionary[Any, _Known] = WeakKeyDictionary()


class _Pipeline(Quickly):
    """Asks a pipeline."""

    def __call__(self, X: Any) -> Any:
        encoded = _encoded(self._model, X) if isinstance(X, pd.DataFrame) and len(X) else None
        if encoded is None:
            return getattr(self._model, self._name)(X)
        for _, step in self._model.steps[1:-1]:
            if step is not None and step != "passthrough":
                encoded = step.transform(encoded)
        last = self._model.steps[-1][1]
        return (network_quickly(last, self._name) or getattr(last, self._name))(encoded)


def pipeline_quickly(model: Any, name: str) -> Callable[[Any], Any] | None:
    """Return what answers as the method `name` of a pipeline does, and faster; None of other models.

    Parameters
    ----------
    model : object
        Anything; a pipeline that begins with a ColumnTransformer is meant.
    name : str
        Its method, ``"predict"`` or ``"predict_proba"``.
    """
    # A subclass may do anything, and so may a method of one object.
    if not _is(model, "sklearn.pipeline", "Pipeline") or len(model.steps) < 2 or name in vars(model):
        return None
    return _Pipeline(model, name) if _is(model.steps[0][1], "sklearn.compose", "ColumnTransformer") else None


def _encoded(model: Any, X: pd.DataFrame) -> Any:
    """Return what the first step makes of a table; None where it is better asked itself."""
    first = model.steps[0][1]
    made_of = getattr(first, "transformers_", None)
    known = _KNOWN.get(model)
    if known is None or known.made_of is not made_of:
        known = _KNOWN[model] = _Known(made_of, _encoder(first), set())
    if known.encoder is None or _asks_for_tables(first):
        return None
    try:
        found = known.encoder(X)
    except Exception:  # the pipeline says itself what is wrong
        return None
    kinds = tuple(X.dtypes)
    if kinds not in known.tried:
        if not _same(found, first.transform(X)):
            _KNOWN[model] = known._replace(encoder=None)
            return None
        known.tried.add(kinds)
    return found


def _asks_for_tables(first: Any) -> bool:
    from sklearn import get_config  # whoever has a pipeline has imported it

    return hasattr(first, "_sklearn_output_config") or get_config()["transform_output"] != "default"


def _same(found: Any, true: Any) -> bool:
    if sparse.issparse(found):
        if getattr(true, "format", None) != "csr":
            return False
        parts = ((getattr(found, part), getattr(true, part)) for part in ("indptr", "indices", "data"))
        return all(_equal(one, other) for one, other in parts)
    return isinstance(true, np.ndarray) and _equal(found, true)


def _equal(one: Any, other: Any) -> bool:
    same_kind = one.dtype == other.dtype or one.dtype.kind == other.dtype.kind == "i"  # of places in a sparse matrix
    return bool(same_kind and np.array_equal(one, other, equal_nan=one.dtype.kind == "f"))


def _encoder(first: Any) -> _Encoder | None:
    """Return what a ColumnTransformer does; None if nothing of it would be quicker."""
    try:
        names, places = list(first.feature_names_in_), first.output_indices_
        fills: list[tuple[slice, Fill]] = []
        quick = False
        for name, transformer, columns in first.transformers_:
            some = [_named(column, names) for column in columns]
            if (isinstance(transformer, str) and transformer == "drop") or not some:
                continue
            fill = _fill(transformer, some)
            quick = quick or fill is not None
            fills.append((places[name], fill or _by_itself(transformer, some)))
        width = max((place.stop for place, _ in fills), default=0)
        return _Encoder(first.transformers_, names, width, bool(first.sparse_output_), fills) if quick else None
    except (AttributeError, IndexError, KeyError, TypeError):  # it is made in another way
        return None


def _named(column: Any, names: list[Hashable]) -> Hashable:
    if isinstance(column, bool | np.bool_):  # of a mask
        raise TypeError
    return column if isinstance(column, str) else names[column]


def _fill(transformer: Any, columns: list[Hashable]) -> Fill | None:
    """Return how a transformer is done here; None if it is none of those that are known."""
    if isinstance(transformer, str) and transformer == "passthrough":
        return _numbers(columns)
    if _is(transformer, "sklearn.preprocessing", "FunctionTransformer"):
        plain = transformer.func is None and not transformer.validate
        return _numbers(columns) if plain else None
    if _is(transformer, "sklearn.preprocessing", "StandardScaler"):
        return _scaled(columns, transformer)
    if getattr(transformer, "_infrequent_enabled", True) or transformer.dtype is not np.float64:
        return None
    if _is(transformer, "sklearn.preprocessing", "OrdinalEncoder"):
        known = {"error": None, "use_encoded_value": transformer.unknown_value}
        return _codes(columns, transformer.categories_, known[transformer.handle_unknown])
    if _is(transformer, "sklearn.preprocessing", "OneHotEncoder") and transformer.drop_idx_ is None:
        ignored = transformer.handle_unknown in ("ignore", "infrequent_if_exist")
        return _one_hot(columns, transformer.categories_, ignored)
    return None


def _numbers(columns: list[Hashable]) -> Fill:
    def fill(X: pd.DataFrame, result: FloatArray) -> None:
        for k, column in enumerate(columns):
            result[:, k] = _number(X[column])

    return fill


def _scaled(columns: list[Hashable], scaler: Any) -> Fill:
    mean = scaler.mean_ if scaler.with_mean else None
    scale = scaler.scale_ if scaler.with_std else None
    moved = _numbers(columns)

    def fill(X: pd.DataFrame, result: FloatArray) -> None:
        moved(X, result)
        if np.isinf(result).any():
            raise _Strange
        if mean is not None:
            result -= mean
        if scale is not None:
            result /= scale

    return fill


def _codes(columns: list[Hashable], categories: list[Any], unknown: float | None) -> Fill:
    tables = [_lookup(values) for values in categories]

    def fill(X: pd.DataFrame, result: FloatArray) -> None:
        for k, (column, table) in enumerate(zip(columns, tables, strict=True)):
            code = _looked_up(X[column], table, known=unknown is None)
            result[:, k] = code
            if unknown is not None:
                result[code < 0, k] = unknown

    return fill


def _one_hot(columns: list[Hashable], categories: list[Any], ignored: bool) -> Fill:
    tables = [_lookup(values) for values in categories]
    begins = np.cumsum([0, *map(len, categories)])

    def fill(X: pd.DataFrame, result: FloatArray) -> None:
        for begin, column, table in zip(begins[:-1], columns, tables, strict=True):
            code = _looked_up(X[column], table, known=not ignored)
            rows = np.flatnonzero(code >= 0)
            result[rows, begin + code[rows]] = 1.0

    return fill


def _by_itself(transformer: Any, columns: list[Hashable]) -> Fill:
    """Return how any other transformer is done: by asking it."""

    def fill(X: pd.DataFrame, result: FloatArray) -> None:
        made = transformer.transform(X[columns])
        result[:] = made.toarray() if hasattr(made, "toarray") else np.asarray(made, dtype=float)

    return fill


def _lookup(values: Any) -> dict[str, int]:
    """Return where categories are; those that are no text are told apart in ways of their own."""
    if not all(isinstance(value, str) for value in values):
        raise TypeError
    return {value: code for code, value in enumerate(values)}


def _looked_up(column: pd.Series[Any], table: dict[str, int], known: bool) -> IntArray:
    """Return the codes of a column, -1 for text that is not in the table; `known`: all must be in it."""
    values = column.to_numpy(dtype=object)
    codes = np.fromiter(map(table.get, values, repeat(-1)), dtype=np.int64, count=len(values))
    strange = codes < 0
    if strange.any() and (known or not all(isinstance(value, str) for value in values[strange])):
        raise _Strange
    return codes


def _number(column: pd.Series[Any]) -> Any:
    if not isinstance(column.dtype, np.dtype) or column.dtype.kind not in "iuf" or column.dtype.itemsize < 8:
        raise _Strange
    return column.to_numpy()


def _is(value: Any, module: str, name: str) -> bool:
    kind = type(value)
    return kind.__name__ == name and kind.__module__.startswith(module)
