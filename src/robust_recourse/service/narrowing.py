"""The method for one person: the lender's, with less."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from typing import Any

from robust_recourse.actions import ActionSet, NarrowingError, narrow
from robust_recourse.methods.base import RecourseMethod
from robust_recourse.service.bodies import Limits
from robust_recourse.service.problems import Fault, Problem
from robust_recourse.service.rows import RowReader

__all__ = ["Narrower"]

_KEPT = 128  # narrowed methods that are remembered


class Narrower:
    """Narrows a method to what people ask for, and remembers the last ones.

    Parameters
    ----------
    method : RecourseMethod
        The lender's.
    reader : RowReader
        What reads its rows.
    """

    def __init__(self, method: RecourseMethod, reader: RowReader) -> None:
        self._method, self._reader = method, reader
        self._known: OrderedDict[str, RecourseMethod] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, limits: Limits, survival: float | None = None) -> tuple[str, RecourseMethod]:
        """Return a name for the limits, and the method that obeys them.

        Raises
        ------
        Problem
            If more would be allowed than the lender does; it names the field.
        """
        asked = limits.model_dump(include=set(Limits.model_fields), exclude_defaults=True)
        if not asked and survival is None:
            return "", self._method
        name = json.dumps([asked, survival], sort_keys=True)
        with self._lock:
            if name in self._known:
                self._known.move_to_end(name)
                return name, self._known[name]
        method = self._made(asked, survival)
        with self._lock:
            self._known[name] = method
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return name, method

    def _made(self, asked: Mapping[str, Any], survival: float | None) -> RecourseMethod:
        method = self._method
        if asked:
            method = method.narrowed(self._narrowed(asked))
        if survival is not None:
            method = self._promising(method, survival)
        return method

    def _narrowed(self, asked: Mapping[str, Any]) -> ActionSet:
        schema, named = self._method.schema_, dict(asked)
        for word in ("ranges", "categories", "difficulty"):
            if word in named:
                named[word] = {self._column(word, text): value for text, value in named[word].items()}
        if "fixed" in named:
            named["fixed"] = [self._column("fixed", text) for text in named["fixed"]]
        if "categories" in asked:
            named["categories"] = {
                self._reader.names[text]: [self._reader.category(text, value) for value in values]
                for text, values in asked["categories"].items()
            }
        try:
            less = narrow(self._method.actions or ActionSet(), schema, **named)
            less.resolve(schema)
        except NarrowingError as error:
            text = {name: text for text, name in self._reader.names.items()}.get(error.column)
            field = error.word if text is None or error.word == "fixed" else f"{error.word}.{text}"
            kind = "widens" if error.widens else "invalid-request"
            raise Problem(kind, faults=[Fault(field, error.text, column=text)]) from None
        except (TypeError, ValueError) as error:
            raise Problem("invalid-request", str(error)) from None
        return less

    def _column(self, word: str, text: str) -> Hashable:
        if text not in self._reader.names:
            shown = text[:60]
            field = word if word == "fixed" else f"{word}.{shown}"
            raise Problem(
                "invalid-request", faults=[Fault(field, f"names {shown!r}, which is no column.", column=shown)]
            )
        return self._reader.names[text]

    def _promising(self, method: RecourseMethod, survival: float) -> RecourseMethod:
        jury = method.jury
        if jury is not None and jury.survival is not None and survival < jury.survival:
            text = f"must be at least {jury.survival:g}, which is what the lender promises."
            raise Problem("widens", faults=[Fault("survival", text)])
        if jury is None or jury.check is None or method.counts_votes:
            text = "cannot be promised: the method was saved without a jury that has a check."
            raise Problem("invalid-request", faults=[Fault("survival", text)])
        try:
            return method.promising(survival)
        except ValueError as error:
            raise Problem("invalid-request", faults=[Fault("survival", f"cannot be promised: {error}")]) from None
