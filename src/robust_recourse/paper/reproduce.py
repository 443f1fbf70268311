"""The paper's evaluation, from one call to a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse._files import replacing
from robust_recourse._validation import check_choice
from robust_recourse.paper.bench import PROFILES, TARGETS, paper
from robust_recourse.paper.bench.cases import Case, prepare
from robust_recourse.paper.bench.runner import make_method, model_folder, run
from robust_recourse.paper.bench.spec import Experiment, read_experiment
from robust_recourse.paper.bench.summary import accuracies, configurations, frontiers, hypervolumes
from robust_recourse.paper.datasets import available, load
from robust_recourse.paper.demo import longest_bend
from robust_recourse.paper.juries import jury_sections
from robust_recourse.paper.reading import read_comparison
from robust_recourse.report.page import Picture, Section, Table, write_page
from robust_recourse.result import Recourses

__all__ = ["Reproduction", "experiment_file", "reproduce"]

TITLES = {"synthetic": "Synthetic", "german": "German Credit", "sba": "SBA", "gmc": "Give Me Some Credit"}
OURS = "RBR"


@dataclass(frozen=True)
class Reproduction:
    """What was reproduced.

    Attributes
    ----------
    page : Path
        The page to look at.
    tables : dict
        The numbers behind it, by name.
    shown : dict
        The tables of the page, by caption.
    left_out : tuple of str
        Data sets of the profile that are not on this machine.
    """

    page: Path
    tables: dict[str, pd.DataFrame]
    shown: dict[str, pd.DataFrame]
    left_out: tuple[str, ...] = ()


@dataclass
class _Work:
    """What the parts of a reproduction share."""

    out: Path
    profile: str
    datasets: tuple[str, ...] | None
    n_jobs: int | None
    table_format: str
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    left_out: set[str] = field(default_factory=set)

    def experiment(self, target: str) -> Experiment:
        """Read an experiment and keep the data sets that are wanted and there."""
        experiment = read_experiment(experiment_file(target), self.profile)
        if target in _ON_ALL_DATA:
            wanted = experiment.datasets if self.datasets is None else self.datasets
            if self.datasets is None:
                self.left_out |= set(wanted) & _missing()
            experiment = replace(experiment, datasets=tuple(name for name in wanted if name not in self.left_out))
        return experiment

    def run(self, target: str, folder: str = "", **changes: Any) -> pd.DataFrame:
        """Run an experiment in a folder of its own, with changes of its setting; trained models are shared by all."""
        experiment = self.experiment(target)
        return run(
            replace(experiment, setting=replace(experiment.setting, **changes)),
            self.out / (folder or target),
            n_jobs=self.n_jobs,
            table_format=self.table_format,
            cache=self.out / "cache",
        )

    def keep(self, name: str, table: pd.DataFrame) -> str:
        """Write a table beside the page and return the file's name."""
        self.tables[name] = table
        with replacing(self.out / f"{name}.csv") as written:
            table.to_csv(written, index=False)
        return f"{name}.csv"

    def draw(self, name: str, figure: Any) -> None:
        """Write a figure beside the page."""
        with replacing(self.out / f"{name}.png") as written:
            figure.savefig(written, format="png", dpi=150)

    def results(self, target: str) -> list[str]:
        """Return the files of an experiment, as the page links to them."""
        return [f"{target}/results.{self.table_format}", f"{target}/provenance.json"]


def experiment_file(name: str) -> Path:
    """Return the path of an experiment that comes with the library."""
    packaged = Path(str(files("robust_recourse.paper"))) / "experiments"
    source = Path(__file__).parents[3] / "experiments"
    for folder in (packaged, source):
        if (folder / f"{name}.toml").exists():
            return folder / f"{name}.toml"
    raise FileNotFoundError(f"there is no experiment {name!r} in {packaged} or {source}.")


