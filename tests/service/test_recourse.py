"""Recourses over HTTP: what ``method.explain`` finds, for one person, for many, and in company."""

from __future__ import annotations

import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import jsonschema
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from robust_recourse import ActionSet, NearestAccepted, Recourses, RobustBayesianRecourse
from robust_recourse.actions import narrow


def same(document, found):
    """Whether a document tells of the same recourses, in the same types."""
    told = Recourses.from_json(json.dumps(document))
    np.testing.assert_array_equal(told.cost, found.cost)
    np.testing.assert_array_equal(told.n_queries, found.n_queries)
    np.testing.assert_array_equal(told.jury_share, found.jury_share)
    assert told.status.tolist() == found.status.tolist()
    assert told.reason.tolist() == found.reason.tolist()
    pd.testing.assert_frame_equal(told.x.reset_index(drop=True), found.x.reset_index(drop=True))
    return True


def test_one_person_gets_what_explain_finds(client, method, refused, rows_of):
    for i in range(3):
        answer = client.post("/v1/recourse", json={"rows": rows_of(refused)[i : i + 1], "alternatives": 3})
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/json"
        document = answer.json()
        jsonschema.validate(document, Recourses.json_schema())
        assert same(document, method.explain(refused.iloc[[i]], n_recourses=3))
        assert {row["label"] for row in document["rows"]} == {0}


def test_a_batch_gets_what_explain_finds(client, method, table, rows_of):
    document = client.post("/v1/recourse", json={"rows": rows_of(table.head(12))}).json()
    assert same(document, method.explain(table.head(12)))
    assert [row["label"] for row in document["rows"]] == list(range(12))


def test_answers_do_not_depend_on_company(client, refused, rows_of):
    bodies = [{"rows": [row]} for row in rows_of(refused.head(6))]
    alone = [client.post("/v1/recourse", json=body).content for body in bodies]
    before = _together(client)
    with ThreadPoolExecutor(6) as pool:
        company = list(pool.map(lambda body: client.post("/v1/recourse", json=body).content, bodies))
    assert company == alone
    calls = _together(client) - before
    assert calls < len(bodies)  # some were answered together


def _together(client):
    line = next(line for line in client.get("/metrics").text.splitlines() if "people_together_count" in line)
    return float(line.split()[1])


