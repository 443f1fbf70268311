"""Connections that send nothing, or too slowly, keep nobody else from being answered."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import threading
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import httpx
import pytest
from tests.service.started import command, wait

from robust_recourse.paper.applicants import make_applicants
from robust_recourse.service.settings import Most

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="there are no such limits and signals")]
DESCRIPTORS, CROWD, LINES = 128, 200, 500
TOKENS = ("correct-horse-battery-staple", "another-token-of-the-lender")
OLD, NEW = ({"authorization": f"Bearer {token}"} for token in TOKENS)
PATIENCE = 3.0  # seconds of a client before it gives up
HEAD = (
    f"POST /v1/verdict HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKENS[0]}\r\n"
    "Content-Type: application/json\r\nContent-Length: 4000\r\n\r\n"
).encode()


@pytest.fixture(scope="module")
def rows():
    return json.loads(make_applicants(300)[0].head(60).to_json(orient="records"))


@pytest.fixture(scope="module")
def small(saved, tmp_path_factory):
    """The service with few descriptors: its process, address and log, and the file with its tokens."""
    tokens = tmp_path_factory.mktemp("small") / "tokens"
    tokens.write_text(TOKENS[0])
    tokens.chmod(0o600)
    with command(saved, f"--tokens={tokens}", descriptors=DESCRIPTORS) as (process, url, log):
        yield process, url, log, tokens


@pytest.fixture(scope="module")
def strict(method, tmp_path_factory, serving):
    """The address of a service that waits a second."""
    with serving(method, tmp_path_factory.mktemp("strict"), most=Most(head_seconds=1.0, body_seconds=1.0)) as client:
        yield str(client.base_url)


def connect(url):
    address = urlsplit(url)
    return socket.create_connection((address.hostname, address.port), timeout=60)


@contextlib.contextmanager
def crowd(url, *beginnings):
    """As many connections as there may be files, and more: they begin as is told, in turn, and then drip."""
    stop = threading.Event()
    with contextlib.ExitStack() as opened:
        wires = [opened.enter_context(connect(url)) for _ in range(CROWD)]
        dripping = []
        for k, wire in enumerate(wires):
            beginning = beginnings[k % len(beginnings)]
            if beginning is not None:
                dripping.append(wire)
                with contextlib.suppress(OSError):
                    wire.sendall(beginning)

        def drip():
            while not stop.wait(0.1):
                for wire in dripping:
                    with contextlib.suppress(OSError):
                        wire.send(b"x")

        thread = threading.Thread(target=drip)
        thread.start()
        opened.callback(thread.join)
        opened.callback(stop.set)
        yield


@contextlib.contextmanager
def searching(url, rows):
    """A search that is under way, and is answered in the end."""
    with ThreadPoolExecutor(1) as pool:
        body = {"rows": rows, "alternatives": 3}
        answer = pool.submit(httpx.post, f"{url}/v1/recourse", json=body, headers=OLD, timeout=120)
        # It has begun once two are being answered: that and the question for the metrics.
        wait(lambda: "robust_recourse_open 2.0" in httpx.get(f"{url}/metrics", headers=OLD).text)
        yield
        assert answer.result().status_code == 200
        assert {row["person"] for row in answer.result().json()["rows"]} == set(range(len(rows)))


@pytest.mark.parametrize("beginnings", [[None], [None, b"GET /v1/schema HTTP/1.1\r\nX-", HEAD]])
def test_a_crowd_that_sends_no_requests_keeps_nobody_out(small, rows, beginnings):
    _, url, log, _ = small
    with searching(url, rows), crowd(url, *beginnings):
        for row in rows[:3]:
            answer = httpx.post(f"{url}/v1/verdict", json={"rows": [row]}, headers=OLD, timeout=PATIENCE)
            assert answer.status_code == 200
    assert httpx.get(f"{url}/readyz", timeout=PATIENCE).status_code == 200
    lines = log.read_text().splitlines()
    assert len(lines) < LINES
    assert not any("Traceback" in line for line in lines)


def test_garbage_fills_no_log(small):
    _, url, log, _ = small
    before = len(log.read_text().splitlines())
    for _ in range(LINES):
        with connect(url) as wire:
            wire.sendall(b"\0\r\n\r\n")
            with contextlib.suppress(ConnectionError):
                wire.recv(2**16)
    assert len(log.read_text().splitlines()) < before + LINES // 2


def test_sighup_reads_again_and_loses_nothing(small, rows):
    process, url, log, tokens = small
    with searching(url, rows):
        tokens.write_text(TOKENS[1])
        process.send_signal(signal.SIGHUP)
    wait(lambda: answered(url, NEW) == 200)
    wait(lambda: answered(url, OLD) == 401)  # the worker with the old token has finished
    assert process.poll() is None
    assert "Traceback" not in log.read_text()
    process.kill()
    wait(lambda: refused(url))  # no worker holds the address without who replaces it
    process.wait()


def answered(url, headers):
    with contextlib.suppress(httpx.TransportError):
        return httpx.get(f"{url}/v1/schema", headers=headers).status_code


def refused(url):
    try:
        httpx.get(f"{url}/readyz")
    except httpx.ConnectError:
        return True
    except httpx.TransportError:
        pass
    return False


@pytest.mark.parametrize(
    "beginning", [b"", b"GET /v1/schema HTTP/1.1\r\n", b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\nGET"]
)
def test_a_head_that_does_not_come_ends_its_connection(strict, beginning):
    with connect(strict) as wire:
        wire.sendall(beginning)
        for _ in range(100):  # it drips ten times as long as it may
            wire.settimeout(0.1)
            try:
                if not wire.recv(2**16):
                    break
            except TimeoutError:
                if beginning:
                    wire.send(b"x")
            except ConnectionError:
                break
        else:
            raise AssertionError("It is still open.")


def test_a_body_that_does_not_come_is_answered(strict):
    with connect(strict) as wire:
        wire.sendall(HEAD)
        answer = b""
        for _ in range(100):
            wire.settimeout(0.1)
            try:
                part = wire.recv(2**16)
                if not part:
                    break
                answer += part
            except TimeoutError:
                wire.send(b" ")
        head, _, body = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 408 ")
        assert json.loads(body)["type"] == "/docs#problem-too-slow"


def test_a_slow_client_is_answered(client, refused, rows_of):
    """Its head and its body come in parts, each within its limit."""
    body = json.dumps({"rows": rows_of(refused.head(1))}).encode()
    head = (
        f"POST /v1/verdict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    )
    message = f"{head}\r\n\r\n".encode() + body
    with connect(str(client.base_url)) as wire:
        for start in range(0, len(message), len(message) // 6):
            wire.sendall(message[start : start + len(message) // 6])
            threading.Event().wait(0.1)
        assert wire.recv(2**16).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("reads", [True, False])
def test_an_answer_is_sent_as_long_as_somebody_reads_it(request, client, reads):
    """Answers of more than the system keeps for a connection, which one client reads slowly and another not at all."""
    url = str(client.base_url) if reads else request.getfixturevalue("strict")
    ask, times = b"GET /page.js HTTP/1.1\r\nHost: localhost\r\n\r\n", 240
    expected = times * len(httpx.get(f"{url}/page.js").content)
    assert expected > 16 * 2**20
    taken = 0
    with connect(url) as wire:
        wire.sendall(times * ask)
        threading.Event().wait(0.5 if reads else 3.0)
        with contextlib.suppress(ConnectionError):
            while taken < expected:
                part = wire.recv(2**18)
                if not part:
                    break
                taken += len(part)
                threading.Event().wait(0.03 if reads else 0.0)
    assert (taken >= expected) == reads


@pytest.mark.parametrize("parts", [False, True])
def test_who_sends_too_much_reads_why(client, parts):
    """Python's own client sends everything before it reads."""
    much = b" " * (12 * 2**20)
    body = iter([much]) if parts else much
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{client.base_url}/v1/verdict", body, headers)
    for _ in range(3):
        with pytest.raises(urllib.error.HTTPError, match="413") as caught:
            urllib.request.urlopen(request, timeout=60)
        caught.value.close()
        request.data = iter([much]) if parts else much
