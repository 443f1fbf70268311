"""From the answers of a model to what they say about acceptance: labels, probabilities and scores are told apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from robust_recourse._typing import BoolArray, FloatArray
from robust_recourse.models.decisions import Decision
from robust_recourse.models.errors import Batch, ModelError
from robust_recourse.models.verdicts import Verdicts

__all__ = ["read"]

_ROUNDING = 1e-6  # averaged probabilities may be off by that


def read(answer: Any, decision: Decision, batch: Batch, *, only_labels: bool = False) -> Verdicts:
    """Return what the answers to a batch mean.

    Parameters
    ----------
    answer : array_like of shape (m,), (m, 1) or (m, k)
        Labels, probabilities of the favourable class, scores, or columns of probabilities, which the columns of a
        DataFrame name.
    decision : Decision
        Which of them is favourable.
    batch : Batch
        The rows.
    only_labels : bool
        Whether nothing but ``accepted`` is wanted. Then it need not be known if a number beside a threshold is a
        probability or a score.

    Raises
    ------
    ModelError
        If it is none of these, with an answer for every row.
    """
    names = list(answer.columns) if isinstance(answer, pd.DataFrame) else None
    array = np.asarray(answer)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.shape[:1] != (len(batch.rows),) or array.ndim > 2 or array.shape[1:] == (0,):
        raise ModelError(_wrong_shape(array, batch))
    if array.dtype.kind not in "biuf":
        return _labels(array, decision, batch)
    if array.ndim == 2:
        return _columns(array.astype(float), names, decision, batch)
    if decision.threshold is not None or decision.side is not None:
        return _beside_threshold(array.astype(float), decision, batch, only_labels)
    return _numbers(array.astype(float), array.dtype.kind == "f", decision, batch)


def _labels(labels: Any, decision: Decision, batch: Batch) -> Verdicts:
    """Read labels that are no numbers."""
    if labels.ndim == 2:
        raise ModelError(f"{_wrong_shape(labels, batch)} It holds {labels.dtype} values.")
    wanted = "The model must answer with a label for every row"
    _check_all(~np.asarray(pd.isna(labels)), labels, batch, wanted)
    first, favourable = _plain(labels[0]), decision.favourable
    if favourable is None:
        raise ModelError(
            f"The model must answer with 0, 1 or probabilities, {batch.asked()} it gave {labels.dtype} values, such "
            f"as {first!r}. Pass favourable= the label that is favourable."
        )
    if decision.threshold is not None:
        raise ModelError(
            f"threshold needs probabilities or scores, {batch.asked()} the model gave labels, such as {first!r}."
        )
    if isinstance(favourable, str) != isinstance(first, str):
        raise ModelError(
            f"The model answers with labels such as {first!r} for {batch.row(0)}, but favourable is {favourable!r}. "
            "Pass one of the labels."
        )
    _check_classes(labels, decision, batch)
    return Verdicts(np.asarray(labels == favourable, dtype=float), 0.5)


def _numbers(numbers: FloatArray, real: bool, decision: Decision, batch: Batch) -> Verdicts:
    """Read labels that are numbers, or probabilities."""
    inside = _inside(numbers)
    if decision.favourable is None:
        wanted = "The model must answer with two classes, 0 and 1, or with probabilities in [0, 1]"
        advice = " Pass favourable= for other labels, threshold= for scores."
        _check_all(inside, numbers, batch, wanted, batch.hint or advice)
        return Verdicts(numbers, 0.5)
    if isinstance(decision.favourable, str):
        raise ModelError(
            f"The model answers with numbers such as {numbers[0]:g} for {batch.row(0)}, but favourable is "
            f"{decision.favourable!r}. Pass one of its labels, or threshold= for scores."
        )
    favourable = float(decision.favourable)
    either = favourable in (0.0, 1.0)
    _check_classes(numbers, decision, batch)
    if real:
        # Whole numbers are labels, and what lies between the labels 0 and 1 is the probability of the label 1.
        known = (numbers == np.rint(numbers)) | (numbers == favourable) | (inside & either)
        wanted = f"With favourable = {decision.favourable!r} the model must answer with labels, or with probabilities"
        _check_all(known, numbers, batch, wanted, batch.hint or " Pass threshold= for scores.")
    if not either:
        return Verdicts((numbers == favourable).astype(float), 0.5)
    value = np.where(inside, numbers if favourable else 1.0 - numbers, 0.0)
    return Verdicts(value, 0.5, sign=1.0 if favourable else -1.0)


def _beside_threshold(numbers: FloatArray, decision: Decision, batch: Batch, only_labels: bool) -> Verdicts:
    """Read one number for every row, a score or a probability."""
    threshold, favourable = decision.threshold, decision.favourable
    if threshold is None:
        raise ModelError(
            f"favourable = {favourable!r} needs threshold=: the model answers with numbers, {numbers[0]:g} for "
            f"{batch.row(0)}."
        )
    _check_all(np.isfinite(numbers), numbers, batch, "The model must answer with one finite number for every row")
    unknown = favourable is None and (decision.regressor or only_labels or not 0.0 < threshold < 1.0)
    if decision.side is not None or unknown:
        sign = decision.side or 1.0
        return Verdicts(sign * numbers, sign * threshold, "score", reaches=True, sign=sign)
    if favourable not in (None, 0, 1):
        raise ModelError(
            f"threshold needs the probability of favourable = {favourable!r}, {batch.asked()} the model gave one "
            "number for every row. Pass a model with predict_proba, or one that answers with columns."
        )
    wanted = f"With threshold = {threshold:g} the model must answer with probabilities in [0, 1]"
    advice = ' Pass favourable="above" or "below" for scores.'
    _check_all(_inside(numbers), numbers, batch, wanted, batch.hint or advice)
    if favourable == 0:
        return Verdicts(1.0 - numbers, threshold, reaches=True, sign=-1.0)
    return Verdicts(numbers, threshold, reaches=True)


def _columns(table: FloatArray, names: list[Any] | None, decision: Decision, batch: Batch) -> Verdicts:
    """Read columns of probabilities."""
    column = _column(table, names, decision, batch)
    inside = _inside(table)
    if not inside.all():
        row, place = np.argwhere(~inside)[0]
        raise ModelError(
            "The model must answer with one label for every row, or with probabilities in [0, 1]; it gave "
            f"{table[row, place]} for {batch.row(row)}.{batch.hint}"
        )
    off = np.abs(table.sum(axis=1) - 1.0) > 1e-3
    if off.any():
        where = batch.row(int(off.argmax()))
        raise ModelError(f"The model's probabilities must add up to 1; they do not for {where}.{batch.hint}")
    value = table[:, column]
    if decision.threshold is not None:
        if not 0.0 < decision.threshold < 1.0:
            raise ModelError(
                f"{batch.says()} columns of probabilities: threshold must lie between 0 and 1, got "
                f"{decision.threshold:g}."
            )
        return Verdicts(value, decision.threshold, reaches=True, column=column)
    if table.shape[1] == 2:
        return Verdicts(value, 0.5, column=column)
    return Verdicts(value, np.delete(table, column, axis=1).max(axis=1), "rival", column=column)


def _column(table: FloatArray, names: list[Any] | None, decision: Decision, batch: Batch) -> int:
    """Return the number of the favourable column."""
    k, favourable = table.shape[1], decision.favourable
    if decision.classes is not None:
        if k != len(decision.classes):
            raise ModelError(f"{_wrong_shape(table, batch)} Its classes are {list(decision.classes)}.")
        return decision.column
    if names is not None and names != list(range(k)):
        if favourable not in names:
            raise ModelError(f"{batch.says()} the columns {names}: favourable must be one of them, got {favourable!r}.")
        return names.index(favourable)
    if favourable is None and k != 2:
        raise ModelError(f"{_wrong_shape(table, batch)} Pass favourable= the number of the favourable column.")
    if favourable is None:
        return 1
    if not isinstance(favourable, int) or not 0 <= favourable < k:
        raise ModelError(
            f"{batch.says()} {k} columns of probabilities without names: favourable must be the number of one, from 0 "
            f"to {k - 1}, got {favourable!r}."
        )
    return int(favourable)


def _check_classes(labels: Any, decision: Decision, batch: Batch) -> None:
    classes = decision.classes
    if classes is not None and not all(label in classes for label in pd.unique(labels)):
        known = np.array([label in classes for label in labels])
        _check_all(known, labels, batch, f"The model must answer with one of its classes {list(classes)}")


def _inside(values: FloatArray) -> BoolArray:
    """Which values are probabilities; NaN is none."""
    inside: BoolArray = (values >= -_ROUNDING) & (values <= 1.0 + _ROUNDING)
    return inside


def _check_all(fine: BoolArray, answer: Any, batch: Batch, wanted: str, advice: str = "") -> None:
    if not fine.all():
        place = int(np.argmin(fine))
        raise ModelError(f"{wanted}; it gave {_plain(answer[place])!r} for {batch.row(place)}.{advice}")


def _plain(label: Any) -> Any:
    """Return a label as the user knows it, without the type of the array."""
    plain = label.item() if isinstance(label, np.generic) else label
    return int(plain) if isinstance(plain, float) and plain.is_integer() else plain


def _wrong_shape(answer: Any, batch: Batch) -> str:
    return f"The model must answer with one label for every row, {batch.asked()} it gave shape {answer.shape}."
