"""Figures of one recourse: the way to it, the worst case behind it, and the odds around it.

Colours are the same everywhere: blue is refused, green is accepted, red is the recourse, black the boundary point.
Every function returns a :class:`matplotlib.figure.Figure` of its own: nothing is opened and no state is kept, so
``figure.savefig("recourse.png")`` is all there is to do.
"""

from __future__ import annotations

import textwrap
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Ellipse, Patch, Rectangle
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike
from scipy.ndimage import gaussian_filter

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse._validation import check_integer, check_vector
from robust_recourse.math.adversary import GaussianMixture
from robust_recourse.math.odds import OddsObjective, Scales
from robust_recourse.models.predictor import Predictor
from robust_recourse.report._plane import Plane, choose_plane, neighbourhood_of
from robust_recourse.result import Recourse

__all__ = ["illustration", "level_sets", "worst_case"]

Names = Sequence[Hashable] | pd.Index

_BLUE, _GREEN, _RED, _INK, _GREY = "#1F66B1", "#1B9E67", "#D7261E", "#1A1A1A", "#666666"
_PALE_BLUE, _PALE_GREEN = "#DCE8F5", "#DDF1E7"
_ODDS = LinearSegmentedColormap.from_list("odds", ["#0E6B43", _GREEN, "#A9DCC5", "#FFFFFF", "#AECBE8", _BLUE, "#123F73"])
_STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.size": 10.0,
    "text.usetex": False,
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
    "figure.dpi": 100.0,
    "figure.titlesize": 12.5,
    "figure.titleweight": "bold",
    "legend.frameon": False,
    "legend.fontsize": 9.5,
    "legend.title_fontsize": 9.5,
    "lines.linewidth": 1.5,
}
_WIDE = 1.6  # width by height of a panel that stands alone; two panels are square
_FAR = 2.5  # a close-up is added if the whole scene is so many times larger than the neighbourhood
_REGION_CELLS = 200
_MODEL_NUMBERS, _ODDS_NUMBERS = 2**22, 2**26  # entries of the rows that the model is asked for at a time; of the odds


class _Window(NamedTuple):
    """The part of a plane that a panel shows."""

    x: tuple[float, float]
    y: tuple[float, float]

    def grid(self, plane: Plane, cells: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return abscissae, ordinates and the points of the plane at all of them, row by row."""
        u, v = np.linspace(*self.x, cells), np.linspace(*self.y, 2 if plane.is_line else cells)
        both = np.stack(np.meshgrid(u, v), axis=-1).reshape(-1, 2)
        return u, v, plane.embed(both[:, : len(plane.basis)])


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
    samples = _spots(plane, around.samples, _heights(len(around.accepted)))
    path = _spots(plane, around.centre[None] if recourse.path is None else recourse.path)
    start, boundary, end = _spots(plane, np.array([recourse.x0, around.centre, recourse.x]))
    near = np.concatenate([samples, path, [boundary, end]])
    whole = np.concatenate([near, [start]])
    far = bool(_size(whole, plane) > _FAR * _size(near, plane))
    windows = [_window(points, plane, 1.0 if far else _WIDE) for points in ([whole, near] if far else [whole])]
    notes = [_outcome(recourse), _projected(plane, "All points are")]
    if model is not None and len(recourse.x0) > len(plane.basis):
        notes.append("The regions are those of the slice through the boundary point.")
    with rc_context(_STYLE):
        figure, axes = _panels(plane, len(windows))
        regions: list[Artist] = []
        for ax, window in zip(axes, windows, strict=True):
            _show(ax, plane, window)
            if model is not None:
                regions = _draw_regions(ax, plane, window, model, columns)
            _draw_samples(ax, samples, around.accepted, size=5.0 if far and ax is axes[0] else 18.0)
            ax.plot(*path.T, color=_INK, marker=".", markersize=5.0, label="path of the descent", zorder=4)
            ax.scatter(*start, s=220.0, marker="*", c=_INK, edgecolors="white", label="refused point", zorder=5)
            _draw_points(ax, boundary, end)
        if far:
            (left, right), (bottom, top) = windows[1]
            frame = Rectangle((left, bottom), right - left, top - bottom, fill=False, edgecolor=_INK, zorder=3)
            axes[0].add_patch(frame)
            axes[0].set_title("the whole way")
            axes[1].set_title("close-up of the frame")
        _finish(figure, axes, "From the refused point to the recourse", notes, regions)
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
    worst = recourse.worst_case(point)
    n_0, n_1 = len(worst.refused.means), len(worst.accepted.means)
    k_0 = min(n_0, n_components - min(n_1, n_components // 2))
    k_1 = min(n_1, n_components - k_0)
    kind, marker, colour = "chosen point", "D", _INK
    if np.array_equal(point, around.centre):
        kind, marker, colour = "boundary point", "o", _INK
    elif np.array_equal(point, recourse.x):
        kind, marker, colour = "recourse", "o", _RED
    notes = [
        f"{k_0} of {n_0} refused and {k_1} of {n_1} accepted samples, evenly chosen;",
        f"{'bars' if plane.is_line else 'rings'} show one standard deviation.",
        _radii(recourse),
        _projected(plane, "Means and covariances are"),
    ]
    inner = plane.within(around.free)
    with rc_context(_STYLE):
        figure, (ax,) = _panels(plane, 1)
        refused = _draw_gaussians(ax, inner, worst.refused, np.linspace(-0.2, -0.85, k_0), _BLUE, "refused")
        accepted = _draw_gaussians(ax, inner, worst.accepted, np.linspace(0.2, 0.85, k_1), _GREEN, "accepted")
        spot = _spots(plane, point[None])
        ax.scatter(*spot.T, s=90.0, marker=marker, c=colour, edgecolors="white", label=kind, zorder=6)
        _show(ax, plane, _window(np.concatenate([refused, accepted, spot]), plane, _WIDE))
        _finish(figure, [ax], f"Nominal and worst-case Gaussians for the {kind}", notes)
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
    notes = [_radii(recourse)]
    samples = _spots(plane, around.samples)
    boundary, end = _spots(plane, np.array([around.centre, recourse.x]))
    window = _window(np.concatenate([samples, [boundary, end]]), plane, 1.0)
    cells = int(np.clip(np.sqrt(_ODDS_NUMBERS / (len(samples) * around.free.sum())), 60, 120))
    u, v, points = window.grid(plane, cells)
    nominal, worst, over = (field.reshape(len(v), len(u)) for field in _fields(recourse, points))
    if not plane.whole:
        notes.append("The odds are those of the slice through the boundary point; the samples are projected onto it.")
    with rc_context(_STYLE):
        figure, axes = _panels(plane, 1 if plane.is_line else 2)
        if plane.is_line:
            extra = _draw_curves(axes[0], u, nominal[0], worst[0], over[0])
            axes[0].set_xlabel(plane.labels[0])
        ...
    return figure
