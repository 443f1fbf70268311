"""Who may ask, and what is written about it."""

from __future__ import annotations

import json
import logging
import os
import stat

import httpx
import pytest

from robust_recourse.service import Settings, Tokens
from robust_recourse.service.gate import LOG
from robust_recourse.service.tokens import hmac

TOKEN, OTHER = "correct-horse-battery-staple", "another-token-of-the-lender"


@pytest.fixture
def tokens(tmp_path):
    path = tmp_path / "tokens"
    path.write_text(f"# of the application\n{TOKEN}\n\n  {OTHER}  \n")
    path.chmod(0o600)
    return path


def test_tokens_are_needed_where_people_are_meant(method, tmp_path, tokens, serving, refused, rows_of):
    body = {"rows": rows_of(refused.head(1))}
    with serving(method, tmp_path, tokens=tokens, host="0.0.0.0") as client:
        for path in ("/", "/docs", "/openapi.json", "/healthz", "/readyz", "/page.js", "/page.css"):
            assert client.get(path).status_code == 200
        for wrong in (
            None,
            "",
            "Bearer",
            f"Bearer {TOKEN}x",
            f"Bearer {TOKEN[:-1]}",
            f"Basic {TOKEN}",
            TOKEN,
            "Bearer \xff",
        ):
            headers = {} if wrong is None else {"authorization": wrong.encode("latin-1")}
            for method_, path in (
                ("GET", "/v1/schema"),
                ("POST", "/v1/recourse"),
                ("GET", "/metrics"),
                ("GET", "/v1/nothing"),
            ):
                answer = client.request(method_, path, headers=headers)
                assert answer.status_code == 401
                assert answer.headers["www-authenticate"] == "Bearer"
                assert TOKEN not in answer.text
        for token in (TOKEN, OTHER):
            assert (
                client.post("/v1/verdict", json=body, headers={"authorization": f"bearer {token}"}).status_code == 200
            )
        description = client.get("/openapi.json").json()
        assert description["paths"]["/v1/recourse"]["post"]["security"] == [{"token": []}]


def test_all_tokens_are_compared_in_constant_time(tokens, monkeypatch):
    known, asked = Tokens.read(tokens), []
    compare = hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", lambda *pair: asked.append(pair) or compare(*pair))
    for header in (f"Bearer {TOKEN}", f"Bearer {OTHER}", "Bearer nothing", None):
        asked.clear()
        known.allow(header)
        assert len(asked) == 2  # whichever it is
        assert {len(part) for pair in asked for part in pair} == {32}  # of hashes, whatever their length


@pytest.mark.parametrize("text", ["", "# nothing\n", "short\n", f"{TOKEN}\ntiny\n"])
def test_files_without_safe_tokens_are_refused(tmp_path, text):
    path = tmp_path / "tokens"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(ValueError, match="oken") as caught:
        Tokens.read(path)
    assert TOKEN not in str(caught.value)
    assert "tiny" not in str(caught.value)


@pytest.mark.skipif(os.name != "posix", reason="files have no such modes")
def test_a_file_that_everybody_reads_is_refused(tokens):
    tokens.chmod(tokens.stat().st_mode | stat.S_IROTH)
    with pytest.raises(ValueError, match="chmod o-rwx"):
        Tokens.read(tokens)


def test_without_tokens_only_this_machine_is_served(tmp_path, client):
    for host in ("0.0.0.0", "::", "192.0.2.1", "lender.example"):
        with pytest.raises(ValueError, match="tokens"):
            Settings(method=tmp_path, name="a", host=host)
    for host in ("127.0.0.1", "localhost", "::1", "127.0.0.9"):
        Settings(method=tmp_path, name="a", host=host)
    # A page of another site, whose name was made to point here, is not answered.
    for host, status in {
        "evil.example": 421,
        "evil.example:8000": 421,
        "localhost": 200,
        "[::1]:8000": 200,
        "[::1]": 200,
        "": 421,
    }.items():
        assert client.get("/v1/schema", headers={"host": host}).status_code == status


