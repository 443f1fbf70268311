"""Requests with a body of JSON, read strictly."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from robust_recourse.service.counter import Counter
from robust_recourse.service.parsing import NoJSONError, parse
from robust_recourse.service.problems import Problem

__all__ = ["JSONRoute", "counter_of"]


class _Strict(Request):
    async def json(self) -> Any:
        try:
            return parse(await self.body())
        except NoJSONError as error:
            raise Problem("bad-json", str(error)) from None


class JSONRoute(APIRoute):
    """A route whose body is JSON as the standard has it, and says so in its header."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request."""
        handler, has_body = super().get_route_handler(), self.body_field is not None

        async def strictly(request: Request) -> Response:
            if has_body:
                kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
                if kind != "application/json":
                    raise Problem("unsupported-media-type", "Send the header Content-Type: application/json.")
                request = _Strict(request.scope, request.receive)
                if not await request.body():
                    raise Problem("bad-json", "The body is empty.")
            return await handler(request)

        return strictly


def counter_of(request: Request) -> Counter:
    """Return what stands behind the counter.

    Raises
    ------
    Problem
        If it is not loaded yet.
    """
    found = request.app.state.counter
    if found is None:
        raise Problem("unavailable", "The model is being loaded. Try again.", headers={"Retry-After": "2"})
    assert isinstance(found, Counter)
    return found
