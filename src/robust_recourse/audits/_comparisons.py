"""What recourse is like for some people, and whether it is different for others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.audits._groups import Groups
from robust_recourse.math.intervals import clopper_pearson, mean_interval, median_interval
from robust_recourse.notices.values import amount

__all__ = ["COSTS", "MEASURES", "SMALLEST", "Comparison", "Estimate", "People", "compare"]

SMALLEST = 5  # people of a group that is compared
COSTS = ("median_cost", "mean_cost")
MEASURES = ("no_recourse", "current_validity", "future_validity", *COSTS)
_WORSE_IF_MORE = ("no_recourse", "median_cost")
# Not the mean cost: Student's interval is too narrow for small groups.
_SENTENCES = {
    "no_recourse": "are left without a recourse {} often: no-recourse rate",
    "current_validity": "have a recourse that the present model accepts {} often: current validity",
    "future_validity": "have a recourse that the models of the future accept {} often: future validity",
    "median_cost": "pay {}: median cost",
}


class Estimate(NamedTuple):
    """A number with its interval; infinite ends where too few people are known."""

    value: float
    low: float
    high: float

    def text(self, measure: str, digits: int = 3) -> str:
        """Write it, as ``0.950 (0.751 to 0.999)``."""
        if np.isnan(self.value):
            return "-"
        value, low, high = (amount(end) if measure in COSTS else f"{end:.{digits}f}" for end in self)
        return f"{value} ({low} to {high})" if np.isfinite(self.high) else f"{value} (too few)"

    def apart(self, other: Estimate) -> bool:
        """Whether the intervals have no point in common."""
        return self.high < other.low or other.high < self.low


@dataclass(frozen=True, eq=False)
class People:
    """What is known about people who were refused: cost (NaN without a recourse), answers of the models."""

    cost: FloatArray  # (n,)
    valid: BoolArray  # (n,)
    accepted: BoolArray | None  # (n, m), by the models of the future

    def __len__(self) -> int:
        return len(self.cost)

    def only(self, chosen: BoolArray) -> People:
        """Return some of them."""
        accepted = None if self.accepted is None else self.accepted[chosen]
        return People(self.cost[chosen], self.valid[chosen], accepted)

    def estimates(self, level: float) -> dict[str, Estimate]:
        """Return all measures with intervals; that of the models is not among them if there are none."""
        cost = self.cost[np.isfinite(self.cost)]
        centres = (float(np.median(cost)), float(np.mean(cost))) if len(cost) else (np.nan, np.nan)
        ends = (median_interval(cost, level), mean_interval(cost, level))
        shares = {"no_recourse": np.isnan(self.cost).astype(float), "current_validity": self.valid.astype(float)}
        if self.accepted is not None:
            shares["future_validity"] = self.accepted.mean(axis=1)
        costs = {
            name: Estimate(centre, max(low, 0.0), high)
            for name, centre, (low, high) in zip(COSTS, centres, ends, strict=True)
        }
        return {**{name: _share(values, level) for name, values in shares.items()}, **costs}


def _share(values: FloatArray, level: float) -> Estimate:
    """Return the mean of numbers between 0 and 1, one for each person."""
    n = len(values)
    low, high = clopper_pearson(min(float(values.sum()), n), n, level)
    return Estimate(float(values.mean()) if n else np.nan, float(low), float(high))


@dataclass(frozen=True)
class Comparison:
    """A measure of a group beside that of others, both with intervals at the level of the flags."""

    measure: str
    group: int
    against: int | None  # all others if None
    mine: Estimate
    theirs: Estimate
    flagged: bool

    @property
    def worse(self) -> bool:
        """Whether the group is worse off."""
        return (self.mine.value > self.theirs.value) == (self.measure in _WORSE_IF_MORE)

    def turned(self) -> Comparison:
        """Return the same from the side of the others, if they are one group."""
        if self.against is None:
            return self
        return replace(self, group=self.against, against=self.group, mine=self.theirs, theirs=self.mine)

    def sentence(self, groups: Groups) -> str:
        """Say what the difference is."""
        what = _SENTENCES[self.measure].format("more" if self.mine.value > self.theirs.value else "less")
        mine, theirs = (estimate.text(self.measure) for estimate in (self.mine, self.theirs))
        who, others = groups.people(self.group), "all others" if self.against is None else groups.words(self.against)
        return f"{who[:1].upper()}{who[1:]} {what} {mine} against {theirs} for {others}."


def compare(
    people: People, codes: IntArray, pairs: Sequence[tuple[int, int | None]], level: float
) -> tuple[float, list[Comparison]]:
    """Compare groups, given as pairs of their numbers, and flag the differences that the intervals prove.

    Returns
    -------
    flag_level : float
        The level of each interval, so strict that all hold together with a probability of at least `level`.
    comparisons : list of Comparison
        All measures of the first pair, then those of the next; nothing about pairs with a side of fewer
        than five people.
    """
    sides = [(people.only(codes == a), people.only(codes != a if b is None else codes == b)) for a, b in pairs]
    kept = [k for k, (mine, theirs) in enumerate(sides) if min(len(mine), len(theirs)) >= SMALLEST]
    measures = [measure for measure in _SENTENCES if people.accepted is not None or measure != "future_validity"]
    n_intervals = len(kept) * (2 * len(measures) + (people.accepted is not None))
    flag_level = 1.0 - (1.0 - level) / max(n_intervals, 1)
    comparisons = []
    for k in kept:
        mine, theirs = (side.estimates(flag_level) for side in sides[k])
        for measure in measures:
            flagged = mine[measure].apart(theirs[measure])
            if measure == "future_validity":
                flagged = flagged and _differ_between_models(*sides[k], flag_level)
            comparisons.append(Comparison(measure, *pairs[k], mine[measure], theirs[measure], flagged))
    return flag_level, comparisons


def _differ_between_models(some: People, others: People, level: float) -> bool:
    r"""Whether the future validity of two groups differs by more than the models that judge them.

    For each model :math:`j` there is a difference :math:`d_j` of the shares that it accepts; the exact interval of
    their median must not hold 0.
    """
    if some.accepted is None or others.accepted is None:
        return False
    low, high = median_interval(some.accepted.mean(axis=0) - others.accepted.mean(axis=0), level)
    return low > 0.0 or high < 0.0
