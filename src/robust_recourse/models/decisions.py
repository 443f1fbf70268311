"""Which answer of a model is the favourable one: what `favourable` and `threshold` mean for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_regressor

from robust_recourse._validation import check_real

__all__ = ["Decision"]


@dataclass(frozen=True)
class Decision:
    """What a model must answer for a row to be accepted.

    Parameters
    ----------
    favourable : object, optional
        The label of the favourable class. Of columns of probabilities without names it is the number. Of scores it
        is "above" or "below" the threshold. None: the class 1 of 0 and 1, the second of two columns, above.
    threshold : float, optional
        The least probability of the favourable class, or the last score, that is accepted.
    classes : tuple, optional
        The classes that a classifier says it has, in the order of its probabilities.
    regressor : bool
        Whether a single number is a score for sure.
    """

    favourable: Any = None
    threshold: float | None = None
    classes: tuple[Any, ...] | None = None
    regressor: bool = False

    @classmethod
    def of(cls, model: Any, favourable: Any = None, threshold: float | None = None) -> Decision:
        """Check `favourable` and `threshold` against what the model tells about itself."""
        if np.ndim(favourable) != 0:
            raise TypeError(f"favourable must be one label, got {favourable!r}.")
        if isinstance(favourable, np.generic):
            favourable = favourable.item()
        classes = _classes(model)
        if classes is not None:
            _check_class(favourable, classes)
        if threshold is not None:
            threshold = check_real(threshold, "threshold")
            _check_threshold(model, threshold, classes, favourable)
        return cls(favourable, threshold, classes, isinstance(model, BaseEstimator) and is_regressor(model))

    @property
    def side(self) -> float | None:
        """1 if scores above the threshold are favourable, -1 if those below are, None if `favourable` is no side."""
        return {"above": 1.0, "below": -1.0}.get(self.favourable)

    @property
    def column(self) -> int:
        """The number of the favourable class among `classes`."""
        if self.classes is None:
            raise ValueError("The model does not tell its classes.")
        return 1 if self.favourable is None else self.classes.index(self.favourable)

    @property
    def sign(self) -> float:
        """The sign that ``decision_function`` has for the favourable one of two classes; 0 if there are others."""
        if self.classes is not None:
            return 2.0 * self.column - 1.0 if len(self.classes) == 2 else 0.0
        if self.favourable is None or self.favourable == 1:
            return 1.0
        return -1.0 if self.favourable in (0, -1) else 0.0


def _classes(model: Any) -> tuple[Any, ...] | None:
    classes = getattr(model, "classes_", None)
    if classes is None:
        return None
    if any(np.ndim(label) != 0 for label in classes):
        raise ValueError("model must have one output, but its classes_ are several lists, one for every output.")
    return tuple(label.item() if isinstance(label, np.generic) else label for label in classes)


def _check_class(favourable: Any, classes: tuple[Any, ...]) -> None:
    if favourable is None and classes != (0, 1):
        raise ValueError(
            "model must have the two classes 0 (unfavourable) and 1 (favourable), got classes_ = "
            f"{list(classes)}. Pass favourable= the class that is favourable."
        )
    if favourable is not None and favourable not in classes:
        raise ValueError(f"favourable must be one of the model's classes {list(classes)}, got {favourable!r}.")


def _check_threshold(model: Any, threshold: float, classes: tuple[Any, ...] | None, favourable: Any) -> None:
    probabilities = callable(getattr(model, "predict_proba", None))
    if classes is not None and not probabilities:
        raise TypeError(
            f"threshold needs probabilities, but {type(model).__name__} has no predict_proba. Leave it out, or pass a "
            "callable that answers with scores, such as the model's decision_function."
        )
    if (probabilities or favourable not in (None, "above", "below")) and not 0.0 < threshold < 1.0:
        raise ValueError(
            "threshold is compared with the probability of the favourable class: it must lie between 0 and 1, "
            f"got {threshold:g}."
        )
