"""Scales of columns that outliers do not stretch."""

from __future__ import annotations

import numpy as np

from robust_recourse._typing import FloatArray

__all__ = ["spread"]


def spread(table: FloatArray) -> FloatArray:
    """Return the scale of every column: the smaller of deviation and normed interquartile range, 1 if it is constant.

    Outliers stretch the deviation, and a column that is mostly one value has no interquartile range.

    Examples
    --------
    >>> column = np.array([[-1.0], [0.0], [1.0], [1000.0]])
    >>> bool(spread(column)[0] < 200.0 < column.std())
    True
    """
    deviation = table.std(axis=0)
    low, high = np.quantile(table, [0.25, 0.75], axis=0)
    middle = (high - low) / 1.349
    scale = np.where(middle > 0.0, np.minimum(middle, deviation), deviation)
    # The deviation of a constant column is rounding.
    constant = scale <= 1e-12 * np.abs(table).max(axis=0)
    return np.where(constant, 1.0, scale)
