"""The table that a lender has loaded."""

from __future__ import annotations

import pytest


def test_people_are_found_by_their_ids_and_cells(client, table, rows_of):
    found = client.get("/v1/people", params={"query": "id-7", "limit": 3}).json()
    assert [person["id"] for person in found["people"]] == ["id-7", "id-70", "id-71"]
    assert found["total"] == 11
    assert found["people"][0]["row"] == rows_of(table.iloc[[7]])[0] | {"since": table["since"].iloc[7].isoformat()}
    everybody = client.get("/v1/people", params={"limit": 1000}).json()
    assert everybody["total"] == len(everybody["people"]) == len(table)
    assert client.get("/v1/people", params={"query": "KÖLN"}).json()["total"] > 0


def test_people_are_found_by_what_the_model_says(client, method, table):
    refused = client.get("/v1/people", params={"status": "refused", "limit": 1000}).json()
    assert [person["id"] for person in refused["people"]] == [
        f"id-{i}" for i in (~method.model(table)).to_numpy().nonzero()[0]
    ]
    assert not any(person["accepted"] for person in refused["people"])
    later = client.get("/v1/people", params={"status": "refused", "offset": 5, "limit": 2}).json()
    assert later["people"] == refused["people"][5:7]
    assert client.get("/v1/schema").json()["people"] == {
        "rows": len(table),
        "refused": refused["total"],
        "search": True,
    }


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "offset=-1", "status=open", "query=" + "x" * 201])
def test_queries_that_cannot_be_used(client, query):
    assert client.get(f"/v1/people?{query}").status_code == 422


def test_a_table_may_be_shown_without_being_searched(method, table, tmp_path, serving):
    with serving(method, tmp_path, people=lambda _: table) as client:
        assert client.get("/v1/people").status_code == 403
        assert client.get("/v1/schema").json()["people"]["search"] is False
