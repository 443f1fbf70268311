"""What browsers and machines fetch: the page, its files, the description, and how the service is."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from robust_recourse.notices import explorer
from robust_recourse.service import openapi
from robust_recourse.service.docs import docs_page, docs_style
from robust_recourse.service.parsing import to_bytes
from robust_recourse.service.problems import Problem
from robust_recourse.service.requests import JSONRoute

__all__ = ["router"]

router = APIRouter(route_class=JSONRoute)

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_PAGE = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


@router.get("/", include_in_schema=False)
async def page() -> Response:
    """Return the page."""
    return Response(explorer.page(), media_type="text/html", headers=_PAGE)


@router.get("/openapi.json", include_in_schema=False)
async def description(request: Request) -> Response:
    """Return the description of the service for machines."""
    return Response(
        to_bytes(request.app.openapi()), media_type="application/json", headers={"Cache-Control": "no-cache"}
    )


@router.get("/docs.css", include_in_schema=False)
async def style() -> Response:
    """Return the style of the description."""
    return Response(docs_style(), media_type="text/css", headers=_PAGE)


@router.get("/docs", include_in_schema=False)
async def docs(request: Request) -> Response:
    """Return the description of the service for people to read."""
    return Response(docs_page(request.app.openapi()), media_type="text/html", headers=_PAGE)


@router.get("/healthz", **openapi.told("healthz"))
async def healthz(request: Request) -> Response:
    """Say whether the process lives."""
    failed = request.app.state.failed
    return Response(
        to_bytes({"status": "failed" if failed else "ok"}), 503 if failed else 200, media_type="application/json"
    )


@router.get("/readyz", **openapi.told("readyz"))
async def readyz(request: Request) -> Response:
    """Say whether model and tables are loaded."""
    state = request.app.state
    ready = state.counter is not None
    status = "ready" if ready else "failed" if state.failed else "loading"
    return Response(to_bytes({"status": status}), 200 if ready else 503, media_type="application/json")


@router.get("/metrics", **openapi.told("metrics"))
async def metrics(request: Request) -> Response:
    """Return what was counted, as text for Prometheus."""
    return Response(request.app.state.metrics.told(), media_type="text/plain; version=0.0.4; charset=utf-8")


@router.get("/{name}", include_in_schema=False)
async def asset(name: str) -> Response:
    """Return one of the files of the page."""
    if name not in explorer.FILES:
        raise Problem("not-found", "There is nothing at this address.")
    return Response(explorer.asset(name), media_type=explorer.FILES[name], headers=_PAGE)
