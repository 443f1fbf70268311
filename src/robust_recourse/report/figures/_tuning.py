"""What a promised future validity costs: the configurations that tuning measured, and the one that it chose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from robust_recourse._typing import BoolArray, FloatArray
from robust_recourse.report.figures._style import BLUE, GREEN, GREY, INK, RED, finish, in_style
from robust_recourse.tuning import Tuning

__all__ = ["draw_tuning"]

_WIDTH, _HEIGHT = 9.0, 5.0  # of the figure, in inches
_MODES = {
    "odds": ("o", BLUE, "promised odds"),
    "budget": ("s", GREEN, "budget"),
    "margin": ("^", GREY, "margin"),
    "quorum": ("P", INK, "jury, quorum"),
    "mean": ("X", INK, "jury, mean"),
}
_FRONTIER: dict[str, Any] = {"color": GREY, "linewidth": 1.8, "alpha": 0.7, "zorder": 3}
_TARGET: dict[str, Any] = {"color": INK, "linewidth": 1.3, "linestyle": ":", "zorder": 2}
_CHECK: dict[str, Any] = {"marker": "D", "markeredgecolor": "white", "markeredgewidth": 0.8, "linestyle": "none"}
_RING: dict[str, Any] = {"marker": "o", "markerfacecolor": "none", "markeredgewidth": 1.4, "linestyle": "none"}
_MOST_DIGITS = 6  # of a cost at a tick
_ROOM = 0.05  # beyond what is drawn, relative to it
_DEAREST = 3.0  # end of the costs, where the dearest of the frontier, or the chosen one, is 1 and the cheapest 0


def draw_tuning(tuning: Tuning) -> Figure:
    """Draw cost against future validity: the configurations, their frontier, the target, and what was chosen.

    On the left are the configurations that were measured on all people who choose, with a marker for each mode; the
    chosen one has a ring. On the right is what was measured on other people and other models, with an interval: that
    is what counts. Costs on both sides are those of different people.

    Parameters
    ----------
    tuning : Tuning
        What tuning found: ``tuning_`` of a :class:`robust_recourse.TunedRecourse`.

    Returns
    -------
    Figure
        A figure that no window shows.
    """
    if not isinstance(tuning, Tuning):
        raise TypeError(f"tuning must be tuning_ of a TunedRecourse, got {type(tuning).__name__}.")
    tried = tuning.tried
    whole = tried[tried["people"] == tried["people"].max()]
    with in_style():
        layout = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.06, rect=(0.0, 0.0, 1.0, 1.0 - 0.3 / _HEIGHT))
        figure = Figure(figsize=(_WIDTH, _HEIGHT), dpi=100.0, layout=layout)
        left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3.2, 1.0))
        for ax in (left, right):
            ax.spines[["top", "right"]].set_visible(False)
            ax.grid(color="#E9E9E9", linewidth=0.7)
            ax.set_axisbelow(True)
            ax.axhline(tuning.target, **_TARGET)
        handles = [*_draw_tried(left, whole, tuning), Line2D([], [], label=f"target {tuning.target:g}", **_TARGET)]
        handles += _draw_checks(right, tuning)
        n_hidden = _set_limits(left, whole, tuning)
        notes = [
            tuning.summary,
            f"{n_hidden} {_were(n_hidden)} beyond the panel." if n_hidden else "",
            "Bar: the interval, at a level of 95 %.",
        ]
        finish(figure, handles, f"What a future validity of {tuning.target:g} costs", notes)
    return figure


def _draw_tried(ax: Axes, whole: pd.DataFrame, tuning: Tuning) -> list[Artist]:
    """Draw the configurations, by mode, the frontier, and which one was chosen."""
    handles: list[Artist] = []
    for mode, (marker, colour, label) in _MODES.items():
        here = whole[whole["mode"] == mode]
        if len(here):
            look: dict[str, Any] = {"marker": marker, "color": colour, "s": 46.0, "edgecolors": "white", "zorder": 4}
            handles.append(ax.scatter(here["cost"], here["future_validity"], linewidths=0.8, label=label, **look))
    handles += ax.plot(tuning.frontier["cost"], tuning.frontier["future_validity"], label="frontier", **_FRONTIER)
    chosen = whole[_are(whole, tuning.parameters)].iloc[:1]
    if len(chosen):
        ax.plot(chosen["cost"], chosen["future_validity"], color=RED, markersize=12.5, zorder=5, **_RING)
        handles.append(Line2D([], [], color=RED, markersize=9.0, label="chosen", **_RING))
    people, models = int(whole["people"].iloc[0]), int(whole["models"].iloc[0])
    ax.set(xlabel="mean cost", ylabel="future validity", title=f"to choose ({people} people, {models} models)")
    return handles


def _draw_checks(ax: Axes, tuning: Tuning) -> list[Artist]:
    """Draw what was measured to check, from cheap to dear; the last that was measured counts."""
    checks, (share, low, high) = tuning.checks, tuning.future_validity
    last = len(checks) - 1
    order = np.argsort(checks["cost"].to_numpy(), kind="stable")  # those without a cost come last
    place = np.argsort(order)
    ax.vlines(place[last], low, high, color=RED, linewidth=2.6, alpha=0.45, zorder=3)
    ax.plot(place[last], share, color=RED, markersize=9.0, zorder=4, **_CHECK)
    handles: list[Artist] = [Line2D([], [], color=RED, markersize=8.0, label=f"chosen, checked: {share:.3f}", **_CHECK)]
    if last:
        ax.plot(place[:last], checks["future_validity"][:last], color=GREY, markersize=7.0, zorder=4, **_CHECK)
        handles.append(Line2D([], [], color=GREY, markersize=7.0, label="checked before", **_CHECK))
    ax.set_xticks(range(last + 1), _written(checks["cost"].to_numpy()[order]))
    ax.set(xlim=(-0.7, last + 0.7), xlabel="mean cost", title="to check (others)")
    ax.tick_params(left=False)
    return handles


def _written(costs: FloatArray) -> list[str]:
    """Write costs in as few digits as tell those that differ apart; one that nobody has is none."""
    told: list[str] = []
    for digits in range(3, _MOST_DIGITS + 1):
        told = [f"{cost:.{digits}g}" if np.isfinite(cost) else "none" for cost in costs]
        if len(set(told)) == len(np.unique(costs)):
            break
    return told


def _set_limits(ax: Axes, whole: pd.DataFrame, tuning: Tuning) -> int:
    """Show the frontier, the target and the checks; return how many configurations are beyond."""
    known = whole[np.isfinite(whole["cost"])]
    frontier = tuning.frontier[np.isfinite(tuning.frontier["cost"])]
    cheapest = known["cost"].min()
    dearest = max([*frontier["cost"], *known["cost"][_are(known, tuning.parameters)]], default=np.nan)
    shown = known[known["cost"] <= cheapest + _DEAREST * (dearest - cheapest)]
    low, high = (shown["cost"].min(), shown["cost"].max()) if len(shown) else (0.0, 1.0)
    room = _ROOM * (high - low) or 0.05 * max(high, 1.0)
    ax.set_xlim(low - room, high + room)
    shares = [*frontier["future_validity"], *tuning.checks["future_validity"], *tuning.future_validity, tuning.target]
    bottom, top = min(shares), max(shares)
    room = _ROOM * (top - bottom) or 0.05
    ax.set_ylim(bottom - room, top + room)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    return len(whole) - int((shown["future_validity"] >= bottom).sum())


def _are(lines: pd.DataFrame, parameters: Mapping[str, Any]) -> BoolArray:
    """Which lines are those of a configuration."""
    same: BoolArray = np.ones(len(lines), dtype=bool)
    for name in lines.columns.intersection(list(parameters)):
        value = parameters[name]
        same &= np.asarray(lines[name].isna() if value is None else lines[name] == value, dtype=bool)
    return same


def _were(n: int) -> str:
    return "configuration is" if n == 1 else "configurations are"
