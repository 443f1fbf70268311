"""Bisection of many lines, against one question at a time."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse.sampling import bisection
from robust_recourse.sampling.bisection import Lines, bisect


def lines_of(seed, n_lines, n_people):
    """Lines with random brackets; a position is accepted in a few intervals, which are not nested."""
    rng = np.random.default_rng(seed)
    people = np.sort(rng.integers(0, n_people, n_lines))
    high = rng.uniform(0.5, 2.0, n_lines)
    begin = np.where(rng.random(n_lines) < 0.4, rng.uniform(0.0, 1.5, n_lines), 0.0)
    low = np.where(rng.random(n_lines) < 0.5, 0.0, rng.uniform(0.0, 0.4, n_lines))
    cuts = np.sort(rng.uniform(0.0, 1.0, (n_lines, 5)), axis=1) * high[:, None]

    def model(points):
        line, position = points[:, 0].astype(int), points[:, 1]
        inside = (position[:, None] >= cuts[line]).sum(axis=1) % 2 == 1
        return inside | (position >= high[line])

    def point(which, position):
        return np.stack([which.astype(float), position], axis=1)

    return Lines(people, begin, point), low, high, model


def one_by_one(model, lines, low, high, narrow, least=None, most=60):
    """Halve every bracket by a single question at a time; return brackets, who is left, and questions of people."""
    low, high, n = low.copy(), high.copy(), len(low)
    low = np.where(high <= lines.begin, high, low)
    asked = np.zeros(1 + lines.people.max(initial=-1) if least is None else len(least), dtype=int)
    best = None if least is None else least.copy()
    left = np.ones(n, dtype=bool)
    going = list(range(n))
    for _ in range(most + 1):
        if best is not None:
            for i in going:
                best[lines.people[i]] = min(best[lines.people[i]], high[i])
            for i in going:
                left[i] = low[i] < best[lines.people[i]] or high[i] <= best[lines.people[i]]
        going = [i for i in going if left[i] and not narrow(np.array([i]), low[i : i + 1], high[i : i + 1])[0]]
        if _ == most:
            break
        for i in going:
            middle = max(0.5 * (low[i] + high[i]), min(lines.begin[i], high[i]))
            asked[lines.people[i]] += 1
            if model(lines.point(np.array([i]), np.array([middle])))[0]:
                high[i] = middle
            else:
                low[i] = middle
            if high[i] <= lines.begin[i]:
                low[i] = high[i]
    return low, high, left, asked


def to(width):
    return lambda _, low, high: high - low <= width * high


@settings(max_examples=80, deadline=None)
@given(
    st.integers(0, 10_000),
    st.integers(1, 300),
    st.integers(1, 6),
    st.sampled_from([0.3, 2.0**-7, 1e-6, 0.0]),
    st.booleans(),
    st.sampled_from([1, 7, 64, 1024]),
)
def test_it_finds_what_one_question_at_a_time_finds_and_counts_as_many(
    asked, seed, n_lines, n_people, width, compete, together
):
    lines, low, high, model = lines_of(seed, n_lines, n_people)
    least = None
    if compete:
        least = np.where(np.arange(n_people) % 2, np.inf, np.random.default_rng(seed).uniform(0.2, 2.0, n_people))
    ask = asked(model, n_people)
    before = bisection._TOGETHER
    bisection._TOGETHER = together
    try:
        found = bisect(ask, lines, low, high, to(width), least)
    finally:
        bisection._TOGETHER = before
    *expected, counts = one_by_one(model, lines, low, high, to(width), least)
    for known, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(known, other)
    np.testing.assert_array_equal(ask.n_queries[: len(counts)], counts)
    assert len(ask.calls) <= 60


@pytest.mark.parametrize(("n_lines", "levels"), [(1, 5), (20, 5), (100, 3), (1000, 1)])
def test_few_lines_need_few_calls(asked, n_lines, levels):
    lines, _, high, _ = lines_of(3, n_lines, 1)
    lines = lines._replace(begin=np.zeros(n_lines))
    ask = asked(lambda points: points[:, 1] > 0.4, 1)
    low, end, _ = bisect(ask, lines, np.zeros(n_lines), high, to(1e-6))
    assert ((low <= 0.4) & (end > 0.4)).all()
    halvings = np.ceil(np.log2(high.max() / 0.4e-6))
    assert len(ask.calls) <= halvings / levels + 1
    # What is asked ahead and not needed has its limit, too.
    assert max(len(points) for points, _ in ask.calls) <= max(1024, n_lines)


def test_nothing_is_asked_about_closed_brackets_and_before_the_beginning(asked):
    positions = []

    def model(points):
        positions.extend(points[:, 1])
        return np.ones(len(points), dtype=bool)

    lines = Lines(np.zeros(2, dtype=int), np.array([1.0, 2.0]), lambda which, at: np.stack([which, at], axis=1))
    ask = asked(model, 1)
    low, high, left = bisect(ask, lines, np.zeros(2), np.array([1.5, 2.0]), to(1e-3))
    assert min(positions) == 1.0
    # What is accepted where it begins cannot be cheaper; the second line begins where it ends.
    np.testing.assert_array_equal(low, [1.0, 2.0])
    np.testing.assert_array_equal(high, [1.0, 2.0])
    assert left.all()
    assert ask.n_queries[0] == 1


def test_a_line_that_cannot_be_cheaper_is_dropped_without_a_question(asked):
    lines = Lines(np.zeros(2, dtype=int), np.zeros(2), lambda which, at: np.stack([which, at], axis=1))
    ask = asked(lambda points: points[:, 1] > 0.2, 1)
    # The first is refused at the least cost that is known; the second ends there.
    low, high, left = bisect(ask, lines, np.array([0.5, 0.4999]), np.array([1.0, 0.5]), to(1e-3), np.array([0.5]))
    np.testing.assert_array_equal(left, [False, True])
    np.testing.assert_array_equal((low, high), [[0.5, 0.4999], [1.0, 0.5]])
    assert ask.calls == []


def test_the_brackets_given_are_not_written_to(asked):
    lines, low, high, model = lines_of(1, 5, 2)
    least, before = np.full(2, 1.0), SimpleNamespace(low=low.copy(), high=high.copy())
    bisect(asked(model, 2), lines, low, high, to(1e-3), least)
    np.testing.assert_array_equal(low, before.low)
    np.testing.assert_array_equal(high, before.high)
    np.testing.assert_array_equal(least, 1.0)
