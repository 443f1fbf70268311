"""Scores of recourses: pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from robust_recourse._typing import FloatArray, IntArray
from robust_recourse._validation import check_real
from robust_recourse.models.acceptance import accepted_by
from robust_recourse.tables.foreign import to_pandas

__all__ = ["accepted_by", "distances", "future_validity", "hypervolume", "pareto_frontier"]


def future_validity(
    models: Sequence[Any], X: Any, *, favourable: Any = None, threshold: float | None = None
) -> FloatArray:
    """Return for every row the share of the models that accept it.

    Parameters
    ----------
    models : sequence of models
        Retrained models.
    X : DataFrame or array_like of shape (m, p)
        Recourses.
    favourable, threshold
        As the recourse methods take them; the same for all models.

    Examples
    --------
    >>> future_validity([lambda X: X[:, 0] > 0, lambda X: X[:, 0] > 1], np.array([[0.5], [2.0]]))
    array([0.5, 1. ])
    """
    if not models:
        raise ValueError("models is empty: at least one retrained model is needed.")
    accepted = [accepted_by(model, X, favourable=favourable, threshold=threshold) for model in models]
    share: FloatArray = np.mean(accepted, axis=0)
    return share


class Distances(NamedTuple):
    """How far recourses are from their instances; NaN for a row without a recourse."""

    l1: FloatArray
    l2: FloatArray
    n_changes: FloatArray


def distances(x: Any, x0: Any) -> Distances:
    r"""Return :math:`\|x - x_0\|_1`, :math:`\|x - x_0\|_2` and the number of columns that change, row by row.

    Parameters
    ----------
    x, x0 : DataFrame or array_like of shape (m, p)
        Recourses and instances: numbers only. A value that is missing in both has not changed.

    Raises
    ------
    TypeError
        For columns that are no numbers: what a change of category costs is in ``cost`` of the recourses.

    Examples
    --------
    >>> distances([[3.0, 4.0], [np.nan, np.nan]], [[0.0, 0.0], [1.0, 1.0]])
    Distances(l1=array([ 7., nan]), l2=array([ 5., nan]), n_changes=array([ 2., nan]))
    """
    x, x0 = to_pandas(x), to_pandas(x0)
    if isinstance(x, pd.DataFrame) and isinstance(x0, pd.DataFrame):
        x0 = x0[x.columns]
    after, before = _numbers(x, "x"), _numbers(x0, "x0")
    if after.ndim != 2 or after.shape != before.shape:
        raise ValueError(f"x and x0 must be tables of the same shape, got {after.shape} and {before.shape}.")
    moved = np.where(np.isnan(after) & np.isnan(before), 0.0, np.abs(after - before))
    moved[np.isnan(after).all(axis=1)] = np.nan
    missing = np.isnan(moved).any(axis=1)
    changes = np.where(missing, np.nan, (moved != 0.0).sum(axis=1))
    return Distances(moved.sum(axis=1), np.sqrt((moved**2).sum(axis=1)), changes)


def pareto_frontier(cost: ArrayLike, validity: ArrayLike) -> IntArray:
    """Return the positions of the points that no other point dominates, by increasing cost.

    A point dominates another if it costs no more, is at least as valid, and is better in one of the two. Of equal
    points the first is returned. Points with NaN are never on the frontier.

    Examples
    --------
    >>> pareto_frontier([1.0, 2.0, 3.0, 2.0], [0.5, 0.9, 0.8, 0.7])
    array([0, 1])
    """
    costs, validities = _points(cost, validity)
    order = np.lexsort((-validities, costs))
    order = order[~(np.isnan(costs) | np.isnan(validities))[order]]
    best = np.maximum.accumulate(np.concatenate([[-np.inf], validities[order]]))
    frontier: IntArray = order[validities[order] > best[:-1]]
    return frontier


def hypervolume(cost: ArrayLike, validity: ArrayLike, reference: tuple[float, float]) -> float:
    r"""Return the share of the rectangle between the ideal and the reference point that the points dominate.

    The ideal point is (cost 0, validity 1), the reference point :math:`(c, v)` the worst pair that still counts.
    The share lies in [0, 1] and is larger for a better frontier; points that cost more than :math:`c` or are less
    valid than :math:`v` add nothing.

    Parameters
    ----------
    cost, validity : array_like of shape (n,)
        Points, for instance the mean cost and the mean validity of each configuration of a method.
    reference : (float, float)
        Cost, positive, and validity, below 1, of the reference point.

    Examples
    --------
    >>> hypervolume([1.0, 2.0], [0.5, 1.0], reference=(4.0, 0.0))
    0.625
    """
    most = check_real(reference[0], "reference[0]", minimum=0.0, strict=True)
    least = check_real(reference[1], "reference[1]", minimum=0.0, maximum=1.0)
    if least == 1.0:
        raise ValueError("reference[1] must be below 1, got 1.")
    costs, validities = _points(cost, validity)
    if (costs < 0.0).any() or (validities < 0.0).any() or (validities > 1.0).any():
        raise ValueError("cost must not be negative, and validity must be in [0, 1].")
    frontier = pareto_frontier(costs, validities)
    frontier = frontier[(costs[frontier] <= most) & (validities[frontier] > least)]
    widths = np.diff(np.append(costs[frontier], most))
    area = float((widths * (validities[frontier] - least)).sum())
    return area / (most * (1.0 - least))


def _numbers(table: Any, name: str) -> FloatArray:
    if not isinstance(table, pd.DataFrame):
        return np.asarray(table, dtype=float)
    for column, dtype in table.dtypes.items():
        if not (pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_bool_dtype(dtype)):
            raise TypeError(
                f"{name}: column {column!r} has dtype {dtype}, and distances are between numbers. "
                "Use cost or column_costs of the recourses, which know what a change of category costs."
            )
    return table.to_numpy(dtype=float, na_value=np.nan)


def _points(cost: ArrayLike, validity: ArrayLike) -> tuple[FloatArray, FloatArray]:
    costs, validities = np.asarray(cost, dtype=float), np.asarray(validity, dtype=float)
    if costs.ndim != 1 or costs.shape != validities.shape:
        raise ValueError(
            f"cost and validity must be vectors of the same length, got shapes {costs.shape} and {validities.shape}."
        )
    return costs, validities
