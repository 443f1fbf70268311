"""What a change breaks, found in the plainest way: row by row, cell by cell, on the tables as they are.

Nothing here is shared with the search for recourses, so that the one can judge the other.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from robust_recourse.actions.names import Names
from robust_recourse.actions.pairing import paired
from robust_recourse.actions.rules import Rule
from robust_recourse.actions.validation import check_bounds, check_schema, check_values
from robust_recourse.tables import Schema

if TYPE_CHECKING:
    from robust_recourse.actions.action_set import ActionSet

__all__ = ["Violation", "violations"]


@dataclass(frozen=True)
class Violation:
    """Something that a change breaks.

    Attributes
    ----------
    row : hashable
        Label of the row: its index in a frame, its position in an array.
    column : hashable or None
        The column; None if several are involved.
    rule : str
        What is broken: the argument of :class:`robust_recourse.ActionSet` ("immutable", "increase", "decrease",
        "bounds", "integer", "step", "categories", "ordered", "max_changes"), the text of one of its `rules`,
        "missing" for a cell that became empty or was filled in, or "type" for one that is no finite number.
    message : str
        A sentence about it.
    """

    row: Hashable
    column: Hashable | None
    rule: str
    message: str

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class _Cells:
    """A column before and after a change, as plain values of Python, and what is allowed."""

    name: Hashable
    label: str
    old: list[Any]
    new: list[Any]
    lost: list[bool]  # whether the cells of `old` are missing
    gone: list[bool]  # whether those of `new` are
    precision: type[Any]
    number: bool
    frozen: str | None
    way: str | None
    low: float
    high: float
    steps: tuple[tuple[str, float], ...]
    allowed: tuple[tuple[str, list[Any]], ...]
    order: list[Any] | None

    def changed(self, row: int) -> bool:
        if self.lost[row] or self.gone[row]:
            return self.lost[row] != self.gone[row]
        return bool(self.old[row] != self.new[row])

    def broken(self, row: int) -> Iterator[tuple[str, str]]:
        """Yield the rules that a cell breaks, each with the end of a sentence that begins with the column."""
        old, new, changed = self.old[row], self.new[row], self.changed(row)
        if self.lost[row] or self.gone[row]:
            if changed and self.frozen:
                yield "immutable", f"changed, but {self.frozen}."
            if changed:
                yield "missing", f"became {new!r}, but it was missing." if self.lost[row] else "became missing."
            return
        moved = f"changed from {old!r} to {new!r}"
        if changed and self.frozen:
            yield "immutable", f"{moved}, but {self.frozen}."
        if self.number and not _finite(new):
            if changed:
                yield "type", f"{moved}, which is no finite number."
            return
        if self.number and (changed or not self.frozen) and not self.low <= new <= self.high:
            side = f"below {self.low:.15g}" if new < self.low else f"above {self.high:.15g}"
            yield "bounds", f"is {new!r}, which is {side}."
        if not changed:
            return
        for rule, step in self.steps:
            if not _on_grid(new, step, self.precision):
                yield rule, f"{moved}, which is no {'whole number' if step == 1 else f'multiple of {step:.15g}'}."
        for rule, values in self.allowed:
            if new not in values:
                yield rule, f"{moved}, which is not one of {', '.join(map(repr, values))}."
        if self.way and not self._in_direction(old, new):
            yield self.way, f"{moved}, but it may only go {'up' if self.way == 'increase' else 'down'}."

    def _in_direction(self, old: Any, new: Any) -> bool:
        if self.order is not None:
            if old not in self.order or new not in self.order:
                return False
            old, new = self.order.index(old), self.order.index(new)
        return bool(new > old if self.way == "increase" else new < old)


def violations(actions: ActionSet, before: Any, after: Any) -> list[Violation]:
    """List everything that a change breaks, see :meth:`robust_recourse.ActionSet.check`."""
    schema = actions.schema
    check_values(actions)
    if schema is not None:
        check_schema(actions, schema)
    old, new, names = paired(schema, before, after)
    table = [_cells(actions, schema, names, place, old, new) for place in range(len(names))]
    rules = [_Inequality(text, names, table) for text in actions.rules]
    found = []
    for row, label in enumerate(new.index.tolist()):
        if all(column.gone[row] for column in table):
            continue
        for column in table:
            for rule, text in column.broken(row):
                found.append(Violation(label, column.name, rule, f"Row {label}: {column.label} {text}"))
        changed = [column.label for column in table if column.changed(row)]
        if actions.max_changes is not None and len(changed) > actions.max_changes:
            text = f"{len(changed)} columns changed, but at most {actions.max_changes} may: {', '.join(changed)}."
            found.append(Violation(label, None, "max_changes", f"Row {label}: {text}"))
        found += [
            Violation(label, None, rule.text, f"Row {label}: {rule.sentence(row)}")
            for rule in rules
            if rule.broken(row)
        ]
    return found


class _Inequality:
    """A rule, and the columns that it is about."""

    def __init__(self, text: str, names: Names, table: list[_Cells]) -> None:
        self.text, rule = text, Rule(text)
        self._columns = {name: table[names.find_in_rule(name, text)] for name in rule.columns}
        for column in self._columns.values():
            if not column.number:
                raise ValueError(f"actions.rules: {text!r} names column {column.name!r}, which does not hold numbers.")
        values = {
            name: np.array([float(cell) if _finite(cell) else math.nan for cell in column.new])
            for name, column in self._columns.items()
        }
        self._holds = rule.holds(values).tolist()

    def broken(self, row: int) -> bool:
        """Whether it is broken by a row in which it could have been kept."""
        given = all(column.frozen and not column.changed(row) for column in self._columns.values())
        return not self._holds[row] and not given

    def sentence(self, row: int) -> str:
        values = ", ".join(f"{column.label} = {column.new[row]!r}" for column in self._columns.values())
        return f"{self.text} does not hold: {values}."


def _cells(
    actions: ActionSet, schema: Schema | None, names: Names, place: int, before: pd.DataFrame, after: pd.DataFrame
) -> _Cells:
    """Collect what is said about a column; what is learnt from training rows counts if there were any."""
    learnt = None if schema is None else schema.columns[place]

    def said(rule: str) -> Any:
        return next((column for column in getattr(actions, rule) if names.find(column, rule) == place), _NOT_SAID)

    def value(rule: str) -> Any:
        column = said(rule)
        return None if column is _NOT_SAID else getattr(actions, rule)[column]

    name, old, new = names.all[place], before.iloc[:, place], after.iloc[:, place]
    values, gaps = _plain(old), old.isna().tolist()
    categories, ordered = value("categories"), value("ordered")
    order: list[Any] | None = ordered
    if learnt is not None:
        order = list(learnt.values) if learnt.kind == "ordered" else None
    elif order is None and isinstance(old.dtype, pd.CategoricalDtype) and old.dtype.ordered:
        order = old.dtype.categories.tolist()
    numeric = all(isinstance(cell, Real) for cell, gap in zip(values, gaps, strict=True) if not gap)
    numeric = numeric and not isinstance(old.dtype, pd.CategoricalDtype)
    number = numeric and categories is None and order is None
    if learnt is not None:
        number = learnt.kind == "number" or (learnt.kind == "fixed" and numeric)
    way = next((rule for rule in ("increase", "decrease") if said(rule) is not _NOT_SAID), None)
    if way and order is None and not numeric and not (learnt is not None and learnt.kind == "fixed"):
        raise ValueError(f"actions.{way} names column {name!r}, whose values have no order. Give it in ordered.")
    bounds = value("bounds")
    low, high = (-math.inf, math.inf) if bounds is None else check_bounds(name, bounds).tolist()
    if bounds is not None and not number:
        raise ValueError(f"actions.bounds names column {name!r}, which does not hold numbers.")
    steps: dict[str, float] = {}
    if said("integer") is not _NOT_SAID:
        steps["integer"] = 1
    if value("step") is not None:
        steps["step"] = value("step")
    if not steps and learnt is not None and learnt.kind == "number" and learnt.step:
        steps["integer" if learnt.step == 1 else "step"] = learnt.step
    allowed = [(rule, listed) for rule, listed in (("categories", categories), ("ordered", ordered)) if listed]
    if not allowed and learnt is not None and learnt.categorical:
        allowed = [("ordered" if learnt.kind == "ordered" else "categories", list(learnt.values))]
    frozen = None if said("immutable") is _NOT_SAID else "it never may"
    if learnt is not None and learnt.kind == "fixed":
        frozen = frozen or f"it never may: {learnt.why}"
    return _Cells(
        name=name,
        label=f"column {name}" if names.of_array else str(name),
        old=values,
        new=_plain(new),
        lost=gaps,
        gone=new.isna().tolist(),
        precision=_precision(new.dtype),
        number=number,
        frozen=frozen,
        way=way,
        low=low,
        high=high,
        steps=tuple(steps.items()),
        allowed=tuple(allowed),
        order=order,
    )


_NOT_SAID = object()


def _plain(series: pd.Series) -> list[Any]:
    """Return values of Python, so that numbers of any type compare exactly."""
    cells = series.tolist()
    return [cell.item() if isinstance(cell, np.number | np.bool_ | np.str_) else cell for cell in cells]


def _finite(cell: Any) -> bool:
    return isinstance(cell, Real) and math.isfinite(cell)


def _precision(dtype: Any) -> type[Any]:
    """Return the type of the floats that a column holds, of NumPy, pandas or Arrow."""
    kept = getattr(dtype, "numpy_dtype", dtype)
    return kept.type if isinstance(kept, np.dtype) and kept.kind == "f" else np.float64


def _on_grid(value: Any, step: float, precision: type[Any]) -> bool:
    """Whether a value is ``round(k * step, digits of the step)`` for an integer k, in the precision of its column."""
    digits = max(0, -int(Decimal(repr(float(step))).normalize().as_tuple().exponent))
    near = round(value / step)
    with np.errstate(over="ignore"):  # the next multiple may be more than the type holds
        return any(precision(round(k * step, digits)) == precision(value) for k in (near - 1, near, near + 1))
