"""From anything that predicts to labels, accepted or refused, and to probabilities of acceptance."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.models import torch_modules

__all__ = ["Answers", "ModelError", "Predictor", "Probabilities", "check_answer", "name_rows"]


_ROUNDING = 1e-6


class ModelError(RuntimeError):
    """The model raised, or answered something that is not a label; the message names the rows."""


class Answers:
    """Asks a model in batches and checks what it answers: one number in [0, 1] for every row."""

    _methods: tuple[str, ...]  # of the model, in order of preference

    def __init__(self, model: Any, columns: pd.Index | None = None, data: str = "X") -> None:
        self._ask = _method(model, self._methods)
        self._columns, self._data = columns, data
        self._hint = torch_modules.HINT if torch_modules.is_module(model) else ""

    def _answers(self, X: FloatArray, rows: IntArray) -> FloatArray:
        return check_answer(self._read(X, rows, np.asarray), rows, self._data, self._hint)

    def _read(self, X: FloatArray, rows: IntArray, read: Callable[[Any], Any]) -> Any:
        """Ask, and `read` the answer; what goes wrong in either names the row."""
        frame = X if self._columns is None else pd.DataFrame(X, columns=self._columns)
        try:
            return read(self._ask(frame))
        except Exception as error:
            guilty = self._guilty(X, rows)
            raise ModelError(
                f"The model raised {type(error).__name__} for {name_rows(guilty)} of {self._data}: {error}"
            ) from error

    def _guilty(self, X: FloatArray, rows: IntArray) -> IntArray:
        """Narrow a failing batch down to one failing row by asking for halves of it."""
        failing = np.arange(len(X))
        while len(failing) > 1:
            for half in np.array_split(failing, 2):
                points = X[half] if self._columns is None else pd.DataFrame(X[half], columns=self._columns)
                try:
                    self._ask(points)
                except Exception:
                    failing = half
                    break
            else:
                break
        return rows[failing]


class Predictor(Answers):
    """Asks a model for labels.

    Parameters
    ----------
    model : object or callable
        An object with ``predict`` or ``predict_proba``, or a callable. It answers with labels in {0, 1}, with
        the probability of the favourable class, or with the two columns of ``predict_proba``. A probability
        above one half is favourable. A torch module is such a callable: it gets tensors of its own type, on its
        own device, in evaluation mode, and its outputs are probabilities too, not logits.
    columns : Index, optional
        Names of the columns: the model then gets frames.
    data : str
        What the rows in messages are rows of.
    """

    _methods = ("predict", "predict_proba")

    def __call__(self, X: FloatArray, rows: IntArray) -> BoolArray:
        """Return which rows of `X` the model accepts; `rows` are their numbers in messages."""
        accepted: BoolArray = self._answers(X, rows) > 0.5
        return accepted


class Probabilities(Answers):
    """Asks a model for the probability of the favourable class; a model that only knows labels gives 0 and 1.

    The parameters are those of :class:`Predictor`.
    """

    _methods = ("predict_proba", "predict")

    def __call__(self, X: FloatArray, rows: IntArray) -> FloatArray:
        """Return the probability of every row of `X`; `rows` are their numbers in messages."""
        return np.clip(self._answers(X, rows), 0.0, 1.0)


def _method(model: Any, names: tuple[str, ...]) -> Callable[[Any], Any]:
    classes = getattr(model, "classes_", None)
    if classes is not None and (len(classes) != 2 or list(classes) != [0, 1]):
        raise ValueError(
            f"model must have the two classes 0 (unfavourable) and 1 (favourable), got classes_ = {list(classes)}. "
            "Pass a callable that maps its answer to 0 and 1."
        )
    for name in names:
        method = getattr(model, name, None)
        if callable(method):
            return method  # type: ignore[no-any-return]
    if torch_modules.is_module(model):
        return partial(torch_modules.ask, model)
    if callable(model):
        return model  # type: ignore[no-any-return]
    raise TypeError(f"model must have predict or predict_proba, or be callable, got {type(model).__name__}.")


def check_answer(answer: Any, rows: IntArray, data: str, hint: str = "") -> FloatArray:
    """Return the probability of the favourable class that an answer means; `hint` ends the messages about its range.

    Raises
    ------
    ModelError
        If it is neither labels nor probabilities, one for every row.
    """

    def asked() -> str:
        return f"asked for {len(rows)} rows ({name_rows(rows)} of {data})"

    if answer.ndim == 2 and answer.shape[1] == 1:
        answer = answer[:, 0]
    if answer.dtype.kind not in "biuf":
        raise ModelError(f"The model must answer with 0, 1 or probabilities, {asked()} it gave {answer.dtype} values.")
    if answer.shape not in {(len(rows),), (len(rows), 2)}:
        raise ModelError(f"The model must answer with one label for every row, {asked()} it gave shape {answer.shape}.")
    # Written so that it covers NaN too; averaged probabilities may be off by rounding.
    outside = ~((answer >= -_ROUNDING) & (answer <= 1 + _ROUNDING))
    if outside.any():
        where = np.argwhere(outside)[0]
        raise ModelError(
            "The model must answer with two classes, 0 and 1, or with probabilities in [0, 1]; it gave "
            f"{answer[tuple(where)]} for {name_rows(rows[where[:1]])} of {data}.{hint}"
        )
    if answer.ndim == 2:
        off = np.abs(answer.sum(axis=1) - 1.0) > 1e-3
        if off.any():
            row = rows[np.flatnonzero(off)[:1]]
            raise ModelError(f"The model's two probabilities must add up to 1; they do not for {name_rows(row)}.{hint}")
        answer = answer[:, 1]
    favourable: FloatArray = answer.astype(float)
    return favourable


def name_rows(rows: IntArray) -> str:
    """Name rows by their numbers, the first few if there are many."""
    unique = np.unique(rows)
    if len(unique) == 1:
        return f"row {unique[0]}"
    shown = ", ".join(map(str, unique[:5]))
    return f"rows {shown}" + (f", ... ({len(unique)} rows)" if len(unique) > 5 else "")
