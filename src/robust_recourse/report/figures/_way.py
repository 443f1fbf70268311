"""The way from the refused point to the recourse."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from robust_recourse.report import _facts as facts
from robust_recourse.report._plane import Names, choose_plane
from robust_recourse.report._traces import has_boundary, way_of
from robust_recourse.report._window import extent, jitter, window_around
from robust_recourse.report.figures._scene import draw_point, draw_points, draw_regions, draw_samples, panels, show
from robust_recourse.report.figures._style import INK, finish, in_style
from robust_recourse.result import Recourse

__all__ = ["illustration"]

_WIDE = 1.6  # width by height of a panel that stands alone; two panels are square
_FAR = 2.5  # a close-up is added if the whole scene is so many times larger than the neighbourhood


def illustration(
    recourse: Recourse,
    model: Any = None,
    *,
    directions: Any = None,
    columns: Names | None = None,
    favourable: Any = None,
    threshold: float | None = None,
) -> Figure:
    """Draw the way from the refused point over the boundary point to the recourse.

    Star: refused point; black circle: boundary point; red circle: recourse; curve: iterates of the descent; green
    and blue dots: accepted and refused samples. If the neighbourhood is small in the whole scene, a second panel
    shows it from near. Of a recourse that needed no neighbourhood, such as a mere switch of a category, there are only
    the two ends of the way. Where columns follow others, points are what the person does, and the decisions those about
    what becomes of it.

    Parameters
    ----------
    recourse : Recourse
        One recourse, say ``found[0]``.
    model : object or callable, optional
        The model, as the method takes it. Its decision regions are the background, those of the slice through the
        boundary point, or without one the recourse, if there are more than two columns.
    directions : pair of names or numbers, array_like of shape (2, p) or None
        The plane that is shown, through the boundary point: two columns that may change, by name or number, categories
        included, or two directions. None for the two columns of a frame whose changes cost this person most, categories
        included; if fewer change, for numbers in which accepted and refused samples differ most. Of an array, None for
        the columns that may change if they are at most two, and for the plane of the refused point, the boundary point
        and the recourse if they are more.
    columns : sequence of names, optional
        Names of the columns of an array; those of a frame are known. If they are a pandas Index the model is asked
        with frames, otherwise with arrays.
    favourable, threshold
        What decides about the answers of `model`, as the recourse methods take them.

    Returns
    -------
    Figure
        A figure that no window shows.

    Raises
    ------
    ValueError
        If there is no recourse, or it was read from a file, or `directions` do not span a plane of columns that may
        change.
    """
    trace, around = way_of(recourse)
    plane = choose_plane(recourse, directions, columns, show="way")
    # A sample may have a category that neither the person nor the recourse has, and that no axis names.
    shown = plane.shows(around.samples)
    samples, accepted = plane.spots(around.samples[shown], jitter(int(shown.sum()))), around.accepted[shown]
    path = plane.spots(around.centre[None] if trace.path is None else trace.path)
    start, boundary, end = plane.spots(np.array([trace.x0, around.centre, trace.x]))
    near = np.concatenate([samples, path, [boundary, end]])
    whole = np.concatenate([near, [start]])
    middle = boundary if has_boundary(trace) else None
    far = len(samples) > 0 and extent(whole, plane) > _FAR * extent(near, plane)
    windows = [window_around(whole, plane, 1.0 if far else _WIDE)]
    if far:
        windows.append(window_around(near, plane, 1.0, every=False))
    notes = [
        facts.outcome(recourse),
        facts.followed(recourse),
        facts.projection(plane, "All points are", sampled=len(samples) > 0),
    ]
    if model is not None and len(trace.x0) > len(plane.basis):
        notes.append(f"The regions are those of the slice through {facts.origin(trace)}.")
    decides = {"favourable": favourable, "threshold": threshold}
    with in_style():
        figure, axes = panels(plane, len(windows))
        legend: list[Artist] = []
        for ax, window in zip(axes, windows, strict=True):
            show(ax, plane, window)
            if model is not None:
                legend = draw_regions(ax, plane, window, model, columns, recourse, **decides)
            draw_points(ax, middle, end)
            draw_point(ax, start, "refused point", INK, 220.0, "*")  # above a boundary point at the same place
            if len(samples):
                ax.plot(*path.T, color=INK, marker=".", markersize=5.0, label="path of the descent", zorder=4)
            draw_samples(ax, samples, accepted, size=5.0 if far and ax is axes[0] else 18.0)
        if far:
            (left, right), (bottom, top) = windows[1]
            axes[0].add_patch(Rectangle((left, bottom), right - left, top - bottom, fill=False, ec=INK, zorder=3))
            axes[0].set_title("the whole way")
            axes[1].set(title="close-up of the frame", ylabel="")
        legend += axes[-1].get_legend_handles_labels()[0]
        finish(figure, legend, "From the refused point to the recourse", notes)
    return figure
