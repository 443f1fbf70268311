"""What retrained models say: along the way to a recourse, and in the plane of two columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter
from scipy.ndimage import gaussian_filter

from robust_recourse._typing import BoolArray, FloatArray
from robust_recourse.futures import Juror
from robust_recourse.models.criteria import naming
from robust_recourse.notices.survival import GUIDES
from robust_recourse.report import _facts as facts
from robust_recourse.report._plane import Names, choose_plane
from robust_recourse.report._traces import has_boundary, way_of
from robust_recourse.report._ways import boundary_of, jurors_of, own_row, share_of, way_to
from robust_recourse.report._window import window_around
from robust_recourse.report.figures._scene import draw_point, draw_points, draw_zero, panels, show
from robust_recourse.report.figures._style import BLUE, GREEN, GREY, INK, RED, finish, in_style
from robust_recourse.result import Recourse

__all__ = ["draw_jury", "draw_survival"]

_DOTTED = (0, (1, 2))
_STEPS = 120  # rows on the way to a recourse
_COLOURS = (RED, BLUE, GREEN, "#9467BD", "#E69F00")
_LEVELS, _MOST = np.linspace(0.0, 1.0, 11), 1.0 - 1e-9  # rounding apart, all is not more than that


def draw_survival(
    recourses: Mapping[str, Recourse], models: Any, *, favourable: Any = None, threshold: float | None = None
) -> Figure:
    """Draw for one person what share of retrained models accepts, against the cost: on the ways to several recourses.

    Each curve goes from the person straight to a recourse, after a switch of categories, which is dotted. A dot is the
    recourse, and a diamond its boundary point.

    Parameters
    ----------
    recourses : mapping of str to Recourse
        Recourses of one person by name, as ``{"alone": alone[0], "with a jury": found[0]}``.
    models : sequence of models or Jury
        Retrained models, best those that took no part in the search.
    favourable, threshold
        As the recourse methods take them; for models that do not say it themselves, as a :class:`robust_recourse.Juror`
        does.

    Returns
    -------
    Figure
        A figure that no window shows.
    """
    if not isinstance(recourses, Mapping) or not recourses:
        raise TypeError("recourses must be a mapping of names to recourses of one person, as {'alone': found[0]}.")
    for name, recourse in recourses.items():
        if not isinstance(recourse, Recourse) or not np.isfinite(recourse.cost):
            raise ValueError(f"recourses[{name!r}] must be a recourse with a row, as found[0].")
    several = jurors_of(models, favourable, threshold)
    with in_style():
        figure = Figure(figsize=(9.0, 5.2), dpi=100.0, layout=ConstrainedLayoutEngine(rect=(0.0, 0.0, 1.0, 0.94)))
        ax = figure.subplots()
        handles: list[Artist] = []
        notes = [f"Share of {len(several)} retrained models that accept each row on the straight way to a recourse."]
        for k, (name, recourse) in enumerate(recourses.items()):
            colour, way, boundary = _COLOURS[k % len(_COLOURS)], way_to(recourse, _STEPS), boundary_of(recourse)
            share = share_of(several, way.rows)
            ax.plot(way.cost, share, color=colour, linewidth=1.8, zorder=3)
            own = share_of(several, own_row(recourse))
            ax.plot(
                [0.0, way.cost[0]], [own[0], share[0]], color=colour, linewidth=1.4, linestyle=(0, (1, 2)), zorder=3
            )
            ax.plot(way.cost[-1], share[-1], "o", color=colour, markersize=10.0, markeredgecolor="white", zorder=5)
            if boundary is not None:
                at = share_of(several, boundary.rows)
                ax.plot(boundary.cost, at, "D", color=INK, markersize=6.0, markeredgecolor=colour, zorder=6)
            label = f"{name}: cost {recourse.cost:.3g}, accepted by {share[-1]:.0%}"
            handles.append(Line2D([], [], color=colour, marker="o", markersize=8.0, label=label))
        handles.append(Line2D([], [], color=INK, marker="D", linestyle="", label="boundary point"))
        ax.set(xlabel="cost", ylabel="share of retrained models that accept", ylim=(-0.03, 1.05), xlim=(0.0, None))
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
        ax.grid(color="#DDDDDD", linewidth=0.8)
        ax.margins(x=0.08)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
        finish(figure, handles, "What survives retraining, and what it costs", notes)
    return figure


def draw_jury(
    recourse: Recourse,
    models: Any,
    model: Any = None,
    *,
    directions: Any = None,
    columns: Names | None = None,
    favourable: Any = None,
    threshold: float | None = None,
) -> Figure:
    """Draw the boundary of every juror, and the way to the recourse through them.

    The darker the green, the more of the jury accepts; grey lines are the boundaries of single jurors, and the black
    one that of the present model. All are those of the slice through the boundary point.

    Parameters
    ----------
    recourse : Recourse
        One recourse of a Bayesian method, say ``found[0]``.
    models : sequence of models or Jury
        The jurors.
    model, directions, columns
        As for :func:`illustration`. None for the directions: the two columns whose changes cost this person most.
    favourable, threshold
        As for :func:`draw_survival`, also of `model`.

    Returns
    -------
    Figure
        A figure that no window shows.
    """
    several, present = jurors_of(models, favourable, threshold), Juror(model, favourable, threshold)
    trace, around = way_of(recourse)
    if directions is None and trace.moves.plain:
        directions = _dearest(trace.x - trace.x0, around.numbers)
    plane = choose_plane(recourse, directions, columns, show="way")
    start, boundary, end = plane.spots(np.array([trace.x0, around.centre, trace.x]))
    window = window_around(np.array([start, boundary, end]), plane, 1.6)
    with in_style():
        figure, (ax,) = panels(plane, 1)
        show(ax, plane, window)
        share: Any = 0.0

        def regions(juror: Juror) -> tuple[FloatArray, FloatArray, BoolArray]:
            decides = {"favourable": juror.favourable, "threshold": juror.threshold}
            return facts.regions(juror.model, columns, plane, window, recourse, **decides)

        for k, juror in enumerate(several):
            with naming(f"models[{k}]"):
                u, v, labels = regions(juror)
            smooth = gaussian_filter(labels.astype(float), 2.0, mode="nearest")
            draw_zero(ax, u, v, smooth - 0.5, colors=GREY, linewidths=0.7, alpha=0.6)
            share = share + labels / len(several)
        smooth = np.clip(gaussian_filter(share, 2.0, mode="nearest"), 0.0, _MOST)
        shades = ax.contourf(u, v, smooth, _LEVELS, cmap="Greens", alpha=0.55)
        shades.set_zorder(0)
        bar = figure.colorbar(shades, ax=ax, shrink=0.85, label="share of the jury that accepts")
        bar.ax.yaxis.set_major_formatter(PercentFormatter(1.0))
        handles: list[Artist] = [
            Line2D([], [], color=GREY, linewidth=0.9, label=f"boundaries of {len(several)} jurors")
        ]
        if model is not None:
            u, v, labels = regions(present)
            line = gaussian_filter(labels.astype(float), 2.0, mode="nearest") - 0.5
            draw_zero(ax, u, v, line, colors=INK, linewidths=2.0)
            handles.append(Line2D([], [], color=INK, linewidth=2.0, label="boundary of the present model"))
        ax.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": RED, "linewidth": 1.4}, zorder=5)
        draw_point(ax, start, "refused point", INK, 220.0, "*")
        draw_points(ax, boundary if has_boundary(trace) else None, end)
        handles += ax.get_legend_handles_labels()[0]
        asked = f"; accepted by {recourse.jury_share:.0%} of {GUIDES}"
        told = "" if np.isnan(recourse.jury_share) else asked
        notes = [f"Cost {recourse.cost:.3g}{told}.", facts.followed(recourse)]
        notes.append(facts.projection(plane, "All points are", sampled=False))
        notes.append(f"Boundaries are those of the slice through {facts.origin(trace)}.")
        finish(figure, handles, "The jury around a recourse", notes)
    return figure


def _dearest(moved: FloatArray, free: BoolArray) -> list[int] | None:
    """Return the two columns of an array that change most, of those that may change; None if they are not more."""
    places = np.flatnonzero(free)
    if len(places) <= 2:
        return None
    return sorted(places[np.argsort(-np.abs(moved[places]), kind="stable")[:2]].tolist())
