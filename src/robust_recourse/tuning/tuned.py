"""A method tuned to a promised future validity: which configuration keeps it, and what that costs."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from robust_recourse._typing import Unseen
from robust_recourse._validation import check_integer, check_seed, check_share
from robust_recourse.futures import FutureModels, Scenario, future_models
from robust_recourse.futures.recipes import check_recipe
from robust_recourse.futures.rows import read_table
from robust_recourse.futures.scenarios import check_scenarios
from robust_recourse.result import Recourses
from robust_recourse.tuning._families import TUNED
from robust_recourse.tuning._given import FEWEST_PEOPLE, basis_of, check_wanted, facts, read_refused
from robust_recourse.tuning._search import BATCHES, Search
from robust_recourse.tuning._study import Study
from robust_recourse.tuning._tunable import Tunable
from robust_recourse.tuning._tuning import Tuning

__all__ = ["FEWEST_PEOPLE", "TunedRecourse"]

_APART = ("model", "actions", "favourable", "threshold", "random_state", "n_jobs")  # given anew


class TunedRecourse(BaseEstimator):  # type: ignore[misc]
    """A method with the cheapest configuration whose recourses survive retraining as often as promised.

    Configurations differ in their criterion, too: the search may ask the present model for a margin, or a jury of
    retrained models for its votes or its mean probability.

    Half of the people, and some future models, choose: many configurations are measured on few people, the best on
    more (successive halving). The one that is chosen is then measured on the other half of the people and on models
    that were trained for that purpose. If it falls short there, a stronger one is chosen and checked, with new models
    again; the best of those is measured once more, with models that had no part in calling it the best.

    Parameters
    ----------
    method : RobustBayesianRecourse or BayesianRecourse
        The method with its model, action set and decision; it stays as it is. What is tuned: `sampling_radius`,
        `sigma`, `epsilon_0`, `epsilon_1`, `axes`, `delta_plus` or `target_odds`, and `margin` or `jury`; lengths are
        relative to the `sampling_radius` that it has.
    target_future_validity : float
        Share of recourses that future models shall accept, in (0, 1].
    estimator : estimator or callable, optional
        How a model is trained: like those of scikit-learn, or a function ``refit(X, y, seed)``. None for a fresh copy
        of the method's model.
    scenarios : str, Scenario, or list of these
        What may happen to the model, see :func:`robust_recourse.future_models`.
    n_models : int
        Number of models of every scenario to choose with, and to check with.
    n_people : int
        How many people are used, at most: half to choose, half to check.
    jury : int or None
        Number of jurors of every scenario: models that neither choose nor check. None if no jury shall be asked.
    folder : path, optional
        Where models and measurements are kept: a `fit` that was interrupted continues there, if it has the same seed.
    random_state : int, Generator, RandomState or None
        Seed of the tuning, and of the method if that has none.
    n_jobs : int, optional
        Number of processes that tune.

    Attributes
    ----------
    best_method_ : RobustBayesianRecourse or BayesianRecourse
        A copy of the method with the configuration that was found, fitted.
    best_params_ : dict
        That configuration.
    tuning_ : Tuning
        What was measured, and whether the target was reached.

    Notes
    -----
    The measured validity is one of people and models that did not choose the configuration. It is about the
    scenarios that were named, and no others. If a first choice fails its check, the check has told which way to go; the
    models of the next check, and of the last measurement, are new, the people are not. A first check that is passed by
    luck is reported as it is; the interval says how much luck that may be.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from robust_recourse import RobustBayesianRecourse
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = (X.sum(axis=1) + rng.normal(size=300) > 0).astype(int)
    >>> model = LogisticRegression().fit(X, y)
    >>> tuned = TunedRecourse(RobustBayesianRecourse(model), 0.9, n_people=40, random_state=0).fit(X, y)
    >>> tuned.tuning_.reached, tuned.tuning_.future_validity.share >= 0.9
    (True, True)
    >>> tuned.explain([[-1.0, -0.5]]).valid
    array([ True])
    """

    def __init__(
        self,
        method: Tunable,
        target_future_validity: float = 0.9,
        *,
        estimator: Any = None,
        scenarios: str | Scenario | Iterable[str | Scenario] = ("bootstrap",),
        n_models: int = 20,
        n_people: int = 100,
        jury: int | None = 20,
        folder: str | os.PathLike[str] | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.method = method
        self.target_future_validity = target_future_validity
        self.estimator = estimator
        self.scenarios = scenarios
        self.n_models = n_models
        self.n_people = n_people
        self.jury = jury
        self.folder = folder
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, people: Any = None) -> Self:
        """Find the configuration, and fit the method with it.

        Parameters
        ----------
        X, y : table and labels
            The training data of the present model.
        people : table, optional
            Refused rows to tune on; rows that the present model accepts are left out. None for the refused rows of `X`.

        Returns
        -------
        self

        Warns
        -----
        UserWarning
            If the target is out of reach: the best configuration that was found is used.
        """
        self._check_parameters()
        if y is None:
            raise ValueError("y is missing: models are retrained, which needs labels.")
        X, seed = read_table(X, "X"), check_seed(self.random_state)
        tuning = self._tune(X, y, people, seed)
        best = clone(self.method).set_params(**tuning.parameters)
        if best.random_state is None:
            best.set_params(random_state=seed)
        self.best_method_ = best.fit(X)
        self.best_params_, self.tuning_ = dict(tuning.parameters), tuning
        self._fitted_params = self._all_params()
        if not tuning.reached:
            warnings.warn(tuning.summary, stacklevel=2)
        return self

    def explain(
        self, X: Any, n_recourses: int = 1, time_limit: float | None = None, *, unseen: Unseen = "warn"
    ) -> Recourses:
        """Find recourses for every row, as ``best_method_.explain`` does.

        Raises
        ------
        NotFittedError
            If parameters were changed since `fit`: what was tuned is not what they say.
        """
        check_is_fitted(self, "best_method_")
        fitted = self._fitted_params
        changed = [name for name, value in self._all_params().items() if not _same(value, fitted.get(name))]
        if changed:
            raise NotFittedError(
                f"{', '.join(changed)} changed since fit, which has no effect on what was tuned. Call fit again; "
                "best_method_ is still the method of the last fit."
            )
        found: Recourses = self.best_method_.explain(X, n_recourses, time_limit, unseen=unseen)
        return found

    def _check_parameters(self) -> None:
        check_share(self.target_future_validity, "target_future_validity")
        check_integer(self.n_models, "n_models", minimum=2)
        check_integer(self.n_people, "n_people", minimum=FEWEST_PEOPLE)
        if self.jury is not None:
            check_integer(self.jury, "jury", minimum=1)
        if self.folder is not None and self.random_state is None:
            raise ValueError("random_state is missing: only with a seed can fit continue what is kept in folder.")
        method: Any = self.method
        known = hasattr(method, "get_params") and not isinstance(method, type)
        if not known or "target_odds" not in method.get_params(deep=False):
            got = "a class" if isinstance(method, type) else type(method).__name__
            raise TypeError(
                f"method must be a RobustBayesianRecourse or a BayesianRecourse, got {got}: the others have nothing to "
                "tune."
            )
        for name in ("margin", "jury"):
            if getattr(method, name, None) is not None:
                raise ValueError(f"method has a {name} of its own, which tuning chooses. Leave it out.")
        model = method.model
        if self.estimator is None and not (hasattr(model, "fit") and hasattr(model, "get_params")):
            raise TypeError(
                f"estimator is missing: a {type(model).__name__} cannot be trained anew. Pass an estimator like "
                "those of scikit-learn, or a function refit(X, y, seed) that returns a fitted model."
            )

    def _tune(self, X: Any, y: Any, people: Any, seed: int) -> Tuning:
        check_wanted(self.method, y)
        recipe = check_recipe(self.method.model if self.estimator is None else self.estimator)
        scenarios = check_scenarios(self.scenarios)
        method = clone(self.method).set_params(random_state=seed, n_jobs=None)
        given = method.get_params(deep=False)
        fitted = clone(method).fit(X)
        refused = read_refused(method, X, people)
        if people is not None:
            fitted.read(people, "people")
        folder = None if self.folder is None else Path(self.folder)
        counts = self.n_models, self.jury
        known = "" if folder is None else facts(method, X, y, refused, recipe, scenarios, *counts, seed)

        def trained(start: int, n_models: int) -> FutureModels:
            return future_models(
                recipe,
                X,
                y,
                scenarios,
                n_models=n_models,
                start=start,
                favourable=method.favourable,
                threshold=method.threshold,
                random_state=seed,
                n_jobs=self.n_jobs,
                folder=None if folder is None else folder / "models",
            )

        order = np.random.default_rng(seed).permutation(len(refused))[: self.n_people]
        halves = order[: len(order) // 2], order[len(order) // 2 :]
        study = Study(method, X, refused, folder, known, self.n_jobs)
        first = BATCHES * self.n_models
        jurors = () if self.jury is None else trained(first, self.jury).models
        search = Search(
            study,
            basis_of(fitted, X, jurors),
            halves,
            lambda number: trained(number * self.n_models, self.n_models),
            self.target_future_validity,
        )
        search.choose()
        checks = search.check()
        return Tuning.of(
            method=type(method).__name__,
            others={name: value for name, value in given.items() if name not in (*TUNED, *_APART)},
            target=float(self.target_future_validity),
            checks=checks,
            dials=search.dials,
            scenarios=tuple(scenario.name for scenario in scenarios),
            seed=seed,
            first_juror=first,
            work=study.work,
        )

    def _all_params(self) -> dict[str, Any]:
        """Return the parameters, and those of the method."""
        own = self.method.get_params(deep=False)
        return {**self.get_params(deep=False), **{f"method__{name}": value for name, value in own.items()}}


def _same(value: Any, other: Any) -> bool:
    if value is other:
        return True
    try:
        return bool(value == other)
    except (TypeError, ValueError):  # arrays are not equal or different
        return False
