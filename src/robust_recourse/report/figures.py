"""Figures of one recourse: the way to it, the worst case behind it, and the odds around it.

Colours are the same everywhere: blue is refused, green is accepted, red is the recourse, black the boundary point.
Every function returns a :class:`matplotlib.figure.Figure` of its own: nothing is opened and no state is kept, so
``figure.savefig("recourse.png")`` is all there is to do.
"""

from __future__ import annotations

import textwrap
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import Ellipse, Patch, Rectangle
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike
from scipy.ndimage import gaussian_filter

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse._validation import check_integer, check_vector
from robust_recourse.math.adversary import GaussianMixture
from robust_recourse.report import _facts as facts
from robust_recourse.report._plane import Names, Plane, choose_plane, neighbourhood_of
from robust_recourse.report._window import Window, evenly, extent, jitter, window_around
from robust_recourse.result import Recourse

__all__ = ["illustration", "level_sets", "worst_case"]

_BLUE, _GREEN, _RED, _INK, _GREY = "#1F5FAF", "#2FA873", "#D7261E", "#1A1A1A", "#666666"
_PALE_BLUE, _PALE_GREEN = "#D6E4F5", "#E3F4E6"
_SHADES = ["#0E6B43", _GREEN, "#A9DCC5", "#FFFFFF", "#AECBE8", _BLUE, "#123F73"]
_ODDS = LinearSegmentedColormap.from_list("odds", _SHADES)
_STYLE: dict[Any, Any] = {
    "text.usetex": False,
    "text.parse_math": False,
    "text.color": _INK,
    "axes.titlesize": 10.0,
    "axes.labelsize": 9.5,
    "axes.labelcolor": _INK,
    "axes.edgecolor": "#999999",
    "axes.facecolor": "white",
    "axes.grid": False,
    "xtick.color": _GREY,
    "ytick.color": _GREY,
    "xtick.labelsize": 9.0,
    "ytick.labelsize": 9.0,
    "figure.facecolor": "white",
    "figure.titlesize": 12.5,
    "figure.titleweight": "bold",
    "legend.frameon": False,
    "legend.fontsize": 9.5,
    "legend.title_fontsize": 9.5,
}
_BEFORE_AND_AFTER: list[tuple[str, Any, float]] = [("nominal", "--", 0.55), ("worst case", "-", 1.0)]
_WIDE = 1.6  # width by height of a panel that stands alone; two panels are square
_FAR = 2.5  # a close-up is added if the whole scene is so many times larger than the neighbourhood


def illustration(
    recourse: Recourse, model: Any = None, *, directions: Any = None, columns: Names | None = None
) -> Figure:
    """Draw the way from the refused point over the boundary point to the recourse.

    Star: refused point; black circle: boundary point; red circle: recourse; curve: iterates of the descent; green
    and blue dots: accepted and refused samples. If the neighbourhood is small in the whole scene, a second panel
    shows it from near.

    Parameters
    ----------
    recourse : Recourse
        One recourse of a Bayesian method, say ``found[0]``.
    model : object or callable, optional
        The model, as the method takes it. Its decision regions are the background, those of the slice through the
        boundary point if there are more than two columns.
    directions : pair of columns, array_like of shape (2, p) or None
        The plane that is shown, through the boundary point: two columns that may change, by name or number, or two
        directions. None for the columns that may change if they are at most two, and for the plane of the refused
        point, the boundary point and the recourse if they are more.
    columns : sequence of names, optional
        Names of the columns. If they are a pandas Index, as ``found.x.columns``, the model is asked with frames,
        otherwise with arrays.

    Returns
    -------
    Figure
        A figure that no window shows.

    Raises
    ------
    ValueError
        If the recourse has no neighbourhood, or `directions` do not span a plane of columns that may change.
    """
    around = neighbourhood_of(recourse)
    plane = choose_plane(recourse, directions, columns, show="way")
    samples = plane.spots(around.samples, jitter(len(around.accepted)))
    path = plane.spots(around.centre[None] if recourse.path is None else recourse.path)
    start, boundary, end = plane.spots(np.array([recourse.x0, around.centre, recourse.x]))
    near = np.concatenate([samples, path, [boundary, end]])
    whole = np.concatenate([near, [start]])
    far = extent(whole, plane) > _FAR * extent(near, plane)
    windows = [window_around(points, plane, 1.0 if far else _WIDE) for points in ([whole, near] if far else [whole])]
    notes = [facts.outcome(recourse), facts.projection(plane, "All points are")]
    if model is not None and len(recourse.x0) > len(plane.basis):
        notes.append("The regions are those of the slice through the boundary point.")
    with _style():
        figure, axes = _panels(plane, len(windows))
        legend: list[Artist] = []
        for ax, window in zip(axes, windows, strict=True):
            _show(ax, plane, window)
            if model is not None:
                legend = _draw_regions(ax, plane, window, model, columns)
            _draw_point(ax, start, "refused point", _INK, 220.0, "*")
            _draw_points(ax, boundary, end)
            ax.plot(*path.T, color=_INK, marker=".", markersize=5.0, label="path of the descent", zorder=4)
            _draw_samples(ax, samples, around.accepted, size=5.0 if far and ax is axes[0] else 18.0)
        if far:
            (left, right), (bottom, top) = windows[1]
            axes[0].add_patch(Rectangle((left, bottom), right - left, top - bottom, fill=False, ec=_INK, zorder=3))
            axes[0].set_title("the whole way")
            axes[1].set(title="close-up of the frame", ylabel="")
        legend += axes[-1].get_legend_handles_labels()[0]
        _finish(figure, legend, "From the refused point to the recourse", notes)
    return figure


