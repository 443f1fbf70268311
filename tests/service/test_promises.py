"""Promises at the counter: verified again, kept, read with their code, and redeemed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy


@pytest.fixture(scope="module")
def plan(client, refused, rows_of):
    """A person, and their recourse."""
    [row] = rows_of(refused.iloc[[1]])
    found = client.post("/v1/recourse", json={"rows": [row]}).json()["rows"][0]
    assert found["valid"]
    return found


def promise(client, plan, person, **more):
    return client.post("/v1/promises", json={"person": person, "row": plan["before"], "after": plan["after"], **more})


def test_a_promise_is_made_read_and_redeemed(client, plan):
    made = promise(client, plan, "A-1", note="by phone")
    assert made.status_code == 201, made.text
    receipt = made.json()
    assert made.headers["location"] == f"/v1/promises/{receipt['id']}"
    assert receipt["person"] == "A-1"
    assert receipt["cost"] == plan["cost"]
    assert receipt["jury_share"] == plan["jury_share"]
    assert receipt["promised"] == plan["after"]
    assert receipt["changes"] == plan["changes"]
    assert receipt["until"] == str(datetime.now(UTC).date() + timedelta(days=180))
    assert receipt["verified"]
    assert not receipt["known"]
    read = client.get(made.headers["location"], params={"code": receipt["code"].lower().replace("-", " ")})
    assert read.json() == {name: value for name, value in receipt.items() if name != "known"}
    assert not client.get(made.headers["location"], params={"code": "0000-0000-0000-0000"}).json()["verified"]
    # What was sent twice is promised once.
    again = promise(client, plan, "A-1", note="by phone")
    assert (again.status_code, again.json()["id"], again.json()["known"]) == (200, receipt["id"], True)

    short = client.post(f"{made.headers['location']}/fulfil", json={"row": plan["before"]}).json()
    assert not short["fulfilled"]
    assert short["promise"]["status"] == "open"
    done = client.post(f"{made.headers['location']}/fulfil", json={"row": plan["after"]}).json()
    assert done["fulfilled"]
    assert done["exactly"]
    assert done["promise"]["status"] == "fulfilled"
    late = client.post(f"{made.headers['location']}/fulfil", json={"row": plan["after"]})
    assert late.status_code == 409


def test_nothing_is_taken_from_the_clients_word(client, plan):
    before, after = plan["before"], plan["after"]
    cases = [
        ({**after, "age": after["age"] - 1}, 422, "after.age"),  # immutable
        ({**after, "debt": before["debt"] + 1}, 422, "after.debt"),  # only down
        ({**after, "income": 7001}, 422, "after.income"),  # out of bounds
        ({**after, "years": 13 if after["years"] != 13 else 8}, 422, "after.years"),  # follows the school
        ({**before, "income": before["income"] + 1}, 409, None),  # which the model refuses
        (before, 409, None),
        ({**after, "income": "much"}, 422, "after.income"),
        ({"income": 5000}, 422, "after.debt"),
        (None, 422, "after"),
    ]
    for wrong, status, field in cases:
        answer = client.post("/v1/promises", json={"person": "A-2", "row": before, "after": wrong})
        assert answer.status_code == status, (wrong, answer.text)
        fields = [error["field"] for error in answer.json()["errors"]]
        assert field is None or field in fields, (wrong, answer.text)
        if wrong is not None:
            assert client.post("/v1/notice", json={"row": before, "after": wrong}).status_code == status
    assert promise(client, plan, "A-2", cost=0.0).status_code == 422
    older = client.post("/v1/notice", json={"row": before, "after": {**after, "age": after["age"] + 1}}).json()
    assert older["detail"].startswith("after.age changed from ")  # which names the column once


def test_a_row_that_nobody_searched_for_may_be_promised_if_it_keeps_everything(client, plan):
    more = {**plan["before"], "income": 6900}
    answer = client.post("/v1/promises", json={"person": "A-3", "row": plan["before"], "after": more})
    assert answer.status_code == 201, answer.text
    assert [change["column"] for change in answer.json()["changes"]] == ["income"]


def test_one_promise_to_a_person_unless_it_is_replaced(client, plan):
    first = promise(client, plan, "A-4").json()
    other = {**plan["before"], "income": 6900}
    body = {"person": "A-4", "row": plan["before"], "after": other}
    assert client.post("/v1/promises", json=body).status_code == 409
    second = client.post("/v1/promises", json={**body, "replace": True})
    assert second.status_code == 201
    assert client.get(f"/v1/promises/{first['id']}").json()["status"] == "renewed"
    assert client.post(f"/v1/promises/{first['id']}/fulfil", json={"row": plan["after"]}).status_code == 409
    assert client.post(f"/v1/promises/{second.json()['id']}/fulfil", json={"row": other}).json()["fulfilled"]


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ({"until": "2099-01-01"}, "widens"),
        ({"until": "2020-01-01"}, "invalid-request"),
        ({"until": "2026-13-45"}, "invalid-request"),
        ({"until": "soon"}, "invalid-request"),
        ({"person": ""}, "invalid-request"),
        ({"person": " "}, "invalid-request"),
        ({"person": 7}, "invalid-request"),
        ({"person": "a\x00b"}, "invalid-request"),
        ({"note": "a\x00b"}, "invalid-request"),
        ({"note": "x" * 2001}, "invalid-request"),
        ({"replace": 1}, "invalid-request"),
    ],
)
def test_what_cannot_be_promised(client, plan, more, kind):
    body = {"person": "A-5", "row": plan["before"], "after": plan["after"], **more}
    answer = client.post("/v1/promises", json=body)
    assert answer.json()["type"] == f"/docs#problem-{kind}", answer.text


def test_a_promise_that_was_altered_is_not_verified(client, plan):
    made = promise(client, plan, "A-6").json()
    engine = sqlalchemy.create_engine(f"sqlite:///{client.app.state.settings.ledger}")
    with engine.begin() as connection:
        statement = "UPDATE ledger_personal SET data = replace(data, :old, :new) WHERE number = :number"
        values = {"old": f"[{plan['before']['income']},", "new": "[1,", "number": made["id"]}
        assert connection.execute(sqlalchemy.text(statement), values).rowcount == 1
    engine.dispose()
    assert client.get(f"/v1/promises/{made['id']}").json()["verified"] is False


def test_a_notice_can_be_printed(client, plan):
    answer = client.post(
        "/v1/notice",
        json={
            "row": plan["before"],
            "after": plan["after"],
            "names": {"income": "<i>wage</i>"},
            "note": "Ask <b>us</b>.",
        },
    )
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/html")
    assert "unsafe-inline" not in answer.headers["content-security-policy"]
    assert "sha256-" in answer.headers["content-security-policy"]
    assert "<script" not in answer.text
    assert "<b>us</b>" not in answer.text
    assert "<i>wage" not in answer.text
    assert "&lt;i&gt;wage" in answer.text


def test_a_ledger_that_does_not_work_is_told_as_such(method, plan, tmp_path, serving):
    ledger = tmp_path / "promises.db"
    with serving(method, tmp_path, ledger=str(ledger)) as client:
        ledger.write_bytes(b"this is no database" * 100)
        answer = promise(client, plan, "A-7")
        assert answer.status_code == 503
        assert str(tmp_path) not in answer.text
        assert answer.headers["retry-after"]


def test_a_wrong_clock_promises_nothing(serving, method, plan, tmp_path, caplog):
    from robust_recourse.ledger import Ledger

    path = tmp_path / "promises.db"
    late = Ledger(path, clock=lambda: datetime(2099, 1, 1, tzinfo=UTC))
    late.confirm_clock(reason="the clock of another machine was wrong")
    with serving(method, tmp_path, ledger=str(path)) as client:
        answer = promise(client, plan, "A-9")
    assert answer.status_code == 503
    assert "Nothing was recorded" in answer.json()["detail"]
    assert "2099" not in answer.text
    assert "Set the clock of this machine right" in caplog.text
    assert late.head.number == 1


def test_a_damaged_ledger_is_not_blamed_on_who_asks(serving, method, plan, tmp_path, caplog):
    """Its flaws are for whoever runs the service: they stand in the log alone."""
    path = tmp_path / "promises.db"
    with serving(method, tmp_path, ledger=str(path)) as client:
        assert promise(client, plan, "A-10").status_code == 201
        engine = sqlalchemy.create_engine(f"sqlite:///{path}")
        with engine.begin() as connection:
            connection.execute(sqlalchemy.text("UPDATE ledger_entries SET facts = '{}' WHERE kind = 'run'"))
        engine.dispose()
        answer = promise(client, plan, "A-10")
    assert answer.status_code == 503
    assert "entry" not in answer.json()["detail"]
    assert "entry 1" in caplog.text
