"""Pipelines that begin with a ColumnTransformer: their tables, encoded column by column.

A ColumnTransformer cuts the table apart and checks every column. Encoders of categories, scalers and imputers, which it
is mostly made of, are done here by looking up and by the same arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Literal, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
from scipy import sparse

from robust_recourse._typing import FloatArray, IntArray
from robust_recourse.models.quick.base import Quickly, is_theirs, left_alone
from robust_recourse.models.quick.estimators import estimator_quickly
from robust_recourse.tables.unpacked import Unpacked, unpacked

__all__ = ["pipeline_quickly"]

Fill: TypeAlias = Callable[[Unpacked, FloatArray], None]
"""Writes what becomes of some columns of a table into those of a result."""

Order: TypeAlias = Literal["C", "F"]

InPlace: TypeAlias = Callable[[FloatArray], Any]
"""Changes numbers where they are."""


_MOST_TRIED = 64  # kinds of tables that are remembered of a pipeline
_UNKNOWN, _NO_TEXT = -1, -2  # text that no category is, and what is missing or no text


class _Strange(Exception):  # noqa: N818
    """Something that only the pipeline itself knows how to take."""


class _Encoder(NamedTuple):
    """What a ColumnTransformer does, as steps that fill a result."""

    made_of: Any  # what it was made of: another `fit` makes another
    names: pd.Index[Any]  # columns of the table
    width: int  # columns of the result
    sparse: bool
    fills: list[tuple[slice, Fill]]

    def __call__(self, X: Unpacked, order: Order = "C") -> Any:
        if not X.columns.equals(self.names):
            raise _Strange
        result = np.zeros((len(X), self.width), order=order)
        for place, fill in self.fills:
            fill(X, result[:, place])
        return sparse.csr_matrix(result) if self.sparse else result


class _Known(NamedTuple):
    """What is known of a pipeline: its encoder, None if none is quick, and the tables that it was tried with."""

    made_of: Any
    encoder: _Encoder | None
    tried: dict[tuple[Any, ...], Order]  # by types of their columns: how numbers lie in memory, which decides bits


_KNOWN: WeakKeyDictionary[Any, _Known] = WeakKeyDictionary()


class _Pipeline(Quickly):
    """Asks a pipeline."""

    def __call__(self, X: Any) -> Any:
        table = unpacked(X)
        encoded = _encoded(self._model, table) if isinstance(table, Unpacked) and len(table) else None
        if encoded is None:
            return self.itself(X)
        for _, step in self._model.steps[1:-1]:
            if step is not None and step != "passthrough":
                encoded = step.transform(encoded)
        last = self._model.steps[-1][1]
        return (estimator_quickly(last, self._name) or getattr(last, self._name))(encoded)


def pipeline_quickly(model: Any, name: str) -> Quickly | None:
    """Return what answers as the method `name` of a pipeline does, and faster; None of other models.

    Parameters
    ----------
    model : object
        Anything; a pipeline that begins with a ColumnTransformer is meant.
    name : str
        Its method, ``"predict"`` or ``"predict_proba"``.
    """
    # A subclass may do anything, and so may a method of one object.
    if not is_theirs(model, "sklearn.pipeline", "Pipeline") or len(model.steps) < 2 or not left_alone(model, name):
        return None
    return _Pipeline(model, name) if is_theirs(model.steps[0][1], "sklearn.compose", "ColumnTransformer") else None


def _encoded(model: Any, X: Unpacked) -> Any:
    """Return what the first step makes of a table; None where it is better asked itself."""
    first = model.steps[0][1]
    made_of = getattr(first, "transformers_", None)
    known = _KNOWN.get(model)
    if known is None or known.made_of is not made_of:
        known = _KNOWN[model] = _Known(made_of, _encoder(first), {})
    if known.encoder is None or _asks_for_tables(first):
        return None
    kinds = X.kinds
    try:
        found = known.encoder(X, known.tried.get(kinds, "C"))
    except Exception:  # the pipeline says itself what is wrong
        return None
    if kinds in known.tried:
        return found
    true = _as_numbers(first.transform(X.pack()), model)
    if not _same(found, true):
        _KNOWN[model] = known._replace(encoder=None)
    elif len(X) > 1:  # of one row nobody can tell
        if len(known.tried) >= _MOST_TRIED:
            known.tried.clear()
        known.tried[kinds] = "F" if getattr(true, "flags", {"F": False})["F"] and not true.flags["C"] else "C"
    return true


def _asks_for_tables(first: Any) -> bool:
    from sklearn import get_config  # whoever has a pipeline has imported it

    return hasattr(first, "_sklearn_output_config") or get_config()["transform_output"] != "default"


def _as_numbers(encoded: Any, model: Any) -> Any:
    """Return objects, as booleans beside numbers become, as the numbers that the last step of a pipeline makes of them.

    That is known of those that have a quick way themselves.
    """
    if not (isinstance(encoded, np.ndarray) and encoded.dtype.kind == "O") or len(model.steps) > 2:
        return encoded
    return encoded if estimator_quickly(model.steps[-1][1], "predict") is None else encoded.astype(float)


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
        names, places = pd.Index(first.feature_names_in_), first.output_indices_
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


def _named(column: Any, names: pd.Index[Any]) -> Hashable:
    if isinstance(column, bool | np.bool_):  # of a mask
        raise TypeError
    return column if isinstance(column, str) else names[column]


def _fill(transformer: Any, columns: list[Hashable]) -> Fill | None:
    """Return how a transformer is done here; None if it is none of those that are known."""
    done = _in_place(transformer)
    if done is not None:
        return _numbers(columns, done)
    if getattr(transformer, "_infrequent_enabled", True) or transformer.dtype is not np.float64:
        return None
    if is_theirs(transformer, "sklearn.preprocessing", "OrdinalEncoder"):
        known = {"error": None, "use_encoded_value": transformer.unknown_value}
        return _codes(columns, transformer.categories_, known[transformer.handle_unknown])
    if is_theirs(transformer, "sklearn.preprocessing", "OneHotEncoder") and transformer.drop_idx_ is None:
        ignored = transformer.handle_unknown in ("ignore", "infrequent_if_exist")
        return _one_hot(columns, transformer.categories_, ignored)
    return None


def _in_place(transformer: Any) -> InPlace | None:
    """Return what a transformer does to numbers, each of which stays one; None if it is none of those known."""
    if transformer is None or (isinstance(transformer, str) and transformer == "passthrough"):
        return lambda _: None
    if is_theirs(transformer, "sklearn.pipeline", "Pipeline"):
        steps = [_in_place(step) for _, step in transformer.steps]
        return None if None in steps else lambda numbers: [step(numbers) for step in steps if step is not None]
    if is_theirs(transformer, "sklearn.preprocessing", "FunctionTransformer"):
        return None if transformer.func is not None or transformer.validate else lambda _: None
    if is_theirs(transformer, "sklearn.preprocessing", "StandardScaler"):
        return _scaled(transformer)
    return _imputed(transformer) if is_theirs(transformer, "sklearn.impute", "SimpleImputer") else None


def _numbers(columns: list[Hashable], done: InPlace) -> Fill:
    names = tuple(columns)

    def fill(X: Unpacked, result: FloatArray) -> None:
        numbers = X.numbers(names)
        if numbers is None or numbers.dtype.itemsize not in (1, 8):
            raise _Strange
        result[:] = numbers
        done(result)

    return fill


def _scaled(scaler: Any) -> InPlace:
    def scale_all(numbers: FloatArray) -> None:
        if np.isinf(numbers).any():
            raise _Strange
        if scaler.with_mean:
            numbers -= scaler.mean_
        if scaler.with_std:
            numbers /= scaler.scale_

    return scale_all


def _imputed(imputer: Any) -> InPlace | None:
    short = getattr(imputer, "_fill_dtype", np.dtype(float)) in (np.dtype(np.float32), np.dtype(np.float16))
    if short or imputer.add_indicator or imputer.missing_values == imputer.missing_values:
        return None

    def impute(numbers: FloatArray) -> None:
        values = np.asarray(imputer.statistics_)
        if values.dtype.kind != "f" or not np.isfinite(values).all() or np.isinf(numbers).any():
            raise _Strange
        np.copyto(numbers, values, where=np.isnan(numbers))

    return impute


def _codes(columns: list[Hashable], categories: list[Any], unknown: float | None) -> Fill:
    tables = [_lookup(values) for values in categories]

    def fill(X: Unpacked, result: FloatArray) -> None:
        for k, (column, table) in enumerate(zip(columns, tables, strict=True)):
            code = _looked_up(*X.codes(column), table, known=unknown is None)
            result[:, k] = code
            if unknown is not None:
                result[code < 0, k] = unknown

    return fill


def _one_hot(columns: list[Hashable], categories: list[Any], ignored: bool) -> Fill:
    tables = [_lookup(values) for values in categories]
    begins = np.cumsum([0, *map(len, categories)])

    def fill(X: Unpacked, result: FloatArray) -> None:
        for begin, column, table in zip(begins[:-1], columns, tables, strict=True):
            code = _looked_up(*X.codes(column), table, known=not ignored)
            rows = np.flatnonzero(code >= 0)
            result[rows, begin + code[rows]] = 1.0

    return fill


def _by_itself(transformer: Any, columns: list[Hashable]) -> Fill:
    """Return how any other transformer is done: by asking it."""

    def fill(X: Unpacked, result: FloatArray) -> None:
        made = transformer.transform(X.pack()[columns])
        result[:] = made.toarray() if hasattr(made, "toarray") else np.asarray(made, dtype=float)

    return fill


def _lookup(values: Any) -> dict[str, int]:
    """Return where categories are; those that are no text are told apart in ways of their own."""
    if not all(isinstance(value, str) for value in values):
        raise TypeError
    return {value: code for code, value in enumerate(values)}


def _looked_up(codes: IntArray, values: list[Any], table: dict[str, int], known: bool) -> IntArray:
    """Return where the values of codes are in a table, -1 for text that is not in it; `known`: all must be in it."""
    places = [table.get(value, _UNKNOWN) if isinstance(value, str) else _NO_TEXT for value in values]
    found: IntArray = np.array([*places, _NO_TEXT])[codes]
    if (found < (0 if known else _UNKNOWN)).any():
        raise _Strange
    return found
