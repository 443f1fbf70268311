"""What juries buy, as sections of the page of the evaluation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

import pandas as pd

from robust_recourse.paper.bench.juries import SCENARIOS
from robust_recourse.paper.bench.summary import configurations, costs_of, hypervolumes, same_validity
from robust_recourse.report.page import Picture, Section, Table

__all__ = ["Work", "jury_sections"]

_JURY, _PEER = "RBR, jury", "BetaRCE"
_LEVELS = (0.7, 0.8, 0.9, 0.95, 0.98)


class Work(Protocol):
    """What runs experiments, and keeps what comes out beside the page."""

    def run(self, target: str, folder: str = "", **changes: Any) -> pd.DataFrame:
        """Run an experiment in a folder of its own, with changes of its setting."""
        ...

    def keep(self, name: str, table: pd.DataFrame) -> str:
        """Write a table and return the file's name."""
        ...

    def draw(self, name: str, figure: Any) -> None:
        """Write a figure."""
        ...

    def results(self, target: str) -> list[str]:
        """Return the files of an experiment."""
        ...


def jury_sections(work: Work, titles: Mapping[str, str]) -> list[Section]:
    """Run the experiments and say what a jury buys, what it costs beside BetaRCE, and which futures it survives."""
    from robust_recourse.report import figures

    points = configurations(work.run("jury"))
    work.draw("jury", figures.pareto(points, titles=titles))
    volumes, costs, peer = hypervolumes(points, _JURY), costs_of(points, _LEVELS), same_validity(points, _JURY, _PEER)
    return [
        Section(
            "What a jury buys",
            paragraphs=[
                "A jury is 20 models retrained on bootstraps of the present training data, before anything is "
                "promised. The future models learn from data that arrive later, and no search has seen one."
            ],
            picture=Picture("jury.png", "Pareto frontiers of cost against validity with and without a jury."),
            table=Table(
                _titled(costs, titles), "The least cost of a future validity, and the most that a method reaches"
            ),
            downloads=[work.keep("jury_configurations", points), work.keep("jury_costs", costs), *work.results("jury")],
        ),
        Section(
            "The same, as one number",
            table=Table(_titled(volumes, titles), "Hypervolumes, and how many times larger that of RBR with a jury is"),
            downloads=[work.keep("jury_hypervolumes", volumes)],
        ),
        Section(
            "Beside BetaRCE",
            paragraphs=["The cost at the future validities that BetaRCE, with the same jury, reaches."],
            table=Table(_titled(peer, titles), "What a future validity costs with both"),
            downloads=[work.keep("jury_peer", peer)],
        ),
        *(_futures(work, titles, classifier) for classifier in ("network", "boosted trees")),
    ]


def _futures(work: Work, titles: Mapping[str, str], classifier: str) -> Section:
    """Say which jury survives which future."""
    tables = {}
    for future in SCENARIOS:
        folder = f"juries-{classifier}-{future}".replace(" ", "-")
        tables[future] = configurations(work.run("juries", folder, classifier=classifier, future=future))
    first = tables[SCENARIOS[0]]
    jury = [json.loads(parameters).get("jury", {}) for parameters in first["parameters"]]
    told = [f"{given['models']}, {given.get('scenario', 'bootstrap')}" if given else "none" for given in jury]
    table = pd.DataFrame({"dataset": first["dataset"], "jury": told, "cost": first["cost"]})
    for future, points in tables.items():
        table[future] = points["future validity"].to_numpy()
    return Section(
        f"Which jury survives which future: {classifier}",
        paragraphs=[
            "Rows are juries: how many models, and how they were retrained; a quorum of 0.9 is asked for. Columns are "
            "what happens in fact, with the future validity then. A jury of arrivals has seen parts of the data that "
            "arrive."
        ],
        table=Table(_titled(table, titles), f"Future validity by what the jury knew and what happens, {classifier}"),
        downloads=[work.keep(f"juries_{classifier}".replace(" ", "_"), table)],
    )


def _titled(table: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """Call data sets by their titles."""
    return (
        table.assign(dataset=table["dataset"].map(titles)).rename(columns={"dataset": "data set"}).set_index("data set")
    )
