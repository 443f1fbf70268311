"""A table of people that a lender has loaded: who is in it, and how their values are distributed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse._typing import BoolArray
from robust_recourse.methods.base import RecourseMethod
from robust_recourse.notices.explorer import background
from robust_recourse.notices.values import json_value, label_text, text
from robust_recourse.search.explain import accepted_rows
from robust_recourse.search.run import predictor
from robust_recourse.search.space import Space
from robust_recourse.service.rows import names_of

__all__ = ["People", "accepted_people", "usual"]


class People:
    """People, and what the present model says of them.

    Parameters
    ----------
    method : RecourseMethod
        The method.
    table : DataFrame
        Their rows; the index has their ids.
    """

    def __init__(self, method: RecourseMethod, table: Any) -> None:
        space = Space.of(method.read(table, "the people", unseen="ignore"), method.moves_)
        self.accepted, _ = accepted_rows(predictor(method, "the people"), space)
        self._frame = table if method.schema_.names is None else table[method.schema_.names]
        self._frame = self._frame if isinstance(self._frame, pd.DataFrame) else pd.DataFrame(self._frame)
        self._texts = names_of(method.schema_)
        self._ids = [label_text(label) for label in self._frame.index]
        self._columns = [self._frame.iloc[:, k].tolist() for k in range(self._frame.shape[1])]

    def __len__(self) -> int:
        return len(self._ids)

    def histograms(self) -> list[dict[str, Any]]:
        """Return how the values of accepted and refused people are distributed, column by column."""
        return background(self._frame, self.accepted)

    def usual(self) -> list[Any]:
        """Return a usual value of every column."""
        return usual(self._frame)

    def row(self, i: int) -> dict[str, Any]:
        """Return somebody's row as data for JSON."""
        return {name: json_value(cells[i]) for name, cells in zip(self._texts, self._columns, strict=True)}

    def find(self, query: str, accepted: bool | None, offset: int, limit: int) -> dict[str, Any]:
        """Find people by their ids, or by what is in their cells; those whose ids begin so come first."""
        found = [i for i in self._search(query.strip().casefold()) if accepted in (None, bool(self.accepted[i]))]
        chosen = found[offset : offset + limit]
        people = [{"id": self._ids[i], "accepted": bool(self.accepted[i]), "row": self.row(i)} for i in chosen]
        return {"total": len(found), "offset": offset, "people": people}

    def _search(self, query: str) -> Iterator[int]:
        everybody = range(len(self))
        if not query:
            yield from everybody
            return
        named = [identity.casefold().startswith(query) for identity in self._ids]
        yield from (i for i in everybody if named[i])
        yield from (
            i
            for i in everybody
            if not named[i]
            and (query in self._ids[i].casefold() or any(query in text(cells[i]).casefold() for cells in self._columns))
        )


def usual(frame: pd.DataFrame) -> list[Any]:
    """Return a value of every column that somebody has: the middle one of numbers, else the most frequent one."""
    found: list[Any] = []
    for k in range(frame.shape[1]):
        column = frame.iloc[:, k].dropna()
        if not len(column):
            found.append(None)
        elif pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype):
            found.append(np.sort(column.to_numpy())[len(column) // 2])
        else:
            found.append(column.mode(dropna=True).iloc[0])
    return found


def accepted_people(method: RecourseMethod) -> tuple[Any, BoolArray]:
    """Return the accepted training rows that a method keeps, as a table, and that they are accepted."""
    points = method.candidates_ if method.accepted_ is None else method.accepted_
    moves, columns = method.moves_, []
    values = moves.to_values(points)
    for k, column in enumerate(moves.columns):
        if column.categorical:
            codes = points[:, k].astype(int)
            cells = pd.Series([column.values[code] if code >= 0 else None for code in codes], dtype=object)
        elif column.kind == "number":
            cells = pd.Series(moves.told(k)(values[:, k]))
        else:
            cells = pd.Series([None] * len(points), dtype=object)
        columns.append(cells)
    return pd.concat(columns, axis=1), np.ones(len(points), dtype=bool)
