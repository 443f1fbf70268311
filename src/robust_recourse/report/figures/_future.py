"""Recourses after the model has been replaced: by scenario, by person and by group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, PercentFormatter

from robust_recourse._typing import FloatArray
from robust_recourse.audits import Audit
from robust_recourse.report.figures._style import BLUE, GREEN, GREY, INK, PALE_GREEN, RED, finish, in_style
from robust_recourse.result.future import FutureValidity

__all__ = ["draw_audit", "draw_future_validity"]

_MOST = 25  # groups in a figure
_LONG = 28  # characters of a name
_DASHES: dict[str, Any] = {"color": GREY, "linestyle": (0, (4, 3)), "linewidth": 1.0}
_MEASURES = ("no_recourse", "current_validity", "future_validity", "median_cost")


def draw_future_validity(validity: FutureValidity) -> Figure:
    """Draw the share of recourses that survive: by scenario, with intervals, and how it is spread over people.

    Parameters
    ----------
    validity : FutureValidity
        What ``found.future_validity(models)`` returned.

    Returns
    -------
    Figure
        A figure that no window shows.
    """
    if not isinstance(validity, FutureValidity):
        raise TypeError(f"validity must be what found.future_validity returned, got {type(validity).__name__}.")
    table, worst = validity.summary(), validity.worst_scenario if len(validity.by_scenario) > 1 else None
    looks = [("D", INK), *(("o", RED if name == worst else BLUE) for name in table.index[1:])]
    if validity.n_without:
        looks[-1] = ("D", GREY)
    with in_style():
        notes = [_bars(validity.level), *validity.remarks[:-1]]
        figure, (left, right) = _panels(2, len(table), notes, sharey=False)
        cells = table[["future_validity", "low", "high"]].to_numpy(float)
        _draw_intervals(left, list(table.index), cells, looks)
        for y, value in enumerate(cells[:, 0]):
            left.annotate(f"{value:.3f}", (value, y), (0.0, 6.0), textcoords="offset points", ha="center", fontsize=8.5)
        left.set(title="by scenario" if validity.worst_scenario else "overall", xlabel="future validity")
        _draw_people(right, validity.by_person)
        names = {("D", INK): "all models", ("o", BLUE): "scenario", ("o", RED): "worst scenario"}
        names[("D", GREY)] = "without those who have no recourse"
        handles: list[Artist] = [_dot(*look, label) for look, label in names.items() if look in looks]
        finish(figure, handles, validity.title, notes)
    return figure


def draw_audit(audit: Audit) -> Figure:
    """Draw rates and costs of every group with intervals, and mark the differences that are flagged.

    Parameters
    ----------
    audit : Audit
        What :func:`robust_recourse.audit` returned. Of many groups the largest are drawn.

    Returns
    -------
    Figure
        A figure that no window shows.
    """
    if not isinstance(audit, Audit):
        raise TypeError(f"audit must be what robust_recourse.audit returned, got {type(audit).__name__}.")
    rows = np.sort(np.argsort(-audit.groups["people"].to_numpy(), kind="stable")[:_MOST])
    table, measures = audit.groups.iloc[rows], [name for name in _MEASURES if name in audit.groups]
    flagged = audit.comparisons[audit.comparisons["flagged"]]
    marked = set(zip(flagged["measure"], flagged["group"], strict=True))
    names = [f"{name} ({n:,})" for name, n in zip(audit.summary().index[rows], table["people"], strict=True)]
    with in_style():
        notes = [_bars(audit.level)]
        if np.isinf(table["median_cost_high"]).any():
            notes.append("Dotted: too few people for one.")
        if len(audit.groups) > _MOST:
            notes.append(f"The {_MOST} largest of {len(audit.groups)} groups are drawn.")
        notes += audit.remarks[:-1]
        figure, panels = _panels(len(measures), len(table), notes, sharey=True)
        for ax, measure in zip(panels, measures, strict=True):
            ax.axvline(float(audit.everyone[measure]), zorder=1, **_DASHES)
            looks = [("o", RED if (measure, label) in marked else BLUE) for label in table.index]
            cells = table[[measure, f"{measure}_low", f"{measure}_high"]].to_numpy(float)
            _draw_intervals(ax, names, cells, looks)
            ax.set_title(measure.replace("_", " "))
        handles: list[Artist] = [_dot("o", BLUE, "group (people)"), Line2D([], [], label="everyone", **_DASHES)]
        handles += [_dot("o", RED, "flagged")] * bool(marked)
        finish(figure, handles, audit.title, notes)
    return figure


def _panels(n: int, n_rows: int, notes: Sequence[str], *, sharey: bool) -> tuple[Figure, list[Axes]]:
    """Make a figure of `n` panels side by side, high enough for the rows and for the notes below."""
    width, height = max(9.0, 2.4 * n + 1.2), 2.2 + 0.32 * max(n_rows, 3) + 0.17 * (len(" ".join(notes)) // 120)
    layout = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.06, rect=(0.0, 0.0, 1.0, 1.0 - 0.3 / height))
    figure = Figure(figsize=(width, height), dpi=100.0, layout=layout)
    panels = list(figure.subplots(1, n, sharey=sharey, squeeze=False)[0])
    for ax in panels:
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(color="#E9E9E9", linewidth=0.7)
        ax.set_axisbelow(True)
        ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    return figure, panels


def _draw_intervals(ax: Axes, names: Sequence[str], cells: FloatArray, looks: Sequence[tuple[str, str]]) -> None:
    """Draw one line for each row of (value, low, high), from above; dotted where too few people are known."""
    for y, ((value, low, high), (marker, colour)) in enumerate(zip(cells, looks, strict=True)):
        if np.isnan(value):
            ax.annotate("nobody", (0.5, y), xycoords=ax.get_yaxis_transform(), color=GREY, ha="center", va="center")
            continue
        if np.isfinite(high):
            ax.hlines(y, low, high, color=colour, linewidth=2.4, alpha=0.45, zorder=3)
        else:
            ax.axhline(y, color=colour, linewidth=1.4, linestyle=":", alpha=0.6, zorder=2)
        ax.plot(value, y, marker, color=colour, markersize=7.0, markeredgecolor="white", markeredgewidth=0.8, zorder=4)
    short = [name if len(name) <= _LONG else f"{name[: _LONG - 3]}..." for name in names]
    ax.set_yticks(range(len(names)), short)
    ax.set_ylim(len(names) - 0.4, -0.6)


def _draw_people(ax: Axes, shares: FloatArray) -> None:
    """Draw which part of the people reaches which share of the models."""
    reached = np.unique(np.append(shares[shares > 0.0], 1.0))
    part = np.array([np.mean(shares >= share) for share in reached])
    across, up = np.append(0.0, reached), np.append(part[0], part)
    ax.fill_between(across, up, step="pre", color=PALE_GREEN, zorder=1)
    ax.step(across, up, where="pre", color=GREEN, linewidth=2.0, zorder=3)
    whole = float(np.mean(shares == 1.0))
    ax.plot(1.0, whole, "o", color=GREEN, markersize=6.0, clip_on=False, zorder=4)
    ax.set_title(f"by person: all models accept {whole:.0%}")
    ax.set(xlim=(0.0, 1.02), ylim=(0.0, 1.04), xlabel="accepted by at least this share of the models")
    ax.set_ylabel("people")
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))


def _dot(marker: str, colour: str, label: str) -> Line2D:
    return Line2D([], [], marker=marker, color=colour, linestyle="none", markeredgecolor="white", ms=7.0, label=label)


def _bars(level: float) -> str:
    return f"Bars: intervals at a level of {100.0 * level:.4g} %."