def worst_case(
    recourse: Recourse,
    at: ArrayLike | None = None,
    *,
    directions: Any = None,
    columns: Names | None = None,
    n_components: int = 14,
) -> Figure:
    """Draw the nominal Gaussians of some samples, and the worst-case ones for a point.

    Dashed and pale: the isotropic Gaussians around the samples. Solid: those that together maximise the odds of
    refusal at the point; refused ones (blue) move towards it, accepted ones (green) away from it. Where only one
    column may change, the rings are bars.

    Parameters
    ----------
    recourse : Recourse
        One recourse of a Bayesian method.
    at : array_like of shape (p,), optional
        The point, with all columns; the boundary point if None.
    directions, columns
        As for :func:`illustration`, but with more than two columns that may change None is the plane of the
        boundary point, the recourse and the line between the centres of the two classes.
    n_components : int
        The most Gaussians to draw, of both classes together; they are spread evenly over the samples.

    Returns
    -------
    Figure
        A figure that no window shows.

    Raises
    ------
    ValueError
        As for :func:`illustration`, and if all samples got the same label.
    """
    around = neighbourhood_of(recourse)
    plane = choose_plane(recourse, directions, columns)
    point = around.centre if at is None else check_vector(at, "at", width=len(recourse.x0))
    n_components = check_integer(n_components, "n_components", minimum=2)
    scales, worst = facts.radii(recourse), recourse.worst_case(point)
    mixtures, inner = (worst.refused, worst.accepted), plane.within(around.free)
    chosen = evenly([inner.project(mixture.nominal_means) for mixture in mixtures], n_components)
    counts = [f"{len(some)} of {len(mixture.means)}" for some, mixture in zip(chosen, mixtures, strict=True)]
    kind, marker, colour = "chosen point", "D", _INK
    if np.array_equal(point, around.centre):
        kind, marker, colour = "boundary point", "o", _INK
    elif np.array_equal(point, recourse.x):
        kind, marker, colour = "recourse", "o", _RED
    notes = [
        f"Drawn are {counts[0]} refused and {counts[1]} accepted samples, evenly chosen;",
        f"{'bars' if plane.is_line else 'rings'} show one standard deviation.",
        scales,
        facts.projection(plane, "Means and covariances are"),
    ]
    with _style():
        figure, (ax,) = _panels(plane, 1)
        reach = [
            _draw_gaussians(ax, inner, mixture, some, np.linspace(0.2 * side, 0.85 * side, len(some)), colour)
            for mixture, some, side, colour in zip(mixtures, chosen, (-1.0, 1.0), (_BLUE, _GREEN), strict=True)
        ]
        spot = plane.spots(point[None])
        _draw_point(ax, spot[0], kind, colour, 90.0, marker)
        _show(ax, plane, window_around(np.concatenate([*reach, spot]), plane, 1.1))
        legend: list[Artist] = [
            Line2D([], [], color=shade, marker="o", ms=4.5, linestyle=dashes, alpha=alpha, label=f"{of}, {name}")
            for shade, of in ((_BLUE, "refused"), (_GREEN, "accepted"))
            for name, dashes, alpha in _BEFORE_AND_AFTER
        ]
        legend += ax.get_legend_handles_labels()[0]
        _finish(figure, legend, f"Nominal and worst-case Gaussians for the {kind}", notes, beside=not plane.is_line)
    return figure


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
    around = neighbourhood_of(recourse)
    plane = choose_plane(recourse, directions, columns)
    notes = [facts.radii(recourse)]
    if not plane.whole:
        notes.append("The odds are those of the slice through the boundary point; points off it are projected onto it.")
    samples = plane.spots(around.samples)
    marks = plane.spots(np.array([around.centre, recourse.x]))
    window = window_around(np.concatenate([samples, marks]), plane, 1.0)
    land = facts.landscape(recourse, plane, window)
    with _style():
        figure, axes = _panels(plane, 1 if plane.is_line else 2)
        for ax in axes:
            _show(ax, plane, window)
        legend: list[Artist] = []
        if plane.is_line:
            marks[:, 1] = facts.log_odds(recourse, np.array([around.centre, recourse.x]))[1]
            _draw_curves(axes[0], land, samples[:, 0], around.accepted)
        else:
            legend = _draw_maps(figure, axes, land)
        for ax in axes:
            _draw_points(ax, *marks)
            if not plane.is_line:
                _draw_samples(ax, samples, around.accepted, size=12.0, alpha=0.45)
        legend += axes[-1].get_legend_handles_labels()[0]
        _finish(figure, legend, "Odds of refusal around the boundary point", notes)
    return figure


