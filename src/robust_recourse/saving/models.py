"""Models in the format of skops, which is no pickle: what a file holds is known before anything of it is made."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

__all__ = ["UntrustedModelError", "check_trusted", "pack", "unpack"]

_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType, partial, np.ufunc)
_WITHOUT = (
    "Save the method without it, save(method, path, include_model=False), and give it again: load(path, model=...)"
)


class UntrustedModelError(ValueError):
    """The model in a file has types that were not allowed.

    Attributes
    ----------
    types : tuple of str
        Their names.
    """

    def __init__(self, path: str | os.PathLike[str], types: Iterable[str]) -> None:
        self.types = tuple(types)
        message = (
            f"The model in {os.fspath(path)} has types that are not trusted by default: {', '.join(self.types)}. "
            "Nothing of it was loaded. If you know who wrote the file and what these types do, allow them: "
            f"load(path, trusted={list(self.types)!r}). Or give the model yourself: load(path, model=...)."
        )
        if any(name.startswith("sklearn.") for name in self.types):
            message += (
                " Types of scikit-learn are listed if a forged file could misuse them: trees, for one, are not checked "
                "when they are loaded."
            )
        super().__init__(message)


def check_trusted(trusted: Iterable[str | type] | None) -> list[str | type]:
    """Return a list of types, or of their names."""
    if isinstance(trusted, str | type) or not isinstance(trusted, Iterable | None):
        raise TypeError(f"trusted must be a list of types or of their names, got {trusted!r}.")
    items = list(trusted or ())
    for item in items:
        if not isinstance(item, str | type):
            raise TypeError(f"trusted must be a list of types or of their names, got {item!r} in it.")
    return items


def pack(model: Any, who: str = "The model") -> bytes:
    """Return a model, or several, as skops writes them; messages call it `who`.

    Raises
    ------
    TypeError
        If it cannot be saved, or not be loaded again.
    """
    kind = f"{type(model).__module__}.{type(model).__qualname__}"
    if isinstance(model, _FUNCTIONS):
        raise TypeError(f"{who}, a {kind}, is code, and no code is saved. {_WITHOUT}.")
    skops = _skops("save a method with its model")
    try:
        content: bytes = skops.dumps(model)
        # What cannot be loaded, a lambda within a pipeline for one, is written all the same.
        skops.loads(content, trusted=skops.get_untrusted_types(data=content))
    except Exception as error:  # models bring errors of their own
        raise TypeError(
            f"{who}, a {kind}, cannot be saved without pickle ({type(error).__name__}: {error}). {_WITHOUT}."
        ) from error
    return content


def unpack(content: bytes, path: str | os.PathLike[str], trusted: list[str | type]) -> Any:
    """Return the model that was packed, if all its types are trusted.

    Raises
    ------
    UntrustedModelError
        If they are not; nothing of the model is made then.
    ValueError
        If it cannot be made.
    """
    skops = _skops("load the model of a method")
    try:
        types = skops.get_untrusted_types(data=content)
    except Exception as error:  # damage has many faces
        raise _not_made(path, error) from error
    allowed = [item if isinstance(item, str) else f"{item.__module__}.{item.__name__}" for item in trusted]
    refused = [name for name in types if name not in allowed]
    if refused:
        raise UntrustedModelError(path, refused)
    try:
        return skops.loads(content, trusted=allowed)
    except Exception as error:  # models bring errors of their own
        raise _not_made(path, error) from error


def _not_made(path: str | os.PathLike[str], error: Exception) -> ValueError:
    return ValueError(
        f"The model in {os.fspath(path)} cannot be loaded here ({type(error).__name__}: {error}). It needs the same "
        "packages, in similar versions, as where it was saved. A model can be given instead: load(path, model=...)."
    )


def _skops(purpose: str) -> Any:
    try:
        import skops.io
    except ImportError as error:
        raise ImportError(
            f"skops is needed to {purpose}. Install it with: pip install 'robust-recourse[save]'. "
            "A method can do without: save(method, path, include_model=False) and load(path, model=...)."
        ) from error
    return skops.io
