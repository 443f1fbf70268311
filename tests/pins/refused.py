"""Requests that the service cannot use, for the pin of what it says to them."""

from __future__ import annotations

from typing import Any

TOKEN = "correct-horse-battery-staple"
JSON = {"content-type": "application/json"}
RECOURSE, VERDICT, NOTICE, PROMISES = "/v1/recourse", "/v1/verdict", "/v1/notice", "/v1/promises"


def everything(row: dict[str, Any], after: dict[str, Any]) -> dict[str, tuple[str, str, dict[str, Any]]]:
    """Return requests that cannot be used, by what is wrong with them."""

    def post(path: str, **body: Any) -> tuple[str, str, dict[str, Any]]:
        return "POST", path, {"json": body}

    def raw(body: bytes, path: str = VERDICT, headers: dict[str, str] = JSON) -> tuple[str, str, dict[str, Any]]:
        return "POST", path, {"content": body, "headers": headers}

    def get(path: str, **params: Any) -> tuple[str, str, dict[str, Any]]:
        return "GET", path, {"params": params} if params else {}

    def but(**cells: Any) -> dict[str, Any]:
        return {**row, **cells}

    lacking = {name: cell for name, cell in row.items() if name != "debt"}
    chosen = {"row": row, "after": after}
    promise = {"person": "a", **chosen}
    cells = {
        "income": ["much", True, None, 1e200, 1200.5, 2**63, [1]],
        "debt": ["much", {"a": 1}, False, None],
        "school": ["Hogwarts", 1, None, "x" * 10_001],
        "town": ["Atlantis", 7],
        "owner": ["yes", 1, None],
        "since": ["yesterday", 17, "99999-01-01"],
        "age": ["old", -0.5],
    }
    wishes = {
        "fixed": ["age", [1], ["wealth"]],
        "ranges": [
            [],
            {"income": 1},
            {"income": [1]},
            {"income": [3000, 100]},
            {"income": [0, 90_000]},
            {"town": [1, 2]},
            {"wealth": [0, 1]},
            {"age": [0, 100]},
            {"income": ["low", None]},
        ],
        "categories": [{"town": []}, {"town": ["Atlantis"]}, {"income": [1]}, {"wealth": ["a"]}, {"town": "Bonn"}],
        "difficulty": [{"income": 0}, {"income": 101}, {"income": "hard"}, {"wealth": 2}],
        "max_changes": [0, 4, 1.5, "two"],
        "alternatives": [0, 11, "three", True],
        "time_limit": [0, 31, "long"],
        "survival": [0, 1, 0.5, "safe"],
        "unseen": ["take", None],
        "wealth": [1],
    }
    promised = {
        "person": ["", " ", "x" * 201, 7, "a\0b"],
        "until": ["tomorrow", "2027-02-30", "2001-01-01", "2999-01-01", 20270101],
        "note": ["x" * 2001, 1, "a\0b"],
        "replace": ["yes"],
        "code": ["abc"],
    }
    return {
        **{
            f"{m} {path}": (m, path, {})
            for m, path in (("PUT", RECOURSE), ("GET", VERDICT), ("DELETE", f"{PROMISES}/1"))
        },
        **{f"HEAD {path}": ("HEAD", path, {}) for path in ("/", "/v1/schema")},
        "an unknown address": get("/v1/nothing"),
        "an unknown file": get("/page.py"),
        "a way out of the folder": get("/..%2f..%2fetc/passwd"),
        "a request for another host": ("GET", "/v1/schema", {"headers": {"host": "lender.example"}}),
        "a body as text": raw(b"{}", headers={"content-type": "text/plain"}),
        "a body as a form": raw(b"rows=1", headers={"content-type": "application/x-www-form-urlencoded"}),
        "a body of no type": raw(b"{}", headers={}),
        "an empty body": raw(b""),
        "half a body": raw(b'{"rows": ['),
        "NaN": raw(b'{"rows": [NaN]}'),
        "a name twice": raw(b'{"rows": [], "rows": []}'),
        "no UTF-8": raw(b'{"rows": ["\xff"]}'),
        "half a character": raw(b'{"rows": ["\\ud800"]}'),
        "too many digits": raw(b'{"rows": [' + b"9" * 5000 + b"]}"),
        "deep nesting": raw(b"[" * 20_000),
        "a list": raw(b"[]"),
        "null": raw(b"null"),
        "an empty object": raw(b"{}"),
        "a large body": raw(b" " * 50_001),
        "a large body in parts": ("POST", VERDICT, {"content": iter([b" " * 30_000] * 2), "headers": JSON}),
        "no rows": post(VERDICT, rows=[]),
        "rows that are an object": post(VERDICT, rows={}),
        "a row that is a list": post(VERDICT, rows=[row, []]),
        "a row that is null": post(RECOURSE, rows=[None]),
        "too many rows": post(RECOURSE, rows=[{}] * 1001),
        "a column that is lacking": post(VERDICT, rows=[row, lacking]),
        "a column that is unknown": post(RECOURSE, rows=[but(wealth=1)]),
        "several faults": post(RECOURSE, rows=[but(income="much"), {**lacking, "wealth": 1}]),
        **{
            f"{column} {str(cell)[:12]!r}": post(RECOURSE, rows=[row, but(**{column: cell})])
            for column, wrong in cells.items()
            for cell in wrong
        },
        **{
            f"{wish} {str(value)[:24]!r}": post(RECOURSE, rows=[row], **{wish: value})
            for wish, values in wishes.items()
            for value in values
        },
        "a notice without a row": post(NOTICE, after=after),
        "a notice of nothing": post(NOTICE, row=row, after=row),
        "a notice of another age": post(NOTICE, row=row, after={**after, "age": row["age"] + 1}),
        "a notice beyond the bounds": post(NOTICE, row=row, after={**after, "income": 90_000}),
        "a notice in no language": post(NOTICE, **chosen, locale="German!"),
        "a notice in an unknown language": post(NOTICE, **chosen, locale="xx_YY"),
        "a notice with a name that is a number": post(NOTICE, **chosen, names={"income": 1}),
        "a promise to nobody": post(PROMISES, **chosen),
        "a promise of nothing": post(PROMISES, person="a", row=row, after=row),
        "a promise of another age": post(PROMISES, person="a", row=row, after={**after, "age": row["age"] + 1}),
        "a promise of half a row": post(PROMISES, person="a", row=row, after={"income": 3000}),
        **{
            f"a promise with {field} {str(value)[:12]!r}": post(PROMISES, **{**promise, field: value})
            for field, values in promised.items()
            for value in values
        },
        **{f"promise {number}": get(f"{PROMISES}/{number}") for number in ("99999", "0", "-1", "one", str(2**70))},
        "a code of a hundred signs and one": get(f"{PROMISES}/1", code="x" * 101),
        "to redeem what was not promised": post(f"{PROMISES}/99999/fulfil", row=row),
        "to redeem without a row": post(f"{PROMISES}/1/fulfil"),
        "to redeem with a wrong row": post(f"{PROMISES}/1/fulfil", row=but(income="much")),
        "a search that is not allowed": get("/v1/people"),
        **{
            f"people with {name} {value}": get("/v1/people", **{name: value})
            for name, value in (("limit", 0), ("limit", 1001), ("limit", "all"), ("offset", -1), ("status", "rich"))
        },
    }


def closed(row: dict[str, Any], after: dict[str, Any]) -> dict[str, tuple[str, str, dict[str, Any]]]:
    """Return requests to a service with tokens, but without a ledger and people."""
    known = {"authorization": f"Bearer {TOKEN}"}
    wrong = {"no": None, "an empty": "", "a wrong": f"Bearer {TOKEN}x", "a basic": f"Basic {TOKEN}", "a bare": TOKEN}
    return {
        **{
            f"{what} token": ("GET", "/v1/schema", {"headers": {} if value is None else {"authorization": value}})
            for what, value in wrong.items()
        },
        "no token for metrics": ("GET", "/metrics", {}),
        "no token for an address that there is not": ("GET", "/v1/nothing", {}),
        "a promise without a ledger": (
            "POST",
            PROMISES,
            {"json": {"person": "a", "row": row, "after": after}, "headers": known},
        ),
        "to read a promise without a ledger": ("GET", f"{PROMISES}/1", {"headers": known}),
        "people without a table": ("GET", "/v1/people", {"headers": known}),
    }
