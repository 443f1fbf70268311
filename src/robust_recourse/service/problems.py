"""What is wrong with a request, as problem details (RFC 9457)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from robust_recourse.service.parsing import to_bytes

__all__ = ["KINDS", "Fault", "Problem", "answer_of"]

KINDS = {
    "bad-json": (400, "The body is no JSON that can be read"),
    "unauthorised": (401, "A token is needed"),
    "forbidden": (403, "This is not allowed"),
    "not-found": (404, "There is no such thing"),
    "wrong-method": (405, "This address has no such method"),
    "too-slow": (408, "The request came too slowly"),
    "conflict": (409, "It cannot be promised or redeemed as things are"),
    "too-large": (413, "The request is too large"),
    "unsupported-media-type": (415, "The body must be JSON"),
    "wrong-host": (421, "The request was meant for another host"),
    "invalid-request": (422, "The request cannot be used"),
    "widens": (422, "The request asks for more than the lender allows"),
    "gone": (499, "The client went away"),
    "internal": (500, "Something went wrong"),
    "busy": (503, "There is too much to do"),
    "unavailable": (503, "The service is not ready"),
}
"""Kinds of problems: their status, and what they are called."""


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong.

    Attributes
    ----------
    field : str
        Where, as ``rows[0].income``; empty if it is the whole body.
    detail : str
        What, in words.
    row, column
        The row and the column that it is about, if it is about some.
    """

    field: str
    detail: str
    row: int | None = None
    column: str | None = None

    def told(self) -> dict[str, Any]:
        """Return it as data for JSON."""
        return {"field": self.field, "row": self.row, "column": self.column, "detail": self.detail}


class Problem(HTTPException):
    """A request that is not answered with what it asks for.

    Parameters
    ----------
    kind : str
        One of :data:`KINDS`.
    detail : str
        What is wrong, and what to do; made of the faults if empty.
    faults : sequence of Fault
        What is wrong, one by one.
    headers : mapping
        Further headers of the answer.
    """

    def __init__(
        self, kind: str, detail: str = "", faults: Sequence[Fault] = (), headers: Mapping[str, str] | None = None
    ) -> None:
        self.kind, self.faults, (status, self.title) = kind, list(faults), KINDS[kind]
        words = " ".join(f"{fault.field} {fault.detail}".strip() for fault in self.faults[:3])
        super().__init__(status, detail or words, dict(headers or {}))


def answer_of(problem: Problem, request: Request | Mapping[str, Any]) -> Response:
    """Return a problem as an answer."""
    scope = request.scope if isinstance(request, Request) else request
    document = {
        "type": f"/docs#problem-{problem.kind}",
        "title": problem.title,
        "status": problem.status_code,
        "detail": problem.detail,
        "request_id": scope.get("state", {}).get("request_id", ""),
        "errors": [fault.told() for fault in problem.faults],
    }
    return Response(to_bytes(document), problem.status_code, problem.headers, "application/problem+json")
