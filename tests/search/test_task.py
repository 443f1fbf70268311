"""People who are searched together, and their categories."""

import numpy as np
import pandas as pd
import pytest

from robust_recourse import ActionSet
from robust_recourse.math.limits import Room
from robust_recourse.result import Status
from robust_recourse.search import Answer, Outcome, Task, verify_points
from robust_recourse.search.oracle import Oracle
from robust_recourse.search.space import Space
from robust_recourse.search.switching import switch, with_price
from robust_recourse.tables.unpacked import packed

TRAIN = pd.DataFrame({"a": np.arange(10), "b": np.arange(10) / 4, "kind": list("xy") * 5})


def task_of(accepts, **words):
    actions = ActionSet(TRAIN, **words)
    space = Space.of(actions.schema.read(TRAIN, "X"), actions.resolve(actions.schema))
    free = np.ones(space.points.shape, dtype=bool)
    free[3, 0] = False
    room = Room(space.moves.limits(), space.points, free)
    return Task(space, room, Oracle(space, lambda X, rows: accepts(packed(X))), seed=3)  # noqa: ARG005


def test_some_people_of_a_task_are_numbered_anew_in_everything():
    task = task_of(lambda X: X["a"].to_numpy() > 5)
    task.oracle(task.x0, np.arange(10))
    full = Task(task.space, task.room, task.oracle, 3, task.x0 + 1.0, np.arange(10) > 4)
    for people in (np.array([7, 3]), np.isin(np.arange(10), [3, 7])):
        some, numbers = full.take(people), np.arange(10)[people]
        assert len(some) == 2
        np.testing.assert_array_equal(some.space.rows, numbers)
        np.testing.assert_array_equal(some.x0, full.x0[numbers])
        np.testing.assert_array_equal(some.free, full.free[numbers])
        np.testing.assert_array_equal(some.boundary, full.boundary[numbers])
        np.testing.assert_array_equal(some.switched, full.switched[numbers])
        np.testing.assert_array_equal(some.oracle(some.x0, np.arange(2)), TRAIN["a"].to_numpy()[numbers] > 5)
        assert some.seed == 3
        missing = some.missing(1, Status.NOT_FOUND, "why")
        assert missing.n_queries == 2  # the row itself is one
        np.testing.assert_array_equal(missing.x0, some.x0[1])


def test_switched_people_start_with_other_categories_and_move_numbers_only():
    task = task_of(lambda X: X["kind"].to_numpy() == "y")
    boundary = task.x0.copy()
    boundary[:, 2] = 1.0
    boundary[1::2, 1] -= 1.0
    after = switch(task, boundary)
    np.testing.assert_array_equal(after.x0[:, :2], task.x0[:, :2])
    np.testing.assert_array_equal(after.x0[:, 2], 1.0)
    assert not after.free[:, 2].any()
    np.testing.assert_array_equal(after.free[:, :2], task.free[:, :2])
    # Who needs no number in addition is accepted with the switch alone.
    np.testing.assert_array_equal(after.switched, np.arange(10) % 2 == 0)
    answer = Answer.missing(after.x0[0], Status.NOT_FOUND, "why")
    told = with_price(Answer(**{**vars(answer), "cost": 2.0, "budget": 3.0}), task.x0[0], 1.5)
    assert (told.cost, told.budget) == (3.5, 4.5)
    np.testing.assert_array_equal(told.x0, task.x0[0])


def test_the_last_question_is_about_what_is_told_and_a_rule_leaves_nothing():
    asked = []

    def accepts(X):
        asked.append(X)
        return X["a"].to_numpy() >= 7

    task = task_of(accepts, rules=["b <= 2"])
    points = task.x0.copy()
    points[:, 0] = 6.6 / task.space.moves.units[0]  # between two whole numbers: 7 is the nearest
    found = np.arange(10) != 5
    done = [Outcome(Status.OK, "done")] * 5 + [Outcome(Status.NOT_FOUND, "nowhere")] + [Outcome(Status.OK, "done")] * 4
    answers = verify_points(task, points, found, done)
    values = task.space.legal(np.array([answer.x for answer in answers]), np.arange(10))
    for i, answer in enumerate(answers):
        if i == 5:
            assert (answer.status, answer.reason) == (Status.NOT_FOUND, "nowhere")
        elif TRAIN["b"][i] > 2:
            assert answer.status == Status.NOT_FOUND
            assert "breaks the rule 'b <= 2'" in answer.reason
            assert np.isnan(answer.x).all()
        else:
            assert answer.valid
            assert values[i, 0] == 7.0
            assert answer.cost == task.limits.cost(answer.x, task.x0[i])
    assert all((X["b"] <= 2).all() for X in asked)


def test_a_point_that_the_model_refuses_stays_as_not_valid():
    task = task_of(lambda X: np.zeros(len(X), dtype=bool))
    points = task.x0.copy()
    points[:, 0] = 2.0 / task.space.moves.units[0]
    answers = verify_points(task, points, np.ones(10, dtype=bool), [Outcome(Status.OK, "done")] * 10)
    assert {answer.status for answer in answers} == {Status.REFUSED}
    assert not any(answer.valid for answer in answers)
    assert all(np.isfinite(answer.cost) for answer in answers)


@pytest.mark.parametrize(
    ("person", "tried"),
    [
        (0, [(6, 1.25), (7, 1.25), (6, 1.0)]),  # from 0 and 0
        (9, [(6, 1.25), (6, 1.0), (7, 1.25)]),  # from 9 and 2.25
    ],
)
@pytest.mark.parametrize("accepted", [(0,), (1,), (2,), (1, 2), (0, 1, 2), ()])
def test_the_nearest_row_is_tried_first_then_one_farther_away_then_a_closer_one(person, tried, accepted):
    wanted, asked = [tried[k] for k in accepted], []

    def accepts(X):
        asked.extend(zip(X["a"].tolist(), X["b"].tolist(), strict=True))
        return np.array([row in wanted for row in asked[-len(X) :]])

    task = task_of(accepts, step={"b": 0.25}).take(np.array([person]))
    points = task.x0.copy()
    points[:, :2] = np.array([6.3, 1.2]) / task.space.moves.units[:2]
    [answer] = verify_points(task, points, np.ones(1, dtype=bool), [Outcome(Status.OK, "done")])
    assert asked == tried[: min(accepted, default=2) + 1]
    assert answer.valid == bool(accepted)
    told = task.space.legal(answer.x[None], np.arange(1))[0, :2]
    # Where all are refused it is the nearest that is told.
    assert tuple(told.tolist()) == (wanted or tried)[0]
