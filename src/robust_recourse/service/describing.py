"""What a method is about, for those who ask it: columns, what may change, and the JSON Schemas of requests."""

from __future__ import annotations

import math
from importlib.metadata import version
from typing import Any

import numpy as np

from robust_recourse.actions import ActionSet
from robust_recourse.actions.wording import summary
from robust_recourse.methods.base import RecourseMethod
from robust_recourse.notices.values import json_value
from robust_recourse.service.rows import RowReader
from robust_recourse.tables import Column

__all__ = ["any_row_schema", "columns_of", "describe", "limits_schema", "row_schema"]

_WIDTHS = 3.0  # of the range of a number, as for values that count as unseen
_MOST = 1e100


def describe(method: RecourseMethod, reader: RowReader, columns: list[dict[str, Any]]) -> dict[str, Any]:
    """Return everything about a method that a page or an application has to know, as data for JSON."""
    jury, actions = method.jury, method.actions or ActionSet()
    return {
        "version": version("robust-recourse"),
        "method": type(method).__name__,
        "row": row_schema(method, reader),
        "limits": limits_schema(columns, method.moves_.max_changes),
        "columns": columns,
        "max_changes": method.moves_.max_changes,
        "rules": list(actions.rules),
        "margin": method.margin,
        "jury": None
        if jury is None
        else {
            "models": len(jury),
            "quorum": jury.quorum,
            "rule": jury.rule,
            "check": None if jury.check is None else len(jury.check),
            "survival": jury.survival,
            "confidence": jury.confidence,
        },
    }


def columns_of(
    method: RecourseMethod, reader: RowReader, defaults: list[Any], histograms: list[Any]
) -> list[dict[str, Any]]:
    """Return what there is to know about every column.

    Parameters
    ----------
    method : RecourseMethod
        The method.
    reader : RowReader
        What reads its rows.
    defaults : list
        A usual value of every column.
    histograms : list
        The distribution of accepted and refused people in every column, or None.
    """
    moves, actions = method.moves_, method.actions or ActionSet()
    low, high = moves.range()
    said = summary(actions, method.schema_)["may become"].tolist()
    texts = dict(zip((column.name for column in moves.columns), reader.texts, strict=True))
    effects = {
        texts[name]: {texts[other]: rate for other, rate in moved.items()} for name, moved in _effects(actions, texts)
    }
    found = []
    for k, (text, column) in enumerate(zip(reader.texts, moves.columns, strict=True)):
        cell, number = reader.readers[text], column.kind == "number"
        target = moves.targets[k]
        movable = bool(moves.rises[k] or moves.falls[k]) and (target is None or bool(target.any()))
        never = moves.never[k] if moves.never else None
        follows = _leader(actions, column)
        found.append(
            {
                "name": text,
                "label": text,
                "kind": cell.kind,
                "integer": number and _whole(column, cell.dtype),
                "movable": movable,
                "why_not": None if movable else said[k],
                "direction": "any" if moves.rises[k] == moves.falls[k] else "up" if moves.rises[k] else "down",
                "lower": _finite(low[k]) if number else None,
                "upper": _finite(high[k]) if number else None,
                "seen": [column.low, column.high] if number and math.isfinite(column.low) else None,
                "step": column.step or None if number else None,
                "decimals": column.digits if number else None,
                "unit": moves.told_in.get(column.name),
                "weight": float(moves.weights[k]),
                "unit_of_cost": column.unit if number and not column.effort else None,
                "categories": None
                if target is None
                else [
                    {"value": json_value(value), "allowed": bool(may)}
                    for value, may in zip(column.values, target, strict=True)
                ],
                "ordered": column.kind == "ordered",
                "never": [] if never is None else _pairs(column, never),
                "default": _like(json_value(defaults[k]), whole=number and _whole(column, cell.dtype)),
                "missing_allowed": cell.empty,
                "follows": None if follows is None else texts.get(follows, str(follows)),
                "moved_by": [source for source, moved in effects.items() if text in moved],
                "moves": effects.get(text, {}),
                # Texts that are no categories may name somebody.
                "histogram": None if cell.kind == "text" else histograms[k],
            }
        )
    return found


def row_schema(method: RecourseMethod, reader: RowReader) -> dict[str, Any]:
    """Return the JSON Schema of a row of which nothing is unseen."""
    seen, properties = method.seen_, {}
    for k, (text, cell) in enumerate(reader.readers.items()):
        column = cell.column
        told: dict[str, Any]
        if column.categorical:
            known = seen.codes.get(k, np.ones(len(column.values), dtype=bool))
            values = [json_value(value) for value, there in zip(column.values, known, strict=True) if there]
            told = {"enum": [*values, None] if cell.empty else values}
        elif cell.kind == "number":
            kind = "integer" if _whole(column, cell.dtype) or seen.whole[k] else "number"
            told = {
                "type": [kind, "null"] if cell.empty else kind,
                **_span(seen.low[k], seen.high[k], few=bool(seen.few[k])),
            }
            if k in seen.constants:
                told = {"enum": [json_value(seen.constants[k]), *([None] if cell.empty else [])]}
        elif k in seen.constants:
            told = {"enum": [json_value(seen.constants[k]), *([None] if cell.empty else [])]}
        elif cell.kind == "boolean":
            told = {"type": "boolean"}
        else:
            told = {"type": ["string", "null"] if cell.empty else "string", "maxLength": 10_000}
            if getattr(cell.dtype, "kind", "") == "M":
                told |= {"format": "date"}
        properties[text] = told
    what = "A person: a value for every column, null where it is missing."
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_row("Row", what, properties)}


