"""What the present model and the jury say about rows as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robust_recourse.methods.base import RecourseMethod
from robust_recourse.search.run import decides, predictor
from robust_recourse.service.asking import asking
from robust_recourse.service.lanes import Job
from robust_recourse.service.metrics import Metrics
from robust_recourse.service.rows import RowReader

__all__ = ["Verdicts"]


class Verdicts:
    """Asks about rows; a job has their cells, column by column.

    Parameters
    ----------
    method : RecourseMethod
        The method.
    reader : RowReader
        What reads its rows.
    metrics : Metrics
        Where is counted what is done.
    """

    def __init__(self, method: RecourseMethod, reader: RowReader, metrics: Metrics) -> None:
        self._method, self._reader, self._metrics = method, reader, metrics
        self._present, self._how = predictor(method, "rows"), decides(method, "rows")

    def answer(self, jobs: Sequence[Job]) -> list[list[dict[str, Any]]]:
        """Return the verdicts for each of the jobs."""
        sizes = [job.size for job in jobs]
        cells = [[cell for job in jobs for cell in job.load[k]] for k in range(len(jobs[0].load))]
        rows = np.arange(sum(sizes))
        with asking(self._reader.texts, cells):
            told = self._asked(cells, rows)
        self._metrics.model_rows.inc(len(rows))
        ends = np.cumsum(sizes).tolist()
        return [told[end - size : end] for end, size in zip(ends, sizes, strict=True)]

    def _asked(self, cells: list[list[Any]], rows: Any) -> list[dict[str, Any]]:
        table, schema = self._reader.table(cells, rows), self._method.schema_
        # A frame in the types of the training rows is what the model gets; any other one is made that first.
        read = None if self._reader.is_typed(table) and not schema.foreign else schema.read(table, "rows")
        X = table if read is None else read.decode(read.values, rows)
        accepted = self._present(X, rows)
        jury = self._method.jury
        shares = [None] * len(rows) if jury is None else jury.accepts(X, rows, self._how).mean(axis=1).tolist()
        return [
            {"accepted": bool(yes), "jury_share": share} for yes, share in zip(accepted.tolist(), shares, strict=True)
        ]
