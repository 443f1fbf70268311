"""The panels of a recourse: a plane, the decision regions in it, the points and the samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import XAxis, YAxis
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from scipy.ndimage import gaussian_filter

from robust_recourse._typing import BoolArray, FloatArray
from robust_recourse.report import _facts as facts
from robust_recourse.report._axis import Axis, Categories, Numbers
from robust_recourse.report._plane import Names, Plane
from robust_recourse.report._window import Window
from robust_recourse.report.figures._style import BLUE, GREEN, INK, PALE_BLUE, PALE_GREEN, RED
from robust_recourse.result import Recourse

__all__ = ["draw_point", "draw_points", "draw_regions", "draw_samples", "draw_zero", "panels", "show"]

_LONGEST = 18  # letters of a category in a line
_FINER = (5, 20, 80)  # how many ticks between which the choice is, where numbers are not as dear everywhere
_APART = 0.14  # of an axis, between such ticks


def panels(plane: Plane, n: int) -> tuple[Figure, list[Axes]]:
    """Make a figure with panels side by side, or on top of each other for a line."""
    height = (4.6 if n == 1 else 5.8) if plane.is_line else (6.8 if n == 1 else 5.8)
    layout = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.06, rect=(0.0, 0.0, 1.0, 1.0 - 0.3 / height))
    figure = Figure(figsize=(9.0, height), dpi=100.0, layout=layout)
    rows, across = (n, 1) if plane.is_line else (1, n)
    return figure, list(figure.subplots(rows, across, squeeze=False).flat)


def show(ax: Axes, plane: Plane, window: Window) -> None:
    """Set limits and labels."""
    ax.set(xlim=window.x, ylim=window.y, xlabel=facts.fill_evenly(plane.labels[0], 50))
    if plane.is_line:
        ax.set_yticks([])
    else:
        ax.set(ylabel=facts.fill_evenly(plane.labels[1], 50), aspect="auto" if plane.categories else "equal")
    for k, shown in enumerate(plane.axes):
        _set_ticks(ax.yaxis if k else ax.xaxis, window[k], shown, plane.bounds[k])


def _set_ticks(axis: XAxis | YAxis, side: tuple[float, float], shown: Axis, bounds: tuple[float, float]) -> None:
    """Write the numbers or words of the table at an axis: those that can be."""
    if isinstance(shown, Categories):
        places = [place for place in range(len(shown.words)) if side[0] < place < side[1]]
        axis.set_ticks(places, [facts.fill_evenly(shown.words[place], _LONGEST) for place in places])
        axis.set_tick_params(length=0)
        for place in places[1:]:
            line = axis.axes.axvline if axis.axis_name == "x" else axis.axes.axhline
            line(place - 0.5, color="#999999", linewidth=0.8, linestyle=(0, (1, 3)), zorder=1)
        return
    possible = max(side[0], bounds[0]), min(side[1], bounds[1])
    numbers = _round_numbers(shown, possible, _APART * (side[1] - side[0]))
    axis.set_ticks(shown.place(np.array(numbers)), [shown.text(number) for number in numbers])


def _round_numbers(shown: Numbers, possible: tuple[float, float], apart: float) -> list[float]:
    """Return numbers of the table between two places; if they do not stand evenly, finer ones where there is room."""
    low, high = shown.at(np.array(possible))
    spare = 1e-9 * abs(high - low)  # what rounding takes from a bound
    chosen: list[float] = []
    for most in _FINER if shown.effort else _FINER[:1]:
        for number in MaxNLocator(most).tick_values(low, high):
            away = np.abs(shown.place(np.array(chosen)) - shown.place(np.array([number])))
            near = shown.effort and (away < apart).any()
            if low - spare <= number <= high + spare and not near:
                chosen.append(float(number))
    return sorted(chosen)


def draw_regions(
    ax: Axes, plane: Plane, window: Window, model: Any, columns: Names | None, recourse: Recourse, **decides: Any
) -> list[Artist]:
    """Colour where the model accepts and refuses, with what `decides` about it; return what the legend shows."""
    u, v, labels = facts.regions(model, columns, plane, window, recourse, **decides)
    # Labels are 0 or 1: a slight blur makes the line between the cells smooth.
    accepted = gaussian_filter(labels.astype(float), 2.0, mode="nearest")
    ax.contourf(u, v, accepted, [-1.0, 0.5, 2.0], colors=[PALE_BLUE, PALE_GREEN], zorder=0)
    draw_zero(ax, u, v, accepted - 0.5, colors="#8FA3A8", linewidths=1.0)
    return [Patch(color=PALE_GREEN, label="model accepts"), Patch(color=PALE_BLUE, label="model refuses")]


def draw_zero(ax: Axes, u: FloatArray, v: FloatArray, values: FloatArray, **style: Any) -> None:
    """Draw the zero level, if there is any."""
    if values.min() < 0.0 < values.max():
        ax.contour(u, v, values, [0.0], zorder=2, **style)


def draw_samples(ax: Axes, spots: FloatArray, accepted: BoolArray, size: float, alpha: float = 0.9) -> None:
    """Draw the samples in the colours of their labels."""
    for kind, colour, which in (("accepted", GREEN, accepted), ("refused", BLUE, ~accepted)):
        if not len(spots):
            break
        x, y = spots[which].T
        ax.scatter(x, y, s=size, c=colour, alpha=alpha, linewidths=0.0, label=f"{kind} samples", zorder=3)


def draw_point(ax: Axes, at: FloatArray, name: str, colour: str, size: float, marker: str = "o") -> None:
    """Draw one point above everything else."""
    ax.scatter(at[0], at[1], s=size, marker=marker, c=colour, edgecolors="white", label=name, zorder=6)


def draw_points(ax: Axes, boundary: FloatArray | None, end: FloatArray) -> None:
    """Draw the boundary point, if there is one, and the recourse."""
    if boundary is not None:
        draw_point(ax, boundary, "boundary point", INK, 110.0)
    draw_point(ax, end, "recourse", RED, 80.0)
