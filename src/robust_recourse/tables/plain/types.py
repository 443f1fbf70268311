"""Types and names of columns: of NumPy, pandas, pyarrow and polars."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import pandas_dtype

from robust_recourse.tables.plain.coding import Kind, exactly

__all__ = ["TYPES"]


def _pack_index(index: pd.Index) -> dict[str, Any]:
    if isinstance(index, pd.MultiIndex):
        levels, codes = list(index.levels), [np.asarray(code) for code in index.codes]
        return {"levels": levels, "codes": codes, "names": list(index.names)}
    if isinstance(index, pd.RangeIndex):
        return {"start": index.start, "stop": index.stop, "step": index.step, "name": index.name}
    return {"values": list(index), "dtype": index.dtype, "name": index.name}


def _unpack_index(packed: dict[str, Any]) -> Any:
    if "levels" in packed:
        return pd.MultiIndex(**packed)
    if "start" in packed:
        return pd.RangeIndex(**packed)
    # Tuples may be names, not levels.
    return pd.Index(packed["values"], dtype=packed["dtype"], name=packed["name"], tupleize_cols=False)


def _same_index(back: pd.Index, index: pd.Index) -> bool:
    return type(back) is type(index) and back.dtype == index.dtype and back.names == index.names and back.equals(index)


def _pack_frame(frame: pd.DataFrame) -> dict[str, Any]:
    columns = [frame.iloc[:, k] for k in range(frame.shape[1])]
    return {
        "index": frame.index,
        "names": frame.columns,
        "values": [column.tolist() for column in columns],
        "dtypes": [column.dtype for column in columns],
    }


def _unpack_frame(packed: dict[str, Any]) -> pd.DataFrame:
    parts = zip(packed["values"], packed["dtypes"], strict=True)
    columns = [pd.Series(values, packed["index"], dtype=dtype) for values, dtype in parts]
    frame: pd.DataFrame = pd.concat(columns, axis=1).set_axis(packed["names"], axis=1)
    return frame


def _same_frame(back: pd.DataFrame, frame: pd.DataFrame) -> bool:
    pairs = ((back.index, frame.index), (back.columns, frame.columns))
    return all(_same_index(*pair) for pair in pairs) and back.equals(frame)


def _pack_dtype(dtype: Any) -> dict[str, Any]:
    if isinstance(dtype, pd.CategoricalDtype):
        return {"categories": dtype.categories, "ordered": dtype.ordered}
    if isinstance(dtype, pd.StringDtype):
        return {"storage": dtype.storage, "missing": "NA" if dtype.na_value is pd.NA else "nan"}
    if isinstance(dtype, pd.ArrowDtype):
        return {"arrow": _arrow().schema([("", dtype.pyarrow_dtype)]).serialize().to_pybytes()}
    return {"numpy": dtype.str} if isinstance(dtype, np.dtype) else {"text": str(dtype)}


def _unpack_dtype(packed: dict[str, Any]) -> Any:
    if "categories" in packed:
        return pd.CategoricalDtype(**packed)
    if "storage" in packed:
        # Before pandas 2.3 there was one missing value only, and no such argument.
        missing = {} if packed["missing"] == "NA" else {"na_value": np.nan}
        return pd.StringDtype(packed["storage"], **missing)
    if "arrow" in packed:
        arrow = _arrow()
        return pd.ArrowDtype(arrow.ipc.read_schema(arrow.py_buffer(packed["arrow"])).types[0])
    return np.dtype(packed["numpy"]) if "numpy" in packed else pandas_dtype(packed["text"])


def _arrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(
            "The table has types of pyarrow, which is not installed. "
            "Install it with: pip install 'robust-recourse[parquet]'"
        ) from error
    return pyarrow


def _is_polars(value: Any) -> bool:
    kind = type(value)
    return kind.__module__.split(".")[0] == "polars" and kind.__name__ == "DataFrame"


def _pack_polars(frame: Any) -> Any:
    buffer = io.BytesIO()
    frame.write_ipc(buffer)
    return np.frombuffer(buffer.getvalue(), np.uint8)


def _unpack_polars(packed: Any) -> Any:
    try:
        import polars
    except ImportError as error:
        raise ImportError(
            "The table is a frame of polars, which is not installed. "
            "Install it with: pip install 'robust-recourse[polars]'"
        ) from error
    return polars.read_ipc(io.BytesIO(packed.tobytes()))


TYPES: tuple[Kind, ...] = (
    Kind("index", lambda value: isinstance(value, pd.Index), _pack_index, _unpack_index, _same_index),
    Kind(
        "dtype",
        lambda value: isinstance(value, np.dtype | pd.api.extensions.ExtensionDtype),
        _pack_dtype,
        _unpack_dtype,
        lambda back, dtype: bool(back == dtype),
    ),
    Kind("frame", exactly(pd.DataFrame), _pack_frame, _unpack_frame, _same_frame),
    Kind("polars", _is_polars, _pack_polars, _unpack_polars, lambda back, frame: bool(back.schema == frame.schema)),
)
