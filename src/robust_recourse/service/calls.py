"""What applications call: recourses, verdicts, the schema, notices, promises and people."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request, Response

from robust_recourse.service import openapi
from robust_recourse.service.bodies import Fulfilment, NoticeOf, PromiseOf, RecourseOf, VerdictOf
from robust_recourse.service.lanes import outcome
from robust_recourse.service.parsing import to_bytes
from robust_recourse.service.problems import Problem
from robust_recourse.service.promising import Promises
from robust_recourse.service.requests import JSONRoute, counter_of
from robust_recourse.service.searching import Asked

__all__ = ["router"]

router = APIRouter(prefix="/v1", route_class=JSONRoute)

Number = Annotated[int, Path(ge=1, lt=2**53, description="The number of the promise.")]


@router.post("/recourse", **openapi.told("recourse"))
async def recourse(body: RecourseOf, request: Request) -> Response:
    """Find recourses for one person or for a batch, and return the document that Recourses.to_json writes.

    What a request says about a person only narrows the lender's action set. Whoever has no recourse has a row with a
    status and a reason.
    """
    counter = counter_of(request)
    strict = body.unseen == "error"
    cells = counter.reader.cells(body.rows, strict=strict)
    name, method = counter.narrower(body, body.survival)
    asked = Asked(method, cells, body.alternatives, body.time_limit, strict)
    if len(body.rows) == 1:
        key = (name, body.alternatives, body.time_limit, strict)
        job = counter.singles.submit(asked, key=key)
    else:
        job = counter.tables.submit(asked, size=len(body.rows))
    return Response(await outcome(job, request), media_type="application/json")


@router.post("/verdict", **openapi.told("verdict"))
async def verdict(body: VerdictOf, request: Request) -> Response:
    """Say what the present model, and which share of the jury, thinks of rows as they are."""
    counter = counter_of(request)
    cells = counter.reader.cells(body.rows, strict=False)
    job = counter.verdicts.submit(cells, key="verdict", size=len(body.rows))
    return _json({"verdicts": await outcome(job, request)})


@router.get("/schema", **openapi.told("schema"))
async def schema(request: Request) -> Response:
    """Say what a row consists of, what may change in it and how far, and what this service offers."""
    return _json(counter_of(request).schema)


@router.post("/notice", **openapi.told("notice"))
async def notice(body: NoticeOf, request: Request) -> Response:
    """Return the applicant's page about a recourse, to be printed; the recourse is verified first."""
    counter = counter_of(request)

    def written() -> str:
        found = counter.stated.verified(body)
        names = {
            counter.reader.names[text]: words for text, words in body.names.items() if text in counter.reader.names
        }
        try:
            return found.to_html(audience="applicant", names=names, locale=body.locale, note=body.note)
        except (ValueError, ImportError) as error:
            raise Problem("invalid-request", str(error)) from error

    page = await outcome(counter.statements.submit(written), request)
    return Response(page, media_type="text/html", headers=openapi.notice_headers(page))


@router.post("/promises", status_code=201, **openapi.told("promise"))
async def promise(body: PromiseOf, request: Request) -> Response:
    """Promise a recourse to a person; it is verified again, and never taken from the client's word."""
    counter = counter_of(request)
    job = counter.statements.submit(partial(_promises(counter).make, body))
    new, told = await outcome(job, request)
    headers = {"Location": f"/v1/promises/{told['id']}"}
    return _json({**told, "known": not new}, 201 if new else 200, headers)


@router.get("/promises/{number}", **openapi.told("promise-read"))
async def promise_read(
    number: Number,
    request: Request,
    code: Annotated[str | None, Query(max_length=100, description="The code of a receipt.")] = None,
) -> Response:
    """Return a promise, and whether it still adds up; with a code, whether that is its code."""
    counter = counter_of(request)
    job = counter.statements.submit(partial(_promises(counter).read, number, code))
    return _json(await outcome(job, request))


@router.post("/promises/{number}/fulfil", **openapi.told("promise-fulfil"))
async def promise_fulfil(number: Number, body: Fulfilment, request: Request) -> Response:
    """Redeem a promise: say whether the person did what was promised, or more; only then it is recorded."""
    counter = counter_of(request)
    job = counter.statements.submit(partial(_promises(counter).fulfil, number, body.row))
    return _json(await outcome(job, request))


@router.get("/people", **openapi.told("people"))
async def people(
    request: Request,
    query: Annotated[str, Query(max_length=200, description="The beginning of an id, or what is in a cell.")] = "",
    status: Annotated[Literal["refused", "accepted"] | None, Query(description="What the model says.")] = None,
    offset: Annotated[int, Query(ge=0, le=10**9, description="How many to leave out.")] = 0,
    limit: Annotated[int, Query(ge=1, le=1000, description="How many at most.")] = 50,
) -> Response:
    """Search the table that was loaded, if the lender allows it."""
    counter = counter_of(request)
    if counter.people is None:
        raise Problem("not-found", "No table of people was loaded.")
    if not counter.may_search:
        raise Problem("forbidden", "The lender does not allow to search the table.")
    accepted = None if status is None else status == "accepted"
    job = counter.statements.submit(partial(counter.people.find, query, accepted, offset, limit))
    return _json(await outcome(job, request))


def _promises(counter: Any) -> Promises:
    if counter.promises is None:
        raise Problem("not-found", "This service has no ledger.")
    assert isinstance(counter.promises, Promises)
    return counter.promises


def _json(document: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(to_bytes(document), status, headers, "application/json")