def test_nothing_about_a_person_is_written_down(method, tmp_path, tokens, serving, refused, rows_of):
    lines = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    headers = {"authorization": f"Bearer {TOKEN}", "x-request-id": "visit-7"}
    try:
        with serving(method, tmp_path, tokens=tokens, ledger=str(tmp_path / "p.db")) as client:
            [row] = rows_of(refused.head(1))
            secret = {**row, "income": 987654, "school": "Hogwarts"}
            client.post("/v1/recourse", json={"rows": [secret]}, headers=headers)
            client.post("/v1/recourse", json={"rows": [row], "fixed": ["Hogwarts"]}, headers=headers)
            client.post("/v1/promises", json={"person": "Jane Doe", "row": secret, "after": secret}, headers=headers)
            client.get("/v1/people", params={"query": "Jane Doe"}, headers=headers)
            client.get("/Jane%20Doe/Hogwarts", headers=headers)
            client.post("/v1/verdict", json={"rows": [secret]}, headers=headers)
            client.app.state.counter.verdicts._work = lambda _: 1 / 0
            broken = client.post("/v1/verdict", json={"rows": [secret]}, headers=headers)
            assert broken.status_code == 500
            assert broken.json()["type"] == "/docs#problem-internal"
            assert "ZeroDivision" not in broken.text
    finally:
        LOG.removeHandler(handler)
    text = "\n".join(lines)
    for word in ("Jane", "987654", "Hogwarts", TOKEN):
        assert word not in text
    told = [json.loads(line) for line in lines if line.startswith("{")]
    assert [line["request_id"] for line in told if "status" in line][-1] == "visit-7"
    assert any(line.get("error") == "ZeroDivisionError" for line in told)
    assert {line["route"] for line in told if "route" in line} >= {"/v1/recourse", "/v1/promises", "none"}


def test_a_service_that_cannot_load_says_so(method, tmp_path, serving):
    def broken(*_):
        raise ValueError("The file is gone.")

    with serving(method, tmp_path, opened=broken) as client:
        assert client.get("/readyz").status_code == 503
        assert client.get("/readyz").json() == {"status": "failed"}
        assert client.get("/healthz").status_code == 503
        assert client.get("/v1/schema").status_code == 503
        assert client.get("/openapi.json").status_code == 200


def test_pages_need_nothing_from_outside(client):
    for path in ("/", "/docs", "/docs.css", "/page.css"):
        answer = client.get(path)
        policy = answer.headers["content-security-policy"]
        assert "unsafe" not in policy
        assert "http" not in policy
        assert policy.startswith("default-src 'none'")
        assert answer.headers["x-content-type-options"] == "nosniff"
    docs = client.get("/docs").text
    for sign in ("http://", "https://", "//cdn", "<script", "style=", "onclick", "alert(1)</script>", "<b>town"):
        assert sign not in docs, sign
    assert "\u202e" not in docs
    assert "&lt;b&gt;town" in docs


def test_metrics_are_about_the_service(client, refused, rows_of):
    def counted():
        lines = client.get("/metrics").text.splitlines()
        return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if not line.startswith("#")}

    before = counted()
    client.post("/v1/recourse", json={"rows": rows_of(refused.head(2))})
    client.post("/v1/recourse", json={"rows": []})
    after = counted()
    name = 'robust_recourse_requests_total{{method="POST",route="/v1/recourse",status="{}"}}'.format
    assert after[name(200)] == before.get(name(200), 0.0) + 1
    assert after[name(422)] == before.get(name(422), 0.0) + 1
    assert after["robust_recourse_model_rows_total"] > before["robust_recourse_model_rows_total"]
    assert sum(v for k, v in after.items() if k.startswith("robust_recourse_recourses_total")) > 0
    assert httpx.get(client.base_url.join("/metrics")).headers["content-type"].startswith("text/plain; version=")
