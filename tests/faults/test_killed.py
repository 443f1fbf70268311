"""A command that was killed continues when it is run again, and ends as if nothing had happened."""

from pathlib import Path

import pandas as pd
import pytest

from robust_recourse.ledger import Ledger

from .conftest import COMMANDS, INT, KILL, TERM, moments


@pytest.mark.parametrize("name", COMMANDS)
def test_killed_at_any_moment_it_ends_as_if_nothing_had_happened(desks, whole, name):
    expected, steps = whole(name)
    for at in moments(name, steps, 6 if name == "explain" else 2):
        desk = desks()
        desk.run(name, happening="kill", at=at, code=-KILL)
        desk.run(name)
        assert desk.result(name) == expected
        assert desk.tidy(name)


def test_killed_again_and_again_it_still_ends(desk, whole):
    expected, steps = whole("explain")
    for at in range(8, steps, 5):
        if desk.start("explain", happening="kill", at=at).wait() != -KILL:
            break
    else:
        desk.run("explain")
    assert desk.result("explain") == expected
    assert desk.tidy("explain")


@pytest.mark.slow
def test_killed_while_promising_nobody_is_promised_twice(desks, whole):
    promising = "--ledger", "promises.db", "--until", "2099-12-31"
    expected = whole("explain")[0]
    steps = desks().run("explain", *promising).steps()
    recorded = set()
    for at in moments("promise", steps, 8):
        desk = desks()
        ledger = Ledger(desk.folder / "promises.db")
        desk.run("explain", *promising, happening="kill", at=at, code=-KILL)
        assert ledger.verify() == []
        n = len(ledger.promises())
        assert n == 20 or not (n or (desk.folder / "out.csv").exists())  # told only what is recorded
        recorded.add(n)
        desk.run("explain", *promising)
        assert desk.result("explain") == expected
        assert desk.tidy("explain")
        assert ledger.verify() == []
        assert ledger.promises()["person"].tolist() == [f"{i:03d}" for i in range(20)]
        assert len(ledger.promises(None)) == 20
    assert recorded == {0, 20}


STOPPED = {
    "explain": "rows are finished and kept in out.csv.partial. Run the same command again to continue",
    "tune": "are finished and kept in tuned.toml.parts. Run the same command again to continue",
    "experiment": "what is finished is kept in results. Run the same command again to continue",
    "reproduce": "what is finished is kept in page. Run the same command again to continue",
}


@pytest.mark.parametrize(("number", "code", "word"), [(INT, 130, "interrupted"), (TERM, 143, "terminated")])
@pytest.mark.parametrize("name", COMMANDS)
def test_stopped_it_says_how_to_go_on(desk, whole, name, number, code, word):
    expected, _ = whole(name)
    running = desk.waiting(name)
    running.signal(number)
    assert running.wait() == code
    line = running.err()
    assert line.startswith(f"robust-recourse: {word}: ")
    assert line.count("\n") == 1
    assert STOPPED[name] in line
    desk.run(name)
    assert desk.result(name) == expected
    assert desk.tidy(name)


def _helpers(process):
    """The processes below a process."""
    try:
        below = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return set()
    return {int(child) for child in below} | {other for child in below for other in _helpers(int(child))}


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc to see processes")
@pytest.mark.parametrize("number", [INT, TERM])
def test_stopped_with_several_jobs_it_leaves_no_process_behind(desk, number):
    people = pd.read_csv(desk.folder / "refused.csv").drop(columns="person")
    people = people.sample(3000, replace=True, random_state=0)
    people.to_csv(desk.folder / "refused.csv", index=False)
    command = COMMANDS["explain"].replace("--id person --method nearest", "--jobs 2").split()
    running = desk.start("explain", command=command, jobs=True)
    # Two that work, and one that cleans up after them.
    desk.until(lambda: len(_helpers(running.process)) >= 3 and list(desk.folder.rglob("*.piece")))
    helpers = _helpers(running.process)
    running.signal(number)
    assert running.wait() == 128 + number
    assert "rows are finished and kept" in running.err()
    desk.until(lambda: not any(Path(f"/proc/{process}").exists() for process in helpers))
