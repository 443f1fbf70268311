"""The main job on the built-in data: explain, retrain, compare, show."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from robust_recourse._files import private_folder, replacing, write_atomically
from robust_recourse._typing import FloatArray
from robust_recourse.math.projections import weighted_cost
from robust_recourse.methods.bayesian import BayesianRecourse, RobustBayesianRecourse
from robust_recourse.metrics import accepted_by, future_validity
from robust_recourse.notices import describe
from robust_recourse.paper.applicants import Applicants, run_applicants
from robust_recourse.paper.arrivals import arrival_models
from robust_recourse.paper.bench.classifiers import Network
from robust_recourse.paper.datasets.synthetic import make_synthetic
from robust_recourse.result import Recourse, Recourses

__all__ = ["Demo", "run_demo"]

COLUMNS = ["x1", "x2"]
DELTA_PLUS = 0.1


@dataclass(frozen=True)
class Demo:
    """What the demonstration found.

    Attributes
    ----------
    table : DataFrame
        Mean cost, current and future validity of the boundary points, the KDE and the robust recourses.
    robust : Recourses
        The robust recourses.
    model : estimator
        The present model.
    n_models : int
        Number of retrained models.
    seconds : float
        Time that explaining took, for both methods.
    applicants : Applicants
        Refused applicants of a mixed table, without and with a jury.
    """

    table: pd.DataFrame
    robust: Recourses
    model: Any
    n_models: int
    seconds: float
    applicants: Applicants

    @property
    def example(self) -> int:
        """Number of the row to show, the one whose path bends most."""
        return longest_bend(self.robust)


def run_demo(*, n_models: int = 50, random_state: int = 0, n_jobs: int | None = None) -> Demo:
    """Explain the refused test rows of the synthetic data and see how many recourses survive retraining.

    The present data are noise-free, the shifted data have a noisy boundary; 80 % of the present data train a
    20-50-20 network, and every future model is trained on these and 20 % of the shifted data. Costs are L1
    distances in standardised columns.

    Parameters
    ----------
    n_models : int
        Number of future models.
    random_state : int
        Seed of everything.
    n_jobs : int, optional
        Number of processes for retraining.
    """
    present, shifted = (
        make_synthetic(noise=noise, random_state=random_state + k) for k, noise in enumerate((0.0, 1.0))
    )
    X_train, X_test, y_train, _ = train_test_split(*present, test_size=0.2, random_state=random_state)
    scaler = StandardScaler().fit(X_train)
    X_train, X_test, X_new = (scaler.transform(X) for X in (X_train, X_test, shifted[0]))
    network = Network(random_state)
    model = network.fit(X_train, y_train)
    refused = X_test[~accepted_by(model, X_test)]

    start = time.perf_counter()
    nominal = BayesianRecourse(model, delta_plus=DELTA_PLUS, random_state=random_state).fit(X_train).explain(refused)
    robust = (
        RobustBayesianRecourse(model, delta_plus=DELTA_PLUS, random_state=random_state).fit(X_train).explain(refused)
    )
    seconds = time.perf_counter() - start

    models = arrival_models(
        network, X_train, y_train, X_new, shifted[1], n_models=n_models, random_state=random_state, n_jobs=n_jobs
    )
    found = {
        "boundary point": robust.boundary,
        "KDE recourse": nominal.x,
        "robust recourse": robust.x,
    }
    rows = {name: _scores(model, models, refused, x) for name, x in found.items()}
    table = pd.DataFrame.from_dict(rows, orient="index")
    applicants = run_applicants(n_models=n_models, random_state=random_state, n_jobs=n_jobs)
    return Demo(table, robust, model, n_models, seconds, applicants)


def write_demo(demo: Demo, out: Path) -> Path:
    """Write the figures, the table, the explorer and a page that shows them; return the path of the page."""
    from robust_recourse.report import figures
    from robust_recourse.report.page import Picture, Section, Table, write_page

    private_folder(out)
    recourse, loans = demo.robust[demo.example], demo.applicants
    both = {"cheapest change": loans.alone[loans.example], "with a jury": loans.found[loans.example]}
    drawn = {
        "survival": figures.draw_survival(both, loans.later),
        "jury": figures.draw_jury(both["with a jury"], loans.jury.models, loans.model),
        "illustration": figures.illustration(recourse, demo.model, columns=COLUMNS),
        "worst_case": figures.worst_case(recourse, columns=COLUMNS),
        "level_sets": figures.level_sets(recourse, columns=COLUMNS),
    }
    for name, figure in drawn.items():
        with replacing(out / f"{name}.png") as written:
            figure.savefig(written, format="png", dpi=150)
    write_atomically(out / "table.csv", demo.table.to_csv(index_label="recourse"))
    write_atomically(out / "applicants.csv", loans.found.to_frame().to_csv(index_label="row"))
    write_atomically(out / "recourses.csv", demo.robust.to_frame().to_csv(index_label="row"))
    loans.plans.to_explorer(
        out / "explorer", title="Applicants for a loan", model=loans.model, jury=loans.jury, rows=loans.rows
    )
    counts = pd.Series([str(status) for status in demo.robust.status]).value_counts()
    notes = [
        "Cost is the L1 distance in standardised columns. Current validity is the share of recourses that the "
        "present model accepts, future validity the share of (person, retrained model) pairs that still agree.",
        "The boundary point is the cheapest change found: valid today, worth little tomorrow. The KDE recourse "
        f"spends {DELTA_PLUS} more on better odds of acceptance, the robust recourse on the worst case of these "
        "odds. On these data, with two columns and a sharp boundary, the budget does most of the work and the two "
        "are close.",
        "Statuses: " + ", ".join(f"{n} {status}" for status, n in counts.items()) + ".",
    ]
    table = Table(
        demo.table.rename_axis("recourse"),
        f"Mean over {len(demo.robust)} people and {demo.n_models} retrained models",
        emphasis=["robust recourse"],
    )
    return write_page(
        out / "index.html",
        title="Recourse that survives the next model",
        lead=(
            "People whom a model refuses are told what to change. Then the model is retrained, many times, on data "
            "that have grown or shifted: whose promise holds?"
        ),
        sections=[
            Section(
                "Applicants for a loan",
                table=Table(
                    loans.table.rename_axis("recourse"),
                    f"Mean over {len(loans.found)} refused applicants and {demo.n_models} later models",
                    emphasis=["recourse with a jury"],
                ),
                notes=_person(loans),
            ),
            Section(
                "Find your own way",
                paragraphs=[
                    "The plans of every applicant, what they cost and how many retrained models accept them, step by "
                    "step: open this page, choose a person, and say what is easy or out of the question."
                ],
                downloads=["explorer/index.html"],
            ),
            *(Section(heading, picture=Picture(f"{name}.png", caption)) for name, heading, caption in _OF_APPLICANTS),
            Section("The paper's synthetic data", table=table, notes=notes),
            *(Section(heading, picture=Picture(f"{name}.png", caption)) for name, heading, caption in _PICTURES),
            Section("Files", downloads=["applicants.csv", "table.csv", "recourses.csv"]),
        ],
    )


def _person(loans: Applicants) -> list[str]:
    """Tell the story of one person, and that of everybody."""
    i = loans.example
    today, held = (float(share[i]) for share in loans.shares)
    return [
        "Nine in ten of a jury of 20 networks, retrained on bootstraps of today's applicants, had to accept in the "
        "search. The later models are trained with applicants who come later; no search has seen them.",
        f"One person, the cheapest change: {told(loans.alone[i], today)}",
        f"The same person, with a jury: {told(loans.found[i], held)}",
    ]


def told(recourse: Recourse, share: float) -> str:
    """Describe a recourse with the share of the later models that accept it: here its survival is measured."""
    return describe(recourse._notice(), f"Of the later models {share:.0%} accept them.")


_OF_APPLICANTS = [
    (
        "survival",
        "What survives, and what it costs",
        "The share of later models that accept the person of this story, on the way to either recourse.",
    ),
    (
        "jury",
        "The jury around this person",
        "Every grey line is the boundary of one juror, the black one that of the present model. The cheapest change "
        "ends at the black line; the recourse is where nine in ten jurors accept.",
    ),
]
_PICTURES = [
    (
        "illustration",
        "One person's way",
        "The star is the refused person, the black circle the boundary point. Around it the model labelled samples: "
        "green accepted, blue refused. The curve is the descent, the red circle the robust recourse.",
    ),
    (
        "worst_case",
        "What the adversary does",
        "Dashed and light: the Gaussian around each sample. Solid: the worst case at the boundary point. Refused "
        "samples move towards it, accepted ones move away.",
    ),
    (
        "level_sets",
        "Odds of refusal",
        "Logarithm of the odds of refusal around the boundary point, without an adversary and in the worst case. "
        "Below zero, acceptance is the more likely answer.",
    ),
]


def longest_bend(found: Recourses) -> int:
    """Return the number of the recourse whose path bends most: the one worth drawing."""
    return int(np.argmax([_bend(recourse.trace.path if recourse.trace else None) for recourse in found]))


def _bend(path: FloatArray | None) -> float:
    """Largest distance of a path from the line between its ends, in parts of its length."""
    if path is None or len(path) < 3:
        return 0.0
    way = path[-1] - path[0]
    length = float(np.sqrt((way**2).sum())) + np.finfo(float).tiny
    off = (path - path[0]) - np.outer((path - path[0]) @ way, way) / length**2
    return float(np.sqrt((off**2).sum(axis=1)).max()) / length


def _scores(model: Any, models: list[Any], refused: FloatArray, x: FloatArray) -> dict[str, float]:
    return {
        "cost": float(np.nanmean(weighted_cost(x, refused, np.ones(refused.shape[1])))),
        "current validity": float(accepted_by(model, x).mean()),
        "future validity": float(future_validity(models, x).mean()),
    }
