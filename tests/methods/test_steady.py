"""The last choice of a table: the nearest accepted row where more of what is around it is accepted."""

import numpy as np
import pandas as pd
import pytest

from robust_recourse import NearestAccepted, RobustBayesianRecourse, Status
from robust_recourse.methods import _odds_verify
from robust_recourse.methods._steady import steadier

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


def test_agrees_with_one_question_at_a_time(stripes, monkeypatch):
    chosen = []

    def slowly(problem, x, radius, n):
        found, task = steadier(problem, x, radius, n), problem.task
        room = task.before or task.room
        expected = []
        for i in range(len(problem)):
            noise = task.generator(i, 6).normal(0.0, 0.25 * radius, (n, x.shape[1])) * room.free[i]
            low, high = (side[i] for side in task.limits.reach(room.x0))
            own, other = (
                sum(bool(task.oracle(np.clip(row[i] + one, low, high)[None], np.array([i]))[0]) for one in noise)
                for row in (x, problem.near)
            )
            within = problem.cost(problem.near[i : i + 1], np.array([i]))[0] <= problem.budget[i]
            expected.append(bool(within and other > own))
        assert found.tolist() == expected
        chosen.extend(expected)
        return found

    monkeypatch.setattr(_odds_verify, "steadier", slowly)
    explain(stripes)
    assert 0 < sum(chosen) < len(chosen)


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
