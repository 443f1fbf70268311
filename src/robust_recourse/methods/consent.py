"""What a method asks for beyond the model's decision: whether that can be asked for, before anything is searched."""

from __future__ import annotations

from typing import Any

import numpy as np

from robust_recourse._typing import FloatArray, IntArray
from robust_recourse.futures import Jury
from robust_recourse.math.intervals import check_level
from robust_recourse.models.predictor import Probabilities
from robust_recourse.search.method import Method
from robust_recourse.search.run import decides
from robust_recourse.search.space import Space

__all__ = ["check_consent", "check_jury"]

_ROWS = 256  # of the training rows that every juror is asked about


def check_consent(method: Method) -> None:
    """Raise for a margin or a jury that is none."""
    if not isinstance(method.jury, Jury | None):
        raise TypeError(f"jury must be a Jury, got {type(method.jury).__name__}. Pass Jury(models, quorum=0.9).")
    if method.counts_votes and method.jury is None:
        name = type(method).__name__
        raise TypeError(
            f"{name} asks models that may be retrained: it needs a jury. Pass {name}(model, jury=Jury(models))."
        )
    if method.margin is not None:
        margin, least = check_level(method.margin, "margin"), 0.5 if method.threshold is None else method.threshold
        if margin <= least < 1.0:
            raise ValueError(
                "margin is the least probability that the search asks for: it must be more than what decides, "
                f"{least:g}, got {margin:g}."
            )
    if method.jury is not None and method.jury.check is not None:
        _check_present(method.model, method.jury)


def check_jury(method: Method, space: Space, data: str) -> IntArray | None:
    """Ask for probabilities where a margin needs them, and every juror about some rows; return in which order to ask.

    Those who refuse most of what the jurors do not agree about come first: they decide soonest that there is no quorum.
    """
    people = np.unique(np.linspace(0, len(space) - 1, min(_ROWS, len(space))).astype(np.int64))
    how, rows = decides(method, data), space.rows_of(people)

    def ask() -> Any:
        return space.decode(space.table.values[people], people)

    if method.margin is not None:
        _check_probabilities(method.model, Probabilities(method.model, **how)(ask(), rows), "margin", "The model")
    jury = method.jury
    if jury is None:
        return None
    accepted = jury.accepts(ask(), rows, how)
    if jury.check is not None:
        jury.survives(ask(), rows, how)
    if jury.rule == "mean" or jury.margin is not None:
        said = jury.probabilities(ask(), rows, how)
        for k, model in enumerate(jury.models):
            what = "rule='mean'" if jury.rule == "mean" else "margin"
            _check_probabilities(getattr(model, "model", model), said[:, k], what, f"jury.models[{k}]")
    disputed = accepted.any(axis=1) & ~accepted.all(axis=1)
    order: IntArray = np.argsort(accepted[disputed].sum(axis=0), kind="stable")
    return order


def _check_probabilities(model: Any, said: FloatArray, what: str, who: str) -> None:
    if not hasattr(model, "predict_proba") and np.isin(said, (0.0, 1.0)).all():
        raise TypeError(f"{what} needs probabilities: {who} answers with labels or scores only.")


def _check_present(model: Any, jury: Jury) -> None:
    for k, other in enumerate(jury.check or ()):
        if getattr(other, "model", other) is model:
            raise ValueError(f"jury.check[{k}] is the present model, which the search asks: it may not testify.")
