"""Columns as they lie in memory, and back to the last bit.

JSON is for people: to write and read many rows of it takes longer than to find recourses for them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from robust_recourse.result.cells import read_column, write_column

__all__ = ["pack_column", "unpack_column"]


def pack_column(series: pd.Series[Any]) -> tuple[list[Any], bytes]:
    """Return what a column is, as data for JSON, and the bytes of its cells.

    Raises TypeError for a column that could not be read back.
    """
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _raw("raw", series.cat.codes.to_numpy().astype("<i4"))
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
        return _raw("raw", series.to_numpy().astype(dtype.newbyteorder("<")))
    if isinstance(dtype, np.dtype) and dtype.kind in "mM":
        return _raw("times", series.to_numpy().view("i8").astype("<i8"))
    plain = getattr(dtype, "numpy_dtype", None)
    if isinstance(plain, np.dtype) and plain.kind in "biuf" and isinstance(series.array, _masked()):
        return _raw("masked", _data(series, plain), np.packbits(series.isna().to_numpy()))
    if isinstance(dtype, pd.StringDtype) or _holds_texts(series):
        codes, texts = pd.factorize(series.array)
        (_, *kind), content = _raw("texts", codes.astype("<i4"))
        return ["texts", *kind, [str(text) for text in texts]], content
    return ["cells", *write_column(series, np.ones(len(series), dtype=bool))], b""


def unpack_column(head: list[Any], content: memoryview, at: int, n: int, dtype: Any) -> tuple[Any, int]:
    """Return a column of `n` cells of which the bytes begin at a place, and where they end."""
    kind, *facts = head
    if kind == "cells":
        return read_column(facts[0], facts[1], dtype), at
    numbers = np.frombuffer(content, np.dtype(facts[0]), n, at).copy()
    at += numbers.nbytes
    if kind == "texts":
        texts = pd.array(facts[1], dtype=dtype) if isinstance(dtype, pd.StringDtype) else _objects(facts[1])
        if isinstance(dtype, pd.StringDtype):
            return pd.Series(texts.take(numbers, allow_fill=True)), at
        return pd.Series(texts[numbers], dtype=object), at
    if kind == "times":
        return pd.Series(numbers.astype("i8").view(dtype)), at
    if kind == "masked":
        packed = np.frombuffer(content, np.uint8, -(-n // 8), at)
        array = pd.array(numbers.astype(dtype.numpy_dtype, copy=False), dtype=dtype)
        array[np.unpackbits(packed, count=n).astype(bool)] = pd.NA
        return pd.Series(array), at + packed.nbytes
    if kind != "raw":
        raise ValueError(f"a column is of the unknown kind {kind!r}")
    if isinstance(dtype, pd.CategoricalDtype):
        return pd.Series(pd.Categorical.from_codes(numbers, dtype=dtype)), at
    return pd.Series(numbers.astype(dtype, copy=False)), at


def _raw(kind: str, numbers: Any, *more: Any) -> tuple[list[Any], bytes]:
    return [kind, numbers.dtype.str], b"".join(part.tobytes() for part in (numbers, *more))


def _masked() -> tuple[type, ...]:
    return pd.arrays.IntegerArray, pd.arrays.FloatingArray, pd.arrays.BooleanArray


def _data(series: pd.Series[Any], plain: np.dtype[Any]) -> Any:
    return series.array.to_numpy(dtype=plain.newbyteorder("<"), na_value=plain.type(0))


def _objects(values: list[Any]) -> Any:
    cells = np.empty(len(values), dtype=object)
    cells[:] = values
    return cells


def _holds_texts(series: pd.Series[Any]) -> bool:
    """Whether a column of objects holds texts and nothing else, no gaps either."""
    return series.dtype == object and all(type(cell) is str for cell in series.to_numpy())
