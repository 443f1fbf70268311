r"""Recourse that a posterior over retrained models believes in (BetaRCE).

Let :math:`\theta(x)` be the share of all models that may be retrained which accept :math:`x`. If :math:`s` of
:math:`k` such models accept it, the posterior of :math:`\theta` from the prior :math:`\mathrm{Beta}(a, a)` is
:math:`\mathrm{Beta}(a + s, a + k - s)`, and

.. math:: \ell(s) = Q_{1 - \alpha}\bigl(\mathrm{Beta}(a + s, a + k - s)\bigr)

is a lower bound for the share that holds with the posterior probability :math:`\alpha`. The method looks for

.. math::
    \min_{x \in S_j} \sum_i w_i |x_i - x_{0i}| \quad\text{s.t.}\quad x \text{ is accepted},\ \ell(s(x)) \ge \delta,
    \quad x \in \text{action set},

over random points :math:`S_j` of the first shell :math:`(j - 1) h < \|x - x_b\|_2 \le j h` around the boundary point
:math:`x_b` that has such a point. As :math:`\ell` grows with :math:`s`, the condition is a number of votes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import betaincinv

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse._validation import check_integer, check_real
from robust_recourse.actions import ActionSet
from robust_recourse.futures import Jury
from robust_recourse.math.intervals import check_level
from robust_recourse.methods._local import LONGEST
from robust_recourse.methods.base import RecourseMethod
from robust_recourse.models.criteria import Votes
from robust_recourse.result import Answer, Status
from robust_recourse.sampling.neighbourhood import same_width
from robust_recourse.search import Outcome, Task, verify_points
from robust_recourse.search.run import decides
from robust_recourse.search.space import Space

__all__ = ["BetaRCE", "posterior_bound", "votes_needed"]

_SAMPLE_ENTRIES = 2_000_000  # numbers in the samples of a chunk
_MOST_SHELLS = 100_000


class BetaRCE(RecourseMethod):
    r"""Spheres grow around the boundary point until enough of the jury accepts a point on one.

    Parameters
    ----------
    model : object or callable
        As for :class:`robust_recourse.RobustBayesianRecourse`.
    actions : ActionSet, optional
        What may change; everything if None. Categories are those of the boundary point; the spheres are in the numbers.
    jury : Jury
        The models that vote, by their decisions. Its quorum is not used: `delta` and `confidence` say how many votes it
        takes.
    delta : float
        The share :math:`\delta` of retrained models that shall accept.
    confidence : float
        The posterior probability :math:`\alpha` with which it does.
    prior : float
        Both parameters :math:`a` of the prior: 0.5 for that of Jeffreys, 1 for the uniform one.
    n_samples : int
        Number of points that are drawn in every shell, uniformly.
    step : float
        Thickness :math:`h` of the shells, in units of cost.
    max_radius : float
        Radius of the largest sphere.
    favourable, threshold
        As for :class:`robust_recourse.RobustBayesianRecourse`.
    random_state : int, Generator, RandomState or None
        Seed. With the same one a row gets the same recourse, bit for bit, whatever it is explained with.
    n_jobs : int, optional
        Number of processes.

    Attributes
    ----------
    candidates_ : ndarray
        The accepted training rows.
    n_votes_ : int
        How many jurors must accept.

    Notes
    -----
    The bound is computed on the models that were searched with, and the search chose a point that they accept: among
    models that it has not seen the share is smaller than it says. A :class:`robust_recourse.Jury` with ``check=`` gives
    every recourse a bound that holds.

    References
    ----------
    .. [1] I. Stępka, M. Lango and J. Stefanowski, "Counterfactual Explanations with Probabilistic Guarantees on their
       Robustness to Model Change", KDD 2025.
    .. [2] T. Laugel, M.-J. Lesot, C. Marsala, X. Renard and M. Detyniecki, "Comparison-Based Inverse Classification for
       Interpretability in Machine Learning", IPMU 2018.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = (X.sum(axis=1) + rng.normal(size=300) > 0).astype(int)
    >>> jury = Jury.retrain(LogisticRegression(), X, y, n_models=20, random_state=0)
    >>> method = BetaRCE(LogisticRegression().fit(X, y), jury=jury, delta=0.8, random_state=0).fit(X)
    >>> found = method.explain([[-1.0, -0.5]])
    >>> method.n_votes_, bool(20 * found.jury_share[0] >= method.n_votes_)
    (19, True)
    """

    goes_beyond = True
    counts_votes = True

    def __init__(
        self,
        model: Any,
        actions: ActionSet | None = None,
        jury: Jury | None = None,
        delta: float = 0.9,
        confidence: float = 0.95,
        prior: float = 0.5,
        n_samples: int = 200,
        step: float = 0.1,
        max_radius: float = 10.0,
        favourable: Any = None,
        threshold: float | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.model = model
        self.actions = actions
        self.jury = jury
        self.delta = delta
        self.confidence = confidence
        self.prior = prior
        self.n_samples = n_samples
        self.step = step
        self.max_radius = max_radius
        self.favourable = favourable
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def needs_boundary(self) -> bool:
        """Whether it starts at boundary points: always."""
        return True

    @property
    def promises(self) -> bool:
        """Whether a recourse has to keep more than the model's consent: the votes of the jury."""
        return True

    def check_parameters(self) -> None:
        """Raise for parameters out of range."""
        check_level(self.delta, "delta")
        check_level(self.confidence, "confidence")
        check_real(self.prior, "prior", minimum=0.0, strict=True, maximum=LONGEST)
        check_integer(self.n_samples, "n_samples", minimum=1)
        check_real(self.step, "step", minimum=0.0, strict=True, maximum=LONGEST)
        check_real(self.max_radius, "max_radius", minimum=0.0, strict=True, maximum=LONGEST)
        if self.max_radius > _MOST_SHELLS * self.step:
            raise ValueError(
                f"max_radius = {self.max_radius:g} is more than {_MOST_SHELLS} times step = {self.step:g}: give a "
                "larger step, or a smaller max_radius."
            )

    def learn(self, points: FloatArray, space: Space) -> None:  # noqa: ARG002
        """Learn how many votes are needed."""
        jury = self._jury()
        if jury.rule != "quorum" or jury.margin is not None or jury.survival is not None:
            raise ValueError(
                f"BetaRCE counts decisions: give a jury of models alone, Jury(models), not {jury!r}. What it asks of "
                "them are delta and confidence."
            )
        needed = votes_needed(len(jury), self.delta, self.confidence, self.prior)
        if needed is None:
            most = float(posterior_bound(len(jury), len(jury), self.confidence, self.prior))
            raise ValueError(
                f"delta = {self.delta:g} is out of reach of a jury of {len(jury)}: if all accept, the share of "
                f"retrained models that do is at least {most:.3g} at a confidence of {self.confidence:g}. Give more "
                "models, or a smaller delta."
            )
        self.n_votes_ = needed

    def people_at_once(self, width: int) -> int:
        """How many people fit in memory together, with so many columns."""
        return _SAMPLE_ENTRIES // (self.n_samples * width)

    def solve(self, task: Task) -> list[Answer]:
        """Grow the spheres of every person until enough of the jury accepts."""
        assert task.boundary is not None
        jury, everybody = self._jury(), np.arange(len(task))
        votes = jury.votes_of(self.n_votes_, decides(self), self.jury_order_)
        points = task.snap(task.boundary, everybody)
        found = task.oracle.put(votes, points, everybody)
        for number in range(int(np.ceil(self.max_radius / self.step))):
            left = np.flatnonzero(~found & task.free.any(axis=1))
            if not len(left):
                break
            best, some = self._shell(task, votes, left, number)
            points[some], found[some] = best, True
        return verify_points(task, points, found, self._outcomes(found))

    def _shell(self, task: Task, votes: Votes, people: IntArray, number: int) -> tuple[FloatArray, IntArray]:
        """Return the cheapest point of a shell that has the votes, for those of the people who have one there."""
        points, owner = self._samples(task, people, number)
        accepted = np.flatnonzero(task.oracle(points, owner))
        if len(accepted):
            accepted = accepted[task.oracle.put(votes, points[accepted], owner[accepted])]
        points, owner = points[accepted], owner[accepted]
        order = np.lexsort((task.room.cost(points, owner), owner))
        some, first = np.unique(owner[order], return_index=True)
        return points[order[first]], some

    def _samples(self, task: Task, people: IntArray, number: int) -> tuple[FloatArray, IntArray]:
        """Draw points in a shell around the boundary points of people, moved into their bounds and onto their grids."""
        assert task.boundary is not None
        n, owner = self.n_samples, np.repeat(people, self.n_samples)
        points = task.boundary[owner]
        inner, outer = number * self.step, min((number + 1) * self.step, self.max_radius)
        for group, columns in same_width(task.free[people]):
            rngs = [task.generator(person, number) for person in people[group]]
            drawn = _in_shell(rngs, n, columns.shape[1], inner, outer)
            for i, own, away in zip(group, columns, drawn, strict=True):
                points[i * n : (i + 1) * n, own] += away
        return task.snap(task.room.clipped(points, owner), owner), owner

    def _jury(self) -> Jury:
        assert self.jury is not None
        return self.jury

    def _outcomes(self, found: BoolArray) -> list[Outcome]:
        k = len(self._jury())
        promise = (
            f"{self.n_votes_} of the {k} models of the jury, so that at least {self.delta:g} of the retrained models "
            f"accept at a confidence of {self.confidence:g}"
        )
        ok = Outcome(
            Status.OK,
            f"The recourse is the cheapest point of the first sphere around the boundary point with {promise}.",
        )
        lost = Outcome(
            Status.NOT_FOUND,
            f"No sphere around the boundary point up to max_radius = {self.max_radius:g} has a point that the model "
            f"accepts with {promise}. Use a smaller delta, more n_samples, a larger max_radius, or allow more columns "
            "to change.",
        )
        return [ok if yes else lost for yes in found]


