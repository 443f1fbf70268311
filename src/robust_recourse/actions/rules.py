"""Linear inequalities between columns, as a user writes them."""

from __future__ import annotations

import ast
import keyword
import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from robust_recourse._typing import BoolArray, FloatArray

__all__ = ["Rule", "quoted"]

Linear: TypeAlias = tuple[dict[str, float], float]

_TOKEN = re.compile(
    r"`(?P<quoted>(?:[^`]|``)+)`"
    r"|(?P<number>(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[^\W\d]\w*)"
    r"|(?P<sign>[≤≥])"
    r"|(?P<text>'[^']*'|\"[^\"]*\")"
)
_PHRASE = re.compile(r"`[^`]*`|(?P<words>[^\W\d]\w*(?:\s+\w+)+)")
_RELATIONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_LONGEST = 200  # signs; each may be a level of the expression, and Python has only so many
_SHOWN = 200  # letters of a rule in a message
_HINT = (
    "Write something like 'used <= limit' or '2 * a + b >= 3 - c'; names that are no plain words go between backticks, "
    "as in '`credit limit` >= 500'"
)


@dataclass(frozen=True)
class Rule:
    r"""A linear inequality between columns of numbers.

    Parameters
    ----------
    text : str
        Two sums of columns, times or divided by numbers, with ``<``, ``<=``, ``>`` or ``>=`` between them. Names that
        are no plain words stand between backticks, as in ``DataFrame.query``; a backtick in a name is doubled. The
        columns of an array are ``x0``, ``x1`` and so on.

    Attributes
    ----------
    columns : tuple of str
        Names of the columns, in the order of the text.
    terms : dict
        The rule in normal form, :math:`\sum_k t_k x_k \le b`: the factor :math:`t_k` of every column.
    bound : float
        The :math:`b` of the normal form.
    strict : bool
        Whether it is :math:`<` instead.

    Examples
    --------
    >>> rule = Rule("2 * used + 10 <= `credit limit`")
    >>> rule.columns, rule.terms, rule.bound
    (('used', 'credit limit'), {'used': 2.0, 'credit limit': -1.0}, -10.0)
    >>> rule.holds({"used": [10.0, 50.0], "credit limit": [40.0, 100.0]})
    array([ True, False])
    """

    text: str
    columns: tuple[str, ...] = field(init=False, repr=False, compare=False)
    terms: dict[str, float] = field(init=False, repr=False, compare=False)
    bound: float = field(init=False, repr=False, compare=False)
    strict: bool = field(init=False, repr=False, compare=False)
    _tree: ast.Compare = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise TypeError(f"actions.rules must be texts, got {self.text!r}. {_HINT}.")
        try:
            tree, names = _parsed(self.text)
            left, right = _linear(tree.left), _linear(tree.comparators[0])
        except ValueError as error:
            raise ValueError(f"actions.rules: cannot use {_short(self.text)}: {error}.") from error
        relation = type(tree.ops[0])
        if relation in {ast.Gt, ast.GtE}:
            left, right = right, left
        terms, constant = _combined(left, right, -1.0)
        if not any(terms.values()):
            raise ValueError(f"actions.rules: {self.text!r} says nothing about any column.")
        values = {"columns": names, "terms": terms, "bound": 0.0 - constant, "_tree": tree}
        for name, value in {**values, "strict": relation in {ast.Gt, ast.Lt}}.items():
            object.__setattr__(self, name, value)

    def __str__(self) -> str:
        return self.text

    def holds(self, values: Mapping[str, ArrayLike]) -> BoolArray:
        """Whether the rule holds, for arrays of values of its columns.

        The expression is evaluated as it is written, in double precision, so that whoever checks it gets the same
        answer to the last bit. A rule about a missing value (NaN) counts as holding.
        """
        arrays = {name: np.asarray(values[name], dtype=float) for name in self.columns}
        missing = np.any(np.broadcast_arrays(*map(np.isnan, arrays.values())), axis=0)
        with np.errstate(over="ignore", invalid="ignore"):
            left, right = _value(self._tree.left, arrays), _value(self._tree.comparators[0], arrays)
            return np.asarray(_RELATIONS[type(self._tree.ops[0])](left, right) | missing)


def quoted(name: str) -> str:
    """Return the name of a column as it is written in a rule: between backticks unless it is a plain word.

    >>> quoted("limit"), quoted("credit-limit"), quoted("class")
    ('limit', '`credit-limit`', '`class`')
    """
    plain = re.fullmatch(r"[^\W\d]\w*", name) is not None and not keyword.iskeyword(name)
    return name if plain else f"`{name.replace('`', '``')}`"


