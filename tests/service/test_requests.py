"""Requests that cannot be used: 4xx with a reason, and never 500."""

from __future__ import annotations

import json
import math

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from robust_recourse import NearestAccepted
from robust_recourse.service.parsing import NoJSONError, parse

JSON = {"content-type": "application/json"}
POSTS = ["/v1/recourse", "/v1/verdict", "/v1/notice", "/v1/promises", "/v1/promises/1/fulfil"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b'{"rows": [NaN]}', 400),
        (b'{"rows": [Infinity]}', 400),
        (b'{"rows": [], "rows": []}', 400),
        (b'{"rows": ["\\ud800"]}', 400),
        (b'{"rows": ["\xff"]}', 400),
        (b"[" * 100_000, 400),
        (b'{"rows": ' + b"[" * 900 + b"]" * 900 + b"}", 422),
        (b'{"rows": [' + b"9" * 5000 + b"]}", 400),
        (b"[]", 422),
        (b"null", 422),
        (b"1", 422),
        (b"{}", 422),
        (b'{"rows": []}', 422),
        (b'{"rows": {}}', 422),
        (b'{"rows": [[]]}', 422),
        (b'{"rows": [{}]}', 422),
        (b'{"rows": [null]}', 422),
        (b'{"rows": [' + b"{}," * 1000 + b"{}]}", 422),
        (b'{"rows": [{}], "wealth": 1}', 422),
        (b" " * (4 * 2**20 + 1), 413),
    ],
)
@pytest.mark.parametrize("path", POSTS[:2])
def test_bodies_that_cannot_be_used_are_told_why(client, path, body, status):
    answer = client.post(path, content=body, headers=JSON)
    assert answer.status_code == status, answer.text[:300]
    problem = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert problem["status"] == status
    assert problem["detail"]
    assert set(problem) == {"type", "title", "status", "detail", "request_id", "errors"}
    assert f'id="{problem["type"].partition("#")[2]}"' in client.get("/docs").text


def test_a_million_rows_are_too_large(client):
    body = b'{"rows": [' + b",".join([b"{}"] * 1_400_000) + b"]}"
    assert client.post("/v1/recourse", content=body, headers=JSON).status_code == 413
    # Also if the client does not say how much is coming.
    parts = (b"{}," * 100_000 for _ in range(20))
    assert client.post("/v1/recourse", content=parts, headers=JSON).status_code == 413


def test_the_body_must_say_that_it_is_json(client):
    for headers in ({"content-type": "text/plain"}, {"content-type": "application/x-www-form-urlencoded"}, {}):
        assert client.post("/v1/verdict", content=b'{"rows": []}', headers=headers).status_code == 415


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        (("income", "much"), "must be a number, got a text."),
        (("income", True), "must be a number, got true."),
        (("income", None), "is missing, which it never is in the training rows."),
        (("income", 1e200), "must be a number of at most 1e+100."),
        (("income", 10**400), "must be a number of at most 1e+100."),
        (("income", 1200.5), "must be a whole number, as in the training rows."),
        (("income", 2**63), "must be a whole number from"),
        (("income", [1]), "must be a single value, got a list."),
        (("debt", {"a": 1}), "must be a single value, got an object."),
        (("owner", "yes"), "is none of the values of the training rows (False, True)."),
        (("owner", 1), "is none of the values of the training rows (False, True)."),
        (("school", "x" * 20_000), "is a text of 20,000 signs; 10,000 are enough."),
        (("since", "yesterday"), "must be a date or a time as text, such as 2027-05-31."),
        (("since", 17), "must be a date or a time as text, such as 2027-05-31."),
        (("since", "99999-01-01"), "must be a date or a time as text, such as 2027-05-31."),
    ],
)
def test_cells_that_cannot_be_used_are_named(client, rows_of, refused, cell, words):
    name, value = cell
    rows = rows_of(refused.head(3))
    rows[2][name] = value
    answer = client.post("/v1/recourse", json={"rows": rows})
    assert answer.status_code == 422
    [error] = answer.json()["errors"]
    assert (error["field"], error["row"], error["column"]) == (f"rows[2].{name}", 2, name)
    assert error["detail"].startswith(words)


def test_columns_that_are_lacking_or_unknown_are_named(client, rows_of, refused):
    [row] = rows_of(refused.head(1))
    lacking = {name: value for name, value in row.items() if name != "debt"}
    for path in POSTS[:2]:
        errors = client.post(path, json={"rows": [row, {**lacking, "wealth": 1}]}).json()["errors"]
        assert [error["field"] for error in errors] == ["rows[1].wealth", "rows[1].debt"]


@pytest.mark.parametrize(
    ("body", "words"), [(b"null", "The body must be an object."), (b'{"rows": [null]}', "got null.")]
)
def test_what_is_no_object_is_called_by_its_name(client, body, words):
    assert client.post("/v1/verdict", content=body, headers=JSON).json()["detail"].endswith(words)


def test_missing_values_that_a_model_does_not_take_are_named(table, tmp_path, rows_of, serving):
    def needs_all(X):
        if X["debt"].isna().any():
            raise ValueError("Input X contains NaN.\nOther models take it.")
        return X["income"] > 3000

    method = NearestAccepted(needs_all, random_state=0).fit(table)
    with serving(method, tmp_path) as client:
        rows = rows_of(table.head(2))
        rows[1]["debt"] = None
        for path in POSTS[:2]:
            problem = client.post(path, json={"rows": rows}).json()
            assert (problem["status"], problem["errors"][0]["field"]) == (422, "rows[1].debt")
            assert problem["detail"].endswith("Input X contains NaN.")
        problem = client.post("/v1/notice", json={"row": rows[1], "after": rows[1]}).json()
        assert (problem["status"], problem["errors"][0]["field"]) == (422, "after.debt")


