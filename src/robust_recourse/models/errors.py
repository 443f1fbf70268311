"""What goes wrong with a model, told with the rows that it went wrong for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robust_recourse._typing import IntArray

__all__ = ["Batch", "ModelError", "name_rows"]


class ModelError(RuntimeError):
    """The model raised, or answered something that is no answer; the message names the rows."""


class Batch(NamedTuple):
    """The rows that a model was asked about, as messages call them."""

    rows: IntArray  # (m,)
    data: str  # what they are rows of
    hint: str = ""  # advice that ends messages about the range of the answers

    def asked(self) -> str:
        """Say which rows the model was asked for."""
        return f"asked for {len(self.rows)} rows ({name_rows(self.rows)} of {self.data})"

    def says(self) -> str:
        """Begin a sentence about the answer."""
        return f"Asked for {len(self.rows)} rows ({name_rows(self.rows)} of {self.data}) the model gave"

    def row(self, place: int) -> str:
        """Name one row."""
        return f"{name_rows(self.rows[place : place + 1])} of {self.data}"


def name_rows(rows: IntArray) -> str:
    """Name rows by their numbers, the first few if there are many."""
    unique = np.unique(rows)
    if len(unique) == 1:
        return f"row {unique[0]}"
    shown = ", ".join(map(str, unique[:5]))
    return f"rows {shown}" + (f", ... ({len(unique)} rows)" if len(unique) > 5 else "")
