"""Pins what the commands answer to mistakes of newcomers, and to the smallest run of each command that is right.

The exit code, and the last line on standard error; all names are relative, so that lines hold no others. A mistake gets
exactly one line, leaves standard output empty and writes nothing; where that is not so today, the record says so with
``lines``, ``usage`` (of the parser, above the line), ``printed`` or ``left``. What other libraries say is cut to three
dots. The surface may change the words, and the names of options in them, but no exit code, and it stays one line that
says what is wrong and where; tables may change the lines about tables, actions and models in the same way, survival
those about promises and later models. The engine and production change nothing here.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import re
import runpy
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
import warnings
from pathlib import Path
from unittest.mock import patch

import pandas as pd
import pytest

CASES = runpy.run_path(str(Path(__file__).with_name("mistakes.py")))
# What others say, who may say it otherwise in another version, and the day.
CUT = [
    (r"\(choose from .*\)", "(choose from ...)"),
    (r"(TOML file: |in quotes\): |train.csv: )Expected.*?(?= \(at)", r"\1..."),
    (r"(can be read: |skops wrote: |can run: |cannot be read: |connection failed: ).*", r"\1..."),
    (r"(training rows|the table|gap.csv): (The feature names|Input X).*?(?= \(Rows|$)", r"\1: ..."),
    (r"(answers there|'Klingon').*", r"\1 ..."),
    (r"it is \d{4}-\d\d-\d\d", "it is TODAY"),
    (r"port \d{3,}: ", "port PORT: "),
]


def observe(folder):
    if sys.platform == "win32":
        pytest.skip("signals, and the words of the system, are others on Windows")
    for package in ("skops", "sqlalchemy", "fastapi", "pyarrow", "matplotlib", "onnxruntime", "distributed", "babel"):
        pytest.importorskip(package)
    with _alone(folder):
        _write()
        processes = {name: _start(given, shut="nobody" in name) for name, given in CASES["PROCESSES"].items()}
        seen = {"right": {name: _run(given)[0] for name, given in CASES["RIGHT"].items()}}
        _alter()
        seen["right"]["verify a ledger that was altered"] = _run(["ledger", "verify", "--ledger", "altered.db"])[0]
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = str(taken.getsockname()[1])
            wrong = {
                name: [port if word == "PORT" else word for word in given] for name, given in CASES["WRONG"].items()
            }
            seen["wrong"] = {name: _mistake(given) for name, given in wrong.items()}
        seen["processes"] = {name: _ended(process) for name, process in processes.items()} | {"served": _served()}
    return seen


@contextlib.contextmanager
def _alone(folder):
    """Be in a folder, with nothing of this user or this terminal."""
    environment = {"XDG_DATA_HOME": str(folder / "own"), "ROBUST_RECOURSE_DATA": str(folder / "data"), "COLUMNS": "120"}
    environment |= {"NO_COLOR": "1", "PYTHON_COLORS": "0", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    (folder / "here").mkdir()
    with patch.dict(os.environ, environment), contextlib.chdir(folder / "here"):
        yield


class Call:
    """What calls a function in the process that reads it from a pickle."""

    def __init__(self, function, *given):
        self.function, self.given = function, given

    def __reduce__(self):
        return self.function, self.given


def _write():
    """Write files that are right, and those with mistakes."""
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler
    from sklearn.svm import LinearSVC
    from skops.io import dump

    from robust_recourse import ActionSet, NearestAccepted, save
    from robust_recourse.ledger import Ledger

    n = range(90)
    cycles = {"job": ["none", "part", "full"], "sex": ["f", "m"]}
    X = pd.DataFrame({"income": [10 + 7 * i % 41 for i in n], "months": [6 + 5 * i % 43 for i in n]})
    X = X.assign(**{name: [values[i % len(values)] for i in n] for name, values in cycles.items()})
    score = X["income"] - 0.3 * X["months"] + 8 * (X["job"] == "full")
    y, stricter = ((score > least).map({True: "yes", False: "no"}) for least in (22, 32))
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["job", "sex"]), (StandardScaler(), ["income", "months"])
    )
    model = make_pipeline(encode, LogisticRegression()).fit(X, y)
    dump(model, "model.skops")
    dump(make_pipeline(encode, LogisticRegression()).fit(X, stricter), "stricter.skops")
    dump(make_pipeline(encode, LinearSVC()).fit(X, y), "svm.skops")
    dump(LogisticRegression().fit(X[["income", "months"]], y), "other.skops")
    dump([1, 2], "list.skops")
    save(NearestAccepted(model, ActionSet(X, immutable=["sex"]), favourable="yes", random_state=0).fit(X), "method.zip")
    # Whoever is started in the background ignores interruptions.
    heard = Call(signal.signal, signal.SIGINT, signal.default_int_handler)
    pickles = {
        "model": model,
        "interrupts": [heard, Call(signal.raise_signal, signal.SIGINT)],
        "terminates": Call(signal.raise_signal, signal.SIGTERM),
    }
    for name, held in pickles.items():
        Path(f"{name}.pkl").write_bytes(pickle.dumps(held))
    Path("cut.pkl").write_bytes(Path("model.pkl").read_bytes()[:-100])
    X.assign(outcome=y).to_csv("train.csv", index=False)
    people = pd.DataFrame({"person": list("abcdef"), "income": range(12, 18), "months": 30, "job": "part", "sex": "f"})
    people.to_csv("refused.csv", index=False)
    for name in ("people", "damaged", "folder.csv", "nothing", "page"):
        Path(name).mkdir()
    people[:3].to_csv("people/1.csv", index=False)
    people[3:].to_csv("people/2.csv", index=False)
    for name, text in CASES["FILES"].items():
        Path(name).write_text(text, encoding="utf-8")
    shutil.copy("people/1.csv", "damaged")
    shutil.copy("long.csv", "damaged")
    shutil.copy("text.txt", "page/index.html")
    Path("latin.csv").write_bytes(
        (CASES["HEAD"] + "\N{LATIN SMALL LETTER E WITH ACUTE},15,20,full,f\n").encode("latin-1")
    )
    Path("text.txt").chmod(0o644)
    Path("short.txt").chmod(0o600)
    Ledger("empty.db").verify()


def _alter():
    """Take the last row of every table of a ledger."""
    shutil.copy("promises.db", "altered.db")
    with contextlib.closing(sqlite3.connect("altered.db")) as connection:
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            if "version" not in table:
                connection.execute(f"DELETE FROM {table} WHERE rowid = (SELECT max(rowid) FROM {table})")
        connection.commit()


def _run(given):
    """Run a command here; return its exit code and what it wrote."""
    from robust_recourse.cli import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("default", UserWarning)  # as a process has it
        try:
            code = main(given)
        except SystemExit as stop:
            code = stop.code
    return code, out.getvalue(), err.getvalue()


def _mistake(given):
    before = _there()
    told = _told(*_run(given))
    after = _there()
    left = sorted({path.parts[0] for path in before.keys() | after.keys() if before.get(path) != after.get(path)})
    for name in left:
        if not any(path.parts[0] == name for path in before):
            shutil.rmtree(name) if Path(name).is_dir() else Path(name).unlink()
    return told | ({"left": left} if left else {})


def _there():
    """Return what is in the folder, and when it was changed."""
    return {path: path.stat().st_mtime_ns for path in Path().rglob("*")}


def _told(code, out, err):
    """Return the exit code and the last line, and what else there is although it should not."""
    *above, line = err.splitlines() or [""]
    for pattern, cut in CUT:
        line = re.sub(pattern, cut, line)
    told = {"code": code, "line": line}
    if above and above[0].startswith("usage: "):
        told["usage"] = True
    elif above:
        told["lines"] = 1 + len(above)
    return told | ({"printed": True} if out else {})


def _start(given, *, shut=False):
    """Start a command in a process, if asked for with a standard output that nobody reads."""
    command = [sys.executable, "-m", "robust_recourse", *given]
    if not shut:
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end, other = os.pipe()
    os.close(end)
    with open(other, "w") as out:
        return subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, text=True)


def _ended(process):
    out, err = process.communicate()
    return _told(process.returncode, out or "", err)


def _served():
    """Serve until somebody had an answer, and end it; return the exit code."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "robust_recourse", "serve", "method.zip", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while process.poll() is None:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/").close()
            except urllib.error.HTTPError:
                break  # an answer, too
            except OSError:
                time.sleep(0.1)
            else:
                break
        process.terminate()
        return process.wait()
    finally:
        process.kill()
        process.wait()
