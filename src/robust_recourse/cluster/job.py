"""One part of a data set, from its rows to the file of its recourses: the same here and on a worker."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from robust_recourse.cluster.places import Place
from robust_recourse.cluster.sending import Sent
from robust_recourse.cluster.source import Part, read_part
from robust_recourse.cluster.types import Types
from robust_recourse.result import Recourses
from robust_recourse.result.frames import frame_of
from robust_recourse.result.parquet import parquet_bytes, table_of

__all__ = ["FACTS", "Job", "explain_part", "result_schema"]

FACTS = "robust-recourse-part"
"""Key of what the file of a part says about it."""


@dataclass(frozen=True)
class Job:
    """What all parts have in common.

    Attributes
    ----------
    place : Place
        Where results are written.
    types : Types
        What the columns of the whole table are.
    schema : bytes or None
        The types of the results, as Arrow writes them.
    n_recourses : int
        How many recourses a person gets at most.
    unseen : {"warn", "error", "ignore"}
        What happens to values that no training row has.
    sent : Sent or None
        The method in a file, for workers.
    time_limit : float or None
        Seconds that a part may take.
    """

    place: Place
    types: Types
    schema: bytes | None
    n_recourses: int
    unseen: str
    sent: Sent | None = None
    time_limit: float | None = None

    def prepare(self) -> None:
        """Do what a process does once, before the time of a part is taken."""
        if self.sent is not None:
            self.sent.value()


def explain_part(job: Job, part: Part, method: Any = None) -> dict[str, Any]:
    """Explain the rows of a part and write its file; return what is known about it."""
    method = job.sent.value() if method is None and job.sent is not None else method
    try:
        frame = read_part(job.types, part)
    except OSError as error:  # of the input: that of the output ends everything
        raise ValueError(f"its rows cannot be read: {error}") from error
    table = method.read(frame, f"{part.file} (rows are counted from 0 at row {part.first})", unseen="ignore")
    unseen = "" if job.unseen == "ignore" else method.seen_.unseen(table, f"{part.file} (from row {part.first})")
    if unseen and job.unseen == "error":
        raise ValueError(f'{unseen} Correct them, or accept them with unseen="ignore".')
    found = replace(method.explain_table(table, job.n_recourses), _traces=None)
    facts = {**facts_of(found), "unseen": unseen}
    content = part_bytes(job, part, found, facts, several=job.n_recourses > 1)
    job.place.write(part.name, content)
    return {"part": part.name, **facts, "bytes": len(content)}


def part_bytes(job: Job, part: Part, found: Recourses, facts: dict[str, Any], *, several: bool) -> bytes:
    """Return the file of a part."""
    frame = _labelled(frame_of(found, several=several, before=part.before), job, part.before)
    table = table_of(frame, None if job.schema is None else _schema(job.schema))
    return parquet_bytes(found, table, {FACTS: json.dumps({"part": part.name, **facts})})


def facts_of(found: Recourses) -> dict[str, Any]:
    """Return how many people of a part have which status, and whether somebody has several recourses."""
    first = found.rank == 1
    statuses = Counter(str(status) for status in found.status[first])
    return {"rows": int(first.sum()), "statuses": dict(statuses), "several": bool((found.rank > 1).any())}


def result_schema(job: Job, method: Any) -> bytes:
    """Return the types of the results: those of the recourses of nobody, which need no question to the model."""
    import pyarrow

    found = method.explain_table(method.read(job.types.like(), unseen="ignore"))
    several = job.n_recourses > 1
    schema = table_of(_labelled(frame_of(found, several=several), job, 0)).schema
    for place, column in enumerate(schema):
        if pyarrow.types.is_null(column.type):
            # Columns of objects, which have no type of their own where there are none.
            kind = job.types.arrow_type(column.name)
            typed = pyarrow.string() if kind is None or pyarrow.types.is_dictionary(kind) else kind
            schema = schema.set(place, pyarrow.field(column.name, typed))
    content: bytes = schema.remove_metadata().serialize().to_pybytes()
    return content


def _labelled(frame: pd.DataFrame, job: Job, before: int) -> pd.DataFrame:
    """Return a table of recourses that stores its labels, unless they are the numbers of the rows."""
    if job.n_recourses == 1 and job.types.numbered:
        return frame.set_axis(pd.RangeIndex(before, before + len(frame)), axis=0)
    if isinstance(frame.index, pd.RangeIndex):
        return frame.set_axis(pd.Index(frame.index.to_numpy(), name=frame.index.name), axis=0)
    return frame


def _schema(content: bytes) -> Any:
    import pyarrow

    return pyarrow.ipc.read_schema(pyarrow.py_buffer(content))
