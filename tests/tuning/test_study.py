"""Measurements of configurations: what they say, and that they are kept, told apart and checked when they are read."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse import ActionSet, BayesianRecourse
from robust_recourse.checkpoints import CheckpointWarning, InUseError, Store
from robust_recourse.result.future import judged_together
from robust_recourse.tuning._study import Measured, Study

RNG = np.random.default_rng(0)
X = RNG.uniform(-1.0, 1.0, (60, 2))
BUDGET = {"sampling_radius": 0.2, "sigma": 0.1, "axes": True, "delta_plus": 0.1, "target_odds": None}
ODDS = {"sampling_radius": 0.1, "sigma": 0.05, "axes": False, "target_odds": 0.25}
ROWS = np.array([4, 1, 7])


class Linear:
    """Accepts one side of a line."""

    def __init__(self, weights, threshold):
        self.weights, self.threshold = np.array(weights), threshold

    def predict(self, X):
        return (np.asarray(X) @ self.weights > self.threshold).astype(int)


class Unused:
    """Must not be asked."""

    def predict(self, _):
        raise AssertionError("this was measured before")


PRESENT = Linear([1.0, 1.0], 0.5)
FUTURE = [Linear([1.0, 0.6], 0.5), Linear([0.8, 1.0], 0.7), Linear([1.0, 1.0], 0.55), Linear([0.2, 1.0], 0.6)]
PEOPLE = X[PRESENT.predict(X) == 0][:12]


def method(model=PRESENT, **settings):
    return BayesianRecourse(model, n_samples=20, n_neighbors=20, random_state=0, **settings)


def study(folder, facts="facts", model=PRESENT, **settings):
    return Study(method(model, **settings), X, PEOPLE, folder, facts)


def measure(folder, parameters=BUDGET, rows=ROWS, models=FUTURE, name="choose", **settings):
    (found,) = study(folder, **settings).measure([parameters], rows, models, name)
    return found


def assert_same(found, other):
    """Compare two measurements to the last bit."""
    assert dict(found.parameters) == dict(other.parameters)
    for name in ("costs", "shares", "answers"):
        assert getattr(found, name).tobytes() == getattr(other, name).tobytes()
        assert getattr(found, name).dtype == getattr(other, name).dtype
    assert found.n_queries == other.n_queries


def files(folder):
    return sorted((folder / "measured").glob("*.piece"))


shares = st.lists(st.floats(0.0, 1.0), min_size=2, max_size=20).map(np.array)


@settings(deadline=None, max_examples=60)
@given(shares, shares, st.lists(st.none() | st.floats(0.0, 9.0), min_size=1, max_size=20))
def test_a_measurement_says_what_its_numbers_say(by_person, answers, costs):
    found = Measured({}, np.array(costs, dtype=float), by_person, answers, n_queries=3)
    n, m = len(by_person), len(answers)
    assert found.validity == pytest.approx(sum(by_person) / n)
    people = sum((share - sum(by_person) / n) ** 2 for share in by_person) / (n - 1) / n
    models = sum((share - sum(answers) / m) ** 2 for share in answers) / (m - 1) / m
    assert found.error == pytest.approx((people + models) ** 0.5, abs=1e-12)
    known = [cost for cost in costs if cost is not None]
    assert found.missing == pytest.approx(1.0 - len(known) / len(costs))
    if known:
        assert found.cost == pytest.approx(sum(max(known) if cost is None else cost for cost in costs) / len(costs))
    else:
        assert found.cost == np.inf
    assert found.interval(0.9) == pytest.approx(judged_together(by_person, m, 0.9), abs=1e-12)
    assert found.interval().share == found.validity


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 20), min_size=2, max_size=50))
def test_a_validity_is_the_number_that_is_meant(counts):
    found = Measured({}, np.ones(len(counts)), np.array(counts) / 20, np.ones(2), n_queries=1)
    exact = sum(counts) / (20 * len(counts))
    assert found.validity == round(exact, 12)
    # A target of so many hundredths is reached if it is met exactly.
    for target in np.arange(1, 101) / 100:
        assert (found.validity >= target) == (100 * sum(counts) >= round(100 * target) * 20 * len(counts))


def test_losing_people_never_makes_a_configuration_cheaper():
    whole = Measured({}, np.array([1.0, 2.0, 6.0]), np.ones(3), np.ones(2), n_queries=1)
    for lost in range(3):
        costs = np.array([1.0, 2.0, 6.0])
        costs[lost] = np.nan
        fewer = Measured({}, costs, np.where(np.isnan(costs), 0.0, 1.0), np.full(2, 2 / 3), n_queries=1)
        # Whoever is lost counts with the dearest of the others; only the dearest person can be cheaper.
        assert fewer.cost >= whole.cost or lost == 2
        assert fewer.cost > np.nanmean(costs)
        assert fewer.validity < whole.validity


@pytest.mark.parametrize("parameters", [BUDGET, ODDS])
def test_a_measurement_is_that_of_a_fitted_method_and_all_models(parameters):
    found = measure(None, parameters)
    recourses = method().set_params(**parameters).fit(X).explain(PEOPLE[ROWS])
    accepted = np.array([[model.predict(x[None])[0] == 1 for model in FUTURE] for x in recourses.x])
    np.testing.assert_array_equal(found.costs, recourses.cost)
    np.testing.assert_allclose(found.shares, accepted.mean(axis=1), rtol=1e-12)
    np.testing.assert_allclose(found.answers, accepted.mean(axis=0), rtol=1e-12)
    assert found.n_queries == recourses.n_queries.sum()
    assert dict(found.parameters) == parameters
    assert 0.0 < found.validity < 1.0


def test_people_without_a_recourse_have_no_cost_and_are_not_accepted():
    actions = ActionSet(immutable=[1], bounds={0: (-1.0, 0.6)})
    found = measure(None, rows=np.arange(12), actions=actions)
    recourses = method(actions=actions).set_params(**BUDGET).fit(X).explain(PEOPLE)
    lost = np.isnan(recourses.cost)
    assert 0 < lost.sum() < 12
    np.testing.assert_array_equal(np.isnan(found.costs), lost)
    assert not found.shares[lost].any()
    assert found.validity <= 1.0 - found.missing


def test_what_was_measured_is_read_again_to_the_last_bit(tmp_path):
    kept = [measure(tmp_path, parameters) for parameters in (BUDGET, ODDS)]
    assert len(files(tmp_path)) == 2
    before = [path.read_bytes() for path in files(tmp_path)]
    for found, parameters in zip(kept, (BUDGET, ODDS), strict=True):
        assert_same(measure(tmp_path, parameters, models=[Unused()] * 4, model=Unused()), found)
        assert_same(measure(None, parameters), found)
    assert [path.read_bytes() for path in files(tmp_path)] == before


def test_a_lost_recourse_is_read_again_as_one(tmp_path):
    actions = ActionSet(immutable=[1], bounds={0: (-1.0, 0.6)})
    found = measure(tmp_path, rows=np.arange(12), actions=actions)
    again = measure(tmp_path, rows=np.arange(12), actions=actions, models=[Unused()], model=Unused())
    assert np.isnan(again.costs).any()
    np.testing.assert_array_equal(again.costs, found.costs)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[: len(content) // 2],
        lambda _: b"",
        lambda _: b"\xff\xfe\x00",
        lambda content: content.replace(b"0", b"1"),
    ],
)
def test_what_is_damaged_is_measured_again(tmp_path, damage):
    found = measure(tmp_path)
    (path,) = files(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    with pytest.warns(CheckpointWarning, match="damaged or altered"):
        assert_same(measure(tmp_path), found)
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    "forged",
    [
        b"",
        b"3",
        b"[1, 2]",
        b"{}",
        b'[["a"], [1], [1], 2]',
        b"[[1, 2], [1, 2], [1, 2], 4]",
        b"[[1,2,3],[1,2,3],1,null]",
        b"[" * 10**5,
    ],
)
def test_what_makes_no_sense_is_measured_again(tmp_path, forged):
    found = measure(tmp_path)
    (path,) = files(tmp_path)
    Store(tmp_path / "measured").write(path.stem, forged)
    with pytest.warns(CheckpointWarning, match="is not used, and computed again"):
        assert_same(measure(tmp_path), found)


def test_other_people_models_parameters_and_facts_are_never_mixed_up(tmp_path):
    calls = {
        "this": {},
        "other people": {"rows": np.array([4, 1, 8])},
        "fewer people": {"rows": np.array([4, 1])},
        "in another order": {"rows": np.array([1, 4, 7])},
        "other models": {"name": "check 1"},
        "another budget": {"parameters": {**BUDGET, "delta_plus": 0.1000001}},
        "another mode": {"parameters": ODDS},
        "other facts": {"facts": "others"},
    }
    for n, call in enumerate(calls.values()):
        assert len(files(tmp_path)) == n
        measure(tmp_path, **call)
    assert len(files(tmp_path)) == len(calls)
    for call in calls.values():
        assert_same(measure(tmp_path, **call, models=[Unused()], model=Unused()), measure(None, **call))


def test_the_work_is_counted_also_where_it_was_done_before(tmp_path):
    for _ in range(2):
        one = study(tmp_path)
        assert len(list(one.measure([BUDGET, ODDS], ROWS, FUTURE, "choose"))) == 2
        assert one.work == 6
        list(one.measure([BUDGET], ROWS[:2], FUTURE, "choose"))
        assert one.work == 8


def test_what_is_finished_is_kept_before_the_next_is_measured(tmp_path):
    one = study(tmp_path)
    found = one.measure([BUDGET, ODDS], ROWS, FUTURE, "choose")
    assert files(tmp_path) == []
    next(found)
    assert len(files(tmp_path)) == 1
    found.close()
    # Nothing is written without a folder.
    measure(None)
    assert len(files(tmp_path)) == 1


def test_an_interrupt_leaves_no_half_of_a_measurement(tmp_path):
    class Stops:
        def predict(self, _):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure(tmp_path, models=[*FUTURE, Stops()])
    assert not (tmp_path / "measured").exists()


def test_a_second_study_waits_for_nobody_and_says_who_is_there(tmp_path):
    first = study(tmp_path).measure([BUDGET, ODDS], ROWS, FUTURE, "choose")
    next(first)
    with pytest.raises(InUseError, match=rf"measured is in use: process {os.getpid()} on .* since"):
        measure(tmp_path, ODDS)
    # What is finished can be read all the same.
    assert_same(measure(tmp_path, models=[Unused()], model=Unused()), measure(None))
    first.close()
