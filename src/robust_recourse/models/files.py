"""Models in files: skops and ONNX, which only hold data, and pickles, which run code."""

from __future__ import annotations

import os
from collections.abc import Collection
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from robust_recourse._archives import check_size

__all__ = ["Session", "read_model"]

_PICKLES = (".joblib", ".pickle", ".pkl")
_SUFFIXES = (".skops", ".onnx", *_PICKLES)


def read_model(path: str | os.PathLike[str], *, trusted: Collection[str] = (), trust_pickle: bool = False) -> Any:
    """Read a model; the suffix of the file says how.

    Parameters
    ----------
    path : path-like
        A file that ends in ``.skops``, ``.onnx``, ``.joblib``, ``.pickle`` or ``.pkl``.
    trusted : collection of str
        Names of types that a skops file may hold besides those that skops trusts.
    trust_pickle : bool
        Whether a pickle may be read. Reading one runs whatever code is in it.

    Returns
    -------
    object
        The model: something with ``predict`` or ``predict_proba``, a callable, or a :class:`Session`.

    Raises
    ------
    ValueError
        If the file is no model, or if it is one that is not trusted; the message says what to do.
    ImportError
        If a package is missing that the file needs.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise ValueError(f"{path}: a model ends in {', '.join(_SUFFIXES[:-1])} or {_SUFFIXES[-1]}, not {suffix!r}.")
    if suffix in _PICKLES and not trust_pickle:
        raise ValueError(
            f"{path}: reading a pickle runs whatever code is in it. If you know who wrote this one, say so with "
            "--trust-pickle (trust_pickle=True in Python); better, save the model with skops or as ONNX."
        )
    content = path.read_bytes()  # a file that is not there fails here, for all kinds alike
    if suffix == ".onnx":
        return _read_onnx(path, content)
    model = _read_skops(path, content, trusted) if suffix == ".skops" else _read_pickle(path)
    if not callable(model) and not any(hasattr(model, name) for name in ("predict", "predict_proba")):
        raise ValueError(f"{path} holds a {type(model).__name__}, which is no model: it has no predict.")
    return model


def _read_skops(path: Path, content: bytes, trusted: Collection[str]) -> Any:
    if find_spec("skops") is None:
        raise ImportError(f"{path}: reading it needs skops: pip install 'robust-recourse[save]'")
    from skops import io

    try:
        check_size(content)
        unknown = sorted(set(io.get_untrusted_types(data=content)) - set(trusted))
    except Exception as error:  # a file that skops did not write may raise anything
        raise ValueError(f"{path}: this is no file that skops wrote: {error}") from error
    if unknown:
        raise ValueError(
            f"{path} holds types that are not trusted: {', '.join(unknown)}. If you know what they do, trust them with "
            f"{' '.join(f'--trust {name}' for name in unknown)} (trusted={unknown!r} in Python)."
        )
    try:
        return io.loads(content, trusted=sorted(trusted))
    except Exception as error:
        raise ValueError(f"{path}: the model cannot be read: {type(error).__name__}: {error}") from error


def _read_pickle(path: Path) -> Any:
    import joblib

    try:
        return joblib.load(path)
    except Exception as error:  # a damaged file, or one of other versions, may raise anything
        raise ValueError(f"{path}: the model cannot be read: {type(error).__name__}: {error}") from error


def _read_onnx(path: Path, content: bytes) -> Session:
    if find_spec("onnxruntime") is None:
        raise ImportError(f"{path}: reading it needs onnxruntime: pip install 'robust-recourse[onnx]'")
    try:
        return Session(content)
    except Exception as error:  # onnxruntime has no class of its own for all of them
        raise ValueError(f"{path}: this is no ONNX model that onnxruntime can run: {error}") from error


class Session:
    """A session of onnxruntime that can be sent to other processes.

    Parameters
    ----------
    content : bytes
        The model.
    """

    def __init__(self, content: bytes) -> None:
        from onnxruntime import InferenceSession

        self._content = content
        self._session = InferenceSession(content, providers=["CPUExecutionProvider"])

    def __reduce__(self) -> tuple[type[Session], tuple[bytes]]:
        return Session, (self._content,)

    def get_inputs(self) -> list[Any]:
        """Return the inputs of the model."""
        inputs: list[Any] = self._session.get_inputs()
        return inputs

    def get_outputs(self) -> list[Any]:
        """Return the outputs of the model."""
        outputs: list[Any] = self._session.get_outputs()
        return outputs

    def run(self, names: list[str] | None, feed: dict[str, Any]) -> list[Any]:
        """Ask the model for some of its outputs."""
        answers: list[Any] = self._session.run(names, feed)
        return answers
