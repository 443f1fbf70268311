"""How the values of accepted and of refused people are distributed, column by column."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from robust_recourse._typing import BoolArray
from robust_recourse.notices.values import json_value
from robust_recourse.tables.foreign import is_frame, to_pandas

__all__ = ["background"]

_BINS = 24
_MOST_VALUES = 40  # categories that are told apart; the page has no room for more
_TAIL = 0.01  # of the rows lie beyond the ends on either side, so that one large value does not fill the picture


def background(table: Any, accepted: BoolArray) -> list[dict[str, Any]]:
    """Count accepted and refused rows by the values of every column.

    Parameters
    ----------
    table : DataFrame or ndarray of shape (n, p)
        Rows, such as the training rows.
    accepted : ndarray of bool, shape (n,)
        Which of them the model accepts.

    Returns
    -------
    list of dict
        One for every column, with the counts ``accepted`` and ``refused``: of numbers between ``edges``, of other
        values by ``values``, the most frequent first. Values beyond the edges count in the last bin on their side, and
        missing ones not at all. A column without values has empty lists.

    Examples
    --------
    >>> background(pd.DataFrame({"job": ["cook", "clerk", "cook"]}), np.array([True, False, False]))
    [{'values': ['cook', 'clerk'], 'accepted': [1, 0], 'refused': [1, 1]}]
    """
    frame = to_pandas(table) if is_frame(table) else pd.DataFrame(np.asarray(table))
    return [_column(frame.iloc[:, k], np.asarray(accepted, dtype=bool)) for k in range(frame.shape[1])]


def _column(column: pd.Series[Any], accepted: BoolArray) -> dict[str, Any]:
    known = column.notna().to_numpy()
    column, accepted = column[known], accepted[known]
    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype):
        numbers = column.to_numpy(dtype=float)
        finite = np.isfinite(numbers)
        return _numbers(numbers[finite], accepted[finite])
    return _values(column, accepted)


def _numbers(numbers: Any, accepted: BoolArray) -> dict[str, Any]:
    if not len(numbers):
        return {"edges": [], "accepted": [], "refused": []}
    # Ends that somebody has: they are written below the picture.
    low, high = np.quantile(numbers, [_TAIL, 1.0 - _TAIL], method="inverted_cdf")
    if low == high:
        low, high = low - 0.5, high + 0.5
    edges = np.linspace(low, high, _BINS + 1)
    inside = np.clip(numbers, low, high)
    counts = {name: np.histogram(inside[who], edges)[0].tolist() for name, who in _sides(accepted)}
    return {"edges": edges.tolist(), **counts}


def _values(column: pd.Series[Any], accepted: BoolArray) -> dict[str, Any]:
    values = column.astype(object).map(json_value)
    most = values.value_counts(sort=True).head(_MOST_VALUES).index.tolist()
    counts = {name: values[who].value_counts() for name, who in _sides(accepted)}
    told = {name: [int(count.get(value, 0)) for value in most] for name, count in counts.items()}
    return {"values": most, **told}


def _sides(accepted: BoolArray) -> tuple[tuple[str, BoolArray], tuple[str, BoolArray]]:
    return ("accepted", accepted), ("refused", ~accepted)
