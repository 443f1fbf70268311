"""The ledger: recording against explaining, checking against verifying and predicting, verifying against reading."""

import itertools
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from problem import network

from robust_recourse import NearestAccepted, RobustBayesianRecourse
from robust_recourse.ledger import Ledger
from robust_recourse.ledger.verifying import read_all

COLUMNS, PEOPLE, PROMISES, REPEATS = 20, 10_000, 100_000, 5
UNTIL = "2099-12-31"
MILLION = """
import sys
from ledgers import memory_of_a_check
memory_of_a_check(sys.argv[1])
"""


def seconds(call):
    start = time.perf_counter()
    found = call()
    return time.perf_counter() - start, found


def fill(ledger, n):
    """Record promises, the same rows to other people again and again, until there are so many."""
    model, X, refused = network(COLUMNS)
    method = NearestAccepted(model, random_state=0).fit(X)
    found = method.explain(refused)
    found = found[found.valid]
    for first in range(0, n, len(found)):
        some = found[: n - first]
        people = range(first, first + len(some))
        ledger.record(some, people=people, model="m", method=method, until=UNTIL, notices=["told"] * len(some))
    return model, found.x


def recording(folder):
    model, X, refused = network(COLUMNS)
    method = RobustBayesianRecourse(model, random_state=0).fit(X)
    method.explain(refused[:64])  # the first call builds the tables of the profiles
    explained, found = seconds(lambda: method.explain(refused[:PEOPLE]))
    found, ledger = found[found.valid], Ledger(folder / "recorded.db")
    ledger.verify()
    took, _ = seconds(lambda: ledger.record(found, people=range(len(found)), model="m", method=method, until=UNTIL))
    ratio = took / explained * PEOPLE / len(found)
    return [
        ("recording 10,000 promises: time / explaining them", "<= 0.25", ratio, ratio <= 0.25),
        ("  milliseconds a promise", "", 1e3 * took / len(found), None),
    ]


def checking(folder):
    ledger = Ledger(folder / "checked.db")
    model, rows = fill(ledger, PROMISES)
    table = np.concatenate(list(itertools.islice(itertools.cycle([rows]), -(-PROMISES // len(rows)))))[:PROMISES]
    ratios, verifies, last = [], [], None
    for _ in range(REPEATS):
        predicted, _ = seconds(lambda: model.predict(table))
        verified, _ = seconds(ledger.verify)
        checked, last = seconds(lambda: ledger.check(model, name="new"))
        ratios.append(checked / (verified + predicted))
    for _ in range(3):
        read, _ = seconds(lambda: _read(ledger))
        verified, flaws = seconds(ledger.verify)
        verifies.append(verified / read)
    check, verify = statistics.median(ratios), statistics.median(verifies)
    assert len(last) == PROMISES
    return [
        ("checking 100,000 promises: time / verifying and predicting them", "<= 2", check, check <= 2.0),
        ("verifying 100,000 entries and the file: time / reading the entries", "<= 5", verify, verify <= 5.0),
        ("  promises kept by the model that made them", "= 1", last.share, last.share == 1.0 and not flaws),
    ]


def _read(ledger):
    with ledger._ready.reading_only() as connection:
        return sum(1 for _ in read_all(connection))


def memory_of_a_check(path):
    """Check all promises of a ledger, and print the peak memory of this process before and after, in GiB."""
    model, _, _ = network(COLUMNS)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    check = Ledger(path).check(model, name="new", dry_run=True)
    print(len(check), check.share, before / 2**20, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)


def million():
    """Peak memory while checking 1,000,000 promises; some minutes, most of them to record these."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "million.db")
        fill(Ledger(path), 1_000_000)
        size = path.stat().st_size / 2**30
        command = [sys.executable, "-c", MILLION, str(path)]
        child = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True)
    n, share, before, peak = map(float, child.stdout.split())
    return [
        ("peak memory while checking 1,000,000 promises, GiB", "<= 0.5", peak, peak <= 0.5),
        ("  of which before checking, to train the model", "", before, None),
        ("  promises, kept", "", f"{n:.0f}, {share:.3f}", None),
        ("  the ledger, GiB", "", size, None),
    ]


def run():
    with tempfile.TemporaryDirectory() as folder:
        return [*recording(Path(folder)), *checking(Path(folder))]
