"""What the pages show must run, and print what they say it prints."""

import contextlib
import io
import re
import shlex
from itertools import zip_longest
from pathlib import Path

import pytest

from robust_recourse.cli import main
from robust_recourse.paper.datasets import DatasetError, load

ROOT = Path(__file__).parent.parent
FENCE = re.compile(r"^```(python|console)\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)
# Comment lines at the end of a block are what it prints.
PRINTED = re.compile(r"(?:^#(?: .*)?\n)+\Z", flags=re.MULTILINE)
NUMBER = re.compile(r"[+-]?\d+(?:\.(\d*))?(?:e[+-]?\d+)?")
COMMAND = re.compile(r"\$ robust-recourse((?:.*\\\n)*.*\n)")


@pytest.mark.slow
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
        "docs/ledger.md",
        "docs/cluster.md",
        "docs/service.md",
        "docs/page.md",
    ],
)
def test_every_example_runs_and_prints_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_python((ROOT / page).read_text(encoding="utf-8"), page)


@pytest.mark.slow
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


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("cost 0.8312, 3 rows", "cost 0.8311, 3 rows"),
        ("[[-0.14  0.3 ]]", "[[-0.14  0.31]]"),
        ("[0.1  0.25]", "[0.11 0.25]"),
        ("1.234e-05 of all", "1.235e-05 of all"),
        ("-0.0", "0.0"),
        ("3 of 1,300", "3 of 1,300"),
    ],
)
def test_the_last_digit_may_differ(printed, expected):
    assert differing([printed], [expected]) == []


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("cost 0.8313, 3 rows", "cost 0.8311, 3 rows"),
        ("cost 0.8311, 3 rows", "cost 0.8311, 4 rows"),
        ("cost 0.83", "price 0.83"),
        ("0.83", "nan"),
        ("0.5 0.5", "0.5"),
        ("1.234e-05", "1.234e-04"),
        ("1,300 rows", "1,301 rows"),
        ("v1", "v1.0 ok"),
    ],
)
def test_nothing_else_may_differ(printed, expected):
    assert differing([printed], [expected]) == [(printed, expected)]
    assert differing([printed, printed], [printed]) == [(printed, None)]


def differing(printed, expected):
    """Pairs of lines that say something else, or the same with numbers more than one of their last digit apart."""
    return [(a, b) for a, b in zip_longest(printed, expected) if a != b and not (a and b and agree(a, b))]


def agree(printed, expected):
    """Whether two lines are the same but for last digits, and for spaces that align these."""
    if "".join(NUMBER.sub("0", printed).split()) != "".join(NUMBER.sub("0", expected).split()):
        return False
    return all(
        abs(float(a[0]) - float(b[0])) <= 1.001 * max(last_digit(a), last_digit(b))
        if "." in a[0] + b[0]
        else a[0] == b[0]
        for a, b in zip(NUMBER.finditer(printed), NUMBER.finditer(expected), strict=True)
    )


def last_digit(number):
    """What one more in the last decimal of a number makes; nothing if it has none."""
    _, _, exponent = number[0].partition("e")
    return 10.0 ** (int(exponent or 0) - len(number[1])) if number[1] else 0.0


def run_block(block, page, namespace):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block, page, "exec"), namespace)
    said = PRINTED.search(block)
    expected = [line[2:] for line in said.group().splitlines()] if said else []
    assert not differing([line.rstrip() for line in printed.getvalue().rstrip().splitlines()], expected), block


def run_command(block):
    """Run a command on this process; what follows it is what it prints."""
    command = COMMAND.match(block)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert main(shlex.split(command.group(1).replace("\\\n", " "))) == 0
    said = block[command.end() :].splitlines()
    assert not differing([line.rstrip() for line in printed.getvalue().splitlines()], said), block
