"""What the pages show must run, and print what they say it prints."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from robust_recourse.cli import main
from robust_recourse.paper.datasets import DatasetError, load

ROOT = Path(__file__).parent.parent
FENCE = re.compile(r"^```(python|console)\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)
# Comment lines at the end of a block are what it prints.
PRINTED = re.compile(r"(?:^#(?: .*)?\n)+\Z", flags=re.MULTILINE)
COMMAND = re.compile(r"\$ robust-recourse((?:.*\\\n)*.*\n)")


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "CONTRIBUTING.md",
        "docs/index.md",
        "docs/tutorial.md",
        "docs/tables.md",
        "docs/experiments.md",
        "docs/guarantees.md",
    ],
)
def test_every_example_runs_and_prints_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_python((ROOT / page).read_text(encoding="utf-8"), page)


def test_the_end_to_end_example_runs_and_prints_what_it_says(tmp_path, monkeypatch):
    pytest.importorskip("skops")
    try:
        load("german")
    except DatasetError as error:
        pytest.skip(str(error))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    page = "docs/german.md"
    text, namespace, commands = (ROOT / page).read_text(encoding="utf-8"), {}, 0
    for kind, block in FENCE.findall(text):
        if kind == "python":
            run_block(block, page, namespace)
        else:
            run_command(block)
            commands += 1
    assert commands == 2
    for written in ("notices.html", "recourses.json", "recourses.csv", "found.csv", "notices/index.html"):
        assert Path(written).stat().st_size > 0


def run_python(text, page):
    """Run the blocks of Python on a page; return how many there are."""
    assert "BENCH_" not in text
    blocks = [block for kind, block in FENCE.findall(text) if kind == "python"]
    namespace = {}
    for block in blocks:
        run_block(block, page, namespace)
    return len(blocks)


def run_block(block, page, namespace):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block, page, "exec"), namespace)
    said = PRINTED.search(block)
    expected = [line[2:] for line in said.group().splitlines()] if said else []
    assert [line.rstrip() for line in printed.getvalue().rstrip().splitlines()] == expected, block


def run_command(block):
    """Run a command on this process; what follows it is what it prints."""
    command = COMMAND.match(block)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert main(shlex.split(command.group(1).replace("\\\n", " "))) == 0
    assert [line.rstrip() for line in printed.getvalue().splitlines()] == block[command.end() :].splitlines(), block
