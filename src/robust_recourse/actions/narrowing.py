"""What one person can do: the lender's action set, and less."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from robust_recourse._validation import check_integer, check_real
from robust_recourse.actions.moves import Moves, moves_of
from robust_recourse.tables import Schema

if TYPE_CHECKING:
    from robust_recourse.actions.action_set import ActionSet

__all__ = ["NarrowingError", "narrow"]

_EASIEST, _HARDEST = 0.01, 100.0


class NarrowingError(ValueError):
    """Somebody's limits do not fit the action set.

    Attributes
    ----------
    word : str
        The argument of :func:`narrow`.
    column : hashable or None
        The column, if it is about one.
    widens : bool
        Whether more would be allowed than the action set does.
    """

    def __init__(self, word: str, column: Hashable | None, text: str, *, widens: bool = False) -> None:
        super().__init__(f"{word}{'' if column is None else f'[{column!r}]'} {text}")
        self.word, self.column, self.text, self.widens = word, column, text, widens


def narrow(
    actions: ActionSet,
    schema: Schema,
    *,
    fixed: Iterable[Hashable] = (),
    ranges: Mapping[Hashable, Sequence[float | None]] | None = None,
    categories: Mapping[Hashable, Sequence[Any]] | None = None,
    difficulty: Mapping[Hashable, float] | None = None,
    max_changes: int | None = None,
) -> ActionSet:
    """Return an action set that allows no more than another one.

    Parameters
    ----------
    actions : ActionSet
        The action set.
    schema : Schema
        The columns that it is about.
    fixed : iterable of column
        What this person cannot change.
    ranges : mapping from column to (low, high)
        What is acceptable to this person, of numbers; None for the bound that there is.
    categories : mapping from column to list of values
        The same of categories; keeping the own one is always allowed.
    difficulty : mapping from column to float
        Factors on the weights, from 0.01 to 100.
    max_changes : int, optional
        How many columns this person can change together.

    Raises
    ------
    NarrowingError
        If a column is not there, does not hold what is asked of it, or if more would be allowed.

    Examples
    --------
    >>> import pandas as pd
    >>> from robust_recourse import ActionSet
    >>> X = pd.DataFrame({"income": [900.0, 2500.0, 4300.0], "job": ["none", "skilled", "skilled"]})
    >>> actions = ActionSet(X, bounds={"income": (500, 4000)})
    >>> narrow(actions, actions.schema, fixed=["job"], ranges={"income": (None, 3000)})
    ActionSet of 2 columns
      column  kind      may become     step  unit of cost  weight
      income  number    500 to 3,000   1     1,260         1
      job     category  never changes        1             1
    >>> narrow(actions, actions.schema, ranges={"income": (None, 5000)})
    Traceback (most recent call last):
    robust_recourse.actions.narrowing.NarrowingError: ranges['income'] must end at 4000 or below, got 5000.
    """
    moves = moves_of(actions, schema)
    places = {column.name: k for k, column in enumerate(schema.columns)}
    fixed, ranges, categories, difficulty = list(fixed), ranges or {}, categories or {}, difficulty or {}
    asked = {"fixed": fixed, "ranges": ranges, "categories": categories, "difficulty": difficulty}
    for word, named in asked.items():
        for column in named:
            if column not in places:
                raise NarrowingError(word, column, "names no column of the table.")
    less = copy(actions)
    less.schema = schema
    less.immutable = [*actions.immutable, *(name for name in fixed if name not in actions.immutable)]
    less.bounds = {
        **actions.bounds,
        **{name: _range(moves, places[name], ends) for name, ends in ranges.items()},
    }
    less.categories = {
        **actions.categories,
        **{name: _categories(moves, places[name], values) for name, values in categories.items()},
    }
    less.weights = {
        **actions.weights,
        **{name: _weight(moves, places[name], factor) for name, factor in difficulty.items()},
    }
    less.max_changes = _changes(actions.max_changes, max_changes)
    return less


def _range(moves: Moves, k: int, ends: Sequence[float | None]) -> tuple[float | None, float | None]:
    column = moves.columns[k]
    if column.kind != "number":
        raise NarrowingError("ranges", column.name, "is about no numbers. Use categories, or fixed.")
    if len(ends) != 2:
        raise NarrowingError("ranges", column.name, f"must be a pair (low, high), got {len(ends)} numbers.")
    limits = [float(side[k]) for side in moves.range()]
    low, high = (_end(column.name, end) for end in ends)
    if low is not None and low < limits[0]:
        text = f"must begin at {limits[0]:.15g} or above, got {low:.15g}."
        raise NarrowingError("ranges", column.name, text, widens=True)
    if high is not None and high > limits[1]:
        text = f"must end at {limits[1]:.15g} or below, got {high:.15g}."
        raise NarrowingError("ranges", column.name, text, widens=True)
    lowest, highest = limits[0] if low is None else low, limits[1] if high is None else high
    if lowest > highest:
        raise NarrowingError("ranges", column.name, f"is empty: {lowest:.15g} is above {highest:.15g}.")
    own = (moves.lower[k], moves.upper[k])
    kept = [float(end) if np.isfinite(end) else None for end in own]
    return kept[0] if low is None else low, kept[1] if high is None else high


def _end(name: Hashable, end: float | None) -> float | None:
    try:
        return None if end is None else check_real(end, "it")
    except (TypeError, ValueError):
        raise NarrowingError("ranges", name, f"must have two finite numbers or None, got {end!r}.") from None


def _categories(moves: Moves, k: int, values: Sequence[Any]) -> list[Any]:
    column, allowed = moves.columns[k], moves.targets[k]
    if allowed is None:
        raise NarrowingError("categories", column.name, "is about no categories. Use ranges, or fixed.")
    chosen = list(dict.fromkeys(values))
    if not chosen:
        raise NarrowingError("categories", column.name, "is empty. Put the column into fixed.")
    for value in chosen:
        if value not in [known for known, may in zip(column.values, allowed, strict=True) if may]:
            raise NarrowingError("categories", column.name, f"may not become {value!r}.", widens=True)
    return chosen


def _weight(moves: Moves, k: int, factor: float) -> float:
    try:
        return float(moves.weights[k]) * check_real(factor, "it", minimum=_EASIEST, maximum=_HARDEST)
    except (TypeError, ValueError):
        text = f"must be a number from {_EASIEST:g} to {_HARDEST:g}, got {factor!r}."
        raise NarrowingError("difficulty", moves.columns[k].name, text) from None


def _changes(most: int | None, asked: int | None) -> int | None:
    if asked is None:
        return most
    try:
        check_integer(asked, "it", minimum=1)
    except (TypeError, ValueError):
        raise NarrowingError("max_changes", None, f"must be a whole number from 1, got {asked!r}.") from None
    if most is not None and asked > most:
        raise NarrowingError("max_changes", None, f"must be at most {most}, got {asked}.", widens=True)
    return asked
