"""What follows from what a person does: columns that others determine, and columns that others move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.actions.column_rule import ColumnRule
from robust_recourse.actions.following import following
from robust_recourse.actions.names import Names
from robust_recourse.math.limits import Limits
from robust_recourse.tables import Column

if TYPE_CHECKING:
    from robust_recourse.actions.moves import Moves

__all__ = ["Consequence", "Effect", "Follow", "Reach", "consequences_of"]

Told: TypeAlias = Callable[[FloatArray], FloatArray]
"""Rounds the numbers of a column to what can be told to a person."""


@dataclass(frozen=True, eq=False)
class Reach:
    """How far a column may be moved by others.

    Attributes
    ----------
    limits : Limits
        Range, directions and categories of the column, as the only one, in its own units.
    lower, upper : float
        Bounds that were asked for. The range of the training rows, in `limits`, also holds an instance beyond it.
    """

    limits: Limits
    lower: float
    upper: float

    def box(self, own: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value that each instance may get."""
        low, high = (side[:, 0] for side in self.limits.box(own[:, None]))
        return np.maximum(low, self.lower), np.minimum(high, self.upper)

    def allows(self, new: FloatArray, own: FloatArray) -> BoolArray:
        """Whether instances with the values `own` may get the values `new`."""
        if self.limits.targets[0] is not None:
            return np.asarray((new == own) | self.limits.may_switch(0, own, new))
        low, high = self.box(own)
        return np.asarray((new == own) | ((low <= new) & (new <= high)))


@dataclass(frozen=True, eq=False)
class Follow:
    """A column that another one determines.

    Where its leader keeps its value, so does the column; otherwise it gets the partner of the leader's new one.

    Attributes
    ----------
    column, leader : int
        Their positions.
    known, partners : ndarray of shape (n,)
        Values or codes of the leader that have a partner, rising, and these.
    reach : Reach
        What the column may become.
    text : str
        The same in words.
    """

    column: int
    leader: int
    known: FloatArray
    partners: FloatArray
    reach: Reach
    text: str

    def become(self, values: FloatArray, own: FloatArray, missing: BoolArray, told: Told | None) -> FloatArray:
        """Return what the column becomes in rows with these values.

        Parameters
        ----------
        values, own : ndarray of shape (n, p)
            The rows, in which this is the next column to be settled, and the instances.
        missing : ndarray of bool, shape (n, p)
            Which cells are empty; they stay so.
        told : callable or None
            Rounds numbers; None for derivatives, where nothing is rounded and the nearest value has the partner.
        """
        place, known = self._places(values)
        follows = (values[:, self.leader] != own[:, self.leader]) & ~missing[:, self.column]
        if told is not None:
            follows &= known
        return np.where(follows, self.partners[place], own[:, self.column])

    def holds(
        self,
        done: FloatArray,  # noqa: ARG002
        values: FloatArray,
        own: FloatArray,
        missing: BoolArray,
        told: Told | None,  # noqa: ARG002
    ) -> BoolArray:
        """Whether a row can be: its leader has a partner, and the column may become that."""
        kept = values[:, self.leader] == own[:, self.leader]
        allowed = self.reach.allows(values[:, self.column], own[:, self.column]) | missing[:, self.column]
        return np.asarray(kept | (self._places(values)[1] & allowed))

    def _places(self, values: FloatArray) -> tuple[IntArray, BoolArray]:
        """Return where the nearest values with a partner are, and which are the values themselves."""
        led = values[:, self.leader]
        above = np.searchsorted(self.known, led).clip(0, len(self.known) - 1)
        below = np.maximum(above - 1, 0)
        place = np.where(np.abs(self.known[below] - led) < np.abs(self.known[above] - led), below, above)
        return place, np.asarray(self.known[place] == led)


