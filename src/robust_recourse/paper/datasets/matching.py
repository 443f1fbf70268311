"""Find the same cases in two tables."""

from __future__ import annotations

import numpy as np
import pandas as pd

from robust_recourse._typing import BoolArray, IntArray

__all__ = ["match_rows"]


def match_rows(first: pd.DataFrame, second: pd.DataFrame, *, most: int = 2) -> IntArray:
    """Find for every row of `second` the row of `first` that is the same case.

    Equal rows belong together, the k-th with the k-th if there are several. Of the other rows, two belong together if
    each is the only nearest one of the other, in the number of entries that differ, and at most `most` differ. No row
    of `first` is found twice.

    Parameters
    ----------
    first, second : DataFrame
        Tables with the same columns.
    most : int
        How many entries of a case may differ.

    Returns
    -------
    ndarray of int, shape (len(second),)
        Positions in `first`, -1 where there is none.
    """
    names = list(first.columns)
    left, right = (
        frame.assign(_copy=frame.groupby(names).cumcount(), _row=np.arange(len(frame))) for frame in (first, second)
    )
    equal = left.merge(right, on=[*names, "_copy"], suffixes=("_1", "_2"))
    found = np.full(len(second), -1, dtype=np.int64)
    found[equal["_row_2"].to_numpy()] = equal["_row_1"].to_numpy()
    rows_1 = np.setdiff1d(np.arange(len(first)), found)
    rows_2 = np.flatnonzero(found < 0)
    if len(rows_1) and len(rows_2):
        distance = np.zeros((len(rows_2), len(rows_1)), dtype=np.int64)
        for name in names:
            distance += second[name].to_numpy(object)[rows_2, None] != first[name].to_numpy(object)[rows_1]
        i, j = np.nonzero(_only_nearest(distance, 0) & _only_nearest(distance, 1) & (distance <= most))
        found[rows_2[i]] = rows_1[j]
    return found


def _only_nearest(distance: IntArray, axis: int) -> BoolArray:
    nearest = distance == distance.min(axis=axis, keepdims=True)
    only: BoolArray = nearest & (nearest.sum(axis=axis, keepdims=True) == 1)
    return only
