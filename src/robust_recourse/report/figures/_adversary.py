"""The Gaussians around the samples, before and after the adversary moved them."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Ellipse
from numpy.typing import ArrayLike

from robust_recourse._typing import FloatArray, IntArray
from robust_recourse._validation import check_integer
from robust_recourse.math.adversary import GaussianMixture
from robust_recourse.report import _facts as facts
from robust_recourse.report._plane import Names, Plane, choose_plane
from robust_recourse.report._traces import trace_of
from robust_recourse.report._window import evenly, window_around
from robust_recourse.report.figures._scene import draw_point, panels, show
from robust_recourse.report.figures._style import BLUE, GREEN, INK, RED, finish, in_style
from robust_recourse.result import Recourse

__all__ = ["worst_case"]

_BEFORE_AND_AFTER: list[tuple[str, Any, float]] = [("nominal", "--", 0.55), ("worst case", "-", 1.0)]


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
    refusal at the point; refused ones (blue) move towards it, accepted ones (green) away from it. Gaussians know no
    bounds: rings may reach beyond the values that a column can have. Where only one column may change, the rings are
    bars.

    Parameters
    ----------
    recourse : Recourse
        One recourse of a Bayesian method.
    at : array_like of shape (p,), optional
        The row, with all columns, in the units of the table; the boundary point if None. Where columns follow others,
        it is what the person does.
    directions, columns
        As for :func:`illustration`, but the axes are numbers: a change of a category is not to be seen. With more than
        two columns of an array that may change, None is the plane of the boundary point, the recourse and the line
        between the centres of the two classes.
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
    trace, around = trace_of(recourse)
    plane = choose_plane(recourse, directions, columns)
    point = around.centre if at is None else trace.point(at)
    n_components = check_integer(n_components, "n_components", minimum=2)
    scales, worst = facts.radii(recourse), trace.worst_case(point)
    mixtures, inner = (worst.refused, worst.accepted), plane.within(around)
    chosen = evenly([inner.project(mixture.nominal_means) for mixture in mixtures], n_components)
    counts = [f"{len(some)} of {len(mixture.means)}" for some, mixture in zip(chosen, mixtures, strict=True)]
    kind, marker, colour = "chosen point", "D", INK
    if np.array_equal(point, around.centre):
        kind, marker, colour = "boundary point", "o", INK
    elif np.array_equal(point, trace.x):
        kind, marker, colour = "recourse", "o", RED
    notes = [
        f"Drawn are {counts[0]} refused and {counts[1]} accepted samples, evenly chosen;",
        f"{'bars' if plane.is_line else 'rings'} show one standard deviation.",
        scales,
        facts.followed(recourse),
        facts.projection(plane, "Means and covariances are"),
    ]
    with in_style():
        figure, (ax,) = panels(plane, 1)
        reach = [
            _draw_gaussians(ax, inner, mixture, some, np.linspace(0.2 * side, 0.85 * side, len(some)), colour)
            for mixture, some, side, colour in zip(mixtures, chosen, (-1.0, 1.0), (BLUE, GREEN), strict=True)
        ]
        spot = plane.spots(point[None])
        draw_point(ax, spot[0], kind, colour, 90.0, marker)
        show(ax, plane, window_around(np.concatenate([*reach, spot]), plane, 1.1))
        legend: list[Artist] = [
            Line2D([], [], color=shade, marker="o", ms=4.5, linestyle=dashes, alpha=alpha, label=f"{of}, {name}")
            for shade, of in ((BLUE, "refused"), (GREEN, "accepted"))
            for name, dashes, alpha in _BEFORE_AND_AFTER
        ]
        legend += ax.get_legend_handles_labels()[0]
        finish(figure, legend, f"Nominal and worst-case Gaussians for the {kind}", notes, beside=not plane.is_line)
    return figure


def _draw_gaussians(
    ax: Axes, plane: Plane, mixture: GaussianMixture, chosen: IntArray, heights: FloatArray, colour: str
) -> FloatArray:
    """Draw the chosen components before and after they move; return how far they reach."""
    before, after = (plane.spots(means[chosen], heights) for means in (mixture.nominal_means, mixture.means))
    shapes = plane.project_spread(mixture.directions[chosen], mixture.along[chosen], mixture.across[chosen])
    variances, axes = np.linalg.eigh(shapes)
    wide = np.sqrt(variances)
    nominal = mixture.sigma * np.sqrt((plane.basis**2).sum(axis=1))
    pale: dict[str, Any] = {"edgecolor": colour, "linestyle": (0, (4, 3)), "linewidth": 1.0, "alpha": 0.55}
    solid: dict[str, Any] = {"edgecolor": colour, "linewidth": 1.6}
    if plane.is_line:
        after = after + np.array([0.0, 0.04])
        for at, half, style in ((before, np.full(len(wide), nominal[0]), pale), (after, wide[:, 0], solid)):
            shift = np.column_stack([half, np.zeros_like(half)])
            style["color"] = style.pop("edgecolor")
            ax.add_collection(LineCollection(list(np.stack([at - shift, at + shift], axis=1)), zorder=3, **style))
    else:
        for old, new, (small, large), vectors in zip(before, after, wide, axes, strict=True):
            angle = float(np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1])))
            ax.add_patch(Ellipse(tuple(old), *2.0 * nominal, fill=False, zorder=2, **pale))
            ax.add_patch(Ellipse(tuple(new), 2 * large, 2 * small, angle=angle, fill=False, zorder=3, **solid))
    ax.add_collection(LineCollection(list(np.stack([before, after], axis=1)), colors=colour, linewidths=1.0, zorder=3))
    ax.plot(*before.T, "o", color=colour, markersize=4.5, alpha=0.45, zorder=3)
    ax.plot(*after.T, "o", color=colour, markersize=5.0, zorder=4)
    reach = np.maximum(wide.max(axis=1, keepdims=True), nominal.max())
    return np.concatenate([before - reach, before + reach, after - reach, after + reach])
