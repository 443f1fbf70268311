"""What a change breaks, found in the plainest way: row by row, cell by cell, on the tables as they are.

Only the words of an action set are shared with the search for recourses, so that the one can judge the other.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from robust_recourse._validation import briefly
from robust_recourse.actions.column_rule import ColumnRule, checked_rules
from robust_recourse.actions.following import following
from robust_recourse.actions.foreseeing import UNKNOWN, finite, followed, moved, multiple
from robust_recourse.actions.names import Names
from robust_recourse.actions.pairing import paired
from robust_recourse.actions.rules import Rule
from robust_recourse.actions.validation import check_schema
from robust_recourse.tables import Column

if TYPE_CHECKING:
    from robust_recourse.actions.action_set import ActionSet

__all__ = ["Violation", "violations"]

_LOST = 1e-14  # relative: what numbers lose when they are added


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
        "bounds", "integer", "step", "categories", "ordered", "never", "link", "max_changes"), the text of one of its
        `rules`, "missing" for a cell that became empty or was filled in, or "type" for one that is no finite number.
    message : str
        A sentence about it.
    """

    row: Hashable
    column: Hashable | None
    rule: str
    message: str

    def __str__(self) -> str:
        return self.message


class _Cells:
    """A column before and after a change, as plain values of Python, and what is allowed.

    What is learnt from training rows counts if there were any, and the type that they have: a model that knows a short
    one is asked about its numbers, whatever the table holds.
    """

    def __init__(
        self,
        rule: ColumnRule,
        learnt: Column | None,
        names: Names,
        before: pd.Series,
        after: pd.Series,
        trained: Any = None,
    ) -> None:
        self.name, self.way = rule.column, rule.way
        self.label = f"column {rule.column}" if names.of_array else str(rule.column)
        self.old, self.new = _plain(before), _plain(after)
        self.start = self.old  # what it becomes by itself, because of other changes
        self.leader: _Cells | None = None
        self.lost, self.gone = before.isna().tolist(), after.isna().tolist()  # whether cells are missing
        self.precision = _precision(after.dtype)
        self.precisions = {self.precision, _precision(trained)}
        self.low, self.high = rule.low, rule.high
        self.frozen = "it never may" if rule.immutable else ""
        steps = {"integer": 1.0} if rule.integer else {}
        if rule.step is not None:
            steps["step"] = float(rule.step)
        allowed = {"categories": rule.categories, "ordered": rule.ordered}
        self.allowed = {word: values for word, values in allowed.items() if values is not None}
        self.never = rule.never or []
        self.order, numeric = rule.ordered, self._numeric(before)
        if learnt is None:
            if self.order is None and isinstance(before.dtype, pd.CategoricalDtype) and before.dtype.ordered:
                self.order = before.dtype.categories.tolist()
            self.number = numeric and rule.categories is None and self.order is None
        else:
            self.order = list(learnt.values) if learnt.kind == "ordered" else None
            self.number = learnt.kind == "number" or (learnt.kind == "fixed" and numeric)
            if learnt.kind == "fixed":
                self.frozen = self.frozen or f"it never may: {learnt.why}"
            if learnt.kind == "number" and learnt.step and not steps:
                steps["integer" if learnt.step == 1 else "step"] = learnt.step
            if learnt.categorical and not self.allowed:
                self.allowed = {"ordered" if learnt.kind == "ordered" else "categories": list(learnt.values)}
        self.steps = steps
        if learnt is not None:
            return  # and the rule was checked against it
        if self.way and self.order is None and not numeric:
            raise ValueError(
                f"actions.{self.way} names column {self.name!r}, whose values have no order. Give it in ordered."
            )
        if rule.bounds != (None, None) and not self.number:
            raise ValueError(f"actions.bounds names column {self.name!r}, which does not hold numbers.")

    def _numeric(self, before: pd.Series) -> bool:
        cells = zip(self.old, self.lost, strict=True)
        return not isinstance(before.dtype, pd.CategoricalDtype) and all(gap or isinstance(c, Real) for c, gap in cells)

    def differs(self, row: int) -> bool:
        """Whether it is not what it was."""
        if self.lost[row] or self.gone[row]:
            return self.lost[row] != self.gone[row]
        return bool(self.old[row] != self.new[row])

    def changed(self, row: int) -> bool:
        """Whether somebody changed it: it is not what it becomes by itself."""
        present = not self.lost[row] and not self.gone[row]
        return bool(self.start[row] != self.new[row]) if present else self.differs(row)

    def broken(self, row: int) -> Iterator[tuple[str, str]]:
        """Yield what a changed cell breaks, each with the end of a sentence that begins with the column."""
        if not self.differs(row) and not self.changed(row):
            return
        old, new, start = self.old[row], self.new[row], self.start[row]
        if self.lost[row] or self.gone[row]:
            if self.frozen:
                yield "immutable", f"changed, but {self.frozen}."
            yield "missing", f"became {_shown(new)}, but it was missing." if self.lost[row] else "became missing."
            return
        if self.leader is not None:
            if self.changed(row):
                yield "link", f"is {new!r}, but {self._followed(row)}."
                return
            start = old  # nobody does it, so that its words are about what it becomes
        moved = f"changed from {_shown(old)} to {_shown(new)}"
        done = moved if start == old else f"became {_shown(new)} instead of {start!r}, which other changes make it"
        if self.frozen and self.leader is None and new != start:
            yield "immutable", f"{done}, but {self.frozen}."
        if self.number and not finite(new):
            yield "type", f"{moved}, which is no number that a float can hold."
            return
        if new != old:
            yield from self._misfits(new, moved)
        if (start, new) in self.never:
            yield "never", f"{done}, but it never may switch so."
        if self.way and new != start and not self._in_direction(start, new):
            yield self.way, f"{done}, but it may only go {'up' if self.way == 'increase' else 'down'}."

    def _followed(self, row: int) -> str:
        assert self.leader is not None
        led, start = f"{self.leader.label}, which is {self.leader.new[row]!r}", self.start[row]
        return f"it follows {led}, " + ("and nobody knows how" if start is UNKNOWN else f"and must be {start!r}")

    def _misfits(self, new: Any, moved: str) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with a new value, whoever made it."""
        if self.number and not self.low <= new <= self.high:
            side = f"below {self.low:.15g}" if new < self.low else f"above {self.high:.15g}"
            yield "bounds", f"{moved}, which is {side}."
        for word, step in self.steps.items():
            if not _on_grid(new, step, self.precisions):
                near = multiple(round(new / step), step) if math.isfinite(new / step) else math.inf
                hint = f": round it to {near!r}" if math.isclose(new, near, rel_tol=_LOST) else ""
                what = "whole number" if step == 1 else f"multiple of {step:.15g}"
                yield word, f"{moved}, which is no {what}{hint}."
        for word, values in self.allowed.items():
            if new not in values:
                yield word, f"{moved}, which is not one of {', '.join(map(repr, values))}."

    def _in_direction(self, old: Any, new: Any) -> bool:
        if self.order is not None:
            if old not in self.order or new not in self.order:
                return False
            old, new = self.order.index(old), self.order.index(new)
        return bool(new > old if self.way == "increase" else new < old)


def violations(actions: ActionSet, before: Any, after: Any) -> list[Violation]:
    """List everything that a change breaks, see :meth:`robust_recourse.ActionSet.check`."""
    schema = actions.schema
    old, new, names = paired(schema, before, after)
    rules = checked_rules(actions, names) if schema is None else check_schema(actions, schema)
    learnt = [None] * len(rules) if schema is None else schema.columns
    trained = [None] * len(rules) if schema is None or not schema.dtypes else schema.dtypes
    table = [_Cells(rules[k], learnt[k], names, old.iloc[:, k], new.iloc[:, k], trained[k]) for k in range(len(names))]
    _foresee(rules, learnt, names, table)
    inequalities = [_Inequality(text, names, table) for text in actions.rules]
    found = []
    for row, label in enumerate(new.index.tolist()):
        if not any(column.differs(row) for column in table) or all(column.gone[row] for column in table):
            continue
        changed = [column.label for column in table if column.changed(row)]
        for column in table:
            for word, text in column.broken(row):
                found.append(Violation(label, column.name, word, f"Row {label}: {column.label} {text}"))
        if actions.max_changes is not None and len(changed) > actions.max_changes:
            text = f"{len(changed)} columns changed, but at most {actions.max_changes} may: {', '.join(changed)}."
            found.append(Violation(label, None, "max_changes", f"Row {label}: {text}"))
        found += [
            Violation(label, None, rule.text, f"Row {label}: {rule.sentence(row)}")
            for rule in inequalities
            if rule.broken(row)
        ]
    return found


def _foresee(rules: Sequence[ColumnRule], learnt: Sequence[Column | None], names: Names, table: list[_Cells]) -> None:
    """Say what columns become because of others."""
    places = {name: k for k, name in enumerate(names.all)}
    for name, causes in following(rules).items():
        k, others = places[name], [places[cause] for cause in causes]
        cells, column, link = table[k], learnt[k], rules[k].link
        if column is None and not (names.of_array if link is None else link[1]):
            raise ValueError(
                f"actions.{'effects' if link is None else 'link'}: what column {name!r} becomes is learnt from "
                "training rows. Give X_train to the ActionSet."
            )
        if link is None:
            rates = [(rules[other].effects or {})[name] for other in others]
            sources = [(table[other], rate) for other, rate in zip(others, rates, strict=True)]
            cells.start = moved(cells, sources, column.step if column else 0.0, cells.precision)
            if cells.frozen:
                cells.frozen = f"it only moves with {', '.join(source.label for source, _ in sources)}"
        else:
            cells.leader = table[others[0]]
            cells.start = followed(cells, cells.leader, dict(column.partners) if column else link[1] or {})


class _Inequality:
    """A rule, and the columns that it is about."""

    def __init__(self, text: str, names: Names, table: list[_Cells]) -> None:
        self.text, rule = text, Rule(text)
        self._columns = {name: table[names.find_in_rule(name, text)] for name in rule.columns}
        for column in self._columns.values():
            if not column.number:
                raise ValueError(f"actions.rules: {text!r} names column {column.name!r}, which does not hold numbers.")
        values = {
            name: np.array([float(cell) if finite(cell) else math.nan for cell in column.new])
            for name, column in self._columns.items()
        }
        self._holds = rule.holds(values).tolist()

    def broken(self, row: int) -> bool:
        """Whether it is broken by a row in which it could have been kept."""
        given = all(column.frozen and not column.differs(row) for column in self._columns.values())
        return not self._holds[row] and not given

    def sentence(self, row: int) -> str:
        values = ", ".join(f"{column.label} = {_shown(column.new[row])}" for column in self._columns.values())
        return f"{self.text} does not hold: {values}."


def _plain(series: pd.Series) -> list[Any]:
    """Return values of Python, so that numbers of any type compare exactly."""
    cells = series.tolist()
    if pd.api.types.is_numeric_dtype(series.dtype):  # decimal numbers of Arrow, too
        cells = [float(cell) if isinstance(cell, Decimal) else cell for cell in cells]
    return [cell.item() if isinstance(cell, np.number | np.bool_ | np.str_) else cell for cell in cells]


def _shown(cell: Any) -> str:
    return briefly(cell) if isinstance(cell, Integral) and not finite(cell) else repr(cell)


def _precision(dtype: Any) -> type[Any]:
    """Return the type of the floats that a column holds, of NumPy, pandas or Arrow."""
    kept = getattr(dtype, "numpy_dtype", dtype)
    return kept.type if isinstance(kept, np.dtype) and kept.kind == "f" else np.float64


def _on_grid(value: Any, step: float, precisions: set[type[Any]]) -> bool:
    """Whether a value is ``round(k * step, digits of the step)`` for an integer k, in one of the precisions."""
    if not math.isfinite(value / step):
        return False  # farther than anything is counted
    near = round(value / step)
    multiples = [multiple(k, step) for k in (near - 1, near, near + 1)]
    with np.errstate(over="ignore"):  # the next multiple may be more than the type holds
        return any(float(precision(known)) == value for known in multiples for precision in precisions)
