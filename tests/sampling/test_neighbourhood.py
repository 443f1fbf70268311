import numpy as np
import pytest

from robust_recourse.math.limits import Limits, Room
from robust_recourse.sampling.neighbourhood import MOST_GROWTHS, Neighbourhood, same_width, sample_neighbourhoods


@pytest.fixture(scope="session")
def sample(asked):
    def sample(model, x0, centres, radius=0.5, n=60, free=None, once=None, bound=np.inf):
        p = x0.shape[1]
        limits = Limits(np.full(p, -bound), np.full(p, bound), *np.ones((2, p), dtype=bool), np.ones(p))
        free = np.ones(x0.shape, dtype=bool) if free is None else np.broadcast_to(free, x0.shape)
        ask = asked(model, len(x0))
        return sample_neighbourhoods(ask, Room(limits, x0, free), centres, radius, n, 5, once), ask

    return sample


def of_everybody(found, name, m):
    """Collect what belongs to each person from all groups; everybody is in exactly one."""
    people = np.concatenate([around.people for around in found])
    np.testing.assert_array_equal(np.sort(people), np.arange(m))
    values = [None] * m
    for around in found:
        value = getattr(around, name)
        for j, i in enumerate(around.people):
            values[i] = value[j] if isinstance(value, np.ndarray) else value
    return np.array(values)


def test_samples_lie_in_the_ball_and_carry_the_models_labels(sample):
    x0, centres = np.zeros((3, 4)), np.full((3, 4), 0.5)

    def model(X):
        return X.sum(axis=1) > 2.0

    (around,), oracle = sample(model, x0, centres)
    assert np.linalg.norm(around.samples - centres[:, None], axis=2).max() <= 0.5
    np.testing.assert_array_equal(around.accepted, around.samples.sum(axis=2) > 2.0)
    assert around.two_classes.all()
    np.testing.assert_array_equal(oracle.n_queries, 60)


def test_the_radius_grows_until_both_classes_are_seen(sample):
    (around,), oracle = sample(lambda X: X[:, 0] < 3.0, np.zeros((1, 2)), np.zeros((1, 2)))
    assert around.two_classes[0]
    assert around.radius == 4.0
    assert oracle.n_queries[0] == 4 * 60


def test_a_growth_draws_anew(sample):
    # Two samples on the same side of a boundary through the centre stay there however far they are scaled.
    x0 = np.random.default_rng(0).standard_normal((40, 2))
    found, _ = sample(lambda X: X[:, 0] > 0.0, x0, np.zeros((40, 2)), n=2)
    assert (of_everybody(found, "growths", 40) > 0).sum() > 10
    assert of_everybody(found, "two_classes", 40).mean() > 0.9


def test_the_growth_is_bounded(sample):
    (around,), oracle = sample(lambda X: np.ones(len(X)), np.zeros((2, 2)), np.zeros((2, 2)))
    assert not around.two_classes.any()
    assert around.radius == 0.5 * 2.0**MOST_GROWTHS
    np.testing.assert_array_equal(oracle.n_queries, (MOST_GROWTHS + 1) * 60)


def test_some_are_drawn_once_whatever_their_labels(sample):
    once = np.array([True, False])
    found, oracle = sample(lambda X: np.ones(len(X)), np.zeros((2, 2)), np.zeros((2, 2)), once=once)
    np.testing.assert_array_equal(of_everybody(found, "growths", 2), [0, MOST_GROWTHS])
    np.testing.assert_array_equal(oracle.n_queries, [60, (MOST_GROWTHS + 1) * 60])


@pytest.mark.parametrize("shift", [0.0, 1.5])
def test_samples_can_be_drawn_again(sample, shift):
    x0 = np.random.default_rng(0).standard_normal((4, 3))
    x0[:, 0] = 0.0
    free = np.array([True, False, True])
    centres = x0 + 0.1 * free
    found, _ = sample(lambda X: X[:, 0] > 0.1 + shift, x0, centres, free=free)
    growths, radius = of_everybody(found, "growths", 4), of_everybody(found, "radius", 4)
    samples, accepted = of_everybody(found, "samples", 4), of_everybody(found, "accepted", 4)
    assert (growths > 0).all() == (shift > 0.0)
    for i in range(4):
        again = Neighbourhood(x0[i], free, centres[i], float(radius[i]), accepted[i], 5, int(growths[i]))
        np.testing.assert_array_equal(again.free_samples, samples[i])
        assert (again.samples[:, 1] == x0[i, 1]).all()


def test_people_who_may_change_different_columns_are_asked_about_together(sample):
    rng = np.random.default_rng(1)
    x0 = rng.standard_normal((12, 4))
    free = rng.random((12, 4)) < 0.6
    free[:, 0] = True

    def model(X):
        return X.sum(axis=1) > 0.0

    found, ask = sample(model, x0, x0, free=free, bound=2.0)
    # One call for every radius, whatever may change.
    assert len(ask.calls) == 1 + max(around.growths for around in found)
    of_everybody(found, "growths", 12)
    for around in found:
        assert around.columns.shape[1] == around.samples.shape[2]
        for j, i in enumerate(around.people):
            np.testing.assert_array_equal(around.columns[j], np.flatnonzero(free[i]))
            alone, _ = sample(model, x0[i : i + 1], x0[i : i + 1], free=free[i : i + 1], bound=2.0)
            np.testing.assert_array_equal(alone[0].samples[0], around.samples[j])
            np.testing.assert_array_equal(alone[0].accepted[0], around.accepted[j])
    for points, people in ask.calls:
        assert (np.abs(points) <= np.maximum(2.0, np.abs(x0[people]))).all()
        held = ~free[people]
        np.testing.assert_array_equal(points[held], x0[people][held])


def test_nobody_without_a_free_column_is_in_a_group():
    free = np.array([[1, 1, 0], [0, 0, 0], [0, 1, 1], [1, 0, 0]], dtype=bool)
    groups = [(people.tolist(), columns.tolist()) for people, columns in same_width(free)]
    assert groups == [([3], [[0]]), ([0, 2], [[0, 1], [1, 2]])]