def reproduce(
    targets: Sequence[str],
    out: Path,
    *,
    profile: str = "quick",
    datasets: Sequence[str] | None = None,
    n_jobs: int | None = None,
    table_format: str = "csv",
) -> Reproduction:
    """Run parts of the paper's evaluation and write a page.

    What was finished by an earlier call with the same folder is not run again.

    Parameters
    ----------
    targets : sequence of str
        Any of ``table1``, ``pareto``, ``jury``, ``published``, ``figure1`` and ``figure3``.
    out : Path
        Folder to write to.
    profile : str
        ``"quick"`` or ``"paper"``.
    datasets : sequence of str, optional
        Data sets; by default those of the profile that are on this machine.
    n_jobs : int, optional
        Number of processes.
    table_format : str
        ``"csv"`` or ``"parquet"``, of the table of all results.
    """
    check_choice(profile, "profile", PROFILES)
    for target in targets:
        check_choice(target, "target", TARGETS)
    for name in datasets or ():
        load(name)  # what cannot be read fails now, not after the long work
    out.mkdir(parents=True, exist_ok=True)
    work = _Work(out, profile, None if datasets is None else tuple(dict.fromkeys(datasets)), n_jobs, table_format)
    sections = [section for target in TARGETS if target in targets for section in _SECTIONS[target](work)]
    page = write_page(
        out / "index.html",
        title="Robust Bayesian recourse, the evaluation reproduced",
        lead=_lead(work),
        sections=sections,
    )
    shown = {section.table.caption: section.table.frame for section in sections if section.table is not None}
    return Reproduction(page, work.tables, shown, tuple(sorted(work.left_out)))


def _missing() -> set[str]:
    table = available()
    return set(table.loc[table["found"] == "missing", "name"])


def _lead(work: _Work) -> str:
    text = (
        "Refused people are told what to change; then the model is retrained on data that have shifted. Cost is the L1 "
        "distance in the standardised space, current validity the share of people whose recourse the present model "
        "accepts, future validity the share of pairs of a person and a future model in which it does. Somebody without "
        f"a recourse counts as not accepted, and not in the mean cost. Profile: {work.profile}."
    )
    if work.left_out:
        names = ", ".join(TITLES[name] for name in sorted(work.left_out))
        text += f" Left out because the data are not on this machine: {names}."
    return text


def _table_1(work: _Work) -> list[Section]:
    network, simple = (
        accuracies(work.run("table1", name, classifier=classifier))
        for name, classifier in (("table1", "network"), ("table1-logistic", "logistic regression"))
    )
    keys = ["dataset", "data"]
    table = network.merge(paper.table_1(), on=keys, how="left", suffixes=("", " (paper)"))
    table = table.merge(simple, on=keys, suffixes=("", " (logistic regression)"))

    def cells(score: str, whose: str) -> list[str]:
        pairs = zip(table[score + whose], table[f"{score} deviation{whose}"], strict=True)
        return [f"{mean:.2f} ± {deviation:.2f}" for mean, deviation in pairs]

    shown = pd.DataFrame({"data set": table["dataset"].map(TITLES), "data": table["data"]})
    for score, name in (("accuracy", "accuracy"), ("auc", "AUC")):
        shown[name] = cells(score, "")
        shown[f"{name}, paper"] = cells(score, " (paper)")
    shown["logistic regression"] = [
        f"{accuracy:.2f} / {auc:.2f}"
        for accuracy, auc in zip(
            *(table[f"{score} (logistic regression)"] for score in ("accuracy", "auc")), strict=True
        )
    ]
    off = [
        f"{TITLES[row['dataset']]}, {row['data']}: {score} {row[score]:.3f}, printed {row[score + ' (paper)']:.2f}. "
        + paper.NOTES.get(row["dataset"], "")
        for row in table.to_dict("records")
        for score in ("accuracy", "auc")
        if abs(row[score] - row[score + " (paper)"]) > _CLOSE
    ]
    return [
        Section(
            "Table 1: the classifier",
            paragraphs=[
                "Mean and standard deviation over five folds, of D1 and of D2 separately: trained on four, scored on "
                "the fifth. The last column is accuracy and AUC of a logistic regression on the same folds."
            ],
            table=Table(shown.set_index("data set"), "Accuracy and AUC of the 20-50-20 network"),
            notes=off,
            downloads=[work.keep("table1", table), *work.results("table1")],
        )
    ]


