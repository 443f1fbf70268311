"""The paper's synthetic data: two columns and a quartic boundary."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from robust_recourse._typing import FloatArray, IntArray
from robust_recourse._validation import check_choice, check_integer, check_real, check_seed
from robust_recourse.actions import ActionSet
from robust_recourse.paper.datasets.base import Dataset

__all__ = ["load_synthetic", "make_synthetic"]

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
    return X, _labels(X, noise * rng.standard_normal(n_samples))


def load_synthetic(
    *,
    n_samples: int = 1000,
    random_state: int | np.random.Generator | np.random.RandomState | None = 0,
    points: Literal["new", "same"] = "new",
) -> Dataset:
    """Draw present data without noise and shifted data with standard normal noise, as in the paper.

    Parameters
    ----------
    n_samples : int
        Number of points of each.
    random_state : int, Generator, RandomState or None
        Seed.
    points : {"new", "same"}
        Whether D2 has points of its own, or those of D1 with other labels. The published code does the latter; with
        ``random_state=42`` the points are the very ones that it draws.
    """
    seed = check_seed(random_state)
    check_choice(points, "points", ("new", "same"))
    if points == "new":
        rng = np.random.default_rng(seed)
        present, shifted = (make_synthetic(n_samples, noise=noise, random_state=rng) for noise in (0.0, 1.0))
    else:
        present, shifted = _same_points(check_integer(n_samples, "n_samples", minimum=1), seed)
    D1, D2 = _frame(*present), _frame(*shifted)
    return Dataset(
        name="synthetic",
        title="Synthetic",
        D1=D1,
        D2=D2,
        label="accepted",
        favourable=1,
        kinds={"x1": "continuous", "x2": "continuous"},
        # Nothing was drawn outside the rectangle, so that no model can know anything about it.
        actions=ActionSet(bounds={"x1": (_LOW[0], _HIGH[0]), "x2": (_LOW[1], _HIGH[1])}),
        citation=(
            "T.-D. H. Nguyen, N. Bui, D. Nguyen, M.-C. Yue and V. A. Nguyen (2022). Robust Bayesian Recourse. "
            "Conference on Uncertainty in Artificial Intelligence."
        ),
        licence="generated",
        notes="D2's boundary is noisy, its points are not.",
        hashes={},
        shared=np.full(n_samples, -1) if points == "new" else np.arange(n_samples),
    )


def _same_points(n_samples: int, seed: int) -> tuple[tuple[FloatArray, IntArray], tuple[FloatArray, IntArray]]:
    rng = np.random.RandomState(seed % 2**32)  # the generator of the published code
    X = np.stack([rng.uniform(low, high, n_samples) for low, high in zip(_LOW, _HIGH, strict=True)], axis=1)
    # The published code adds the noise to the second column before it labels, which lowers the boundary.
    return (X, _labels(X, np.zeros(n_samples))), (X, _labels(X, -rng.normal(0.0, 1.0, n_samples)))


def _labels(X: FloatArray, shift: FloatArray) -> IntArray:
    x1, x2 = X.T
    boundary = 1.0 + x1 + 2.0 * x1**2 + x1**3 - x1**4 + shift
    labels: IntArray = (x2 >= boundary).astype(np.int64)
    return labels


def _frame(X: FloatArray, y: IntArray) -> pd.DataFrame:
    return pd.DataFrame(X, columns=["x1", "x2"]).assign(accepted=y)
