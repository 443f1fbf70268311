"""Columns by the names that a user gives them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

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

    def __len__(self) -> int:
        return len(self.all)

    def find(self, column: Hashable, rule: str) -> int:
        """Return the position of a column that `rule` names.

        Positions count for arrays only, negative ones from the end.
        """
        if isinstance(column, bool | np.bool_):
            raise TypeError(f"actions.{rule} must name columns, got {column}; give column numbers, not a mask.")
        if column in self._places:
            return self._places[column]
        if isinstance(column, int | np.integer) and -len(self) <= column < 0 and self.of_array:
            return int(column) % len(self)
        raise ValueError(f"actions.{rule} names column {column!r}, which is not there. The columns are {self._shown}.")

    def find_in_rule(self, name: str, rule: str) -> int:
        """Return the position of a column that is named in the text of a rule; ``x0`` is the first of an array."""
        places = {f"x{position}": position for position in range(len(self))} if self.of_array else self._places
        place = places.get(name)
        if place is None:
            shown = f"x0 to x{len(self) - 1}" if self.of_array else self._shown
            raise ValueError(
                f"actions.rules: {rule!r} names column {name!r}, which is not there. The columns are {shown}."
            )
        return place

    @property
    def _shown(self) -> str:
        return f"0 to {len(self) - 1}" if self.of_array else ", ".join(map(repr, self.all))