def _pareto(work: _Work) -> list[Section]:
    from robust_recourse.report import figures

    results = work.run("pareto")
    points = configurations(results)
    figure = figures.pareto(points, titles=TITLES)
    work.draw("pareto", figure)
    volumes = hypervolumes(points, OURS)
    shown = volumes.assign(dataset=volumes["dataset"].map(TITLES)).rename(columns={"dataset": "data set"})
    groups = results.drop_duplicates(["dataset", "seed", "row"]).groupby("dataset", sort=False)["held out"]
    people = "; ".join(
        f"{TITLES[str(name)]} {len(held)} ({int(held.sum())} held out, {int((~held).sum())} of the training part)"
        for name, held in groups
    )
    return [
        Section(
            "Figure 2: cost against validity",
            paragraphs=[f"People explained: {people}.", *read_comparison(points, volumes, OURS, TITLES)],
            picture=Picture("pareto.png", "Pareto frontiers of cost against current and future validity, by data set."),
            downloads=[
                work.keep("configurations", points),
                work.keep("frontiers", frontiers(points)),
                *work.results("pareto"),
            ],
        ),
        Section(
            "Frontiers as one number",
            paragraphs=[
                "Hypervolume: the share of the rectangle between the ideal point (cost 0, validity 1) and the "
                "reference point (reference cost, validity 0) that a method's frontier dominates. The reference cost "
                "of a data set is 1.1 times the largest cost on the frontier of any method.",
            ],
            table=Table(shown.set_index("data set"), "Hypervolumes, and how many times larger that of RBR is"),
            downloads=[work.keep("hypervolumes", volumes)],
        ),
    ]


def _published(work: _Work) -> list[Section]:
    setting = work.experiment("published").setting
    points = configurations(work.run("published"))
    theirs = paper.published_points().assign(variant="published code")
    order = {method: k for k, method in enumerate(theirs["method"])}
    table = pd.concat([theirs, points.assign(variant="ours, " + points["variant"])], ignore_index=True)
    table = table.sort_values("method", key=lambda names: names.map(order), kind="stable")
    table["variant"] = table["variant"].str.removesuffix(", ")
    shown = table[["method", "variant", "varied", "cost", "current validity", "future validity", "seconds"]]
    return [
        Section(
            "Known points of the published code",
            paragraphs=[
                f"Synthetic data in their own units, half of the shifted data arrives, {setting.instances} people, "
                f"{setting.future_models} future models from the same weights (the published code: 20 and 100). "
                "Data are those of the published code, and so are the people wherever both networks refuse them; its "
                "networks are its own, and its present model has seen 640 rows, ours 800. Seconds are per person."
            ],
            table=Table(shown.set_index("method"), "Cost and future validity in the published code's setting"),
            downloads=[work.keep("published_points", table), *work.results("published")],
        )
    ]


def _figure(target: str, heading: str, caption: str) -> Callable[[_Work], list[Section]]:
    def section(work: _Work) -> list[Section]:
        from robust_recourse.report import figures

        experiment = work.experiment(target)
        found, case = _explain(experiment, work.out / "cache")
        shown, columns = longest_bend(found), case.encoding.columns
        recourse = found[shown]
        if target == "figure1":
            figure = figures.illustration(recourse, case.model, columns=columns)
        else:
            figure = figures.worst_case(recourse, columns=columns)
        work.draw(target, figure)
        numbers = found.to_frame().rename(columns=dict(enumerate(columns))).assign(shown=np.arange(len(found)) == shown)
        file = work.keep(target, numbers)
        return [Section(heading, picture=Picture(f"{target}.png", caption), downloads=[file])]

    return section


def _explain(experiment: Experiment, cache: Path) -> tuple[Recourses, Case]:
    """Explain the people of an experiment of one data set and one configuration."""
    (name,), (seed,), (configuration,) = experiment.datasets, experiment.seeds, experiment.configurations
    options = experiment.options.get(name, {})
    case = prepare(name, experiment.setting, seed, options=options, folder=model_folder(cache))
    method = make_method(case, configuration)
    return method.fit(case.X_train).explain(case.instances), case


_CLOSE = 0.02
_ON_ALL_DATA = frozenset({"table1", "pareto", "jury", "juries"})  # those that are there

_SECTIONS: dict[str, Callable[[_Work], list[Section]]] = {
    "table1": _table_1,
    "pareto": _pareto,
    "jury": lambda work: jury_sections(work, TITLES),
    "published": _published,
    "figure1": _figure(
        "figure1",
        "Figure 1: one person's way",
        "The star is the refused person, the black circle the boundary point. Around it the model labelled samples: "
        "green accepted, blue refused. The curve is the descent, the red circle the robust recourse.",
    ),
    "figure3": _figure(
        "figure3",
        "Figure 3: what the adversary does",
        "Dashed and light: the Gaussian around each sample. Solid: the worst case at the boundary point. Refused "
        "samples move towards it, accepted ones move away.",
    ),
}
