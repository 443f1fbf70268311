"""The description of the service as a page: no script, and nothing from outside."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from robust_recourse.notices.rendering import render
from robust_recourse.notices.values import printable
from robust_recourse.service.problems import KINDS

__all__ = ["docs_page", "docs_style"]


def docs_page(description: dict[str, Any]) -> str:
    """Return the page of an OpenAPI description."""
    calls = [
        _call(method, path, call, description)
        for path, known in description["paths"].items()
        for method, call in known.items()
    ]
    problems = [(kind, status, title) for kind, (status, title) in KINDS.items()]
    return render(
        "service.html",
        title=description["info"]["title"],
        lead=description["info"]["description"],
        calls=calls,
        problems=problems,
    )


def docs_style() -> str:
    """Return its style sheet."""
    return files("robust_recourse.notices").joinpath("templates", "service.css").read_text("utf-8")


def _shown(example: Any) -> str:
    """Return JSON for people to read; signs that are not printed, or turn lines around, are escaped."""
    lines = json.dumps(example, indent=2, ensure_ascii=False).split("\n")
    return "\n".join(map(printable, lines))


def _call(method: str, path: str, call: dict[str, Any], description: dict[str, Any]) -> dict[str, Any]:
    body = call.get("requestBody", {}).get("content", {}).get("application/json", {})
    schema = body.get("schema", {})
    if "$ref" in schema:
        schema = description["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    required = schema.get("required", [])
    return {
        "name": call["operationId"],
        "method": method.upper(),
        "path": path,
        "summary": call["summary"],
        "text": call.get("description", ""),
        "parameters": [(p["name"], p["in"], p.get("description", "")) for p in call.get("parameters", [])],
        "fields": [
            (name, "needed" if name in required else "", field.get("description", ""))
            for name, field in schema.get("properties", {}).items()
        ],
        "example": _shown(body["example"]) if "example" in body else "",
        "answers": [(status, answer["description"]) for status, answer in sorted(call["responses"].items())],
    }
