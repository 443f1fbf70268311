r"""The cheapest changes whose gains add up to what is needed: linear models, without any search.

A person may spend :math:`a_j` on each of some *ways*: a column up or down, or the switch of a category. A unit of cost
gains :math:`g_j`, and :math:`s` is needed,

.. math:: \min_{a \in A} \sum_j a_j \quad\text{such that}\quad g^\top a \ge s,\quad R a \le b,\quad
    \#\{j : a_j > 0\} \le m,\qquad A = \prod_j \bigl(\{0\} \cup \{f_j + i\, h_j \le u_j : i \in \mathbb N\}\bigr),

where the first change on a way costs :math:`f_j`, every further step :math:`h_j`, and all of it :math:`u_j`; a way
without steps has all costs between. Of :math:`0 \le a \le u` and the gain alone the optimum is to go the ways in the
order of their gains, one after the other: where that is in :math:`A` and satisfies the rest, it is the optimum of all.
Otherwise an integer program is solved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from robust_recourse._quiet import quiet_solver
from robust_recourse._typing import BoolArray, FloatArray, IntArray

__all__ = ["Sums", "cheapest_sums", "out_of_reach"]

_FINE = 0.001  # of the least cost: steps that are shorter, and in no rule, are left to rounding
_CLOSE = 1e-9  # of an amount: the same but for rounding
_SLACK = 2e-7  # of what is needed: the solver is that exact
_GAP = 1e-5  # between the cost and its proven bound, relative
_NODES = 2000  # of the tree of an integer program, at most


@dataclass(frozen=True)
class Sums:
    """What people may do, and what they need.

    Attributes
    ----------
    column : ndarray of int, shape (n,)
        The column of every way; two ways of one column exclude each other.
    first, most : ndarray of shape (m, n)
        The cost of the first change of every person on every way, and of all of it: 0 where there is nothing to do.
    step : ndarray of shape (n,)
        The cost of a further step, 0 without steps.
    gain : ndarray of shape (m, n)
        What a unit of cost gains.
    need : ndarray of shape (m,)
        What is needed, positive.
    rules : ndarray of shape (r, n)
        How much of every bound a unit of cost uses up.
    bounds : ndarray of shape (m, r)
        What is left of the bounds; infinite where a rule is none.
    limit : int or None
        How many columns may change.
    """

    column: IntArray
    first: FloatArray
    most: FloatArray
    step: FloatArray
    gain: FloatArray
    need: FloatArray
    rules: FloatArray
    bounds: FloatArray
    limit: int | None = None

    def take(self, people: IntArray) -> Sums:
        """Keep some of the people."""
        some = {name: getattr(self, name)[people] for name in ("first", "most", "gain", "need", "bounds")}
        return replace(self, **some)


def out_of_reach(sums: Sums) -> BoolArray:
    """Return who cannot have what is needed, even if all ways were gone to their ends and rules did not matter.

    Examples
    --------
    >>> one = np.ones((1, 2))
    >>> sums = Sums(np.arange(2), one, one, np.zeros(2), one, np.array([3.0]), np.zeros((0, 2)), np.zeros((1, 0)))
    >>> out_of_reach(sums)
    array([ True])
    """
    best = np.zeros((len(sums.need), sums.column.max(initial=-1) + 1))
    for k, worth in zip(sums.column, _worth(sums).T, strict=True):
        best[:, k] = np.maximum(best[:, k], worth)
    strongest = -np.sort(-best, axis=1)[:, : sums.limit]
    return np.asarray(strongest.sum(axis=1) < sums.need * (1.0 - _CLOSE))


def cheapest_sums(sums: Sums, slack: float = 0.0) -> FloatArray:
    """Return what everybody spends on every way, of shape (m, n); NaN where nothing was found.

    Steps that are short beside the cost, of columns without a rule, are not kept: who rounds what is spent away from 0
    has enough. Rules are kept with that much `slack`, relative to their largest factor: floating point may need some.

    Examples
    --------
    Two columns: the first gains more, and comes in steps of 0.4.

    >>> sums = Sums(
    ...     np.arange(2), np.array([[0.4, 0.0]]), np.array([[2.0, 2.0]]), np.array([0.4, 0.0]),
    ...     np.array([[1.0, 0.8]]), np.array([1.0]), np.zeros((0, 2)), np.zeros((1, 0)),
    ... )
    >>> cheapest_sums(sums).round(3)
    array([[0.8 , 0.25]])
    """
    spent = _relaxed(sums)
    least = np.where(np.isnan(spent).any(axis=1), 0.0, spent.sum(axis=1))
    fine = (sums.step == 0.0) | ((sums.step <= _FINE * least[:, None]) & ~sums.rules.any(axis=0))
    found = np.where(_fits(sums, spent, fine, slack)[:, None], spent, np.nan)
    for i in np.flatnonzero(np.isnan(found).any(axis=1) & ~out_of_reach(sums)):
        found[i] = _solved(sums, int(i), fine[i], slack)
    return found


def _worth(sums: Sums) -> FloatArray:
    """Return what all of every way gains; nothing where it does not gain."""
    gains = (sums.gain > 0.0) & (sums.most > 0.0)
    return np.multiply(sums.gain, sums.most, out=np.zeros_like(sums.gain), where=gains)


def _relaxed(sums: Sums) -> FloatArray:
    """Go the ways in the order of their gains; NaN if all of them are not enough."""
    worth = _worth(sums)
    order = np.argsort(-sums.gain, axis=1, kind="stable")
    gained = np.cumsum(np.take_along_axis(worth, order, axis=1), axis=1)
    before = np.zeros_like(gained)
    np.put_along_axis(before, order[:, 1:], gained[:, :-1], axis=1)
    left = np.maximum(sums.need[:, None] * (1.0 + _SLACK) - before, 0.0)
    spent = np.divide(left, sums.gain, out=np.zeros_like(left), where=worth > 0.0)
    spent = np.where(worth > 0.0, np.minimum(spent, sums.most), 0.0)
    return np.where(gained[:, -1:] >= sums.need[:, None], spent, np.nan)


def _fits(sums: Sums, spent: FloatArray, fine: BoolArray, slack: float) -> BoolArray:
    """Return who keeps to the steps, the rules and the limit."""
    steps = np.divide(spent - sums.first, sums.step, out=np.zeros_like(spent), where=sums.step > 0.0)
    begun = spent >= sums.first * (1.0 - _CLOSE)
    kept = fine | (spent == sums.most) | (begun & (np.abs(steps - np.round(steps)) <= _CLOSE * (1.0 + np.abs(steps))))
    kept &= begun | (fine & (sums.first <= sums.step))
    good: BoolArray = np.asarray(((spent == 0.0) | kept).all(axis=1))
    for rule, bound in zip(sums.rules, sums.bounds.T, strict=True):
        good &= np.nan_to_num(spent) @ rule + slack * np.abs(rule).max() <= bound
    if sums.limit is not None:
        good &= (spent > 0.0).sum(axis=1) <= sums.limit
    return good & ~np.isnan(spent).any(axis=1)


class _Program(NamedTuple):
    """The integer program of a person: which ways are begun, and how many steps, or how much, follows on each."""

    ways: IntArray  # (n,)
    first: FloatArray  # (n,): cost of beginning
    size: FloatArray  # (n,): cost of what follows, of one step or of all
    further: FloatArray  # (n,): how much may follow
    begins: FloatArray  # (n,): whether there is anything to begin
    steps: BoolArray  # (n,): whether what follows is whole

    @classmethod
    def of(cls, sums: Sums, i: int, fine: BoolArray) -> _Program:
        """Write down the program of a person; `fine` steps are left to rounding."""
        ways = np.flatnonzero((sums.most[i] > 0.0) & ((sums.gain[i] > 0.0) | sums.rules.any(axis=0)))
        gain, first, most = sums.gain[i, ways], sums.first[i, ways], sums.most[i, ways]
        step, rounded = np.where(fine, 0.0, sums.step)[ways], np.where(fine, sums.step, 0.0)[ways]
        # A step that is like the others, or is rounded up, is none of its own.
        alike = (np.abs(first - step) <= _CLOSE * step) & (sums.limit is None)
        first = np.where((rounded >= first) | alike, 0.0, first)
        # Nobody goes further than that alone would be enough, but for the rules.
        alone = (gain > 0.0) & ~sums.rules[:, ways].any(axis=0)
        enough = np.divide(_needed(sums, i), gain, out=np.full_like(gain, np.inf), where=alone)
        free = np.minimum(most, np.maximum(enough + step, first)) - first
        # Amounts without steps are parts of the whole, so that all variables are of one order.
        size = np.where(step > 0.0, step, np.where(free > 0.0, free, 1.0))
        further = np.where(step > 0.0, np.floor(free / size + _CLOSE), np.where(free > 0.0, 1.0, 0.0))
        begins = np.where((first == 0.0) & (sums.limit is None), 0.0, 1.0)
        return cls(ways, first, size, further, begins, step > 0.0)

    def row(self, per_cost: FloatArray) -> FloatArray:
        """Return the factors of the variables in a sum over costs."""
        return np.concatenate([per_cost * self.first, per_cost * self.size])

    def rows(self, sums: Sums, i: int, slack: float) -> Iterator[tuple[FloatArray, float, float]]:
        """Yield what must hold: rows, and the bounds of their products with the variables."""
        n = len(self.ways)
        yield self.row(sums.gain[i, self.ways]) / _needed(sums, i), 1.0, np.inf
        for rule, bound in zip(sums.rules[:, self.ways], sums.bounds[i], strict=True):
            scale = np.abs(self.row(rule)).max()
            if np.isfinite(bound) and scale > 0.0:
                yield self.row(rule) / scale, -np.inf, bound / scale - slack
        for j in np.flatnonzero((self.begins > 0.0) & (self.further > 0.0)):
            begun = np.zeros(2 * n)
            begun[[j, n + j]] = -self.further[j], 1.0
            yield begun, -np.inf, 0.0
        columns = sums.column[self.ways]
        together = [(columns == k, 1) for k in np.unique(columns[self.begins > 0.0])]
        if sums.limit is not None:
            together.append((columns >= 0, sums.limit))
        for some, number in together:
            if some.sum() > number:
                yield np.concatenate([some, np.zeros(n)]), -np.inf, float(number)

    def solve(self, rows: Iterator[tuple[FloatArray, float, float]]) -> FloatArray | None:
        """Return what is spent on every way; None without a solution."""
        n = len(self.ways)
        factors, low, high = zip(*rows, strict=True)
        with quiet_solver():
            ends = milp(
                self.row(np.ones(n)),
                integrality=np.concatenate([np.ones(n), self.steps]),
                bounds=Bounds(0.0, np.concatenate([self.begins, self.further])),
                constraints=LinearConstraint(np.array(factors), low, high),
                options={"mip_rel_gap": _GAP, "node_limit": _NODES, "presolve": False},
            )
        if ends.status != 0:
            return None
        begun, more = np.round(ends.x[:n]), np.where(self.steps, np.round(ends.x[n:]), np.maximum(ends.x[n:], 0.0))
        spent = self.first * begun + self.size * np.minimum(more, self.further)
        return np.where((begun > 0.0) | (self.begins == 0.0), spent, 0.0)


def _needed(sums: Sums, i: int) -> float:
    return float(sums.need[i] * (1.0 + _SLACK))


def _solved(sums: Sums, i: int, fine: BoolArray, slack: float) -> FloatArray:
    """Return what a person spends on every way by the integer program; NaN without a solution."""
    program = _Program.of(sums, i, fine)
    able = len(program.ways) and np.isfinite(program.size).all()
    found = program.solve(program.rows(sums, i, slack)) if able else None
    spent = np.full(len(sums.column), np.nan if found is None else 0.0)
    spent[program.ways] = np.nan if found is None else found
    return spent
