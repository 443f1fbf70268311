"""What the figures tell about a recourse: sentences, and decisions, odds and budget on a grid."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.math.odds import OddsObjective, Scales
from robust_recourse.math.projections import weighted_cost
from robust_recourse.models.predictor import Predictor
from robust_recourse.notices import odds_sentence
from robust_recourse.report._plane import Names, Plane
from robust_recourse.report._traces import has_boundary, trace_of
from robust_recourse.report._window import Window
from robust_recourse.result import Recourse, Status, Trace
from robust_recourse.tables.foreign import native
from robust_recourse.tables.types import cast

__all__ = [
    "Landscape",
    "fill_evenly",
    "followed",
    "landscape",
    "log_odds",
    "origin",
    "outcome",
    "projection",
    "radii",
    "regions",
]

_MOST_NUMBERS = 2**26  # in all differences between points of the grid and samples
_NUMBERS_AT_ONCE = 2**22  # in the rows that the model is asked about together


class Landscape(NamedTuple):
    """Log odds of refusal, and what is left of the budget, on a grid."""

    u: FloatArray
    v: FloatArray
    nominal: FloatArray
    worst: FloatArray
    spare: FloatArray | None  # None where the cost weights are not known


def landscape(recourse: Recourse, plane: Plane, window: Window) -> Landscape:
    """Evaluate the odds over a window: on 120 by 120 cells, on fewer if that were too much work."""
    _, around = trace_of(recourse)
    work = len(around.accepted) * int(around.free.sum())
    u, v, points = window.grid(plane, int(np.clip(np.sqrt(_MOST_NUMBERS / work), 60, 120)))
    return Landscape(u, v, *log_odds(recourse, points), _spare_budget(recourse, points))


def log_odds(recourse: Recourse, points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the nominal and the worst-case log odds at points with all columns, of shape (..., p)."""
    (_, around), scales = trace_of(recourse), _scales(recourse)
    rows = around.lengths(points.reshape(-1, points.shape[-1]))
    samples = np.broadcast_to(around.free_samples, (len(rows), len(around.accepted), rows.shape[1]))
    accepted = np.broadcast_to(around.accepted, samples.shape[:2])
    nominal, worst = (
        OddsObjective(samples, accepted, each, "table")(rows).value.reshape(points.shape[:-1])
        for each in (Scales(scales.sigma, 0.0, 0.0), scales)
    )
    return nominal, worst


def regions(
    model: Any,
    columns: Names | None,
    plane: Plane,
    window: Window,
    recourse: Recourse | None = None,
    *,
    favourable: Any = None,
    threshold: float | None = None,
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return abscissae, ordinates and where the model accepts.

    It is asked about what becomes of the person there: with frames if `columns` are an Index, and with rows like that
    of the person if the recourse is one of a frame.
    """
    names = columns if isinstance(columns, pd.Index) else None
    framed: Callable[[FloatArray, IntArray], Any] | None = None
    if names is not None:

        def framed(points: FloatArray, _: IntArray) -> pd.DataFrame:
            return pd.DataFrame(points, columns=names)

    trace = None if recourse is None else recourse.trace
    if recourse is not None and trace is not None and not trace.moves.plain:
        framed = _Framed(recourse, trace)
    predict = Predictor(model, framed, "the grid of the figure", favourable=favourable, threshold=threshold)

    def accepts(points: FloatArray) -> BoolArray:
        step = max(1, _NUMBERS_AT_ONCE // points.shape[1])
        values = points if trace is None else trace.became(points)
        rows = np.arange(len(points))
        return np.concatenate([predict(values[i : i + step], rows[i : i + step]) for i in range(0, len(points), step)])

    return window.paint(plane, accepts)


class _Framed:
    """Turns what becomes of a person into rows like its own, with columns as in the training rows."""

    def __init__(self, recourse: Recourse, trace: Trace) -> None:
        self._trace, self._like = trace, recourse.columns.like
        self._row = recourse.x0 if trace.order is None else recourse.x0.iloc[np.argsort(trace.order)]

    def __call__(self, values: FloatArray, _: IntArray) -> Any:
        frame = pd.DataFrame({k: self._column(values[:, k], k) for k in range(values.shape[1])})
        frame.columns = self._row.index
        rebuilt = native(self._like)
        return frame if rebuilt is None else rebuilt(frame)

    def _column(self, values: FloatArray, k: int) -> pd.Series[Any]:
        column = self._trace.moves.columns[k]
        changed = (values != self._trace.own[k]) & ~self._trace.missing[k]
        if changed.any() and column.kind == "number":
            series = pd.Series(values)
        else:
            cells = np.empty(len(values), dtype=object)
            cells[:] = [self._row.iloc[k]] * len(values)
            cells[changed] = [column.values[int(code)] for code in values[changed]]
            series = pd.Series(cells)
        return cast(series, self._like.dtypes[self._row.index[k]]) if isinstance(self._like, pd.DataFrame) else series


def outcome(recourse: Recourse) -> str:
    """Say what came out."""
    limit = f" of at most {recourse.budget:.3g}" if np.isfinite(recourse.budget) else ""
    parts = [
        f"Cost {recourse.cost:.3g}{limit}",
        odds_sentence(recourse.worst_case_odds),
        f"{'accepted' if recourse.valid else 'refused'} by the model.",
    ]
    return "; ".join(part for part in parts if part) + ("" if recourse.status is Status.OK else f" {recourse.reason}")


def radii(recourse: Recourse) -> str:
    """Say what the odds depend on."""
    sigma, epsilon_0, epsilon_1 = _scales(recourse)
    return f"Smoothing {sigma:.3g}, ambiguity radii {epsilon_0:.3g} (refused) and {epsilon_1:.3g} (accepted)."


def origin(trace: Trace) -> str:
    """Say through what the slice of a figure goes."""
    return "the boundary point" if has_boundary(trace) else "the recourse"


def followed(recourse: Recourse) -> str:
    """Say what the figure shows of columns that follow others; nothing if there are none."""
    rules = [] if recourse.trace is None else [rule.text for rule in recourse.trace.moves.followers]
    if not rules:
        return ""
    return f"Points are what the person does; what is accepted is what becomes of that: {', '.join(rules)}."


def projection(plane: Plane, what: str, *, sampled: bool = True) -> str:
    """Say what the place of a point in the figure means, where that is not plain."""
    if plane.is_line:
        return "Heights have no meaning." if sampled else ""
    parts = [
        "" if plane.whole else f"{what} projected onto the plane of the axes.",
        "Where a sample stands within a category has no meaning." if plane.categories and sampled else "",
    ]
    return " ".join(part for part in parts if part)


def fill_evenly(text: str, width: int) -> str:
    """Break a text into as few lines as fit, of about the same length."""
    lines = len(textwrap.wrap(text, width))
    narrower = (w for w in range(1, width) if len(textwrap.wrap(text, w)) == lines)
    return textwrap.fill(text, next(narrower, width))


def _scales(recourse: Recourse) -> Scales:
    trace, _ = trace_of(recourse)
    if trace.scales is None:
        raise ValueError(
            f"There are no odds to draw, the status is {str(recourse.status)!r}. {recourse.reason} "
            "Only the illustration can be drawn."
        )
    return trace.scales


def _spare_budget(recourse: Recourse, points: FloatArray) -> FloatArray | None:
    """Return what points leave of the budget, or None if the cost weights are not known."""
    trace, _ = trace_of(recourse)
    if trace.weights is None:
        return None
    spare: FloatArray = recourse.budget - weighted_cost(points, trace.x0, trace.weights)
    return spare
