"""Cost against validity: the Pareto frontiers of several methods on several data sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from robust_recourse.report.figures._frontiers import (
    Curve,
    Limits,
    check_points,
    cost_limits,
    curves_of,
    free_corner,
    validity_limits,
)
from robust_recourse.report.figures._methods import MethodStyle, styles_of
from robust_recourse.report.figures._style import GREY, in_style

__all__ = ["pareto"]

_ACROSS = 4  # panels side by side, at most
_WIDTHS = {1: 4.8, 2: 6.6, 3: 8.0, 4: 9.0}  # of a figure, by its panels side by side, in inches
_HEIGHT = 1.85  # of a panel with its share of the margins, in inches
_TEXT: dict[str, Any] = {"fontsize": 8.0, "path_effects": [withStroke(linewidth=2.5, foreground="white")], "zorder": 7}
_DOTS: dict[str, Any] = {"s": 9.0, "alpha": 0.28, "linewidths": 0.0, "zorder": 2}


def pareto(
    points: pd.DataFrame,
    *,
    x: str = "cost",
    validities: Sequence[str] = ("current validity", "future validity"),
    titles: Mapping[str, str] | None = None,
    styles: Mapping[str, MethodStyle] | None = None,
) -> Figure:
    r"""Draw the Pareto frontiers of cost against validity, one column of panels for each data set.

    A configuration with cost :math:`c_i` and validity :math:`v_i` is on the frontier of its method unless another one
    of that method has :math:`c_j \le c_i` and :math:`v_j \ge v_i`, one of them strictly. The frontier is a line with
    markers, everything else a faint dot; a method with one configuration is a single marker. The robust Bayesian
    recourse has the thickest line.

    Every panel is zoomed to where the frontiers are, and says how many configurations it does not show. A method so
    expensive that the others could not be told apart is an open marker at the right edge, with its cost.

    Parameters
    ----------
    points : DataFrame
        One row for each configuration, with the columns ``dataset``, ``method``, `x` and all of `validities`. Data
        sets and methods are drawn in the order in which they occur; not every method must occur with every data set.
        Rows with NaN, say of a configuration that found no recourse, are left out, and the figure says how many.
    x : str
        Column of the costs.
    validities : sequence of str
        Columns of the validities, one row of panels for each.
    titles : mapping, optional
        What to write above the panels of a data set, where that is not its name.
    styles : mapping, optional
        Colour, marker and emphasis of methods, by name; the others get one of their own.

    Returns
    -------
    Figure
        A figure that no window shows. More than four data sets are wrapped.

    Raises
    ------
    ValueError
        If a column is missing or does not hold numbers, or there is no row.
    """
    validities = [validities] if isinstance(validities, str) else list(validities)
    table = check_points(points, x, validities)
    whole = table.dropna()
    datasets, methods = (list(dict.fromkeys(table[name])) for name in ("dataset", "method"))
    looks = styles_of(methods, styles)
    drawn: list[Curve] = []
    with in_style():
        figure, stacks = _panels(len(datasets), len(validities))
        for dataset, stack in zip(datasets, stacks, strict=True):
            here = whole[whole["dataset"] == dataset]
            curves = [curves_of(here, x, validity, methods) for validity in validities]
            drawn += chain.from_iterable(curves)
            _draw_stack(stack, curves, looks)
            _label(stack, x, validities, (titles or {}).get(dataset, dataset))
        figure.align_ylabels([ax for stack in stacks for ax in stack if ax.get_ylabel()])
        _add_legend(figure, _entries(drawn, looks), _left_out(len(table) - len(whole)))
        figure.draw_without_rendering()
    return figure


def _panels(n: int, height: int) -> tuple[Figure, list[list[Axes]]]:
    """Make a figure with `n` stacks of panels, from left to right and then in further rows of stacks."""
    n_rows = -(-n // _ACROSS)
    across = -(-n // n_rows)
    layout = ConstrainedLayoutEngine(w_pad=0.06, h_pad=0.05, wspace=0.02, hspace=0.02)
    figure = Figure(figsize=(_WIDTHS[across], n_rows * (height * _HEIGHT + 0.4) + 0.5), dpi=100.0, layout=layout)
    axes = figure.subplots(n_rows * height, across, squeeze=False)
    starts = range(0, n_rows * height, height)
    stacks = [list(axes[row : row + height, column]) for row in starts for column in range(across)]
    for ax in chain.from_iterable(stacks[n:]):
        ax.remove()
    return figure, stacks[:n]


def _label(stack: list[Axes], x: str, validities: Sequence[str], title: str) -> None:
    """Write at the outside of a stack what the axes are."""
    stack[0].set_title(title, fontweight="bold")
    stack[-1].set_xlabel(x)
    for ax in stack[:-1]:
        ax.tick_params(labelbottom=False)
    for ax, validity in zip(stack, validities, strict=True):
        spec = ax.get_subplotspec()
        if spec is not None and spec.is_first_col():
            ax.set_ylabel(validity)


def _draw_stack(stack: list[Axes], rows: list[list[Curve]], looks: Mapping[str, MethodStyle]) -> None:
    """Draw the panels of a data set, with one axis of costs."""
    everything = list(chain.from_iterable(rows))
    xlim = cost_limits(everything) if everything else (0.0, 1.0)
    for ax, curves in zip(stack, rows, strict=True):
        ax.spines[["top", "right"]].set_visible(False)
        if curves:
            _draw_panel(ax, curves, looks, xlim)
        else:
            ax.text(0.5, 0.5, "no results", transform=ax.transAxes, ha="center", color=GREY, **_TEXT)
            ax.set(xticks=[], yticks=[])


def _draw_panel(ax: Axes, curves: list[Curve], looks: Mapping[str, MethodStyle], xlim: Limits) -> None:
    """Draw frontiers and dominated configurations, and say what the panel does not show."""
    ylim = validity_limits(curves, xlim)
    ax.set(xlim=xlim, ylim=ylim)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    ax.grid(color="#E9E9E9", linewidth=0.7)
    ax.set_axisbelow(True)
    for curve in curves:
        look = looks[curve.method]
        ax.scatter(*curve.dominated.T, color=look.colour, **_DOTS)
        ax.plot(*curve.line.T, **_line(look, alone=len(curve.cost) == 1), label=curve.method)
        if curve.line[0, 0] > xlim[1]:
            _draw_beyond(ax, curve, look)
    n_hidden = sum(int(curve.outside(xlim, ylim).sum()) for curve in curves)
    if n_hidden:
        right, top = free_corner(curves, xlim, ylim, size=(0.42, 0.14))
        ax.annotate(
            f"{n_hidden} not shown",
            (right, top),
            xycoords="axes fraction",
            xytext=(2.0 - 4.0 * right, 3.0 - 6.0 * top),
            textcoords="offset points",
            ha="right" if right else "left",
            va="top" if top else "bottom",
            **_TEXT,
            color=GREY,
        )


def _draw_beyond(ax: Axes, curve: Curve, look: MethodStyle) -> None:
    """Draw an open marker at the right edge, and its cost, for a method whose whole frontier is beyond it."""
    cost, validity = curve.line[0]
    across = ax.get_yaxis_transform()
    style = {**_line(look, alone=True), "markerfacecolor": "white", "markeredgecolor": look.colour}
    ax.plot(0.97, validity, transform=across, clip_on=False, **style)
    low, high = ax.get_ylim()
    below = validity > 0.5 * (low + high)
    ax.annotate(
        f"{cost:.3g} \u2192",
        (1.0, validity),
        xycoords=across,
        xytext=(0.0, -6.0 if below else 6.0),
        textcoords="offset points",
        ha="right",
        va="top" if below else "bottom",
        **_TEXT,
        color=look.colour,
    )


def _line(look: MethodStyle, *, alone: bool) -> dict[str, Any]:
    """Return how a frontier looks; a single configuration needs a larger marker and no line."""
    size = 5.0 + 1.2 * look.emphasised + 1.8 * alone + 3.5 * (look.marker == "*")
    return {
        "color": look.colour,
        "marker": look.marker,
        "markersize": size,
        "markeredgecolor": "white",
        "markeredgewidth": 0.6,
        "linestyle": "none" if alone else "-",
        "linewidth": 2.4 if look.emphasised else 1.4,
        "zorder": 5 if look.emphasised else 6 if alone else 4,
    }


def _entries(curves: list[Curve], looks: Mapping[str, MethodStyle]) -> list[Artist]:
    """Return what the legend shows: the methods that are drawn, and what a faint dot is."""
    lines = {curve.method for curve in curves if len(curve.cost) > 1}
    drawn = {curve.method for curve in curves}
    entries: list[Artist] = [
        Line2D([], [], label=method, **_line(look, alone=method not in lines))
        for method, look in looks.items()
        if method in drawn
    ]
    if any(len(curve.dominated) for curve in curves):
        dot: dict[str, Any] = {
            "marker": "o",
            "linestyle": "none",
            "markersize": 4.0,
            "alpha": 0.5,
            "markeredgewidth": 0.0,
        }
        entries.append(Line2D([], [], color=GREY, label="dominated configuration", **dot))
    return entries


def _add_legend(figure: Figure, entries: list[Artist], note: str) -> None:
    """Add one legend below all panels, in as few and as equal rows as fit."""
    for n_rows in range(1, len(entries) + 1):
        columns = -(-len(entries) // n_rows)
        legend = figure.legend(
            handles=entries, loc="outside lower center", ncols=columns, title=note, columnspacing=1.6, borderpad=0.6
        )
        if columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
            figure.set_figheight(figure.get_figheight() + 0.2 * (n_rows - 1 + bool(note)))
            return
        legend.remove()


def _left_out(n: int) -> str:
    if not n:
        return ""
    return (
        f"{n} configurations lack a number and are left out."
        if n > 1
        else "1 configuration lacks a number and is left out."
    )
