"""Requests that work: about somebody whom the model refuses, and who is made up."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np

from robust_recourse.methods.base import RecourseMethod
from robust_recourse.result.document import document_of
from robust_recourse.search.deadline import Deadline
from robust_recourse.search.explain import accepted_rows, explain
from robust_recourse.search.run import predictor
from robust_recourse.search.space import Space
from robust_recourse.service.rows import RowReader

__all__ = ["examples_of"]

_TRIED, _SECONDS = 256, 5.0


def examples_of(method: RecourseMethod, reader: RowReader, columns: list[dict[str, Any]]) -> dict[str, Any]:
    """Return bodies of requests by the names of calls; those that need a recourse only if one is found.

    To look for one makes a service warm, too: what is imported and compiled late is there when people come.
    """
    made = _people(columns)
    try:
        table = reader.table(reader.cells(made, strict=False), range(len(made)))
        space = Space.of(method.read(table, "rows", unseen="ignore"), method.moves_)
        accepted, _ = accepted_rows(predictor(method, "rows"), space)
        refused = np.flatnonzero(~accepted)
        row = made[int(refused[0])] if len(refused) else made[0]
        found = explain(method, space.table.take(refused[:1]), 1, Deadline(datetime.now(UTC).timestamp() + _SECONDS))
        plans = document_of(found)["rows"] if len(refused) else []
    except Exception:  # a model may not like people who are made up
        row, plans = made[0], []
    bodies: dict[str, Any] = {"recourse": {"rows": [row], "alternatives": 3}, "verdict": {"rows": [row]}}
    if plans and plans[0]["valid"] and plans[0]["status"] != "quorum out of reach":
        after = plans[0]["after"]
        bodies |= {
            "notice": {"row": row, "after": after},
            "promise": {"person": "A-1042", "row": row, "after": after},
            "promise-fulfil": {"row": after},
        }
    return bodies


def _people(columns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Make up people: a usual one, and others who have the ends of what was seen in some columns."""
    usual = {column["name"]: _usual(column) for column in columns}
    rng, people = np.random.default_rng(0), [usual]
    for _ in range(_TRIED - 1):
        other = dict(usual)
        for column in columns:
            if column["movable"] and rng.random() < 0.5:
                ends = column["seen"] or [known["value"] for known in column["categories"] or ()]
                if ends:
                    value = ends[int(rng.integers(len(ends)))]
                    other[column["name"]] = int(value) if column["integer"] else value
        people.append(other)
    return people


def _usual(column: dict[str, Any]) -> Any:
    value = column["default"]
    if value is None and not column["missing_allowed"]:
        return {"number": 0, "boolean": False}.get(column["kind"], "")
    return value