def _style() -> AbstractContextManager[None]:
    """Draw in the style of all figures, whatever the user's own settings are."""
    return rc_context(_STYLE)


def _panels(plane: Plane, n: int) -> tuple[Figure, list[Axes]]:
    """Make a figure with panels side by side, or on top of each other for a line."""
    height = (4.6 if n == 1 else 5.8) if plane.is_line else (6.8 if n == 1 else 5.8)
    layout = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.06, rect=(0.0, 0.0, 1.0, 1.0 - 0.3 / height))
    figure = Figure(figsize=(9.0, height), dpi=100.0, layout=layout)
    rows, across = (n, 1) if plane.is_line else (1, n)
    return figure, list(figure.subplots(rows, across, squeeze=False).flat)


def _show(ax: Axes, plane: Plane, window: Window) -> None:
    """Set limits and labels."""
    ax.set(xlim=window.x, ylim=window.y, xlabel=facts.fill_evenly(plane.labels[0], 50))
    if plane.is_line:
        ax.set_yticks([])
    else:
        ax.set(ylabel=facts.fill_evenly(plane.labels[1], 50), aspect="equal")


def _finish(figure: Figure, handles: list[Artist], title: str, notes: list[str], *, beside: bool = False) -> None:
    """Add title, legend and notes, all outside of the panels."""
    figure.suptitle(title, x=0.01, y=1.0 - 0.08 / figure.get_figheight(), ha="left", va="top")
    text = textwrap.fill(" ".join(note for note in notes if note), 125)
    columns = (len(handles) + 1) // 2
    if beside:
        figure.legend(handles=handles, loc="outside right upper")
        handles = []
    figure.legend(handles=handles, loc="outside lower left", ncols=columns, title=text, alignment="left", borderpad=0.8)
    for _ in range(2):  # with panels of a fixed aspect the layout needs more than one pass
        figure.draw_without_rendering()


def _draw_regions(ax: Axes, plane: Plane, window: Window, model: Any, columns: Names | None) -> list[Artist]:
    """Colour where the model accepts and refuses; return what the legend shows."""
    u, v, labels = facts.regions(model, columns, plane, window)
    # Labels are 0 or 1: a slight blur makes the line between the cells smooth.
    accepted = gaussian_filter(labels.astype(float), 2.0, mode="nearest")
    ax.contourf(u, v, accepted, [-1.0, 0.5, 2.0], colors=[_PALE_BLUE, _PALE_GREEN], zorder=0)
    _draw_zero(ax, u, v, accepted - 0.5, colors="#8FA3A8", linewidths=1.0)
    return [Patch(color=_PALE_GREEN, label="model accepts"), Patch(color=_PALE_BLUE, label="model refuses")]


def _draw_zero(ax: Axes, u: FloatArray, v: FloatArray, values: FloatArray, **style: Any) -> None:
    """Draw the zero level, if there is any."""
    if values.min() < 0.0 < values.max():
        ax.contour(u, v, values, [0.0], zorder=2, **style)


def _draw_samples(ax: Axes, spots: FloatArray, accepted: BoolArray, size: float, alpha: float = 0.9) -> None:
    for kind, colour, which in (("accepted", _GREEN, accepted), ("refused", _BLUE, ~accepted)):
        x, y = spots[which].T
        ax.scatter(x, y, s=size, c=colour, alpha=alpha, linewidths=0.0, label=f"{kind} samples", zorder=3)


def _draw_point(ax: Axes, at: FloatArray, name: str, colour: str, size: float, marker: str = "o") -> None:
    ax.scatter(at[0], at[1], s=size, marker=marker, c=colour, edgecolors="white", label=name, zorder=6)


def _draw_points(ax: Axes, boundary: FloatArray, end: FloatArray) -> None:
    _draw_point(ax, boundary, "boundary point", _INK, 110.0)
    _draw_point(ax, end, "recourse", _RED, 80.0)


