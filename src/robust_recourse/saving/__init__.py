"""Saving and loading methods: without pickle, and without trust in what a file holds."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from robust_recourse._files import write_atomically
from robust_recourse.futures import Jury
from robust_recourse.methods.base import RecourseMethod
from robust_recourse.methods.registry import METHODS
from robust_recourse.result.provenance import Provenance
from robust_recourse.saving import archive, juries
from robust_recourse.saving.archive import Archive, damaged
from robust_recourse.saving.kinds import KINDS
from robust_recourse.saving.models import UntrustedModelError, check_trusted, pack, unpack
from robust_recourse.tables.plain import decode, encode

__all__ = ["UntrustedModelError", "fingerprint", "load", "save"]

_FORMAT = 2
_MODELS = ("model", "jury")  # parameters that are models, and kept as such
_ELSEWHERE = ("n_jobs", "random_state")  # parameters that change nothing, or whose effect is learnt
_PACKAGES = ("robust-recourse", "numpy", "pandas", "scikit-learn", "skops")


def save(method: RecourseMethod, path: str | os.PathLike[str], *, include_model: bool = True) -> None:
    """Save a method, fitted or not, to be loaded with :func:`load`.

    The file is a zip archive: the parameters and what was learnt as JSON and arrays, and the model in the format of
    `skops <https://skops.readthedocs.io>`_. It holds the accepted training rows: treat it as you treat these.

    Parameters
    ----------
    method : RobustBayesianRecourse, BayesianRecourse, Wachter, ROAR, NearestAccepted, BetaRCE
        The method.
    path : path
        The file. If there is one, it is replaced when all is written, and not before.
    include_model : bool
        Whether to save the model, too, and those of the jury. Functions, torch modules and sessions of ONNX cannot be
        saved without pickle: leave them out and give them to :func:`load` again.

    Raises
    ------
    TypeError
        If something cannot be saved; the message names it.
    ImportError
        If the model is included and skops is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from robust_recourse import NearestAccepted
    >>> def model(X):
    ...     return X.sum(axis=1) > 2
    >>> method = NearestAccepted(model).fit([[0.0, 0.0], [3.0, 1.0], [1.0, 4.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(method, Path(folder, "loans.recourse"), include_model=False)
    ...     again = load(Path(folder, "loans.recourse"), model=model)
    >>> again.explain([[0.5, 0.5]]).x
    array([[3., 1.]])
    """
    if not isinstance(method, RecourseMethod):
        raise TypeError(f"method must be a method of recourse, got {type(method).__name__}.")
    method.check_unchanged()
    params = method.get_params(deep=False)
    model = pack(params["model"]) if include_model else None
    jury, packed = params.get("jury"), None
    if jury is not None and include_model:
        packed = pack(juries.models_of(jury), "The jury")
    arrays: list[Any] = []
    data = {
        "format": _FORMAT,
        "versions": {name: _version(name) for name in _PACKAGES},
        "method": type(method).__name__,
        "parameters": _encoded(method, [name for name in params if name not in _MODELS], arrays),
        "jury": None if jury is None else encode(juries.settings_of(jury), KINDS, arrays),
        "learnt": _encoded(
            method, [name for name in vars(method) if name not in params and not name.startswith("_")], arrays
        ),
    }
    write_atomically(path, archive.pack(Archive(data, arrays, model, packed)))


def fingerprint(method: RecourseMethod) -> str:
    """Return a name that two fitted methods share only if they give the same recourses.

    They share it across processes, and before and after :func:`save` and :func:`load`. A model that is a function is
    known by its name alone: what it does cannot be told.
    """
    params = method.get_params(deep=False)
    learnt = [name for name in vars(method) if name not in params and not name.startswith("_")]
    names = [name for name in params if name not in (*_MODELS, *_ELSEWHERE)]
    arrays: list[Any] = []
    facts = {
        "method": type(method).__name__,
        "learnt": _encoded(method, [*names, *learnt], arrays),
        "provenance": asdict(Provenance.of(method)),
        "model": getattr(method.model, "__qualname__", type(method.model).__qualname__),
    }
    digest = hashlib.blake2b(json.dumps(facts, sort_keys=True, default=str).encode(), digest_size=16)
    for array in arrays:
        digest.update(f"{array.dtype.str} {array.shape}".encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def load(
    path: str | os.PathLike[str],
    *,
    model: Any = None,
    jury: Jury | None = None,
    trusted: Iterable[str | type] | None = None,
) -> Any:
    """Load a method that :func:`save` wrote.

    No code comes out of the file. The types that the model in it consists of must be known as harmless to skops, or
    be allowed here; otherwise nothing of the model is loaded.

    Parameters
    ----------
    path : path
        The file.
    model : object or callable, optional
        The model, if it was left out of the file or if another one shall be used: that in the file is then ignored.
    jury : Jury, optional
        The jury, in the same way, if the method has one.
    trusted : list of str or type, optional
        Types that the model may have beyond those that skops trusts. The error that refuses a file names them; look
        at them before you allow them. If the method itself is of a class of your own, give the class here.

    Returns
    -------
    method
        The method as it was saved. A fitted one explains at once, and gives the same answers.

    Raises
    ------
    UntrustedModelError
        If the model has types that are not trusted; the message names them.
    ValueError
        If the file is of another kind, damaged or from a newer release, or has no model and none is given.
    ImportError
        If the model is to be loaded and skops is not installed.
    """
    allowed = check_trusted(trusted)
    data, arrays, packed, packed_jury = archive.unpack(Path(path).read_bytes(), path)
    try:
        newer, made, kind = data["format"] > _FORMAT, data["versions"]["robust-recourse"], data["method"]
    except Exception as error:  # damage has many faces
        raise damaged(path, error) from error
    if newer:
        raise ValueError(
            f"{os.fspath(path)} was saved by a newer release, robust-recourse {made}; this is "
            f"{_version('robust-recourse')}. Update with: pip install --upgrade robust-recourse"
        )
    method_type = _method_type(kind, allowed, path)
    try:
        params = {name: decode(value, KINDS, arrays) for name, value in data["parameters"].items()}
        settings = None if data.get("jury") is None else decode(data["jury"], KINDS, arrays)
        learnt = {name: decode(value, KINDS, arrays) for name, value in data["learnt"].items()}
        method = method_type(model=None, **params)
        if any(hasattr(method_type, name) for name in learnt):
            raise ValueError("it would replace a part of the class")
    except ImportError:
        raise
    except Exception as error:  # damage has many faces
        raise damaged(path, error) from error
    if model is None:
        if packed is None:
            raise ValueError(f"{os.fspath(path)} was saved without its model. Give it: load(path, model=...).")
        model = unpack(packed, path, allowed)
    method.model = model
    if settings is not None:
        if jury is None:
            if packed_jury is None:
                raise ValueError(f"{os.fspath(path)} was saved without its jury. Give it: load(path, jury=...).")
            jury = _jury(settings, unpack(packed_jury, path, allowed), path)
        method.jury = jury
    vars(method).update(learnt)
    if learnt:
        method.keep_settings()
    return method


def _jury(settings: dict[str, Any], models: Any, path: str | os.PathLike[str]) -> Jury:
    try:
        return juries.jury_of(settings, models)
    except Exception as error:  # damage has many faces
        raise damaged(path, error) from error


def _encoded(method: RecourseMethod, names: Iterable[str], arrays: list[Any]) -> dict[str, Any]:
    encoded = {}
    for name in names:
        try:
            encoded[name] = encode(getattr(method, name), KINDS, arrays)
        except TypeError as error:
            raise TypeError(f"{type(method).__name__}.{name}: {error}") from error
    return encoded


def _method_type(name: str, allowed: list[str | type], path: str | os.PathLike[str]) -> Any:
    """Find the class of a method: one of the library, or one that is given, and never one that a file names."""
    own = [kind for kind in allowed if isinstance(kind, type) and issubclass(kind, RecourseMethod)]
    for kind in (*own, *METHODS.values()):
        if kind.__name__ == name:
            return kind
    raise ValueError(
        f"{os.fspath(path)} holds a method of the class {name!r}, which is not part of robust-recourse "
        f"{_version('robust-recourse')}. If it is your own, give the class: load(path, trusted=[{name}])."
    )


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
