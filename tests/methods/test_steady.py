"""The last choice of a table: the nearest accepted row where that is steadier."""

import numpy as np
import pandas as pd
import pytest

from robust_recourse import NearestAccepted, RobustBayesianRecourse, Status
from robust_recourse.methods._steady import Steadiness

N_SAMPLES = 40


@pytest.fixture
def stripes():
    """People of a model whose accepted region has islands, so that a descent may end in a narrow one."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(400, 4)), columns=list("abcd")).assign(steps=rng.integers(0, 5, 400))

    def model(rows):
        rows = np.asarray(rows, dtype=float)
        return rows[:, :2].sum(axis=1) + np.sin(9.0 * rows[:, 2]) + 0.3 * rows[:, 4] > 1.6

    return X, model, X[~model(X)][:60]


def explain(stripes, **words):
    X, model, people = stripes
    return RobustBayesianRecourse(model, n_samples=N_SAMPLES, random_state=0, **words).fit(X).explain(people)


@pytest.fixture
def compared(monkeypatch):
    """Collect what every comparison was about, and what came of it."""
    seen, prefers = [], Steadiness.prefers_reach

    def collecting(self, problem, x):
        found = prefers(self, problem, x)
        seen.append((self, problem, x.copy(), found))
        return found

    monkeypatch.setattr(Steadiness, "prefers_reach", collecting)
    return seen


def within(problem, i):
    return problem.cost(problem.reach.rows[i : i + 1], np.array([i]))[0] <= problem.budget[i]


def test_labels_agree_with_one_question_at_a_time(stripes, compared):
    explain(stripes)
    ((steadiness, problem, x, found),) = compared
    task, n = problem.task, steadiness.n
    room = task.before or task.room
    expected = []
    for i in range(len(problem)):
        noise = task.generator(i, 6).normal(0.0, 0.25 * steadiness.radius, (n, x.shape[1])) * room.free[i]
        low, high = (side[i] for side in task.limits.reach(room.x0))
        own, other = (
            sum(bool(task.oracle(np.clip(row[i] + one, low, high)[None], np.array([i]))[0]) for one in noise)
            for row in (x, problem.reach.rows)
        )
        expected.append(bool(within(problem, i) and other > own))
    assert found.tolist() == expected
    assert 0 < found.sum() < len(found)


class Rated:
    """The model of the stripes with probabilities."""

    classes_ = np.array([0, 1])

    def __init__(self, asked=None):
        self._asked = asked if asked is not None else []

    def predict_proba(self, rows):
        rows = np.asarray(rows, dtype=float)
        self._asked.append(len(rows))
        score = rows[:, :2].sum(axis=1) + np.sin(9.0 * rows[:, 2]) + 0.3 * rows[:, 4] - 1.6
        favourable = 1.0 / (1.0 + np.exp(-score))
        return np.column_stack([1.0 - favourable, favourable])


def test_a_model_with_probabilities_is_asked_how_sure_it_is(stripes, compared, monkeypatch):
    X, _, people = stripes
    around, shares = [], Steadiness._shares

    def counted(self, problem, both, people):
        around.extend(people)
        return shares(self, problem, both, people)

    monkeypatch.setattr(Steadiness, "_shares", counted)
    asked = []
    method = RobustBayesianRecourse(Rated(asked), n_samples=N_SAMPLES, random_state=0).fit(X)
    asked.clear()
    told = method.explain(people)
    ((_, problem, x, found),) = compared
    space, every = problem.task.space, np.arange(len(problem))
    own, other = (
        Rated().predict_proba(space.decode(space.legal(rows, every), every))[:, 1] for rows in (x, problem.reach.rows)
    )
    expected = (other > own) & np.array([within(problem, i) for i in every])
    assert found.tolist() == expected.tolist()
    assert 0 < found.sum() < len(found)
    assert told.n_queries.sum() <= sum(asked)  # two rows a person, and nothing around them
    assert not around


def test_scores_that_differ_in_their_last_bits_say_the_same(stripes):
    X, model, people = stripes

    def rounded(rows):
        return np.where(model(rows), 0.9, 0.1) + 1e-12 * np.sin(1e3 * np.asarray(rows, dtype=float).sum(axis=1))

    found = RobustBayesianRecourse(rounded, n_samples=N_SAMPLES, random_state=0).fit(X).explain(people)
    pd.testing.assert_frame_equal(found.x, explain(stripes).x)
    assert (found.status == Status.NEAREST).any()


def test_who_is_told_the_nearest_row_is_told_that_of_the_baseline(stripes):
    X, model, people = stripes
    found, nearest = explain(stripes), NearestAccepted(model).fit(X).explain(people)
    told = found.status == Status.NEAREST
    assert told.any()
    assert not told.all()
    pd.testing.assert_frame_equal(found.x[told], nearest.x[told])
    np.testing.assert_allclose(found.cost[told], nearest.cost[told])
    assert found.valid[told].all()
    assert "nearest accepted training row" in found[int(np.flatnonzero(told)[0])].reason


def test_a_budget_of_ones_own_is_not_compared(stripes):
    assert not (explain(stripes, delta_plus=0.5).status == Status.NEAREST).any()


def test_does_not_depend_on_the_company(stripes):
    X, model, people = stripes
    method = RobustBayesianRecourse(model, n_samples=N_SAMPLES, random_state=0).fit(X)
    together = method.explain(people)
    for i in np.flatnonzero(together.status == Status.NEAREST)[:3]:
        alone = method.explain(people.iloc[[i]])
        assert alone.equals(together[[i]])
