"""What tuning and certificates are worth on the data sets: `make promises`; takes some minutes.

Tuning chooses on refused training rows and on models of its own. What it found is then measured on other people and on
100 other future models, beside all 54 configurations of the paper's grid. Certified radii are compared with the future
validity of the same recourses.
"""

import itertools
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import spearmanr
from sklearn.model_selection import train_test_split

from robust_recourse import RobustBayesianRecourse, TunedRecourse, certify
from robust_recourse.futures import Arrival
from robust_recourse.metrics import future_validity
from robust_recourse.paper.bench.cases import load_rows, prepare
from robust_recourse.paper.bench.classifiers import make_classifier
from robust_recourse.paper.bench.runner import model_folder
from robust_recourse.paper.bench.spec import Setting

SETTING = Setting(classifier="network", train_share=0.8, arrival_share=0.2, future_models=100, instances=100)
GRID = [
    {"sigma": 1.0, "axes": False, "epsilon_0": e0, "epsilon_1": e1, "delta_plus": plus}
    for e0, e1, plus in itertools.product([0.0, 0.5, 1.0], [0.0, 0.5, 1.0], [0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
]
TARGETS = (0.8, 0.9, 0.95)
PEOPLE = 100  # to tune on
BUDGETS = (0.0, 0.025, 0.05, 0.1, 0.2)  # of the recourses that are certified


class Problem:
    """A case of the evaluation, with the data that arrive."""

    def __init__(self, name, seed, store):
        self.name, self.seed, self.store = name, seed, store
        self.case = prepare(name, SETTING, seed, folder=model_folder(store))
        data = load_rows(name, {}, seed)
        rows = np.arange(len(data.D1))
        train, _ = train_test_split(rows, train_size=SETTING.train_share, random_state=seed, stratify=data.y1)
        self.X, self.y = self.case.X_train, data.y1[train]
        self.others = self.X[~np.isin(train, self.case.rows)]  # who are not among the people of the evaluation
        new = ~np.isin(data.shared, self.case.rows)
        self.arrival = Arrival(self.case.encoding.encode(data.X2)[new], data.y2[new], share=SETTING.arrival_share)

    def method(self, **parameters):
        return RobustBayesianRecourse(self.case.model, actions=self.case.actions, random_state=self.seed, **parameters)

    def measure(self, **parameters):
        """Mean cost, who has no recourse counting as the dearest, and mean future validity."""
        found = self.method(**parameters).fit(self.X).explain(self.case.instances)
        cost = np.where(np.isnan(found.cost), np.nanmax(found.cost), found.cost)
        return cost.mean(), future_validity(self.case.future, found.x).mean()

    def tune(self, target):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "A future validity of .* was not reached")
            return (
                TunedRecourse(
                    self.method(),
                    target,
                    estimator=make_classifier(SETTING.classifier, self.seed),
                    scenarios=[self.arrival],
                    n_people=PEOPLE,
                    folder=self.store / f"{self.name}-{self.seed}",
                    random_state=self.seed + 1000,
                )
                .fit(self.X, self.y, self.others)
                .tuning_
            )


def compare(problem, table):
    """Fill a table with targets, what was measured, and the best of the grid; return how many numbers are missed."""
    grid = np.array([problem.measure(**parameters) for parameters in GRID])
    missed = 0
    for target in TARGETS:
        tuning = problem.tune(target)
        cost, validity = problem.measure(**tuning.parameters)
        as_valid = grid[grid[:, 1] >= validity, 0]
        ratio = cost / as_valid.min() if len(as_valid) else np.nan
        work = tuning.work / (len(GRID) * PEOPLE)
        kept = validity >= target - 0.03 and not ratio > 1.05 if tuning.reached else grid[:, 1].max() < target
        kept = kept and work <= 1 / 3
        missed += not kept
        table.add_row(
            problem.name,
            str(problem.seed),
            f"{target:g}",
            "yes" if tuning.reached else "no",
            str(tuning.future_validity),
            f"{validity:.3f}",
            f"{cost:.3f}",
            f"{ratio:.3f}",
            f"{grid[:, 1].max():.3f}",
            f"{work:.2f}",
            "ok" if kept else "MISSED",
        )
    return missed


def correlate(problem, table):
    """Compare certified radii with measured future validity, over recourses of several budgets."""
    radius, validity = [], []
    judge = problem.method().fit(problem.X)
    for budget in BUDGETS:
        found = problem.method(delta_plus=budget).fit(problem.X).explain(problem.case.instances)
        certificates = certify(judge, found)
        known = np.isfinite(certificates.certified_radius)
        radius.append(certificates.certified_radius[known])
        validity.append(future_validity(problem.case.future, found.x)[known])
    radius, validity = np.concatenate(radius), np.concatenate(validity)
    none = radius == 0.0
    thirds = np.array_split(np.argsort(radius[~none], kind="stable"), 3)
    shares = [f"{validity[~none][part].mean():.3f} ({radius[~none][part].max():.3f})" for part in thirds]
    table.add_row(
        problem.name,
        str(problem.seed),
        str(len(radius)),
        f"{spearmanr(radius, validity).statistic:.2f}",
        f"{validity[none].mean():.3f} ({none.sum()})" if none.any() else "-",
        *shares,
    )


def main(names, seeds=(0, 1, 2)):
    console, missed = Console(width=160), 0
    tuned = Table(
        *("data", "seed", "target", "reached", "checked", "unseen", "cost", "cost / grid", "grid's most", "work", ""),
        title="Tuned, measured on unseen people and models; cost against the best of the grid that is as valid",
    )
    certified = Table(
        *("data", "seed", "recourses", "rank correlation", "no radius", "lowest third", "middle", "highest third"),
        title="Future validity by certified radius (largest radius of the third)",
    )
    with tempfile.TemporaryDirectory() as folder:
        for name, seed in itertools.product(names or ("synthetic", "german", "sba"), seeds):
            console.print(f"{name}, seed {seed} ...", style="dim")
            problem = Problem(name, seed, Path(folder))
            missed += compare(problem, tuned)
            correlate(problem, certified)
    console.print(tuned, certified)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
