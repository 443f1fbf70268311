"""Models of every kind on one table from a seed, and answers that no model should give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC

ROWS = 240
JOBS = ["clerk", "cook", "judge"]
Model = tuple[Any, dict[str, Any]]
"""A model, and how its favourable class is named."""


def table() -> pd.DataFrame:
    """Return rows of numbers, categories and gaps."""
    rng = np.random.default_rng(11)
    income = np.round(1000.0 + 4000.0 * rng.random(ROWS), 2)
    income[::17] = np.nan
    return pd.DataFrame(
        {
            "income": income,
            "children": rng.integers(0, 5, ROWS),
            "job": pd.Categorical.from_codes(rng.integers(0, 3, ROWS), JOBS),
            "owner": rng.random(ROWS) < 0.5,
        }
    )


def numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the columns that any estimator reads, without gaps."""
    return frame[["income", "children"]].fillna({"income": 2500.0}).assign(rooms=np.arange(ROWS) % 7)


def labels(frame: pd.DataFrame) -> np.ndarray:
    """Return 0 and 1, not separable by any of the models."""
    good = (frame["income"].fillna(0.0) > 2800.0) & (frame["job"] != "cook") | (frame["children"] == 4)
    return (good.to_numpy() ^ (np.arange(ROWS) % 11 == 0)).astype(int)


def of_numbers(X: pd.DataFrame, y: np.ndarray) -> Iterator[tuple[str, Model]]:
    """Yield estimators of scikit-learn that learnt from numbers."""
    three, words = y + (X["children"].to_numpy() > 2), np.array(["refused", "approved"])[y]
    logistic = make_pipeline(StandardScaler(), LogisticRegression())
    yield "logistic", (_fitted(logistic, X, y), {})
    yield "logistic, threshold", (_fitted(logistic, X, y), {"threshold": 0.7})
    yield "logistic, 0 is favourable", (_fitted(logistic, X, y), {"favourable": 0})
    yield "logistic, words", (_fitted(logistic, X, words), {"favourable": "approved"})
    yield "logistic, one of three", (_fitted(logistic, X, three), {"favourable": 2})
    yield "logistic, one of three, threshold", (_fitted(logistic, X, three), {"favourable": 1, "threshold": 0.3})
    yield "linear SVM", (_fitted(make_pipeline(StandardScaler(), LinearSVC()), X, y), {})
    yield "SVM", (_fitted(make_pipeline(StandardScaler(), SVC()), X, y), {})
    yield "forest", (_fitted(RandomForestClassifier(20, random_state=0), X, y), {})
    yield "forest, one of three", (_fitted(RandomForestClassifier(20, random_state=0), X, three), {"favourable": 0})
    boosting = HistGradientBoostingClassifier(max_iter=15, random_state=0)
    yield "boosting", (_fitted(boosting, X, y), {"threshold": 0.4})
    network = MLPClassifier((8,), solver="lbfgs", max_iter=400, random_state=0)
    yield "network", (_fitted(make_pipeline(StandardScaler(), network), X, y), {})
    yield "naive Bayes", (_fitted(GaussianNB(), X, y), {})
    yield "neighbours", (_fitted(KNeighborsClassifier(4), X, y), {})
    linear, trees = LinearRegression(), HistGradientBoostingRegressor(max_iter=15, random_state=0)
    yield "regression, above", (_fitted(linear, X, 500.0 * three), {"threshold": 400.0})
    yield "regression, below", (_fitted(trees, X, 500.0 * three), {"threshold": 400.0, "favourable": "below"})


