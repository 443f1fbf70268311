"""Recourses that clients send: verified, never taken from their word."""

from __future__ import annotations

from copy import copy
from typing import Any

from robust_recourse.actions import ActionSet
from robust_recourse.methods.base import RecourseMethod
from robust_recourse.result import Recourses, Status
from robust_recourse.search.stating import state
from robust_recourse.service.asking import asking
from robust_recourse.service.bodies import Chosen
from robust_recourse.service.problems import Fault, Problem
from robust_recourse.service.rows import RowReader

__all__ = ["Statements"]


class Statements:
    """Verifies rows that people chose against the action set, the present model and the criterion of a method.

    Parameters
    ----------
    method : RecourseMethod
        The method.
    reader : RowReader
        What reads its rows.
    """

    def __init__(self, method: RecourseMethod, reader: RowReader) -> None:
        self.method, self._reader = method, reader
        self._actions = copy(method.actions) if method.actions is not None else ActionSet()
        self._actions.schema = method.schema_

    def verified(self, chosen: Chosen) -> Recourses:
        """Return a recourse as if it had been found.

        Raises
        ------
        Problem
            If it breaks the action set, or is refused by the model or by the jury.
        """
        method, reader = self.method, self._reader
        own = reader.cells([chosen.row], "row", strict=True)
        became = reader.cells([chosen.after], "after", strict=False)
        before, after = reader.table(own, [0]), reader.table(became, [0])
        with asking(reader.texts, became, "after"):
            broken = self._actions.check(before, after)
            if broken:
                raise Problem("invalid-request", faults=[self._fault(violation) for violation in broken[:20]])
            tables = [method.read(before, "row", unseen="error"), method.read(after, "after", unseen="ignore")]
            found = state(method, *tables)
        if found.status[0] is Status.IMPOSSIBLE:
            raise Problem("invalid-request", faults=[Fault("after", str(found.reason[0]))])
        if found.status[0] is not Status.OK:
            raise Problem("conflict", str(found.reason[0]))
        return found

    def row(self, row: Any) -> Any:
        """Return a single row as a table."""
        return self._reader.table(self._reader.cells([row], "row", strict=False), [0])

    def _fault(self, violation: Any) -> Fault:
        texts = {name: text for text, name in self._reader.names.items()}
        column = None if violation.column is None else texts.get(violation.column)
        # The field names the column.
        words = str(violation).removeprefix("Row 0: ").removeprefix(f"{violation.column} ")
        return Fault("after" if column is None else f"after.{column}", words, 0, column)
