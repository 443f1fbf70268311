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
import tomlkit
from tomlkit import TOMLDocument
from tomlkit.items import Table

from robust_recourse.actions.column_rule import ColumnRule, checked_rules
from robust_recourse.actions.links import proposed_links
from robust_recourse.actions.wording import facts, printable
from robust_recourse.tables import Column, Schema, to_pandas

if TYPE_CHECKING:
    from robust_recourse.actions.action_set import ActionSet

__all__ = ["read", "starting_toml", "write"]

_TOP = {
    "max_changes": "a whole number",
    "rules": "a list of texts",
    "cost": "a text",
    "columns": "a table",
    "positions": "a table",
}
_KEYS = {
    "immutable": "true or false",
    "direction": '"up" or "down"',
    "min": "a number",
    "max": "a number",
    "integer": "true or false",
    "step": "a number",
    "categories": "a list of values",
    "ordered": "a list of values",
    "never": "a list of pairs",
    "follows": "the name of a column",
    "pairs": "a list of pairs",
    "effects": "a table of numbers",
    "weight": "a number",
    "cost": "a text or a list of pairs",
    "unit": "a text",
}
_SAME = {key: key for key in ("step", "categories", "ordered", "never")} | {"weight": "weights", "unit": "units"}
_HINTS = {
    "bounds": "write min = ... and max = ...",
    "increase": 'write direction = "up"',
    "decrease": 'write direction = "down"',
    "weights": "write weight = ...",
    "link": 'write follows = "..."',
    "units": "write unit = ...",
}
_HEADER = """\
What a person may change. What is not restricted here may change; numbers without min or max keep to the range of
the training rows.
There is one table for each column, like [columns.amount]; these lines may stand in it:
  immutable = true             it never changes
  direction = "up"             it may only go up; or "down": it may only go down
  min = 250                    its smallest value
  max = 20000                  its largest value
  integer = true               it holds whole numbers
  step = 50                    a changed value is a multiple of this
  categories = ["a", "b"]      it may only switch to these values
  ordered = ["low", "high"]    its values have this order, from low to high
  never = [["b", "a"]]         it may not switch from the first of a pair to the second
  follows = "school"           the other column determines it, as in the training rows; nobody changes it otherwise
  pairs = [["none", 0]]        what it is with values of the column that it follows, if not as in the training rows
  effects = { income = 0.1 }   each 1 that it rises adds so much to other columns, which nobody pays for
  weight = 2.0                 a change costs so many times as much
  cost = "percentile"          a change costs the share of the training rows that it overtakes
  cost = [[0, 0], [900, 1]]    or what lies between these values costs the difference of the efforts beside them
  unit = "EUR"                 what its numbers count: a currency, "%", "fraction" (0.07 is 7 %), "years", ...
Names with other signs than letters, digits, - and _ stand in quotes: [columns."credit amount"].
These lines may stand above all tables:
  max_changes = 3              at most so many columns change together
  rules = ["used <= limit"]    inequalities between columns of numbers that must hold
  cost = "percentile"          changes of all numbers cost the share of the training rows that they overtake
"""
_REMARKS = {
    "direction": '  # or "down"',
    "ordered": "  # put them in order, from low to high",
    "follows": "  # as in all training rows",
}
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
    except RecursionError as error:
        raise ValueError(f"{os.fspath(path)}: its values are nested too deeply.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{os.fspath(path)}: this is no TOML file: {error}.") from error
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from error


