"""The cheapest sums, against all combinations of what may be spent."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from robust_recourse.math.sums import Sums, cheapest_sums, out_of_reach

GRID = 8  # amounts of a way that the oracle tries


def drawn(seed, limit, rules, continuous=False):
    """Return a random problem: steps of some length, switches, and ways that begin late."""
    draw = np.random.default_rng(seed)
    n = int(draw.integers(2, 5))
    column = np.arange(n)
    if rules:
        column[-1] = column[0]  # up and down
    step = np.zeros(n) if continuous else draw.choice([0.25, 0.5, 1.0], n)
    first = np.zeros((1, n)) if continuous else step * draw.choice([0.4, 1.0], (1, n))
    most = first + (draw.uniform(0.0, 3.0, (1, n)) if continuous else step * draw.integers(0, GRID, (1, n)))
    gain = draw.uniform(0.1, 1.0, (1, n)) * (draw.choice([1.0, 1.0, -1.0], (1, n)) if rules else 1.0)
    if rules:
        gain[0, -1] = -gain[0, 0]
    need = draw.uniform(0.1, 1.1, 1) * np.maximum(gain * most, 0.0).sum()
    terms = draw.normal(size=(rules, n))
    bounds = draw.uniform(-0.5, 1.5, (1, rules))
    return Sums(column, first, most, step, gain, need, terms, bounds, limit)


def best_of_all(sums):
    """Return the least cost of all combinations of amounts; infinite if none is enough."""
    first, most, step = sums.first[0], sums.most[0], sums.step
    amounts = [
        [0.0, *(f + s * np.arange(round((m - f) / s) + 1))] if m > 0.0 else [0.0]
        for f, m, s in zip(first, most, step, strict=True)
    ]
    every = np.array(list(product(*amounts)))
    good = every @ sums.gain[0] >= sums.need[0] * (1 + 1e-6)
    good &= (every @ sums.rules.T <= sums.bounds[0] + 1e-9).all(axis=1)
    for k in np.unique(sums.column):
        good &= (every[:, sums.column == k] > 0.0).sum(axis=1) <= 1
    if sums.limit is not None:
        good &= (every > 0.0).sum(axis=1) <= sums.limit
    return every[good].sum(axis=1).min() if good.any() else np.inf


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), limit=st.sampled_from([None, 1, 2]), rules=st.sampled_from([0, 0, 1, 2]))
def test_no_combination_is_cheaper(seed, limit, rules):
    sums = drawn(seed, limit, rules)
    spent, least = cheapest_sums(sums)[0], best_of_all(sums)
    if np.isnan(spent).any():
        assert np.isinf(least)
        return
    assert spent.sum() <= least * 1.0002
    assert spent @ sums.gain[0] >= sums.need[0]
    assert (sums.rules @ spent <= sums.bounds[0] + 1e-6).all()
    steps = (spent - sums.first[0]) / sums.step
    assert ((spent == 0.0) | (np.abs(steps - np.round(steps)) < 1e-6)).all()
    assert limit is None or (spent > 0.0).sum() <= limit
    if least < np.inf:
        assert spent.sum() >= least * (1 - 1e-5)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_without_steps_it_is_the_linear_program(seed):
    sums = drawn(seed, None, 0, continuous=True)
    spent = cheapest_sums(sums)[0]
    exact = linprog(np.ones(len(spent)), A_ub=-sums.gain, b_ub=-sums.need, bounds=[(0, most) for most in sums.most[0]])
    if exact.status:
        assert np.isnan(spent).all()
        assert out_of_reach(sums).all()
    else:
        assert spent.sum() == pytest.approx(exact.fun, rel=1e-5)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), limit=st.sampled_from([None, 1, 2]), rules=st.sampled_from([0, 1]))
def test_what_is_said_to_be_out_of_reach_is(seed, limit, rules):
    sums = drawn(seed, limit, rules)
    if out_of_reach(sums)[0]:
        assert np.isinf(best_of_all(sums))


def test_nobody_depends_on_company():
    some = [drawn(seed, None, 0) for seed in range(300)]
    some = [sums for sums in some if len(sums.column) == 3]
    together = Sums(
        some[0].column,
        *(np.concatenate([getattr(sums, name) for sums in some]) for name in ("first", "most")),
        some[0].step,
        *(np.concatenate([getattr(sums, name) for sums in some]) for name in ("gain", "need", "rules", "bounds")),
    )
    together = Sums(
        *(getattr(together, name) for name in ("column", "first", "most", "step", "gain", "need")),
        np.zeros((0, 3)),
        np.zeros((len(some), 0)),
    )
    spent = cheapest_sums(together)
    for i in range(len(some)):
        np.testing.assert_array_equal(cheapest_sums(together.take(np.array([i])))[0], spent[i])


def test_short_steps_are_left_to_rounding():
    sums = Sums(
        np.arange(2),
        np.full((1, 2), 1e-4),
        np.full((1, 2), 5.0),
        np.full(2, 1e-4),
        np.array([[1.0, 0.9]]),
        np.array([1.00005]),
        np.zeros((0, 2)),
        np.zeros((1, 0)),
    )
    spent = cheapest_sums(sums)[0]
    assert spent[0] == pytest.approx(1.00005, abs=1e-6)
    assert spent[1] == 0.0


def test_very_different_scales_are_solved_and_nothing_is_printed(capfd):
    draw = np.random.default_rng(0)
    weights = np.array([1e-6, 1.0, 1e5, 1.0])
    for _ in range(15):
        rooms = draw.uniform(0.5, 3.0, 8)
        slope = draw.normal(size=4)
        sign, column = np.repeat([1.0, -1.0], 4), np.tile(np.arange(4), 2)
        most = rooms * weights[column]
        gain = sign * slope[column] / weights[column]
        rule = sign * np.array([1.0, 1.0, -1.0, 0.0])[column] / weights[column]
        need = 0.4 * np.maximum(gain * most, 0.0).sum()
        one = (np.zeros((1, 8)), most[None], np.zeros(8), gain[None], np.array([need]), rule[None], np.array([[0.5]]))
        spent = cheapest_sums(Sums(column, *one))[0]
        # In numbers and not in costs, which differ so much.
        exact = linprog(
            weights[column],
            A_ub=np.array([-sign * slope[column], rule * weights[column]]),
            b_ub=[-need, 0.5],
            bounds=[(0, room) for room in rooms],
        )
        if exact.status == 0:
            assert spent.sum() == pytest.approx(exact.fun, rel=1e-3)
    assert capfd.readouterr().out == ""
