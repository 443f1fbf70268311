"""What stands behind the counter: a method, what reads its rows, and the lanes in which it works."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from robust_recourse.methods.base import RecourseMethod
from robust_recourse.notices.explorer import background
from robust_recourse.saving import load
from robust_recourse.service.describing import columns_of, describe
from robust_recourse.service.examples import examples_of
from robust_recourse.service.lanes import Lane
from robust_recourse.service.metrics import Metrics
from robust_recourse.service.narrowing import Narrower
from robust_recourse.service.people import People, accepted_people, usual
from robust_recourse.service.promising import Promises
from robust_recourse.service.rows import RowReader
from robust_recourse.service.searching import Searcher
from robust_recourse.service.settings import Settings
from robust_recourse.service.stating import Statements
from robust_recourse.service.verdicts import Verdicts

__all__ = ["Counter"]

_ROWS = 1024  # that are asked about together


class Counter:
    """Everything that is needed to answer requests.

    Parameters
    ----------
    settings : Settings
        What the service was started with.
    method : RecourseMethod
        The method.
    metrics : Metrics
        Where is counted what is done.
    """

    def __init__(self, settings: Settings, method: RecourseMethod, metrics: Metrics) -> None:
        if not hasattr(method, "candidates_"):
            raise ValueError(f"{settings.method} holds a method that was not fitted. Call fit before you save it.")
        # A worker is one process: more are had with more workers.
        method.n_jobs = None
        most, self.method = settings.most, method
        self.reader = reader = RowReader(method.schema_)
        self.narrower = Narrower(method, reader)
        self.people = None if settings.people is None else People(method, settings.people(method.schema_))
        self.may_search = settings.search
        self.schema = self._described(settings)
        self.examples = examples_of(method, reader, self.schema["columns"])
        search, verdicts = Searcher(reader, most, metrics), Verdicts(method, reader, metrics)
        statements = Statements(method, reader)
        self.promises = None if settings.ledger is None else Promises(settings, statements)
        # Somebody at the counter does not wait for a table of a thousand people.
        self.singles = Lane("one person", search.answer, waiting=most.waiting, together=most.together)
        self.tables = Lane("tables", search.answer, waiting=most.waiting, together=1)
        self.verdicts = Lane("verdicts", verdicts.answer, waiting=most.waiting, together=_ROWS)
        self.statements = Lane("statements", _calling, waiting=most.waiting, together=1)
        self.stated = statements
        metrics.watch({"one person": self.singles, "tables": self.tables, "verdicts": self.verdicts})

    @classmethod
    def open(cls, settings: Settings, metrics: Metrics) -> Counter:
        """Load everything that the settings name."""
        return cls(settings, load(settings.method, trusted=settings.trusted or None), metrics)

    def close(self) -> None:
        """Finish what was begun."""
        for lane in (self.singles, self.tables, self.verdicts, self.statements):
            lane.close()

    def _described(self, settings: Settings) -> dict[str, Any]:
        method, reader, most = self.method, self.reader, settings.most
        if self.people is None:
            table, accepted = accepted_people(method)
            histograms: list[Any] = [{**drawn, "refused": None} for drawn in background(table, accepted)]
            histograms = [drawn if any(drawn["accepted"]) else None for drawn in histograms]
            defaults = usual(table)
        else:
            histograms, defaults = list(self.people.histograms()), self.people.usual()
        return {
            "name": settings.name,
            **describe(method, reader, columns_of(method, reader, defaults, histograms)),
            "ledger": settings.ledger is not None,
            "promise_days": settings.promise_days,
            "locales": find_spec("babel") is not None,
            "people": None
            if self.people is None
            else {"rows": len(self.people), "refused": int((~self.people.accepted).sum()), "search": settings.search},
            "limits_of_service": {
                "rows": most.rows,
                "alternatives": most.alternatives,
                "verdict_rows": most.rows,
                "body_bytes": most.body_bytes,
                "time_limit": most.time_limit,
            },
        }


def _calling(jobs: Any) -> list[Any]:
    return [job.load() for job in jobs]