def of_table(X: pd.DataFrame, y: np.ndarray) -> Iterator[tuple[str, Model]]:
    """Yield pipelines that learnt from the raw table."""
    numeric = ["children", "owner"]
    one_hot = make_column_transformer((OneHotEncoder(), ["job"]), (StandardScaler(), numeric))
    ordinal = make_column_transformer((OrdinalEncoder(), ["job"]), ("passthrough", ["income", "children"]))
    yield "one-hot logistic", (_fitted(make_pipeline(one_hot, LogisticRegression()), X, y), {})
    forest = RandomForestClassifier(20, random_state=0)
    yield "one-hot forest", (_fitted(make_pipeline(one_hot, forest), X, y), {"threshold": 0.6})
    boosting = HistGradientBoostingClassifier(max_iter=15, random_state=0, categorical_features=[0])
    yield "boosting of codes", (_fitted(make_pipeline(ordinal, boosting), X, y), {})
    native = HistGradientBoostingClassifier(max_iter=15, random_state=0, categorical_features="from_dtype")
    yield "boosting of categories", (_fitted(native, X, y), {"favourable": 0})


TREES = {"n_estimators": 8, "max_depth": 3, "n_jobs": 1, "random_state": 0}


def of_xgboost(X: pd.DataFrame, y: np.ndarray) -> Iterator[tuple[str, Model]]:
    """Yield models of XGBoost."""
    import xgboost

    options = {**TREES, "enable_categorical": True, "tree_method": "hist"}
    three = y + X["owner"].to_numpy()
    classifier = xgboost.XGBClassifier(**options).fit(X, y)
    yield "classifier", (classifier, {})
    yield "classifier, threshold", (classifier, {"threshold": 0.7})
    yield "booster", (classifier.get_booster(), {})
    yield "booster, 0 is favourable", (classifier.get_booster(), {"favourable": 0})
    yield "one of three", (xgboost.XGBClassifier(**options).fit(X, three).get_booster(), {"favourable": 2})
    yield "regressor", (xgboost.XGBRegressor(**options).fit(X, 500.0 * three), {"threshold": 400.0})


def of_lightgbm(X: pd.DataFrame, y: np.ndarray) -> Iterator[tuple[str, Model]]:
    """Yield models of LightGBM."""
    import lightgbm

    options = {**TREES, "min_child_samples": 5, "verbose": -1, "deterministic": True, "force_row_wise": True}
    three = y + X["owner"].to_numpy()
    classifier = lightgbm.LGBMClassifier(**options).fit(X, y)
    yield "classifier", (classifier, {"favourable": 0})
    yield "booster", (classifier.booster_, {"threshold": 0.3})
    yield "one of three", (lightgbm.LGBMClassifier(**options).fit(X, three), {"favourable": 1})
    yield "regressor", (lightgbm.LGBMRegressor(**options).fit(X, 500.0 * three), {"threshold": 400.0})


def of_torch(X: pd.DataFrame, y: np.ndarray) -> Iterator[tuple[str, Model]]:  # noqa: ARG001
    """Yield torch modules with weights that are set, in both precisions."""
    import torch

    nn = torch.nn
    for name, columns, last, kind in (
        ("one output", 1, nn.Sigmoid(), torch.float64),
        ("two outputs", 2, nn.Softmax(dim=1), torch.float64),
        ("single precision", 1, nn.Sigmoid(), torch.float32),
    ):
        module = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, columns), last).to(kind)
        with torch.no_grad():
            for parameter in module.parameters():
                steps = torch.arange(parameter.numel(), dtype=kind).reshape(parameter.shape)
                parameter.copy_(torch.sin(1.7 * steps + 3.0) * (0.0005 if parameter.shape == (4, 3) else 1.0))
        yield name, (module, {"threshold": 0.3} if columns == 2 else {})
    yield "threshold", (module, {"threshold": 0.6})


def of_onnx(X: pd.DataFrame, y: np.ndarray) -> Iterator[tuple[str, Model]]:
    """Yield ONNX sessions."""
    import onnxruntime
    import skl2onnx
    from skl2onnx.common.data_types import FloatTensorType

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1

    def session(model: Any, **options: Any) -> Any:
        made = skl2onnx.convert_sklearn(
            model,
            initial_types=[("input", FloatTensorType([None, 3]))],
            options={id(model): options} if options else None,
        )
        return onnxruntime.InferenceSession(made.SerializeToString(), settings, providers=["CPUExecutionProvider"])

    logistic = LogisticRegression(C=1e-4, max_iter=1000).fit(X.to_numpy(), y)
    yield "classifier", (session(logistic, zipmap=False), {})
    yield "classifier with a map", (session(logistic, zipmap=True), {"favourable": 0})
    yield "regressor", (session(LinearRegression().fit(X.to_numpy(), 500.0 * y)), {"threshold": 250.0})


