"""The configurations that tuning looks over: families, each with one dial from weak to strong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from robust_recourse.futures import Jury
from robust_recourse.models.criteria import Rule
from robust_recourse.result.provenance import jury_fingerprint

__all__ = ["FAMILIES", "TUNED", "Basis", "Family"]

TUNED = (
    "sampling_radius", "sigma", "epsilon_0", "epsilon_1", "axes", "delta_plus", "target_odds", "margin", "jury",
)  # fmt: skip
"""The parameters that tuning chooses; the lengths are relative to the `sampling_radius` that a method has."""

Mode = Literal["budget", "odds", "margin", "quorum", "mean"]

_DIGITS = 6  # of the parameters, significant
_LEAST = 1e-9  # of a vote: 0.9 * 20 is 18, not a bit more
_DIALS: dict[Mode, tuple[float, float, float]] = {  # the weakest strength, the one to begin with, the strongest
    "budget": (0.05, 1.5, 25.0),
    "odds": (0.05, 2.0, 50.0),
    "margin": (0.1, 1.2, 7.0),
    "quorum": (0.1, 1.6, 4.0),
    "mean": (0.1, 1.5, 7.0),
}


@dataclass(frozen=True, eq=False)
class Basis:
    """What a method is given, to which everything is relative.

    Attributes
    ----------
    sampling_radius : float
        As it is given.
    radius : float
        The same as a length.
    robust : bool
        Whether the method has ambiguity radii.
    decides : float or None
        The probability from which on its model accepts; None if it has no probabilities.
    jurors : sequence
        Retrained models that may be asked for their votes.
    mean : bool
        Whether these have probabilities.
    """

    sampling_radius: float
    radius: float
    robust: bool
    decides: float | None = None
    jurors: Sequence[Any] = ()
    mean: bool = False
    _juries: dict[tuple[float, Rule], Jury] = field(default_factory=dict)

    def jury(self, level: float, rule: Rule = "quorum") -> Jury:
        """Return the jury that asks for a level; the same one for quorums that take as many votes."""
        if rule == "quorum":
            votes = max(math.ceil(level * len(self.jurors) - _LEAST), 1)
            level = math.floor(10**_DIGITS * votes / len(self.jurors) + _LEAST) / 10**_DIGITS  # never a vote more
        known = self._juries
        if (level, rule) not in known:
            other = next(iter(known.values()), None)
            made = Jury(self.jurors, level, rule=rule) if other is None else other.asking(quorum=level, rule=rule)
            jury_fingerprint(made)  # looked for once, and not in every process
            known[level, rule] = made
        return known[level, rule]


@dataclass(frozen=True)
class Family:
    """Configurations that differ in their strength alone.

    Attributes
    ----------
    mode : {"budget", "odds", "margin", "quorum", "mean"}
        What the strength is: a budget beyond the boundary point, within which odds are best; promised odds, at least
        cost; or a criterion, which moves the boundary: the margin of the present model, the quorum of a jury, the least
        mean of its probabilities.
    radius : float
        Sampling radius, relative to the method's.
    sigma, epsilon : float
        Smoothing and ambiguity radii, relative to that sampling radius.
    axes : bool
        Whether the boundary is searched along single columns, too.
    budget : float
        Of a criterion: the budget beyond the boundary point, in sampling radii of the method.
    quorum : float or None
        Of a budget or promised odds: the quorum of a jury, if one is asked.
    """

    mode: Mode
    radius: float
    sigma: float
    epsilon: float
    axes: bool
    budget: float = 0.0
    quorum: float | None = None

    @property
    def kind(self) -> str:
        """What it turns, or "criterion" if more than the present model's consent is asked for."""
        return self.mode if self.mode in ("budget", "odds") and self.quorum is None else "criterion"

    @property
    def first(self) -> float:
        """The strength to begin with."""
        return _DIALS[self.mode][1]

    @property
    def range(self) -> tuple[float, float]:
        """The weakest and the strongest."""
        low, _, high = _DIALS[self.mode]
        return low, high

    def fits(self, basis: Basis) -> bool:
        """Whether there is what its criterion asks."""
        if self.mode == "margin":
            return basis.decides is not None
        if self.mode == "mean":
            return basis.mean
        return len(basis.jurors) > 0 or (self.mode != "quorum" and self.quorum is None)

    def parameters(self, strength: float, basis: Basis) -> dict[str, Any]:
        """Return the parameters of a method.

        Budgets grow with the strength, in sampling radii; promised odds fall; probabilities grow by so much in log odds
        above what decides; the share of a jury that may refuse falls from one half.
        """
        around = self.radius * basis.radius
        found: dict[str, Any] = {
            "sampling_radius": _rounded(self.radius * basis.sampling_radius),
            "sigma": _rounded(self.sigma * around),
            "axes": self.axes,
            "margin": None,
            "jury": None if self.quorum is None else basis.jury(self.quorum),
        }
        if basis.robust:
            found |= dict.fromkeys(("epsilon_0", "epsilon_1"), _rounded(self.epsilon * around))
        if self.mode == "odds":
            return {**found, "target_odds": _rounded(math.exp(-strength))}
        budget = strength if self.mode == "budget" else self.budget
        found |= {"delta_plus": _rounded(budget * basis.radius), "target_odds": None}
        if self.mode == "quorum":
            found["jury"] = basis.jury(1.0 - 0.5 * math.exp(-strength))
        elif self.mode != "budget":
            level = _rounded(_above(0.5 if basis.decides is None else basis.decides, strength))
            found |= {"margin": level} if self.mode == "margin" else {"jury": basis.jury(level, "mean")}
        return found


# On small neighbourhoods promised odds are mostly cheapest, where boundaries are smooth; budgets, wider neighbourhoods
# and boundary points towards training rows where they are not. The last but one is the smoothing of the paper.
FAMILIES: tuple[Family, ...] = (
    Family("odds", 1.0, 0.25, 0.0, axes=True),
    Family("odds", 1.0, 0.25, 0.1, axes=True),
    Family("odds", 0.5, 0.25, 0.0, axes=True),
    Family("odds", 0.5, 0.5, 0.0, axes=True),
    Family("odds", 1.0, 0.5, 0.0, axes=True),
    Family("odds", 1.0, 0.25, 0.0, axes=False),
    Family("budget", 1.0, 0.5, 0.1, axes=True),
    Family("budget", 1.0, 0.5, 0.1, axes=False),
    Family("budget", 0.5, 0.5, 0.0, axes=True),
    Family("budget", 2.0, 1.0, 0.1, axes=True),
    Family("budget", 1.0, 5.0, 0.0, axes=False),
    Family("budget", 8.0, 0.5, 0.1, axes=True),
    # Where models differ most, a boundary further inside is worth more than better odds; a jury knows where they do.
    Family("margin", 1.0, 0.5, 0.1, axes=True),
    Family("margin", 1.0, 0.5, 0.1, axes=False),
    Family("margin", 1.0, 0.5, 0.1, axes=True, budget=0.5),
    Family("quorum", 1.0, 0.5, 0.1, axes=True),
    Family("quorum", 1.0, 0.5, 0.1, axes=True, budget=0.5),
    Family("mean", 1.0, 0.5, 0.1, axes=True),
    Family("mean", 1.0, 0.5, 0.1, axes=True, budget=0.5),
    Family("budget", 1.0, 0.5, 0.1, axes=True, quorum=0.8),
)


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _above(level: float, strength: float) -> float:
    """Return the probability with so much larger log odds than a level."""
    return 1.0 / (1.0 + (1.0 - level) / level * math.exp(-strength))
