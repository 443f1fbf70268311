"""What the Bayesian methods share: everything but where the ambiguity radii come from."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from robust_recourse._typing import BoolArray, FloatArray
from robust_recourse._validation import check_choice, check_real
from robust_recourse.math.limits import Room
from robust_recourse.math.odds import Scales
from robust_recourse.methods._local import LONGEST, SHORTEST, check_sampling, learn_sampling, look_from
from robust_recourse.methods._odds_descent import SOLVERS, Solver, descend
from robust_recourse.methods._odds_problem import Problem
from robust_recourse.methods._odds_verify import verify
from robust_recourse.methods._promise import keep_promise
from robust_recourse.methods._steady import Steadiness
from robust_recourse.methods._sure import learn_sureness, reach_of
from robust_recourse.methods.base import RecourseMethod
from robust_recourse.result import Answer
from robust_recourse.sampling.boundary import Look, find_boundary
from robust_recourse.sampling.metric import Grid
from robust_recourse.sampling.neighbourhood import Neighbourhood, sample_neighbourhoods
from robust_recourse.sampling.options import ROUNDED
from robust_recourse.search import Task
from robust_recourse.search.doing import movable
from robust_recourse.search.run import make_task, no_candidate
from robust_recourse.search.space import Space
from robust_recourse.search.starting import sure_points

__all__ = ["PosteriorMethod"]

_SIGMA, _EPSILON = {True: 0.25, False: 0.5}, {True: 0.1, False: 0.02}  # of arrays and frames, in sampling radii
_BUDGET = 0.2  # beyond the boundary point; of a frame where no accepted row is dearer
_MOST_SIGMAS = 1e6  # of the other lengths
_NOTHING_AROUND = "No number of this row may change, so that it has no neighbourhood."
_PEOPLE = 512  # whose neighbourhoods are drawn together
_SAMPLE_ENTRIES = 4_000_000  # numbers in the samples of a task


class PosteriorMethod(RecourseMethod):
    """The common part: everything but where the ambiguity radii come from."""

    sigma: float | None
    delta_plus: float | None
    target_odds: float | None
    n_neighbors: int
    n_samples: int
    sampling_radius: float | None
    radius_unit: Literal["absolute", "diameter"]
    axes: bool
    solver: Solver

    lowest_: FloatArray
    highest_: FloatArray
    radius_: float
    sure_: float | None

    goes_beyond = True

    @property
    def needs_boundary(self) -> bool:
        """Whether it starts at boundary points."""
        return True

    @property
    def promises(self) -> bool:
        """Whether a recourse has to keep more than the model's consent."""
        return self.target_odds is not None

    @property
    def sureness(self) -> float | None:
        """The least score of rows up to which the default budget of a table reaches, beyond what is asked for."""
        asked = getattr(self, "_fitted_with", {}).get("margin")  # what it was learnt beyond
        if self.delta_plus is not None or self.promises or self.jury is not None or self.margin != asked:
            return None
        return getattr(self, "sure_", None)  # a method that was saved before does not know

    @abstractmethod
    def _epsilons(self) -> tuple[float | None, float | None]:
        """Return the ambiguity radii as they were given."""

    def check_parameters(self) -> None:
        """Raise for parameters out of range."""
        for name, value in zip(("epsilon_0", "epsilon_1"), self._epsilons(), strict=True):
            if value is not None:
                check_real(value, name, minimum=0.0)
        if self.sigma is not None:
            check_real(self.sigma, "sigma", minimum=0.0, strict=True, maximum=LONGEST)
            check_real(self.sigma, "sigma", minimum=SHORTEST)
        if self.delta_plus is not None:
            check_real(self.delta_plus, "delta_plus", minimum=0.0, maximum=LONGEST)
        check_choice(self.solver, "solver", SOLVERS)
        check_sampling(self)
        if self.target_odds is not None:
            check_real(self.target_odds, "target_odds", minimum=0.0, strict=True, maximum=1.0)

    def learn(self, points: FloatArray, space: Space) -> None:
        """Learn the range of the training rows, the sampling radius, what belongs to it, and when the model is sure."""
        learn_sampling(self, points)
        self.sure_ = None if self.moves_.plain else learn_sureness(self, space)
        self.scales_ = scales = self.scales_at(self.radius_)
        lengths = {"epsilon_0": scales.epsilon_0, "epsilon_1": scales.epsilon_1, "the sampling radius": self.radius_}
        for name, length in lengths.items():
            if length > _MOST_SIGMAS * scales.sigma:
                raise ValueError(
                    f"{name}, {length:g}, must be at most {_MOST_SIGMAS:g} times sigma, {scales.sigma:g}: beyond that "
                    "the odds cannot be told apart in floating point. Use a larger sigma."
                )

    def without_default_budget(self) -> Self:
        """Return the same method without a default budget beyond the cheapest row; itself if it has none."""
        if self.delta_plus is not None or self.promises:
            return self
        other = copy(self)
        other.delta_plus = 0.0
        return other

    def scales_at(self, radius: float) -> Scales:
        """Return the smoothing and the ambiguity radii that belong to a sampling radius."""
        plain = self.moves_.plain
        sigma = _SIGMA[plain] * radius if self.sigma is None else float(self.sigma)
        epsilons = (_EPSILON[plain] * radius if value is None else float(value) for value in self._epsilons())
        return Scales(sigma, *epsilons)

    def look(self) -> Look:
        """How to look for boundary points."""
        return look_from(self)

    def people_at_once(self, width: int) -> int:
        """How many people fit in memory together, with so many columns."""
        return _SAMPLE_ENTRIES // (self.n_samples * width)

    def solve(self, task: Task) -> list[Answer]:
        """Find the least odds within the budget, or the least cost of the promised odds."""
        problem = self._problem(task)
        if self.target_odds is not None:
            return keep_promise(problem, self.solver, self.scales_at, float(self.target_odds))
        problem = self._widened(problem)
        ends = descend(problem, self.solver, self.scales_at)
        return verify(problem, ends, self.solver, self.scales_at, Steadiness(self.radius_, self.n_samples // 2))

    def _problem(self, task: Task) -> Problem:
        """Draw the neighbourhoods of the boundary points; the budgets are what these cost.

        Where the budget of a table reaches up to another row, half of the samples are around that.
        """
        assert task.boundary is not None
        every, reach, grid = np.arange(len(task)), None, None
        snapped = task.snap(task.boundary, every)
        if not task.space.exact:
            grid = Grid(task.space.steps, task.before or task.room)
            if self.delta_plus is None and self.target_odds is None:
                reach = reach_of(self, task, snapped)
        second = None if reach is None else reach.rows
        around = sample_neighbourhoods(
            task.oracle, task.room, task.boundary, self.radius_, self.n_samples, self.seed_, task.switched, grid, second
        )
        return Problem(task, tuple(around), task.limits.cost(snapped, task.x0), reach)

    def _widened(self, problem: Problem) -> Problem:
        """Add what may be spent beyond the boundary points to the budgets."""
        budget = problem.budget + (_BUDGET if self.delta_plus is None else self.delta_plus)
        if problem.reach is not None:
            every, least = np.arange(len(problem)), problem.budget * ROUNDED
            reached, nearest = (problem.cost(rows, every) for rows in (problem.reach.rows, problem.reach.nearest))
            budget = np.where(nearest > least, np.minimum(budget, nearest), budget)
            budget = np.where(reached > least, reached, budget)
        return replace(problem, budget=budget)

    def to_points(self, X: Any, name: str = "X") -> FloatArray:
        """Return rows in the coordinates in which costs and odds are measured: numbers in units, categories as codes.

        Parameters
        ----------
        X : DataFrame or array_like of shape (m, p)
            Rows like the training rows.
        name : str
            What messages call them.
        """
        check_is_fitted(self, "candidates_")
        return Space.of(self.schema_.read(X, name), self.moves_).points

    def neighbourhoods_of(self, x0: Any, points: Any) -> list[Neighbourhood | str]:
        """Draw and label the neighbourhoods in which points are judged: those of their instances.

        An instance gets the categories of its point first. The boundary is then searched from it in the numbers that
        may change; where the model accepts it as it is, the samples are around the instance itself.

        Parameters
        ----------
        x0, points : DataFrame or array_like of shape (m, p)
            Instances, and a point of each.

        Returns
        -------
        list of Neighbourhood or str
            One for each row; a sentence that says why there is none.
        """
        codes = self.to_points(points, "points")
        space = Space.of(self.schema_.read(x0, "x0"), self.moves_)
        if len(space) != len(codes):
            raise ValueError(f"x0 must have one row for each of the {len(codes)} points, got {len(space)}.")
        every = movable(self.limits_, space)
        free: BoolArray = every & ~self.limits_.categories
        found: list[Neighbourhood | str] = [_NOTHING_AROUND] * len(space)
        people = np.flatnonzero(free.any(axis=1))
        size = int(np.clip(self.people_at_once(free.shape[1]), 1, _PEOPLE))
        for part in np.array_split(people, -(-len(people) // size) or 1):
            start = np.where(self.limits_.categories, codes[part], space.points[part])
            task = make_task(self, space.take(part), every[part])
            task = replace(task, room=Room(self.limits_, start, free[part]), before=task.room)
            for i, around in zip(part, self._around(task), strict=True):
                found[i] = around
        return found

    def _around(self, task: Task) -> list[Neighbourhood | str]:
        boundary, accepted = task.x0.copy(), task.oracle(task.x0, np.arange(len(task)))
        found, refused = accepted.copy(), np.flatnonzero(~accepted)
        if len(refused):
            some = task.take(refused)
            searched = find_boundary(some.oracle, some.room, self.candidates_, self.look())
            boundary[refused], found[refused] = searched.x, searched.found
        known: list[Neighbourhood | str] = [no_candidate(self)] * len(task)
        held = np.flatnonzero(found)
        if len(held):
            some = replace(task, boundary=boundary, switched=accepted).take(held)
            before = replace(some, room=some.before or some.room, before=None)
            problem = self._problem(replace(some, sure=sure_points(self, before)))
            for i, around in zip(held, problem.neighbourhoods(), strict=True):
                known[i] = around
        return known
