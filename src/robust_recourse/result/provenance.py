"""Where recourses come from: version, method, settings and model."""

from __future__ import annotations

import functools
import hashlib
import math
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
from joblib.hashing import NumpyHasher

from robust_recourse.actions import ActionSet
from robust_recourse.futures.jury import NAME, Jury
from robust_recourse.tables import Schema

__all__ = ["Provenance", "fingerprint", "jury_fingerprint"]

_BY_NAME = (type, types.FunctionType, types.BuiltinFunctionType, types.MethodType, functools.partial)
_ELSEWHERE = ("model", "random_state", "n_jobs")


@dataclass(frozen=True)
class Provenance:
    """What made a recourse.

    Attributes
    ----------
    version : str
        Version of the library.
    method : str
        Name of the method's class.
    parameters : mapping
        Its parameters as values that JSON has; what is none is described by its type and a fingerprint. Without the
        model, the seed and the number of processes, which changes nothing.
    model : str
        Name of the model's type.
    model_fingerprint : str or None
        The same for the same fitted model; None where it cannot be told, as for functions.
    seed : int or None
        Seed of everything random.
    schema_fingerprint : str
        The same for the same columns: names, kinds, units, steps, categories and types.
    """

    version: str
    method: str
    parameters: Mapping[str, Any] = field(hash=False)
    model: str
    model_fingerprint: str | None
    seed: int | None
    schema_fingerprint: str

    @classmethod
    def of(cls, method: Any) -> Provenance:
        """Describe a fitted method: an estimator with ``schema_``, ``seed_`` and ``model_fingerprint_``."""
        parameters = method.get_params(deep=False)
        return cls(
            version("robust-recourse"),
            type(method).__name__,
            {name: _plain(value) for name, value in parameters.items() if name not in _ELSEWHERE},
            _type_name(parameters["model"]),
            method.model_fingerprint_,
            method.seed_,
            _schema_fingerprint(method.schema_),
        )


def fingerprint(value: Any) -> str | None:
    """Return a name that two objects share if they hold the same values; None for what is known by its name only."""
    if isinstance(value, _BY_NAME):
        return None
    try:
        return str(_Hasher("md5").hash(value))
    except Exception:  # whatever its pickling raises
        return None


class _Hasher(NumpyHasher):  # type: ignore[misc]
    """Hashes arrays by their values: how they lie in memory, and what is between fields, changes in files.

    So does which values are one object: tuples, moments and other scalars are hashed wherever they occur, like texts.
    """

    def memoize(self, obj: Any) -> None:
        if not isinstance(obj, tuple) and not pd.api.types.is_scalar(obj):
            super().memoize(obj)

    def save(self, obj: Any) -> None:
        if isinstance(obj, np.ndarray) and not obj.dtype.hasobject:
            obj = obj.copy(order="C") if obj.dtype.names is None else _fields(obj)
        super().save(obj)


def _fields(array: Any) -> tuple[Any, ...]:
    """Return what an array with fields holds; bytes, as ensembles of trees have thousands of such arrays."""
    return (array.shape, *((name, array.dtype[name].str, array[name].tobytes()) for name in array.dtype.names))


def _plain(value: Any) -> Any:
    """Return what stands for a parameter in JSON."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Jury):
        return _jury(value)
    return {"type": _type_name(value), "fingerprint": fingerprint(_said(value))}


def _said(value: Any) -> Any:
    """Return what a fingerprint is about: of an action set what it says and knows, not how pandas keeps it."""
    if not isinstance(value, ActionSet):
        return value
    return {**vars(value), "schema": value.schema and _schema_fingerprint(value.schema)}


def _jury(jury: Jury) -> dict[str, Any]:
    """Return the settings of a jury, how many models it has, and a name for these."""
    settings = {name: getattr(jury, name) for name in ("quorum", "margin", "rule", "survival", "confidence")}
    check = None if jury.check is None else len(jury.check)
    return {"models": len(jury), "check": check, **settings, "fingerprint": jury_fingerprint(jury)}


def jury_fingerprint(jury: Jury) -> str | None:
    """Return a name that juries share if their models hold the same values."""
    # Models are many and do not change: their name is looked for once.
    if NAME not in vars(jury):
        vars(jury)[NAME] = fingerprint((jury.models, jury.check))
    known: str | None = vars(jury)[NAME]
    return known


def _type_name(value: Any) -> str:
    kind = type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


def _schema_fingerprint(schema: Schema) -> str:
    facts = [*map(repr, schema.columns), *map(str, schema.dtypes)]
    return hashlib.blake2b("\n".join(facts).encode("utf-8", "backslashreplace"), digest_size=12).hexdigest()
