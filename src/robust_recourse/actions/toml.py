"""Action sets as TOML files: one table for each column, which a lender can edit."""

from __future__ import annotations

import difflib
import json
import os
import re
import tomllib
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robust_recourse.actions.wording import facts, printable
from robust_recourse.tables import Column, Schema

if TYPE_CHECKING:
    from robust_recourse.actions.action_set import ActionSet

__all__ = ["read", "starting_toml", "write"]

_TOP = {"max_changes": "a whole number", "rules": "a list of texts", "columns": "a table", "positions": "a table"}
_KEYS = {
    "immutable": "true or false",
    "direction": '"up" or "down"',
    "min": "a number",
    "max": "a number",
    "integer": "true or false",
    "step": "a number",
    "categories": "a list of values",
    "ordered": "a list of values",
    "weight": "a number",
}
_HINTS = {
    "bounds": "write min = ... and max = ...",
    "increase": 'write direction = "up"',
    "decrease": 'write direction = "down"',
    "weights": "write weight = ...",
}
_HEADER = """\
# What a person may change. What is not restricted here may change; numbers without min or max keep to the range of
# the training rows.
# There is one table for each column, like [columns.amount]; these lines may stand in it:
#   immutable = true             it never changes
#   direction = "up"             it may only go up; or "down": it may only go down
#   min = 250                    its smallest value
#   max = 20000                  its largest value
#   integer = true               it holds whole numbers
#   step = 50                    a changed value is a multiple of this
#   categories = ["a", "b"]      it may only switch to these values
#   ordered = ["low", "high"]    its values have this order, from low to high
#   weight = 2.0                 a change costs so many times as much
# Names with other signs than letters, digits, - and _ stand in quotes: [columns."credit amount"].
# These lines may stand above all tables:
#   max_changes = 3              at most so many columns change together
#   rules = ["used <= limit"]    inequalities between columns of numbers that must hold
"""
_REMARKS = {"direction": '  # or "down"', "ordered": "  # put them in order, from low to high"}
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_POSITION = re.compile(r"-?[0-9]+")
_FEW = 20  # categories that are worth a line


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the arguments of an ActionSet that a file has.

    Raises
    ------
    ValueError
        If the file is no TOML, or has a table, a key or a type that is not allowed.
    """
    try:
        # Some editors begin a file with a mark that TOML does not know.
        content = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
        return _arguments(content)
    except (RecursionError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{os.fspath(path)}: this is no TOML file: {error}.") from error
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from error


def _arguments(content: Mapping[str, Any]) -> dict[str, Any]:
    for key, value in content.items():
        if key not in _TOP:
            hint = f"write [columns.{_key(key)}]" if isinstance(value, dict) else ""
            raise _unknown(key, "at the top", _TOP, hint)
        wanted: type[Any] = {"max_changes": int, "rules": list}.get(key, dict)
        texts = key != "rules" or (isinstance(value, list) and all(isinstance(entry, str) for entry in value))
        if not isinstance(value, wanted) or isinstance(value, bool) or not texts:
            raise ValueError(f"{key} must be {_TOP[key]}, got {_shown(value)}.")
    found: dict[str, Any] = {rule: [] for rule in ("immutable", "increase", "decrease", "integer")}
    found |= {rule: {} for rule in ("bounds", "step", "categories", "ordered", "weights")}
    found |= {"max_changes": content.get("max_changes"), "rules": content.get("rules", [])}
    for kind in ("columns", "positions"):
        for name, table in content.get(kind, {}).items():
            where = f"[{kind}.{_key(name)}]"
            if kind == "positions" and not _POSITION.fullmatch(name):
                raise ValueError(f"{where}: positions are whole numbers, got {name!r}; names belong to [columns].")
            if not isinstance(table, dict):
                raise ValueError(f"{where} must be a table, got {_shown(table)}.")
            _check_table(table, kind, name)
            _collect(found, int(name) if kind == "positions" else name, table)
    return found


def _check_table(table: Mapping[str, Any], kind: str, name: str) -> None:
    where = f"[{kind}.{_key(name)}]"
    for key, value in table.items():
        if key not in _KEYS:
            hint = _HINTS.get(key, "")
            if isinstance(value, dict):
                hint = f'put a name with a dot in quotes, [{kind}."{name}.{key}"]'
            raise _unknown(key, f"in {where}", _KEYS, hint)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        fits = {
            "true or false": isinstance(value, bool),
            '"up" or "down"': value in ("up", "down"),
            "a number": number,
            "a list of values": isinstance(value, list) and not any(isinstance(v, list | dict) for v in value),
        }
        if not fits[_KEYS[key]]:
            raise ValueError(f"{where}: {key} must be {_KEYS[key]}, got {_shown(value)}.")


def _collect(found: dict[str, Any], column: Hashable, table: Mapping[str, Any]) -> None:
    for rule in ("immutable", "integer"):
        if table.get(rule):
            found[rule].append(column)
    if "direction" in table:
        found["increase" if table["direction"] == "up" else "decrease"].append(column)
    if "min" in table or "max" in table:
        found["bounds"][column] = (table.get("min"), table.get("max"))
    for key, rule in (("step", "step"), ("categories", "categories"), ("ordered", "ordered"), ("weight", "weights")):
        if key in table:
            found[rule][column] = table[key]


def _unknown(key: str, where: str, known: Iterable[str], hint: str) -> ValueError:
    close = difflib.get_close_matches(key, list(known), n=1)
    hint = hint or (f"did you mean {close[0]}?" if close else "")
    return ValueError(
        f"unknown key {key!r} {where}; {hint + '; ' if hint else ''}the keys there are {', '.join(known)}."
    )


def write(actions: ActionSet) -> str:
    """Return an action set as TOML: every column if they are known, else those that it names."""
    schema = actions.schema
    known = {} if schema is None or schema.names is None else {column.name: column for column in schema.columns}
    mentioned = [
        column
        for rule in ("immutable", "increase", "decrease", "bounds", "integer", "step", "categories", "ordered")
        for column in getattr(actions, rule)
    ]
    top = [] if actions.max_changes is None else [f"max_changes = {int(actions.max_changes)}"]
    if actions.rules:
        top += ["rules = [", *(f"  {_quoted(rule)}," for rule in actions.rules), "]"]
    tables = [
        _table(column, known.get(column), _lines(actions, column))
        for column in dict.fromkeys([*known, *mentioned, *actions.weights])
    ]
    return _joined(top, tables)


def starting_toml(frame: Any) -> str:
    """Return a TOML file to start from: every column, what it holds, and lines to choose from as comments.

    Parameters
    ----------
    frame : DataFrame
        Training rows.
    """
    schema = Schema.learn(frame, name="frame")
    top = ["# max_changes = 3", '# rules = ["used <= limit"]']
    return _joined(top, [_table(column.name, column, _suggestions(column)) for column in schema.columns])


def _joined(top: list[str], tables: list[list[str]]) -> str:
    blocks = [_HEADER, *(["\n".join(top) + "\n"] if top else []), *("\n".join(table) + "\n" for table in tables)]
    return "\n".join(blocks)


def _table(name: Hashable, column: Column | None, lines: list[str]) -> list[str]:
    comment = "" if column is None else f"  # {printable(facts(column))}"
    return [f"[{_path(name)}]{comment}", *lines]


def _lines(actions: ActionSet, column: Hashable) -> list[str]:
    low, high = actions.bounds.get(column, (None, None))
    keys = {
        "immutable": True if column in actions.immutable else None,
        "direction": "up" if column in actions.increase else "down" if column in actions.decrease else None,
        "min": None if low in (None, -np.inf) else low,
        "max": None if high in (None, np.inf) else high,
        "integer": True if column in actions.integer else None,
        "step": actions.step.get(column),
        "categories": actions.categories.get(column),
        "ordered": actions.ordered.get(column),
        "weight": actions.weights.get(column),
    }
    return [f"{key} = {_value(value)}" for key, value in keys.items() if value is not None]


def _suggestions(column: Column) -> list[str]:
    if column.kind == "fixed":
        return []
    keys: dict[str, Any] = {"immutable": True}
    if column.kind == "number":
        low, high = (int(end) if end.is_integer() else end for end in (column.low, column.high))
        keys |= {"direction": "up", "min": low, "max": high}
    elif column.kind == "ordered":
        keys |= {"direction": "up"}
    elif len(column.values) <= _FEW:
        keys |= {"categories": list(column.values), "ordered": list(column.values)}
    lines = []
    for key, value in keys.items():
        try:
            lines.append(f"# {key} = {_value(value)}{_REMARKS.get(key, '')}")
        except TypeError:  # values that TOML does not know
            continue
    return lines


def _path(name: Hashable) -> str:
    if isinstance(name, int | np.integer) and not isinstance(name, bool):
        return f"positions.{int(name)}"
    if not isinstance(name, str):
        raise TypeError(f"TOML names columns by texts or positions, not by {name!r}.")
    return f"columns.{_key(name)}"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _quoted(name)


def _value(value: Any) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    raise TypeError(f"TOML has no {type(value).__name__}: {value!r} cannot be written.")


def _quoted(text: str) -> str:
    """Write a text as TOML does, which is JSON's way except for one sign."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"The text {text!r} cannot be written: {error}.") from error
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _shown(value: Any) -> str:
    return "a table" if isinstance(value, dict) else json.dumps(value, ensure_ascii=False, default=str)
