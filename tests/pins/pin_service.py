"""Pins what the service says to requests that it cannot use: the status, the kind and title of the problem, the type of
the content, and which fields, rows and columns it names; never the sentences. The surface may reword titles, tables may
name columns otherwise, and production may give statuses to what it changes (roles, withdrawal, HEAD, query parameters,
a locked ledger); the engine and survival change nothing here."""

from __future__ import annotations

import json
import logging
import socket
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from tests.pins.refused import PROMISES, RECOURSE, TOKEN, VERDICT, closed, everything

from robust_recourse import ActionSet, NearestAccepted, save

httpx, uvicorn = map(pytest.importorskip, ("httpx", "uvicorn"))
pytest.importorskip("fastapi")
from robust_recourse.service import Settings, make_app  # noqa: E402
from robust_recourse.service.settings import Most  # noqa: E402


def observe(folder: Path) -> dict[str, list[Any]]:
    """Ask everything, and return what was answered."""
    people, path = lender(folder)
    tokens = folder / "tokens"
    tokens.write_text(TOKEN)
    tokens.chmod(0o600)
    settings = {"method": path, "name": "lender"}
    seen: dict[str, list[Any]] = {}
    with serving(
        ledger=str(folder / "promises.db"), people=lambda _: people, most=Most(body_bytes=50_000), **settings
    ) as client:
        rows = [
            json.loads(line) for line in people.to_json(orient="records", lines=True, date_format="iso").splitlines()
        ]
        row, after = plan(client, rows)
        for name, request in everything(row, after).items():
            seen[name] = answered(client, *request)
        seen["two promises to one person"] = twice(client, row, after)
    with serving(tokens=tokens, most=Most(body_seconds=0.2), **settings) as client:
        for name, request in closed(row, after).items():
            seen[name] = answered(client, *request)
        seen["a body that does not come"] = slow(client)
    with serving(**{**settings, "method": folder / "nothing.zip"}) as client:
        for where, address in (("schema", "/v1/schema"), ("ready", "/readyz"), ("health", "/healthz")):
            seen[f"{where} of a service that could not load"] = answered(client, "GET", address, {})
    return seen


def lender(folder: Path) -> tuple[pd.DataFrame, Path]:
    """Return a table with every kind of column, and the file of a method for it."""
    rng = np.random.default_rng(5)
    table = pd.DataFrame(
        {
            "income": rng.integers(5, 60, 160) * 100,
            "debt": rng.normal(20.0, 5.0, 160).round(2),
            "school": pd.Categorical(rng.choice(["none", "some", "high"], 160), ["none", "some", "high"], ordered=True),
            "town": rng.choice(["Bonn", "Köln", "Trier"], 160),
            "owner": rng.random(160) < 0.4,
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, 160), unit="D"),
            "age": rng.integers(20, 70, 160),
        }
    )
    encode = make_column_transformer((OneHotEncoder(), ["school"]), (StandardScaler(), ["income", "debt"]))
    model = make_pipeline(encode, LogisticRegression()).fit(table, table["income"] - 50 * table["debt"] > 2000)
    actions = ActionSet(
        table, immutable=["age", "since"], decrease=["debt"], bounds={"income": (500, 7000)}, max_changes=3
    )
    save(NearestAccepted(model, actions, random_state=0).fit(table), folder / "lender.zip")
    return table, folder / "lender.zip"


@contextmanager
def serving(**settings: Any):
    """Serve in a thread; gives a client."""
    logging.getLogger("robust_recourse.service").addHandler(logging.NullHandler())
    app = make_app(Settings(**settings))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, ws="none", lifespan="on"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            threading.Event().wait(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60.0) as client:
            while client.get("/readyz").json()["status"] == "loading":
                threading.Event().wait(0.01)
            yield client
    finally:
        server.should_exit = True
        thread.join()


def plan(client: httpx.Client, rows: list[dict[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return somebody who is refused, and what they would be after a recourse."""
    found = client.post(RECOURSE, json={"rows": rows[:40]}).json()["rows"]
    one = next(one for one in found if one["valid"] and one["changes"])
    return one["before"], one["after"]


def answered(client: httpx.Client, method: str, path: str, options: dict[str, Any]) -> list[Any]:
    """Return what one request is answered: no sentence of it."""
    answer = client.request(method, path, **options)
    kind = answer.headers.get("content-type", "")
    if kind != "application/problem+json" or not answer.content:
        return [answer.status_code, kind]
    problem = answer.json()
    named = [[fault["field"], fault["row"], fault["column"]] for fault in problem["errors"]]
    return [answer.status_code, kind, problem["type"], problem["title"], *named]


def twice(client: httpx.Client, row: dict[str, Any], after: dict[str, Any]) -> list[Any]:
    """Return what is said to a second promise that is not the first; the first is made, and redeemed too early."""
    body = {"person": "b", "row": row, "after": after}
    number = client.post(PROMISES, json=body).json()["id"]
    other = {**after, "income": after["income"] + 100}
    return [
        *answered(client, "POST", PROMISES, {"json": {**body, "after": other}}),
        client.get(f"{PROMISES}/{number}", params={"code": "wrong"}).json()["verified"],
        client.post(f"{PROMISES}/{number}/fulfil", json={"row": row}).json()["fulfilled"],
    ]


def slow(client: httpx.Client) -> list[Any]:
    """Return what is said to somebody who sends a head, and no body."""
    head = f"POST {VERDICT} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
    with socket.create_connection((client.base_url.host, client.base_url.port), timeout=60) as wire:
        wire.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n".encode())
        answer = wire.makefile("rb").read()
    head, _, body = answer.partition(b"\r\n\r\n")
    problem = json.loads(body)
    return [int(head.split()[1]), problem["type"], problem["title"]]
