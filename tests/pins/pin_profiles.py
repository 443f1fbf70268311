"""The paper's formulas at 200 places. Both profiles (value, slope, a and d): p from 1 to 100, radii from .05 to 4
smoothings, distances from 0, where there is a cone, to far, on both sides of every switch between the two kinds of
pessimistic optimum, and eight values that were computed by other means. The worst-case log odds with gradients, at
samples themselves too. No work may change what these are. The engine may move the functions, and change last digits
where the naive grids in the tests of ``math/`` find them as good.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from robust_recourse.math.odds import log_worst_case_odds
from robust_recourse.math.profiles import optimistic, pessimistic

DIMENSIONS = (1, 2, 5, 30, 100)
RADII = (0.05, 0.5, 1.0, 4.0)
"""In units of the smoothing."""
SIGMAS = (1.0, 0.05, 3.0)
"""The smoothing, in turn."""
SWITCHES = {
    (1, 0.05): 0.95,
    (1, 0.5): 0.50438118,
    (1, 1.0): 0.18480840,
    (2, 0.05): 0.96404615,
    (2, 0.5): 0.60365908,
    (2, 1.0): 0.31237385,
    (5, 0.05): 0.97724377,
    (5, 0.5): 0.74059873,
    (5, 1.0): 0.49175508,
    (30, 0.05): 0.99079080,
    (30, 0.5): 0.90072023,
    (30, 1.0): 0.78571857,
    (30, 4.0): 0.0143962,
    (100, 0.05): 0.99497525,
    (100, 0.5): 0.94752815,
    (100, 1.0): 0.89012565,
    (100, 4.0): 0.51457393,
}
"""Where the pessimistic optimum changes its kind, in units of the smoothing."""
BESIDE = 1e-4
"""Relative distance from a switch: far enough for last digits to be those of the optimum."""
CHECKING = {(2, 1.0): (0.0, 0.3, 0.5, 2.0), (10, 2.0): (0.2, 0.3, 4.0), (10, 0.5): (0.8,)}
ODDS_DIMENSIONS = (1, 2, 3, 10, 100)
ODDS_RADII = ((0.0, 0.0), (0.5, 0.5), (0.02, 0.3), (1.0, 0.0), (0.0, 2.0))


def observe(folder: Path) -> Any:  # noqa: ARG001
    """Return profiles and odds by the place at which they were taken."""
    return {"profiles": dict(map(_profiles, _places())), "log odds": dict(map(_odds, _points()))}


def _places() -> list[tuple[int, float, float, float]]:
    """Return dimensions, radii, smoothings and distances."""
    places = [(p, e, 1.0, c) for (p, e), distances in CHECKING.items() for c in distances]
    for turn, (p, e) in enumerate(product(DIMENSIONS, RADII)):
        switch, sigma = SWITCHES.get((p, e)), SIGMAS[turn % len(SIGMAS)]
        beside = (0.1, 0.7) if switch is None else (switch * (1.0 - BESIDE), switch * (1.0 + BESIDE))
        units = (0.0, 0.4 * e, *beside, e + 0.5, e + 1.5, 6.0, 30.0)
        places += [(p, e * sigma, sigma, c * sigma) for c in units]
    return places


def _profiles(place: tuple[int, float, float, float]) -> tuple[str, Any]:
    p, epsilon, sigma, c = place
    found = {profile.__name__: profile([c], sigma, epsilon, p) for profile in (optimistic, pessimistic)}
    return f"p={p} epsilon={epsilon!r} sigma={sigma!r} c={c!r}", {
        name: [float(part[0]) for part in (profile.value, profile.slope, profile.a, profile.d)]
        for name, profile in found.items()
    }


def _points() -> list[tuple[int, float, float, float, bool]]:
    """Return dimensions, radii of both classes, smoothings, and whether the point is a sample itself."""
    cases = product(ODDS_DIMENSIONS, ODDS_RADII, (False, True))
    return [(p, *radii, SIGMAS[turn % len(SIGMAS)], at) for turn, (p, radii, at) in enumerate(cases)]


def _odds(point: tuple[int, float, float, float, bool]) -> tuple[str, Any]:
    p, radius_0, radius_1, sigma, at_a_sample = point
    rng = np.random.default_rng(p)
    samples = sigma * 4.0 * (rng.random((40, p)) - 0.5) / np.sqrt(p)
    labels = (np.arange(40) % 3 > 0).astype(int)
    x = samples[0] if at_a_sample else sigma * (rng.random(p) - 0.5)
    odds = log_worst_case_odds(x, samples, labels, sigma, radius_0 * sigma, radius_1 * sigma)
    name = f"p={p} epsilons={radius_0!r} and {radius_1!r} smoothings of {sigma!r}" + " at a sample" * at_a_sample
    length = float(np.sqrt((odds.gradient**2).sum()))
    return name, {"value": float(odds.value), "gradient begins": odds.gradient[:3].tolist(), "its length": length}