@dataclass(frozen=True, eq=False)
class Effect:
    r"""A column of numbers that others move, beyond what a person does to it.

    .. math:: x_k = y_k + \sum_j r_{jk} (x_j - x_{0j}),

    with :math:`y_k` what the person makes of it, rounded to the grid of the column, but never against the effect.

    Attributes
    ----------
    column : int
        Its position.
    sources, rates : tuple
        Positions of the columns that move it, and by how much for each 1 of theirs.
    reach : Reach
        What the column may become.
    text : str
        The same in words.
    """

    column: int
    sources: tuple[int, ...]
    rates: tuple[float, ...]
    reach: Reach
    text: str

    def become(self, values: FloatArray, own: FloatArray, missing: BoolArray, told: Told | None) -> FloatArray:
        """Return what the column becomes; see :meth:`Follow.become`.

        What is out of reach is moved into it, so that it is a row of the table: :meth:`holds` knows better.
        """
        reached = self._reached(values[:, self.column], values, own, missing, told)
        moved = reached != values[:, self.column]
        within = np.clip(reached, *self.reach.box(own[:, self.column]))
        return np.where(moved & (within != reached), within if told is None else told(within), reached)

    def holds(
        self, done: FloatArray, values: FloatArray, own: FloatArray, missing: BoolArray, told: Told | None
    ) -> BoolArray:
        """Whether a row can be: where the column is moved, it stays within its bounds.

        Parameters
        ----------
        done : ndarray of shape (n, p)
            What the people do.
        values, own, missing, told
            What becomes of that, and the rest as for :meth:`Follow.become`.
        """
        reached = self._reached(done[:, self.column], values, own, missing, told)
        return np.asarray((reached == done[:, self.column]) | self.reach.allows(reached, own[:, self.column]))

    def _reached(
        self, start: FloatArray, values: FloatArray, own: FloatArray, missing: BoolArray, told: Told | None
    ) -> FloatArray:
        shift = np.zeros(len(values))
        for source, rate in zip(self.sources, self.rates, strict=True):
            shift = shift + rate * (values[:, source] - own[:, source])
        reached = start + shift
        if told is not None:
            reached = told(reached)
        reached = np.where(shift > 0.0, np.maximum(reached, start), np.minimum(reached, start))
        return np.where((shift == 0.0) | missing[:, self.column], start, reached)


Consequence: TypeAlias = Follow | Effect


def consequences_of(rules: Sequence[ColumnRule], names: Names, moves: Moves) -> tuple[Consequence, ...]:
    """Return what follows from what a person does, in the order in which it does; `moves` has no rules yet."""
    found: list[Consequence] = []
    for name, causes in following(rules).items():
        k, sources = names.find(name, "effects"), tuple(names.find(cause, "effects") for cause in causes)
        column, rule, moving = moves.columns[k], rules[k], [moves.columns[source].kind != "fixed" for source in sources]
        if column.kind == "fixed" or not any(moving):
            continue
        if rule.link is None:
            rates = tuple(float((rules[source].effects or {})[name]) for source in sources)
            text = f"{name} moves with {', '.join(map(str, causes))}"
            found.append(Effect(k, sources, rates, _reach(rule, k, moves), text))
        else:
            [leader] = sources
            pairs = sorted((_coded(moves.columns[leader], led), _coded(column, own)) for led, own in column.partners)
            known, partners = np.array(pairs).T
            found.append(Follow(k, leader, known, partners, _reach(rule, k, moves), f"{name} follows {causes[0]}"))
    return tuple(found)


def _reach(rule: ColumnRule, k: int, moves: Moves) -> Reach:
    low, high = (side[k : k + 1] for side in moves.range())
    # What is moved goes either way; what follows goes where its words let it.
    rises, falls = (np.array([rule.link is None or not barred]) for barred in (rule.decrease, rule.increase))
    limits = Limits(low, high, rises, falls, np.ones(1), (moves.targets[k],), (moves.never[k],))
    return Reach(limits, float(moves.lower[k]), float(moves.upper[k]))


def _coded(column: Column, value: Any) -> float:
    return float(column.values.index(value) if column.categorical else value)
