"""Recourses as bytes, and batches of them put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse.result import Recourse, Recourses, Status
from robust_recourse.saving import archive
from robust_recourse.saving.kinds import KINDS
from robust_recourse.saving.plain import decode, encode

__all__ = ["concat", "dumps", "loads"]

_FRAMES = ("x", "boundary", "x0")
_COLUMNS = ("cost", "budget", "valid", "log_worst_case_odds", "n_queries", "person", "rank", "column_costs")
_FACTS = ("kinds", "favourable", "threshold")
_POINTS = ("x0", "x", "boundary")


def dumps(found: Recourses) -> bytes:
    """Return recourses as bytes, without the samples around them, which nobody will look at."""
    arrays: list[Any] = []
    parts: dict[str, Any] = {name: getattr(found, name) for name in (*_FRAMES, *_COLUMNS, *_FACTS)}
    parts |= {"status": [str(status) for status in found.status], "reason": [str(reason) for reason in found.reason]}
    parts |= {"orders": {name: list(values) for name, values in found.orders.items()}}
    parts |= {"points": [np.array([getattr(one, name) for one in found]) for name in _POINTS]}
    return archive.pack(archive.Archive({"recourses": encode(parts, KINDS, arrays)}, arrays, None))


def loads(content: bytes) -> Recourses:
    """Return the recourses that bytes stand for; raise a ValueError if they stand for none."""
    data, arrays, _ = archive.unpack(content, "the piece")
    try:
        parts = decode(data["recourses"], KINDS, arrays)
        points = zip(*parts.pop("points"), strict=True)
        parts["status"] = _objects([Status(status) for status in parts["status"]])
        parts["reason"] = _objects(parts["reason"])
        names = ("cost", "budget", "valid", "status", "reason", "log_worst_case_odds", "n_queries")
        facts = zip(*(parts[name] for name in names), strict=True)
        return Recourses(**parts, _rows=tuple(Recourse(*p, *f) for p, f in zip(points, facts, strict=True)))
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"these are no recourses: {error}") from error


def concat(parts: Sequence[Recourses]) -> Recourses:
    """Return the recourses of tables that follow each other as those of one table."""
    offsets = np.cumsum([0, *(int(part.person[-1]) + 1 for part in parts)])
    columns: dict[str, Any] = {
        name: [getattr(part, name) for part in parts] for name in (*_COLUMNS, "status", "reason")
    }
    columns["person"] = [person + offset for person, offset in zip(columns["person"], offsets, strict=False)]
    joined: dict[str, Any] = {
        **{name: pd.concat([getattr(part, name) for part in parts]) for name in _FRAMES},
        **{name: np.concatenate(arrays) for name, arrays in columns.items()},
        **{name: getattr(parts[0], name) for name in (*_FACTS, "orders")},
    }
    return Recourses(**joined, _rows=tuple(one for part in parts for one in part))


def _objects(values: list[Any]) -> Any:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
