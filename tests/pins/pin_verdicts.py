"""What models of every kind say of one table: how many and which rows are accepted, probabilities and scores of a few
to six digits, and whether a row alone, and a model that is asked quickly, say the same. Estimators and pipelines of
scikit-learn, XGBoost, LightGBM, torch, ONNX and callables, with favourable classes and thresholds, and answers that are
refused. Models may move the adapters and their names; who is accepted stays. What was learnt is compared under the same
versions only.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tests.pins import models
from tests.pins.pinning import ABSENT, digest

from robust_recourse.models.predictor import Predictor, Probabilities, Sureness
from robust_recourse.tables import Schema

PACKAGES = ("xgboost-cpu", "lightgbm", "torch", "onnxruntime", "skl2onnx")
SHOWN = (3, 17, 20, 50, 111, 200)
"""Rows whose probabilities are recorded."""


def observe(folder: Path) -> Any:  # noqa: ARG001
    """Return verdicts by kind of model and name."""
    frame = models.table()
    y, plain = models.labels(frame), models.numbers(frame)
    seen: dict[str, Any] = {"callables": {name: _verdict(plain, *given) for name, given in models.CALLABLES.items()}}
    for kind, (make, raw) in models.KINDS.items():
        X = frame if raw else plain
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of the libraries of models
                made = dict(make(X, y))
        except ImportError:
            seen[kind] = ABSENT
        else:
            seen[kind] = {f"here: {name}": _verdict(X, *given) for name, given in made.items()}
    return seen


def _verdict(X: pd.DataFrame, model: Any, decides: dict[str, Any]) -> Any:
    """Return what a model says of the rows, or the kind of error."""
    table = Schema.learn(X).read(X, "X")
    rows, some = np.arange(len(X)), np.array(SHOWN)

    def asked(of: type[Any], which: np.ndarray, **how: Any) -> np.ndarray:
        answers = of(model, decode=table.decode, **decides, **how)
        return np.asarray(answers(table.values[which], which))

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            accepted = asked(Predictor, rows)
            alone = np.concatenate([asked(Predictor, some[k : k + 1]) for k in range(len(some))])
            quickly = asked(Predictor, rows, quickly=True)
            shares, scores = asked(Probabilities, some), asked(Sureness, some)
    except Exception as error:
        return f"{type(error).__name__}, {'with' if 'row' in str(error) else 'without'} a row"
    return {
        "accepted": int(accepted.sum()),
        "rows": digest(np.packbits(accepted).tobytes(), prefix="rows:"),
        "alone": bool((alone == accepted[some]).all()),
        "quickly": bool((quickly == accepted).all()),
        "probabilities": np.round(shares, 6).tolist(),
        "scores": [float(f"{score:.6g}") for score in scores],
    }