def test_addresses_and_methods_that_there_are_not(client):
    assert client.get("/v1/nothing").status_code == 404
    assert client.get("/..%2f..%2fetc/passwd").status_code == 404
    assert client.get("/page.py").status_code == 404
    assert client.get("/__init__.py").status_code == 404
    assert client.put("/v1/recourse").status_code == 405
    assert client.get("/v1/promises/0").status_code == 422
    assert client.get("/v1/promises/99999").status_code == 404
    assert client.get("/v1/promises/one").status_code == 422
    assert client.get(f"/v1/promises/{2**70}").status_code == 422


def test_a_request_has_a_name(client):
    assert client.get("/v1/schema", headers={"x-request-id": "my-1"}).headers["x-request-id"] == "my-1"
    for wrong in ("a b", "x" * 65, "<b>", ""):
        made = client.get("/v1/schema", headers={"x-request-id": wrong}).headers["x-request-id"]
        assert made != wrong
        assert made.isalnum()


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)


@st.composite
def bodies(draw, row):
    """Bodies that are nearly right, and others."""
    cells = dict(row)
    for name in draw(st.lists(st.sampled_from(sorted(row)), max_size=3)):
        cells[name] = draw(values)
    if draw(st.booleans()):
        cells.pop(draw(st.sampled_from(sorted(cells))))
    body = (
        {"rows": [cells]}
        if draw(st.booleans())
        else {"row": cells, "after": draw(values) if draw(st.booleans()) else row}
    )
    fields = [
        "rows",
        "row",
        "after",
        "person",
        "until",
        "note",
        "replace",
        "alternatives",
        "fixed",
        "ranges",
        "categories",
    ]
    fields += ["difficulty", "max_changes", "time_limit", "survival", "unseen", "names", "locale", "other"]
    for name in draw(st.lists(st.sampled_from(fields), max_size=3)):
        body[name] = draw(values)
    return body


@pytest.mark.slow
@pytest.mark.parametrize("path", POSTS)
@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_whatever_is_sent_is_answered(client, rows_of, refused, path, data):
    body = data.draw(bodies(rows_of(refused.head(1))[0]) | values)
    text = json.dumps(body)  # with NaN, which is no JSON
    answer = client.post(path, content=text.encode("utf-8", "surrogatepass"), headers=JSON)
    assert answer.status_code in {200, 201, 400, 404, 409, 415, 422}, answer.text


@settings(max_examples=60, deadline=None)
@given(values)
def test_json_is_read_as_it_is_written(value):
    text = json.dumps(value)
    try:
        found = parse(text.encode())
    except NoJSONError:
        assert not _plain(value)
    else:
        assert found == value


def _plain(value):
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, str):
        return not any("\ud800" <= sign <= "\udfff" for sign in value)
    if isinstance(value, dict):
        return all(_plain(part) for pair in value.items() for part in pair)
    return not isinstance(value, list) or all(map(_plain, value))


def test_rows_that_the_schema_allows_are_answered(client, rows_of, table):
    described = client.get("/v1/schema").json()
    rows = rows_of(table.head(20))
    for row in rows:
        jsonschema.validate(row, described["row"])
    assert client.post("/v1/verdict", json={"rows": rows}).status_code == 200
    columns = {column["name"]: column for column in described["columns"]}
    assert [columns[name]["movable"] for name in ("income", "debt", "school", "age", "years")] == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert (columns["debt"]["direction"], columns["school"]["direction"]) == ("down", "up")
    assert (columns["income"]["lower"], columns["income"]["upper"]) == (500.0, 7000.0)
    assert columns["years"]["follows"] == "school"
    assert columns["owner"]["kind"] == "boolean"
    assert columns["since"]["kind"] == "text"
    assert columns["school"]["ordered"]
    assert columns["income"]["unit"] == "EUR"
    assert described["jury"] == {
        "models": 5,
        "quorum": 0.6,
        "rule": "quorum",
        "check": 36,
        "survival": None,
        "confidence": 0.95,
    }
    for column in described["columns"]:
        drawn = column["histogram"]
        if column["kind"] == "text":  # which may name somebody
            assert drawn is None
            continue
        assert sum(drawn["accepted"]) + sum(drawn["refused"]) == len(table)
    jsonschema.Draft202012Validator.check_schema(described["limits"])


def test_every_field_and_call_is_described_in_words(client):
    description = client.get("/openapi.json").json()
    for name in ("RecourseOf", "VerdictOf", "NoticeOf", "PromiseOf", "Fulfilment"):
        for field, told in description["components"]["schemas"][name]["properties"].items():
            assert told.get("description"), (name, field)
    docs = client.get("/docs").text
    assert "Columns that this person cannot change." in docs
    assert "`" not in docs


def test_the_examples_of_the_description_work(client):
    description = client.get("/openapi.json").json()
    names = []
    for path, calls in description["paths"].items():
        for method, call in calls.items():
            body = call.get("requestBody", {}).get("content", {}).get("application/json", {})
            if "example" in body and "{" not in path:
                answer = client.request(method, path, json=body["example"])
                assert answer.status_code in {200, 201}, answer.text
                names.append(call["operationId"])
    assert names == ["recourse", "verdict", "notice", "promise"]
