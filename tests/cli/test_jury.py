"""``explain`` with a jury or a margin, and the settings of ``tune`` that ask for one."""

from __future__ import annotations

import shlex
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from robust_recourse import ActionSet, Jury, NearestAccepted, TunedRecourse
from robust_recourse.cli import main
from robust_recourse.cli._csv import EXACTLY
from robust_recourse.cli._wording import in_options
from robust_recourse.futures import Deletion
from robust_recourse.tuning._families import Family

QUORUM = Family("quorum", 1.0, 0.5, 0.1, axes=False)


@pytest.fixture
def by_hand(lender):
    """What the library finds with the quickest method."""

    def explain(n=None, start=0, scenarios=("bootstrap",), margin=None, seed=0, **told):
        X = lender.train.drop(columns="outcome")
        y = lender.train["outcome"].to_numpy()
        actions = ActionSet(X, immutable=["sex"], increase=["income"], categories={"job": ["part", "full"]})
        how = {"favourable": "yes", "start": start, "random_state": seed}
        jury = None if n is None else Jury.retrain(lender.model, X, y, scenarios, n, **how, **told)
        method = NearestAccepted(lender.model, actions, favourable="yes", margin=margin, jury=jury)
        return method.fit(X).explain(lender.refused)

    return explain


def written(path="out.csv"):
    return pd.read_csv(path, **EXACTLY)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"jury": 5}, {"n": 5}),
        ({"jury": 5, "quorum": 0.6, "seed": 3}, {"n": 5, "quorum": 0.6, "seed": 3}),
        ({"jury": 5, "quorum": 0.8, "jury_rule": "mean"}, {"n": 5, "quorum": 0.8, "rule": "mean"}),
        ({"jury": 3, "scenario": "deletion"}, {"n": 3, "scenarios": [Deletion()]}),
        ({"jury": 5, "margin": 0.7}, {"n": 5, "margin": 0.7}),
    ],
)
def test_a_jury_is_retrained_and_asked(explain, by_hand, folder, options, told, capsys):
    before = {path.name for path in folder.iterdir()}
    assert explain(outcome="outcome", **options) == 0
    margin = told.pop("margin", None)
    found = by_hand(margin=margin, **told)
    np.testing.assert_array_equal(written()["cost"], found.cost)
    np.testing.assert_array_equal(written()["jury_share"], found.jury_share)
    assert (found.cost > by_hand().cost).any()
    printed = capsys.readouterr()
    assert printed.err == ""
    assert f"Jury: {told['n']} retrained models, a " in printed.out
    assert "mean share of guiding models" in printed.out
    assert f"{found.jury_share.mean():.3f} │" in printed.out
    assert "survival at least" not in printed.out
    assert "Survival was not measured." in printed.out
    # Nothing is left but the result.
    assert {path.name for path in folder.iterdir()} - before == {"out.csv"}


def test_a_promised_survival_is_proved_with_other_models(explain, by_hand, capsys):
    assert explain(outcome="outcome", jury=5, survival=0.7, confidence=0.9) == 0
    found = by_hand(5, survival=0.7, confidence=0.9)
    np.testing.assert_array_equal(written()["survival_bound"], found.survival_bound)
    printed = capsys.readouterr().out
    assert "survival at least" in printed
    assert f"{found.survival_bound.min():.3f} │" in printed
    assert "others checked a survival of 0.7 at a confidence of 0.9" in printed


def test_a_margin_needs_no_jury(explain, by_hand, capsys):
    assert explain(margin=0.8) == 0
    np.testing.assert_array_equal(written()["cost"], by_hand(margin=0.8).cost)
    assert (by_hand(margin=0.8).cost > by_hand().cost).any()
    assert "jury" not in capsys.readouterr().out.lower()


@pytest.fixture
def trained(lender, monkeypatch):
    """How often the model is trained."""
    counts = []
    fit = type(lender.model).fit
    monkeypatch.setattr(type(lender.model), "fit", lambda self, *data: counts.append(1) or fit(self, *data))
    return counts


def test_models_are_kept_in_a_folder_and_used_again(explain, trained, capsys):
    assert explain(outcome="outcome", jury=4, folder="kept") == 0
    assert len(trained) == 4
    assert "; kept in kept" in capsys.readouterr().out
    first = written()
    assert explain(outcome="outcome", jury=6, quorum=0.5, folder="kept") == 0
    assert len(trained) == 6
    assert explain(outcome="outcome", jury=4, folder="kept") == 0
    assert len(trained) == 6
    pd.testing.assert_frame_equal(written(), first)


