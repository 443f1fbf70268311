"""What juries buy and cost on the data sets: `make jury`; takes half an hour on two cores, more with GMC.

Frontiers and hypervolumes are those of experiments/jury.toml, means over its seeds, beside all methods without a jury
and beside BetaRCE. Then, for every data set: how many jurors are asked about a row, how long `explain` takes with and
without a jury, and how many of the people to whom a survival was promised have less of it among 500 fresh models.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from sklearn.model_selection import train_test_split

from robust_recourse import Jury, RobustBayesianRecourse, future_models
from robust_recourse.paper.bench.cases import load_rows, prepare
from robust_recourse.paper.bench.classifiers import make_classifier
from robust_recourse.paper.bench.runner import model_folder, run
from robust_recourse.paper.bench.spec import Setting, read_experiment
from robust_recourse.paper.bench.summary import configurations, costs_of, hypervolumes, same_validity
from robust_recourse.paper.datasets import available

DATA = ("synthetic", "german", "sba", "gmc")
KINDS = ("network", "boosted trees")
OURS, MARGIN, PEER = "RBR, jury", "RBR, margin", "BetaRCE"
LEVELS = (0.8, 0.9, 0.95)
ASKED = {"german": 1.15, "gmc": 1.15, "synthetic": 1.0, "sba": 0.99}  # of the hypervolume
SURVIVAL, FRESH = 0.9, 500


class Counted:
    """A model that counts the rows that it is asked about."""

    def __init__(self, model):
        self.model, self.classes_, self.rows = model, model.classes_, 0

    def predict(self, X):
        self.rows += len(X)
        return self.model.predict(X)

    def predict_proba(self, X):
        self.rows += len(X)
        return self.model.predict_proba(X)


def frontiers(name, arguments):
    """Run the experiment on a data set, and return hypervolume ratios, costs and the comparison with the peer."""
    changes = {"datasets": [name]}
    if name == "gmc" and arguments.rows:
        changes["options"] = {"gmc": {"rows": arguments.rows}}
    experiment = read_experiment(Path(__file__).parents[1] / "experiments" / "jury.toml", arguments.profile, changes)
    results = run(experiment, arguments.out / name, n_jobs=arguments.jobs)
    found = []
    for seed, of_seed in results.groupby("seed"):
        points = configurations(of_seed)
        volume = hypervolumes(points, OURS).set_index("method")["future validity"]
        others = volume.drop([method for method in volume.index if "jury" in method or method == PEER])
        ratios = {
            "/ best without a jury": volume[OURS] / others.max(),
            "/ best without jury or margin": volume[OURS] / others.drop(MARGIN).max(),
            "/ BetaRCE": volume[OURS] / volume[PEER],
        }
        costs = costs_of(points, LEVELS).set_index("method").loc[OURS]
        peer = same_validity(points, OURS, PEER)["ratio"]
        costs = {f"cost of {level:g}": costs[f"{level:g}"] for level in LEVELS}
        found.append({"seed": seed, **ratios, **costs, "cost / BetaRCE": peer.mean(), "worst": peer.max()})
    return pd.DataFrame(found).assign(data=name)


def searches(name, arguments, classifier="network"):
    """Count jurors, time, and promises that are broken, on one data set and seed."""
    setting = Setting(classifier=classifier, future_models=1, instances=arguments.people)
    options = {"codes": "missing", "rows": arguments.rows or 20_000} if name == "gmc" else {}
    store = model_folder(arguments.out / "models")
    case = prepare(name, setting, arguments.seed, options=options, folder=store, jurors={"bootstrap": 20})
    how = {"delta_plus": 0.05, "random_state": arguments.seed}
    watched = [Counted(juror) for juror in case.jurors["bootstrap"]]
    present = Counted(case.model)

    def explained(**more):
        method = RobustBayesianRecourse(**{"model": case.model, **how, **more}).fit(case.X_train)
        for model in (*watched, present):
            model.rows = 0
        start = time.process_time()  # of the processor: the machine may be busy
        return method.explain(case.instances), time.process_time() - start

    alone = min(explained()[1] for _ in range(2))  # the first time something may be loaded
    _, together = explained(jury=Jury(list(case.jurors["bootstrap"]), 0.9))
    explained(model=present, jury=Jury(watched, 0.9))
    asked = sum(model.rows for model in watched)
    put = max(model.rows for model in watched)  # the first one is asked about all that the present model accepts
    row = {
        "data": name,
        "classifier": classifier,
        "people": len(case.instances),
        "jurors a row put to them": asked / put,
        "jurors a row of the search": asked / present.rows,
        "seconds with / without": together / alone,
    }
    return row | (promised(name, case, setting, options, store, arguments, how) if arguments.survival else {})


def promised(name, case, setting, options, store, arguments, how):
    """Promise a survival, and put the recourses to models that nobody has seen."""
    data = load_rows(name, options, case.seed)
    train, _ = train_test_split(
        np.arange(len(data.D1)), train_size=setting.train_share, random_state=case.seed, stratify=data.y1
    )
    estimator, y = make_classifier(setting.classifier, case.seed), data.y1[train]
    seeds = {"n_jobs": arguments.jobs, "random_state": case.seed + 1}
    jury = Jury.retrain(estimator, case.X_train, y, n_models=20, survival=SURVIVAL, memory=store, **seeds)
    method = RobustBayesianRecourse(case.model, jury=jury, **how).fit(case.X_train)
    found = method.explain(case.instances)
    fresh = future_models(estimator, case.X_train, y, n_models=arguments.fresh, start=200_000, folder=store, **seeds)
    kept = found.valid & (found.survival_bound >= SURVIVAL)
    share = np.mean([model.predict(found.x[kept]) == 1 for model in fresh], axis=0)
    return {
        "promised": f"{int(kept.sum())} of {len(found.x)}",
        "below": int((share < SURVIVAL).sum()) if kept.any() else 0,
        "broken": float((share < SURVIVAL).mean()) if kept.any() else 0.0,
        "least share": float(share.min()) if kept.any() else np.nan,
        "cost": float(np.nanmean(found.cost[kept])) if kept.any() else np.nan,
    }


def show(title, frame):
    table = Table(title=title)
    for column in frame.columns:
        table.add_column(str(column))
    for row in frame.itertuples(index=False):
        table.add_row(*(f"{value:.3f}" if isinstance(value, float) else str(value) for value in row))
    Console(width=200).print(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", choices=DATA, default=None)
    parser.add_argument("--profile", default="paper", choices=("quick", "paper"))
    parser.add_argument("--rows", type=int, default=None, help="rows of GMC")
    parser.add_argument("--classifier", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--fresh", type=int, default=FRESH)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("jury"))
    parser.add_argument("--frontiers", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--survival", action=argparse.BooleanOptionalAction, default=True)
    arguments = parser.parse_args()
    there = available().set_index("name")["found"]
    names = arguments.data or [name for name in DATA if there[name] != "missing"]
    warnings.filterwarnings("ignore", "The columns of X have very different scales")
    if arguments.frontiers:
        measured = pd.concat([frontiers(name, arguments) for name in names])
        show("Frontiers, by seed", measured)
        means = measured.drop(columns="seed").groupby("data", sort=False).mean().reset_index()
        show("Frontiers, means", means.assign(asked=means["data"].map(ASKED)))
    rows = [searches(name, arguments, kind) for name in names for kind in arguments.classifier]
    show(f"Searches with a jury of 20, quorum 0.9, seed {arguments.seed}", pd.DataFrame(rows))


if __name__ == "__main__":
    main()
