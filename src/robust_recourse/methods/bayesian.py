r"""Bayesian recourse and its robust counterpart.

.. math::
    \min_x \; \max_{Q_0 \in B_{\varepsilon_0},\, Q_1 \in B_{\varepsilon_1}}
    \frac{\gamma_0\, Q_0(X = x)}{\gamma_1\, Q_1(X = x)}
    \quad\text{s.t.}\quad \sum_k w_k |x_k - x_{0k}| \le \delta,\; x \in \text{action set},

with Wasserstein balls :math:`B` of Gaussian mixtures around the labelled samples of a neighbourhood of the
boundary point (problem "dro" of the paper; with both radii 0 the KDE-Bayesian recourse).
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from robust_recourse.actions import ActionSet
from robust_recourse.futures import Jury
from robust_recourse.methods._odds_descent import Solver
from robust_recourse.methods._posterior import PosteriorMethod

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
        Ambiguity radii of the refused and of the accepted samples; None for 0.1 sampling radii, 0.02 for a frame.
    sigma : float, optional
        Smoothing; None for 0.25 sampling radii, 0.5 for a frame.
    delta_plus : float, optional
        Budget beyond the cost of the boundary point; not used if odds are promised. None for 0.2 or, for a frame, what
        the cheapest row costs more of which the model is as sure as of four in five accepted training rows (a network:
        of half), or the nearest of these rows if that is cheaper; half of the samples are then around that row. Where a
        jury promises a survival, None spends nothing until its last attempt.
    target_odds : float, optional
        Promised odds, at most 1: instead of the least worst-case odds within a budget, find the least cost at which
        the worst-case odds are at most these. Each person then gets the margin that their own neighbourhood needs.
        Where no budget reaches them, the status is "promised odds out of reach", and there is no recourse.
    n_neighbors : int
        Number of accepted training rows towards which the boundary is searched. Where none of them can be reached
        within the action set, all others are tried before giving up.
    n_samples : int
        Number of samples in a neighbourhood.
    sampling_radius : float, optional
        Radius of the neighbourhood, None for 0.2 or, for a frame, 2 standard deviations. There columns that move in
        steps reach at least two steps, and categories switch.
    radius_unit : {"absolute", "diameter"}
        Whether that is a length, or a multiple of the diameter of the training rows.
    axes : bool
        Whether the boundary is also searched along single columns, up to the smallest and the largest value of the
        training rows, and its points polished: changes are taken back or traded, column by column. Such points are
        often much cheaper; the paper searches towards training rows only.
    solver : {"exact", "first-order"}
        Exact profiles, or the paper's Algorithm 1 for the inner problems.
    favourable : object, optional
        The label that the person wants; 1 of the labels 0 and 1 if None. Of a regression score it is "above" (default)
        or "below" the threshold.
    threshold : float, optional
        Least probability of the favourable class that is accepted, or the last score; None for the model's decision.
    margin : float, optional
        Least probability of the favourable class that the *search* asks the present model for. What is valid is still
        what the model decides. Where it is out of reach, the row with the largest probability that was found is
        returned, with the status "margin out of reach".
    jury : Jury, optional
        Retrained models whose consent the search asks for, too: boundary, neighbourhood and recourse are those of what
        the present model and a share of the jury accept. See :class:`robust_recourse.Jury`.
    random_state : int, Generator, RandomState or None
        Seed. With the same one a row gets the same recourse, bit for bit, whatever it is explained with.
    n_jobs : int, optional
        Number of processes.

    Attributes
    ----------
    candidates_ : ndarray
        The accepted training rows.
    lowest_, highest_ : ndarray of shape (p,)
        Smallest and largest values of the training rows.
    radius_ : float
        The sampling radius as a length.
    sure_ : float or None
        The score that four in five accepted training rows of a frame have, or of networks half of them; None of arrays,
        and of models of labels.
    score_unit_ : float
        What scores of the model's own are counted in: one robust standard deviation of those of the training rows.
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
        delta_plus: float | None = None,
        target_odds: float | None = None,
        n_neighbors: int = 1000,
        n_samples: int = 200,
        sampling_radius: float | None = None,
        radius_unit: Literal["absolute", "diameter"] = "absolute",
        axes: bool = True,
        solver: Solver = "exact",
        favourable: Any = None,
        threshold: float | None = None,
        margin: float | None = None,
        jury: Jury | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
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
        self.margin = margin
        self.jury = jury
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _epsilons(self) -> tuple[float | None, float | None]:
        return self.epsilon_0, self.epsilon_1


class BayesianRecourse(PosteriorMethod):
    """KDE-Bayesian recourse: the robust one with both ambiguity radii 0 and bandwidth `sigma`.

    The parameters are those of :class:`RobustBayesianRecourse` but for the ambiguity radii.
    """

    def __init__(
        self,
        model: Any,
        actions: ActionSet | None = None,
        sigma: float | None = None,
        delta_plus: float | None = None,
        target_odds: float | None = None,
        n_neighbors: int = 1000,
        n_samples: int = 200,
        sampling_radius: float | None = None,
        radius_unit: Literal["absolute", "diameter"] = "absolute",
        axes: bool = True,
        solver: Solver = "exact",
        favourable: Any = None,
        threshold: float | None = None,
        margin: float | None = None,
        jury: Jury | None = None,
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
        self.margin = margin
        self.jury = jury
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _epsilons(self) -> tuple[float, float]:
        return 0.0, 0.0
