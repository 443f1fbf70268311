"""The problems of `engine_gate.py`: models learnt on tables that a seed makes, and people whom these refuse.

Whoever tunes the search tunes it on the tables `TUNED` and reports what comes out on the others.
"""

import hashlib
from functools import cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from engine_tables import table
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from robust_recourse import ActionSet

TUNED = ("lender", "wide24")
N_JURORS, QUORUM = 20, 0.9
MODELS = {
    "boosted": HistGradientBoostingClassifier(max_iter=60, random_state=0),
    "forest": RandomForestClassifier(60, min_samples_leaf=3, random_state=0),
    "network": MLPClassifier((20, 20), learning_rate_init=0.005, max_iter=60, tol=0.0, random_state=0),
    "logistic": LogisticRegression(max_iter=1000),
}


class Counted:
    """A model of labels, which knows how often it was called."""

    def __init__(self, model):
        self._model, self.calls = model, 0

    def predict(self, X):
        self.calls += 1
        return self._model.predict(X)


class Deciding:
    """The vote that decides, as a probability: of a model, or of the juror who makes a quorum of its jury."""

    classes_ = np.array([0, 1])

    def __init__(self, model, jurors):
        self._model, self._jurors = model, jurors

    def predict_proba(self, X):
        votes = np.sort([juror.predict_proba(X)[:, 1] for juror in self._jurors], axis=0)
        deciding = votes[len(votes) - round(QUORUM * len(votes))]
        least = np.minimum(deciding, self._model.predict_proba(X)[:, 1])
        return np.column_stack([1.0 - least, least])

    def predict(self, X):
        return (self.predict_proba(X)[:, 1] > 0.5).astype(int)


class Case(NamedTuple):
    """A table, a model, and how the search may ask."""

    table: str
    model: str
    asks: str = "scores"  # what it sees: scores, labels, a jury of which QUORUM must accept, or its deciding vote
    most: int | None = None  # columns that may change
    search: str = "full"  # or paper

    @property
    def name(self):
        words = [self.table, self.model, self.asks]
        return ".".join([*words, *([f"max{self.most}"] if self.most else []), *(["paper"] * (self.search == "paper"))])

    @property
    def greatest_mean(self):
        """The greatest mean ratio of costs that passes."""
        wide_trees = self.table in {"wide24", "wide30", "steps"} and self.model in {"boosted", "forest"}
        if self.asks == "labels":
            return 1.06 if wide_trees else 1.02
        return 1.03 if wide_trees else 1.01


class Problem(NamedTuple):
    """What a case asks about."""

    X: Any
    model: Any  # as the search sees it
    decides: Any  # as it was learnt
    people: Any
    actions: ActionSet
    jurors: tuple

    def digest(self):
        """Return what tells whether a problem is the recorded one: its table, and what models say to all rows of it."""
        cells = self.X.tobytes() if isinstance(self.X, np.ndarray) else self.X.to_csv().encode()
        said = np.packbits([np.asarray(model.predict(self.X)) == 1 for model in (self.decides, *self.jurors)])
        return hashlib.sha256(cells + said.tobytes()).hexdigest()[:12]


def cases():
    """Return all cases."""
    every, trees = ("boosted", "forest", "network", "logistic"), ("boosted", "forest")
    found = []
    for asks in ("scores", "labels"):
        for name, models in [("lender", every), ("bank", every), ("wide24", every), ("wide30", every[:3])]:
            found += [Case(name, model, asks) for model in models]
        found += [Case("steps", model, asks) for model in trees]
    found += [Case("lender", "boosted", "jury"), Case("lender", "logistic", "jury"), Case("lender", "logistic", "vote")]
    few = [("lender", "boosted"), ("bank", "network"), ("wide24", "boosted"), ("wide24", "logistic")]
    found += [Case(name, model, most=most) for name, model in few for most in (1, 2, 3)]
    found += [Case("bank", "forest", "labels", most) for most in (1, 2, 3)]
    return found + [Case("array10", name, search=way) for way in ("full", "paper") for name in ("network", "boosted")]


def problem(case, n_people):
    """Return the problem of a case, with the first people whom its model refuses."""
    X, _, new, words = table(case.table)
    decides = learnt(case.table, case.model)
    jury = jurors(case.table, case.model) if case.asks in {"jury", "vote"} else ()
    people = new[decides.predict(new) == 0][:n_people]
    seen = {"labels": Counted, "vote": lambda model: Deciding(model, jury)}.get(case.asks, lambda model: model)
    return Problem(X, seen(decides), decides, people, ActionSet(X, **words, max_changes=case.most), jury)


@cache
def learnt(name, model):
    """Return a fitted model."""
    X, y, *_ = table(name)
    return unfitted(model, X).fit(X, y)


@cache
def jurors(name, model):
    """Return models that bootstraps of the training rows make."""
    X, y, *_ = table(name)
    rng = np.random.default_rng(7)
    draws = [rng.integers(0, len(X), len(X)) for _ in range(N_JURORS)]
    return tuple(unfitted(model, X).fit(X.iloc[rows], y[rows]) for rows in draws)


def unfitted(model, X):
    """Return an estimator that takes such rows."""
    plain = [] if model in {"boosted", "forest"} else [StandardScaler()]
    if isinstance(X, np.ndarray):
        return make_pipeline(*plain, clone(MODELS[model]))
    words = [column for column in X if X[column].dtype.kind not in "bif"]
    numbers = [column for column in X if column not in words]
    if model != "boosted":
        plain = [SimpleImputer(), *plain]
    encoder = OneHotEncoder(sparse_output=False, handle_unknown="ignore")
    columns = make_column_transformer((encoder, words), (make_pipeline(*plain) if plain else "passthrough", numbers))
    return make_pipeline(columns, clone(MODELS[model]))


def cheapest_of_three(person, known):
    """Return the least cost of up to three changes of a `brute.Person`, all tried that cost less than what is known."""
    best = known
    for size in (1, 2, 3):
        sets = np.array(list(combinations(range(len(person.column)), size)))
        sets = sets[person.costs[sets].sum(axis=1) < best]
        sets = sets[(np.diff(person.column[sets], axis=1) != 0).all(axis=1)]  # changes are sorted by column
        if len(sets):
            best = min(best, person.costs[sets[person.accepted(sets)]].sum(axis=1).min(initial=np.inf))
    return float(best)
