"""Trained models in a folder: each is written once, whole, under a name that says all about it."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

from robust_recourse.checkpoints import Store

__all__ = ["ModelStore", "open_store"]


class ModelStore(Store):
    """A folder for trained models.

    Models may be anything, so they are pickles, and reading a pickle runs what is in it: only those are read that this
    user has written.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, sealed=True)

    def load(self, key: str) -> Any:
        """Return what was kept, None if it is not there or cannot be used."""
        content = self.read(key)
        if content is None:
            return None
        try:
            return pickle.loads(content)
        except Exception as error:  # of a pickle anything may be raised
            self.refuse(key, f"it cannot be read: {type(error).__name__}: {error}")
            return None

    def save(self, key: str, model: Any) -> None:
        """Keep something."""
        self.write(key, pickle.dumps(model))


def open_store(folder: str | os.PathLike[str] | None) -> ModelStore | None:
    """Return the store in a folder; None if there is none."""
    if folder is None:
        return None
    if not isinstance(folder, str | os.PathLike):
        raise TypeError(f"folder must be a path, got {type(folder).__name__}.")
    return ModelStore(Path(folder))
