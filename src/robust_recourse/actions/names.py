"""Columns by the names that a user gives them."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence

import numpy as np

from robust_recourse.actions.rules import quoted
from robust_recourse.tables import Schema

__all__ = ["Names"]


class Names:
    """The columns of a table, and where they are.

    Parameters
    ----------
    columns : int or sequence of column
        How many columns an array has, or the names of those of a frame.
    """

    def __init__(self, columns: int | Sequence[Hashable]) -> None:
        self.of_array = isinstance(columns, int)
        self.all: list[Hashable] = list(range(columns)) if isinstance(columns, int) else list(columns)
        self._places = {name: position for position, name in enumerate(self.all)}
        self._in_rules = {f"x{k}": k for k in range(len(self.all))} if self.of_array else self._places

    @classmethod
    def of(cls, schema: Schema) -> Names:
        """Return the columns of a table."""
        return cls(len(schema.columns) if schema.names is None else list(schema.names))

    def __len__(self) -> int:
        return len(self.all)

    def find(self, column: Hashable, word: str) -> int:
        """Return the position of a column that an argument names.

        Positions count for arrays only, negative ones from the end.
        """
        if column in self._places:
            return self._places[column]
        if isinstance(column, int | np.integer) and -len(self) <= column < 0 and self.of_array:
            return int(column) % len(self)
        shown = f"0 to {len(self) - 1}" if self.of_array else ", ".join(map(repr, self.all))
        raise ValueError(f"actions.{word} names column {column!r}, which is not there. The columns are {shown}.")

    def find_in_rule(self, name: str, rule: str) -> int:
        """Return the position of a column that is named in the text of a rule; ``x0`` is the first of an array."""
        if name in self._in_rules:
            return self._in_rules[name]
        shown = f"x0 to x{len(self) - 1}" if self.of_array else ", ".join(map(repr, self.all))
        raise ValueError(
            f"actions.rules: {rule!r} names column {name!r}, which is not there. The columns are {shown}."
            f"{self._how_to_name(rule)}"
        )

    def _how_to_name(self, rule: str) -> str:
        """Say how a rule names the columns that this one may mean."""
        if self.of_array:
            return ""
        texts = [name for name in self.all if isinstance(name, str) and quoted(name) != name]
        hidden = [name for name in texts if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", rule)]
        if hidden:
            return f" In a rule the column {hidden[0]!r} is written {quoted(hidden[0])}."
        if not all(isinstance(name, str) for name in self.all):
            return " Only those whose names are texts can be in a rule: rename the others."
        return ""
