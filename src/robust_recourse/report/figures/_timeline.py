"""Promises over time: made and ended by month, kept and broken by the models that were checked."""

from __future__ import annotations

import textwrap

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from robust_recourse.report.figures._style import BLUE, GREEN, GREY, INK, RED, finish, in_style

__all__ = ["draw_timeline"]

_ENDS = {"fulfilled": GREEN, "renewed": "#8FB4DE", "withdrawn": "#BBBBBB", "expired": GREY}
_CHECKS = {"kept": GREEN, "broken": RED}
_LABELS = 12  # months that are named
_SIGNS = 120  # that stand side by side in a panel


def draw_timeline(timeline: pd.DataFrame) -> Figure:
    """Draw how many promises were made in every month, what became of promises, and what new models made of them.

    Parameters
    ----------
    timeline : DataFrame
        What :meth:`robust_recourse.ledger.Ledger.timeline` returned: one line for every month, with the columns made,
        fulfilled, renewed, withdrawn, expired, and of the last check of the month model, kept and broken.

    Returns
    -------
    Figure
        A figure that no window shows.
    """
    wanted = ["made", *_ENDS, "model", *_CHECKS]
    lacking = [name for name in wanted if name not in getattr(timeline, "columns", ())]
    if lacking:
        raise TypeError(f"timeline must be what Ledger.timeline returned; it lacks {lacking[0]!r}.")
    with in_style():
        layout = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.08, rect=(0.0, 0.0, 1.0, 0.94))
        figure = Figure(figsize=(9.0, 5.2), dpi=100.0, layout=layout)
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[1.2, 1.0])
        _draw_ends(above, timeline)
        _draw_checks(below, timeline)
        _name_months(below, [str(month) for month in timeline.index])
        handles: list[Artist] = [Patch(color=BLUE, label="made")]
        handles += [Patch(color=_ENDS["fulfilled"], label="fulfilled; below: kept")]
        handles += [Patch(color=_ENDS[name], label=name) for name in list(_ENDS)[1:] if timeline[name].any()]
        handles += [Patch(color=RED, label="broken")] * bool((timeline["broken"].fillna(0) > 0).any())
        total = int(timeline["made"].sum())
        words = f"{total:,} {'promise' if total == 1 else 'promises'}"
        notes = ["Upwards: promises made. Downwards: promises that ended. Below: what the last check of a month found."]
        finish(figure, handles, f"What became of {words}", notes)
    return figure


def _draw_ends(ax: Axes, timeline: pd.DataFrame) -> None:
    places = np.arange(len(timeline))
    ax.bar(places, timeline["made"], color=BLUE, width=0.7)
    depth = np.zeros(len(timeline))
    for name, colour in _ENDS.items():
        height = timeline[name].to_numpy(float)
        ax.bar(places, -height, bottom=-depth, color=colour, width=0.7)
        depth += height
    ax.axhline(0.0, color=INK, linewidth=0.8)
    ax.yaxis.set_major_formatter(lambda value, _: f"{abs(value):,.0f}")
    _tidy(ax, "ended          made")


def _draw_checks(ax: Axes, timeline: pd.DataFrame) -> None:
    counts = {name: timeline[name].fillna(0).to_numpy(float) for name in _CHECKS}
    places = np.flatnonzero(timeline["model"].notna().to_numpy())
    wide = max(_SIGNS // max(len(timeline), 1), 6)
    bottom = np.zeros(len(timeline))
    for name, colour in _CHECKS.items():
        ax.bar(places, counts[name][places], bottom=bottom[places], color=colour, width=0.7)
        bottom += counts[name]
    for place in places:
        kept, n = counts["kept"][place], bottom[place]
        share = f"{kept / n:.0%}" if n else "no promise"
        label = f"{textwrap.fill(str(timeline['model'].iloc[place]), wide)}\n{share}"
        ax.annotate(label, (place, n), (0.0, 3.0), textcoords="offset points", ha="center", va="bottom", fontsize=8.0)
    ax.set_ylim(0.0, 1.5 * max(float(bottom.max()) if len(bottom) else 0.0, 1.0))
    if not len(places):
        ax.annotate("no model was checked", (0.5, 0.5), xycoords="axes fraction", color=GREY, ha="center", va="center")
    _tidy(ax, "open promises")


def _name_months(ax: Axes, months: list[str]) -> None:
    step = max(-(-len(months) // _LABELS), 1)
    ax.set_xticks(range(0, len(months), step), months[::step])
    ax.set_xlim(-0.6, max(len(months), 1) - 0.4)


def _tidy(ax: Axes, label: str) -> None:
    ax.set_ylabel(label)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color="#E9E9E9", linewidth=0.7)
    ax.set_axisbelow(True)
    ax.yaxis.set_major_locator(MaxNLocator(5, integer=True))
