"""What came out: means, frontiers and their hypervolumes."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pandas as pd

from robust_recourse.metrics import hypervolume, pareto_frontier

__all__ = ["accuracies", "configurations", "costs_of", "frontiers", "hypervolumes", "reference_costs", "same_validity"]

VALIDITIES = ("current validity", "future validity")
_MARGIN = 1.1  # so that the dearest point counts too
_CONFIGURATION = ["dataset", "method", "variant", "parameters"]


def configurations(results: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each data set and configuration: means over instances and seeds.

    Costs and changes are means over the rows that have a recourse; a row without one counts as not valid. ``found``
    is the share of rows that have one. ``varied`` names the parameters that vary within a variant.
    """
    # An empty variant comes back from a file as a missing one.
    variant = results["variant"].astype(object).fillna("")
    results = results.assign(found=results["cost"].notna().astype(float), variant=variant)
    means = ["cost", "l2 cost", "changes", *VALIDITIES, "found", "model rows", "seconds"]
    groups = results.groupby(_CONFIGURATION, sort=False)
    table = groups[means].mean().assign(rows=groups.size()).reset_index()
    return table.assign(varied=_varied(table))


def _varied(table: pd.DataFrame) -> list[str]:
    parameters = table["parameters"].map(json.loads)
    seen: dict[tuple[str, str], dict[str, set[str]]] = {}
    for name, variant, given in zip(table["method"], table["variant"], parameters, strict=True):
        for key, value in given.items():
            seen.setdefault((name, variant), {}).setdefault(key, set()).add(str(value))
    return [
        ", ".join(f"{key} {value}" for key, value in given.items() if len(seen[name, variant][key]) > 1)
        for name, variant, given in zip(table["method"], table["variant"], parameters, strict=True)
    ]


def frontiers(points: pd.DataFrame, validity: str = "future validity") -> pd.DataFrame:
    """Keep the configurations on the Pareto frontier of each data set and method, by increasing cost."""
    kept = [points.iloc[:0]] + [
        group.iloc[pareto_frontier(group["cost"], group[validity])]
        for _, group in points.groupby(["dataset", "method"], sort=False)
    ]
    return pd.concat(kept, ignore_index=True)


def reference_costs(points: pd.DataFrame) -> dict[str, float]:
    """Return for each data set 1.1 times the largest cost on the frontier of any method: where the reference lies.

    A data set without a recourse, or whose recourses cost nothing, has the reference cost 1.
    """
    ends = pd.concat([frontiers(points, validity) for validity in VALIDITIES])
    largest = ends.groupby("dataset", sort=False)["cost"].max()
    return {str(name): _MARGIN * float(largest.get(name, 0.0)) or 1.0 for name in points["dataset"].unique()}


def hypervolumes(points: pd.DataFrame, ours: str = "RBR") -> pd.DataFrame:
    """Return the hypervolume of each method's frontier, and the ratio of ours to it.

    The reference point of a data set is (1.1 times the largest cost on the frontier of any method, validity 0), the
    same for all.
    """
    references = reference_costs(points)
    rows = []
    for (name, method), group in points.groupby(["dataset", "method"], sort=False):
        reference = (references[str(name)], 0.0)
        sizes = {validity: hypervolume(group["cost"], group[validity], reference) for validity in VALIDITIES}
        rows.append({"dataset": name, "method": method, "reference cost": reference[0], **sizes})
    table = pd.DataFrame(rows)
    mine = table[table["method"] == ours].set_index("dataset")
    for validity in VALIDITIES:
        with np.errstate(divide="ignore", invalid="ignore"):
            table[f"{ours} / it, {validity}"] = table["dataset"].map(mine[validity]) / table[validity]
    return table


def costs_of(points: pd.DataFrame, levels: Sequence[float], validity: str = "future validity") -> pd.DataFrame:
    """Return the least cost at which each method reaches levels of a validity, and the most that it reaches.

    A level that no configuration of a method reaches is missing.
    """
    rows = []
    for (name, method), group in points.groupby(["dataset", "method"], sort=False):
        reached = {f"{level:g}": group.loc[group[validity] >= level, "cost"].min() for level in levels}
        rows.append({"dataset": name, "method": method, **reached, "most": group[validity].max()})
    return pd.DataFrame(rows)


def same_validity(points: pd.DataFrame, ours: str, theirs: str, validity: str = "future validity") -> pd.DataFrame:
    """Return what a method costs at the validities on another one's frontier, and the ratio of the two costs.

    Where ours reaches such a validity nowhere, its cost and the ratio are missing.
    """
    rows = []
    for name, group in points.groupby("dataset", sort=False):
        mine, other = (group[group["method"] == method] for method in (ours, theirs))
        for level, cost in frontiers(other, validity)[[validity, "cost"]].itertuples(index=False):
            least = mine.loc[mine[validity] >= level, "cost"].min()
            rows.append({"dataset": name, validity: level, theirs: cost, ours: least, "ratio": least / cost})
    return pd.DataFrame(rows)


def accuracies(scores: pd.DataFrame) -> pd.DataFrame:
    """Return mean and standard deviation of accuracy and AUC over the folds, for each data set and half."""
    groups = scores.groupby(["dataset", "data"], sort=False)[["accuracy", "auc"]]
    table = groups.mean().join(groups.std(ddof=0).add_suffix(" deviation")).reset_index()
    return table[["dataset", "data", "accuracy", "accuracy deviation", "auc", "auc deviation"]]