def _short(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN].rstrip()} ...")


def _parsed(text: str) -> tuple[ast.Compare, tuple[str, ...]]:
    """Return the comparison with the columns as its names, and these in their order.

    The names are put in after parsing, because Python would read some of them as keywords and rewrite others.
    """
    names: dict[str, str] = {}

    def placed(match: re.Match[str]) -> str:
        token = match.group()
        if match["number"] or (match["name"] and keyword.iskeyword(token)):
            return token
        if match["text"]:
            return repr(token[1:-1])
        if match["sign"]:
            return {"≤": "<=", "≥": ">="}[token]
        name = match["quoted"].replace("``", "`") if match["quoted"] else token
        return names.setdefault(name, f"c{len(names)}")

    try:
        tree = ast.parse(" ".join(_TOKEN.sub(placed, text).split()), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"it is no inequality. {_unquoted(text) or _HINT}") from error
    if isinstance(tree, ast.BoolOp):
        raise ValueError("it has 'and' or 'or'. All rules must hold: write one inequality in each")
    if not isinstance(tree, ast.Compare):
        raise ValueError(f"it is no inequality. {_HINT}")
    if len(tree.ops) > 1:
        raise ValueError("it compares more than once. Write one inequality in each rule")
    if type(tree.ops[0]) not in _RELATIONS:
        raise ValueError("it must compare with <, <=, > or >=")
    nodes = list(ast.walk(tree))
    if sum(isinstance(node, ast.BinOp | ast.UnaryOp) for node in nodes) > _LONGEST:
        raise ValueError(f"it is too long: a rule may have {_LONGEST} signs like + and *")
    columns = {placeholder: name for name, placeholder in names.items()}
    for node in nodes:
        if isinstance(node, ast.Name):
            node.id = columns[node.id]
    return tree, tuple(names)


def _unquoted(text: str) -> str:
    """Say how to write the first words of a text that look like one name; empty if none do."""
    for match in _PHRASE.finditer(text):
        if match["words"]:
            return f"If {match['words']!r} is a column, write {quoted(match['words'])}"
    return ""


def _linear(node: ast.expr) -> Linear:
    """Return the factors of the columns, and the constant."""
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            try:
                finite = math.isfinite(number)
            except OverflowError:
                finite = False
            if not finite:
                raise ValueError("a number in it is too large")
            return {}, float(number)
        case ast.Constant(value=str() as name) if name:
            raise ValueError(f"names go between backticks, not quotes: write {quoted(name)}")
        case ast.Name(id=name):
            return {name: 1.0}, 0.0
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
            return _combined(({}, 0.0), _linear(operand), -1.0 if isinstance(sign, ast.USub) else 1.0)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as sign, right=right):
            return _combined(_linear(left), _linear(right), -1.0 if isinstance(sign, ast.Sub) else 1.0)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _product(_linear(left), _linear(right))
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            columns, divisor = _linear(right)
            if columns:
                raise ValueError(f"it divides by the column {next(iter(columns))!r}, but rules are linear")
            if divisor == 0.0:
                raise ValueError("it divides by 0")
            terms, constant = _linear(left)
            return {name: factor / divisor for name, factor in terms.items()}, constant / divisor
        case ast.Attribute():
            raise ValueError("a name with a dot goes between backticks")
        case _:
            raise ValueError(f"it may only add, subtract, and multiply or divide by numbers. {_HINT}")


def _product(left: Linear, right: Linear) -> Linear:
    if left[0] and right[0]:
        raise ValueError(f"it multiplies {next(iter(left[0]))!r} by {next(iter(right[0]))!r}, but rules are linear")
    (terms, constant), (_, factor) = (left, right) if left[0] else (right, left)
    return {name: factor * value for name, value in terms.items()}, factor * constant


def _combined(left: Linear, right: Linear, sign: float) -> Linear:
    terms = dict(left[0])
    for name, factor in right[0].items():
        terms[name] = terms.get(name, 0.0) + sign * factor
    return terms, left[1] + sign * right[1]


def _value(node: ast.expr, values: Mapping[str, FloatArray]) -> Any:
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.Name(id=name):
            return values[name]
        case ast.UnaryOp(op=sign, operand=operand):
            value = _value(operand, values)
            return -value if isinstance(sign, ast.USub) else value
        case ast.BinOp(left=left, op=operation, right=right):
            return _OPERATIONS[type(operation)](_value(left, values), _value(right, values))
        case _:  # the text was checked when it was parsed
            raise AssertionError(ast.dump(node))
