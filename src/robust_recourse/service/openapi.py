"""The description of the service (OpenAPI 3.1), with the columns of its method and examples that work."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from robust_recourse.result.document import json_schema
from robust_recourse.service.describing import any_row_schema
from robust_recourse.service.problems import KINDS

__all__ = ["DESCRIPTION", "described", "notice_headers", "told"]

DESCRIPTION = (
    "Recourse that survives the next model, for one applicant or a batch. What a request says about a person only "
    "narrows what the lender allows; everything that is promised is verified again."
)

_WHAT = {
    "recourse": ("Find recourses", "The document that Recourses.to_json writes.", "Recourses"),
    "verdict": ("Ask what the models say", "A verdict on every row.", "Verdicts"),
    "schema": ("Describe rows and actions", "Columns, JSON Schemas, and what is offered.", "Description"),
    "notice": ("Print a notice", "The applicant's page.", None),
    "promise": ("Promise a recourse", "The promise, which is new.", "Promise"),
    "promise-read": ("Read a promise", "The promise.", "Promise"),
    "promise-fulfil": ("Redeem a promise", "Whether it is fulfilled.", "Redeemed"),
    "people": ("Search the loaded table", "Some of the people.", "People"),
    "healthz": ("Is it alive?", "It is.", "Health"),
    "readyz": ("Is it ready?", "It is.", "Health"),
    "metrics": ("Metrics", "Text for Prometheus.", None),
}
_TYPES = {"notice": "text/html", "metrics": "text/plain"}
_PROBLEMS = {
    "recourse": (400, 408, 413, 415, 422, 503),
    "verdict": (400, 408, 413, 415, 422, 503),
    "schema": (422, 503),
    "notice": (400, 408, 409, 413, 415, 422, 503),
    "promise": (400, 404, 408, 409, 413, 415, 422, 503),
    "promise-read": (404, 422, 503),
    "promise-fulfil": (400, 404, 408, 409, 413, 415, 422, 503),
    "people": (403, 404, 422, 503),
    "healthz": (422,),
    "readyz": (422,),
    "metrics": (422,),
}
_CELL = {"type": ["string", "number", "boolean", "null"]}
_CELLS = {"type": "object", "additionalProperties": _CELL}
_SHARE = {"type": ["number", "null"], "minimum": 0, "maximum": 1}


def _object(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {**required, **optional}, "required": list(required)}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


_TEXT, _YES, _COUNT = {"type": "string"}, {"type": "boolean"}, {"type": "integer", "minimum": 0}
_CHANGE = _object({"column": _TEXT, "from": _CELL, "to": _CELL, "cost": {"type": ["number", "null"]}})
_REDEEMED = _object(
    {"column": {"type": ["string", "integer"]}, "before": _CELL, "promised": _CELL, "now": _CELL, "outcome": _TEXT}
)

_SCHEMAS: dict[str, Any] = {
    "Problem": _object(
        {
            "type": _TEXT,
            "title": _TEXT,
            "status": {"type": "integer"},
            "detail": _TEXT,
            "request_id": _TEXT,
            "errors": _list(
                _object(
                    {
                        "field": _TEXT,
                        "row": {"type": ["integer", "null"]},
                        "column": {"type": ["string", "null"]},
                        "detail": _TEXT,
                    }
                )
            ),
        }
    ),
    "Verdicts": _object({"verdicts": _list(_object({"accepted": _YES, "jury_share": _SHARE}))}),
    "Description": _object(
        {"name": _TEXT, "row": {"type": "object"}, "columns": _list({"type": "object"}), "ledger": _YES}
    ),
    "Promise": _object(
        {
            "id": {"type": "integer", "minimum": 1},
            "person": _TEXT,
            "status": {"enum": ["open", "fulfilled", "withdrawn", "expired", "renewed"]},
            "made": _TEXT,
            "until": {"type": "string", "format": "date"},
            "model": _TEXT,
            "note": _TEXT,
            "before": _CELLS,
            "promised": _CELLS,
            "changes": _list(_CHANGE),
            "cost": {"type": ["number", "null"]},
            "jury_share": _SHARE,
            "survival_bound": _SHARE,
            "notice": _TEXT,
            "code": _TEXT,
            "hash": _TEXT,
            "verified": _YES,
            "events": _list({"type": "object"}),
        },
        known=_YES,
    ),
    "Redeemed": _object(
        {
            "fulfilled": _YES,
            "exactly": _YES,
            "columns": _list(_REDEEMED),
            "moved": _list(_TEXT),
            "promise": {"$ref": "#/components/schemas/Promise"},
        }
    ),
    "People": _object(
        {"total": _COUNT, "offset": _COUNT, "people": _list(_object({"id": _TEXT, "accepted": _YES, "row": _CELLS}))}
    ),
    "Health": _object({"status": {"enum": ["ok", "ready", "loading", "failed"]}}),
}


def told(name: str) -> dict[str, Any]:
    """Return what the description says about a call, as arguments for FastAPI."""
    summary, answer, schema = _WHAT[name]
    kind = _TYPES.get(name, "application/json")
    content = {kind: {"schema": _TEXT if schema is None else {"$ref": f"#/components/schemas/{schema}"}}}
    responses: dict[int | str, dict[str, Any]] = {
        201 if name == "promise" else 200: {"description": answer, "content": content}
    }
    if name == "promise":
        responses[200] = {"description": "The very same promise, which was made before.", "content": content}
    if name in ("healthz", "readyz"):
        responses[503] = {"description": "It is not.", "content": content}
    for status in (*_PROBLEMS[name], *((401,) if name not in ("healthz", "readyz") else ()), 421):
        if status not in responses:
            responses[status] = _problem(status)
    return {"summary": summary, "operation_id": name, "responses": responses}


def described(app: FastAPI) -> dict[str, Any]:
    """Return the description of a service; once its method is loaded, with the columns and with examples."""
    counter = app.state.counter if hasattr(app.state, "counter") else None
    known: dict[str, Any] | None = getattr(app.state, "described", None)
    if known is not None:
        return known
    made = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
    found: dict[str, Any] = _with_rows(made)
    schemas = found.setdefault("components", {}).setdefault("schemas", {})
    schemas |= {**_SCHEMAS, "Recourses": _component("Recourses", json_schema())}
    schemas["Row"] = schemas["AnyRow"] = {"type": "object", "additionalProperties": _CELL}
    schemas.pop("HTTPValidationError", None)
    schemas.pop("ValidationError", None)
    if app.state.settings.tokens is not None:
        found["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        for path, calls in found["paths"].items():
            for call in calls.values():
                call["security"] = [{"token": []}] if path.startswith(("/v1/", "/metrics")) else []
    if counter is None:
        return found
    schemas["Row"] = {key: value for key, value in counter.schema["row"].items() if key != "$schema"}
    schemas["AnyRow"] = any_row_schema(counter.reader)
    fields = schemas["RecourseOf"]["properties"]
    for name, told in counter.schema["limits"]["properties"].items():
        fields[name] = {"description": fields[name]["description"], **told}
    for name, example in counter.examples.items():
        _put(found, name, example)
    app.state.described = found
    return found


def notice_headers(page: str) -> dict[str, str]:
    """Return the headers of a notice: of its styles only those that it has are allowed, and nothing else is."""
    hashes = [
        f"'sha256-{base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()}'"
        for style in re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    ]
    styles = " ".join(hashes) or "'none'"
    policy = f"default-src 'none'; style-src {styles}; img-src data:; base-uri 'none'; form-action 'none'"
    return {"Content-Security-Policy": policy}


def _problem(status: int) -> dict[str, Any]:
    names = " ".join(f"{title}." for code, title in KINDS.values() if code == status)
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    found: dict[str, Any] = {"description": names, "content": content}
    if status == 503:
        found["headers"] = {"Retry-After": {"schema": {"type": "string"}, "description": "Seconds to wait."}}
    return found


def _component(name: str, schema: Any) -> Any:
    """Return a JSON Schema as a component: what it refers to within itself lies there."""
    if isinstance(schema, list):
        return [_component(name, part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: _component(name, value) for key, value in schema.items() if key not in ("$id", "$schema")}
    if isinstance(kept.get("$ref"), str):
        kept["$ref"] = kept["$ref"].replace("#/$defs/", f"#/components/schemas/{name}/$defs/")
    return kept


def _with_rows(schema: Any) -> Any:
    """Return a description in which all rows are the component that the method defines."""
    if isinstance(schema, list):
        return [_with_rows(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "x-row" in schema:
        told = {"description": schema["description"]} if "description" in schema else {}
        return {"$ref": f"#/components/schemas/{schema['x-row']}", **told}
    return {key: _with_rows(value) for key, value in schema.items()}


def _put(found: dict[str, Any], name: str, example: Any) -> None:
    for calls in found["paths"].values():
        for call in calls.values():
            if call.get("operationId") == name and "requestBody" in call:
                call["requestBody"]["content"]["application/json"]["example"] = example
