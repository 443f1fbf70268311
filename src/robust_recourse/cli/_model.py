"""The model of a command: its options, its file, and its classes as people write them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np

from robust_recourse.cli._options import real_number
from robust_recourse.models.files import Session, read_model

__all__ = ["add_decision", "class_of", "classes_of", "favourable_of", "read_file", "read_trainable"]


def add_decision(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what the model decides, and whether its file is trusted."""
    group = parser.add_argument_group("the model's decision")
    group.add_argument(
        "--favourable",
        metavar="CLASS",
        help="the class that people want (default: 1 of the classes 0 and 1); of scores, above or below the threshold",
    )
    group.add_argument(
        "--threshold", type=real_number, metavar="NUMBER", help="least probability, or last score, that is accepted"
    )
    group.add_argument(
        "--trust",
        action="append",
        default=[],
        metavar="TYPE",
        help="a type that a .skops file may hold besides those that skops trusts; may be given several times",
    )
    group.add_argument(
        "--trust-pickle", action="store_true", help="read a pickle, which runs whatever code is in the file"
    )


def read_file(arguments: argparse.Namespace) -> Any:
    """Read the model."""
    return read_model(arguments.model, trusted=arguments.trust, trust_pickle=arguments.trust_pickle)


def read_trainable(arguments: argparse.Namespace, why: str) -> Any:
    """Read a model of which a fresh copy can be trained; `why` says what for, and what else can be done."""
    what = "An ONNX model"
    if arguments.model.suffix.lower() != ".onnx":
        model = read_file(arguments)
        if hasattr(model, "fit") and hasattr(model, "get_params"):
            return model
        what = f"A {type(model).__name__}"
    raise ValueError(
        f"{arguments.model}: {what} cannot be trained, and fresh copies of it shall be: give the estimator that it was "
        f"made from, one like those of scikit-learn with fit and get_params, in a .skops file, or {why} also takes a "
        "function that trains."
    )


def classes_of(model: Any) -> Sequence[Any] | None:
    """Return the classes that a model says it has."""
    classes = getattr(model, "classes_", None)
    return classes if classes is not None and np.ndim(classes) == 1 else None


def class_of(text: str, classes: Sequence[Any]) -> int | None:
    """Return the place of the class that is written so: models have texts, numbers or booleans as classes."""
    for place, label in enumerate(classes):
        number = isinstance(label, int | float | np.number) and not isinstance(label, bool)
        if str(label) == text or (number and _number(text) == label):
            return place
    return None


def favourable_of(text: str | None, model: Any) -> Any:
    """Return the class that people want, from how it is written."""
    if text is None:
        return None
    classes = classes_of(model)
    if classes is not None:
        place = class_of(text, classes)
        if place is None:
            known = ", ".join(map(str, classes))
            raise ValueError(f"--favourable must be a class of the model, {known}, got {text!r}.")
        label = classes[place]
        return label.item() if isinstance(label, np.generic) else label
    if isinstance(model, Session) and any("string" in output.type for output in model.get_outputs()):
        return text
    number = _number(text)
    return text if number is None else number


def _number(text: str) -> int | float | None:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None
