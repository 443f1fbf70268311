"""A browser, a page to open from a disk, and a service to open it from."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from robust_recourse import ActionSet, Jury, NearestAccepted
from robust_recourse.paper.applicants import make_applicants
from robust_recourse.saving import save

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 30_000  # milliseconds; nothing fails for being slow on a busy machine


def chromium():
    """The browser of the system, or None."""
    named = os.environ.get("ROBUST_RECOURSE_CHROMIUM")
    names = ("chromium", "chromium-browser", "google-chrome")
    return named or next(filter(None, map(shutil.which, names)), None)


@pytest.fixture(scope="module")
def browser():
    # Of a module, not of the session: while it runs, no other test of this process can have an event loop.
    playwright = pytest.importorskip("playwright.sync_api", reason="The tests of the page need playwright.")
    program = chromium()
    if program is None:
        pytest.skip("The tests of the page need Chromium: install the system's package.")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


class Watched:
    """A page, and what it must not do: complain, ask a stranger, or run what came from a table."""

    def __init__(self, context, origin):
        self.page = context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.origin, self.complaints, self.strangers, self.asked = origin, [], [], []
        context.on("request", self._request)
        self.page.on("console", lambda message: self._complain(message.type, message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.complaints.append(dialog.message), dialog.dismiss()))

    def _complain(self, kind, text):
        if kind in ("error", "warning"):
            self.complaints.append(text)

    def _request(self, request):
        self.asked.append((request.method, request.url))
        if not request.url.startswith((self.origin, "data:", "about:")):
            self.strangers.append(request.url)

    def check(self):
        assert self.complaints == []
        assert self.strangers == []


@pytest.fixture
def opened(browser):
    """A function that opens an address in a new context, and checks in the end what the page did."""
    contexts, watched = [], []

    def open_page(address, *, complaints=False, **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, "locale": "en-GB", **options})
        contexts.append(context)
        origin = address[: address.index("/", 8)] if address.startswith("http") else "file://"
        watch = Watched(context, origin)
        if not complaints:
            watched.append(watch)
        watch.page.goto(address)
        return watch.page

    open_page.watched = watched
    yield open_page
    for watch in watched:
        watch.check()
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def axe():
    """The script that finds violations of WCAG."""
    folder = pytest.importorskip("axe_playwright_python", reason="Violations of WCAG are found by axe.")
    return files(folder).joinpath("axe.min.js").read_text("utf-8")


@pytest.fixture
def violations(axe):
    """A function that returns what axe finds on a page, for WCAG 2.2 AA and for what else is good practice."""

    def find(page):
        # Evaluated, not added as a script: the policy of the page allows none.
        page.evaluate(f"() => {{ {axe} }}")
        found = page.evaluate(
            "async () => (await axe.run(document, {resultTypes: ['violations'], preload: false})).violations"
        )
        return [(each["id"], node["target"], node["failureSummary"]) for each in found for node in each["nodes"]]

    return find


@dataclass(frozen=True)
class Counter:
    """A model, its jury, and a method that uses both."""

    model: Any
    jury: Jury
    method: NearestAccepted
    rows: pd.DataFrame
    refused: pd.DataFrame

    def accepts(self, row):
        return bool(self.model.predict(pd.DataFrame([row], columns=self.rows.columns).astype(self.rows.dtypes))[0])

    def share(self, row):
        table = pd.DataFrame([row], columns=self.rows.columns).astype(self.rows.dtypes)
        return float(np.mean([model.predict(table)[0] for model in self.jury.models]))


@pytest.fixture(scope="session")
def counter():
    X, y = make_applicants(300, 0)
    columns = make_column_transformer((OneHotEncoder(), ["job", "housing"]), remainder=StandardScaler())
    pipeline = make_pipeline(columns, LogisticRegression())
    model = pipeline.fit(X, y)
    jury = Jury.retrain(pipeline, X, y, n_models=10, quorum=0.8, random_state=0)
    actions = ActionSet(
        immutable=["age"],
        increase=["savings"],
        decrease=["debt"],
        max_changes=3,
        step={"income": 100, "savings": 100, "debt": 100, "months": 6},
        units={"income": "EUR", "savings": "EUR", "debt": "EUR"},
    )
    method = NearestAccepted(model, actions, jury=jury, random_state=0).fit(X)
    people = make_applicants(120, 2)[0]
    return Counter(model, jury, method, X, people[model.predict(people) == 0].head(8))


@pytest.fixture(scope="session")
def found(counter):
    return counter.method.explain(counter.refused, n_recourses=3)


@pytest.fixture(scope="session")
def explorer(counter, found, tmp_path_factory):
    """The address of an explorer on a disk."""
    folder = tmp_path_factory.mktemp("explorer")
    page = found.to_explorer(
        folder,
        title="Applicants",
        model=counter.model,
        jury=counter.jury,
        rows=counter.rows,
        note="Ask at the counter.",
    )
    return page.as_uri()


@contextmanager
def serving(folder: Path, *words: str):
    """Run the service until its test is over; gives its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = (folder / "log").open("w+")
    command = [sys.executable, "-m", "robust_recourse", "serve", *words, "--port", str(port)]
    process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=folder)
    address = f"http://127.0.0.1:{port}/"
    try:
        for _ in range(600):
            if process.poll() is not None:
                log.seek(0)
                raise RuntimeError(log.read())
            try:
                with urllib.request.urlopen(f"{address}readyz", timeout=5):
                    break
            except OSError:
                time.sleep(0.2)
        yield address
    finally:
        process.terminate()
        process.wait(30)
        log.close()


@pytest.fixture(scope="session")
def service(counter, tmp_path_factory):
    """The address of a service with a ledger and a table that may be searched."""
    pytest.importorskip("fastapi", reason="The service needs its extra.")
    pytest.importorskip("skops", reason="Methods are saved with skops.")
    folder = tmp_path_factory.mktemp("service")
    save(counter.method, folder / "method.zip")
    counter.refused.rename_axis("id").to_csv(folder / "people.csv")
    words = ("method.zip", "--ledger", "promises.db", "--people", "people.csv", "--id", "id", "--allow-search")
    with serving(folder, *words, "--name", "Applicants") as address:
        yield address


@pytest.fixture(scope="session")
def amounts(tmp_path_factory):
    """The address of a service whose columns are amounts with cents, two whole numbers and a 0 or 1."""
    pytest.importorskip("fastapi", reason="The service needs its extra.")
    pytest.importorskip("skops", reason="Methods are saved with skops.")
    rng = np.random.default_rng(0)
    n = 200
    rows = pd.DataFrame(
        {
            "income": rng.uniform(0, 40_000, n).round(2),
            "savings": rng.uniform(0, 30_000, n).round(2),
            "rate": rng.uniform(-2, 9, n).round(3),
            "age": rng.integers(19, 75, n),
            "owner": rng.integers(0, 2, n).astype(float),
        }
    )
    rows.loc[0, "income"] = 0.0
    model = make_pipeline(StandardScaler(), LogisticRegression())
    model.fit(rows, rows["income"] + rows["savings"] / 2 > 30_000)
    folder = tmp_path_factory.mktemp("amounts")
    actions = ActionSet(immutable=["age", "owner"], units={"income": "EUR", "savings": "EUR"})
    save(NearestAccepted(model, actions, random_state=0).fit(rows), folder / "method.zip")
    with serving(folder, "method.zip") as address:
        yield address
