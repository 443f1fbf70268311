"""The columns that are learnt (kind, unit of cost, step, digits, range, categories, why it is fixed) from the four
data sets, as their loaders read them and as their files stand, and from fifteen kinds of frames; of the frames also the
types and bits of rows there and back, to what a model and to what a user gets, as they are and after a change of each
column. Tables may move where this is asked, and learn more of a column; the engine may not touch it. With another unit
every cost is another one, and with another type the model is asked something else.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tests.pins.frames import FRAMES, REFUSED
from tests.pins.pinning import ABSENT, digest

from robust_recourse.paper.datasets import available, load
from robust_recourse.tables import Schema, Table

PACKAGES = ("polars", "pyarrow")
FEW = 6
"""Categories that are shown; more are a digest."""


def observe(folder: Path) -> Any:  # noqa: ARG001
    """Return what is learnt of data sets and of frames, and what comes back."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is said of a column is pinned by its tests, what is learnt here
        return {
            "data sets": dict(_data_sets()),
            "files": dict(_files()),
            "frames": {name: _of_frame(make) for name, make in FRAMES.items()},
            "refused": {name: _refused(make) for name, make in REFUSED.items()},
        }


def learnt(schema: Schema) -> dict[str, Any]:
    """Return what is known of every column, without what is not said of its kind."""
    return {repr(column.name): _facts(column) for column in schema.columns}


def _facts(column: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {"kind": column.kind}
    if column.kind == "number":
        facts |= {"unit": column.unit, "step": column.step, "digits": column.digits}
        facts |= {"range": [float(column.low), float(column.high)]}
    elif column.kind == "fixed":
        facts["here: why"] = column.why  # names of types differ
    else:
        values = [value if isinstance(value, str | bool | int | float) else repr(value) for value in column.values]
        facts["values"] = values if len(values) <= FEW else f"{len(values)}, {digest(repr(values), prefix='')}"
    return facts


def _data_sets() -> Iterator[tuple[str, Any]]:
    missing = set(available().query("found == 'missing'")["name"])
    for name in ("synthetic", "german", "sba", "gmc"):
        for half in ("D1", "D2"):
            if name in missing:
                yield f"{name}, {half}", ABSENT
                continue
            data = load(name)
            yield f"{name}, {half}", learnt(Schema.learn(getattr(data, half).drop(columns=data.label)))


def _files() -> Iterator[tuple[str, Any]]:
    """Yield what is learnt of files as they stand, which have gaps, dates, codes and texts."""
    readers = {
        "german.data": lambda file: pd.read_csv(file, sep=" ", header=None).rename(columns="A{}".format),
        "SouthGermanCredit.asc": lambda file: pd.read_csv(file, sep=" "),
        "SBAcase.11.13.17.csv": lambda file: pd.read_csv(file, low_memory=False),
        "cs-training.csv.gz": lambda file: pd.read_csv(file, nrows=5000),
    }
    for name, read in readers.items():
        found = sorted(Path(os.environ.get("ROBUST_RECOURSE_DATA", "/nowhere")).glob(f"**/{name}"))
        yield name, learnt(Schema.learn(read(found[0]))) if found else ABSENT


def _refused(make: Callable[[], Any]) -> str:
    try:
        schema = Schema.learn(make())
    except Exception as error:
        return f"{type(error).__name__}, {'with' if repr('a') in str(error) else 'without'} the column"
    return f"accepted: {', '.join(column.kind for column in schema.columns)}"


def _of_frame(make: Callable[[np.random.Generator], Any]) -> Any:
    """Return what is learnt of a frame, and what its rows are there and back."""
    try:
        frame = make(np.random.default_rng(7))
    except ImportError:
        return ABSENT
    schema = Schema.learn(frame)
    table = schema.read(frame, "X")
    everybody, rows = np.ones(len(table), dtype=bool), np.arange(len(table))
    asked, back = table.decode(table.values, rows), table.restore(table.values, rows, everybody)
    changes = {repr(column.name): _other(table, k) for k, column in enumerate(schema.columns)}
    after = {name: table.restore(values, rows, everybody) for name, values in changes.items() if values is not None}
    return {
        "columns": learnt(schema),
        "the model gets what was given": same(asked, frame, labels=False),
        "the user gets what was given": same(back, frame, labels=True),
        "gaps": int(table.missing.sum()),
        "here: types": {
            "model": types(asked),
            "user": types(back),
            "user, some without recourse": types(table.restore(table.values, rows, rows % 2 == 0)),
        },
        "rows": digest(repr(cells(asked)), repr(cells(back))),
        "changed, for the model": {
            name: digest(repr(cells(table.decode(values, rows))))
            for name, values in changes.items()
            if values is not None
        },
        "changed, for the user": {name: digest(repr(cells(rows))) for name, rows in after.items()},
        "cells that changed": {name: _differing(back, rows) for name, rows in after.items()},
    }


def _other(table: Table, k: int) -> Any:
    """Return rows with other cells in a column: those of the next person who has one; None where nothing may change."""
    if table.columns[k].kind == "fixed" or table.missing[:, k].all():
        return None
    values, full = table.values.copy(), np.flatnonzero(~table.missing[:, k])
    values[full, k] = np.roll(values[full, k], 1)
    return values


def types(frame: Any) -> list[str]:
    """Return the types of the columns of any frame, as texts."""
    if isinstance(frame, np.ndarray):
        return [str(frame.dtype)]
    kinds = frame.schema.types if hasattr(frame, "append_column") else frame.dtypes
    return [str(kind) for kind in kinds]


def cells(frame: Any) -> list[Any]:
    """Return the labels and cells of any frame as values of Python, with their types, bits of floats included."""
    if isinstance(frame, np.ndarray):
        return [frame.tobytes()]
    if isinstance(frame, pd.DataFrame):
        columns = [frame.iloc[:, k].tolist() for k in range(frame.shape[1])]
        return [list(map(str, frame.index)), list(map(str, frame.columns)), [list(map(_cell, c)) for c in columns]]
    return [list(map(_cell, frame[name].to_list())) for name in frame.columns]


def _cell(cell: Any) -> Any:
    missing = cell is None or cell is pd.NaT or cell is pd.NA or cell != cell
    return "gap" if missing else (type(cell).__name__, cell.hex() if isinstance(cell, float) else str(cell))


def same(frame: Any, other: Any, *, labels: bool) -> bool:
    """Say whether two frames have the same types and cells, and labels of rows."""
    if isinstance(frame, pd.DataFrame) and isinstance(other, pd.DataFrame) and not labels:
        frame, other = (each.reset_index(drop=True) for each in (frame, other))
    return type(frame) is type(other) and types(frame) == types(other) and cells(frame) == cells(other)


def _differing(before: Any, after: Any) -> int:
    """Return how many cells differ."""
    if isinstance(before, np.ndarray):
        return int((before != after).sum())
    one, two = (cells(frame)[-1] if isinstance(frame, pd.DataFrame) else cells(frame) for frame in (before, after))
    return sum(a != b for pair in zip(one, two, strict=True) for a, b in zip(*pair, strict=True))