LIMITS = st.fixed_dictionaries(
    {},
    optional={
        "fixed": st.lists(st.sampled_from(["income", "debt", "school", "owner"]), max_size=2, unique=True),
        "ranges": st.just({"income": [600, None]}) | st.just({"income": [None, 5000]}),
        "categories": st.just({"school": ["high"]}) | st.just({"owner": [True]}),
        "difficulty": st.dictionaries(st.sampled_from(["income", "debt", "owner"]), st.floats(0.01, 100.0)),
        "max_changes": st.integers(1, 3),
    },
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(limits=LIMITS)
def test_limits_are_those_of_a_narrowed_action_set(client, method, refused, limits, rows_of):
    answer = client.post("/v1/recourse", json={"rows": rows_of(refused.head(2)), **limits})
    assert answer.status_code == 200, answer.text
    narrowed = method.narrowed(narrow(method.actions, method.schema_, **limits))
    assert same(answer.json(), narrowed.explain(refused.head(2)))
    found = Recourses.from_json(answer.text)
    assert method.actions.check(refused.head(2).set_axis([0, 1]), found.x[found.valid]) == []


@pytest.mark.parametrize(
    ("limits", "kind", "field"),
    [
        ({"ranges": {"income": [100, None]}}, "widens", "ranges.income"),
        ({"ranges": {"income": [None, 7001]}}, "widens", "ranges.income"),
        ({"ranges": {"debt": [None, 1e6]}}, "widens", "ranges.debt"),
        ({"max_changes": 4}, "widens", "max_changes"),
        ({"categories": {"school": ["doctor"]}}, "widens", "categories.school"),
        ({"ranges": {"income": [3000, 2000]}}, "invalid-request", "ranges.income"),
        ({"ranges": {"school": [0, 1]}}, "invalid-request", "ranges.school"),
        ({"fixed": ["wealth"]}, "invalid-request", "fixed"),
        ({"ranges": {"wealth": [0, 1]}}, "invalid-request", "ranges.wealth"),
        ({"difficulty": {"income": 0}}, "invalid-request", "difficulty.income"),
        ({"survival": 0.999}, "invalid-request", "survival"),
        ({"alternatives": 11}, "invalid-request", "alternatives"),
        ({"alternatives": True}, "invalid-request", "alternatives"),
        ({"alternatives": "2"}, "invalid-request", "alternatives"),
        ({"time_limit": 0}, "invalid-request", "time_limit"),
        ({"unseen": "warn"}, "invalid-request", "unseen"),
        ({"weights": {"income": 2}}, "invalid-request", "weights"),
    ],
)
def test_more_than_the_lender_allows_is_refused_by_name(client, refused, limits, kind, field, rows_of):
    answer = client.post("/v1/recourse", json={"rows": rows_of(refused.head(1)), **limits})
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["type"] == f"/docs#problem-{kind}"
    assert problem["errors"][0]["field"] == field
    assert problem["status"] == 422
    assert problem["request_id"] == answer.headers["x-request-id"]


def test_a_promised_survival_needs_a_check(client, method, refused, rows_of):
    row = rows_of(refused.head(1))
    answer = client.post("/v1/recourse", json={"rows": row, "survival": 0.8})
    assert same(answer.json(), method.promising(0.8).explain(refused.head(1)))
    assert answer.json()["rows"][0]["survival_bound"] > 0.0


def test_without_a_jury_no_survival_is_promised(table, tmp_path, rows_of, serving):
    model = NearestAccepted(lambda X: X["income"] > 3000, ActionSet(), random_state=0).fit(table)
    with serving(model, tmp_path) as client:
        row = rows_of(table[table["income"] < 3000].head(1))
        assert client.post("/v1/recourse", json={"rows": row}).json()["rows"][0]["valid"]
        answer = client.post("/v1/recourse", json={"rows": row, "survival": 0.8})
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["field"] == "survival"
        assert client.post("/v1/verdict", json={"rows": row}).json() == {
            "verdicts": [{"accepted": False, "jury_share": None}]
        }
        assert client.post("/v1/promises", json={"person": "a", "row": row[0], "after": row[0]}).status_code == 404
        assert client.get("/v1/people").status_code == 404


def test_arrays_have_columns_by_number(tmp_path, serving):
    method = NearestAccepted(lambda X: X[:, 0] > 1.0, random_state=0).fit(np.array([[2.0, 0.0], [0.0, 1.0]]))
    with serving(method, tmp_path, ledger=str(tmp_path / "p.db")) as client:
        row = {"0": 0.5, "1": 0.25}
        document = client.post("/v1/recourse", json={"rows": [row]}).json()
        assert document["rows"][0]["after"] == json.loads(method.explain([[0.5, 0.25]]).to_json())["rows"][0]["after"]
        made = client.post("/v1/promises", json={"person": "a", "row": row, "after": document["rows"][0]["after"]})
        assert made.status_code == 201, made.text
        redeemed = client.post(f"/v1/promises/{made.json()['id']}/fulfil", json={"row": document["rows"][0]["after"]})
        assert redeemed.json()["exactly"]
        assert client.post("/v1/recourse", json={"rows": [{"0": None, "1": 0.0}]}).status_code == 422


class Slow:
    """A model that waits to be let go on, and counts what it is asked."""

    def __init__(self):
        self.asked, self.entered, self.go = 0, threading.Event(), threading.Event()
        self.go.set()

    def __call__(self, X):
        self.asked += 1
        self.entered.set()
        assert self.go.wait(30)
        return X["income"] > 3000


def test_a_client_that_goes_away_stops_its_search(table, tmp_path, rows_of, serving):
    model = Slow()
    method = RobustBayesianRecourse(model, ActionSet(), n_samples=50, n_neighbors=50, random_state=0).fit(table)
    people = table[table["income"] < 3000].head(10)
    model.asked = 0
    method.explain(people)
    whole = model.asked
    with serving(method, tmp_path) as client:
        model.asked = 0
        model.go.clear()
        model.entered.clear()
        body = json.dumps({"rows": rows_of(people)}).encode()
        with socket.create_connection((client.base_url.host, client.base_url.port)) as wire:
            lines = ["POST /v1/recourse HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json"]
            head = "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""])
            wire.sendall(head.encode() + body)
            assert model.entered.wait(30)
        while "499" not in client.get("/metrics").text:
            threading.Event().wait(0.01)
        model.go.set()
        # The lane is free again for others; the search went no further than the question that was being answered.
        row = rows_of(table[table["income"] > 3000].head(2))
        assert client.post("/v1/recourse", json={"rows": row}).json()["rows"][0]["status"] == "already favourable"
    assert whole > 10
    assert model.asked <= 3  # that question, one that verifies what was found, and that of the others


def test_a_full_queue_sends_people_away_for_a_moment(table, tmp_path, rows_of, serving):
    from robust_recourse.service.settings import Most

    model = Slow()
    method = NearestAccepted(model, ActionSet(), random_state=0).fit(table)
    row = rows_of(table.head(1))
    with serving(method, tmp_path, most=Most(waiting=2)) as client:
        model.go.clear()
        model.entered.clear()
        with ThreadPoolExecutor(8) as pool:
            first = pool.submit(client.post, "/v1/recourse", json={"rows": row})
            assert model.entered.wait(30)
            bodies = [{"rows": row, "alternatives": 2 + k} for k in range(5)]
            others = [pool.submit(client.post, "/v1/recourse", json=body) for body in bodies]
            while sum(job.done() for job in others) < 3:
                threading.Event().wait(0.01)
            busy = [job.result() for job in others if job.done()]
            assert {answer.status_code for answer in busy} == {503}
            assert all(int(answer.headers["retry-after"]) >= 1 for answer in busy)
            model.go.set()
            assert first.result().status_code == 200
            assert sorted(job.result().status_code for job in others) == [200, 200, 503, 503, 503]


def test_values_that_nobody_had_are_named(client, refused, rows_of):
    [row] = rows_of(refused.head(1))
    answer = client.post("/v1/recourse", json={"rows": [row, {**row, "income": 10**9}]})
    assert answer.status_code == 422
    assert "'income'" in answer.json()["detail"]
    assert "row 1" in answer.json()["detail"]
    assert client.post("/v1/recourse", json={"rows": [{**row, "income": 10**9}], "unseen": "ignore"}).status_code == 200
    town = next(name for name in row if "town" in name)
    answer = client.post("/v1/recourse", json={"rows": [{**row, town: "Atlantis"}]})
    assert (answer.json()["errors"][0]["row"], answer.json()["errors"][0]["column"]) == (0, town)
    assert (
        client.post("/v1/recourse", json={"rows": [{**row, town: "Atlantis"}], "unseen": "ignore"}).status_code == 200
    )
