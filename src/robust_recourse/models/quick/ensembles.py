"""Forests and boosted trees: the sums over their trees.

A forest of scikit-learn hands every tree to a pool of workers, which takes far longer than to walk some rows down the
tree; boosted trees with categories encode their rows anew with a whole ColumnTransformer.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from robust_recourse._typing import FloatArray
from robust_recourse.models.quick.base import Quickly, is_theirs, left_alone

__all__ = ["ensemble_quickly"]

_MOST_ROWS = 2048  # beyond, cores of the model's own are worth more than checks cost
_NOISE = 1e-12  # of a mean over trees that are added up in any order
_THEIRS = ("predict", "predict_proba", "_raw_predict", "_predict_iterations", "_preprocess_X")
_BITS: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()  # known categories of boosted trees, by what has binned them


class _Forest(Quickly):
    """Asks a forest."""

    most_rows = _MOST_ROWS

    def answer(self, rows: FloatArray) -> Any:
        """Return the mean over the trees, or its largest class."""
        with np.errstate(over="ignore"):
            single = rows.astype(np.float32)
        if not np.isfinite(single).all():
            raise ValueError("Rows with missing or very large numbers are left to the forest itself.")
        model = self._model
        share = np.zeros((len(rows), model.n_classes_))
        for tree in model.estimators_:
            share += tree.tree_.predict(single)
        share /= len(model.estimators_)
        return share if self._name == "predict_proba" else model.classes_.take(np.argmax(share, axis=1), axis=0)

    def same(self, found: Any, true: Any) -> bool:
        """Compare; threads of the model's own add up in the order in which they end."""
        if self._model.n_jobs in (None, 1) or self._name == "predict":
            return super().same(found, true)
        return bool(np.allclose(found, true, rtol=0.0, atol=_NOISE))


class _Boosted(Quickly):
    """Asks boosted trees."""

    most_rows = _MOST_ROWS

    def answer(self, rows: FloatArray) -> Any:
        """Return the probabilities of the sum over the trees, or the class that it is for."""
        model = self._model
        numbers = rows.astype(float, copy=False)
        encoded = numbers if model._preprocessor is None else _with_codes(model._preprocessor, numbers)
        if model._bin_mapper not in _BITS:
            _BITS[model._bin_mapper] = model._bin_mapper.make_known_categories_bitsets()
        known, places = _BITS[model._bin_mapper]
        score = np.zeros((len(rows), 1), dtype=model._baseline_prediction.dtype, order="F")
        score += model._baseline_prediction
        total = score[:, 0]
        for (tree,) in model._predictors:
            total += tree.predict(encoded, known, places, 1)
        if self._name == "predict_proba":
            return model._loss.predict_proba(score)
        return model.classes_[(total > 0).astype(int)]


def _with_codes(preprocessor: Any, rows: FloatArray) -> FloatArray:
    """Return codes of categories, then numbers; what is missing or unknown has no code."""
    (_, encoder, categorical), (_, _, numbers) = preprocessor.transformers_[:2]
    if np.isinf(rows[:, categorical]).any():
        raise ValueError("What is no category at all is left to the trees themselves.")
    codes = []
    for column, values in zip(rows[:, categorical].T, encoder.categories_, strict=True):
        known = values[: len(values) - bool(len(values) and np.isnan(values[-1]))]
        place = np.searchsorted(known, column).clip(0, max(len(known) - 1, 0))
        codes.append(np.where(known[place] == column, place, np.nan))
    return np.column_stack([*codes, rows[:, numbers]])


def ensemble_quickly(model: Any, name: str) -> Quickly | None:
    """Return what answers as the method `name` of an ensemble does, and faster; None of other models.

    Parameters
    ----------
    model : object
        Anything; a fitted ``RandomForestClassifier``, ``ExtraTreesClassifier`` or ``HistGradientBoostingClassifier``,
        the last with two classes, is meant.
    name : str
        Its method, ``"predict"`` or ``"predict_proba"``.
    """
    forest = is_theirs(model, "sklearn.ensemble", "RandomForestClassifier", "ExtraTreesClassifier")
    boosted = is_theirs(model, "sklearn.ensemble", "HistGradientBoostingClassifier")
    if not (forest or boosted) or not left_alone(model, *_THEIRS):
        return None
    classes = np.shape(getattr(model, "classes_", ()))
    if forest:
        return _Forest(model, name) if len(classes) == 1 and classes != (0,) else None
    return _Boosted(model, name) if classes == (2,) else None
