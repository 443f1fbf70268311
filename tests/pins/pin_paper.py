"""The paper's evaluation, as its commands run it: Table 1 of the quick profile (the network and the logistic regression
on both halves of three data sets), and cost against current and future validity of the paper's methods with some of
their parameters, on twelve people and four future models of two data sets: means of each configuration, and digests of
its rows in ``results.csv``. The engine may change these only where a method's own mathematics changes, and the numbers
of questions as it likes; tables and surface may not. ``pin_quick_profile.py`` has the whole quick profile. Networks are
learnt: all of it holds under the same versions only.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.pins.evaluation import here, of_all, results, run, scores

TABLE_1 = ["synthetic", "german", "sba"]
FEW = ["synthetic", "german"]
EXPERIMENT = """\
title = "A few of the paper's configurations"
datasets = {datasets}
classifier = "network"
train_share = 0.8
arrival_share = 0.2
future_models = 4
instances = 12

[[methods]]
name = "RBR"
variant = "the paper's scales"
method = "RobustBayesianRecourse"
set = {{ sigma = 1.0, sampling_radius = 0.2, axes = false }}
grid = {{ epsilon_0 = [0.0, 1.0], epsilon_1 = [0.0, 1.0], delta_plus = [0.0, 0.2, 0.6] }}

[[methods]]
name = "RBR"
variant = "small scales"
method = "RobustBayesianRecourse"
set = {{ sampling_radius = 0.2, epsilon_0 = 0.06 }}
grid = {{ sigma = [0.05, 0.1], epsilon_1 = [0.0, 0.06], delta_plus = [0.0, 0.1, 0.4] }}

[[methods]]
name = "Wachter"
method = "Wachter"

[[methods]]
name = "LIME-ROAR"
method = "ROAR"
set = {{ surrogate = "lime" }}
grid = {{ delta_max = [0.0, 0.1, 0.2] }}

[[methods]]
name = "LIMELS-ROAR"
method = "ROAR"
set = {{ surrogate = "limels" }}
grid = {{ axes = [false, true], delta_max = [0.0, 0.1, 0.2] }}

[[methods]]
name = "Nearest accepted"
method = "NearestAccepted"
"""


def observe(folder: Path) -> Any:
    """Return the scores of Table 1 and the means of all configurations, by data set."""
    run("reproduce", "table1", "--out", folder / "table1", "--datasets", *here(TABLE_1))
    file = folder / "few.toml"
    file.write_text(EXPERIMENT.format(datasets=here(FEW)), encoding="utf-8")
    run("experiment", file, "--out", folder / "few")
    return {
        "here: table 1": of_all(TABLE_1, scores(folder / "table1" / "table1.csv")),
        "here: configurations": of_all(FEW, results(folder / "few" / "results.csv")),
    }
