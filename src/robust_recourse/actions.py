"""What a person may change."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np

from robust_recourse._typing import FloatArray
from robust_recourse._validation import check_real
from robust_recourse.math.limits import Limits

__all__ = ["ActionSet"]

Column = Hashable

_LIGHTEST, _HEAVIEST = 1e-50, 1e50  # so that their squares are numbers


class ActionSet:
    """What may change, how far, in which direction and at what price.

    Columns are named by their position in an array, or by their name in a frame.

    Parameters
    ----------
    immutable : iterable of column
        Columns that never change.
    increase, decrease : iterable of column
        Columns that may only go up, or only go down.
    bounds : mapping from column to (low, high)
        Smallest and largest value of the column; ``None`` for no bound on that side. A row whose own value is
        outside has no recourse, unless the column is immutable.
    weights : mapping from column to float
        Price of one unit of change, positive; 1 for the columns that are not named.

    Examples
    --------
    >>> actions = ActionSet(immutable=[0], increase=[2], bounds={1: (0, None)}, weights={1: 2.0})
    >>> actions
    ActionSet(immutable=[0], increase=[2], bounds={1: (0, None)}, weights={1: 2.0})
    >>> actions.limits(3).upper
    array([inf, inf, inf])
    """

    def __init__(
        self,
        *,
        immutable: Iterable[Column] = (),
        increase: Iterable[Column] = (),
        decrease: Iterable[Column] = (),
        bounds: Mapping[Column, tuple[float | None, float | None]] | None = None,
        weights: Mapping[Column, float] | None = None,
    ) -> None:
        self.immutable = _columns(immutable, "immutable")
        self.increase = _columns(increase, "increase")
        self.decrease = _columns(decrease, "decrease")
        self.bounds = dict(bounds or {})
        self.weights = dict(weights or {})

    def __repr__(self) -> str:
        given = [f"{name}={value!r}" for name, value in vars(self).items() if value]
        return f"{type(self).__name__}({', '.join(given)})"

    def limits(self, columns: int | Sequence[Column]) -> Limits:
        """Turn the rules into arrays for a table with these columns (their names, or how many there are).

        Raises
        ------
        ValueError
            If a rule names a column that is not there, or rules contradict each other.
        """
        names = list(range(columns)) if isinstance(columns, int) else list(columns)
        place = {name: position for position, name in enumerate(names)}

        def find(column: Column, rule: str) -> int:
            # Positions count for arrays only, negative ones from the end.
            if isinstance(column, bool | np.bool_):
                raise TypeError(f"actions.{rule} must name columns, got {column}; give column numbers, not a mask.")
            if column in place:
                return place[column]
            if isinstance(column, int | np.integer) and -len(names) <= column < 0 and isinstance(columns, int):
                return int(column) % len(names)
            shown = f"0 to {len(names) - 1}" if isinstance(columns, int) else ", ".join(map(repr, names))
            raise ValueError(f"actions.{rule} names column {column!r}, which is not there. The columns are {shown}.")

        p = len(names)
        rises, falls = np.ones(p, dtype=bool), np.ones(p, dtype=bool)
        for column in self.increase:
            falls[find(column, "increase")] = False
        for column in self.decrease:
            position = find(column, "decrease")
            if not falls[position]:
                raise ValueError(
                    f"actions: column {column!r} is in both increase and decrease. "
                    "Put it in immutable if it may not change."
                )
            rises[position] = False
        for column in self.immutable:
            position = find(column, "immutable")
            rises[position] = falls[position] = False
        lower, upper, weights = np.full(p, -np.inf), np.full(p, np.inf), np.ones(p)
        for column, pair in self.bounds.items():
            position = find(column, "bounds")
            lower[position], upper[position] = _bounds(column, pair)
        for column, weight in self.weights.items():
            name = f"actions.weights[{column!r}]"
            check_real(weight, name, minimum=0.0, strict=True)
            weights[find(column, "weights")] = check_real(weight, name, minimum=_LIGHTEST, maximum=_HEAVIEST)
        return Limits(lower, upper, rises, falls, weights)


def _columns(columns: Iterable[Column], rule: str) -> list[Column]:
    if isinstance(columns, str):
        raise TypeError(f"actions.{rule} must be a list of columns, got the text {columns!r}; write [{columns!r}].")
    return list(columns)


def _bounds(column: Column, pair: tuple[float | None, float | None]) -> FloatArray:
    name = f"actions.bounds[{column!r}]"
    if isinstance(pair, str) or not isinstance(pair, Sequence | np.ndarray) or len(pair) != 2:
        raise ValueError(f"{name} must be a pair (low, high), got {pair!r}.")
    low = -math.inf if pair[0] is None or pair[0] == -math.inf else check_real(pair[0], f"{name}[0]")
    high = math.inf if pair[1] is None or pair[1] == math.inf else check_real(pair[1], f"{name}[1]")
    if low > high:
        raise ValueError(f"{name} is empty: its low bound {low:g} is above its high bound {high:g}.")
    return np.array([low, high])