def _arguments(content: Mapping[str, Any]) -> dict[str, Any]:
    for key, value in content.items():
        if key not in _TOP:
            hint = f"write [columns.{_key(key)}]" if isinstance(value, dict) else ""
            raise _unknown(key, "at the top", _TOP, hint)
        wanted: type[Any] = {"max_changes": int, "rules": list, "cost": str}.get(key, dict)
        texts = key != "rules" or (isinstance(value, list) and all(isinstance(entry, str) for entry in value))
        if not isinstance(value, wanted) or isinstance(value, bool) or not texts:
            raise ValueError(f"{key} must be {_TOP[key]}, got {_shown(value)}.")
    found: dict[str, Any] = {rule: [] for rule in ("immutable", "increase", "decrease", "integer")}
    mappings = ("bounds", "step", "categories", "ordered", "never", "link", "effects", "weights", "units")
    found |= {rule: {} for rule in mappings}
    found |= {"max_changes": content.get("max_changes"), "rules": content.get("rules", [])}
    found["cost"] = content.get("cost", {})
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
        fits = {
            "true or false": isinstance(value, bool),
            '"up" or "down"': value in ("up", "down"),
            "a number": _is_number(value),
            "a list of values": _is_list(value),
            "the name of a column": isinstance(value, str) if kind == "columns" else isinstance(value, int),
            "a table of numbers": isinstance(value, dict) and all(map(_is_number, value.values())),
            "a list of pairs": _is_pairs(value),
            "a text or a list of pairs": isinstance(value, str) or _is_pairs(value),
            "a text": isinstance(value, str),
        }
        if not fits[_KEYS[key]]:
            raise ValueError(f"{where}: {key} must be {_KEYS[key]}, got {_shown(value)}.")
    if "pairs" in table and "follows" not in table:
        raise ValueError(f"{where}: pairs needs a column that it follows; write follows = ... beside it.")
    for target in table.get("effects", ()) if kind == "positions" else ():
        if not _POSITION.fullmatch(target):
            raise ValueError(f"{where}: effects names columns by their positions here, got {target!r}.")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and not any(isinstance(entry, list | dict) for entry in value)


def _is_pairs(value: Any) -> bool:
    return isinstance(value, list) and all(_is_list(entry) and len(entry) == 2 for entry in value)


def _collect(found: dict[str, Any], column: Hashable, table: Mapping[str, Any]) -> None:
    for rule in ("immutable", "integer"):
        if table.get(rule):
            found[rule].append(column)
    if "direction" in table:
        found["increase" if table["direction"] == "up" else "decrease"].append(column)
    if "min" in table or "max" in table:
        found["bounds"][column] = (table.get("min"), table.get("max"))
    if "follows" in table:
        follows = table["follows"]
        found["link"][column] = {follows: table["pairs"]} if "pairs" in table else follows
    if "effects" in table:
        named = int if isinstance(column, int) else str
        found["effects"][column] = {named(target): rate for target, rate in table["effects"].items()}
    if "cost" in table:
        if isinstance(found["cost"], str):
            raise ValueError(f"cost stands above all tables, and at column {column!r} again. Say it once.")
        found["cost"][column] = table["cost"]
    for key, rule in _SAME.items():
        if key in table:
            found[rule][column] = table[key]


def _unknown(key: str, where: str, known: Iterable[str], hint: str) -> ValueError:
    close = difflib.get_close_matches(key, list(known), n=1)
    hint = hint or (f"did you mean {close[0]}?" if close else "")
    return ValueError(
        f"unknown key {key!r} {where}; {hint + '; ' if hint else ''}the keys there are {', '.join(map(repr, known))}."
    )


def write(actions: ActionSet) -> str:
    """Return an action set as TOML: every column if they are known, else those that it names."""
    schema = actions.schema
    known = {} if schema is None or schema.names is None else {column.name: column for column in schema.columns}
    document = _document()
    if actions.max_changes is not None:
        document["max_changes"] = int(actions.max_changes)
    if isinstance(actions.cost, str):
        document["cost"] = actions.cost
    if actions.rules:
        document["rules"] = tomlkit.array().multiline(True)
        document["rules"].extend(map(_value, actions.rules))
    rules = {column: ColumnRule(column) for column in known}
    rules |= {rule.column: rule for rule in checked_rules(actions)}
    for column, rule in rules.items():
        table = _add_table(document, column, known.get(column))
        for key, value in _entries(rule).items():
            table[key] = _value(value)
    return tomlkit.dumps(document)


