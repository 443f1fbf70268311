"""What a panel of cost against validity shows: configurations, frontiers and the part of the axes around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.metrics import pareto_frontier

__all__ = ["Curve", "Limits", "check_points", "cost_limits", "curves_of", "free_corner", "validity_limits"]

_FAR = 3.0  # a panel ends at so many times the median of the costs at which the frontiers end
_MARGIN = 0.07  # around the frontiers, as a share of what they span
_LEAST = 0.04  # of validity, or relative to the cost, for frontiers that are a single point
_ROOM = 0.2  # at the right edge, as a share of the panel, for methods that are beyond it
_CORNERS = ((1.0, 0.0), (0.0, 1.0), (0.0, 0.0), (1.0, 1.0))

Limits = tuple[float, float]


class Curve(NamedTuple):
    """The configurations of a method in a panel, and the positions of those on its frontier."""

    method: str
    cost: FloatArray
    validity: FloatArray
    frontier: IntArray

    @property
    def line(self) -> FloatArray:
        """The frontier by increasing cost, of shape (n, 2)."""
        return np.column_stack([self.cost[self.frontier], self.validity[self.frontier]])

    @property
    def dominated(self) -> FloatArray:
        """The other configurations, of shape (n, 2)."""
        others = np.delete(np.arange(len(self.cost)), self.frontier)
        return np.column_stack([self.cost[others], self.validity[others]])

    def outside(self, xlim: Limits, ylim: Limits) -> BoolArray:
        """Return which configurations the panel does not show."""
        across, up = ((v < low) | (v > high) for v, (low, high) in ((self.cost, xlim), (self.validity, ylim)))
        return np.asarray(across | up)


def check_points(points: pd.DataFrame, x: str, validities: Sequence[str]) -> pd.DataFrame:
    """Return the columns that are needed, names as text and numbers as floats; values that are not finite are NaN."""
    if not isinstance(points, pd.DataFrame):
        raise TypeError(f"points must be a DataFrame with one row for each configuration, got {type(points).__name__}.")
    if not validities:
        raise ValueError("validities is empty: name at least one column of points.")
    names, numbers = ["dataset", "method"], [x, *validities]
    for name in [*names, *numbers]:
        if name not in points.columns:
            known = ", ".join(repr(column) for column in points.columns)
            raise ValueError(f"points has no column {name!r}. Its columns are {known or 'none'}.")
    if points.empty:
        raise ValueError("points is empty: it needs one row for each configuration.")
    table = pd.DataFrame(index=range(len(points)))
    for name in names:
        missing = points[name].isna().to_numpy()
        if missing.any():
            raise ValueError(f"points[{name!r}] has no value in row {int(missing.argmax())}.")
        table[name] = [str(value) for value in points[name]]
    for name in numbers:
        try:
            values = points[name].to_numpy(dtype=float, na_value=np.nan)
        except (TypeError, ValueError) as error:
            raise ValueError(f"points[{name!r}] must hold numbers: {error}.") from error
        table[name] = np.where(np.isfinite(values), values, np.nan)
    return table


def curves_of(table: pd.DataFrame, x: str, validity: str, methods: Sequence[str]) -> list[Curve]:
    """Return a curve for each of the methods that has a configuration in the table, in their order."""
    curves = []
    for method in methods:
        rows = table[table["method"] == method]
        if len(rows):
            cost, share = rows[x].to_numpy(dtype=float), rows[validity].to_numpy(dtype=float)
            curves.append(Curve(method, cost, share, pareto_frontier(cost, share)))
    return curves


def cost_limits(curves: Sequence[Curve]) -> Limits:
    r"""Return where the panels of a data set begin and end.

    All frontiers are inside, except for what costs more than three times the median of :math:`\max_i c_i` over the
    frontiers: one extravagant method would press all others against the left edge. If a whole frontier is beyond,
    there is some room for a mark of it.
    """
    costs = np.concatenate([curve.line[:, 0] for curve in curves])
    ends = np.sort([curve.line[-1, 0] for curve in curves])
    median = float(ends[len(ends) // 2])
    most = _FAR * median if median > 0.0 else float(ends[-1])
    near = costs[costs <= most]
    low, high = _widened(float(near.min()), float(near.max()), _LEAST * max(abs(float(near.max())), _LEAST))
    beyond = any(curve.line[0, 0] > high for curve in curves)
    return low, high + _ROOM * (high - low) * beyond


def validity_limits(curves: Sequence[Curve], xlim: Limits) -> Limits:
    """Return where a panel begins and ends upwards: it holds all frontiers within `xlim`, and the methods beyond."""
    heights = [
        curve.line[inside if inside.any() else slice(0, 1), 1]
        for curve in curves
        for inside in [curve.line[:, 0] <= xlim[1]]
    ]
    low, high = (float(end(np.concatenate(heights))) for end in (np.min, np.max))
    return _widened(low, high, _LEAST)


def free_corner(curves: Sequence[Curve], xlim: Limits, ylim: Limits, size: tuple[float, float]) -> tuple[float, float]:
    """Return the emptiest corner of a panel for a text of `size`, in parts of the panel; (1, 0) is bottom right."""
    crowd = [np.empty((0, 2))]
    for curve in curves:
        # Markers are larger than dots and worse to cover, and the line between them counts too.
        line, steps = curve.line, np.linspace(0.0, 1.0, 101)
        places = np.linspace(0.0, 1.0, len(line))
        crowd += [curve.dominated, *[line] * 10, np.column_stack([np.interp(steps, places, side) for side in line.T])]
    spots = (np.concatenate(crowd) - [xlim[0], ylim[0]]) / [xlim[1] - xlim[0], ylim[1] - ylim[0]]
    inside = spots[((spots >= 0.0) & (spots <= 1.0)).all(axis=1)]
    return min(_CORNERS, key=lambda corner: int((np.abs(inside - corner) <= size).all(axis=1).sum()))


def _widened(low: float, high: float, least: float) -> Limits:
    """Add a margin; where there is less than `least` to see, show so much, mostly below."""
    missing = max(least - (high - low), 0.0)
    low, high = low - 0.75 * missing, high + 0.25 * missing
    return low - _MARGIN * (high - low), high + _MARGIN * (high - low)
