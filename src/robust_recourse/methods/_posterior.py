"""What the Bayesian methods share: everything but where the ambiguity radii come from."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse._validation import check_choice, check_real
from robust_recourse.math.odds import Scales
from robust_recourse.math.projections import weighted_cost
from robust_recourse.methods._base import Chunk
from robust_recourse.methods._boundary import LONGEST, SHORTEST, LocalMethod
from robust_recourse.methods._odds_descent import SOLVERS, Problem, Solver, descend
from robust_recourse.methods._odds_verify import verify
from robust_recourse.methods._promise import keep_promise
from robust_recourse.methods._space import Space
from robust_recourse.result import Recourse, Status
from robust_recourse.sampling.boundary import Boundary
from robust_recourse.sampling.neighbourhood import Neighbourhood, Neighbourhoods, sample_neighbourhoods
from robust_recourse.sampling.oracle import Oracle

__all__ = ["PosteriorMethod"]

_SIGMA, _EPSILON = 0.25, 0.1  # defaults, in sampling radii
_MOST_SIGMAS = 1e6  # of the other lengths
_NO_NUMBERS = (
    "No number of this row may change, so that it has no neighbourhood and no odds to promise. Leave target_odds None, "
    "or let a number change."
)
_NOTHING_AROUND = "No number of this row may change, so that it has no neighbourhood."
_ROWS = 512  # whose neighbourhoods are drawn together
_SAMPLE_ENTRIES = 4_000_000  # numbers in the samples of a chunk


class PosteriorMethod(LocalMethod):
    """The common part: everything but where the ambiguity radii come from."""

    sigma: float | None
    delta_plus: float
    target_odds: float | None
    solver: Solver

    _starts_at_boundary = True

    @property
    def _promises(self) -> bool:
        return self.target_odds is not None

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
            check_real(self.target_odds, "target_odds", minimum=0.0, strict=True, maximum=1.0)

    def _learn(self, points: FloatArray, space: Space) -> None:  # noqa: ARG002
        self._learn_sampling(points)
        self.scales_ = scales = self.scales_at(self.radius_)
        lengths = {"epsilon_0": scales.epsilon_0, "epsilon_1": scales.epsilon_1, "the sampling radius": self.radius_}
        for name, length in lengths.items():
            if length > _MOST_SIGMAS * scales.sigma:
                raise ValueError(
                    f"{name}, {length:g}, must be at most {_MOST_SIGMAS:g} times sigma, {scales.sigma:g}: beyond that "
                    "the odds cannot be told apart in floating point. Use a larger sigma."
                )

    def scales_at(self, radius: float) -> Scales:
        """Return the smoothing and the ambiguity radii that belong to a sampling radius."""
        given = self.sigma
        sigma = _SIGMA * radius if given is None else float(given)
        epsilons = (_EPSILON * radius if value is None else float(value) for value in self._epsilons())
        return Scales(sigma, *epsilons)

    def _rows_at_once(self, n_free: int) -> int:
        return _SAMPLE_ENTRIES // (self.n_samples * n_free)

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
        table = self.schema_.read(X, name)
        return Space(table, self.moves_, np.arange(len(table))).points

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
        table = self.schema_.read(x0, "x0")
        if len(table) != len(codes):
            raise ValueError(f"x0 must have one row for each of the {len(codes)} points, got {len(table)}.")
        space = Space(table, self.moves_, np.arange(len(table)))
        instances = np.where(self.limits_.categories, codes, space.points)
        masks = self._movable(space) & ~self.limits_.categories
        found: list[Neighbourhood | str] = [_NOTHING_AROUND] * len(table)
        for mask in np.unique(masks[masks.any(axis=1)], axis=0):
            rows = np.flatnonzero((masks == mask).all(axis=1))
            size = int(np.clip(self._rows_at_once(int(mask.sum())), 1, _ROWS))
            for part in np.array_split(rows, -(-len(rows) // size)):
                for i, around in zip(part, self._around(Chunk(part, instances[part], mask, space)), strict=True):
                    found[i] = around
        return found

    def _around(self, chunk: Chunk) -> list[Neighbourhood | str]:
        oracle, own = self._oracle(chunk), np.ascontiguousarray(chunk.x0[:, chunk.free])
        accepted = oracle(own, np.arange(len(own)))
        boundary = Boundary(own, accepted.copy())
        refused = np.flatnonzero(~accepted)
        if len(refused):
            others = chunk.take(refused)
            searched = self._boundary(self._oracle(others), others)
            boundary.x[refused], boundary.found[refused] = searched.x, searched.found
        held, problem = self._problem(oracle, chunk._replace(at_once=accepted), boundary)
        known = dict(zip(held.tolist(), problem.neighbourhoods(self.seed_), strict=True))
        return [known.get(i, self._no_candidate()) for i in range(len(own))]

    def _problem(self, oracle: Oracle, chunk: Chunk, boundary: Boundary) -> tuple[IntArray, Problem]:
        """Draw the neighbourhoods of the boundary points; return which instances have one, and their problem."""
        held = np.flatnonzero(boundary.found)
        rows, centres = chunk.take(held), boundary.x[held]
        switched = np.zeros(len(held), dtype=bool) if rows.at_once is None else rows.at_once
        around = self._neighbourhoods(oracle, held, rows, centres, switched)
        whole = rows.x0.copy()
        whole[:, chunk.free] = centres
        budget = weighted_cost(chunk.space.snap(whole, rows.rows), rows.x0, self.limits_.weights)
        return held, Problem(
            oracle, held, rows.x0, chunk.free, self.limits_, centres, around, budget, chunk.space, rows.rows, switched
        )

    def _explain_group(self, space: Space, rows: IntArray, mask: BoolArray, deadline: float | None) -> list[Recourse]:
        found = super()._explain_group(space, rows, mask, deadline)
        numbers = mask & ~self.limits_.categories
        lost = [i for i, recourse in enumerate(found) if recourse.status is Status.OUT_OF_REACH]
        if not lost or not numbers.any() or numbers.sum() == mask.sum():
            return found
        # Other categories make the boundary cheap, but the promise may need the own ones.
        for i, other in zip(lost, super()._explain_group(space, rows[lost], numbers, deadline), strict=True):
            asked = found[i].n_queries + other.n_queries - 1
            found[i] = replace(other if other.valid else found[i], n_queries=asked)
        return found

    def _explain_chunk(self, chunk: Chunk) -> list[Recourse]:
        oracle = self._oracle(chunk)
        held, problem = self._problem(oracle, chunk, self._boundary(oracle, chunk))
        recourses = dict(zip(held.tolist(), self._solve(problem), strict=True))
        return [
            recourses[i]
            if i in recourses
            else Recourse.missing(chunk.x0[i], Status.NO_CANDIDATE, self._no_candidate(), 1 + int(oracle.n_queries[i]))
            for i in range(len(chunk.x0))
        ]

    def _solve(self, problem: Problem) -> list[Recourse]:
        """Find the least odds within the budget, or the least cost of the promised odds."""
        target = self.target_odds
        if target is not None:
            return keep_promise(problem, self.solver, self.scales_at, float(target), self.seed_)
        problem = replace(problem, budget=problem.budget + self.delta_plus)
        return verify(problem, descend(problem, self.solver, self.scales_at), self.solver, self.seed_)

    def _describe_switched(self, chunk: Chunk) -> list[Recourse]:
        if not self._promises:
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
