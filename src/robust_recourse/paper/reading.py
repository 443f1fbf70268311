"""What came out of a comparison, in plain words made from its numbers."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

__all__ = ["read_comparison"]


def read_comparison(points: pd.DataFrame, volumes: pd.DataFrame, ours: str, titles: Mapping[str, str]) -> list[str]:
    """Return a paragraph for each data set: whose frontier is the larger, and what validity costs.

    Parameters
    ----------
    points : DataFrame
        One row for each configuration, see :func:`robust_recourse.paper.bench.summary.configurations`.
    volumes : DataFrame
        See :func:`robust_recourse.paper.bench.summary.hypervolumes`.
    ours : str
        The method that the others are compared with.
    titles : mapping
        Names of the data sets for readers.
    """
    paragraphs = []
    for name, group in points.groupby("dataset", sort=False):
        here = volumes[volumes["dataset"] == name].set_index("method")["future validity"]
        if ours not in here.index:
            continue
        mine = group[group["method"] == ours]
        sentences = [_volumes(titles.get(str(name), str(name)), here, ours)]
        for method, other in group.groupby("method", sort=False):
            if method != ours:
                sentences.append(_same_validity(str(method), other, mine, ours))
        paragraphs.append(" ".join(sentences))
    return paragraphs


def _volumes(title: str, here: pd.Series[float], ours: str) -> str:
    others = here.drop(ours)
    larger = others[others > here[ours]]
    sizes = ", ".join(f"{method} {size:.3f}" for method, size in others.items())
    verdict = (
        f"in future validity the frontier of {ours} is the largest"
        if larger.empty
        else f"in future validity the frontier of {ours} is smaller than that of {' and '.join(map(str, larger.index))}"
    )
    return f"{title}: {verdict} (hypervolume {here[ours]:.3f}{'; ' * bool(sizes)}{sizes})."


def _same_validity(method: str, other: pd.DataFrame, mine: pd.DataFrame, ours: str) -> str:
    """Compare the cheapest ways to the best future validity that `method` has."""
    column = "future validity"
    if other["cost"].isna().all():
        return f"{method} found no recourse."
    best = other[other[column] == other[column].max()].sort_values("cost").iloc[0]
    reached = mine[mine[column] >= best[column]].sort_values("cost")
    there = f"{method} reaches at most {best[column]:.3f} of the future models, at cost {best['cost']:.2f}"
    if reached.empty:
        return f"{there}; {ours} reaches {mine[column].max():.3f} at most."
    return f"{there}; for that {ours} needs {reached.iloc[0]['cost']:.2f}."
