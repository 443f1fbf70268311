"""How cheap a future validity can be at all, beside what BetaRCE pays: the limits that docs/jury.md speaks of.

Two columns (synthetic): an oracle that knows the future models. For a multiplier m let every person have the point of a
grid, among those that the present model accepts, with the least cost - m * (share of the future models that accept).
With f(m) the mean of these over people, any method whose recourses lie on the grid and have a mean future validity of
at least v costs at least f(m) + m v on average, by weak duality; the bound is the largest over m. Points between those
of the grid are not looked at: what that may be worth is the sum of the sides of a cell, which is printed.

More columns: what the boundary points cost, the least that the present model asks for, whatever comes later; and
whether rows at a part of that cost are accepted, which change one or two columns, or several at random. No bound, but
what knowing the future is worth to the same search: its cost, relative to BetaRCE's at the future validities of that
frontier, when the future models themselves are the jury.
"""

import argparse
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from jury import PEER, show

from robust_recourse import Jury, RobustBayesianRecourse
from robust_recourse.metrics import accepted_by, future_validity
from robust_recourse.paper.bench.cases import prepare
from robust_recourse.paper.bench.runner import model_folder, run
from robust_recourse.paper.bench.spec import read_experiment
from robust_recourse.paper.bench.summary import configurations, costs_of, frontiers

LEVELS = (0.8, 0.9)
MULTIPLIERS = np.concatenate([np.linspace(0.0, 1.0, 41), np.geomspace(1.05, 20.0, 30)])
PARTS = (0.99, 0.97, 0.95, 0.9, 0.85, 0.8)  # of the cost of a boundary point
SPLITS = np.linspace(0.0, 1.0, 11)  # of a cost between two columns
RANDOM = 2000  # rows that change several columns
QUORUMS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.96)  # of the future models


def bounds_of(people, points, share, levels):
    """Return the least mean cost of recourses among `points` whose mean share is at least each level."""
    values = np.empty((len(people), len(MULTIPLIERS)))
    for values_of, person in zip(values, people, strict=True):
        cost = np.abs(points - person).sum(axis=1)
        # Of all points that as many models accept only the cheapest can be the best, for any multiplier.
        votes, place = np.unique(share, return_inverse=True)
        least = np.full(len(votes), np.inf)
        np.minimum.at(least, place, cost)
        values_of[:] = (least[:, None] - votes[:, None] * MULTIPLIERS).min(axis=0)
    f = values.mean(axis=0)
    return {level: float((f + MULTIPLIERS * level).max()) for level in levels}


def oracle(case, cells):
    """Return the bounds for a case with two columns, and how much lower they may be off the grid."""
    both = np.concatenate([case.X_train, case.instances])
    sides = [np.linspace(low - 0.5, high + 0.5, cells) for low, high in zip(both.min(0), both.max(0), strict=True)]
    points = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
    points = points[accepted_by(case.model, points)]
    share = np.mean([accepted_by(model, points) for model in case.future], axis=0)
    return bounds_of(case.instances, points, share, LEVELS), float(sum(side[1] - side[0] for side in sides))


def boundary(case, seed):
    """Return what the boundary points cost, and the least that rows at a part of that cost were accepted at."""
    method = RobustBayesianRecourse(case.model, sampling_radius=0.2, delta_plus=0.0, random_state=seed)
    found = method.fit(case.X_train).explain(case.instances)
    cost = np.abs(found.boundary - case.instances).sum(axis=1)
    rng, p = np.random.default_rng(seed), case.instances.shape[1]
    pairs = [
        (j, k, s * a, t * (1.0 - a))
        for j, k in combinations(range(p), 2)
        for s in (-1.0, 1.0)
        for t in (-1.0, 1.0)
        for a in SPLITS
    ]
    ways = np.zeros((len(pairs), p))
    for way, (j, k, a, b) in zip(ways, pairs, strict=True):
        way[j], way[k] = a, b
    several = rng.laplace(size=(RANDOM, p)) * (rng.random((RANDOM, p)) < rng.random((RANDOM, 1)))
    several = several[np.abs(several).sum(axis=1) > 0.0]
    ways = np.concatenate([ways, several / np.abs(several).sum(axis=1, keepdims=True)])
    least = cost.copy()
    for i, person in enumerate(case.instances):
        for part in PARTS:
            if accepted_by(case.model, person + part * cost[i] * ways).any():
                least[i] = part * cost[i]
    return float(cost.mean()), float(least.mean())


