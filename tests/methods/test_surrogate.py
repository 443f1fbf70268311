import numpy as np
import pytest
from sklearn.linear_model import Ridge

from robust_recourse import ActionSet, ModelError
from robust_recourse.math.limits import Room
from robust_recourse.methods._surrogate import Samples, ask, fit_surrogates, global_samples, local_samples
from robust_recourse.models.predictor import Acceptance, Predictor
from robust_recourse.sampling.ball import row_generator, unit_ball
from robust_recourse.search import Task
from robust_recourse.search.oracle import Oracle
from robust_recourse.search.space import Space

EVERYWHERE = np.array([-np.inf]), np.array([np.inf])
MEAN, STD = np.array([1.0, -2.0, 0.5]), np.array([0.5, 2.0, 1.0])
ALL = np.tile(np.arange(3), (5, 1))


def task_of(x0, model):
    """A task of five people who are the rows 10 to 14 of a table."""
    schema = ActionSet().schema_for(x0)
    moves = ActionSet().resolve(schema)
    space = Space.of(schema.read(np.concatenate([np.zeros((10, 3)), x0]), "X"), moves).take(np.arange(10, 15))
    return Task(space, Room(moves.limits(), space.points, np.ones(x0.shape, bool)), Oracle(space, Predictor(model)), 0)


# Not all may change the same two columns.
TWO = np.array([[0, 2], [0, 1], [0, 2], [1, 2], [0, 2]])


def everybody(values, m=5):
    """The same moments or bounds for everybody."""
    return np.tile(values, (m, 1))


@pytest.fixture
def x0():
    return np.random.default_rng(0).standard_normal((5, 3))


def test_global_samples_start_with_the_instance_and_have_the_moments_of_the_training_rows(x0):
    points = global_samples(x0, ALL, everybody(MEAN), everybody(STD), 4000, 0, EVERYWHERE).points
    np.testing.assert_array_equal(points[:, 0], x0)
    np.testing.assert_allclose(points[:, 1:].mean(axis=1), np.tile(MEAN, (5, 1)), atol=0.15)
    np.testing.assert_allclose(points[:, 1:].std(axis=1), np.tile(STD, (5, 1)), rtol=0.06)


def test_the_weights_are_those_of_lime(x0):
    points, unit, weights = global_samples(x0, ALL, everybody(MEAN), everybody(STD), 50, 0, EVERYWHERE)
    np.testing.assert_array_equal(unit, np.tile(STD, (5, 1, 1)))
    for i in range(5):
        for point, weight in zip(points[i], weights[i], strict=True):
            distance = np.linalg.norm((point - x0[i]) / STD)
            assert weight == pytest.approx(np.sqrt(np.exp(-(distance**2) / (0.75 * np.sqrt(3)) ** 2)), rel=1e-12)
    assert (weights[:, 0] == 1.0).all()


def test_columns_that_may_not_change_count_neither_in_samples_nor_in_distances(x0):
    bounds = (MEAN[TWO] - 1.0)[:, None], (MEAN[TWO] + 1.0)[:, None]
    points, _, weights = global_samples(x0, TWO, MEAN[TWO], STD[TWO], 20, 0, bounds)
    assert points.shape == (5, 20, 2)
    for i in (2, 3):
        own = TWO[i]
        np.testing.assert_array_equal(points[i, 0], x0[i, own])
        distance = np.linalg.norm((points[i, 7] - x0[i, own]) / STD[own])
        assert weights[i, 7] == pytest.approx(np.exp(-(distance**2) / (2 * 0.75**2 * 2)))


def test_local_samples_are_uniform_in_the_ball_around_the_boundary_point(x0):
    centres = x0 + 1.0
    points, unit, weights = local_samples(x0, centres, 0.3, 500, 7, EVERYWHERE)
    naive = unit_ball([row_generator(x0[4], 7)], 500, 3)[0] * 0.3 + centres[4]
    np.testing.assert_allclose(points[4], naive, rtol=1e-12)
    radius = np.linalg.norm(points - centres[:, None], axis=2)
    assert radius.max() <= 0.3 + 1e-12
    assert np.median(radius) == pytest.approx(0.3 * 0.5 ** (1 / 3), rel=0.03)
    assert weights is None
    np.testing.assert_array_equal(unit, 1.0)


@pytest.mark.parametrize("where", ["global", "local"])
def test_no_sample_leaves_the_bounds_and_none_depends_on_the_other_instances(where, x0):
    x0 = np.clip(x0, -1.0, 1.0)
    bounds = np.full(3, -1.0), np.array([1.0, 1.0, np.inf])

    def draw(rows):
        if where == "global":
            m = len(rows)
            return global_samples(rows, ALL[:m], everybody(MEAN, m), everybody(STD, m), 30, 1, bounds)
        return local_samples(rows, rows, 2.0, 30, 1, bounds)

    points = draw(x0).points
    assert np.all((points >= bounds[0]) & (points <= bounds[1]))
    np.testing.assert_array_equal(draw(x0[3:4]).points[0], points[3])
    assert not np.array_equal(points[0, 1:], points[1, 1:])


