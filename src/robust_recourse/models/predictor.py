"""From anything that predicts to labels, accepted or refused, and to probabilities of acceptance."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.models import torch_modules
from robust_recourse.models.adapters import adapted
from robust_recourse.models.decisions import Decision
from robust_recourse.models.errors import Batch, ModelError, name_rows
from robust_recourse.models.quick import Quickly, follows_probabilities
from robust_recourse.models.quick import quickly as answered_quickly
from robust_recourse.models.reading import read
from robust_recourse.models.verdicts import Verdicts
from robust_recourse.tables.unpacked import packed
from robust_recourse.tables.values import take

__all__ = ["Acceptance", "Answers", "Decode", "ModelError", "Predictor", "Probabilities", "Sureness", "name_rows"]

_JUST_ABOVE = float(np.finfo(float).tiny)  # zero

Decode: TypeAlias = Callable[[FloatArray, IntArray], Any]


class Answers:
    """Asks a model in batches, and reads what it answers; the parameters are those of :class:`Predictor`."""

    _methods: tuple[str, ...] = ("predict_proba", "predict")  # of the model, in order of preference
    _only_labels = False
    _smoothly = False  # whether rows may have fractions where the model wants whole numbers

    def __init__(
        self,
        model: Any,
        decode: Decode | None = None,
        data: str = "X",
        *,
        favourable: Any = None,
        threshold: float | None = None,
        quickly: bool = False,
    ) -> None:
        if decode is not None and not callable(decode):
            raise TypeError(
                "decode must be a function decode(X, rows) that returns what the model gets, "
                f"got {type(decode).__name__}."
            )
        self._decode, self._data = decode, data
        self._hint = torch_modules.HINT if torch_modules.is_module(model) else ""
        model = adapted(model, smoothly=self._smoothly)
        self._model, self._decision = model, Decision.of(model, favourable, threshold)
        # A threshold is one of probabilities where there are some.
        first = ("predict_proba",) if threshold is not None else ()
        self._ask = _method(model, (*first, *self._methods), quickly=quickly)

    def verdicts(self, X: FloatArray, rows: IntArray) -> Verdicts:
        """Return what the model says about the rows of `X`; `rows` are their numbers in messages."""
        found: Verdicts = self._read(X, rows, partial(self._said, rows=rows))
        return found

    def asks_as(self, other: Answers) -> bool:
        """Whether another asks the model in the same way, so that both get the same answers."""
        return self._ask == other._ask

    def _said(self, answer: Any, rows: IntArray) -> Verdicts:
        """Return what an answer means."""
        return read(answer, self._decision, Batch(rows, self._data, self._hint), only_labels=self._only_labels)

    def _read(
        self, X: FloatArray, rows: IntArray, reader: Callable[[Any], Any], ask: Callable[[Any], Any] | None = None
    ) -> Any:
        """Ask, and read the answer; what goes wrong in either names the row."""
        points = X if self._decode is None else self._decode(X, rows)
        try:
            return reader(_answered(ask or self._ask, points))
        except ModelError:
            raise
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
                points = take(X, half) if self._decode is None else self._decode(X[half], rows[half])
                try:
                    _answered(self._ask, points)
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
        An object with ``predict`` or ``predict_proba``, a callable, a torch module, an ONNX session or a booster. It
        answers with labels, with the probability of the favourable class, with the columns of ``predict_proba``, or
        with scores. A torch module gets tensors of its own type, on its own device, in evaluation mode, and its
        outputs are probabilities too, not logits.
    decode : callable, optional
        ``decode(X, rows)`` returns what the model gets for rows of numbers; the array itself if None.
    data : str
        What the rows in messages are rows of.
    favourable : object, optional
        The label of the favourable class; 1 of the classes 0 and 1 if None. Of columns of probabilities without names
        it is the number of the column, of scores "above" (default) or "below" the threshold.
    threshold : float, optional
        The least probability of the favourable class that is accepted, or the last score. None: a row is accepted if
        the model's label is favourable, or if it is the likeliest one, with a probability above one half if there are
        two.
    quickly : bool
        Whether models of scikit-learn are asked without the price of its checks, where that is known to give the same
        bits: for the many questions of a search. What is told of a row is what the model itself says.
    """

    _methods = ("predict", "predict_proba")
    _only_labels = True

    def __call__(self, X: FloatArray, rows: IntArray) -> BoolArray:
        """Return which rows of `X` the model accepts; `rows` are their numbers in messages."""
        return self.verdicts(X, rows).accepted

    def least_score(self, sure: Sureness) -> float | None:
        """Return the least score of accepted rows; None where scores and labels are not known to agree."""
        decision = self._decision
        if decision.threshold is not None:
            return 0.0 if self.asks_as(sure) else None
        # One half, and a tie, are refused: they are the first class.
        second = decision.classes is not None and decision.column == 1
        agree = self.asks_as(sure) or (second and follows_probabilities(self._model))
        return _JUST_ABOVE if agree else None


class Probabilities(Answers):
    """Asks a model for the probability of the favourable class; a model that only knows labels gives 0 and 1.

    The parameters are those of :class:`Predictor`. A model that answers with scores gives 0 and 1, too.
    """

    def __call__(self, X: FloatArray, rows: IntArray) -> FloatArray:
        """Return the probability of every row of `X`; `rows` are their numbers in messages."""
        return self.verdicts(X, rows).probability


class Sureness(Answers):
    """Asks a model how sure it is: log odds of acceptance, or scores, positive where it accepts.

    A model that only knows labels is as sure of one accepted row as of another.

    Parameters
    ----------
    model, decode, data, favourable, threshold, quickly
        As for :class:`Predictor`.
    unit : float
        What a score of the model's own is divided by, so that it does not matter in dollars or in thousands of them it
        is. Log odds have their own unit.
    """

    _only_labels = True

    def __init__(self, model: Any, *, unit: float = 1.0, **how: Any) -> None:
        super().__init__(model, **how)
        self._unit = unit

    def __call__(self, X: FloatArray, rows: IntArray) -> FloatArray:
        """Return the score of every row of `X`; `rows` are their numbers in messages."""
        return self.scores(self.verdicts(X, rows))

    def scores(self, said: Verdicts) -> FloatArray:
        """Return the scores behind verdicts."""
        return said.score / self._unit if said.scale == "score" else said.score


class Acceptance(Answers):
    """Asks a model for probabilities of acceptance: above one half where it accepts, whatever the threshold.

    Where one half decides they are the probabilities of the favourable class. The parameters are those of
    :class:`Predictor`.
    """

    def __call__(self, X: FloatArray, rows: IntArray) -> FloatArray:
        """Return the number of every row of `X`; `rows` are their numbers in messages."""
        return self.verdicts(X, rows).acceptance


def _answered(ask: Callable[[Any], Any], points: Any) -> Any:
    return ask(points if isinstance(ask, Quickly) else packed(points))


def _method(model: Any, names: tuple[str, ...], *, quickly: bool) -> Callable[[Any], Any]:
    for name in names:
        method = getattr(model, name, None)
        if callable(method):
            return (answered_quickly(model, name) if quickly else None) or method
    if callable(model):
        return model  # type: ignore[no-any-return]
    raise TypeError(f"model must have predict or predict_proba, or be callable, got {type(model).__name__}.")
