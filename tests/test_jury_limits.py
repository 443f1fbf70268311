"""The oracle of benchmarks/jury_limits.py, by enumeration."""

import importlib.util
import itertools
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def limits():
    if not FOLDER.exists():
        pytest.skip("The benchmarks are not here.")
    sys.path.insert(0, str(FOLDER))
    try:
        spec = importlib.util.spec_from_file_location("jury_limits", FOLDER / "jury_limits.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(FOLDER))
    return module


@pytest.mark.parametrize("seed", range(5))
def test_nobody_pays_less_than_the_oracle(limits, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    people, points, share = rng.normal(size=(3, 2)), rng.normal(size=(12, 2)), rng.integers(1, 6, size=12) / 5
    cost = np.abs(people[:, None] - points).sum(axis=-1)
    ways = np.array(list(itertools.product(range(12), repeat=3)))
    paid, kept = cost[np.arange(3), ways].mean(axis=1), share[ways].mean(axis=1)
    levels = (0.2, 0.5, 0.8)
    for level, bound in limits.bounds_of(people, points, share, levels).items():
        assert bound <= paid[kept >= level].min(initial=np.inf) + 1e-12
    # With all multipliers it is the least of all lotteries over points, by the duality of linear programs.
    monkeypatch.setattr(limits, "MULTIPLIERS", np.linspace(0.0, 50.0, 50_001))
    bounds = limits.bounds_of(people, points, share, levels)
    for level in levels:
        if level <= share.max():
            best = linprog(
                cost.ravel() / 3,
                A_ub=-np.tile(share, 3)[None] / 3,
                b_ub=[-level],
                A_eq=np.kron(np.eye(3), np.ones(12)),
                b_eq=np.ones(3),
            )
            assert bounds[level] == pytest.approx(best.fun, abs=1e-3)


def test_settings_are_mixed_to_a_validity(limits):
    points = np.array([[1.0, 0.2], [2.0, 0.6], [9.0, 0.7], [4.0, 1.0]])
    assert limits.cost_at(points, 0.2) == 1.0
    assert limits.cost_at(points, 0.4) == pytest.approx(1.5)
    assert limits.cost_at(points, 0.8) == pytest.approx(3.0)  # of the second and the last, not of the third
    assert limits.cost_at(points, 0.1) == 1.0
    assert np.isnan(limits.cost_at(points[:2], 0.7))