def _share(X: Any) -> np.ndarray:
    return np.round(np.asarray(X, dtype=float)[:, 0] / 5000.0, 3)


CALLABLES: dict[str, Model] = {
    "labels": (lambda X: (_share(X) > 0.6).astype(int), {}),
    "flags": (lambda X: _share(X) > 0.6, {}),
    "labels, 0 is favourable": (lambda X: (_share(X) > 0.6).astype(int), {"favourable": 0}),
    "words": (lambda X: np.where(_share(X) > 0.6, "yes", "no"), {"favourable": "yes"}),
    "words as objects": (lambda X: np.where(_share(X) > 0.6, "yes", "no").astype(object), {"favourable": "no"}),
    "probabilities": (_share, {}),
    "probabilities, threshold": (_share, {"threshold": 0.6}),
    "probabilities in a column": (lambda X: _share(X)[:, None], {}),
    "two columns": (lambda X: np.column_stack([1.0 - _share(X), _share(X)]), {}),
    "two columns, the first": (lambda X: np.column_stack([1.0 - _share(X), _share(X)]), {"favourable": 0}),
    "three columns": (lambda X: np.column_stack([0.4 - 0.4 * _share(X), _share(X), 0.6 - 0.6 * _share(X)]), {}),
    "three columns, the last": (
        lambda X: np.column_stack([0.4 - 0.4 * _share(X), _share(X), 0.6 - 0.6 * _share(X)]),
        {"favourable": 2},
    ),
    "named columns": (lambda X: pd.DataFrame({"no": 1.0 - _share(X), "yes": _share(X)}), {"favourable": "yes"}),
    "series": (lambda X: pd.Series(_share(X)), {}),
    "list": (lambda X: _share(X).tolist(), {}),
    "scores": (lambda X: 900.0 * _share(X), {"threshold": 500.0}),
    "scores, below": (lambda X: 900.0 * _share(X), {"threshold": 500.0, "favourable": "below"}),
    "scores without a threshold": (lambda X: 900.0 * _share(X), {}),
    "no numbers": (lambda X: np.where(_share(X) > 0.9, np.nan, _share(X)), {}),
    "words without a favourable one": (lambda X: np.where(_share(X) > 0.6, "yes", "no"), {}),
    "other words": (lambda X: np.where(_share(X) > 0.6, "yes", "no"), {"favourable": "maybe"}),
    "too few": (lambda X: _share(X)[1:], {}),
    "one number": (lambda _: 0.5, {}),
    "beyond 1": (lambda X: np.column_stack([_share(X), 1.0 + _share(X)]), {}),
    "an error": (lambda _: 1 / 0, {}),
    "no model": ("logistic", {}),
    "a wrong class": (LogisticRegression().fit([[0.0], [1.0]], [0, 1]), {"favourable": 3}),
    "a wrong threshold": (_share, {"threshold": float("nan")}),
    "a class of nothing": (LogisticRegression().fit([[0.0], [1.0]], ["a", "b"]), {}),
}


def _fitted(model: Any, X: pd.DataFrame, y: np.ndarray) -> Any:
    from sklearn.base import clone

    return clone(model).fit(X, y)


Kind = tuple[Callable[[pd.DataFrame, np.ndarray], Iterator[tuple[str, Model]]], bool]
KINDS: dict[str, Kind] = {
    "numbers": (of_numbers, False),
    "table": (of_table, True),
    "XGBoost": (of_xgboost, True),
    "LightGBM": (of_lightgbm, True),
    "torch": (of_torch, False),
    "ONNX": (of_onnx, False),
}
"""Models by library, and whether they get the raw table."""
