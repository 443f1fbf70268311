"""Every request passes here: who may, how much, under which name; and what is written about it."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import secrets
import time
import traceback
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any, TypeAlias

from starlette.datastructures import Headers, MutableHeaders

from robust_recourse.service.metrics import Metrics
from robust_recourse.service.problems import Problem, answer_of
from robust_recourse.service.settings import Most, is_loopback
from robust_recourse.service.tokens import Tokens

__all__ = ["LOG", "Gate"]

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

LOG = logging.getLogger("robust_recourse.service")

_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_CLOSED = ("/v1/", "/metrics")
_DRAINED = 16 * 2**20  # bytes that are taken of a body that is too large
_DRAINING = 2.0  # seconds, at most
_SAFE = {"x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "x-frame-options": "DENY"}


class Gate:
    """Lets requests in, or not; an ASGI application around another.

    Parameters
    ----------
    app : ASGI application
        What is behind it.
    tokens : Tokens or None
        Tokens, one of which every request about people needs; None for none: then the request must be meant for this
        machine, so that no page of another site can ask through somebody's browser.
    most : Most
        How large a body may be, and how long it may take to come.
    metrics : Metrics
        Where requests are counted.
    """

    def __init__(self, app: Any, tokens: Tokens | None, most: Most, metrics: Metrics) -> None:
        self._app, self._tokens, self._most, self._metrics = app, tokens, most, metrics

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        name = given if _ID.fullmatch(given) else secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = name
        began, status = time.perf_counter(), 500

        async def named(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                own = MutableHeaders(scope=message)
                own["x-request-id"] = name
                for key, value in _SAFE.items():
                    own.setdefault(key, value)
                if scope["path"].startswith("/v1/"):
                    own.setdefault("cache-control", "no-store")
            await send(message)

        try:
            self._check(scope["path"], headers)
            with self._metrics.open.track_inprogress():
                await self._app(scope, self._limited(receive), named)
        except Problem as problem:
            if problem.kind == "too-large" and "expect" not in headers:  # who expects 100 has not begun to send
                await _drain(receive)
            await answer_of(problem, scope)(scope, receive, named)
        except Exception as error:
            # What it says may be about a person; where it happened is not.
            LOG.error(json.dumps({"request_id": name, "error": type(error).__name__, "at": _places(error)}))
            if status == 500:
                await answer_of(Problem("internal", "The service's log has more."), scope)(scope, receive, named)
        finally:
            self._tell(scope, name, status, time.perf_counter() - began)

    def _check(self, path: str, headers: Headers) -> None:
        if self._tokens is None:
            host = headers.get("host", "")
            if not is_loopback(host.rsplit(":", 1)[0].strip("[]") if not host.endswith("]") else host.strip("[]")):
                raise Problem(
                    "wrong-host", "Without tokens only requests to this machine, by such a name, are answered."
                )
        elif path.startswith(_CLOSED) and not self._tokens.allow(headers.get("authorization")):
            raise Problem(
                "unauthorised",
                "Send the header Authorization: Bearer, with a token of the service.",
                headers={"WWW-Authenticate": "Bearer"},
            )
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:20]) > self._most.body_bytes:
            raise self._too_large()

    def _limited(self, receive: Receive) -> Receive:
        taken, complete = 0, False
        ends = asyncio.get_running_loop().time() + self._most.body_seconds

        async def limited() -> Message:
            nonlocal taken, complete
            if complete:  # what comes now is that the client has gone, whenever it goes
                return await receive()
            try:
                async with asyncio.timeout_at(ends):
                    message = await receive()
            except TimeoutError:
                raise self._too_slow() from None
            if message["type"] == "http.disconnect":
                raise Problem("gone")
            if message["type"] == "http.request":
                complete = not message.get("more_body", False)
                taken += len(message.get("body", b""))
                if taken > self._most.body_bytes:
                    if not complete:
                        await _drain(receive)
                    raise self._too_large()
            return message

        return limited

    def _too_large(self) -> Problem:
        return Problem(
            "too-large", f"A body may have {self._most.body_bytes:,} bytes.", headers={"Connection": "close"}
        )

    def _too_slow(self) -> Problem:
        return Problem(
            "too-slow",
            f"The body did not come within {self._most.body_seconds:g} seconds. Send fewer rows at a time.",
            headers={"Connection": "close"},
        )

    def _tell(self, scope: Message, name: str, status: int, seconds: float) -> None:
        # The path of an address that there is not may be anything, so that it is not written down.
        route = getattr(scope.get("route"), "path", "none")
        method = (
            scope["method"]
            if scope["method"] in ("GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH")
            else "other"
        )
        self._metrics.requests.labels(route, method, str(status)).inc()
        self._metrics.seconds.labels(route).observe(seconds)
        told = {"request_id": name, "method": method, "route": route, "status": status, "ms": round(1000 * seconds, 1)}
        LOG.info(json.dumps(told))


async def _drain(receive: Receive) -> None:
    """Take what a client still sends: many read no answer before they have sent everything."""
    taken = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(_DRAINING):
            while taken < _DRAINED:
                message = await receive()
                if not message.get("more_body", False):
                    return
                taken += len(message["body"])


def _places(error: BaseException) -> list[str]:
    """Return where an error happened, without what it says."""
    frames = traceback.extract_tb(error.__traceback__)[-8:]
    return [f"{frame.filename}:{frame.lineno}" for frame in frames]
