"""What a person may change."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from pandas.api.types import is_integer_dtype

from robust_recourse.actions import toml, wording
from robust_recourse.actions.checking import Violation, violations
from robust_recourse.actions.column_rule import ColumnRule, checked_rules, gathered_rules
from robust_recourse.actions.efforts import with_efforts
from robust_recourse.actions.links import with_partners
from robust_recourse.actions.moves import Moves, limits_of, moves_of
from robust_recourse.actions.names import Names
from robust_recourse.actions.rules import Rule
from robust_recourse.actions.validation import check_schema, check_training
from robust_recourse.math.limits import Limits
from robust_recourse.tables import Schema, to_pandas

__all__ = ["ActionSet"]

Column = Hashable
Bounds = Mapping[Column, tuple[float | None, float | None]]


class ActionSet:
    """What may change, how far, in which direction and at what price.

    Columns are named by their position in an array, or by their name in a frame. Everything that is not restricted
    may change; kinds of columns, steps and units of cost are learnt from training rows.

    Parameters
    ----------
    X_train : DataFrame or array_like, optional
        Training rows. If they are given, the columns are learnt from them and mistakes are found at once; otherwise
        in the `fit` of a method.
    immutable : iterable of column
        Columns that never change.
    increase, decrease : iterable of column
        Columns that may only go up, or only go down: numbers and ordered categories.
    bounds : mapping from column to (low, high)
        Smallest and largest value of the column; ``None`` for no bound on that side, where a column of a frame keeps
        to the range of the training rows. They are about changes: whoever is outside may stay there.
    integer : iterable of column
        Columns of whole numbers. Those of an integer type are so without being named.
    step : mapping from column to float
        A changed value is a multiple of it.
    categories : mapping from column to list of values
        The column holds categories and may only switch to these values, which training rows must have. Keeping its own
        is always allowed.
    ordered : mapping from column to list of values
        The column holds categories with an order, from low to high. All values of the training rows must be listed,
        and more may be.
    never : mapping from column to list of (from, to)
        Switches of categories that are forbidden, as of a marital status from divorced to single.
    link : mapping from column to column
        The first follows the second, which determines it, as a number of years follows the school: nobody changes it
        otherwise, and when the second changes, the first becomes what the training rows have with the new value. They
        must agree on it; a value that none of them has is out of reach. Instead of the second, ``{second: pairs}``
        with a dictionary from its values to those of the first says so without them.
    effects : mapping from column to {column: number}
        What a change of a number does to other numbers: ``{"savings": {"income": 0.1}}`` adds 0.1 to the income for
        each 1 that is added to the savings. It is rounded to what the column can have, and must stay within its bounds;
        only what a person does is paid for, and only that is limited by `immutable`, `increase`, `decrease` and
        `max_changes`. Effects of effects count.
    weights : mapping from column to float
        Price of one unit of change, or of a switch, positive; 1 for the columns that are not named.
    cost : "percentile" or mapping from column to "percentile" or pairs
        What changes of numbers cost, instead of their size in units. "percentile": the share of the training rows that
        is overtaken, so that the way from the middle to the top is 0.5; for all numbers, or for those that are named.
        Or pairs ``(value, effort)``, both rising, linear between and beyond them: what lies between two values is the
        difference of their efforts. Weights count on top of it.
    units : mapping from column to str
        What its numbers count, for those who read them: a currency by its code or sign (``"EUR"``, ``"$"``), ``"%"``,
        ``"fraction"`` (0.07 is told as 7 %), ``"days since 1970-01-01"``, or any other word (``"years"``). ``"date"``
        tells moments without the time of day.
    max_changes : int, optional
        How many columns may change together.
    rules : iterable of str
        Linear inequalities between columns of numbers that a recourse must satisfy, like ``"used <= limit"``; see
        :class:`robust_recourse.actions.Rule`. One between columns that never change is ignored. The columns of an array
        are ``x0``, ``x1`` and so on.

    Attributes
    ----------
    schema : Schema or None
        The columns as learnt from `X_train`.

    Examples
    --------
    >>> actions = ActionSet(immutable=[0], increase=[2], bounds={1: (0, None)}, weights={1: 2.0})
    >>> actions
    ActionSet(immutable=[0], increase=[2], bounds={1: (0, None)}, weights={1: 2.0})
    >>> actions.limits(3).upper
    array([inf, inf, inf])

    With training rows it knows the columns.

    >>> import pandas as pd
    >>> X = pd.DataFrame(
    ...     {"amount": [900, 2500, 4300], "school": ["none", "high", "some"], "sex": ["f", "m", "f"]}, index=[7, 8, 9]
    ... )
    >>> actions = ActionSet(
    ...     X,
    ...     immutable=["sex"],
    ...     increase=["school"],
    ...     bounds={"amount": (250, 20000)},
    ...     step={"amount": 50},
    ...     ordered={"school": ["none", "some", "high"]},
    ...     max_changes=1,
    ... )
    >>> actions
    ActionSet of 3 columns
      column  kind      may become                         step  unit of cost  weight
      amount  number    250 to 20,000                      50    1,260         1
      school  ordered   'none' < 'some' < 'high', only up        1             1
      sex     category  never changes                            1             1
      at most 1 of them may change
    >>> for violation in actions.check(X, X.assign(amount=[900, 2510, 4300], school=["none", "some", "some"])):
    ...     print(violation)
    Row 8: amount changed from 2500 to 2510, which is no multiple of 50.
    Row 8: school changed from 'high' to 'some', but it may only go up.
    Row 8: 2 columns changed, but at most 1 may: amount, school.
    """

    def __init__(
        self,
        X_train: Any = None,
        *,
        immutable: Iterable[Column] = (),
        increase: Iterable[Column] = (),
        decrease: Iterable[Column] = (),
        bounds: Bounds | None = None,
        integer: Iterable[Column] = (),
        step: Mapping[Column, float] | None = None,
        categories: Mapping[Column, Iterable[Any]] | None = None,
        ordered: Mapping[Column, Iterable[Any]] | None = None,
        never: Mapping[Column, Iterable[tuple[Any, Any]]] | None = None,
        link: Mapping[Column, Any] | None = None,
        effects: Mapping[Column, Mapping[Column, float]] | None = None,
        weights: Mapping[Column, float] | None = None,
        cost: str | Mapping[Column, Any] | None = None,
        units: Mapping[Column, str] | None = None,
        max_changes: int | None = None,
        rules: Iterable[str] = (),
    ) -> None:
        self.immutable = _columns(immutable, "immutable")
        self.increase = _columns(increase, "increase")
        self.decrease = _columns(decrease, "decrease")
        self.bounds = _mapping(bounds, "bounds")
        self.integer = _columns(integer, "integer")
        self.step = _mapping(step, "step")
        self.categories = _lists(categories, "categories")
        self.ordered = _lists(ordered, "ordered")
        self.never = {column: _pairs(pairs) for column, pairs in _lists(never, "never").items()}
        self.link = {column: _leader(leader, column) for column, leader in _mapping(link, "link").items()}
        self.effects = {
            column: _mapping(moved, f"effects[{column!r}]") for column, moved in _mapping(effects, "effects").items()
        }
        self.weights = _mapping(weights, "weights")
        self.cost = cost if isinstance(cost, str) else {k: _effort(v) for k, v in _mapping(cost, "cost").items()}
        self.units = _mapping(units, "units")
        self.max_changes = max_changes
        self.rules = [Rule(rule).text for rule in _listed(rules, "rules", "rules")]
        self.schema: Schema | None = None
        if X_train is not None:
            self.schema = self.schema_for(X_train, "X_train")

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str], X_train: Any = None) -> Self:
        """Read an action set from a file, as :meth:`to_toml` or ``robust-recourse actions`` write it.

        Parameters
        ----------
        path : path
            The file.
        X_train : DataFrame or array_like, optional
            Training rows, as for the constructor.

        Raises
        ------
        ValueError
            If the file has a table, a key or a value that is not allowed; the message names them.
        """
        settings = toml.read(path)
        try:
            actions = cls(X_train, **settings)
            checked_rules(actions)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from error
        return actions

    def to_toml(self) -> str:
        """Return the action set as text of a TOML file, with comments that explain it."""
        return toml.write(self)

    def schema_for(self, X: Any, name: str = "X") -> Schema:
        """Learn the columns of training rows, as this action set sees them, and check it against them.

        Whole numbers that are all 0 or 1 are numbers if they have bounds or occur in a rule, else ordered categories.
        An action set that was made with training rows knows its columns already.

        Parameters
        ----------
        X : DataFrame or array_like
            Training rows.
        name : str
            What messages call them.

        Raises
        ------
        ValueError, TypeError
            If a column is not there, rules contradict each other, or do not fit what a column holds.
        """
        if self.schema is not None:
            return self.schema
        checked_rules(self)
        frame = to_pandas(X)
        integer = set(self.integer)
        if isinstance(frame, pd.DataFrame) and frame.columns.is_unique:
            names = Names(list(frame.columns))
            rules = checked_rules(self, names)
            check_training(rules, frame)
            in_rules = {names.all[names.find_in_rule(c, text)] for text in self.rules for c in Rule(text).columns}
            numeric = {*self.bounds, *in_rules}
            integer |= {c for c, dtype in frame.dtypes.items() if c in numeric and is_integer_dtype(dtype)}
        schema = Schema.learn(
            X,
            name=name,
            integer=integer,
            step=self.step,
            categories=self.categories,
            ordered=self.ordered,
            bounded=self.bounds,
        )
        if isinstance(frame, pd.DataFrame):
            schema = with_partners(schema, rules, frame)
            schema = with_efforts(schema, rules, frame, everywhere=isinstance(self.cost, str))
        check_schema(self, schema)
        return schema

    def check(self, before: Any, after: Any) -> list[Violation]:
        """List everything that a change breaks, of a table before and after it.

        Parameters
        ----------
        before, after : DataFrame or array_like
            Rows as they were and as they shall be: two frames, or two arrays. The rows of frames belong together by
            their index; a row of `before` may have several in `after`, or none.

        Returns
        -------
        list of Violation
            In the order of the rows of `after`; empty if everything holds. Numbers are compared without a tolerance.
            Only a change breaks something: a row that stays as it is breaks nothing, nor does a value that is left
            alone, be it out of bounds or not. Rules must hold in every row in which something changes, unless they
            are between columns that never may. A row of `after` without any value says that there is no recourse, and
            breaks nothing.
        """
        return violations(self, before, after)

    def describe(self) -> pd.DataFrame:
        """Return what may happen to every column, as a table.

        Raises
        ------
        ValueError
            If the columns are not known, because `X_train` was not given.
        """
        if self.schema is None:
            raise ValueError("The columns are not known: give X_train to the ActionSet.")
        return wording.summary(self, self.schema)

    def __repr__(self) -> str:
        if self.schema is not None:
            return wording.overview(self, self.schema)
        given = [f"{name}={value!r}" for name, value in vars(self).items() if value]
        return f"{type(self).__name__}({', '.join(given)})"

    def __eq__(self, other: object) -> bool:
        """Whether the same is allowed, whatever the order of columns and the training rows."""
        return isinstance(other, ActionSet) and self._comparable() == other._comparable()

    __hash__ = None  # type: ignore[assignment]

    def _comparable(self) -> tuple[Any, ...]:
        said = {rule.column: rule for rule in gathered_rules(self) if rule != ColumnRule(rule.column)}
        return said, self.cost if isinstance(self.cost, str) else None, self.max_changes, self.rules

    def limits(self, columns: int | Sequence[Column]) -> Limits:
        """Turn directions, bounds and weights into arrays for a table with these columns (names, or how many).

        Raises
        ------
        ValueError
            If a rule names a column that is not there, or rules contradict each other.
        """
        return limits_of(checked_rules(self, Names(columns)))

    def resolve(self, schema: Schema) -> Moves:
        """Say what may change in a table with these columns, as the search for recourses sees it.

        Raises
        ------
        ValueError, TypeError
            If a column is not there, rules contradict each other, or do not fit what a column holds.
        """
        return moves_of(self, schema)


def _listed(values: Any, word: str, what: str = "columns") -> list[Any]:
    if isinstance(values, str):
        raise TypeError(f"actions.{word} must be a list of {what}, got the text {values!r}; write [{values!r}].")
    if not isinstance(values, Iterable):
        raise TypeError(f"actions.{word} must be a list of {what}, got {values!r}.")
    return list(values)


def _columns(columns: Any, word: str) -> list[Any]:
    listed = _listed(columns, word)
    for column in listed:
        _check_name(column, word)
    return listed


def _mapping(mapping: Any, word: str) -> dict[Column, Any]:
    if mapping is None:
        return {}
    if not isinstance(mapping, Mapping):
        raise TypeError(f"actions.{word} must be a dictionary from columns to values, got {mapping!r}.")
    for column, value in mapping.items():
        _check_name(column, word)
        if value is None:
            raise ValueError(f"actions.{word}[{column!r}] is None. Leave the column out, or say something about it.")
    return dict(mapping)


def _lists(mapping: Any, word: str) -> dict[Column, list[Any]]:
    given = _mapping(mapping, word)
    return {column: _listed(values, f"{word}[{column!r}]", "values") for column, values in given.items()}


def _pairs(pairs: list[Any]) -> list[Any]:
    """Return lists of two, as a file has them, as tuples; what is no pair as it is."""
    return [tuple(pair) if isinstance(pair, list) else pair for pair in pairs]


def _effort(cost: Any) -> Any:
    """Return a table of efforts as a list of pairs; what is none as it is."""
    return _pairs(list(cost.items() if isinstance(cost, Mapping) else cost)) if _is_table(cost) else cost


def _is_table(cost: Any) -> bool:
    return isinstance(cost, Iterable) and not isinstance(cost, str)


def _leader(link: Any, column: Column) -> Any:
    """Return the column that another follows, or a dictionary with its values and those of the other."""
    if not isinstance(link, Mapping):
        _check_name(link, f"link[{column!r}]")
        return link
    word = f"link[{column!r}]"
    if len(link) != 1:
        raise ValueError(f"actions.{word} must name one column, or one with its pairs, got {link!r}.")
    [(leader, pairs)] = link.items()
    _check_name(leader, word)
    try:
        listed = list(pairs.items() if isinstance(pairs, Mapping) else pairs)
        known = dict(listed)
    except (TypeError, ValueError) as error:
        raise TypeError(f"actions.{word} must be a dictionary from values of {leader!r}, got {pairs!r}.") from error
    if len(known) < len(listed):
        raise ValueError(f"actions.{word} names a value of {leader!r} twice: {pairs!r}.")
    if not known:
        raise ValueError(f"actions.{word} has no pairs. Leave them out to learn them from the training rows.")
    return {leader: known}


def _check_name(column: Any, word: str) -> None:
    if isinstance(column, bool | np.bool_):
        raise TypeError(f"actions.{word} must name columns, got {column}; give column numbers, not a mask.")
    try:
        hash(column)
        named = not (pd.api.types.is_scalar(column) and pd.isna(column))
    except TypeError:
        named = False
    if not named:
        raise TypeError(f"actions.{word} must name columns, got {column!r}; a name is a text or a number.")
