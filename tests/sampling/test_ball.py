import numpy as np
import pytest
from scipy.stats import kstest

from robust_recourse.sampling.ball import row_generator, unit_ball


@pytest.mark.parametrize("p", [1, 2, 5, 30])
def test_points_are_uniform_in_the_ball(p):
    points = unit_ball([np.random.default_rng(0)], 4000, p)[0]
    lengths = np.linalg.norm(points, axis=1)
    assert lengths.max() <= 1.0
    assert kstest(lengths**p, "uniform").pvalue > 1e-3
    assert kstest(points[:, 0], -points[:, 0]).pvalue > 1e-3


def test_directions_are_isotropic():
    points = unit_ball([np.random.default_rng(1)], 20000, 3)[0]
    covariance = np.cov(points.T)
    np.testing.assert_allclose(covariance, np.eye(3) / 5.0, atol=0.01)


def test_a_generator_depends_on_the_row_and_the_seed_only():
    row, other = np.array([1.0, -0.0]), np.array([1.0, 1e-300])
    draw = row_generator(row, 3).random(4)
    np.testing.assert_array_equal(draw, row_generator(np.array([1.0, 0.0]), 3).random(4))
    assert not np.array_equal(draw, row_generator(row, 4).random(4))
    assert not np.array_equal(draw, row_generator(other, 3).random(4))


def test_a_batch_of_generators_draws_what_each_draws_alone():
    together = unit_ball([np.random.default_rng(k) for k in range(5)], 50, 7)
    alone = [unit_ball([np.random.default_rng(k)], 50, 7)[0] for k in range(5)]
    np.testing.assert_array_equal(together, np.stack(alone))
