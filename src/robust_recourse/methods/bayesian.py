r"""Bayesian recourse and its robust counterpart.

.. math::
    \min_x \; \max_{Q_0 \in B_{\varepsilon_0},\, Q_1 \in B_{\varepsilon_1}}
    \frac{\gamma_0\, Q_0(X = x)}{\gamma_1\, Q_1(X = x)}
    \quad\text{s.t.}\quad \sum_k w_k |x_k - x_{0k}| \le \delta,\; x \in \text{action set},

with Wasserstein balls :math:`B` of Gaussian mixtures around the labelled samples of a neighbourhood of the
boundary point (problem "dro" of the paper; with both radii 0 the KDE-Bayesian recourse).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse._validation import check_choice, check_real
from robust_recourse.actions import ActionSet
from robust_recourse.math.odds import Scales
from robust_recourse.math.projections import weighted_cost
from robust_recourse.methods._base import Chunk
from robust_recourse.methods._boundary import LONGEST, SHORTEST, LocalMethod
from robust_recourse.methods._odds_descent import SOLVERS, Problem, Solver, descend
from robust_recourse.methods._odds_verify import verify
from robust_recourse.methods._promise import keep_promise
from robust_recourse.methods._space import Space
from robust_recourse.result import Recourse, Status
from robust_recourse.sampling.neighbourhood import Neighbourhoods, sample_neighbourhoods
from robust_recourse.sampling.oracle import Oracle

__all__ = ["BayesianRecourse", "RobustBayesianRecourse"]

RandomState = int | np.random.Generator | np.random.RandomState | None

_SIGMA, _EPSILON = 0.25, 0.1  # defaults, in sampling radii
_MOST_SIGMAS = 1e6  # of the other lengths
_NO_NUMBERS = (
    "No number of this row may change, so that it has no neighbourhood and no odds to promise. Leave target_odds None, "
    "or let a number change."
)
_SAMPLE_ENTRIES = 4_000_000  # numbers in the samples of a chunk


class _Bayesian(LocalMethod):
    """The common part: everything but where the ambiguity radii come from."""

    sigma: float | None
    delta_plus: float
    target_odds: float | None
    solver: Solver

    _starts_at_boundary = True

    @abstractmethod
    def _epsilons(self) -> tuple[float | None, float | None]:
        """Return the ambiguity radii as they were given."""

    def _check_parameters(self) -> None:
        for name, value in zip(("epsilon_0", "epsilon_1"), self._epsilons(), strict=True):
            if value is not None:
                check_real(value, name, minimum=0.0)
        if self.sigma is not None:
            check_real(self.sigma, "sigma", minimum=0.0, strict=True, maximum=LONGEST)
            check_real(self.sigma, "sigma", minimum=SHORTEST)
        check_real(self.delta_plus, "delta_plus", minimum=0.0, maximum=LONGEST)
        check_choice(self.solver, "solver", SOLVERS)
        self._check_sampling()
        if self.target_odds is not None:
            check_real(self.target_odds, "target_odds", minimum=0.0, strict=True)

    def _learn(self, points: FloatArray, space: Space) -> None:  # noqa: ARG002
        self._learn_sampling(points)
        self.scales_ = scales = self._scales(self.radius_)
        lengths = {"epsilon_0": scales.epsilon_0, "epsilon_1": scales.epsilon_1, "the sampling radius": self.radius_}
        for name, length in lengths.items():
            if length > _MOST_SIGMAS * scales.sigma:
                raise ValueError(
                    f"{name}, {length:g}, must be at most {_MOST_SIGMAS:g} times sigma, {scales.sigma:g}: beyond that "
                    "the odds cannot be told apart in floating point. Use a larger sigma."
                )

    def _scales(self, radius: float) -> Scales:
        """Smoothing and ambiguity radii that belong to a sampling radius."""
        sigma = _SIGMA * radius if self.sigma is None else float(self.sigma)
        epsilons = (_EPSILON * radius if value is None else float(value) for value in self._epsilons())
        return Scales(sigma, *epsilons)

    def _rows_at_once(self, n_free: int) -> int:
        return _SAMPLE_ENTRIES // (self.n_samples * n_free)

    def _explain_chunk(self, chunk: Chunk) -> list[Recourse]:
        oracle = self._oracle(chunk)
        boundary = self._boundary(oracle, chunk)
        held = np.flatnonzero(boundary.found)
        rows, centres = chunk.take(held), boundary.x[held]
        switched = np.zeros(len(held), dtype=bool) if rows.at_once is None else rows.at_once
        around = self._neighbourhoods(oracle, held, rows, centres, switched)
        whole = rows.x0.copy()
        whole[:, chunk.free] = centres
        budget = weighted_cost(chunk.space.snap(whole, rows.rows), rows.x0, self.limits_.weights)
        problem = Problem(
            oracle, held, rows.x0, chunk.free, self.limits_, centres, around, budget, chunk.space, rows.rows, switched
        )
        recourses = dict(zip(held.tolist(), self._solve(problem), strict=True))
        return [
            recourses[i]
            if i in recourses
            else Recourse.missing(chunk.x0[i], Status.NO_CANDIDATE, self._no_candidate(), 1 + int(oracle.n_queries[i]))
            for i in range(len(chunk.x0))
        ]

    def _solve(self, problem: Problem) -> list[Recourse]:
        """Find the least odds within the budget, or the least cost of the promised odds."""
        if self.target_odds is not None:
            return keep_promise(problem, self.solver, self._scales, float(self.target_odds), self.seed_)
        problem = replace(problem, budget=problem.budget + self.delta_plus)
        return verify(problem, descend(problem, self.solver, self._scales), self.solver, self.seed_)

    def _describe_switched(self, chunk: Chunk) -> list[Recourse]:
        if self.target_odds is None:
            return super()._describe_switched(chunk)
        return [Recourse.missing(x0, Status.OUT_OF_REACH, _NO_NUMBERS) for x0 in chunk.x0]

    def _neighbourhoods(
        self, oracle: Oracle, owners: IntArray, rows: Chunk, centres: FloatArray, once: BoolArray
    ) -> Neighbourhoods:
        limits = self.limits_.take(rows.free)
        bounds = None if limits.unlimited else limits.reach(rows.x0[:, rows.free])
        radius, n_samples, seed = self.radius_, self.n_samples, self.seed_
        instances = self.limits_.without_codes(rows.x0)
        return sample_neighbourhoods(oracle, owners, instances, centres, radius, n_samples, seed, bounds, once)


class RobustBayesianRecourse(_Bayesian):
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
        Promised odds: instead of the least worst-case odds within a budget, find the least cost at which the worst-case
        odds are at most these. Each person then gets the margin that their own neighbourhood needs. Where no
        budget reaches them, the status is "promised odds out of reach", and there is no recourse.
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

    Attributes
    ----------
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

    def _epsilons(self) -> tuple[float | None, float | None]:
        return self.epsilon_0, self.epsilon_1


class BayesianRecourse(_Bayesian):
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
