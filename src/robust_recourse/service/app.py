"""The application: addresses, and what answers them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import Response

from robust_recourse import __version__
from robust_recourse.service import calls, openapi, pages
from robust_recourse.service.counter import Counter
from robust_recourse.service.gate import LOG, Gate
from robust_recourse.service.metrics import Metrics
from robust_recourse.service.problems import Fault, Problem, answer_of
from robust_recourse.service.requests import JSONRoute
from robust_recourse.service.settings import Settings
from robust_recourse.service.tokens import Tokens

__all__ = ["make_app"]

_STATUSES = {404: "not-found", 405: "wrong-method"}
_MOST_FAULTS = 20


def make_app(settings: Settings, opened: Callable[[Settings, Metrics], Counter] = Counter.open) -> FastAPI:
    """Return the service as an ASGI application.

    Nothing is loaded before it starts; while it loads, ``/readyz`` and all requests about people answer with 503. A
    worker of :func:`serve` takes no requests before it has loaded.

    Parameters
    ----------
    settings : Settings
        What to serve.
    opened : callable
        Loads it.
    """
    metrics = Metrics(settings.metrics)
    tokens = None if settings.tokens is None else Tokens.read(settings.tokens)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.counter, app.state.failed = None, False
        loading = asyncio.create_task(_load(app, settings, metrics, opened))
        if settings.metrics is not None:
            await loading  # other workers answer meanwhile, or the one that it replaces: nobody is sent to this one yet
            if app.state.failed:
                raise RuntimeError("This worker could not load what it is to serve.")
        yield
        loading.cancel()
        if app.state.counter is not None:
            app.state.counter.close()

    app = FastAPI(
        title="robust-recourse",
        version=__version__,
        description=openapi.DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        middleware=[Middleware(Gate, tokens=tokens, most=settings.most, metrics=metrics)],
        exception_handlers={
            HTTPException: _refused,
            RequestValidationError: _invalid,
        },
    )
    app.router.route_class = JSONRoute
    app.state.settings, app.state.metrics = settings, metrics
    app.include_router(calls.router)
    app.include_router(pages.router)
    app.openapi = lambda: openapi.described(app)  # type: ignore[method-assign]
    return app


async def _load(
    app: FastAPI, settings: Settings, metrics: Metrics, opened: Callable[[Settings, Metrics], Counter]
) -> None:
    try:
        app.state.counter = await asyncio.to_thread(opened, settings, metrics)
        LOG.info("ready")
    except Exception as error:
        app.state.failed = True
        # It is about files of the lender, and about nobody.
        LOG.log(logging.ERROR, "cannot serve %s: %s", settings.method, error)


async def _refused(request: Request, error: Any) -> Response:
    if isinstance(error, Problem):
        return answer_of(error, request)
    kind = _STATUSES.get(error.status_code, "bad-json" if error.status_code == 400 else "invalid-request")
    words = {"not-found": "There is nothing at this address.", "wrong-method": "Use another method, see /docs."}
    return answer_of(Problem(kind, words.get(kind, ""), headers=error.headers), request)


async def _invalid(request: Request, error: Any) -> Response:
    faults = []
    for found in error.errors()[:_MOST_FAULTS]:
        place = [part for part in found["loc"] if part not in ("body", "query", "path")]
        field = "".join(f"[{part}]" if isinstance(part, int) else f".{str(part)[:60]}" for part in place).lstrip(".")
        row = next((part for part in place if isinstance(part, int)), None) if field.startswith("rows[") else None
        faults.append(Fault(field, _words(found), row))
    return answer_of(Problem("invalid-request", faults=faults), request)


def _words(found: dict[str, Any]) -> str:
    words = {
        "extra_forbidden": "is no field of this request.",
        "missing": "is lacking.",
        "model_attributes_type": "The body must be an object.",
    }
    if found["type"] in words:
        return words[found["type"]]
    message = str(found["msg"]).replace(" after validation", "")
    if found["type"] == "value_error":
        return f"{message.removeprefix('Value error, ')}."
    for beginning in ("Input should", "List should", "String should", "Dictionary should"):
        if message.startswith(beginning):
            return f"should{message.removeprefix(beginning)}."
    return f"is wrong: {message}."
