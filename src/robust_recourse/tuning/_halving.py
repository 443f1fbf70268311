"""Successive halving: many families on few people, the best of them on more and more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from robust_recourse._typing import IntArray
from robust_recourse.futures import FutureModels
from robust_recourse.tuning._families import Basis, Family
from robust_recourse.tuning._study import Measured, Study

__all__ = ["Dial", "halve", "planned"]

_KEPT = (6, 4)  # families on every rung but the first, which has all
_STEPS = (2, 2, 2)  # strengths that are tried on every rung
_PEOPLE = (0.3, 0.6, 1.0)  # part of the people on every rung
_FEWEST = 8  # people on a rung
_FACTOR = 2.5  # from one strength to the next, where the aim is not bracketed
_INSIDE = 0.15  # least distance of a strength from the ends of a bracket, relative to its width


@dataclass
class Dial:
    """The strengths of one family that were tried on the people of a rung.

    A strength *reaches* if the validity less a margin is at least the target.
    """

    family: Family
    target: float
    margin: float = 0.0  # in standard errors
    tried: dict[float, Measured] = field(default_factory=dict)
    hint: float | None = None  # where to begin

    def reaches(self, measured: Measured) -> bool:
        """Whether a measurement is good enough."""
        return measured.validity - self.margin * measured.error >= self.target

    def next(self) -> float | None:
        """Return the strength to try next; None if there is none."""
        low, high = self.family.range
        if not self.tried:
            return min(max(self.hint if self.hint is not None else self.family.first, low), high)
        weak, strong = self._bracket()
        if strong is None:
            return None if weak is None or weak >= high else min(weak * _FACTOR, high)
        if weak is None:
            return None if strong <= low else max(strong / _FACTOR, low)
        share = min(max(self._crossing(weak, strong), _INSIDE), 1.0 - _INSIDE)
        return weak + share * (strong - weak)

    @property
    def best(self) -> float | None:
        """The cheapest strength that reaches."""
        good = [s for s, measured in self.tried.items() if self.reaches(measured)]
        return min(good, key=lambda s: (self.tried[s].cost, s), default=None)

    @property
    def score(self) -> tuple[float, float]:
        """Families with lower scores are better: first those that reach, by cost at the target; then by validity."""
        best = self.best
        if best is None:
            return 1.0, -max(measured.validity for measured in self.tried.values())
        weak, strong = self._bracket()
        if weak is None or strong is None:
            return 0.0, self.tried[best].cost
        share = self._crossing(weak, strong)
        between = self.tried[weak].cost + share * (self.tried[strong].cost - self.tried[weak].cost)
        return 0.0, min(between, self.tried[best].cost)

    def guess(self) -> float:
        """Return where the target is expected, to begin with on more people."""
        weak, strong = self._bracket()
        if weak is None or strong is None:
            return self.next() or (strong if strong is not None else self.family.range[1])
        return weak + self._crossing(weak, strong) * (strong - weak)

    def _bracket(self) -> tuple[float | None, float | None]:
        """Return the strongest strength below those that reach, and the weakest that reaches."""
        strong = min((s for s in self.tried if self.reaches(self.tried[s])), default=None)
        below = [s for s in self.tried if strong is None or s < strong]
        return max(below, default=None), strong

    def _crossing(self, weak: float, strong: float) -> float:
        """Where validity crosses the target between two strengths, as a share of the way."""
        low, high = (self.tried[s].validity - self.margin * self.tried[s].error for s in (weak, strong))
        return float(np.clip((self.target - low) / (high - low), 0.0, 1.0)) if high > low else 0.5


def planned(n_families: int) -> int:
    """How many measurements there are at most."""
    return sum(min(kept, n_families) * steps for kept, steps in zip((n_families, *_KEPT), _STEPS, strict=True))


def halve(
    study: Study,
    families: Sequence[Family],
    basis: Basis,
    rows: IntArray,
    models: FutureModels,
    target: float,
    margin: float,
) -> Iterator[list[Dial]]:
    """Search for the cheapest configuration that reaches the target; yield what is known after every measurement.

    Parameters
    ----------
    study : Study
        Measures.
    families : sequence of Family
        What to look over.
    basis : Basis
        What configurations are relative to.
    rows : ndarray of int
        People; the first of them are those of the first rungs.
    models : FutureModels
        The models to choose with.
    target, margin : float
        Future validity to reach, and by how many standard errors on a rung with all people.

    Yields
    ------
    list of Dial
        Those of all rungs so far, the last rung last.
    """
    dials: list[Dial] = []
    rung: list[Dial] = [Dial(family, target) for family in families]
    for kept, steps, part in zip((len(rung), *_KEPT), _STEPS, _PEOPLE, strict=True):
        some = rows[: max(round(part * len(rows)), min(_FEWEST, len(rows)))]
        rung = [
            Dial(dial.family, target, margin if len(some) == len(rows) else 0.0, hint=dial.guess() if dials else None)
            for dial in (_best(rung, kept) if dials else rung)
        ]
        dials = [*dials, *rung]
        for _ in range(steps):
            yield from _step(study, rung, basis, some, models, dials)


def _best(rung: list[Dial], n: int) -> list[Dial]:
    """Return the best families, of every kind: on few people one may seem hopeless that is not."""
    ranked = sorted(rung, key=lambda dial: dial.score)
    best = list({dial.family.kind: dial for dial in reversed(ranked)}.values())  # of each kind the first
    others = [dial for dial in ranked if dial not in best]
    return sorted([*best, *others][:n], key=lambda dial: dial.score)


def _step(
    study: Study, rung: list[Dial], basis: Basis, rows: IntArray, models: FutureModels, dials: list[Dial]
) -> Iterator[list[Dial]]:
    """Try one more strength of every family of a rung."""
    proposals = [(dial, strength) for dial in rung if (strength := dial.next()) is not None]
    configurations = [dial.family.parameters(strength, basis) for dial, strength in proposals]
    measured = study.measure(configurations, rows, models, "choose")
    for (dial, strength), found in zip(proposals, measured, strict=True):
        dial.tried[strength] = found
        yield dials
