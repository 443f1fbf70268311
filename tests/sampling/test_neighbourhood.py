import numpy as np
import pytest

from robust_recourse.sampling.neighbourhood import MOST_GROWTHS, Neighbourhood, sample_neighbourhoods
from robust_recourse.sampling.oracle import Oracle


def sample(model, x0, centres, radius=0.5, n=60, free=None):
    oracle = Oracle(lambda X, _: np.asarray(model(X), dtype=bool), x0, np.arange(len(x0)), free)
    return sample_neighbourhoods(oracle, np.arange(len(x0)), x0, centres, radius, n, seed=5), oracle


def test_samples_lie_in_the_ball_and_carry_the_models_labels():
    x0, centres = np.zeros((3, 4)), np.full((3, 4), 0.5)

    def model(X):
        return X.sum(axis=1) > 2.0

    around, oracle = sample(model, x0, centres)
    assert np.linalg.norm(around.samples - centres[:, None], axis=2).max() <= 0.5
    np.testing.assert_array_equal(around.accepted, around.samples.sum(axis=2) > 2.0)
    assert around.two_classes.all()
    np.testing.assert_array_equal(oracle.n_queries, 60)


def test_the_radius_grows_until_both_classes_are_seen():
    around, oracle = sample(lambda X: X[:, 0] < 3.0, np.zeros((1, 2)), np.zeros((1, 2)))
    assert around.two_classes[0]
    assert around.radius[0] == 4.0
    assert oracle.n_queries[0] == 4 * 60


def test_a_growth_draws_anew():
    # Two samples on the same side of a boundary through the centre stay there however far they are scaled.
    x0 = np.random.default_rng(0).standard_normal((40, 2))
    around, _ = sample(lambda X: X[:, 0] > 0.0, x0, np.zeros((40, 2)), n=2)
    assert (around.growths > 0).sum() > 10
    assert around.two_classes.mean() > 0.9


def test_the_growth_is_bounded():
    around, oracle = sample(lambda X: np.ones(len(X)), np.zeros((2, 2)), np.zeros((2, 2)))
    assert not around.two_classes.any()
    np.testing.assert_array_equal(around.radius, 0.5 * 2.0**MOST_GROWTHS)
    np.testing.assert_array_equal(oracle.n_queries, (MOST_GROWTHS + 1) * 60)


@pytest.mark.parametrize("shift", [0.0, 1.5])
def test_samples_can_be_drawn_again(shift):
    x0 = np.random.default_rng(0).standard_normal((4, 3))
    x0[:, 0] = 0.0
    free = np.array([True, False, True])
    around, _ = sample(lambda X: X[:, 0] > 0.1 + shift, x0, x0[:, free] + 0.1, free=free)
    assert (around.growths > 0).all() == (shift > 0.0)
    for i in range(4):
        centre = x0[i].copy()
        centre[free] += 0.1
        growths = int(around.growths[i])
        again = Neighbourhood(x0[i], free, centre, float(around.radius[i]), around.accepted[i], 5, growths)
        np.testing.assert_array_equal(again.free_samples, around.samples[i])
        assert (again.samples[:, 1] == x0[i, 1]).all()