def starting_toml(frame: Any) -> str:
    """Return a TOML file to start from: every column, what it holds, and lines to choose from as comments.

    Parameters
    ----------
    frame : DataFrame
        Training rows.
    """
    document, schema = _document(), Schema.learn(frame, name="frame")
    links = proposed_links(schema, to_pandas(frame))
    _add_comments(document, {"max_changes": 3, "rules": ["used <= limit"]})
    for column in schema.columns:
        link = {"follows": links[column.name]} if column.name in links else {}
        _add_comments(_add_table(document, column.name, column), {**_suggestions(column), **link})
    return tomlkit.dumps(document)


def _document() -> TOMLDocument:
    document = tomlkit.document()
    for line in _HEADER.splitlines():
        document.add(tomlkit.comment(line))
    document.add(tomlkit.nl())
    return document


def _add_table(document: TOMLDocument, name: Hashable, column: Column | None) -> Table:
    position = isinstance(name, int | np.integer)
    if not position and not isinstance(name, str):
        raise TypeError(f"TOML names columns by texts or positions, not by {name!r}.")
    tables = document.setdefault("positions" if position else "columns", tomlkit.table(is_super_table=True))
    tables[_value(str(name))] = table = tomlkit.table()
    if column is not None:
        table.comment(printable(facts(column)))
    return table


def _add_comments(place: TOMLDocument | Table, entries: Mapping[str, Any]) -> None:
    """Add lines that are there to be taken in."""
    for key, value in entries.items():
        try:
            place.add(tomlkit.comment(f"{key} = {tomlkit.item(_value(value)).as_string()}{_REMARKS.get(key, '')}"))
        except TypeError:  # values that TOML does not know
            continue


def _entries(rule: ColumnRule) -> dict[str, Any]:
    low, high = rule.bounds
    entries = {
        "immutable": rule.immutable or None,
        "direction": {"increase": "up", "decrease": "down"}.get(rule.way),
        "min": low,
        "max": high,
        "integer": rule.integer or None,
        "step": rule.step,
        "categories": rule.categories,
        "ordered": rule.ordered,
        "never": rule.never,
        "follows": rule.link and rule.link[0],
        "pairs": list((rule.link[1] or {}).items()) or None if rule.link else None,
        "effects": rule.effects,
        "weight": rule.weights if rule.weights != 1 else None,
        "cost": rule.cost,
        "unit": rule.units,
    }
    return {key: value for key, value in entries.items() if value is not None}


def _suggestions(column: Column) -> dict[str, Any]:
    if column.kind == "fixed":
        return {}
    if column.kind == "number":
        low, high = (int(end) if end.is_integer() else end for end in (column.low, column.high))
        return {"immutable": True, "direction": "up", "min": low, "max": high}
    if column.kind == "ordered":
        return {"immutable": True, "direction": "up"}
    values = {"categories": list(column.values), "ordered": list(column.values)}
    return {"immutable": True, **(values if len(column.values) <= _FEW else {})}


def _value(value: Any) -> Any:
    """Return what TOML writes."""
    if isinstance(value, list | tuple):
        return [_value(entry) for entry in value]
    if isinstance(value, dict):
        table = tomlkit.inline_table()
        table.update({_value(str(key)): _value(entry) for key, entry in value.items()})
        return table
    value = value.item() if isinstance(value, np.generic) else value
    if not isinstance(value, bool | int | float | str):
        raise TypeError(f"TOML has no {type(value).__name__}: {value!r} cannot be written.")
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"The text {value!r} cannot be written: {error}.") from error
    return value


def _key(name: str) -> str:
    return tomlkit.key(name).as_string()


def _shown(value: Any) -> str:
    return "a table" if isinstance(value, dict) else json.dumps(value, ensure_ascii=False, default=str)
