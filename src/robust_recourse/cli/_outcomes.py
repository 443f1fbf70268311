"""Rows with outcomes, to train models on: present ones, and those that arrive."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api import types

from robust_recourse.cli._model import class_of, classes_of
from robust_recourse.cli._tables import aligned, features, is_text, listed, place, read_table

__all__ = ["Labelled", "read_arriving", "read_labelled"]


class Labelled(NamedTuple):
    """Rows that the model gets, with what it is trained on.

    Attributes
    ----------
    X : DataFrame
        The rows.
    y : ndarray
        The outcome of each, as the model has its classes.
    time : Series or None
        When each is from, if that is asked for.
    """

    X: pd.DataFrame
    y: Any
    time: pd.Series | None = None


def read_labelled(path: Path, arguments: argparse.Namespace, model: Any) -> Labelled:
    """Read training rows and their outcomes; the outcome is one of the labels."""
    classes = classes_of(model)
    frame = _read(path, arguments, classes, texts=set())
    y = _outcomes(frame, path, arguments, classes)
    if classes is not None and (y == y[0]).all():
        raise ValueError(
            f"--outcome {arguments.outcome}: {path} has {frame[arguments.outcome].iloc[0]!r} in every row; models are "
            "trained on at least two classes."
        )
    return Labelled(features(frame, path, arguments), y, _times(frame, path, arguments))


def read_arriving(path: Path, arguments: argparse.Namespace, model: Any, train: pd.DataFrame) -> Labelled:
    """Read rows that arrive later and their outcomes, in the columns of the training rows."""
    classes = classes_of(model)
    frame = _read(path, arguments, classes, texts={column for column in train.columns if is_text(train[column])})
    y = _outcomes(frame, path, arguments, classes)
    frame = frame.drop(columns=[arguments.id], errors="ignore")
    return Labelled(aligned(frame, path, arguments, train), y)


def _read(path: Path, arguments: argparse.Namespace, classes: Any, texts: set[str]) -> pd.DataFrame:
    column = arguments.outcome
    if column == arguments.id:
        raise ValueError(f"--outcome {column}: this column is that of --id already.")
    # Classes that are texts may look like numbers, which must not be read as such.
    written = {column} if classes is not None and any(isinstance(label, str) for label in classes) else set()
    frame = read_table(path, arguments, texts | written)
    if column not in frame.columns:
        raise ValueError(f"--outcome {column}: {path} has no such column; it has {listed(frame.columns)}.")
    return frame


def _outcomes(frame: pd.DataFrame, path: Path, arguments: argparse.Namespace, classes: Any) -> Any:
    """Return the outcomes as the model has its classes, or as numbers if it has none."""
    given = frame[arguments.outcome]
    _need(given.notna(), f"--outcome {arguments.outcome}", "is missing. Leave such rows out", given, path, arguments)
    if classes is None:
        numbers = pd.to_numeric(given, errors="coerce")
        fault = "is no number, and the model has no classes"
        _need(numbers.notna(), f"--outcome {arguments.outcome}", fault, given, path, arguments)
        return numbers.to_numpy()
    places = given.map({value: class_of(str(value), classes) for value in given.unique()})
    fault = f"is none of the model's classes, {', '.join(map(str, classes))}"
    _need(places.notna(), f"--outcome {arguments.outcome}", fault, given, path, arguments)
    return np.asarray(classes)[places.to_numpy(dtype=np.int64)]


def _times(frame: pd.DataFrame, path: Path, arguments: argparse.Namespace) -> pd.Series | None:
    """Return when the rows are from; a CSV file has dates as texts."""
    column = arguments.time
    if column is None:
        return None
    if column not in frame.columns:
        raise ValueError(f"--time {column}: {path} has no such column; it has {listed(frame.columns)}.")
    given: pd.Series = frame[column]
    _need(given.notna(), f"--time {column}", "is missing. Fill it in, or leave such rows out", given, path, arguments)
    if types.is_bool_dtype(given):
        raise ValueError(f"--time {column}: {path} has neither numbers nor dates there.")
    if given.nunique() < 2:
        raise ValueError(
            f"--time {column}: {path} has {given.iloc[0]} in every row, so that no row is older than others."
        )
    if not is_text(given):
        return given
    # Only years first: in other orders months and days are told apart by guessing.
    dates: pd.Series = pd.to_datetime(given, format="ISO8601", errors="coerce", utc=True)
    fault = "is neither a number nor a date such as 2026-01-31"
    _need(dates.notna(), f"--time {column}", fault, given, path, arguments)
    return dates


def _need(
    good: pd.Series, option: str, fault: str, given: pd.Series, path: Path, arguments: argparse.Namespace
) -> None:
    """Raise at the first row that is not good."""
    if not good.all():
        position = int((~good).to_numpy().argmax())
        value = given.iloc[position]
        shown = "the value" if pd.isna(value) else repr(value)
        raise ValueError(f"{option}: {place(path, arguments, position)}: {shown} {fault}.")
