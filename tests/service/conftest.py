"""A lender with a mixed table, a jury and a ledger, and services in threads of the tests."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from functools import partial

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("fastapi")
httpx = pytest.importorskip("httpx")
uvicorn = pytest.importorskip("uvicorn")

from sklearn.compose import make_column_transformer  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import OneHotEncoder, StandardScaler  # noqa: E402

from robust_recourse import ActionSet, Jury, RobustBayesianRecourse, save  # noqa: E402
from robust_recourse.paper.applicants import make_applicants  # noqa: E402
from robust_recourse.service import Settings, make_app  # noqa: E402
from robust_recourse.service.connections import Guarded  # noqa: E402
from robust_recourse.service.counter import Counter  # noqa: E402

N = 160


def accept(X, least=3.0):
    return X["income"] / 1000 - X["debt"] / 20 + X["years"] / 10 + 0.5 * X["owner"] > least


@pytest.fixture(scope="session")
def table():
    rng = np.random.default_rng(3)
    school = rng.choice(["none", "some", "high"], N)
    return pd.DataFrame(
        {
            "income": rng.integers(5, 60, N) * 100,
            "debt": rng.normal(20.0, 5.0, N).round(2),
            "school": pd.Categorical(school, ["none", "some", "high"], ordered=True),
            "years": pd.Series(school).map({"none": 8, "some": 10, "high": 13}),
            "owner": rng.random(N) < 0.4,
            "<b>town</b> &\u202e": rng.choice(["=SUM(A1)", "<script>alert(1)</script>", "Köln"], N),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, N), unit="D"),
            "age": rng.integers(20, 70, N),
        }
    )


@pytest.fixture(scope="session")
def method(table):
    actions = ActionSet(
        table,
        immutable=["age", "<b>town</b> &\u202e", "since"],
        decrease=["debt"],
        increase=["school"],
        bounds={"income": (500, 7000)},
        link={"years": "school"},
        units={"income": "EUR"},
        max_changes=3,
    )
    models = [lambda X, least=least: accept(X, least) for least in np.linspace(2.8, 3.1, 41)]
    jury = Jury(models[:5], quorum=0.6, check=models[5:])
    return RobustBayesianRecourse(accept, actions, jury=jury, n_samples=50, n_neighbors=50, random_state=0).fit(table)


@pytest.fixture(scope="session")
def refused(table):
    return table[~accept(table)]


def _rows(frame):
    return [json.loads(line) for line in frame.to_json(orient="records", lines=True, date_format="iso").splitlines()]


@pytest.fixture(scope="session")
def rows_of():
    """Rows as JSON has them."""
    return _rows


@pytest.fixture(scope="session")
def serving():
    """A service in a thread, and a client of it."""
    return _serving


@pytest.fixture(scope="session")
def running():
    """An application in a thread, and a client of it."""
    return _running


@contextmanager
def _serving(method, tmp_path, **settings):
    opened = settings.pop("opened", None) or (lambda known, metrics: Counter(known, method, metrics))
    with _running(make_app(Settings(method=tmp_path / "lender.zip", name="lender", **settings), opened)) as client:
        yield client


@contextmanager
def _running(app):
    http = partial(Guarded, most=app.state.settings.most)  # as the command has it
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, http=http, ws="none", lifespan="on"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            threading.Event().wait(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60.0) as client:
            client.app = app
            while client.get("/readyz").json()["status"] == "loading":
                threading.Event().wait(0.01)
            yield client
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="session")
def client(method, table, tmp_path_factory):
    """A client of a service with a ledger and a table of people that may be searched."""
    folder = tmp_path_factory.mktemp("service")
    people = table.set_axis([f"id-{i}" for i in range(len(table))])
    settings = {"ledger": str(folder / "promises.db"), "people": lambda _: people, "search": True}
    with _serving(method, folder, **settings) as found:
        yield found


@pytest.fixture(scope="session")
def saved(tmp_path_factory):
    """A method in a file."""
    X, y = make_applicants(300)
    encode = make_column_transformer((OneHotEncoder(), ["job", "housing"]), remainder=StandardScaler())
    model = make_pipeline(encode, LogisticRegression(max_iter=1000)).fit(X, y)
    actions = ActionSet(X, immutable=["age"], decrease=["debt"])
    method = RobustBayesianRecourse(model, actions, n_samples=50, n_neighbors=50, random_state=0).fit(X)
    path = tmp_path_factory.mktemp("saved") / "loans.zip"
    save(method, path)
    return path
