"""JSON, strictly: in as the standard has it, out in ASCII."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["NoJSONError", "parse", "to_bytes"]


class NoJSONError(ValueError):
    """A body is no JSON that can be read; the message says why, without quoting it."""


def parse(body: bytes) -> Any:
    """Read a JSON text: no NaN, no name twice in an object, no halves of characters.

    >>> parse(b'{"rows": [{"age": 41}]}')
    {'rows': [{'age': 41}]}
    >>> parse(b'[NaN]')
    Traceback (most recent call last):
    robust_recourse.service.parsing.NoJSONError: NaN is no number of JSON. Write null for a missing value.
    """
    try:
        text = body.decode("utf-8")
        found = json.loads(text, parse_constant=_refuse, object_pairs_hook=_once)
        if "\\u" in text or "\\U" in text:
            json.dumps(found, ensure_ascii=False).encode()
    except NoJSONError:
        raise
    except json.JSONDecodeError as error:
        raise NoJSONError(f"{error.msg} (line {error.lineno}, column {error.colno}).") from None
    except UnicodeError:
        raise NoJSONError("It is not UTF-8, or has halves of characters.") from None
    except RecursionError:
        raise NoJSONError("It is nested too deeply.") from None
    except ValueError:
        raise NoJSONError("A number has too many digits.") from None
    return found


def to_bytes(document: Any) -> bytes:
    """Write JSON in ASCII, which nothing can break out of; ``<`` is escaped for those who put it into a page."""
    return json.dumps(document, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c").encode()


def _refuse(word: str) -> Any:
    raise NoJSONError(f"{word} is no number of JSON. Write null for a missing value.")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise NoJSONError("An object has the same name twice.")
    return found