def test_a_fit_is_the_ridge_regression_scaled_to_a_unit_normal(x0):
    samples = global_samples(x0, ALL, everybody(MEAN), everybody(STD), 100, 0, EVERYWHERE)
    probability = 1.0 / (1.0 + np.exp(-samples.points @ np.array([1.0, 0.3, -2.0])))
    w, b, flat = fit_surrogates(samples, probability, ALL, 1.0, 3)
    assert not flat.any()
    for i in range(5):
        reference = Ridge(alpha=1.0).fit(samples.points[i] / STD, probability[i], samples.weights[i])
        slope = reference.coef_ / STD
        np.testing.assert_allclose(w[i], slope / np.linalg.norm(slope), rtol=1e-8)
        assert b[i] == pytest.approx((reference.intercept_ - 0.5) / np.linalg.norm(slope), rel=1e-8)
    np.testing.assert_allclose(np.linalg.norm(w, axis=1), 1.0)


def test_columns_that_may_not_change_have_no_slope(x0):
    samples = local_samples(x0, np.take_along_axis(x0, TWO, axis=1), 0.5, 50, 0, EVERYWHERE)
    probability = 0.5 + 0.1 * (samples.points @ np.array([0.6, 0.8]) - 1.0)
    w, b, _ = fit_surrogates(samples, probability, TWO, 1e-9, 3)
    expected = np.zeros((5, 3))
    np.put_along_axis(expected, TWO, np.tile([0.6, 0.8], (5, 1)), axis=1)
    np.testing.assert_allclose(w, expected, atol=1e-7)
    np.testing.assert_allclose(b, -1.0, atol=1e-6)


def test_global_surrogates_do_not_depend_on_the_units_of_the_columns(x0):
    scale = np.array([100.0, 0.01, 1.0])
    plain = global_samples(x0, ALL, everybody(MEAN), everybody(STD), 60, 0, EVERYWHERE)
    scaled = Samples(plain.points * scale, plain.unit * scale, plain.weights)
    probability = 1.0 / (1.0 + np.exp(-plain.points.sum(axis=2)))
    w, b, _ = fit_surrogates(plain, probability, ALL, 1.0, 3)
    w2, b2, _ = fit_surrogates(scaled, probability, ALL, 1.0, 3)
    ratio = np.linalg.norm(w / scale, axis=1)
    np.testing.assert_allclose(w2, w / scale / ratio[:, None], rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(b2, b / ratio, rtol=1e-8)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_equal_probabilities_make_a_flat_surrogate(offset, x0):
    samples = local_samples(x0, x0 + offset, 0.2, 40, 0, EVERYWHERE)
    probability = np.full((5, 40), 0.3)
    probability[1] = np.linspace(0.1, 0.9, 40)
    w, b, flat = fit_surrogates(samples, probability, ALL, 1.0, 3)
    np.testing.assert_array_equal(flat, [True, False, True, True, True])
    assert np.isfinite(w[1]).all()
    assert np.isfinite(b[1])


def test_a_constant_training_column_is_no_division_by_zero(x0):
    std = np.array([0.5, 0.0, 1.0])
    samples = global_samples(x0, ALL, everybody(MEAN), everybody(std), 40, 0, EVERYWHERE)
    assert (samples.points[:, 1:, 1] == MEAN[1]).all()
    w, _, _ = fit_surrogates(samples, samples.points[..., 0] * 0.01 + 0.4, ALL, 1.0, 3)
    assert np.isfinite(w).all()


def test_every_instance_is_asked_about_alone_with_all_its_columns(counting, x0):
    model = counting(lambda X: np.clip(X[:, 1], 0.0, 1.0))
    task, people = task_of(x0, model), np.array([2, 4])
    columns = TWO[people]
    samples = local_samples(x0[people], np.take_along_axis(x0[people], columns, axis=1), 0.2, 25, 0, EVERYWHERE)
    found = ask(task, Acceptance(model), samples, people, columns)
    assert [batch.shape for batch in model.batches] == [(25, 3), (25, 3)]
    np.testing.assert_array_equal(model.batches[1][:, [0, 2]], samples.points[1])
    np.testing.assert_array_equal(model.batches[1][:, 1], x0[4, 1])
    np.testing.assert_array_equal(found, np.clip(np.tile(x0[people, 1:2], (1, 25)), 0.0, 1.0))
    np.testing.assert_array_equal(task.oracle.n_queries, [0, 0, 25, 0, 25])


def test_a_model_that_fails_at_a_sample_names_the_row(x0):
    def fragile(_):
        raise RuntimeError("no")

    samples = local_samples(x0[2:3], x0[2:3], 0.2, 4, 0, EVERYWHERE)
    with pytest.raises(ModelError, match="RuntimeError for row 12 of X: no"):
        ask(task_of(x0, fragile), Acceptance(fragile), samples, np.array([2]), ALL[:1])
