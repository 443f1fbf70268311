import numpy as np
import pytest

from robust_recourse.paper.datasets.synthetic import load_synthetic, make_synthetic


def quartic(x):
    return 1 + x + 2 * x**2 + x**3 - x**4


def test_points_fill_the_rectangle_and_labels_follow_the_quartic():
    X, y = make_synthetic(5000, random_state=0)
    np.testing.assert_allclose(X.min(axis=0), [-2, -2], atol=0.01)
    np.testing.assert_allclose(X.max(axis=0), [4, 7], atol=0.01)
    np.testing.assert_array_equal(y, X[:, 1] >= quartic(X[:, 0]))


def test_noise_shifts_the_boundary_by_its_standard_deviation():
    X, y = make_synthetic(200_000, noise=1.0, random_state=1)
    # At distance one above the quartic a point is favourable if the noise is below one.
    near = np.abs(X[:, 1] - quartic(X[:, 0]) - 1.0) < 0.1
    assert abs(y[near].mean() - 0.841) < 0.02


def test_the_seed_decides():
    first, again, other = (make_synthetic(50, noise=1.0, random_state=s) for s in (3, 3, 4))
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])
    assert not np.array_equal(first[0], other[0])


def test_the_data_set_is_noise_free_at_present_and_noisy_later():
    data = load_synthetic()
    for X, y, clean in ((data.X1, data.y1, True), (data.X2, data.y2, False)):
        assert X.shape == (1000, 2)
        assert np.array_equal(y, X["x2"] >= quartic(X["x1"])) == clean
    assert data.columns == ["x1", "x2"]
    assert (data.shared == -1).all()
    assert not np.isin(data.D2["x1"], data.D1["x1"]).any()


def test_every_point_lies_within_the_bounds_of_the_action_set():
    data = load_synthetic(n_samples=200, random_state=5)
    limits = data.actions.limits(data.columns)
    for X in (data.X1, data.X2):
        assert ((limits.lower <= X) & (limits.upper >= X)).all(axis=None)


def test_the_seed_decides_about_the_data_set_and_seeds_do_not_share_points():
    first, again, other = (load_synthetic(random_state=seed) for seed in (0, 0, 1))
    assert first.D1.equals(again.D1)
    assert first.D2.equals(again.D2)
    assert not np.isin(other.D1["x1"], [*first.D1["x1"], *first.D2["x1"]]).any()
    assert load_synthetic(random_state=np.random.default_rng(0)).D1.shape == (1000, 3)


def test_the_same_points_get_new_labels_if_asked_for():
    data = load_synthetic(points="same", random_state=42)
    assert data.X1.equals(data.X2)
    np.testing.assert_array_equal(data.shared, np.arange(1000))
    assert 0.02 < (data.y1 != data.y2).mean() < 0.2
    np.testing.assert_array_equal(data.y1, data.X1["x2"] >= quartic(data.X1["x1"]))
    # The published code: all first columns, all second ones, then noise for the second.
    rng = np.random.RandomState(42)
    x1, x2 = rng.uniform(-2, 4, 1000), rng.uniform(-2, 7, 1000)
    np.testing.assert_array_equal(data.X2, np.stack([x1, x2], axis=1))
    np.testing.assert_array_equal(data.y2, x2 + rng.normal(0, 1.0, 1000) >= quartic(x1))
    # NumPy's legacy generator is fixed for good.
    np.testing.assert_allclose(data.X1.iloc[0], [0.24724, -0.33381], atol=1e-5)
    with pytest.raises(ValueError, match="points must be one of 'new', 'same'"):
        load_synthetic(points="old")
