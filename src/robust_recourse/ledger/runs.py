"""What promises have in common that were made together: model, method, settings, columns, until when they hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from functools import cached_property
from importlib.metadata import version
from typing import Any

from sqlalchemy import Connection, select

from robust_recourse.ledger.errors import LedgerError, reading_entry
from robust_recourse.ledger.rows import Columns
from robust_recourse.ledger.schema import entries
from robust_recourse.methods.base import RecourseMethod
from robust_recourse.methods.registry import METHODS
from robust_recourse.result import Provenance, Recourses
from robust_recourse.result.cells import from_plain, to_plain
from robust_recourse.result.provenance import fingerprint
from robust_recourse.saving.kinds import KINDS

__all__ = ["Run", "describe_run", "read_runs"]

_ELSEWHERE = ("model", "n_jobs")  # not part of what a method is


@dataclass(frozen=True, eq=False)
class Run:
    """The facts of an entry of the kind "run".

    Attributes
    ----------
    number : int
        The number of the entry.
    made : str
        When it was written.
    facts : mapping
        What is in it.
    """

    number: int
    made: str
    facts: Mapping[str, Any]

    @property
    def model(self) -> str:
        """The name of the model that promised."""
        with reading_entry(self.number):
            return str(self.facts["model"])

    @cached_property
    def until(self) -> date:
        """The last day on which the promises hold."""
        with reading_entry(self.number):
            return date.fromisoformat(self.facts["until"])

    @cached_property
    def columns(self) -> Columns:
        """The columns of the tables."""
        with reading_entry(self.number):
            return Columns.read(self.facts["table"])

    @cached_property
    def favourable(self) -> Any:
        """The class that people want."""
        with reading_entry(self.number):
            return from_plain(self.facts["favourable"])

    @property
    def threshold(self) -> float | None:
        """The least probability that is accepted."""
        with reading_entry(self.number):
            return None if self.facts["threshold"] is None else float(self.facts["threshold"])

    def method(self, model: Any, *, favourable: Any, threshold: float | None) -> RecourseMethod:
        """Return the method of the promises with another model, not fitted yet.

        Raises
        ------
        LedgerError
            If the ledger could not keep one of its parameters, or if its class is no part of the library.
        """
        kinds = {kind.__name__: kind for kind in METHODS.values()}
        known = self.facts["method"]
        lost = [name for name, value in known["parameters"].items() if value is None]
        if known["name"] not in kinds or lost:
            what = f"its parameter {lost[0]!r} could not be kept" if lost else "it is no method of the library"
            raise LedgerError(f"The promises were made with {known['name']}: {what}. Pass a fitted method.")
        parameters = {name: from_plain(value, KINDS) for name, value in known["parameters"].items()}
        parameters |= {"favourable": favourable, "threshold": threshold}
        return kinds[known["name"]](model, **parameters)


def describe_run(
    found: Recourses, columns: Columns, method: RecourseMethod, *, model: str, until: date, note: str
) -> dict[str, Any]:
    """Return the facts of a run."""
    provenance = Provenance.of(method)
    return {
        "model": model,
        "until": until.isoformat(),
        "note": note,
        "version": version("robust-recourse"),
        "provenance": asdict(provenance),
        "training_fingerprint": fingerprint((method.candidates_, method.seen_)),
        "method": {"name": type(method).__name__, "parameters": _parameters(method)},
        "actions": "" if method.actions is None else repr(method.actions),
        "table": columns.facts(),
        "favourable": to_plain(found.favourable),
        "threshold": None if found.threshold is None else float(found.threshold),
    }


def read_runs(connection: Connection) -> dict[int, Run]:
    """Return all runs, by their numbers."""
    chosen = select(entries.c.number, entries.c.made, entries.c.facts).where(entries.c.kind == "run")
    runs: dict[int, Run] = {}
    for number, made, facts in connection.execute(chosen):
        with reading_entry(number):
            runs[number] = Run(number, made, json.loads(facts))
    return runs


def _parameters(method: RecourseMethod) -> dict[str, Any]:
    """Return the parameters as plain data; None for one that is something else, of which the provenance tells."""
    kept: dict[str, Any] = {}
    for name, value in method.get_params(deep=False).items():
        if name in _ELSEWHERE:
            continue
        try:
            kept[name] = to_plain(value, KINDS)
        except TypeError:
            kept[name] = None
    return kept
