"""The tables of a command: training rows and refused rows, from CSV or Parquet files, and results."""

from __future__ import annotations

import argparse
import math
from collections.abc import Collection
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api import types

from robust_recourse._files import replacing
from robust_recourse.cli._csv import harmless, line_of, read_csv, write_csv

__all__ = [
    "add_raw",
    "add_reading",
    "aligned",
    "features",
    "is_text",
    "listed",
    "named",
    "need_table",
    "place",
    "read_people",
    "read_table",
    "read_training",
    "write_table",
]

_SUFFIXES = (".csv", ".parquet")


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how tables are read."""
    group = parser.add_argument_group("reading tables (.csv or .parquet)")
    group.add_argument(
        "--label",
        action="append",
        default=[],
        metavar="COLUMN",
        help="a column that the model does not get, such as the outcome; may be given several times",
    )
    group.add_argument(
        "--id", metavar="COLUMN", help="a column that names the people; the model does not get it, results show it"
    )
    group.add_argument(
        "--separator", type=_sign, default=",", metavar="SIGN", help="between the fields of a CSV file (default: ,)"
    )
    group.add_argument(
        "--missing",
        action="append",
        metavar="TEXT",
        help="what stands for a missing value in a CSV file; may be given several times (default: nothing, NA, NaN, "
        "None, null and what else pandas takes for missing)",
    )


def add_raw(group: argparse._ActionsContainer) -> None:
    """Add the option that leaves texts as they are."""
    group.add_argument(
        "--raw-csv",
        action="store_true",
        help="write texts into a .csv file as they are, also those that a spreadsheet takes for formulas (default: "
        "they begin with a quote)",
    )


def _sign(text: str) -> str:
    sign = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(sign) != 1 or sign in '"\r\n':
        raise argparse.ArgumentTypeError(f"must be one sign, or tab, got {text!r}")
    return sign


def read_training(path: Path, arguments: argparse.Namespace) -> pd.DataFrame:
    """Read training rows, without labels and names of people."""
    return features(read_table(path, arguments), path, arguments)


def features(frame: pd.DataFrame, path: Path, arguments: argparse.Namespace) -> pd.DataFrame:
    """Return the columns of training rows that the model gets: all but labels and names of people."""
    for column in arguments.label:
        if column not in frame.columns:
            raise ValueError(f"--label {column}: {path} has no such column; it has {listed(frame.columns)}.")
    if arguments.id in arguments.label:
        raise ValueError(f"--id {arguments.id}: this column is a --label already.")
    frame = frame.drop(columns=[c for c in (*arguments.label, arguments.id) if c in frame.columns])
    if not frame.shape[1]:
        raise ValueError(f"{path} has no other columns than those of --label and --id.")
    return frame


def read_people(path: Path, arguments: argparse.Namespace, train: pd.DataFrame) -> pd.DataFrame:
    """Read rows to explain; they have the columns of the training rows, and are named by the column of --id."""
    texts = {column for column in train.columns if is_text(train[column])}
    frame = read_table(path, arguments, texts=texts | {arguments.id}, fewest=0)
    if arguments.id is not None:
        frame = named(frame, path, arguments.id)
    return aligned(frame, path, arguments, train)


def aligned(frame: pd.DataFrame, path: Path, arguments: argparse.Namespace, train: pd.DataFrame) -> pd.DataFrame:
    """Return rows without labels; they must have the columns of the training rows, with numbers where these have."""
    frame = frame.drop(columns=[c for c in arguments.label if c in frame.columns])
    lacking, unknown = train.columns.difference(frame.columns), frame.columns.difference(train.columns)
    if len(lacking):
        raise ValueError(
            f"{path} lacks columns of {arguments.train}: {listed(lacking)}. Add them, or name what the model does not "
            "get with --label."
        )
    if len(unknown):
        raise ValueError(
            f"{path} has columns that {arguments.train} has not: {listed(unknown)}. Remove them, or name them with "
            "--id or --label."
        )
    for column in train.columns:
        if types.is_numeric_dtype(train[column]) and not types.is_bool_dtype(train[column]):
            _check_numbers(frame[column], path, arguments)
        elif path.suffix.lower() == ".csv" and types.infer_dtype(train[column], skipna=True) == "boolean":
            frame[column] = _with_booleans(frame[column])
    return frame


def need_table(path: Path) -> None:
    """Fail before all work if a file is none that can be read and written."""
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise ValueError(f"{path}: a table ends in .csv or .parquet, not {suffix!r}.")
    if suffix == ".parquet" and find_spec("pyarrow") is None:
        raise ImportError(f"{path}: Parquet files need pyarrow: pip install 'robust-recourse[parquet]'")


def write_table(frame: pd.DataFrame, path: Path, separator: str, *, raw: bool) -> None:
    """Write a table in one move; without `raw`, no text of a CSV file is a formula to a spreadsheet."""
    with replacing(path) as written:
        if path.suffix.lower() == ".csv":
            write_csv(frame if raw else harmless(frame), written, separator)
        else:
            frame.to_parquet(written, index=False)


def read_table(path: Path, arguments: argparse.Namespace, texts: Collection[str] = (), fewest: int = 1) -> pd.DataFrame:
    """Read a table as it is, of at least `fewest` rows; columns of `texts` are text, whatever it looks like."""
    need_table(path)
    with path.open("rb"):  # a file that is not there fails here, for all kinds alike
        pass
    if path.suffix.lower() == ".csv":
        return read_csv(path, arguments.separator, arguments.missing, texts, fewest=fewest)
    try:
        frame = pd.read_parquet(path)
    except (OSError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: this is no Parquet file that can be read: {error}") from error
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    if not all(isinstance(name, str) for name in frame.columns) or not frame.columns.is_unique:
        raise ValueError(f"{path}: the names of columns must be texts, each another, got {listed(frame.columns)}.")
    if len(frame) < fewest:
        raise ValueError(f"{path} has no rows.")
    return frame


def named(frame: pd.DataFrame, path: Path, column: str) -> pd.DataFrame:
    """Return rows with the names of people, which the column of --id has, as their index."""
    if column not in frame.columns:
        raise ValueError(f"--id {column}: {path} has no such column; it has {listed(frame.columns)}.")
    names = frame[column]
    if names.isna().any():
        raise ValueError(f"--id {column}: {path} has a row without a name, row {int(names.isna().argmax())}.")
    if names.duplicated().any():
        raise ValueError(f"--id {column}: {path} has the name {names[names.duplicated()].iloc[0]!r} twice.")
    return frame.set_index(column)


def is_text(series: pd.Series) -> bool:
    """Whether a column holds text and nothing else."""
    values = series.cat.categories if isinstance(series.dtype, pd.CategoricalDtype) else series
    return types.infer_dtype(values, skipna=True) == "string"


def _check_numbers(series: pd.Series, path: Path, arguments: argparse.Namespace) -> None:
    """Name the first entry that is no number, where the training rows have numbers only."""
    if types.is_numeric_dtype(series):
        return
    try:
        numbers = pd.to_numeric(series, errors="coerce")
    except OverflowError:  # of an integer beyond all numbers with a point
        numbers = series.map(_number)
    wrong = (numbers.isna() & series.notna()).to_numpy()
    if not wrong.any():
        return
    position = int(wrong.argmax())
    raise ValueError(
        f"{place(path, arguments, position)}: {series.iloc[position]!r} in column {series.name!r} is no number, as "
        f"those of {arguments.train} are. Correct it, or say with --missing what stands for a missing value."
    )


def _with_booleans(series: pd.Series) -> pd.Series:
    """Return a column with the booleans that all entries were read as texts for, because one of them is none."""
    if not is_text(series):
        return series
    booleans = {word: value for value in (False, True) for word in (f"{value}", f"{value}".lower(), f"{value}".upper())}
    return series.astype(object).map(lambda cell: booleans.get(cell, cell))


def _number(value: Any) -> float:
    try:
        return float(value)
    except (OverflowError, TypeError, ValueError):
        return math.nan


def place(path: Path, arguments: argparse.Namespace, position: int) -> str:
    """Name a row, counted from 0, by its line if there are lines."""
    csv = path.suffix.lower() == ".csv"
    return f"{path}, {f'line {line_of(path, arguments.separator, position)}' if csv else f'row {position}'}"


def listed(columns: pd.Index) -> str:
    """Name columns in a sentence."""
    return ", ".join(repr(column) for column in columns)
