"""Small sets of columns: everything on the ladder is tried before nothing is said to be found."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse.math.limits import Limits, Room
from robust_recourse.sampling.few import cheapest_few
from robust_recourse.sampling.options import ladder_of, options_of


def room_of(x0, width):
    every = np.ones(width, dtype=bool)
    limits = Limits(np.full(width, -4.0), np.full(width, 4.0), every, every, np.linspace(1.0, 2.0, width))
    return Room(limits, x0, np.ones(x0.shape, dtype=bool))


def islands(seed, width):
    """A model that accepts a few boxes, as a tree does, and not the people at 0."""
    draw = np.random.default_rng(seed)
    centre, used = draw.uniform(-3.5, 3.5, (3, width)), draw.random((3, width)) < 0.5

    def model(points):
        inside = (np.abs(points[:, None, :] - centre) < 0.8) | ~used
        return inside.all(axis=2).any(axis=1) & (np.abs(points).max(axis=1) > 0.0)

    return model


def on_the_ladder(model, room, ladder, most):
    """The least cost of an accepted point whose changes are values of the ladder: all of them are asked."""
    best, own = np.inf, room.x0[0]
    for size in range(1, most + 1):
        for columns in combinations(range(len(own)), size):
            points = np.tile(own, (int(np.prod([len(ladder[k]) for k in columns])), 1))
            points[:, columns] = list(product(*(ladder[k] for k in columns)))
            cost = room.limits.cost(points, own)
            yes = model(points) & (cost > 0.0)
            best = min(best, cost[yes].min(initial=np.inf))
    return best


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), most=st.integers(1, 2))
def test_whoever_the_ladder_can_serve_is_served(asked, seed, most):
    draw, width = np.random.default_rng(seed), 4
    room, ladder = room_of(np.zeros((1, width)), width), ladder_of(draw.uniform(-4, 4, (60, width)))
    model = islands(seed, width)
    if model(room.x0)[0]:
        return
    found = cheapest_few(asked(model, 1), room, ladder, np.full((1, width), np.nan), most)
    least = on_the_ladder(model, room, ladder, most)
    if np.isfinite(least):
        assert not np.isnan(found).any()
    if not np.isnan(found).any():
        assert model(found)[0]
        assert 1 <= (found != room.x0).sum() <= most


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_what_is_known_is_only_replaced_by_something_cheaper(asked, seed):
    width = 4
    room, model = room_of(np.zeros((1, width)), width), islands(seed, width)
    ladder = ladder_of(np.random.default_rng(seed).uniform(-4, 4, (60, width)))
    known = np.random.default_rng(seed).uniform(-3.5, 3.5, (200, width))
    known = known[model(known)][:1]
    if not len(known) or model(room.x0)[0]:
        return
    found = cheapest_few(asked(model, 1), room, ladder, known)
    cost, before = (room.limits.cost(points, room.x0)[0] for points in (found, known))
    assert np.array_equal(found, known) or (cost < before and model(found)[0])


def test_three_columns_are_found_where_two_are_not_enough(asked):
    room, ladder = room_of(np.zeros((1, 5)), 5), ladder_of(np.linspace(-4, 4, 30)[:, None].repeat(5, axis=1))

    def model(points):
        return (points[:, [0, 2, 3]] > 3.0).all(axis=1)

    nothing = np.full((1, 5), np.nan)
    assert np.isnan(cheapest_few(asked(model, 1), room, ladder, nothing, 2)).all()
    found = cheapest_few(asked(model, 1), room, ladder, nothing, 3)
    np.testing.assert_allclose(found, [[3.0, 0.0, 3.0, 3.0, 0.0]], atol=0.1)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_options_are_affordable_different_and_on_both_sides(asked, n):
    room, ladder = (
        room_of(np.array([[0.5, 0.0], [3.9, 0.0]]), 2),
        ladder_of(np.linspace(-4, 4, 50)[:, None].repeat(2, 1)),
    )
    limit = np.array([1.0, np.inf])
    options = options_of(asked(lambda points: points[:, 0] > 9, 2), room, ladder, limit, n)
    np.testing.assert_allclose(options.cost, room.cost(options.points(room), options.owner))
    assert (options.cost > 0.0).all()
    assert (options.cost <= limit[options.owner] * (1 + 1e-9)).all()
    assert len(set(zip(options.owner, options.column, options.value, strict=True))) == len(options.owner)
    for owner, column in product(range(2), range(2)):
        mine = (options.owner == owner) & (options.column == column)
        for side in (-1, 1):
            there = (mine & (side * (options.value - room.x0[options.owner, options.column]) > 0)).sum()
            assert 0 <= there <= n
            assert there


def test_singles_pairs_and_shares_are_asked_about_together(asked):
    room = room_of(np.zeros((3, 4)), 4)
    known = np.full((3, 4), 1.0)
    ask = asked(lambda points: (points == 1.0).all(axis=1), 3)
    found = cheapest_few(ask, room, ladder_of(np.random.default_rng(0).uniform(-4, 4, (60, 4))), known)
    np.testing.assert_array_equal(found, known)
    assert len(ask.calls) == 1
    assert {1, 2} == set((ask.calls[0][0] != 0.0).sum(axis=1))
