"""``robust-recourse serve`` in processes of its own: signals, workers, tokens, load."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import httpx
import pytest
from tests.service.started import command, wait

from robust_recourse.cli import main
from robust_recourse.cli._serve import worker
from robust_recourse.ledger import Ledger
from robust_recourse.paper.applicants import make_applicants

pytestmark = pytest.mark.slow
TOKEN = "correct-horse-battery-staple"


@pytest.fixture(scope="module")
def people():
    return make_applicants(300)[0]


def _children(process):
    found = subprocess.run(
        ["pgrep", "-P", str(process.pid), "-f", "spawn_main"], capture_output=True, text=True, check=False
    )
    return {int(word) for word in found.stdout.split()}


@pytest.fixture(scope="module")
def rows(people):
    return json.loads(people.head(60).to_json(orient="records"))


@pytest.fixture(scope="module")
def two(saved):
    """Two workers with a ledger; to start them takes longer than what they are asked for."""
    ledger = saved.with_name("promises.db")
    with command(saved, "--workers=2", "--queue=4", "--head-limit=2", f"--ledger={ledger}") as (process, url, log):
        yield process, url, log, ledger


def test_sigterm_finishes_what_has_begun(saved, rows, tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text(TOKEN)
    tokens.chmod(0o600)
    with command(saved, f"--tokens={tokens}") as (process, url, log):
        headers = {"authorization": f"Bearer {TOKEN}"}
        assert httpx.get(f"{url}/v1/schema").status_code == 401
        assert httpx.get(f"{url}/v1/schema", headers=headers).json()["name"] == "loans"
        with ThreadPoolExecutor(1) as pool:
            body = {"rows": rows, "alternatives": 2}
            answer = pool.submit(httpx.post, f"{url}/v1/recourse", json=body, headers=headers, timeout=120)
            # It has begun once two are being answered: that and the question for the metrics.
            wait(lambda: "robust_recourse_open 2.0" in httpx.get(f"{url}/metrics", headers=headers).text)
            process.send_signal(signal.SIGTERM)
            assert answer.result().status_code == 200
            assert len({row["person"] for row in answer.result().json()["rows"]}) == len(rows)
        assert process.wait(60) == 0
        text = log.read_text()
        assert TOKEN not in text
        assert "Traceback" not in text
        for word in ("income", "skilled", str(rows[0]["debt"])):
            assert word not in text
        with pytest.raises(httpx.TransportError):
            httpx.get(f"{url}/healthz")


def test_many_clients_get_their_own_answers_or_are_told_to_wait(two, rows):
    _, url, log, _ = two
    statuses, wrong = [], []

    def ask(first):
        with httpx.Client(base_url=url, timeout=120) as client:
            for k in range(first, first + 3):
                row = rows[k % len(rows)]
                answer = client.post("/v1/recourse", json={"rows": [row], "alternatives": 1 + k % 3})
                statuses.append(answer.status_code)
                if answer.status_code == 200 and answer.json()["rows"][0]["before"] != row:
                    wrong.append(row)

    with ThreadPoolExecutor(40) as pool:
        for job in [pool.submit(ask, k) for k in range(40)]:
            job.result()
    assert set(statuses) <= {200, 503}
    assert statuses.count(200) > 0
    assert wrong == []
    assert "Traceback" not in log.read_text()


def test_the_limits_of_the_command_are_kept(two):
    _, url, _, _ = two
    with socket.create_connection(("127.0.0.1", urlsplit(url).port), timeout=60) as wire:
        assert wire.recv(1) == b""


@pytest.mark.skipif(os.name != "posix", reason="there is no such signal")
def test_a_killed_worker_is_replaced_and_no_promise_is_lost(two, rows):
    process, url, log, ledger = two
    plans = httpx.post(f"{url}/v1/recourse", json={"rows": rows[:12]}, timeout=120).json()["rows"]
    plans = [plan for plan in plans if plan["valid"] and plan["changes"]]
    documents = {httpx.post(f"{url}/v1/recourse", json={"rows": rows[:1]}).text for _ in range(6)}
    assert len(documents) == 1  # whichever worker answers
    promised, stop, problems = [], threading.Event(), []

    def promise(first):
        k = first
        # Now and then, so that the worker that is started has the machine for itself in between.
        while not stop.wait(0.05) and k < 10_000:
            plan = plans[k % len(plans)]
            body = {"person": f"p{k}", "row": plan["before"], "after": plan["after"]}
            try:
                answer = httpx.post(f"{url}/v1/promises", json=body, timeout=60)
            except httpx.TransportError:
                continue  # of a worker that was killed: asked again, the promise is made or known
            if answer.status_code in (200, 201):
                promised.append((f"p{k}", answer.json()["id"]))
                k += 4
            elif answer.status_code != 503:
                problems.append(answer.text)
                return

    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(promise, k) for k in range(4)]
        wait(lambda: len(promised) > 3)
        workers = _children(process)
        killed = min(workers)
        os.kill(killed, signal.SIGKILL)
        wait(lambda: killed not in _children(process) and len(_children(process)) == len(workers))
        before = len(promised)
        wait(lambda: len(promised) > before + 3)
        # The one that replaces it answers in its turn.
        wait(lambda: log.read_text().count(" ready\n") > len(workers))
        before = len(promised)
        wait(lambda: len(promised) > before + 3)
        stop.set()
        for job in jobs:
            job.result()
    assert problems == []
    for person, number in promised[:: max(1, len(promised) // 20)]:
        assert httpx.get(f"{url}/v1/promises/{number}", timeout=60).json()["person"] == person
    metrics = httpx.get(f"{url}/metrics").text
    made = [line for line in metrics.splitlines() if 'route="/v1/promises"' in line and "requests_total" in line]
    assert sum(float(line.split()[-1]) for line in made) >= len(promised)
    assert "Traceback" not in log.read_text()
    known = Ledger(str(ledger), create=False)
    assert known.verify() == []
    kept = known.promises()
    assert dict(zip(kept["person"], kept.index, strict=True)).items() >= dict(promised).items()
    assert kept["person"].is_unique


def test_what_cannot_be_served_is_told_at_once(saved, tmp_path, capsys):
    missing = tmp_path / "nothing.zip"
    taken = socket.create_server(("127.0.0.1", 0))
    cases = [
        ([str(missing)], "nothing.zip"),
        ([str(saved), "--host=0.0.0.0"], "tokens"),
        ([str(saved), f"--tokens={missing}"], "nothing.zip"),
        ([str(saved), "--allow-search"], "--people"),
        ([str(saved), f"--people={missing}"], "nothing.zip"),
        ([str(saved), "--ledger=mysql://a/b"], "mysql"),
        ([str(saved), f"--port={taken.getsockname()[1]}"], "in use"),
    ]
    with taken:
        for words, said in cases:
            assert main(["serve", *words]) == 2
            lines = capsys.readouterr().err.strip().splitlines()
            assert said in lines[-1]
            assert lines[-1].startswith("robust-recourse: ")


def test_people_of_a_file_can_be_searched(saved, people, tmp_path, monkeypatch, running):
    path = tmp_path / "people.csv"
    people.head(20).rename_axis("id").reset_index().to_csv(path, index=False)
    words = [str(saved), f"--people={path}", "--id=id", "--allow-search", "--name=Loans 2026", "--body-limit=0.5"]
    monkeypatch.setenv("ROBUST_RECOURSE_SERVE", json.dumps(words))
    monkeypatch.setattr("robust_recourse.service.running.log_lines", lambda: None)
    with running(worker()) as client:
        found = client.get("/v1/people", params={"limit": 100}).json()
        assert [person["row"] for person in found["people"]] == json.loads(people.head(20).to_json(orient="records"))
        answer = client.post("/v1/verdict", json={"rows": [person["row"] for person in found["people"]]}).json()
        assert [one["accepted"] for one in answer["verdicts"]] == [person["accepted"] for person in found["people"]]
        assert client.get("/v1/schema").json()["name"] == "Loans 2026"
        with socket.create_connection((client.base_url.host, client.base_url.port), timeout=60) as wire:
            head = "POST /v1/verdict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            wire.sendall(f"{head}Content-Length: 9\r\n\r\n".encode())
            assert wire.recv(2**16).startswith(b"HTTP/1.1 408 ")
