import re

import pandas as pd
import pytest

from robust_recourse.cli import main
from robust_recourse.paper import reproduce as module
from robust_recourse.paper.bench import PROFILES, TARGETS
from robust_recourse.paper.reading import read_comparison
from robust_recourse.paper.reproduce import experiment_file, reproduce

HEAD = """
title = "Small"
datasets = ["synthetic", "german"]
classifier = "logistic regression"
future_models = 2
instances = 4
[profiles.quick]
[profiles.paper]
instances = 3
"""
RBR = """
[[methods]]
name = "RBR"
method = "RobustBayesianRecourse"
set = { n_neighbors = 50, n_samples = 30 }
grid = { delta_plus = [0.1, 0.2] }
"""
JURIES = """
[[methods]]
name = "RBR, jury"
method = "RobustBayesianRecourse"
set = { n_neighbors = 50, n_samples = 30 }
jury = { models = 3, quorum = [0.5, 0.9] }
[[methods]]
name = "BetaRCE"
method = "BetaRCE"
set = { delta = 0.3 }
jury = { models = 3 }
"""
SMALL = {
    "table1": HEAD.replace("[profiles.quick]", "folds = 2\n[profiles.quick]", 1),
    "pareto": HEAD + RBR + '[[methods]]\nname = "Nearest accepted"\nmethod = "NearestAccepted"\n',
    "jury": HEAD + RBR + JURIES,
    "juries": HEAD + RBR.replace('"RBR"', '"none"') + JURIES,
    "published": HEAD.replace(', "german"', "") + RBR,
    "figure1": HEAD.replace(', "german"', "") + RBR.replace("[0.1, 0.2]", "[0.2]"),
    "figure3": HEAD.replace(', "german"', "") + RBR.replace("[0.1, 0.2]", "[0.2]"),
}


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Small experiments on a machine without data."""
    for name, text in SMALL.items():
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(module, "experiment_file", lambda name: tmp_path / f"{name}.toml")
    monkeypatch.setenv("ROBUST_RECOURSE_DATA", str(tmp_path / "nothing"))
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda *_, **__: str(tmp_path / "no cache"))
    return tmp_path / "out"


@pytest.mark.slow
def test_everything_is_on_the_page_with_the_numbers_behind_it(small):
    done = reproduce(TARGETS, small)
    page = done.page.read_text(encoding="utf-8")
    headings = re.findall(r"<h2[^>]*>(.*?)</h2>", page)
    assert [heading.split(":")[0] for heading in headings if heading.startswith(("Table", "Figure"))] == [
        "Table 1", "Figure 2", "Figure 1", "Figure 3",
    ]  # fmt: skip
    linked = set(re.findall(r'(?:href|src)="([^"#]+)"', page))
    assert {"pareto.png", "figure1.png", "figure3.png", "pareto/results.csv", "pareto/provenance.json"} <= linked
    for file in linked:
        assert (small / file).is_file()
    juries = ("jury_costs", "jury_hypervolumes", "jury_peer", "juries_network", "juries_boosted_trees")
    for name in ("table1", "configurations", "frontiers", "hypervolumes", "published_points", *juries):
        written = pd.read_csv(small / f"{name}.csv")
        assert len(written) == len(done.tables[name]) > 0
        assert f"{name}.csv" in linked
    assert "German Credit" in re.search(r"Left out[^<]*", page).group()
    assert done.left_out == ("german",)
    paper = done.tables["table1"].set_index("data")
    assert (paper.loc["D1", "accuracy (paper)"], paper.loc["D2", "auc (paper)"]) == (0.99, 0.99)


def test_a_second_call_only_writes_the_page_again(small, monkeypatch):
    first = reproduce(["pareto"], small)

    def fail(*_, **__):
        raise AssertionError("ran again")

    monkeypatch.setattr("robust_recourse.paper.bench.runner._explain", fail)
    monkeypatch.setattr("robust_recourse.paper.bench.runner.prepare", fail)
    again = reproduce(["pareto"], small)
    pd.testing.assert_frame_equal(first.tables["hypervolumes"], again.tables["hypervolumes"])


def test_data_that_were_asked_for_must_be_there(small, capsys):
    assert main(["reproduce", "pareto", "--datasets", "synthetic", "german", "--out", str(small)]) == 2
    message = capsys.readouterr().err
    assert "robust-recourse datasets fetch german" in message
    assert not (small / "pareto").exists()
    assert main(["reproduce", "pareto", "--datasets", "mnist", "--out", str(small)]) == 2
    assert "mnist" in capsys.readouterr().err


@pytest.mark.slow
def test_the_command_prints_tables_and_the_page(small, capsys):
    arguments = ["reproduce", "all", "--profile", "paper", "--out", str(small), "--jobs", "1", "--format", "parquet"]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert "Accuracy and AUC" in printed
    assert "Left out, not on this machine: german" in printed
    assert str(small / "index.html") in printed.replace("\n", "")
    results = pd.read_parquet(small / "pareto" / "results.parquet")
    assert results.groupby(["method", "parameters"]).size().eq(3).all()


def test_a_data_set_that_is_named_twice_counts_once(small):
    once, twice = (reproduce(["pareto"], small, datasets=["synthetic"] * n).tables["configurations"] for n in (1, 2))
    pd.testing.assert_frame_equal(once, twice)


def test_wrong_targets_and_profiles_raise(small):
    with pytest.raises(ValueError, match="target must be one of"):
        reproduce(["table2"], small)
    with pytest.raises(ValueError, match="profile must be one of"):
        reproduce(["table1"], small, profile="huge")
    assert not small.exists()


@pytest.mark.parametrize("target", TARGETS)
def test_the_experiments_come_with_the_library(target):
    assert experiment_file(target).name == f"{target}.toml"


def test_an_unknown_experiment_says_where_it_was_looked_for():
    with pytest.raises(FileNotFoundError, match="there is no experiment 'table9'"):
        experiment_file("table9")
    assert PROFILES == ("quick", "paper")


def comparison(others):
    rows = [("RBR", 1.0, 0.8), ("RBR", 2.0, 0.95), *others]
    points = pd.DataFrame(rows, columns=["method", "cost", "future validity"]).assign(dataset="sba")
    volumes = pd.DataFrame(
        {"dataset": "sba", "method": ["RBR", "other"], "future validity": [0.6, 0.5 if others[0][1] > 1 else 0.7]}
    )
    return read_comparison(points, volumes, "RBR", {"sba": "SBA"})


def test_the_reading_says_who_is_ahead_and_what_validity_costs():
    (better,) = comparison([("other", 3.0, 0.9), ("other", 2.5, 0.7)])
    assert better.startswith(
        "SBA: in future validity the frontier of RBR is the largest (hypervolume 0.600; other 0.500)."
    )
    assert "other reaches at most 0.900 of the future models, at cost 3.00; for that RBR needs 2.00." in better
    (worse,) = comparison([("other", 0.5, 0.99)])
    assert "the frontier of RBR is smaller than that of other" in worse
    assert "other reaches at most 0.990 of the future models, at cost 0.50; RBR reaches 0.950 at most." in worse
    (nothing,) = comparison([("other", float("nan"), 0.0)])
    assert "other found no recourse." in nothing