def any_row_schema(reader: RowReader) -> dict[str, Any]:
    """Return the JSON Schema of a row that may have values that no training row has."""
    properties: dict[str, Any] = {}
    told: dict[str, Any]
    for text, cell in reader.readers.items():
        kept = getattr(cell.dtype, "numpy_dtype", cell.dtype)
        if cell.column.categorical:
            kinds, told = ["string", "number", "boolean"], {"maxLength": 10_000}
        elif cell.kind == "number" and getattr(kept, "kind", "") in "iu":
            held = np.iinfo(kept)
            kinds, told = ["integer"], {"minimum": int(held.min), "maximum": int(held.max)}
        elif cell.kind == "number":
            kinds, told = ["number"], {"minimum": -_MOST, "maximum": _MOST}
        elif cell.kind == "boolean":
            kinds, told = ["boolean"], {}
        else:
            moment = getattr(kept, "kind", "") == "M"
            kinds = ["string"] if moment or str(kept).startswith("str") else ["string", "number", "boolean"]
            told = {"maxLength": 10_000, **({"format": "date"} if moment else {})}
        properties[text] = {"type": [*kinds, "null"] if cell.empty else kinds, **told}
    what = 'As Row, also with values that no training row has; a search needs "unseen": "ignore" for them.'
    return _row("AnyRow", what, properties)


def _row(title: str, description: str, properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "title": title,
        "description": description,
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def limits_schema(columns: list[dict[str, Any]], max_changes: int | None) -> dict[str, Any]:
    """Return the JSON Schema of what one person may ask for beyond the lender's action set."""
    names = [column["name"] for column in columns]
    numbers = [
        column
        for column in columns
        if column["categories"] is None and column["kind"] == "number" and column["unit_of_cost"] is not None
    ]
    listed = [column for column in columns if column["categories"] is not None]

    def end(column: dict[str, Any]) -> dict[str, Any]:
        ends = {"minimum": column["lower"], "maximum": column["upper"]}
        return {"type": ["number", "null"], **{name: value for name, value in ends.items() if value is not None}}

    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Limits",
        "description": "What a person cannot do, or does not want to. It only narrows what the lender allows.",
        "type": "object",
        "properties": {
            "fixed": {"type": "array", "items": {"enum": names}},
            "ranges": {
                "type": "object",
                "properties": {
                    column["name"]: {"type": "array", "prefixItems": [end(column)] * 2, "items": False, "minItems": 2}
                    for column in numbers
                },
                "additionalProperties": False,
            },
            "categories": {
                "type": "object",
                "properties": {
                    column["name"]: {
                        "type": "array",
                        "minItems": 1,
                        "items": {"enum": [known["value"] for known in column["categories"] if known["allowed"]]},
                    }
                    for column in listed
                    if any(known["allowed"] for known in column["categories"])
                },
                "additionalProperties": False,
            },
            "difficulty": {
                "type": "object",
                "properties": {name: {"type": "number", "minimum": 0.01, "maximum": 100} for name in names},
                "additionalProperties": False,
            },
            "max_changes": {"type": ["integer", "null"], "minimum": 1, "maximum": max_changes or len(names)},
        },
        "additionalProperties": False,
    }


def _like(value: Any, *, whole: bool) -> Any:
    return int(value) if whole and value is not None else value


def _whole(column: Column, dtype: Any) -> bool:
    kept = getattr(dtype, "numpy_dtype", dtype)
    return getattr(kept, "kind", "") in "iu" or (column.step > 0.0 and float(column.step).is_integer())


def _span(low: float, high: float, *, few: bool) -> dict[str, Any]:
    """Return the numbers that are not far outside those of the training rows."""
    if math.isnan(low):
        return {"minimum": -_MOST, "maximum": _MOST}
    if few:
        return {"enum": sorted({float(low), float(high)})}
    width = _WIDTHS * (high - low if high > low else abs(low))
    return {"minimum": float(low - width), "maximum": float(high + width)}


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _pairs(column: Column, never: Any) -> list[list[Any]]:
    return [[json_value(column.values[i]), json_value(column.values[j])] for i, j in np.argwhere(never)]


def _effects(actions: ActionSet, texts: dict[Any, str]) -> list[tuple[Any, dict[Any, float]]]:
    return [(name, moved) for name, moved in actions.effects.items() if name in texts and set(moved) <= set(texts)]


def _leader(actions: ActionSet, column: Column) -> Any:
    link = actions.link.get(column.name)
    return next(iter(link)) if isinstance(link, dict) else link
