import json
import sys

import numpy as np
import pytest

from robust_recourse import __version__
from robust_recourse.cli import main
from robust_recourse.paper.demo import run_demo


@pytest.fixture(scope="module")
def small_demo():
    return run_demo(n_models=4, random_state=1)


def test_the_demo_shows_that_robust_recourses_survive(small_demo):
    table = small_demo.table
    assert list(table.index) == ["boundary point", "KDE recourse", "robust recourse"]
    assert list(table.columns) == ["cost", "current validity", "future validity"]
    assert (table["current validity"] == 1.0).all()
    assert table.loc["robust recourse", "future validity"] > 0.9 > table.loc["boundary point", "future validity"]
    np.testing.assert_allclose(table["cost"] - table.loc["boundary point", "cost"], [0.0, 0.1, 0.1], atol=0.01)


def test_the_demo_shows_whose_promise_holds(small_demo):
    loans = small_demo.applicants
    assert list(loans.table.index) == ["cheapest change", "robust recourse", "recourse with a jury"]
    assert (loans.table["current validity"] == 1.0).all()
    assert loans.table.loc["recourse with a jury", "future validity"] > 0.85
    assert loans.table.loc["cheapest change", "future validity"] < 0.75
    assert (loans.found.jury_share >= 0.9).all()
    today, held = loans.shares[:, loans.example]
    assert today < 0.3 < 0.9 < held
    assert not set(map(id, loans.jury.models)) & set(map(id, loans.later))


@pytest.mark.slow
def test_the_command_prints_a_table_and_writes_a_page(tmp_path, capsys, monkeypatch, small_demo):
    monkeypatch.setattr("robust_recourse.paper.demo.run_demo", lambda **_: small_demo)
    assert main(["demo", "--out", str(tmp_path / "new" / "folder")]) == 0
    printed = capsys.readouterr().out
    for word in (
        "cheapest change",
        "recourse with a jury",
        "boundary point",
        "KDE recourse",
        "robust recourse",
        "cost",
        "current validity",
        "future validity",
    ):
        assert word in printed
    page = (tmp_path / "new" / "folder" / "index.html").read_text(encoding="utf-8")
    for said in (printed, page):  # later models have judged both recourses
        assert said.count("The present model accepts exactly these values. Of the later models ") == 2
        assert "Survival was not measured" not in said
    written = {path.name for path in (tmp_path / "new" / "folder").iterdir()}
    for file in (
        "survival.png",
        "jury.png",
        "applicants.csv",
        "illustration.png",
        "worst_case.png",
        "level_sets.png",
        "table.csv",
        "recourses.csv",
    ):
        assert file in written
        assert f'"{file}"' in page
    assert (tmp_path / "new" / "folder" / "explorer" / "index.html").is_file()
    assert '"explorer/index.html"' in page
    assert "explorer" in printed


def test_a_folder_that_cannot_be_written_fails_at_once(tmp_path, capsys):
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert main(["demo", "--out", str(tmp_path / "file")]) == 2
    assert capsys.readouterr().err.startswith("robust-recourse: ")


def test_missing_extras_are_named(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["demo"]) == 2
    assert "pip install 'robust-recourse[report]'" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["unknown"], ["demo", "--models", "0"], ["demo", "--models", "many"]])
def test_wrong_arguments_have_exit_code_two(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage: robust-recourse" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["demo", "--models", "many"], "--models: must be a whole number, got 'many'"),
        (["demo", "--seed", "-1"], "--seed: must be at least 0, got -1"),
        (["explain", "--n-recourses", "2.5"], "--n-recourses: must be a whole number, got '2.5'"),
        (["explain", "--time-limit", "an hour"], "--time-limit: must be a number, got 'an hour'"),
        (["explain", "--quorum", "all"], "--quorum: must be a number, got 'all'"),
        (["explain", "--margin", "x"], "--margin: must be a number, got 'x'"),
        (["explain", "--jobs", "all"], "--jobs: must be a whole number, got 'all'"),
        (["explain", "--threshold", "half"], "--threshold: must be a number, got 'half'"),
        (["serve", "--port", "http"], "--port: must be a whole number, got 'http'"),
    ],
)
def test_what_is_no_number_is_told_what_is_wanted(arguments, wanted, capsys):
    with pytest.raises(SystemExit):
        main(arguments)
    assert wanted in capsys.readouterr().err


def test_the_version(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out.strip() == f"robust-recourse {__version__}"


def test_repeated_overrides_add_up_and_names_are_not_markup(tmp_path, capsys):
    path = tmp_path / "small.toml"
    path.write_text(
        'title = "[b]"\ndatasets = ["synthetic"]\nclassifier = "logistic regression"\nfuture_models = 1\n'
        '[[methods]]\nmethod = "NearestAccepted"\nname = "[/b]"\n',
        encoding="utf-8",
    )
    sets = ["--set", "options.synthetic.n_samples=300", "--set", "options.synthetic.rows=200"]
    assert main(["experiment", str(path), "--out", str(tmp_path / "out"), "--jobs", "1", *sets]) == 0
    printed = capsys.readouterr().out
    assert "[/b]" in printed
    assert "[b]" in printed
    facts = json.loads((tmp_path / "out" / "provenance.json").read_text(encoding="utf-8"))
    assert facts["experiment"]["options"] == {"synthetic": {"n_samples": 300, "rows": 200}}
    assert main(["experiment", str(path), "--set", "instances"]) == 2
    assert "--set instances" in capsys.readouterr().err
