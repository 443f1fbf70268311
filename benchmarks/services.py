"""The service: what HTTP adds to a search and to a verdict, and what common batches gain."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from robust_recourse import ActionSet, RobustBayesianRecourse, load, save
from robust_recourse.paper.applicants import make_applicants

TREES = "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"
PEOPLE, CLIENTS, SECONDS = 12, 50, 20.0


def lender(n=600):
    """A mixed table, a boosted pipeline and a fitted method."""
    X, y = make_applicants(n)
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["job", "housing"]), remainder=StandardScaler()
    )
    model = make_pipeline(encode, HistGradientBoostingClassifier(max_iter=60, random_state=0)).fit(X, y)
    actions = ActionSet(X, immutable=["age"], decrease=["debt"], bounds={"income": (500, 9000)})
    method = RobustBayesianRecourse(model, actions, random_state=0).fit(X)
    return X[model.predict(X) == 0], method


class Server:
    """``robust-recourse serve`` in processes of its own, on a free port."""

    def __init__(self, method, *options, workers=1):
        self.port, self.workers = _free_port(), workers
        options = (*options, f"--workers={workers}")
        words = ["-m", "robust_recourse", "serve", str(method), f"--port={self.port}", f"--trust={TREES}", *options]
        self.log = tempfile.TemporaryFile()  # noqa: SIM115
        self.process = subprocess.Popen([sys.executable, *words], stdout=self.log, stderr=self.log)

    def __enter__(self):
        try:
            asyncio.run(self._ready())
        except BaseException:
            self.process.kill()
            raise
        return self

    async def _ready(self):
        for _ in range(3000):
            if self.process.poll() is not None:
                self.log.seek(0)
                raise RuntimeError(self.log.read().decode())
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                client = await Client.open(self.port)
                status, _, _ = await client.ask("GET", "/readyz")
                client.close()
                told = os.pread(self.log.fileno(), 2**20, 0).count(b" ready\n")
                if status == 200 and told >= self.workers:
                    return
            await asyncio.sleep(0.1)
        raise RuntimeError("The service does not become ready.")

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        self.log.close()


class Client:
    """A client that keeps its connection, and does as little as can be."""

    def __init__(self, reader, writer):
        self._reader, self._writer = reader, writer

    @classmethod
    async def open(cls, port):
        return cls(*await asyncio.open_connection("127.0.0.1", port, limit=2**24))

    async def ask(self, method, path, body=None):
        text = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json"]
        head = "\r\n".join([*lines, f"Content-Length: {len(text)}", "", ""])
        self._writer.write(head.encode() + text)
        answer = (await self._reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in answer[1:])}
        content = await self._reader.readexactly(int(headers.get("content-length", 0)))
        return int(answer[0].split()[1]), headers, content

    def close(self):
        self._writer.close()


def run():
    """Yield what was asked and measured."""
    people, method = lender()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "method.zip")
        save(method, path)
        method = load(path, trusted=[TREES])
        rows = [json.loads(text) for text in people.head(60).to_json(orient="records", lines=True).splitlines()]
        with Server(path) as server:
            yield from asyncio.run(_latency(server, method, people, rows))
            one, many = (asyncio.run(_throughput(server, rows, n, SECONDS)) for n in (1, CLIENTS))
            yield (
                f"people per second, {CLIENTS} clients / one client (boosted pipeline)",
                ">= 4",
                many / one,
                many / one >= 4,
            )


def load_test(clients=200, seconds=60.0):
    """Yield how a service with two workers holds up, one of which is killed halfway."""
    people, method = lender()
    rows = [json.loads(text) for text in people.to_json(orient="records", lines=True).splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "method.zip")
        save(method, path)
        with Server(path, workers=2) as server:
            statuses, wrong, lost, memory = asyncio.run(_load(server, rows, clients, seconds))
    label = f"{clients} clients, {seconds:g} s"
    yield f"{label}: answers", "", statuses[200], None
    yield f"{label}: told to wait (503)", "", statuses[503], None
    others = sum(statuses.values()) - statuses[200] - statuses[503]
    yield f"{label}: other errors", "0", others, others == 0
    yield f"{label}: answers for another person, or other than before", "0", wrong, wrong == 0
    yield f"{label}: connections lost with the worker that was killed", "", lost, None
    first, last = (float(np.mean(part)) for part in np.array_split(np.array(memory), 3)[::2])
    yield (
        f"{label}: memory of the worker that stays, last third / first third",
        "<= 1.1",
        last / first,
        last / first <= 1.1,
    )


async def _load(server, rows, clients, seconds):
    statuses, answers, wrong, lost, memory = Counter(), {}, 0, 0, []
    last = time.perf_counter() + seconds

    async def one(first):
        nonlocal wrong, lost
        client, k = await Client.open(server.port), first
        while time.perf_counter() < last:
            body = {"rows": [rows[k % len(rows)]], "alternatives": 1 + k % 2}
            try:
                status, headers, content = await client.ask("POST", "/v1/recourse", body)
            except (OSError, asyncio.IncompleteReadError):
                lost += 1
                client = await Client.open(server.port)
                continue
            statuses[status] += 1
            if status == 200:
                name = json.dumps(body)
                wrong += json.loads(content)["rows"][0]["before"] != body["rows"][0]
                wrong += answers.setdefault(name, content) != content
            elif status == 503:
                await asyncio.sleep(float(headers["retry-after"]))
            k += 1

    async def watch():
        killed, stays = _workers(server.process.pid)[:2]
        for k in range(int(seconds)):
            await asyncio.sleep(1.0)
            memory.append(int(Path(f"/proc/{stays}/statm").read_text().split()[1]))
            if k == int(seconds) // 2:
                os.kill(killed, signal.SIGKILL)

    await asyncio.gather(watch(), *(one(k) for k in range(clients)))
    return statuses, wrong, lost, memory


def _workers(parent):
    found = subprocess.run(["pgrep", "-P", str(parent), "-f", "spawn_main"], capture_output=True, text=True, check=True)
    return [int(word) for word in found.stdout.split()]


async def _latency(server, method, people, rows):
    client = await Client.open(server.port)
    alone, served, same = [], [], True
    for i in range(PEOPLE):
        row = people.iloc[[i]]
        for times, ask in ((alone, None), (served, client)):
            began = time.perf_counter()
            if ask is None:
                found = method.explain(row)
            else:
                status, _, content = await ask.ask("POST", "/v1/recourse", {"rows": [rows[i]]})
            times.append(time.perf_counter() - began)
        same &= (
            status == 200 and json.loads(content)["rows"][0]["cost"] == json.loads(found.to_json())["rows"][0]["cost"]
        )
    ratio = float(np.median(served) / np.median(alone))
    found = [("one person: POST /v1/recourse / method.explain", "<= 1.3", ratio, ratio <= 1.3 and same)]
    plain, asked = [], []
    for i in range(40 * PEOPLE):
        row = people.iloc[[i % len(rows)]]
        began = time.perf_counter()
        method.model.predict(row)
        middle = time.perf_counter()
        await client.ask("POST", "/v1/verdict", {"rows": [rows[i % len(rows)]]})
        plain.append(middle - began)
        asked.append(time.perf_counter() - middle)
    ratio = float(np.median(asked) / np.median(plain))
    client.close()
    return [*found, ("one row: POST /v1/verdict / model.predict", "<= 3", ratio, ratio <= 3.0)]


async def _throughput(server, rows, clients, seconds):
    """Return how many people are answered in a second."""
    answered, last = 0, time.perf_counter() + seconds

    async def one(first):
        nonlocal answered
        client, i = await Client.open(server.port), first
        while time.perf_counter() < last:
            status, _, _ = await client.ask("POST", "/v1/recourse", {"rows": [rows[i % len(rows)]]})
            assert status == 200
            answered += 1
            i += 1
        client.close()

    began = time.perf_counter()
    await asyncio.gather(*(one(k) for k in range(clients)))
    return answered / (time.perf_counter() - began)


def _free_port():
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    for line in load_test() if "load" in sys.argv[1:] else run():
        print(line)
