"""Trained models in a folder: each is written once, whole, under a name that says all about it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
from joblib import Memory

from robust_recourse._files import replacing

__all__ = ["ModelStore", "open_store"]


@dataclass(frozen=True)
class ModelStore:
    """A folder for trained models.

    It is laid out as a ``joblib.Memory`` is, so that this can clear it and reduce its size. The memory itself would
    keep models, too, but not know them again in a second folder of the same process.
    """

    folder: Path

    def path(self, key: str) -> Path:
        """Return the file of a model."""
        return self.folder / "robust_recourse" / "future_models" / key / "output.pkl"

    def load(self, key: str) -> Any:
        """Return what was kept, None if it is not there or cannot be read."""
        path = self.path(key)
        if not path.exists():
            return None
        try:
            return joblib.load(path)
        except Exception:  # of a pickle anything may be raised; what cannot be read is trained again
            return None

    def save(self, key: str, model: Any) -> None:
        """Keep something."""
        with replacing(self.path(key)) as path:
            joblib.dump(model, path)


def open_store(memory: Memory | str | os.PathLike[str] | None) -> ModelStore | None:
    """Return where a memory keeps its results, or where one in the given folder would; None if there is none."""
    if memory is None:
        return None
    if not isinstance(memory, Memory | str | os.PathLike):
        raise TypeError(f"memory must be a joblib.Memory or a folder, got {type(memory).__name__}.")
    # As text: joblib has another folder for a path.
    known = memory if isinstance(memory, Memory) else Memory(os.fspath(memory), verbose=0)
    backend = known.store_backend
    return None if backend is None else ModelStore(Path(backend.location))
