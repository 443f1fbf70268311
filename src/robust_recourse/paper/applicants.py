"""Applicants for loans: a mixed table, a model, a jury, and the models that replace it, for the demonstration."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from robust_recourse._typing import FloatArray, IntArray
from robust_recourse.actions import ActionSet
from robust_recourse.futures import Arrival, Jury, future_models
from robust_recourse.methods.bayesian import RobustBayesianRecourse
from robust_recourse.result import Recourses

__all__ = ["Applicants", "make_applicants", "run_applicants"]

_PRESENT, _LATER = 600, 600  # rows that there are today, and that arrive
_PEOPLE = 60
_JURORS, _QUORUM = 20, 0.9


@dataclass(frozen=True)
class Applicants:
    """What was found for refused applicants.

    Attributes
    ----------
    table : DataFrame
        Mean cost, current and future validity of the cheapest change, and of the recourse without and with a jury.
    alone, found : Recourses
        The cheapest changes that the present model accepts, and the recourses with a jury.
    shares : ndarray of shape (2, m)
        Which share of the later models accepts each.
    model : estimator
        The present model.
    jury : Jury
        The jury.
    later : FutureModels
        The models that replace the present one, which took no part in any search.
    plans : Recourses
        What all searches found for each person, the cheapest first.
    rows : DataFrame
        The training rows.
    """

    table: pd.DataFrame
    alone: Recourses
    found: Recourses
    shares: FloatArray
    model: Any
    jury: Jury
    later: Any
    plans: Recourses
    rows: pd.DataFrame

    @property
    def example(self) -> int:
        """Number of the person for whom the jury makes the largest difference."""
        return int(np.argmax(self.shares[1] - self.shares[0]))


def make_applicants(n: int, random_state: int = 0) -> tuple[pd.DataFrame, IntArray]:
    """Draw applicants, and who of them repaid: 1.

    >>> table, repaid = make_applicants(3)
    >>> list(table.columns)
    ['income', 'savings', 'debt', 'months', 'job', 'housing', 'age']
    """
    rng = np.random.default_rng(random_state)
    table = pd.DataFrame(
        {
            "income": rng.lognormal(7.8, 0.35, n).round(-2).astype(int),
            "savings": rng.lognormal(7.5, 1.0, n).round(-2).astype(int),
            "debt": rng.lognormal(8.0, 0.9, n).round(-2).astype(int),
            "months": rng.integers(1, 11, n) * 6,
            "job": rng.choice(["none", "unskilled", "skilled", "official"], n, p=[0.1, 0.3, 0.45, 0.15]),
            "housing": rng.choice(["rent", "own", "with family"], n),
            "age": rng.integers(19, 75, n),
        }
    )
    worth = table["job"].map({"none": -1.0, "unskilled": -0.3, "skilled": 0.4, "official": 0.8})
    score = (
        table["income"] / 900.0
        + np.log1p(table["savings"]) / 3.0
        - table["debt"] / 3000.0
        - table["months"] / 40.0
        + worth
        + 0.5 * (table["housing"] == "own")
        + 0.01 * (table["age"] - 40)
        - 3.2
    )
    repaid = (score + rng.logistic(0.0, 0.7, n) > 0.0).astype(np.int64)
    return table, repaid.to_numpy()


def run_applicants(*, n_models: int = 50, random_state: int = 0, n_jobs: int | None = None) -> Applicants:
    """Explain refused applicants, without and with a jury, and see what models say that are trained with later rows.

    The model is a small network behind scalers and one-hot columns, trained on 600 applicants. The jury are 20 networks
    on bootstraps of these; every later model is trained with half of the 600 applicants who come later, too.

    Parameters
    ----------
    n_models : int
        Number of later models.
    random_state : int
        Seed of everything.
    n_jobs : int, optional
        Number of processes for retraining.
    """
    X, y = make_applicants(_PRESENT, random_state)
    arrived = make_applicants(_LATER, random_state + 1)
    network = _network()
    model = network.fit(X, y)
    people = make_applicants(4 * _PEOPLE, random_state + 2)[0]
    refused = people[model.predict(people) == 0].head(_PEOPLE)
    settings: dict[str, Any] = {"n_jobs": n_jobs, "random_state": random_state}
    jury = Jury.retrain(network, X, y, n_models=_JURORS, quorum=_QUORUM, **settings)
    later = future_models(network, X, y, [Arrival(*arrived, share=0.5)], n_models=n_models, **settings)
    actions = ActionSet(
        immutable=["age"],
        increase=["savings"],
        decrease=["debt"],
        max_changes=3,
        units={"income": "EUR", "savings": "EUR", "debt": "EUR"},
    )

    def explained(**how: Any) -> Recourses:
        return RobustBayesianRecourse(model, actions, random_state=random_state, **how).fit(X).explain(refused)

    alone, robust, found = explained(delta_plus=0.0), explained(), explained(delta_plus=0.0, jury=jury)
    searches = {"cheapest change": alone, "robust recourse": robust, "recourse with a jury": found}
    shares = {name: each.future_validity(later).person.share for name, each in searches.items()}
    rows = {
        name: {
            "cost": float(np.nanmean(each.cost)),
            "current validity": float(each.valid.mean()),
            "future validity": float(shares[name].mean()),
        }
        for name, each in searches.items()
    }
    both = np.array([shares["cheapest change"], shares["recourse with a jury"]])
    table, plans = pd.DataFrame.from_dict(rows, orient="index"), _together(list(searches.values()))
    return Applicants(table, alone, found, both, model, jury, later, plans, X)


def _together(searches: list[Recourses]) -> Recourses:
    """Return what several searches found for the same people as plans of each person, none of them twice."""
    every, person = Recourses.concat(searches), np.concatenate([found.person for found in searches])
    twice = every.x.reset_index(drop=True).assign(person_=person).duplicated().to_numpy()
    order = np.lexsort((every.cost, person))
    order = order[~twice[order]]
    people = person[order]
    rank = 1 + np.arange(len(order)) - np.searchsorted(people, people)
    chosen: Recourses = every[order]
    return replace(chosen, person=people, rank=rank)


def _network() -> Any:
    columns = make_column_transformer((OneHotEncoder(), ["job", "housing"]), remainder=StandardScaler())
    return make_pipeline(columns, MLPClassifier((20,), max_iter=300, random_state=0, tol=1e-3))