def posterior_bound(votes: Any, n_models: int, confidence: float = 0.95, prior: float = 0.5) -> FloatArray:
    r"""Return the lower bounds :math:`\ell(s)` for the shares of retrained models that accept.

    Parameters
    ----------
    votes : array_like
        How many models accept.
    n_models : int
        How many there are.
    confidence, prior : float
        As for :class:`BetaRCE`.

    Examples
    --------
    >>> posterior_bound([18, 19, 20], 20).round(2)
    array([0.75, 0.82, 0.91])
    """
    votes = np.asarray(votes, dtype=float)
    bound: FloatArray = np.asarray(betaincinv(prior + votes, prior + n_models - votes, 1.0 - confidence))
    return bound


def votes_needed(n_models: int, delta: float, confidence: float = 0.95, prior: float = 0.5) -> int | None:
    """Return the least number of votes with a bound of at least `delta`; None if all are not enough."""
    enough = np.flatnonzero(posterior_bound(np.arange(n_models + 1), n_models, confidence, prior) >= delta)
    return int(enough[0]) if len(enough) else None


def _in_shell(rngs: Sequence[np.random.Generator], n: int, p: int, inner: float, outer: float) -> FloatArray:
    """Draw from every generator `n` points uniformly between two spheres around the origin, of dimension `p`."""
    points = np.empty((len(rngs), n, p))
    for rng, directions in zip(rngs, points, strict=True):
        rng.standard_normal(out=directions)
        hole = (inner / outer) ** p
        directions *= (outer * (hole + (1.0 - hole) * rng.random(n)) ** (1.0 / p) / _length(directions))[:, None]
    return points


def _length(points: FloatArray) -> FloatArray:
    length: FloatArray = np.sqrt((points**2).sum(axis=1))
    return length
