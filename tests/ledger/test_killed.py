"""Killed at any moment while recording, a ledger has whole pieces or none, and repeating completes it."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy import select

from robust_recourse.ledger import Ledger
from robust_recourse.ledger.schema import personal

from .conftest import place
from .recorder import PEOPLE, PIECE

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="needs fork and the signals of POSIX"),
]
KILLS = 100


class Recorder:
    """The process that records."""

    def __init__(self, process):
        self.process = process
        assert self._read() == "ready"

    def run(self, where, report, seconds=None):
        self.process.stdin.write(json.dumps([where, str(report), seconds]) + "\n")
        self.process.stdin.flush()
        return int(self._read())

    def _read(self):
        return self.process.stdout.readline().strip()


@pytest.fixture
def recorder():
    path = Path(__file__).with_name("recorder.py")
    with subprocess.Popen(
        [sys.executable, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Recorder(process)
        process.stdin.close()


def look(where, report):
    """What is recorded after a kill: nothing twice, nothing half, nothing reported that is not there."""
    ledger = Ledger(where)
    assert ledger.verify() == []
    with ledger._source.reading_only() as connection:
        people = connection.execute(select(personal.c.person)).scalars().all()
    assert len(set(people)) == len(people)
    counts = Counter(int(person[1:]) // PIECE * PIECE for person in people)
    pieces = {first: counts[first] for first in range(0, PEOPLE, PIECE)}
    assert set(pieces.values()) <= {0, PIECE}
    reported = {int(line) for line in report.read_text(encoding="utf-8").split("\n")[:-1]} if report.exists() else set()
    assert all(pieces[first] == PIECE for first in reported)
    return len(people)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_killed_at_a_hundred_moments(recorder, tmp_path, kind):
    moments, killed, number, seen = random.Random(kind), 0, 0, set()
    with place(kind, tmp_path) as where:
        began = time.monotonic()
        assert recorder.run(_text(where), tmp_path / "whole") == 0
        whole = time.monotonic() - began
        assert look(_text(where), tmp_path / "whole") == PEOPLE
    while killed < KILLS:
        number += 1
        folder = tmp_path / str(number)
        folder.mkdir()
        with place(kind, folder) as where:
            text, report = _text(where), folder / "report"
            for _ in range(10):
                code = recorder.run(text, report, moments.uniform(0.0, 0.4 * whole))
                if code == 0:
                    break
                assert code == -signal.SIGKILL
                killed += 1
                seen.add(look(text, report))
            assert recorder.run(text, report) == 0
            assert look(text, report) == PEOPLE
    assert len(seen) > 5  # in the beginning, in the middle and in the end


def _text(where):
    return where if isinstance(where, str) else where.render_as_string(hide_password=False)
