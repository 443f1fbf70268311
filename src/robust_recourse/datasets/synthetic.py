"""The paper's synthetic data: two columns and a quartic boundary."""

from __future__ import annotations

import numpy as np

from robust_recourse._typing import FloatArray, IntArray
from robust_recourse._validation import check_integer, check_real, check_seed

__all__ = ["make_synthetic"]

_LOW, _HIGH = (-2.0, -2.0), (4.0, 7.0)


def make_synthetic(
    n_samples: int = 1000,
    *,
    noise: float = 0.0,
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
) -> tuple[FloatArray, IntArray]:
    r"""Draw points uniformly on :math:`[-2, 4] \times [-2, 7]` and label them.

    A point is favourable if :math:`x_2 \ge 1 + x_1 + 2 x_1^2 + x_1^3 - x_1^4 + e` with
    :math:`e \sim N(0, \text{noise}^2)`.

    Parameters
    ----------
    n_samples : int
        Number of points.
    noise : float
        Standard deviation of the shift of the boundary: 0 for the present data, 1 for the shifted data.
    random_state : int, Generator, RandomState or None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of int, shape (n_samples,)

    Examples
    --------
    >>> X, y = make_synthetic(random_state=0)
    >>> X.shape, float(y.mean().round(2))
    ((1000, 2), 0.73)
    """
    n_samples = check_integer(n_samples, "n_samples", minimum=1)
    noise = check_real(noise, "noise", minimum=0.0)
    rng = np.random.default_rng(check_seed(random_state))
    X = rng.uniform(_LOW, _HIGH, (n_samples, 2))
    x1, x2 = X.T
    boundary = 1.0 + x1 + 2.0 * x1**2 + x1**3 - x1**4 + noise * rng.standard_normal(n_samples)
    return X, (x2 >= boundary).astype(np.int64)
