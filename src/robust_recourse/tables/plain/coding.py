"""Values as plain data, and back: numbers, text, lists and arrays stand for what methods and tables hold.

What is no plain value is *packed* into simpler ones until it is, and its kind is written beside it. Reading unpacks
only the kinds that are listed here, so that a file can make nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

__all__ = ["CONTAINERS", "Kind", "decode", "encode", "exactly"]

_PLAIN = (bool, int, float, str, type(None))
_ARRAY, _FLOAT = "array", "float"


class Kind(NamedTuple):
    """How values of a type are written.

    Attributes
    ----------
    name : str
        What a file calls them.
    known : callable
        Whether a value is of this kind.
    pack, unpack : callable
        Turn a value into simpler ones, and these into the value.
    same : callable or None
        Whether a value survived; None if there is nothing to doubt.
    """

    name: str
    known: Callable[[Any], bool]
    pack: Callable[[Any], Any]
    unpack: Callable[[Any], Any]
    same: Callable[[Any, Any], bool] | None = None


def exactly(kind: type) -> Callable[[Any], bool]:
    """Whether a value is of a type, and of no subclass."""
    return lambda value: type(value) is kind


CONTAINERS = (
    Kind("tuple", exactly(tuple), list, tuple),
    Kind("dict", exactly(dict), lambda value: [[key, item] for key, item in value.items()], dict),
)


def encode(value: Any, kinds: Iterable[Kind], arrays: list[Any]) -> Any:
    """Return a value as data for JSON; the arrays in it are appended to `arrays`.

    Raises
    ------
    TypeError
        If a value is of no known kind, or would come back as another one.
    """
    if type(value) is float and not math.isfinite(value):
        return {_FLOAT: repr(value)}  # JSON has no word for it
    if type(value) in _PLAIN:
        return value
    if type(value) is list:
        return [encode(item, kinds, arrays) for item in value]
    if type(value) is np.ndarray and not value.dtype.hasobject:
        arrays.append(value)
        return {_ARRAY: len(arrays) - 1}
    for kind in kinds:
        if kind.known(value) and _survives(kind, value):
            return {kind.name: encode(kind.pack(value), kinds, arrays)}
    raise TypeError(
        f"{value!r} of the type {type(value).__module__}.{type(value).__qualname__} cannot be saved. "
        "Numbers, booleans, text, dates, and what NumPy and pandas make of them can be."
    )


def _survives(kind: Kind, value: Any) -> bool:
    if kind.same is None:
        return True
    try:
        return kind.same(kind.unpack(kind.pack(value)), value)
    except Exception:  # a library's own, about a value that is unusual
        return False


def decode(data: Any, kinds: Iterable[Kind], arrays: list[Any]) -> Any:
    """Return the value that `encode` turned into data."""
    if type(data) in _PLAIN:
        return data
    if type(data) is list:
        return [decode(item, kinds, arrays) for item in data]
    [(name, packed)] = data.items()
    if name == _ARRAY:
        return arrays[packed]
    if name == _FLOAT:
        return float(packed)
    for kind in kinds:
        if kind.name == name:
            return kind.unpack(decode(packed, kinds, arrays))
    raise ValueError(f"it holds a value of the unknown kind {name!r}")
