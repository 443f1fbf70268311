from pathlib import Path

import pytest

from robust_recourse.paper.bench import PROFILES, TARGETS
from robust_recourse.paper.bench.juries import sizes
from robust_recourse.paper.bench.spec import SpecError, read_experiment

EXPERIMENTS = Path(__file__).parents[3] / "experiments"

SMALL = """
title = "Small"
datasets = ["synthetic"]
seeds = [0, 1]
instances = 5

[options.gmc]
rows = 100

[profiles.tiny]
instances = 2

[[methods]]
name = "ours"
variant = "small"
method = "RobustBayesianRecourse"
set = { sigma = 0.1 }
grid = { epsilon_0 = [0.0, 0.1], delta_plus = [0.1, 0.2, 0.3] }

[[methods]]
method = "Wachter"
"""


@pytest.fixture
def write(tmp_path):
    def writer(text):
        path = tmp_path / "small.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return writer


def test_a_grid_is_every_combination_beside_what_is_set(write):
    experiment = read_experiment(write(SMALL))
    first, *_, wachter = experiment.configurations
    assert len(experiment.configurations) == 7
    assert dict(first.parameters) == {"sigma": 0.1, "epsilon_0": 0.0, "delta_plus": 0.1}
    assert (first.name, first.variant) == ("ours", "small")
    assert (wachter.name, dict(wachter.parameters)) == ("Wachter", {})
    assert len({tuple(sorted(c.parameters.items())) for c in experiment.configurations}) == 7
    assert (experiment.seeds, experiment.setting.instances, experiment.options["gmc"]["rows"]) == ((0, 1), 5, 100)


def test_overrides_win_over_the_profile_and_the_profile_over_the_file(write):
    path = write(SMALL)
    assert read_experiment(path, "tiny").setting.instances == 2
    assert read_experiment(path, "tiny", {"instances": 3}).setting.instances == 3


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seeds", "sedes", "unknown key: 'sedes'"),
        ('["synthetic"]', '["mnist"]', "datasets must be one of"),
        ('["synthetic"]', '"synthetic"', "datasets must be a list"),
        ('["synthetic"]', "[]", "datasets is missing"),
        ('["synthetic"]', '["synthetic", "synthetic"]', "twice"),
        ('"Small"', "1", "title"),
        ("[0, 1]", "[-1]", "seeds must be at least 0"),
        ("instances = 5", "instances = 0", "instances must be at least 1"),
        ("instances = 5", "train_share = 1.0", "train_share must be below 1"),
        ("instances = 5", 'classifier = "forest"', "classifier must be one of"),
        ("instances = 5", 'actions = "yes"', "actions must be True or False"),
        ("instances = 5", "folds = 1", "folds must be 0 or at least 2"),
        ('"Wachter"', '"Watcher"', "method must be one of"),
        ("sigma = 0.1", "sgima = 0.1", "unknown parameter of RobustBayesianRecourse: 'sgima'"),
        ("sigma = 0.1", "model = 0.1", "unknown parameter"),
        ("sigma = 0.1", "delta_plus = 0.1", "in both set and grid"),
        ("[0.0, 0.1]", "0.1", "grid.epsilon_0 must be a list"),
        ("[options.gmc]", "[options.mnist]", "unknown data set in options"),
        ("title", "title =", "Invalid"),
        ('"ours"', "3", "name in .* must be a text"),
        ("{ sigma = 0.1 }", "3", "set in .* must be a table"),
        ("[options.gmc]\nrows = 100", "options = 3", "options must be tables"),
        ('"Wachter"', '"Wachter"\n[[methods]]\nmethod = "Wachter"', "twice"),
        ('"Wachter"', '"Wachter"\n[[methods]]\nname = "Wachter"\nmethod = "Wachter"', "configuration in common"),
    ],
)
def test_a_file_that_cannot_be_run_says_where_and_why(write, old, new, message):
    assert old in SMALL
    with pytest.raises(SpecError, match=message) as caught:
        read_experiment(write(SMALL.replace(old, new, 1)))
    assert "small.toml" in str(caught.value)


