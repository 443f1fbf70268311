"""Scales of columns that outliers do not stretch."""

from __future__ import annotations

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray

__all__ = ["scales_differ", "spread"]

_CONSTANT = 1e-12  # relative spread of a column that is rounding
_DIFFERENT = 100.0


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
    constant = scale <= _CONSTANT * np.abs(table).max(axis=0)
    return np.where(constant, 1.0, scale)


def scales_differ(table: FloatArray, weights: FloatArray, free: BoolArray) -> str | None:
    """Say in a sentence or two that costs do not compare across columns, if that is so.

    The cost of an array is in its own units. Where one column is spread over tens of thousands and another over a
    few tenths, recourses only change the second, and a sampling radius means nothing in one of them.

    Parameters
    ----------
    table : ndarray of shape (n, p)
        Training rows.
    weights : ndarray of shape (p,)
        Cost weights of the columns; a spread counts times its weight.
    free : ndarray of bool, shape (p,)
        The columns that may change.

    Returns
    -------
    str or None
        A message, or None if no two of these columns differ in scale by more than a factor of 100.

    Examples
    --------
    >>> table = np.array([[0.1, 52_000.0], [0.4, 18_000.0], [0.2, 31_000.0]])
    >>> every = np.ones(2, dtype=bool)
    >>> print(scales_differ(table, np.ones(2), every).split(". ")[0])
    The columns of X have very different scales: column 1 has a spread of 1.26e+04, column 0 one of 0.111
    >>> scales_differ(table, np.array([1.0, 1e-5]), every) is None
    True
    """
    moving = np.flatnonzero(free & (np.ptp(table, axis=0) > _CONSTANT * np.abs(table).max(axis=0)))
    if not moving.size:
        return None
    scale = spread(table[:, moving])
    costs = scale * weights[moving]
    wide, narrow = int(costs.argmax()), int(costs.argmin())
    if costs[wide] <= _DIFFERENT * costs[narrow]:
        return None
    return (
        f"The columns of X have very different scales: column {moving[wide]} has a spread of {scale[wide]:.3g}, column "
        f"{moving[narrow]} one of {scale[narrow]:.3g}. The cost of an array is in its own units, so that recourses "
        "will change little but the columns of small numbers. Give a DataFrame, whose costs are in standard "
        "deviations, or weights in the ActionSet, about 1 divided by the spread."
    )