def test_an_interrupted_command_trains_no_model_twice(explain, trained, complaint, monkeypatch, folder):
    def press(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(NearestAccepted, "explain", press)
        assert explain(outcome="outcome", jury=4) == 130
    complaint()
    assert len(trained) == 4
    assert (folder / "out.csv.parts").is_dir()
    assert explain(outcome="outcome", jury=4) == 0
    assert len(trained) == 4
    assert not (folder / "out.csv.parts").exists()


def test_with_another_jury_nothing_is_continued(explain, by_hand, monkeypatch, folder):
    replaced = []
    monkeypatch.setattr("robust_recourse.cli._batches.Batches.forget", lambda _: replaced.append(1))
    for quorum in (0.4, 1.0):
        assert explain(outcome="outcome", jury=5, quorum=quorum) == 0
        np.testing.assert_array_equal(written()["cost"], by_hand(5, quorum=quorum).cost)
    assert len(replaced) == 2
    assert len(list((folder / "out.csv.partial").glob("*.piece"))) == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"quorum": 0.9}, ["--quorum is for models that are retrained", "--jury"]),
        ({"jury_rule": "mean"}, ["--jury-rule is for models", "--jury"]),
        ({"survival": 0.9}, ["--survival is for models", "--jury"]),
        ({"outcome": "outcome"}, ["--outcome is for models", "--jury"]),
        ({"scenario": "seeds"}, ["--scenario is for models", "--jury"]),
        ({"folder": "kept"}, ["--folder is for models", "--jury"]),
        ({"jury": 3}, ["--jury needs --outcome", "train.csv"]),
        ({"jury": 3, "outcome": "result"}, ["--outcome result: train.csv has no such column"]),
        ({"jury": 3, "outcome": "outcome", "confidence": 0.9}, ["--confidence", "--survival"]),
        ({"margin": 0.4}, ["model.skops", "--margin is the least probability", "0.5, got 0.4"]),
        ({"jury": 3, "outcome": "outcome", "method": "wachter"}, ["takes no jury. Use --margin"]),
        ({"jury": 3, "outcome": "outcome", "new": "later.xls"}, ["later.xls: a table ends in"]),
    ],
)
def test_what_does_not_fit_together_is_named_in_one_line(explain, complaint, folder, options, words):
    assert explain(**options) == 2
    line = complaint()
    assert all(word in line for word in words), line
    assert not (folder / "out.csv").exists()


@pytest.mark.parametrize(
    ("option", "value"),
    [("jury", 0), ("quorum", 0), ("quorum", 1.1), ("survival", 1), ("margin", 1), ("margin", 0), ("jury-rule", "all")],
)
def test_numbers_out_of_range(explain, option, value, capsys):
    with pytest.raises(SystemExit) as caught:
        explain(**{option: value})
    assert caught.value.code == 2
    assert f"--{option}" in capsys.readouterr().err


def test_a_survival_that_takes_too_many_models_is_told_with_options(explain, complaint):
    assert explain(outcome="outcome", jury=3, survival=0.999) == 2
    said = complaint()
    assert "Promise less with --survival, or be less sure of it with --confidence." in said
    assert "n_check" not in said


def test_models_of_a_jury_are_named_in_words():
    said = "jury.models[3]: The model raised ValueError. rule='mean' needs probabilities: jury.check[12] answers"
    assert in_options(said) == (
        "Model 3 of the jury: The model raised ValueError. --jury-rule 'mean' needs probabilities: Model 12 that "
        "checks the survival answers"
    )


# Settings


SETTINGS = """\
method = "nearest"
[parameters]
[criterion]
jury = 5
quorum = 0.6
rule = "mean"
first_juror = 7
scenarios = ["bootstrap"]
seed = 4
"""


@pytest.fixture
def settle(folder, explain):
    """Run ``explain`` with a file of settings."""

    def run(text=SETTINGS, **changed):
        (folder / "tuned.toml").write_text(text, encoding="utf-8")
        return explain(method=None, settings="tuned.toml", **{"outcome": "outcome", **changed})

    return run