def clairvoyant(case, seed):
    """Return costs and future validities of searches that the future models themselves judge, of shape (n, 2)."""
    points = []
    for quorum in (None, *QUORUMS):
        jury = None if quorum is None else Jury(list(case.future), quorum)
        method = RobustBayesianRecourse(
            case.model, case.actions, sampling_radius=0.2, delta_plus=0.0, jury=jury, random_state=seed
        )
        found = method.fit(case.X_train).explain(case.instances)
        points.append((found.cost.mean(), future_validity(case.future, found.x).mean()))
    return np.array(points)


def cost_at(points, validity):
    """Return the least cost of a mixture of two settings that has a validity on average; NaN if none has it."""
    cost, kept = points.T
    low, high = np.flatnonzero(kept < validity), np.flatnonzero(kept >= validity)
    share = (validity - kept[low, None]) / (kept[high] - kept[low, None])
    mixed = cost[low, None] + share * (cost[high] - cost[low, None])
    return min([*cost[high], *mixed.ravel()], default=np.nan)


def limits(name, arguments):
    """Return one line for every seed."""
    path = Path(__file__).parents[1] / "experiments" / "jury.toml"
    changes = {"datasets": [name], "seeds": arguments.seeds}
    changes |= {"instances": arguments.people, "future_models": arguments.future}
    if name == "gmc":
        changes["options"] = {"gmc": {"rows": arguments.rows}}
    experiment = read_experiment(path, "paper", changes)
    experiment = replace(experiment, methods=tuple(grid for grid in experiment.methods if grid.name == PEER))
    out = arguments.out / name
    results = run(experiment, out, n_jobs=arguments.jobs)
    lines = []
    for seed, of_seed in results.groupby("seed"):
        options = experiment.options.get(name, {})
        case = prepare(name, experiment.setting, seed, options=options, folder=model_folder(out / "cache"))
        paid = costs_of(configurations(of_seed), LEVELS).iloc[0]
        peer = {f"{PEER} at {level:g}": float(paid[f"{level:g}"]) for level in LEVELS}
        cost, least = boundary(case, seed)
        line = {"data": name, "seed": seed, **peer, "boundary": cost, "least found": least}
        if case.X_train.shape[1] == 2:
            bounds, cell = oracle(case, arguments.cells)
            line |= {f"oracle at {level:g}": bound for level, bound in bounds.items()} | {"cell": cell}
            line |= {f"ratio at {level:g}": bounds[level] / float(paid[f"{level:g}"]) for level in LEVELS}
        else:
            line |= {f"ratio at {level:g}": cost / float(paid[f"{level:g}"]) for level in LEVELS}
            theirs = frontiers(configurations(of_seed))
            known = clairvoyant(case, seed)
            line["boundary / all of it"] = float(np.mean(cost / theirs["cost"]))
            at = [cost_at(known, validity) for validity in theirs["future validity"]]
            line["clairvoyant / all of it"] = float(np.mean(at / theirs["cost"]))
        lines.append(line)
    return pd.DataFrame(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=["synthetic", "sba"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--rows", type=int, default=20_000, help="rows of GMC")
    parser.add_argument("--cells", type=int, default=400, help="points of a side of the grid")
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--future", type=int, default=100, help="future models")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("jury"))
    arguments = parser.parse_args()
    for name in arguments.data:
        show(f"Limits, {name}", limits(name, arguments))


if __name__ == "__main__":
    main()
