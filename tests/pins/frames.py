"""Frames of every kind, made in code from a seed, and what is no table at all."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

ROWS = 40


def _numpy(rng: np.random.Generator) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "i64": rng.integers(-5, 90, ROWS),
            "i8": rng.integers(0, 100, ROWS).astype(np.int8),
            "u16": rng.integers(0, 9000, ROWS).astype(np.uint16),
            "f64": rng.random(ROWS),
            "f32": rng.random(ROWS).astype(np.float32),
            "cents": rng.integers(0, 10**6, ROWS) / 100,
            "flag": rng.random(ROWS) < 0.3,
            "zero or one": rng.integers(0, 2, ROWS),
            "text": rng.choice(["rent", "own", "free"], ROWS),
        }
    )


def _nullable(rng: np.random.Generator) -> pd.DataFrame:
    types = {"i64": "Int64", "i8": "Int8", "u16": "UInt16", "f64": "Float64", "f32": "Float32", "flag": "boolean"}
    return _holed(_numpy(rng).astype({**types, "text": "string"}), rng)


def _arrow(rng: np.random.Generator) -> pd.DataFrame:
    types = {"i64": "int64", "i8": "int8", "f64": "double", "f32": "float", "flag": "bool", "text": "string"}
    return _holed(_numpy(rng).astype({name: f"{kind}[pyarrow]" for name, kind in types.items()}), rng)


def _categories(rng: np.random.Generator) -> pd.DataFrame:
    def of(values: list[Any], ordered: bool = False) -> pd.Categorical:
        return pd.Categorical.from_codes(rng.integers(0, len(values), ROWS), values, ordered=ordered)

    return pd.DataFrame(
        {
            "plain": of(["b", "a", "c"]),
            "ordered": of(["low", "mid", "high"], ordered=True),
            "numbers": of([10, 20, 40]),
            "fractions": of([0.5, 1.25, 2.0], ordered=True),
            "flags": of([False, True]),
            "unused": pd.Categorical(rng.choice(["x", "y"], ROWS), categories=["x", "y", "z"]),
            "gaps": pd.Categorical.from_codes(rng.integers(-1, 3, ROWS), ["u", "v", "w"]),
        }
    )


def _objects(rng: np.random.Generator) -> pd.DataFrame:
    whole = rng.integers(0, 50, ROWS).tolist()
    cells = {
        "ints": whole,
        "ints and floats": [cell if k % 3 else cell / 4 for k, cell in enumerate(whole)],
        "with None": [cell if k % 5 else None for k, cell in enumerate(whole)],
        "flags": (rng.random(ROWS) < 0.5).tolist(),
        "texts": rng.choice(["p", "q", "r"], ROWS).tolist(),
        "texts and numbers": [str(cell % 4) if k % 2 else cell % 4 for k, cell in enumerate(whole)],
    }
    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in cells.items()})


def _decimals(rng: np.random.Generator) -> pd.DataFrame:
    import pyarrow as pa

    cents = rng.integers(0, 10**6, ROWS)
    exact = [Decimal(int(cell)).scaleb(-2) for cell in cents]
    arrow = pd.Series(exact, dtype=pd.ArrowDtype(pa.decimal128(12, 2)))
    gaps = [cell if k % 4 else None for k, cell in enumerate(exact)]
    return pd.DataFrame(
        {"python": pd.Series(exact, dtype=object), "gaps": pd.Series(gaps, dtype=object), "arrow": arrow, "y": cents}
    )


def _times(rng: np.random.Generator) -> pd.DataFrame:
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, ROWS), unit="D")
    return pd.DataFrame(
        {
            "moment": days,
            "zoned": days.tz_localize("Europe/Vienna"),
            "for": days - pd.Timestamp("2019-01-01"),
            "month": days.to_period("M"),
            "day": [day.date() for day in days],
            "few days": pd.Categorical(days.normalize().where(days > days.mean(), days.min())),
            "text": days.strftime("%Y-%m-%d"),
            "amount": rng.integers(0, 900, ROWS),
        }
    )


def _texts(rng: np.random.Generator) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "numbers": [f"{cell}.5" for cell in rng.integers(0, 500, ROWS)],
            "money": [f"${cell:,}.00" for cell in rng.integers(0, 90000, ROWS)],
            "months": [f"{cell} months" for cell in rng.choice([36, 60], ROWS)],
            "empty": rng.choice(["", " ", "a"], ROWS),
            "names": [f"person {k}" for k in range(ROWS)],
            "signs": rng.choice(["ä", "日本", "a\nb", "🙂"], ROWS),
        }
    )


def _names(rng: np.random.Generator) -> pd.DataFrame:
    frame = _numpy(rng).iloc[:, :8]
    frame.columns = pd.Index(["", "a.b", "größe #1", 'a "b"\n', 7, ("a", 1), 2.5, "index"], dtype=object)
    return frame.set_axis([f"p{k}" for k in range(ROWS)])


def _gaps(rng: np.random.Generator) -> pd.DataFrame:
    frame = _holed(_numpy(rng).astype({"i64": float, "u16": float, "cents": float, "flag": object}), rng)
    return frame.assign(nothing=np.nan, none=None, constant=3, **{"one and gaps": [1.0, None] * (ROWS // 2)})


def _extremes(rng: np.random.Generator) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "huge": rng.integers(0, 50, ROWS) * 10**13,
            "tiny": rng.integers(1, 50, ROWS) * 1e-13,
            "wide": 10.0 ** rng.integers(-9, 9, ROWS),
            "zeros": np.where(rng.random(ROWS) < 0.5, -0.0, rng.integers(0, 3, ROWS).astype(float)),
            "mostly 0": np.where(rng.random(ROWS) < 0.9, 0, rng.integers(0, 900, ROWS)),
            "two": rng.choice([3, 5], ROWS),
            "f16": rng.random(ROWS).astype(np.float16),
        }
    )


def _labels(rng: np.random.Generator) -> pd.DataFrame:
    index = pd.MultiIndex.from_product([["a", "b"], range(ROWS // 2)], names=["site", None])
    return _numpy(rng).set_axis(index).rename_axis(columns="what")[["i64", "cents", "text"]]


def _polars(rng: np.random.Generator) -> Any:
    import polars as pl

    frame = pl.DataFrame({name: cells.to_list() for name, cells in _numpy(rng).items()})
    kinds = {"i64": pl.Int16, "i8": pl.UInt8, "f32": pl.Float32}
    gap = pl.when(pl.int_range(pl.len()) % 7 == 3).then(None).otherwise(pl.col("cents")).alias("gaps")
    codes = pl.Series("codes", rng.choice(["lo", "hi"], ROWS).tolist(), dtype=pl.Categorical)
    day = pl.Series("day", [date(2020, 1, 1 + k % 28) for k in range(ROWS)])
    return frame.with_columns(*(pl.col(name).cast(kind) for name, kind in kinds.items()), gap, codes, day)


def _enum(rng: np.random.Generator) -> Any:
    import polars as pl

    codes = pl.Series("enum", rng.choice(["lo", "mid", "hi"], ROWS).tolist(), dtype=pl.Enum(["lo", "mid", "hi"]))
    return pl.DataFrame([codes])


def _pyarrow(rng: np.random.Generator) -> Any:
    import pyarrow as pa

    frame = _numpy(rng)
    table = pa.table({name: frame[name].tolist() for name in ("i64", "cents", "flag", "text")})
    holed = [None if k % 6 == 1 else k for k in range(ROWS)]
    return table.append_column("gaps", pa.array(holed, pa.int32())).append_column(
        "codes", pa.array(frame["text"].tolist()).dictionary_encode()
    )


def _array(rng: np.random.Generator) -> Any:
    return np.column_stack([rng.random(ROWS), rng.integers(0, 9, ROWS), rng.random(ROWS) < 0.5]).astype(np.float32)


def _holed(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    return frame.mask(rng.random(frame.shape) < 0.1)


FRAMES: dict[str, Callable[[np.random.Generator], Any]] = {
    "types of NumPy": _numpy,
    "nullable, with gaps": _nullable,
    "of Arrow, with gaps": _arrow,
    "categories": _categories,
    "objects": _objects,
    "decimals": _decimals,
    "times": _times,
    "texts": _texts,
    "odd names": _names,
    "gaps": _gaps,
    "extremes": _extremes,
    "odd labels": _labels,
    "polars": _polars,
    "here: Enum of polars": _enum,  # whether it is ordered is up to polars
    "pyarrow": _pyarrow,
    "array": _array,
}
REFUSED: dict[str, Callable[[], Any]] = {
    "names twice": lambda: pd.DataFrame([[1, 2]], columns=["a", "a"]),
    "infinite": lambda: pd.DataFrame({"a": [1.0, np.inf, 2.0]}),
    "no rows": lambda: pd.DataFrame({"a": []}),
    "no columns": lambda: pd.DataFrame(index=[1, 2]),
    "lists": lambda: pd.DataFrame({"a": [[1], [2]]}),
    "complex": lambda: pd.DataFrame({"a": [1j, 2j]}),
    "array of texts": lambda: np.array([["a", "b"]]),
    "array with gaps": lambda: np.array([[1.0, np.nan]]),
    "one dimension": lambda: np.arange(3.0),
    "sparse": lambda: pd.DataFrame({"a": pd.arrays.SparseArray([0, 0, 1, 2])}),
}
