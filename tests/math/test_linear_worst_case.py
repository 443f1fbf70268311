"""The worst case of a linear score against perturbations of its parameters."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse.math.linear_worst_case import worst_case_score, worst_case_shift

NORMS = {"2": 2, "inf": np.inf}


@pytest.mark.parametrize("norm", NORMS)
@settings(deadline=None)
@given(seed=st.integers(0, 2**32 - 1), p=st.integers(1, 6), delta=st.sampled_from([0.0, 0.02, 0.2, 1.5]))
def test_no_perturbation_is_worse_and_the_worst_one_attains_the_score(norm, seed, p, delta):
    rng = np.random.default_rng(seed)
    x, w, b = rng.standard_normal((4, p)), rng.standard_normal((4, p)), rng.standard_normal(4)
    x[0, 0] = 0.0
    worst = worst_case_score(x, w, b, delta, norm)

    dw, db = worst_case_shift(x, delta, norm)
    sizes = np.linalg.norm(np.column_stack([dw, db]), NORMS[norm], axis=1)
    np.testing.assert_allclose(sizes, delta, rtol=1e-12)
    np.testing.assert_allclose(((w + dw) * x).sum(axis=1) + b + db, worst, atol=1e-12)

    for shift in rng.standard_normal((50, p + 1)):
        shift *= delta / np.linalg.norm(shift, NORMS[norm])
        assert np.all(((w + shift[:-1]) * x).sum(axis=1) + b + shift[-1] >= worst - 1e-12)


@pytest.mark.parametrize("norm", NORMS)
def test_without_a_radius_it_is_the_score(norm):
    x, w, b = np.array([[1.0, -2.0]]), np.array([[3.0, 4.0]]), np.array([0.5])
    assert worst_case_score(x, w, b, 0.0, norm)[0] == -4.5


@pytest.mark.parametrize("norm", NORMS)
def test_it_is_concave(norm):
    rng = np.random.default_rng(0)
    w, b, x, y = rng.standard_normal((100, 3)), rng.standard_normal(100), *rng.standard_normal((2, 100, 3))
    ends = worst_case_score(x, w, b, 0.3, norm) + worst_case_score(y, w, b, 0.3, norm)
    assert np.all(worst_case_score(0.5 * (x + y), w, b, 0.3, norm) >= 0.5 * ends - 1e-12)
