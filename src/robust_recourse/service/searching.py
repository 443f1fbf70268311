"""Recourses for the people of some requests, in one search."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robust_recourse.methods.base import RecourseMethod
from robust_recourse.result import Recourses
from robust_recourse.result.document import document_of
from robust_recourse.search.deadline import Deadline
from robust_recourse.search.explain import explain
from robust_recourse.service.asking import asking
from robust_recourse.service.lanes import Job
from robust_recourse.service.metrics import Metrics
from robust_recourse.service.parsing import to_bytes
from robust_recourse.service.rows import RowReader
from robust_recourse.service.settings import Most

__all__ = ["Asked", "Searcher"]


@dataclass(frozen=True)
class Asked:
    """What a request asks for.

    Attributes
    ----------
    method : RecourseMethod
        The method, narrowed to the request.
    cells : list of list
        The people, column by column.
    alternatives : int
        How many recourses each gets.
    time_limit : float or None
        Seconds.
    strict : bool
        Whether values that no training row has are refused.
    """

    method: RecourseMethod
    cells: list[list[Any]]
    alternatives: int
    time_limit: float | None
    strict: bool

    def __len__(self) -> int:
        return len(self.cells[0])


class Searcher:
    """Searches for the people of jobs that ask for the same.

    Parameters
    ----------
    reader : RowReader
        What reads their rows.
    most : Most
        How long a search may take.
    metrics : Metrics
        Where is counted what is done.
    """

    def __init__(self, reader: RowReader, most: Most, metrics: Metrics) -> None:
        self._reader, self._most, self._metrics = reader, most, metrics

    def answer(self, jobs: Sequence[Job]) -> list[bytes]:
        """Return the document for each of the jobs, which ask for the same of the same method.

        People get the answers that they would get alone: what a search finds for somebody does not depend on company.
        """
        asked: list[Asked] = [job.load for job in jobs]
        first, sizes = asked[0], [len(one) for one in asked]
        cells = [[cell for one in asked for cell in one.cells[k]] for k in range(len(first.cells))]
        table = self._reader.table(cells, [i for size in sizes for i in range(size)])
        with asking(self._reader.texts, cells):
            read = first.method.read(table, "rows", unseen="error" if first.strict else "ignore")
            found = explain(first.method, read, first.alternatives, self._deadline(jobs, first.time_limit))
        self._metrics.searched(found, sum(sizes))
        owner = np.repeat(np.arange(len(jobs)), sizes)[found.person]
        return [to_bytes(document_of(_part(found, owner == i, len(jobs)))) + b"\n" for i in range(len(jobs))]

    def _deadline(self, jobs: Sequence[Job], time_limit: float | None) -> Deadline:
        now = time.time()
        last = now + self._most.time_limit

        def stopped() -> bool:
            return time.time() > last or all(job.gone for job in jobs)

        return Deadline(math.inf if time_limit is None else now + time_limit, stopped)


def _part(found: Recourses, own: Any, n: int) -> Recourses:
    return found if n == 1 else found[own]
