"""The gate of the engine: a slice of it passes, and it fails whoever makes the search worse."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
SLICE = ["lender.boosted.labels", "bank.logistic.scores", "steps.forest.labels"]


@pytest.fixture(scope="module")
def gate():
    if not FOLDER.exists():
        pytest.skip("The benchmarks are not here.")
    sys.path.insert(0, str(FOLDER))
    try:
        spec = importlib.util.spec_from_file_location("engine_gate", FOLDER / "engine_gate.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(FOLDER))
    return module


@pytest.mark.slow
def test_the_search_costs_no_more_than_it_did(gate, capsys):
    code = gate.main(["--only", *SLICE, "--people", "5", "--jobs", "1"])
    if code == gate.NOT_COMPARED:
        pytest.skip("The record was made with other versions, or on another kind of processor.")
    assert code == gate.PASSED, capsys.readouterr().out


def test_everything_is_recorded(gate):
    _, record = gate.read()
    assert list(record) == [case.name for case in gate.cases()]
    assert gate.RECORD.stat().st_size < 80_000
    for what in record.values():
        assert len(what["problem"]) == 1
        assert all(len(values) == gate.PEOPLE for key, values in what.items() if key not in {"problem", "calls"})


def dearer(factor, people):
    def change(seen):
        seen["cheapest"] = [cost * factor if i < people else cost for i, cost in enumerate(seen["cheapest"])]

    return change


def lose(seen):
    seen["cheapest"][3] = float("nan")


@pytest.mark.parametrize(
    ("name", "change", "code"),
    [
        ("lender.boosted.scores", dearer(1.0, 30), 0),
        ("lender.boosted.scores", dearer(0.9, 30), 0),
        ("lender.boosted.scores", dearer(1.009, 30), 0),
        ("lender.boosted.scores", dearer(1.011, 30), 1),
        ("lender.boosted.scores", dearer(1.29, 1), 0),
        ("lender.boosted.scores", dearer(1.31, 1), 1),
        ("lender.boosted.scores", lose, 1),
        ("lender.boosted.labels", dearer(1.019, 30), 0),
        ("lender.boosted.labels", dearer(1.021, 30), 1),
        ("wide24.forest.scores", dearer(1.029, 30), 0),
        ("wide24.forest.scores", dearer(1.031, 30), 1),
        ("wide24.network.scores", dearer(1.011, 30), 1),
        ("steps.boosted.labels", dearer(1.059, 30), 0),
        ("steps.boosted.labels", dearer(1.061, 30), 1),
        ("lender.boosted.scores", lambda seen: seen.update(problem=["of somebody else"]), 2),
    ],
)
def test_the_verdict(gate, capsys, name, change, code):
    tool, record = gate.read()
    seen = json.loads(json.dumps(record[name]))
    change(seen)
    case = next(case for case in gate.cases() if case.name == name)
    assert gate.judged([(case, seen, 0.0)], record, tool) == code
    last = capsys.readouterr().out.strip().splitlines()[-1]
    assert last == ["PASSED", f"FAILED: {name}", "NOT COMPARED"][code]
