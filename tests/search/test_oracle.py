"""The one place between the search and the model."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from robust_recourse import NearestAccepted
from robust_recourse.actions import ActionSet
from robust_recourse.models import predictor
from robust_recourse.sampling.asking import OutOfTime
from robust_recourse.search import oracle as module
from robust_recourse.search.deadline import Deadline, check_time
from robust_recourse.search.oracle import Oracle
from robust_recourse.search.space import Space
from robust_recourse.tables.unpacked import packed

TRAIN = pd.DataFrame({"whole": np.arange(12), "real": np.linspace(-1, 1, 12) ** 3 * np.pi, "kind": list("abc") * 4})
ARRAY = np.random.default_rng(0).normal(size=(12, 3))


class Model:
    """Accepts by a threshold, and remembers rows and their numbers."""

    def __init__(self, limit=6.0, spoils=False):
        self.limit, self.spoils, self.batches = limit, spoils, []

    def __call__(self, X, rows):
        assert len(X) == len(rows)
        X = packed(X)
        self.batches.append((X.copy(), rows))
        first = X["whole"] if isinstance(X, pd.DataFrame) else X[:, 0]
        answer = np.array(first, dtype=float) > self.limit
        if self.spoils:
            X[:] = -99.0
        return answer

    @property
    def n_rows(self):
        return sum(len(X) for X, _ in self.batches)


def framed(**words):
    actions = ActionSet(TRAIN, **words)
    return Space.of(actions.schema.read(TRAIN, "X"), actions.resolve(actions.schema))


def plain(**words):
    actions = ActionSet(**words)
    schema = actions.schema_for(ARRAY)
    return Space.of(schema.read(ARRAY, "X"), actions.resolve(schema))


def whole(space, values, people):
    """Points in which the first column has these values, in the units of the table."""
    points = space.points[people]
    points[:, 0] = np.asarray(values) / space.moves.units[0]
    return points


def test_a_row_of_a_table_is_asked_about_once():
    space, model = framed(), Model()
    oracle = Oracle(space, model)
    people = np.array([0, 0, 0, 1])
    # The first three are the same row: what is between two whole numbers is rounded.
    points = whole(space, [7.0, 7.2, 6.9, 7.0], people)
    np.testing.assert_array_equal(oracle(points, people), True)
    assert model.n_rows == 2  # people differ in their other columns
    np.testing.assert_array_equal(oracle.n_queries[:2], [1, 1])
    oracle(points, people)
    oracle.ahead(points[:1], people[:1]).count(np.array([0]))
    assert model.n_rows == 2
    np.testing.assert_array_equal(oracle.n_queries[:2], [1, 1])
    oracle(whole(space, [5.0], people[:1]), people[:1])
    assert model.n_rows == 3
    assert oracle.n_queries[0] == 2


def test_the_same_row_of_two_people_is_remembered_of_each():
    space = framed().take(np.array([4, 4]))
    model = Model()
    oracle = Oracle(space, model)
    people = np.array([0, 1])
    oracle(whole(space, [9.0, 9.0], people), people)
    np.testing.assert_array_equal(oracle.n_queries, [1, 1])


def test_a_negative_zero_is_no_other_row():
    space = framed()
    model, people = Model(), np.array([3])
    oracle, points = Oracle(space, model), space.points[people]
    for zero in (0.0, -0.0):
        points[0, 1] = zero
        oracle(points, people)
    assert oracle.n_queries[3] == model.n_rows == 1


def test_of_an_array_every_point_is_asked_about():
    space, model = plain(), Model(0.0)
    oracle, people = Oracle(space, model), np.array([2, 2, 5])
    points = space.points[people]
    np.testing.assert_array_equal(oracle(points, people), ARRAY[people, 0] > 0.0)
    np.testing.assert_array_equal(oracle.n_queries[[2, 5]], [2, 1])
    assert model.n_rows == 3


def test_what_was_asked_ahead_counts_when_it_is_needed():
    for space in (framed(), plain()):
        model = Model()
        oracle, people = Oracle(space, model), np.array([1, 1, 4])
        answers = oracle.ahead(whole(space, [1.0, 9.0, 8.0], people), people)
        np.testing.assert_array_equal(answers.accepted, [False, True, True])
        assert model.n_rows == 3
        assert oracle.n_queries.sum() == 0
        answers.count(np.array([1]))
        np.testing.assert_array_equal(oracle.n_queries[[1, 4]], [1, 0])


def test_rules_are_never_asked_of_the_model():
    for space in (framed(rules=["whole <= 8"]), plain(rules=["x0 <= 8"])):
        model = Model()
        oracle, people = Oracle(space, model), np.arange(4)
        points = whole(space, [3.0, 7.0, 9.0, 11.0], people)
        np.testing.assert_array_equal(oracle(points, people), [False, True, False, False])
        assert model.n_rows == 2
        np.testing.assert_array_equal(oracle.verify(points[2:], people[2:]), False)
        assert model.n_rows == 2
        model.batches.clear()
        oracle(points[2:], people[2:])
        assert model.batches == []


def test_a_stricter_criterion_decides_the_search_and_the_present_model_verifies():
    for space in (framed(), plain()):
        strict, present = Model(9.0), Model(6.0)
        oracle, people = Oracle(space, strict, present), np.arange(3)
        points = whole(space, [5.0, 8.0, 11.0], people)
        np.testing.assert_array_equal(oracle(points, people), [False, False, True])
        assert present.n_rows == 0
        np.testing.assert_array_equal(oracle.verify(points, people), [False, True, True])
        assert strict.n_rows == 3
        assert present.n_rows == 3
        np.testing.assert_array_equal(oracle.n_queries[:3], 2)


def test_verification_asks_anew_whatever_is_remembered():
    space, model, people = framed(), Model(), np.array([0])
    oracle = Oracle(space, model)
    points = whole(space, [8.0], people)
    assert oracle(points, people)[0]
    model.limit = 99.0
    assert oracle(points, people)[0]
    assert not oracle.verify(points, people)[0]
    assert model.n_rows == 2
    assert oracle.n_queries[0] == 2


def test_the_model_gets_rows_of_the_table_and_their_numbers():
    space, model = framed().take(np.array([7, 2])), Model()
    oracle = Oracle(space, model)
    people = np.array([1, 0])
    oracle(whole(space, [9.0, 3.0], people), people)
    frame, rows = model.batches[0]
    np.testing.assert_array_equal(rows, [2, 7])
    pd.testing.assert_frame_equal(frame, TRAIN.iloc[[2, 7]].assign(whole=[9, 3]).reset_index(drop=True))


def test_some_of_the_people_share_memory_and_counts():
    space, model = framed(), Model()
    oracle = Oracle(space, model)
    some = oracle.take(np.array([5, 2])).take(np.array([False, True]))
    points = whole(space, [9.0], np.array([2]))
    assert some(points, np.array([0]))[0]
    oracle(points, np.array([2]))
    assert model.n_rows == 1
    np.testing.assert_array_equal(some.n_queries, [1])
    assert oracle.n_queries[2] == oracle.n_queries.sum() == 1


def test_a_model_may_write_into_what_it_is_given():
    for words in ({}, {"rules": ["x0 <= 8"]}):
        space, model = plain(**words), Model(0.0, spoils=True)
        oracle, people = Oracle(space, model), np.arange(12)
        points = ARRAY.copy()
        for answer in (oracle(points, people), oracle.verify(points, people)):
            np.testing.assert_array_equal(answer, ARRAY[:, 0] > 0.0)
        oracle.put(model, points, people)
        np.testing.assert_array_equal(points, ARRAY)
        np.testing.assert_array_equal(space.points, ARRAY)


def test_a_model_is_never_asked_about_nothing():
    nobody = np.zeros(0, dtype=np.int64)
    for space in (framed(), plain(), plain(rules=["x0 <= 8"])):
        model = Model()
        oracle = Oracle(space, model)
        for question in (oracle, oracle.verify):
            assert question(space.points[nobody], nobody).shape == (0,)
        assert len(oracle.ahead(space.points[nobody], nobody).accepted) == 0
        assert model.batches == []


def test_other_questions_are_put_and_counted():
    space = framed()
    oracle, people = Oracle(space, Model()), np.array([3, 3, 8])
    points = whole(space, [1.0, 2.2, 3.0], people)
    seen = oracle.put(lambda X, rows: (X["whole"].tolist(), rows.tolist()), points, people)
    assert seen == ([1, 2, 3], [3, 3, 8])
    np.testing.assert_array_equal(oracle.n_queries[[3, 8]], [2, 1])
    oracle.charge(np.array([8]), np.array([5]))
    assert oracle.n_queries[8] == 6


def test_after_the_deadline_nothing_is_asked(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    for space in (framed(), plain()):
        model, people, now[0] = Model(), np.array([0]), 100.0
        oracle = Oracle(space, model, deadline=Deadline(110.0))
        points = whole(space, [9.0], people)
        oracle(points, people)
        now[0] = 110.0
        oracle.verify(points, people)
        now[0] = 110.1
        before = model.n_rows
        other = whole(space, [4.0], people)
        for question in (oracle, oracle.ahead):
            with pytest.raises(OutOfTime):
                question(other, people)
        with pytest.raises(OutOfTime):
            oracle.put(model, other, people)
        with pytest.raises(OutOfTime):
            oracle.charge(people)
        assert model.n_rows == before
        # What was found is verified all the same.
        oracle.verify(points, people)
        assert model.n_rows > before
    check_time(None)
    check_time(Deadline(110.2))
    with pytest.raises(OutOfTime):
        check_time(Deadline(110.0))
    check_time(Deadline(stopped=lambda: False))
    with pytest.raises(OutOfTime):
        check_time(Deadline(stopped=lambda: True))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 7))
def test_blocks_change_nothing(seed, size):
    rng = np.random.default_rng(seed)
    people = rng.integers(0, 12, 40)
    for space in (framed(rules=["whole <= 9"]), plain()):
        points = whole(space, rng.integers(0, 12, 40), people)
        whole_model, parts_model = Model(), Model()
        at_once, in_parts = Oracle(space, whole_model), Oracle(space, parts_model)
        expected = at_once(points, people)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_BATCH", size)
            np.testing.assert_array_equal(in_parts(points, people), expected)
        np.testing.assert_array_equal(in_parts.n_queries, at_once.n_queries)
        assert parts_model.n_rows == whole_model.n_rows
        assert max(len(X) for X, _ in parts_model.batches) <= size


def test_the_last_question_is_put_to_the_model_itself(monkeypatch):
    # A quick way of asking, which is for the search, may say what it likes.
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 2)), columns=["a", "b"])
    scaled = make_column_transformer((StandardScaler(), ["a", "b"]))
    model = make_pipeline(scaled, LogisticRegression()).fit(X, X.a + X.b > 0)
    monkeypatch.setattr(predictor, "answered_quickly", lambda *_: lambda rows: np.ones(len(rows), dtype=bool))
    people = X[~model.predict(X)].head(5)
    found = NearestAccepted(model, ActionSet(immutable=["a"]), random_state=0).fit(X).explain(people)
    np.testing.assert_array_equal(found.valid, model.predict(found.x))
    assert not found.valid.all()


def rated(X, rows):  # noqa: ARG001
    return packed(X)["whole"].to_numpy(dtype=float) - 6.0


def test_people_may_be_asked_how_sure_the_model_is_of_their_points():
    space, model = framed(), Model()
    oracle = Oracle(space, model, sure=rated)
    people = np.arange(4)
    points = space.points[[5, 7, 8, 10]]  # whole is 5, 7, 8 and 10
    np.testing.assert_array_equal(oracle(points, people), [False, True, True, True])
    np.testing.assert_allclose(oracle.scores(points, people), [-1.0, 1.0, 2.0, 4.0])
    before = oracle.n_queries.sum()
    least = np.full(len(space), np.nan)
    least[[1, 2, 3]] = 2.0, 2.0, 4.5
    surer = oracle.surer(least)
    np.testing.assert_array_equal(surer(points, people), [False, False, True, False])
    np.testing.assert_allclose(surer.scores(points, people), [-1.0, -1.0, 0.0, -0.5])
    np.testing.assert_array_equal(surer.take(people[::-1])(points[::-1], people), [False, True, False, False])
    assert surer.n_queries.sum() == before  # the same rows


def test_scores_decide_where_they_are_known_to():
    space, model = framed(), Model()
    oracle = Oracle(space, model, sure=rated, least=1e-300)
    np.testing.assert_array_equal(oracle(space.points[[5, 6, 7]], np.arange(3)), [False, False, True])
    assert not model.batches
    assert oracle.n_queries[:4].tolist() == [1, 1, 1, 0]
    surer = oracle.surer(np.where(np.arange(len(space)) == 2, 5.0, np.nan))
    np.testing.assert_array_equal(surer(space.points[[5, 7, 7]], np.arange(3)), [False, True, False])


def test_scores_of_rows_that_break_rules_are_the_least():
    space = framed(rules=["whole <= 8"])
    oracle = Oracle(space, Model(), sure=rated)
    scores = oracle.scores(space.points[[5, 10]], np.array([0, 1]))
    np.testing.assert_array_equal(scores, [-1.0, -np.inf])
    assert Oracle(space, Model()).scores(space.points[:1], np.array([0])) is None
