"""The odds of refusal around the boundary point, nominal and in the worst case."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from robust_recourse._typing import BoolArray, FloatArray
from robust_recourse.report import _facts as facts
from robust_recourse.report._plane import Names, choose_plane
from robust_recourse.report._traces import trace_of
from robust_recourse.report._window import window_around
from robust_recourse.report.figures._scene import draw_points, draw_samples, draw_zero, panels, show
from robust_recourse.report.figures._style import BLUE, GREEN, GREY, INK, PALE_BLUE, PALE_GREEN, finish, in_style
from robust_recourse.result import Recourse

__all__ = ["level_sets"]

_SHADES = ["#0E6B43", GREEN, "#A9DCC5", "#FFFFFF", "#AECBE8", BLUE, "#123F73"]
_ODDS = LinearSegmentedColormap.from_list("odds", _SHADES)


def level_sets(recourse: Recourse, *, directions: Any = None, columns: Names | None = None) -> Figure:
    """Draw the level sets of the log odds of refusal, nominal and worst-case, side by side.

    Where only one column may change they are two curves.

    Parameters
    ----------
    recourse : Recourse
        One recourse of a Bayesian method.
    directions, columns
        As for :func:`worst_case`.

    Returns
    -------
    Figure
        A figure that no window shows.

    Raises
    ------
    ValueError
        As for :func:`worst_case`.
    """
    trace, around = trace_of(recourse)
    plane = choose_plane(recourse, directions, columns)
    notes = [facts.radii(recourse), facts.followed(recourse)]
    if not plane.whole:
        notes.append("The odds are those of the slice through the boundary point; points off it are projected onto it.")
    samples = plane.spots(around.samples)
    marks = plane.spots(np.array([around.centre, trace.x]))
    window = window_around(np.concatenate([samples, marks]), plane, 1.0)
    land = facts.landscape(recourse, plane, window)
    with in_style():
        figure, axes = panels(plane, 1 if plane.is_line else 2)
        for ax in axes:
            show(ax, plane, window)
        legend: list[Artist] = []
        if plane.is_line:
            marks[:, 1] = facts.log_odds(recourse, np.array([around.centre, trace.x]))[1]
            _draw_curves(axes[0], land, samples[:, 0], around.accepted)
        else:
            legend = _draw_maps(figure, axes, land)
        for ax in axes:
            draw_points(ax, *marks)
            if not plane.is_line:
                draw_samples(ax, samples, around.accepted, size=12.0, alpha=0.45)
        legend += axes[-1].get_legend_handles_labels()[0]
        finish(figure, legend, "Odds of refusal around the boundary point", notes)
    return figure


def _draw_maps(figure: Figure, axes: list[Axes], land: facts.Landscape) -> list[Artist]:
    """Draw the nominal and the worst-case log odds on one scale; return what the legend shows."""
    u, v = land.u, land.v
    bound = float(np.quantile(np.abs([land.nominal, land.worst]), 0.9))
    levels = MaxNLocator(14, symmetric=True).tick_values(-bound, bound)
    lines: list[tuple[str, Any, str, float, FloatArray]] = [
        ("even odds", "-", INK, 2.0, land.worst),
        ("even odds, nominal", "--", INK, 1.2, land.nominal),
    ]
    if land.spare is not None:
        lines.append(("edge of the budget", ":", GREY, 1.5, land.spare))
    for ax, odds, title in zip(axes, (land.nominal, land.worst), ("nominal odds", "worst-case odds"), strict=True):
        filled = ax.contourf(u, v, odds, levels, cmap=_ODDS, extend="both", zorder=0)
        ax.contour(u, v, odds, levels, colors="white", linestyles="-", linewidths=0.5, zorder=1)
        for label, dashes, colour, width, field in lines:
            shown = odds if label == "even odds" else field
            draw_zero(ax, u, v, shown, colors=colour, linewidths=width, linestyles=dashes)
        ax.set_title(title)
    axes[1].set(ylabel="", yticklabels=[])
    figure.colorbar(filled, ax=axes, label="log odds of refusal").ax.tick_params(length=0)
    return [
        Line2D([], [], linestyle=dashes, color=colour, linewidth=width, label=label)
        for label, dashes, colour, width, field in lines
        if field.min() < 0.0 < field.max()
    ]


def _draw_curves(ax: Axes, land: facts.Landscape, x: FloatArray, accepted: BoolArray) -> None:
    """Draw the log odds along a line, above ticks where the samples are."""
    nominal, worst = land.nominal[0], land.worst[0]
    ax.plot(land.u, worst, color=INK, label="worst-case log odds")
    ax.plot(land.u, nominal, color=GREY, linestyle="--", label="nominal log odds")
    ax.axhline(0.0, color=INK, linewidth=2.5, zorder=1, label="even odds")
    low, high = min(nominal.min(), worst.min(), -0.1), max(nominal.max(), worst.max(), 0.1)
    low, high = low - 0.15 * (high - low), high + 0.05 * (high - low)
    ax.axhspan(0.0, high, color=PALE_BLUE, zorder=0)
    ax.axhspan(low, 0.0, color=PALE_GREEN, zorder=0)
    ax.set(ylim=(low, high), ylabel="log odds of refusal")
    ax.yaxis.set_major_locator(MaxNLocator(6))
    spare = np.ones(1) if land.spare is None else land.spare[0]
    for k, i in enumerate(np.flatnonzero(np.diff(spare > 0.0))):
        label = "_more" if k else "edge of the budget"
        ax.axvline((land.u[i] + land.u[i + 1]) / 2.0, color=GREY, linestyle=":", zorder=1, label=label)
    for kind, colour, which in (("accepted", GREEN, accepted), ("refused", BLUE, ~accepted)):
        height = np.full(int(which.sum()), low + 0.03 * (high - low))
        ax.scatter(x[which], height, s=36.0, marker="|", c=colour, label=f"{kind} samples", zorder=3)