def test_only_the_keys_of_a_table_that_are_given_are_replaced(write):
    changed = read_experiment(write(SMALL), None, {"options": {"gmc": {"codes": "missing"}}})
    assert changed.options == {"gmc": {"rows": 100, "codes": "missing"}}


def test_nothing_to_run_and_unknown_profiles_raise(write):
    with pytest.raises(SpecError, match="nothing to run"):
        read_experiment(write(SMALL[: SMALL.index("[[methods]]")]))
    with pytest.raises(SpecError, match="no profile 'huge'; there are 'tiny'"):
        read_experiment(write(SMALL), "huge")
    with pytest.raises(FileNotFoundError):
        read_experiment(Path("nowhere.toml"))


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("target", TARGETS)
def test_the_experiments_that_come_along_can_be_read(target, profile):
    assert read_experiment(EXPERIMENTS / f"{target}.toml", profile).title


def test_the_paper_profile_is_the_paper_grid():
    experiment = read_experiment(EXPERIMENTS / "pareto.toml", "paper")
    setting = experiment.setting
    assert experiment.datasets == ("synthetic", "german", "sba", "gmc")
    assert (setting.train_share, setting.arrival_share) == (0.8, 0.2)
    assert (setting.future_models, setting.instances, setting.standardise, setting.actions) == (100, 100, True, False)
    papers = [c.parameters for c in experiment.configurations if c.variant == "the paper's scales"]
    assert {(c["epsilon_0"], c["epsilon_1"], c["delta_plus"]) for c in papers} == {
        (a / 2, b / 2, round(0.2 * k, 1)) for a in range(3) for b in range(3) for k in range(6)
    }
    assert {(c["sigma"], c["sampling_radius"]) for c in papers} == {(1.0, 0.2)}
    for surrogate in ("LIME-ROAR", "LIMELS-ROAR"):
        deltas = [c.parameters["delta_max"] for c in experiment.configurations if c.name == surrogate]
        assert sorted(set(deltas)) == [round(0.02 * m, 2) for m in range(11)]


JURY = """
[[methods]]
name = "with a jury"
method = "NearestAccepted"
jury = { models = [5, 10], quorum = [0.5, 0.9], scenario = "deletion" }
"""


def test_values_of_a_jury_are_varied(write):
    *_, last = experiment = read_experiment(write(SMALL + JURY)).configurations
    juries = [configuration.parameters["jury"] for configuration in experiment if "jury" in configuration.parameters]
    assert len(juries) == 4
    assert last.parameters["jury"] == {"models": 10, "quorum": 0.9, "scenario": "deletion"}
    assert sizes([configuration.parameters for configuration in experiment]) == {"deletion": 10}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("models = [5, 10]", "models = 0", "models of a jury must be at least 1"),
        ("models = [5, 10]", "size = 3", "unknown key of a jury: 'size'; there are margin, models, quorum"),
        ("quorum = [0.5, 0.9]", "quorum = [0.5, 1.5]", "quorum"),
        ('"deletion"', '"flood"', "scenario of a jury must be one of"),
        ("NearestAccepted", "Wachter", None),
        ("jury = {", "set = { jury = 3 }\njury = {", "unknown parameter of NearestAccepted: 'jury'"),
    ],
)
def test_juries_that_are_none(write, old, new, message):
    if message is None:
        assert read_experiment(write(SMALL + JURY.replace(old, new)))  # refused when it is fitted
        return
    with pytest.raises(SpecError, match=message):
        read_experiment(write(SMALL + JURY.replace(old, new)))


def test_futures_that_there_are_not(write):
    with pytest.raises(SpecError, match="future must be one of"):
        read_experiment(write('future = "flood"\n' + SMALL))


@pytest.mark.parametrize("profile", PROFILES)
def test_the_experiment_beside_the_jury_can_be_read(profile):
    experiment = read_experiment(EXPERIMENTS / "juries.toml", profile)
    assert sizes([configuration.parameters for configuration in experiment.configurations])["bootstrap"] == 40
