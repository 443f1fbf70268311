"""Models of scikit-learn, asked without the price of its checks.

A small model answers in a tenth of a millisecond, and scikit-learn looks at the rows, and at the model, for up to
twenty times as long. A search that asks about few rows in many calls, and each of them to twenty jurors, mostly waits
for that. The same arithmetic in the same order gives the same bits, of rows that lie in memory alike; that is found out
with the first rows of each model, and where it is not so, or rows are no plain numbers, the model is asked itself.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from robust_recourse._typing import FloatArray
from robust_recourse.tables.unpacked import Unpacked, packed, unpacked

__all__ = ["Quickly", "is_theirs", "left_alone"]

_ENOUGH = 64  # rows that are compared before a way is trusted
_NEVER = -1
_COMPARED: WeakKeyDictionary[Any, dict[str, int]] = WeakKeyDictionary()
"""How many rows of models were compared, by method; `_NEVER` if one differed."""


class Quickly:
    """Asks a model in a way of its own, instead of by its method `name`."""

    most_rows: int | None = None
    """Of more rows the model is asked itself: it may use more cores."""

    def __init__(self, model: Any, name: str) -> None:
        self._model, self._name = model, name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quickly) and self._model is other._model and self._name == other._name

    def __hash__(self) -> int:
        return hash((id(self._model), self._name))

    def __call__(self, X: Any) -> Any:
        """Answer as the method of the model does; rows may be unpacked."""
        known = _COMPARED.setdefault(self._model, {})
        compared = known.get(self._name, 0)
        rows = None if compared == _NEVER else self.plain(X)
        if rows is None:
            return self.itself(X)
        try:
            found = self.answer(rows)
        except Exception:  # the model says itself what is wrong
            return self.itself(X)
        if compared >= _ENOUGH:
            return found
        true = self.itself(X)
        same = found.dtype == true.dtype and self.same(found, true)
        # Products of single rows are rounded in a way of their own.
        known[self._name] = _NEVER if not same else compared + (len(rows) if len(rows) > 1 else 0)
        return true

    def itself(self, X: Any) -> Any:
        """Ask the model."""
        return getattr(self._model, self._name)(packed(X))

    def answer(self, rows: FloatArray) -> Any:
        """Answer about plain rows."""
        raise NotImplementedError

    def same(self, found: Any, true: Any) -> bool:
        """Whether the model itself gives the same answer."""
        return bool(np.array_equal(found, true))

    def plain(self, X: Any) -> FloatArray | None:
        """Return rows whose numbers scikit-learn would let pass as they are, without a warning; None of others."""
        names, X = getattr(self._model, "feature_names_in_", None), unpacked(X)
        if isinstance(X, Unpacked) and names is not None:
            numbers = all(isinstance(kind, np.dtype) and kind.kind in "iuf" and kind.itemsize == 8 for kind in X.kinds)
            X = X.numbers(tuple(names)) if numbers and list(X.columns) == list(names) else None
        elif names is not None or type(X) is not np.ndarray or X.ndim != 2 or X.dtype != np.float64:
            return None
        if X is None or not 0 < len(X) <= (self.most_rows or len(X)) or X.shape[1] != self._model.n_features_in_:
            return None
        return X  # type: ignore[no-any-return]


def is_theirs(model: Any, module: str, *names: str) -> bool:
    """Whether the class of a model is one of those of scikit-learn, by name: to import them all takes time."""
    kind = type(model)
    return kind.__name__ in names and kind.__module__.startswith(module)


def left_alone(model: Any, *methods: str) -> bool:
    """Whether nobody has given a model other methods than its class has."""
    return not any(method in vars(model) for method in methods)
