"""Scores of single changes lead to cheap accepted points."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse.actions import ActionSet
from robust_recourse.math.limits import Room
from robust_recourse.sampling.asking import OutOfTime
from robust_recourse.sampling.combining import combine, tells_more
from robust_recourse.sampling.options import ladder_of


class Scored:
    """A model with scores, on whole numbers; counts what it is asked."""

    def __init__(self, score, n_people):
        self.score, self.people, self.rows_asked = score, np.arange(n_people), 0

    def __call__(self, points, people):
        return self.scores(points, people) > 0.0

    def ahead(self, points, people):
        accepted = self(points, people)
        return SimpleNamespace(accepted=accepted, count=lambda _: None)

    def rows(self, points, people, rounding="nearest"):  # noqa: ARG002
        ways = {"nearest": np.round, "inward": np.trunc, "outward": lambda x: np.sign(x) * np.ceil(np.abs(x))}
        return ways[rounding](points)  # people start at zero

    def scores(self, points, people):
        self.rows_asked += len(points)
        return self.score(self.rows(points, people))

    def keeps_rules(self, points, people):  # noqa: ARG002
        return np.ones(len(points), dtype=bool)

    def take(self, people):
        some = object.__new__(type(self))
        some.__dict__.update(self.__dict__)
        some.people = self.people[people]
        return some


def problem(score, p, n=1, high=4):
    x0 = np.zeros((n, p))
    actions = ActionSet(bounds=dict.fromkeys(range(p), (0, high)))
    room = Room(actions.limits(p), x0, np.ones(x0.shape, dtype=bool))
    ladder = ladder_of(np.array(list(product(range(high + 1), repeat=p)), dtype=float))
    start = np.full((n, p), float(high))
    return Scored(score, n), room, ladder, start


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4))
def test_sums_over_columns_are_solved(seed, p):
    rng = np.random.default_rng(seed)
    gain = np.cumsum(rng.uniform(0.0, 1.0, (p, 5)), axis=1)
    gain -= gain[:, :1]
    need = 0.6 * gain[:, -1].sum()

    def score(points):
        at = points.astype(int)
        return gain[np.arange(p), at].sum(axis=1) - need

    ask, room, ladder, start = problem(score, p)
    if score(start)[0] <= 0.0:
        return
    found, scored = combine(ask, room, ladder, start)
    every = np.array(list(product(range(5), repeat=p)), dtype=float)
    best = every[score(every) > 0.0].sum(axis=1).min()
    assert scored.all()
    assert score(found)[0] > 0.0
    assert found.sum() == best


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4))
def test_what_comes_out_is_accepted_and_no_dearer(seed, p):
    rng = np.random.default_rng(seed)
    centres, sign = rng.uniform(0.0, 4.0, (6, p)), rng.choice([-1.0, 1.0], 6)

    def score(points):
        away = ((points[:, None] - centres) ** 2).sum(axis=2)
        return (sign * np.exp(-0.3 * away)).sum(axis=1) + 0.05 * points.sum(axis=1) - 0.2

    ask, room, ladder, start = problem(score, p)
    if score(start)[0] <= 0.0 or score(room.x0)[0] > 0.0:
        return
    found, scored = combine(ask, room, ladder, start)
    assert scored.all()
    assert score(found)[0] > 0.0
    assert 0.0 < found.sum() <= start.sum()


def test_labels_lead_nowhere():
    ask, room, ladder, start = problem(lambda points: np.where(points.sum(axis=1) > 5.0, 30.0, -30.0), 3)
    found, scored = combine(ask, room, ladder, start)
    assert not scored.any()
    np.testing.assert_array_equal(found, start)
    assert not tells_more(ask, start, np.array([0])).any()


def test_nobody_depends_on_others(monkeypatch):
    needs = np.array([1.5, 0.9, 2.2])

    class Different(Scored):
        def scores(self, points, people):
            rows = self.rows(points, people)
            return np.sin(3.0 * rows[:, 0]) + rows @ [0.1, 0.7, 0.3, 0.2] - needs[self.people[people]]

    _, room, ladder, start = problem(None, 4, n=3)
    ask = Different(None, 3)
    together, _ = combine(ask, room, ladder, start)
    assert len(np.unique(together, axis=0)) == 3
    for i in range(3):
        alone, _ = combine(ask.take(np.array([i])), room.take(np.array([i])), ladder, start[[i]])
        np.testing.assert_array_equal(together[[i]], alone)
    monkeypatch.setattr("robust_recourse.sampling.combining._NUMBERS", 1)
    np.testing.assert_array_equal(combine(ask, room, ladder, start)[0], together)


def test_a_score_of_zero_is_enough_for_whom_it_is():
    class AtLeast(Scored):
        def __call__(self, points, people):
            return self.scores(points, people) >= 0.0

    _, room, ladder, start = problem(None, 3)
    found, _ = combine(AtLeast(lambda points: points @ [1.0, 0.5, 0.3] - 3.0, 1), room, ladder, start)
    np.testing.assert_array_equal(found, [[3.0, 0.0, 0.0]])


def test_what_is_found_before_the_time_is_over_is_kept():
    def score(points):
        return points @ [1.0, 0.6, 0.5, 0.4] - 2.5

    class Timed(Scored):
        left = 4

        def scores(self, points, people):
            type(self).left -= 1
            if type(self).left < 0:
                raise OutOfTime
            return super().scores(points, people)

    _, room, ladder, start = problem(score, 4)
    found, scored = combine(Timed(score, 1), room, ladder, start)
    assert scored.all()
    assert score(found)[0] > 0.0
    assert found.sum() < start.sum()


@pytest.mark.parametrize("p", [30, 60])
def test_wide_tables_take_rows_in_proportion_to_their_columns(p):
    slope = 1.0 / np.arange(1, p + 1)

    def score(points):
        return points @ slope - 5.0

    x0 = np.zeros((1, p))
    room = Room(ActionSet(bounds=dict.fromkeys(range(p), (0, 4))).limits(p), x0, np.ones(x0.shape, dtype=bool))
    ladder = ladder_of(np.tile(np.arange(5.0)[:, None], p))
    ask = Scored(score, 1)
    found, _ = combine(ask, room, ladder, np.full((1, p), 4.0))
    # One unit of each column in turn, as far as it goes.
    assert found.sum() == 7.0
    assert ask.rows_asked <= 250 * p


def test_steps_between_the_rungs_of_a_ladder_are_found():
    dearer, p, high = [], 4, 200
    for seed in range(30):
        rng = np.random.default_rng(seed)
        ends = np.sort(rng.integers(1, high, (p, 3)), axis=1)  # where a column climbs, as a model of trees does
        gain = rng.uniform(0.2, 1.0, (p, 3)).cumsum(axis=1)
        need = 0.45 * gain[:, -1].sum()
        levels = np.column_stack([np.zeros(p), gain])
        costs = np.column_stack([np.zeros(p), ends])

        def score(points, ends=ends, levels=levels, need=need):
            climbed = (points[:, :, None] >= ends).sum(axis=2)
            return levels[np.arange(p), climbed].sum(axis=1) - need

        x0, coarse = np.zeros((1, p)), np.tile(np.linspace(0, high, 4)[:, None], p)
        room = Room(ActionSet(bounds=dict.fromkeys(range(p), (0, high))).limits(p), x0, np.ones(x0.shape, dtype=bool))
        found, _ = combine(Scored(score, 1), room, ladder_of(coarse), np.full((1, p), float(high)))
        every = np.array(list(product(range(4), repeat=p)))
        enough = levels[np.arange(p), every].sum(axis=1) > need
        assert score(found)[0] > 0.0
        dearer.append(found.sum() / costs[np.arange(p), every[enough]].sum(axis=1).min())
    assert np.mean(dearer) < 1.01
    assert max(dearer) < 1.1