def test_the_jury_of_settings_is_trained_again(settle, by_hand):
    assert settle() == 0
    found = by_hand(5, start=7, seed=4, quorum=0.6, rule="mean")
    np.testing.assert_array_equal(written()["cost"], found.cost)
    np.testing.assert_array_equal(written()["jury_share"], found.jury_share)


def test_options_replace_what_settings_say(settle, by_hand):
    assert settle(jury=4, quorum=1.0, jury_rule="quorum", margin=0.6) == 0
    found = by_hand(4, start=7, seed=4, quorum=1.0, margin=0.6)
    np.testing.assert_array_equal(written()["cost"], found.cost)


def test_a_margin_of_settings(settle, by_hand):
    assert settle('method = "nearest"\n[parameters]\n[criterion]\nmargin = 0.8\n', outcome=None) == 0
    np.testing.assert_array_equal(written()["cost"], by_hand(margin=0.8).cost)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("quorum = 0.6", "quorum = 2", "quorum must be above 0 and at most 1, got 2"),
        ("quorum = 0.6", 'quorum = "all"', "quorum cannot be 'all'"),
        ("quorum = 0.6", "margin = 1", "margin must be above 0 and below 1, got 1"),
        ("jury = 5", "jury = true", "jury cannot be True"),
        ("jury = 5", "jury = 0", "jury must be at least 1"),
        ("seed = 4", "seed = -1", "seed at least 0"),
        ("quorum = 0.6", "share = 2", "there is no key 'share'; there are margin, jury"),
        ('"mean"', '"median"', "rule must be 'quorum' or 'mean', got 'median'"),
        ('"bootstrap"', '"arrival"', "its jury is trained for arrival, and the options say bootstrap"),
    ],
)
def test_mistakes_in_settings_are_named(settle, complaint, old, new, words):
    assert old in SETTINGS
    assert settle(SETTINGS.replace(old, new)) == 2
    line = complaint()
    assert "tuned.toml" in line
    assert words in line


def test_a_jury_of_settings_needs_outcomes(settle, complaint):
    assert settle(outcome=None) == 2
    assert "tuned.toml: the jury needs --outcome" in complaint()


def test_from_tuning_with_a_jury_to_recourses(folder, lender, capsys, monkeypatch):
    monkeypatch.setattr("robust_recourse.tuning._search.FAMILIES", (QUORUM,))
    fast = "--set n_neighbors=20 --set n_samples=20 --models 2 --people 10 --jury 4 --folder kept"
    files = "--model model.skops --train train.csv --actions actions.toml --outcome outcome --favourable yes"
    assert main(["tune", *files.split(), *fast.split(), "--target", "0.6", "--scenario", "label-noise"]) == 0
    out = capsys.readouterr().out
    assert "quorum 1, budget" in out  # 0.9 of four jurors is all of them
    (command,) = (line.removeprefix("Next: robust-recourse ") for line in out.splitlines() if "Next: " in line)
    assert "--outcome outcome --scenario label-noise --folder kept" in command
    lender.refused.to_csv("refused.csv", index=False)
    kept = sorted(Path("kept/models").iterdir())
    assert main(shlex.split(command)) == 0
    # The jury is the one that was tuned with: no model is new, and the recourses are those of what was found.
    assert sorted(Path("kept/models").iterdir()) == kept
    settings = tomllib.loads((folder / "tuned.toml").read_text(encoding="utf-8"))
    assert {key: settings["criterion"][key] for key in ("jury", "rule", "first_juror", "scenarios", "seed")} == {
        "jury": 4,
        "rule": "quorum",
        "first_juror": 10,
        "scenarios": ["label noise"],
        "seed": 0,
    }
    share = written("recourses.csv")["jury_share"]
    assert (share >= settings["criterion"]["quorum"]).mean() > 0.5


def test_tune_without_a_jury(folder, monkeypatch):  # noqa: ARG001
    asked = []

    def fit(tuned, *_):
        asked.append(tuned.jury)
        raise ValueError("That is all there is to see.")

    monkeypatch.setattr(TunedRecourse, "fit", fit)
    files = "--model model.skops --train train.csv --actions actions.toml --outcome outcome --favourable yes"
    for number, expected in (("0", None), ("7", 7)):
        assert main(["tune", *files.split(), "--jury", number]) == 2
        assert asked.pop() == expected
