"""Commands to which things happen: they are killed, interrupted, started twice, and their disk is full."""

from __future__ import annotations

import errno
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

TOML = """
title = "Small"
datasets = ["synthetic"]
classifier = "logistic regression"
future_models = 2
instances = 4
[[methods]]
name = "RBR"
method = "RobustBayesianRecourse"
set = { n_neighbors = 20, n_samples = 20 }
grid = { delta_plus = [0.0, 0.1] }
[[methods]]
name = "Nearest accepted"
method = "NearestAccepted"
[profiles.quick]
[profiles.paper]
"""
FAST = "--set n_samples=20 --set n_neighbors=20"
FILES = "--model model.skops --train train.csv --actions actions.toml --favourable yes"
COMMANDS = {
    "explain": f"explain {FILES} --refused refused.csv --label outcome --id person --method nearest --out out.csv",
    "tune": f"tune {FILES} --outcome outcome --models 2 --people 10 --target 0.5 {FAST}",
    "experiment": "experiment small.toml --out results --jobs 1",
    "reproduce": "reproduce pareto --out page --jobs 1",
}
KEPT = {
    "explain": "out.csv.partial",
    "tune": "tuned.toml.parts/measured",
    "experiment": "results/parts",
    "reproduce": "page/pareto/parts",
}
RESULTS = {
    "explain": ["out.csv"],
    "tune": ["tuned.toml"],
    "experiment": ["results/results.csv"],
    "reproduce": ["page/configurations.csv", "page/hypervolumes.csv"],
}
PATCHES = {
    "robust_recourse.cli._batches._FIRST": "3",
    "robust_recourse.cli._batches._GROWTH": "1",
    "robust_recourse.paper.reproduce.experiment_file": "lambda _: __import__('pathlib').Path('small.toml').resolve()",
}


def pytest_collection_modifyitems(items):
    """All of this needs processes that fork and signals."""
    if os.name != "posix":
        for item in items:
            if "faults" in str(item.path):
                item.add_marker(pytest.mark.skip(reason="needs fork and the signals of POSIX"))


