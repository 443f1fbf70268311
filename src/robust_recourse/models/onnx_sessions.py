"""Sessions of onnxruntime as models: a table in, labels, probabilities or scores out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse.tables.foreign import to_pandas

__all__ = ["Classifier", "adapt", "is_session"]

_TYPES: dict[str, Any] = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    "tensor(string)": object,
}
_WHOLE = ("tensor(int64)", "tensor(int32)", "tensor(bool)")
_REAL = ("tensor(float)", "tensor(double)", "tensor(float16)")


def is_session(model: Any) -> bool:
    """Whether `model` is an ``InferenceSession``."""
    return all(callable(getattr(model, name, None)) for name in ("run", "get_inputs", "get_outputs"))


class Classifier:
    """A session that answers with labels and with probabilities."""

    def __init__(self, predict: Callable[[Any], Any], predict_proba: Callable[[Any], Any]) -> None:
        self.predict, self.predict_proba = predict, predict_proba


def adapt(session: Any, *, smoothly: bool = False) -> Any:
    """Return a session as an object with ``predict`` and ``predict_proba``, or as a callable if it has one output.

    Inputs of whole numbers refuse others, or round them if asked `smoothly`, for derivatives.
    """
    outputs = session.get_outputs()
    real = [output.name for output in outputs if output.type in _REAL or output.type.startswith("seq(map(")]
    if len(real) > 1:
        real = [name for name in real if "prob" in name.lower()]
    labels = [output.name for output in outputs if output.type in _TYPES and output.type not in _REAL]
    if len(real) > 1 or len(labels) > 1 or not (real or labels):
        raise ValueError(
            "model must answer with labels, probabilities or one score, but the outputs of the ONNX session are "
            f"{[output.name for output in outputs]}. Pass a callable that asks for the one that decides."
        )
    if labels and real:
        names = labels[0], real[0]
        return Classifier(partial(_ask, session, smoothly, names[0]), partial(_probabilities, session, smoothly, names))
    return partial(_ask, session, smoothly, (*labels, *real)[0])


def _ask(session: Any, smoothly: bool, output: str, X: Any) -> Any:
    return _table(session.run([output], _feed(session.get_inputs(), X, smoothly))[0])


def _probabilities(session: Any, smoothly: bool, outputs: tuple[str, str], X: Any) -> Any:
    labels, answer = session.run(list(outputs), _feed(session.get_inputs(), X, smoothly))
    table = _table(answer)
    if isinstance(table, pd.DataFrame) or np.ndim(table) != 2 or labels.dtype.kind not in "iu":
        return table
    # Columns without names can only be told by their numbers.
    strange = labels[(labels < 0) | (labels >= max(table.shape[1], 2))]
    if strange.size:
        raise ValueError(
            f"the label {strange[0]} of the ONNX model is not the number of one of its {table.shape[1]} columns of "
            "probabilities. Export the model with ZipMap, which names the columns."
        )
    return table


def _table(answer: Any) -> Any:
    """Return what ZipMap answers, a dictionary for every row, as a frame."""
    return pd.DataFrame(answer) if isinstance(answer, list) and answer and isinstance(answer[0], dict) else answer


def _feed(inputs: list[Any], X: Any, smoothly: bool) -> dict[str, Any]:
    """Return the tensors that a session wants: one with all columns, or one for every column."""
    X = to_pandas(X)
    if len(inputs) == 1:
        (only,) = inputs
        return {only.name: _tensor(X, only, smoothly)}
    frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X, columns=_names(inputs, X.shape[1]))
    lacking = [each.name for each in inputs if each.name not in frame.columns]
    if lacking:
        raise ValueError(f"the inputs {lacking} of the ONNX model are no columns of the table, {list(frame.columns)}.")
    return {
        each.name: _tensor(frame[[each.name]], each, smoothly).reshape((-1, 1)[: max(len(each.shape), 1)])
        for each in inputs
    }


def _names(inputs: list[Any], width: int) -> list[str]:
    if len(inputs) != width:
        raise ValueError(f"the ONNX model has {len(inputs)} inputs, but the table has {width} columns.")
    return [each.name for each in inputs]


def _tensor(table: Any, into: Any, smoothly: bool) -> Any:
    kind, name = into.type, into.name
    if kind not in _TYPES:
        raise ValueError(f"input {name!r} of the ONNX model is a {kind}, but tables are {', '.join(_TYPES)}.")
    given = table.to_numpy() if isinstance(table, pd.DataFrame) else np.asarray(table)
    if kind not in _WHOLE:
        return given.astype(_TYPES[kind])
    tensor = (np.rint(given.astype(float)) if smoothly else given).astype(_TYPES[kind])
    if not smoothly and (tensor != given).any():
        wrong = given[tensor != given].tolist()[0]
        raise ValueError(f"input {name!r} of the ONNX model takes whole numbers, a {kind}, got {wrong!r}.")
    return tensor
