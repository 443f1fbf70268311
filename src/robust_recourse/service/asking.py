"""What a model or a table does not take, told as a problem of the request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from robust_recourse.models.predictor import ModelError
from robust_recourse.service.problems import Fault, Problem

__all__ = ["asking"]

_MOST_FAULTS = 20  # that an answer lists
_MISSING = "is missing, which the model may not take."


@contextmanager
def asking(texts: Sequence[str], cells: Sequence[Sequence[Any]], field: str = "rows") -> Iterator[None]:
    """Ask about cells, column by column; what is wrong with them is a problem of the request.

    Parameters
    ----------
    texts : sequence of str
        The names of the columns.
    cells : sequence of sequences
        The cells, column by column.
    field : str
        What the rows are called in messages; a single row unless it is "rows".

    Raises
    ------
    Problem
        If the model cannot be asked; it names the cells that are missing, which many models do not take.
    """
    try:
        yield
    except ModelError as error:
        faults = [
            Fault(f"{field}[{i}].{text}" if field == "rows" else f"{field}.{text}", _MISSING, i, text)
            for text, held in zip(texts, cells, strict=True)
            for i, cell in enumerate(held)
            if cell is None
        ]
        words = f"The model cannot be asked about this. {str(error).partition(chr(10))[0]}"
        raise Problem("invalid-request", words, faults[:_MOST_FAULTS]) from error
    except (TypeError, ValueError) as error:
        raise Problem("invalid-request", str(error)) from error
