r"""Recourse that is robust to a moving linear surrogate (ROAR).

With a surrogate :math:`s(x) = w^\top x + b` of the model around the instance, :math:`\|w\|_2 = 1`,

.. math::
    \min_x \sum_k c_k |x_k - x_{0k}| \quad\text{s.t.}\quad
    \min_{\|(\Delta w, \Delta b)\| \le \delta_{\max}} (w + \Delta w)^\top x + b + \Delta b \ge 0,
    \quad x \in \text{action set}.

The published method descends on the cross entropy of the inner minimum plus :math:`\lambda` times the cost, and
halves :math:`\lambda` until the inner minimum is not negative; this program is its limit, and it is solved exactly.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse._validation import check_choice, check_real
from robust_recourse.actions import ActionSet
from robust_recourse.futures import Jury
from robust_recourse.math.linear_recourse import cheapest_accepted
from robust_recourse.math.linear_worst_case import Norm
from robust_recourse.methods._local import LONGEST, check_sampling, learn_sampling, look_from
from robust_recourse.methods._surrogate import Samples, Surrogates, ask, fit_surrogates, global_samples, local_samples
from robust_recourse.methods.base import RecourseMethod
from robust_recourse.models.predictor import Acceptance
from robust_recourse.result import Answer, Status
from robust_recourse.sampling.boundary import Look
from robust_recourse.sampling.neighbourhood import same_width
from robust_recourse.search import Outcome, Task, verify_points
from robust_recourse.search.run import criterion, decides
from robust_recourse.search.space import Space

__all__ = ["ROAR"]

_FARTHEST = 100.0  # of a surrogate's hyperplane from its instance, in standard deviations
_SAMPLE_ENTRIES = 2_000_000  # numbers in the samples of a chunk


class ROAR(RecourseMethod):
    r"""The cheapest recourse that every linear surrogate within a distance of the fitted one accepts.

    Parameters
    ----------
    model : object or callable
        As for :class:`robust_recourse.RobustBayesianRecourse`. The surrogate is fitted to probabilities where the model
        has them; with a margin or a jury it is fitted to what these accept, 0 or 1.
    actions : ActionSet, optional
        What may change; everything if None.
    surrogate : {"limels", "lime"}
        Samples around the boundary point with equal weights [3]_, or Gaussian samples with the moments of the
        training rows, weighted by their distance from the instance [2]_.
    delta_max : float
        How far the parameters :math:`(w, b)` of the surrogate may move; its normal :math:`w` has length 1.
    norm : {"2", "inf"}
        Norm of that distance: Euclidean, or the largest entry.
    alpha : float
        Penalty of the ridge regression.
    n_neighbors : int
        Number of accepted training rows towards which the boundary is searched ("limels").
    n_samples : int
        Number of samples to which a surrogate is fitted.
    sampling_radius : float
        Radius of the ball of samples ("limels").
    radius_unit : {"absolute", "diameter"}
        Whether that is a length, or a multiple of the diameter of the training rows.
    axes : bool
        Whether the boundary is also searched along single columns ("limels").
    favourable, threshold, margin, jury
        As for :class:`robust_recourse.RobustBayesianRecourse`.
    random_state : int, Generator, RandomState or None
        Seed. With the same one a row gets the same recourse, bit for bit, whatever it is explained with.
    n_jobs : int, optional
        Number of processes.

    Attributes
    ----------
    candidates_ : ndarray
        The accepted training rows.
    radius_ : float
        The sampling radius as a length.
    mean_, std_ : ndarray of shape (p,)
        Moments of the training rows.
    lowest_, highest_ : ndarray of shape (p,)
        Smallest and largest values of the training rows.

    Notes
    -----
    The promise is about the surrogate. The recourse lies where the worst surrogate is indifferent, and the model
    itself may refuse it: the status says so, and the point stays in the result as not valid. With
    ``delta_max = 0`` there is no margin, and that is common. A surrogate may even accept an instance that the model
    refuses; the recourse is then the instance itself, at no cost and not valid.

    The radius is paid for by the distance from the origin, :math:`\sqrt{\|x\|_2^2 + 1}` in the Euclidean case, and all
    columns count there, also those that may not change: standardise the data first. Where every column may go
    anywhere there is a recourse for every :math:`\delta_{\max} < 1`, and for larger ones only if
    :math:`b \ge \sqrt{\delta_{\max}^2 - 1}`: the surrogate then accepts the origin.

    References
    ----------
    .. [1] S. Upadhyay, S. Joshi and H. Lakkaraju, "Towards Robust and Reliable Algorithmic Recourse", NeurIPS 2021.
    .. [2] M. T. Ribeiro, S. Singh and C. Guestrin, "'Why Should I Trust You?': Explaining the Predictions of Any
       Classifier", KDD 2016.
    .. [3] T. Laugel, X. Renard, M.-J. Lesot, C. Marsala and M. Detyniecki, "Defining Locality for Surrogates in
       Post-hoc Interpretability", ICML workshop on human interpretability, 2018.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(-1, 1, (500, 2))
    >>> method = ROAR(lambda X: X[:, 0] + X[:, 1] > 0, delta_max=0.1, random_state=0).fit(X)
    >>> found = method.explain([[-0.5, -0.3]])
    >>> bool(found.valid[0]), str(found.status[0])
    (True, 'ok')
    """

    def __init__(
        self,
        model: Any,
        actions: ActionSet | None = None,
        surrogate: Literal["limels", "lime"] = "limels",
        delta_max: float = 0.1,
        norm: Norm = "2",
        alpha: float = 1.0,
        n_neighbors: int = 1000,
        n_samples: int = 200,
        sampling_radius: float = 0.2,
        radius_unit: Literal["absolute", "diameter"] = "absolute",
        axes: bool = True,
        favourable: Any = None,
        threshold: float | None = None,
        margin: float | None = None,
        jury: Jury | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.model = model
        self.actions = actions
        self.surrogate = surrogate
        self.delta_max = delta_max
        self.norm = norm
        self.alpha = alpha
        self.n_neighbors = n_neighbors
        self.n_samples = n_samples
        self.sampling_radius = sampling_radius
        self.radius_unit = radius_unit
        self.axes = axes
        self.favourable = favourable
        self.threshold = threshold
        self.margin = margin
        self.jury = jury
        self.random_state = random_state
        self.n_jobs = n_jobs

    lowest_: FloatArray
    highest_: FloatArray
    radius_: float

    @property
    def needs_boundary(self) -> bool:
        """Whether it starts at boundary points: local surrogates do."""
        return self.surrogate == "limels"

    def check_parameters(self) -> None:
        """Raise for parameters out of range."""
        check_choice(self.surrogate, "surrogate", ("limels", "lime"))
        check_real(self.delta_max, "delta_max", minimum=0.0, maximum=LONGEST)
        check_choice(self.norm, "norm", ("2", "inf"))
        check_real(self.alpha, "alpha", minimum=0.0, strict=True, maximum=LONGEST)
        check_sampling(self)

    def learn(self, points: FloatArray, space: Space) -> None:  # noqa: ARG002
        """Learn the moments of the training rows and the sampling radius."""
        self.mean_, self.std_ = points.mean(axis=0), points.std(axis=0)
        learn_sampling(self, points)

    def look(self) -> Look:
        """How to look for boundary points."""
        return look_from(self)

    def people_at_once(self, width: int) -> int:
        """How many people fit in memory together, with so many columns."""
        return _SAMPLE_ENTRIES // (self.n_samples * width)

    def solve(self, task: Task) -> list[Answer]:
        """Fit a surrogate for every person, and find the cheapest point that all close to it accept."""
        points, found, sloped = task.x0.copy(), np.zeros(len(task), dtype=bool), np.zeros(len(task), dtype=bool)
        for people, columns in same_width(task.free):
            surrogates = self._surrogates(task, people, columns)
            useful = self._useful(surrogates, task.x0[people])
            sloped[people] = useful
            some, w, b = people[useful], surrogates.w[useful], surrogates.b[useful]
            # Codes of categories are no lengths, and what is not free stays.
            x0 = self.limits_.without_codes(task.x0[some])
            lower, upper = (np.where(task.free[some], side[some], x0) for side in task.room.box)
            cheapest = cheapest_accepted(w, b, float(self.delta_max), x0, self.limits_.weights, lower, upper, self.norm)
            points[some], found[some] = cheapest
        points = np.where(task.free, points, task.x0)
        return verify_points(task, points, found, self._outcomes(found, sloped))

    def _surrogates(self, task: Task, people: IntArray, columns: IntArray) -> Surrogates:
        """Fit the surrogates of people who may change the same number of columns."""
        samples = self._samples(task, people, columns)
        question = criterion(self) if task.oracle.asks_for_more else Acceptance(self.model, **decides(self))
        probability = ask(task, question, samples, people, columns)
        return fit_surrogates(samples, probability, columns, self.alpha, task.x0.shape[1])

    def _samples(self, task: Task, people: IntArray, columns: IntArray) -> Samples:
        x0 = self.limits_.without_codes(task.x0)[people]
        reach = (side[people] for side in self.limits_.reach(task.x0))
        low, high = (np.take_along_axis(side, columns, axis=1)[:, None] for side in reach)
        if self.surrogate == "lime":
            moments = self.mean_[columns], self.std_[columns]
            return global_samples(x0, columns, *moments, self.n_samples, self.seed_, (low, high))
        assert task.boundary is not None
        centres = np.take_along_axis(task.boundary[people], columns, axis=1)
        return local_samples(x0, centres, self.radius_, self.n_samples, self.seed_, (low, high))

    def _useful(self, surrogates: Surrogates, x0: FloatArray) -> BoolArray:
        """Whether each surrogate has a slope that says something about its instance."""
        useful = ~surrogates.flat
        w, b = surrogates.w[useful], surrogates.b[useful]
        # A weight for the instance alone leaves a slope of rounding errors, and a hyperplane at the end of the world.
        away = np.abs((w * x0[useful]).sum(axis=1) + b)
        useful[useful] = away <= _FARTHEST * np.sqrt(((w * self.std_) ** 2).sum(axis=1))
        return useful

    def _outcomes(self, found: BoolArray, sloped: BoolArray) -> list[Outcome]:
        """Say of every person how far it came."""
        where = "around the instance" if self.surrogate == "lime" else "around the boundary point"
        flat = Outcome(
            Status.NOT_FOUND,
            f"The surrogate has next to no slope: at the {self.n_samples} samples {where} that count the model answers "
            f"the same, and its boundary is more than {_FARTHEST:g} standard deviations away. Use another surrogate, "
            "more samples, or a larger sampling_radius.",
        )
        too_far = Outcome(
            Status.NOT_FOUND,
            f"No point of the action set is accepted by every surrogate within delta_max = {self.delta_max:g} of the "
            "fitted one. Use a smaller delta_max, or allow more columns to change.",
        )
        ok = Outcome(
            Status.OK,
            "The recourse is the cheapest point that every linear surrogate within "
            f"delta_max = {self.delta_max:g} of the fitted one accepts.",
        )
        return [ok if yes else too_far if useful else flat for yes, useful in zip(found, sloped, strict=True)]