def _draw_maps(figure: Figure, axes: list[Axes], land: facts.Landscape) -> list[Artist]:
    """Draw the nominal and the worst-case log odds on one scale; return what the legend shows."""
    u, v = land.u, land.v
    bound = float(np.quantile(np.abs([land.nominal, land.worst]), 0.9))
    levels = MaxNLocator(14, symmetric=True).tick_values(-bound, bound)
    lines: list[tuple[str, Any, str, float, FloatArray]] = [
        ("even odds", "-", _INK, 2.0, land.worst),
        ("even odds, nominal", "--", _INK, 1.2, land.nominal),
    ]
    if land.spare is not None:
        lines.append(("edge of the budget", ":", _GREY, 1.5, land.spare))
    for ax, odds, title in zip(axes, (land.nominal, land.worst), ("nominal odds", "worst-case odds"), strict=True):
        filled = ax.contourf(u, v, odds, levels, cmap=_ODDS, extend="both", zorder=0)
        ax.contour(u, v, odds, levels, colors="white", linestyles="-", linewidths=0.5, zorder=1)
        for label, dashes, colour, width, field in lines:
            shown = odds if label == "even odds" else field
            _draw_zero(ax, u, v, shown, colors=colour, linewidths=width, linestyles=dashes)
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
    ax.plot(land.u, worst, color=_INK, label="worst-case log odds")
    ax.plot(land.u, nominal, color=_GREY, linestyle="--", label="nominal log odds")
    ax.axhline(0.0, color=_INK, linewidth=2.5, zorder=1, label="even odds")
    low, high = min(nominal.min(), worst.min(), -0.1), max(nominal.max(), worst.max(), 0.1)
    low, high = low - 0.15 * (high - low), high + 0.05 * (high - low)
    ax.axhspan(0.0, high, color=_PALE_BLUE, zorder=0)
    ax.axhspan(low, 0.0, color=_PALE_GREEN, zorder=0)
    ax.set(ylim=(low, high), ylabel="log odds of refusal")
    ax.yaxis.set_major_locator(MaxNLocator(6))
    spare = np.ones(1) if land.spare is None else land.spare[0]
    for k, i in enumerate(np.flatnonzero(np.diff(spare > 0.0))):
        label = "_more" if k else "edge of the budget"
        ax.axvline((land.u[i] + land.u[i + 1]) / 2.0, color=_GREY, linestyle=":", zorder=1, label=label)
    for kind, colour, which in (("accepted", _GREEN, accepted), ("refused", _BLUE, ~accepted)):
        height = np.full(int(which.sum()), low + 0.03 * (high - low))
        ax.scatter(x[which], height, s=36.0, marker="|", c=colour, label=f"{kind} samples", zorder=3)


def _draw_gaussians(
    ax: Axes, plane: Plane, mixture: GaussianMixture, chosen: IntArray, heights: FloatArray, colour: str
) -> FloatArray:
    """Draw the chosen components before and after they move; return how far they reach."""
    before, after = (plane.spots(means[chosen], heights) for means in (mixture.nominal_means, mixture.means))
    shapes = plane.project_spread(mixture.directions[chosen], mixture.along[chosen], mixture.across[chosen])
    variances, axes = np.linalg.eigh(shapes)
    wide = np.sqrt(variances)
    pale: dict[str, Any] = {"edgecolor": colour, "linestyle": (0, (4, 3)), "linewidth": 1.0, "alpha": 0.55}
    solid: dict[str, Any] = {"edgecolor": colour, "linewidth": 1.6}
    if plane.is_line:
        after = after + np.array([0.0, 0.04])
        for at, half, style in ((before, np.full(len(wide), mixture.sigma), pale), (after, wide[:, 0], solid)):
            shift = np.column_stack([half, np.zeros_like(half)])
            style["color"] = style.pop("edgecolor")
            ax.add_collection(LineCollection(list(np.stack([at - shift, at + shift], axis=1)), zorder=3, **style))
    else:
        for old, new, (small, large), vectors in zip(before, after, wide, axes, strict=True):
            angle = float(np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1])))
            ax.add_patch(Ellipse(tuple(old), 2 * mixture.sigma, 2 * mixture.sigma, fill=False, zorder=2, **pale))
            ax.add_patch(Ellipse(tuple(new), 2 * large, 2 * small, angle=angle, fill=False, zorder=3, **solid))
    ax.add_collection(LineCollection(list(np.stack([before, after], axis=1)), colors=colour, linewidths=1.0, zorder=3))
    ax.plot(*before.T, "o", color=colour, markersize=4.5, alpha=0.45, zorder=3)
    ax.plot(*after.T, "o", color=colour, markersize=5.0, zorder=4)
    reach = np.maximum(wide.max(axis=1, keepdims=True), mixture.sigma)
    return np.concatenate([before - reach, before + reach, after - reach, after + reach])
