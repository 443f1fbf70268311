r"""Bayesian recourse and its robust counterpart.

.. math::
    \min_x \; \max_{Q_0 \in B_{\varepsilon_0},\, Q_1 \in B_{\varepsilon_1}}
    \frac{\gamma_0\, Q_0(X = x)}{\gamma_1\, Q_1(X = x)}
    \quad\text{s.t.}\quad \sum_k w_k |x_k - x_{0k}| \le \delta,\; x \in \text{action set},

with Wasserstein balls :math:`B` of Gaussian mixtures around the labelled samples of a neighbourhood of the
boundary point (problem "dro" of the paper; with both radii 0 the KDE-Bayesian recourse).
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from typing import Any, Literal, Self

import numpy as np

from robust_recourse._validation import check_share
from robust_recourse.actions import ActionSet
from robust_recourse.futures import Scenario
from robust_recourse.methods._odds_descent import Solver
from robust_recourse.methods._posterior import PosteriorMethod
from robust_recourse.tuning.tuning import tune

__all__ = ["BayesianRecourse", "RobustBayesianRecourse"]

RandomState = int | np.random.Generator | np.random.RandomState | None


class RobustBayesianRecourse(PosteriorMethod):
    """Recourse with the least worst-case posterior odds of refusal within a budget.

    Parameters
    ----------
    model : object or callable
        Anything with ``predict`` or ``predict_proba``, a torch module, an ONNX session, a booster, or a callable. It
        answers with labels, probabilities of the favourable class or scores, and is called with many rows at a time:
        frames if `fit` got one.
    actions : ActionSet, optional
        What may change; everything if None.
    epsilon_0, epsilon_1 : float, optional
        Ambiguity radii of the refused and of the accepted samples; None for 0.1 sampling radii.
    sigma : float, optional
        Smoothing; None for 0.25 sampling radii.
    delta_plus : float
        Budget beyond the cost of the boundary point; not used if odds are promised.
    target_odds : float, optional
        Promised odds, at most 1: instead of the least worst-case odds within a budget, find the least cost at which
        the worst-case odds are at most these. Each person then gets the margin that their own neighbourhood needs.
        Where no budget reaches them, the status is "promised odds out of reach", and there is no recourse.
    n_neighbors : int
        Number of accepted training rows towards which the boundary is searched. Where none of them can be reached
        within the action set, all others are tried before giving up.
    n_samples : int
        Number of samples in a neighbourhood.
    sampling_radius : float
        Radius of the neighbourhood.
    radius_unit : {"absolute", "diameter"}
        Whether that is a length, or a multiple of the diameter of the training rows.
    axes : bool
        Whether the boundary is also searched along single columns, up to the smallest and the largest value of the
        training rows. Such points are often much cheaper; the paper searches towards training rows only.
    solver : {"exact", "first-order"}
        Exact profiles, or the paper's Algorithm 1 for the inner problems.
    favourable : object, optional
        The label that the person wants; 1 of the labels 0 and 1 if None. Of a regression score it is "above" (default)
        or "below" the threshold.
    threshold : float, optional
        Least probability of the favourable class that is accepted, or the last score; None for the model's decision.
    random_state : int, Generator, RandomState or None
        Seed. With the same one a row gets the same recourse, bit for bit, whatever it is explained with.
    n_jobs : int, optional
        Number of processes.
    target_future_validity : float, optional
        Share of the recourses that shall be accepted by retrained models. If it is given, `fit` gets labels, tunes the
        smoothing, the radii and the budget or the promised odds with :func:`robust_recourse.tune`, and uses what that
        finds instead of the parameters above.

    Attributes
    ----------
    tuning_ : Tuning
        What tuning found; only with `target_future_validity`.
    tuned_ : dict
        The parameters that are used in place of those given, until the next `fit`: setting these has no effect.
    candidates_ : ndarray
        The accepted training rows.
    lowest_, highest_ : ndarray of shape (p,)
        Smallest and largest values of the training rows.
    radius_ : float
        The sampling radius as a length.
    scales_ : Scales
        Smoothing and ambiguity radii.

    References
    ----------
    .. [1] T.-D. H. Nguyen, N. Bui, D. Nguyen, M.-C. Yue and V. A. Nguyen, "Robust Bayesian Recourse", UAI 2022.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(-1, 1, (500, 2))
    >>> method = RobustBayesianRecourse(lambda X: X[:, 0] + X[:, 1] > 0, random_state=0).fit(X)
    >>> found = method.explain([[-0.5, -0.3]])
    >>> bool(found.valid[0]), str(found.status[0])
    (True, 'ok')
    >>> bool(found.cost[0] <= found.budget[0])
    True
    """

    def __init__(
        self,
        model: Any,
        actions: ActionSet | None = None,
        epsilon_0: float | None = None,
        epsilon_1: float | None = None,
        sigma: float | None = None,
        delta_plus: float = 0.2,
        target_odds: float | None = None,
        n_neighbors: int = 1000,
        n_samples: int = 200,
        sampling_radius: float = 0.2,
        radius_unit: Literal["absolute", "diameter"] = "absolute",
        axes: bool = True,
        solver: Solver = "exact",
        favourable: Any = None,
        threshold: float | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        target_future_validity: float | None = None,
    ) -> None:
        self.model = model
        self.actions = actions
        self.epsilon_0 = epsilon_0
        self.epsilon_1 = epsilon_1
        self.sigma = sigma
        self.delta_plus = delta_plus
        self.target_odds = target_odds
        self.n_neighbors = n_neighbors
        self.n_samples = n_samples
        self.sampling_radius = sampling_radius
        self.radius_unit = radius_unit
        self.axes = axes
        self.solver = solver
        self.favourable = favourable
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs

        self.target_future_validity = target_future_validity

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        estimator: Any = None,
        scenarios: str | Scenario | Iterable[str | Scenario] = ("bootstrap",),
        n_models: int = 20,
        people: Any = None,
        n_people: int = 100,
        folder: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Learn the accepted training rows; with `target_future_validity`, tune first.

        Parameters
        ----------
        X : DataFrame or array_like of shape (n, p)
            Training rows. A frame may hold numbers, booleans, categories, text and missing values, of which kinds,
            units of cost and steps are inferred, see :class:`robust_recourse.ActionSet`. The columns of an array are
            continuous and their unit is 1.
        y : array_like of shape (n,), optional
            Labels, to retrain the model on. Needed to tune, else ignored: the model's predictions count, not they.
        estimator, scenarios, n_models, people, n_people, folder
            See :func:`robust_recourse.tune`; only used to tune.

        Returns
        -------
        self

        Warns
        -----
        UserWarning
            If the target is out of reach: the best configuration that was found is used.
        """
        if self.target_future_validity is None:
            if estimator is not None or people is not None or folder is not None:
                raise TypeError(
                    "estimator, people and folder are for tuning: set target_future_validity, the share of recourses "
                    "that shall survive."
                )
            for name in ("tuned_", "tuning_"):
                self.__dict__.pop(name, None)
            return super().fit(X)
        self._check_parameters()
        if self.model is None:
            raise ValueError("model is missing: recourses are about a fitted model. Train one, and give it.")
        if y is None:
            raise ValueError("y is missing: with target_future_validity the model is retrained, which needs labels.")
        tuning = tune(
            self,
            X,
            y,
            estimator,
            self.target_future_validity,
            scenarios=scenarios,
            n_models=n_models,
            people=people,
            n_people=n_people,
            folder=folder,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        if not tuning.reached:
            warnings.warn(tuning.summary, stacklevel=2)
        self.tuning_, self.tuned_ = tuning, dict(tuning.parameters)
        return super().fit(X)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.target_future_validity is not None:
            check_share(self.target_future_validity, "target_future_validity")

    def _epsilons(self) -> tuple[float | None, float | None]:
        return self._value("epsilon_0"), self._value("epsilon_1")


class BayesianRecourse(PosteriorMethod):
    """KDE-Bayesian recourse: the robust one with both ambiguity radii 0 and bandwidth `sigma`.

    The parameters are those of :class:`RobustBayesianRecourse` but for the ambiguity radii.
    """

    def __init__(
        self,
        model: Any,
        actions: ActionSet | None = None,
        sigma: float | None = None,
        delta_plus: float = 0.2,
        target_odds: float | None = None,
        n_neighbors: int = 1000,
        n_samples: int = 200,
        sampling_radius: float = 0.2,
        radius_unit: Literal["absolute", "diameter"] = "absolute",
        axes: bool = True,
        solver: Solver = "exact",
        favourable: Any = None,
        threshold: float | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.model = model
        self.actions = actions
        self.sigma = sigma
        self.delta_plus = delta_plus
        self.target_odds = target_odds
        self.n_neighbors = n_neighbors
        self.n_samples = n_samples
        self.sampling_radius = sampling_radius
        self.radius_unit = radius_unit
        self.axes = axes
        self.solver = solver
        self.favourable = favourable
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _epsilons(self) -> tuple[float, float]:
        return 0.0, 0.0