@dataclass
class Starter:
    """The process that starts commands."""

    process: subprocess.Popen
    ended: dict[int, int] = field(default_factory=dict)

    def ask(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self._read("started")

    def code(self, process):
        while process not in self.ended:
            self._read("ended")
        return self.ended.pop(process)

    def _read(self, wanted):
        while line := self.process.stdout.readline():
            message = json.loads(line)
            if "ended" in message:
                self.ended[message["ended"]] = message["code"]
            if wanted in message:
                return message[wanted]
        raise AssertionError("the starter has ended")


@dataclass
class Running:
    """A command."""

    starter: Starter
    process: int
    said: str

    def signal(self, number):
        os.kill(self.process, number)

    def wait(self):
        return self.starter.code(self.process)

    def err(self):
        return Path(self.said + ".err").read_text(encoding="utf-8")

    def steps(self):
        return int(Path(self.said + ".steps").read_text())


@dataclass
class Desk:
    """A folder with the files of all commands, and what runs in it."""

    starter: Starter
    folder: Path
    runs: int = 0

    def start(self, name="", *more, happening="", at=0, pieces=0, **request):
        """Start a command; something may happen `at` one of its steps, or when so many `pieces` are kept."""
        self.runs += 1
        said = str(self.folder.parent / f"said-{self.runs}")
        request = {"patches": PATCHES, "errno": errno.ENOSPC, "folder": str(self.folder), "said": said} | request
        request.setdefault("jobs", False)
        request |= {"happening": happening, "at": at, "pieces": pieces, "kept": KEPT.get(name, "")}
        request.setdefault("command", [*COMMANDS.get(name, "").split(), *more])
        return Running(self.starter, self.starter.ask(request), request["said"])

    def run(self, name, *more, code=0, **options):
        """Run a command to its end, which must be this one."""
        running = self.start(name, *more, **options)
        assert (running.wait(), running.err()) == (code, running.err()), running.err()
        assert "Traceback" not in running.err()
        return running

    def waiting(self, name):
        """Start a command that waits when two pieces are kept."""
        running = self.start(name, happening="wait", pieces=2)
        self.until((self.folder.parent / "waits").exists)
        return running

    def go(self):
        """Let a command go on that waits."""
        (self.folder.parent / "go").touch()

    def until(self, what):
        """Wait for something to become true."""
        for _ in range(6000):
            if what():
                return
            time.sleep(0.01)
        raise AssertionError("it never happened")

    def result(self, name):
        """What a command wrote, but for times."""
        found = {}
        for file in RESULTS[name]:
            path = self.folder / file
            if path.suffix == ".csv":
                found[file] = pd.read_csv(path, dtype=str).drop(columns="seconds", errors="ignore").to_csv()
            else:
                found[file] = path.read_text(encoding="utf-8")
        return found

    def tidy(self, name):
        """Whether nothing is left over: no half files, no locks, and nothing kept that was for the way only."""
        left = {path.name for path in self.folder.rglob("*") if path.name.startswith(".robust-recourse-")}
        left |= {path.name for path in self.folder.rglob("lock")}
        if name in ("explain", "tune"):
            left |= {path.name for path in self.folder.glob("*.part*")}
        return not left


@pytest.fixture(scope="session")
def starter(_own_data):
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "agg"}
    path = Path(__file__).with_name("starter.py")
    with subprocess.Popen(
        [sys.executable, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        made = Starter(process)
        made._read("ready")
        yield made
        process.stdin.close()


@pytest.fixture(scope="session")
def shelf(tmp_path_factory):
    io = pytest.importorskip("skops.io")
    folder = tmp_path_factory.mktemp("shelf")
    rng = np.random.default_rng(0)
    n = 150
    X = pd.DataFrame({"income": rng.normal(30, 8, n).round(1), "months": rng.integers(6, 48, n)})
    y = np.where(X["income"] - 0.3 * X["months"] + rng.normal(0, 3, n) > 22, "yes", "no")
    model = make_pipeline(LogisticRegression()).fit(X, y)
    io.dump(model, folder / "model.skops")
    X.assign(outcome=y).to_csv(folder / "train.csv", index=False)
    refused = X[model.predict(X) == "no"].head(20).reset_index(drop=True)
    refused.insert(0, "person", [f"{i:03d}" for i in range(len(refused))])
    refused.to_csv(folder / "refused.csv", index=False)
    (folder / "actions.toml").write_text('[columns.income]\ndirection = "up"\n', encoding="utf-8")
    (folder / "small.toml").write_text(TOML, encoding="utf-8")
    return folder


@pytest.fixture
def desks(starter, shelf, tmp_path):
    """Makes a folder with all files, as often as it is called."""
    numbers = itertools.count()

    def make():
        folder = tmp_path / str(next(numbers)) / "desk"
        shutil.copytree(shelf, folder)
        return Desk(starter, folder)

    return make


@pytest.fixture
def desk(desks):
    """A folder of its own for a test."""
    return desks()


@pytest.fixture(scope="session")
def whole(starter, shelf, tmp_path_factory):
    """What every command writes if nothing happens, and how many steps it takes; each is run once."""
    known = {}

    def of(name):
        if name not in known:
            folder = tmp_path_factory.mktemp(name) / "desk"
            shutil.copytree(shelf, folder)
            made = Desk(starter, folder)
            steps = made.run(name).steps()
            assert made.tidy(name)
            known[name] = made.result(name), steps
        return known[name]

    return of


def moments(name, steps, n):
    """Draw moments, always the same; the first and the last step are among them."""
    others = random.Random(name).sample(range(2, steps), min(n, steps - 2))
    return sorted({1, steps, *others})


TERM, INT, KILL = signal.SIGTERM, signal.SIGINT, signal.SIGKILL
