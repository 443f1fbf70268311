"""The configurations that tuning looks over: families, each with one dial from weak to strong."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["FAMILIES", "TUNED", "Family", "Lengths"]

TUNED = ("sampling_radius", "sigma", "epsilon_0", "epsilon_1", "axes", "delta_plus", "target_odds")
"""The parameters that tuning chooses; the lengths are relative to the `sampling_radius` that a method has."""

Mode = Literal["budget", "odds"]

_DIGITS = 6  # of the parameters, significant


@dataclass(frozen=True)
class Lengths:
    """What a method is given, to which everything is relative.

    Attributes
    ----------
    sampling_radius : float
        As it is given.
    radius : float
        The same as a length.
    robust : bool
        Whether the method has ambiguity radii.
    """

    sampling_radius: float
    radius: float
    robust: bool


@dataclass(frozen=True)
class Family:
    """Configurations that differ in their strength alone.

    Attributes
    ----------
    mode : {"budget", "odds"}
        Best odds within a budget beyond the boundary point, or least cost with promised odds.
    radius : float
        Sampling radius, relative to the method's.
    sigma, epsilon : float
        Smoothing and ambiguity radii, relative to that sampling radius.
    axes : bool
        Whether the boundary is searched along single columns, too.
    """

    mode: Mode
    radius: float
    sigma: float
    epsilon: float
    axes: bool

    @property
    def first(self) -> float:
        """The strength to begin with."""
        return 1.5 if self.mode == "budget" else 2.0

    @property
    def range(self) -> tuple[float, float]:
        """The weakest and the strongest."""
        return (0.05, 25.0) if self.mode == "budget" else (0.05, 50.0)

    def parameters(self, strength: float, lengths: Lengths) -> dict[str, Any]:
        """Return the parameters of a method: budgets grow with the strength, in sampling radii; promised odds fall."""
        around = self.radius * lengths.radius
        found: dict[str, Any] = {
            "sampling_radius": _rounded(self.radius * lengths.sampling_radius),
            "sigma": _rounded(self.sigma * around),
            "axes": self.axes,
        }
        if lengths.robust:
            found |= dict.fromkeys(("epsilon_0", "epsilon_1"), _rounded(self.epsilon * around))
        if self.mode == "budget":
            return {**found, "delta_plus": _rounded(strength * lengths.radius), "target_odds": None}
        return {**found, "target_odds": _rounded(math.exp(-strength))}


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
)


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
