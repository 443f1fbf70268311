"""The rows of a promise as JSON: a cell is what people read, and comes back as what it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse.result import Recourses
from robust_recourse.result.cells import from_plain, to_plain
from robust_recourse.result.document import text_names
from robust_recourse.result.stored import Stored, library_of
from robust_recourse.tables.types import ungapped

__all__ = ["Columns", "promised_rows", "write_rows"]

_TABLES = ("before", "promised")


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of the tables of a run.

    Attributes
    ----------
    library : {"array", "pandas", "polars"}
        What the tables were.
    names : Index or None
        Their names, if they were frames of pandas.
    texts : tuple of str
        Their names as text, no two the same.
    kinds : tuple of str
        What they hold, as of :class:`robust_recourse.Recourses`.
    types : mapping
        The types of "before", the rows as they were, and "promised", as plain data.
    units, digits, orders : mapping
        As of the recourses, by the texts.
    """

    library: str
    names: pd.Index[Any] | None
    texts: tuple[str, ...]
    kinds: tuple[str, ...]
    types: Mapping[str, Any]
    units: Mapping[str, str]
    digits: Mapping[str, int]
    orders: Mapping[str, Sequence[Any]]

    @classmethod
    def read(cls, facts: Mapping[str, Any]) -> Columns:
        """Read what :meth:`facts` returned."""
        return cls(
            facts["library"],
            None if facts["names"] is None else from_plain(facts["names"]),
            tuple(facts["columns"]),
            tuple(facts["kinds"]),
            facts["types"],
            facts["units"],
            facts["digits"],
            from_plain(facts["orders"]),
        )

    def facts(self) -> dict[str, Any]:
        """Return everything as data for JSON."""
        return {
            "library": self.library,
            "names": None if self.names is None else to_plain(self.names),
            "columns": list(self.texts),
            "kinds": list(self.kinds),
            "types": dict(self.types),
            "units": dict(self.units),
            "digits": dict(self.digits),
            "orders": to_plain({name: tuple(values) for name, values in self.orders.items()}),
        }

    @property
    def signature(self) -> frozenset[tuple[str, str]]:
        """What two tables have in common if a model takes both: names, and whether they are numbers."""
        return frozenset(
            (name, "number" if kind == "number" else "other") for name, kind in zip(self.texts, self.kinds, strict=True)
        )

    def table(self, which: str, rows: Sequence[Mapping[str, Any]]) -> Any:
        """Return rows of promises as the table that they were: "before" or "promised"."""
        cells: list[list[Any]] = [list(column) for column in zip(*(row[which] for row in rows), strict=True)]
        exact: list[list[Any]] = [[] for _ in self.texts]
        for i, row in enumerate(rows):
            for k, value in row.get("exact", {}).get(which, ()):
                exact[k].append([i, value])
        stored = Stored(cells or [[] for _ in self.texts], exact, self.types[which])
        return stored.read(self.library, self.names, pd.RangeIndex(len(rows)), len(rows))


def promised_rows(found: Recourses) -> Any:
    """Return the rows of recourses, in the types that the model was asked with."""
    return ungapped(found.x, found.x0) if isinstance(found.x, pd.DataFrame) else found.x


def write_rows(found: Recourses, promised: Any) -> tuple[Columns, list[dict[str, Any]]]:
    """Return the columns of recourses, and for each of them its rows and what changes, as data for JSON."""
    everywhere = np.ones(len(found), dtype=bool)
    tables = {"before": found.x0, "promised": promised}
    stored = {name: Stored.of(table, f"found, {name}", everywhere) for name, table in tables.items()}
    names = getattr(found.x, "columns", range(len(found.kinds)))
    texts = text_names(names)
    told = dict(zip(names, texts, strict=True))
    columns = Columns(
        library_of(promised),
        promised.columns if isinstance(promised, pd.DataFrame) else None,
        tuple(texts),
        tuple(found.kinds),
        {name: table.types for name, table in stored.items()},
        {told[name]: unit for name, unit in found.units.items()},
        {told[name]: digits for name, digits in found.digits.items()},
        {told[name]: tuple(values) for name, values in found.orders.items()},
    )
    cells = {name: list(zip(*table.cells, strict=True)) for name, table in stored.items()}
    rows: list[dict[str, Any]] = [{name: list(cells[name][i]) for name in _TABLES} for i in range(len(found))]
    for name, table in stored.items():
        for k, exact in enumerate(table.exact):
            for i, value in exact:
                rows[i].setdefault("exact", {}).setdefault(name, []).append([k, value])
    for row, costs in zip(rows, found.column_costs.tolist(), strict=True):
        old, new = row["before"], row["promised"]
        row["changes"] = [[k, costs[k]] for k in range(len(texts)) if old[k] != new[k] or costs[k] != 0.0]
    return columns, rows
