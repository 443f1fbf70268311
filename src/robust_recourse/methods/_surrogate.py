r"""Linear surrogates of a model, one for every instance.

A surrogate is a score :math:`s(x) = w^\top x + b` with :math:`\|w\|_2 = 1` that accepts :math:`x` if
:math:`s(x) \ge 0`. It is a ridge regression of the probability of the favourable class on samples, less one half,
divided by the length of its slope: *global* samples weighted by their distance from the instance (LIME [1]_), or
*local* ones around the boundary point (LIMELS [2]_).

References
----------
.. [1] M. T. Ribeiro, S. Singh and C. Guestrin, "'Why Should I Trust You?': Explaining the Predictions of Any
   Classifier", KDD 2016.
.. [2] T. Laugel, X. Renard, M.-J. Lesot, C. Marsala and M. Detyniecki, "Defining Locality for Surrogates in
   Post-hoc Interpretability", ICML workshop on human interpretability, 2018.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.math.ridge import ridge
from robust_recourse.sampling.ball import row_generator, unit_ball
from robust_recourse.search import Task
from robust_recourse.search.oracle import Question

__all__ = ["Samples", "Surrogates", "ask", "fit_surrogates", "global_samples", "local_samples"]

_WIDTH = 0.75  # of LIME's kernel, times the root of the number of columns
_FLAT = 1e-12  # a score that changes by less over its samples does not change


class Samples(NamedTuple):
    """Where the surrogates of many instances are fitted, in the columns that may change."""

    points: FloatArray  # (m, n, p)
    unit: FloatArray  # (m, 1, p): the lengths in which the slopes are penalised
    weights: FloatArray | None  # (m, n), all 1 if None


class Surrogates(NamedTuple):
    """Linear scores of many instances, in all columns."""

    w: FloatArray  # (m, p): of length 1; NaN where flat
    b: FloatArray  # (m,)
    flat: BoolArray  # (m,): the score does not change over its samples


def global_samples(
    x0: FloatArray,
    columns: IntArray,
    mean: FloatArray,
    std: FloatArray,
    n_samples: int,
    seed: int,
    bounds: tuple[FloatArray, FloatArray],
) -> Samples:
    r"""Draw LIME's samples: the instance itself, and Gaussian ones with the moments of the training rows.

    Distances :math:`d` from the instance and the penalty of the regression are in standard deviations, as LIME has
    them, and the weights are :math:`\sqrt{\exp(-d^2 / \omega^2)}` with :math:`\omega = 0.75 \sqrt p`. Columns that
    may not change keep the instance's values and do not count in :math:`p`.

    Parameters
    ----------
    x0 : ndarray of shape (m, p_all)
        The instances with all columns.
    columns : ndarray of int, shape (m, p)
        The columns that each may change.
    mean, std : ndarray of shape (m, p)
        Moments of the training rows in these columns.
    n_samples : int
        Number of samples of each instance.
    seed : int
        Seed of the method.
    bounds : tuple of ndarray of shape (m, 1, p)
        Bounds: a sample outside is moved onto them.
    """
    p = columns.shape[1]
    points = np.empty((len(x0), n_samples, p))
    for row, drawn in zip(x0, points, strict=True):
        row_generator(row, seed).standard_normal(out=drawn)
    points *= std[:, None]
    points += mean[:, None]
    np.clip(points, *bounds, out=points)
    instance = np.take_along_axis(x0, columns, axis=1)[:, None]
    points[:, :1] = instance
    unit = np.where(std > 0.0, std, 1.0)[:, None]
    squares = (((points - instance) / unit) ** 2).sum(axis=2)
    return Samples(points, unit, np.exp(-0.5 * squares / (_WIDTH**2 * p)))


def local_samples(
    x0: FloatArray,
    centres: FloatArray,
    radius: float,
    n_samples: int,
    seed: int,
    bounds: tuple[FloatArray, FloatArray],
) -> Samples:
    """Draw samples uniformly in the L2 balls around the boundary points `centres`, of shape (m, p), all alike.

    The other parameters are those of :func:`global_samples`. The penalty is in the units of the columns.
    """
    points = unit_ball([row_generator(row, seed) for row in x0], n_samples, centres.shape[1])
    points *= radius
    points += centres[:, None, :]
    np.clip(points, *bounds, out=points)
    return Samples(points, np.ones((len(points), 1, centres.shape[1])), None)


def ask(task: Task, question: Question, samples: Samples, people: IntArray, columns: IntArray) -> FloatArray:
    """Return the probability of the favourable class at every sample, of shape (m, n).

    Parameters
    ----------
    task : Task
        The people.
    question : callable
        Asks the model, or more.
    samples : Samples
        The samples.
    people : ndarray of int, shape (m,)
        Whose samples they are.
    columns : ndarray of int, shape (m, p)
        Their columns among all.
    """
    m, n, _ = samples.points.shape
    found = np.empty((m, n))
    # One person at a time: the last bits of a network's answer depend on the shape of the batch.
    for i, (person, own) in enumerate(zip(people, columns, strict=True)):
        points = np.tile(task.x0[person], (n, 1))
        points[:, own] = samples.points[i]
        found[i] = task.oracle.put(question, points, np.full(n, person))
    return found


def fit_surrogates(
    samples: Samples, probability: FloatArray, columns: IntArray, alpha: float, width: int
) -> Surrogates:
    """Fit a ridge regression to every instance's samples and scale it to a unit normal.

    Parameters
    ----------
    samples : Samples
        The samples.
    probability : ndarray of shape (m, n)
        Probability of the favourable class at the samples.
    columns : ndarray of int, shape (m, p)
        The columns of the samples among all; the slope of the others is 0.
    alpha : float
        Positive penalty.
    width : int
        Number of all columns.
    """
    points = samples.points / samples.unit
    slope, level = ridge(points, probability, alpha, samples.weights)
    fitted = (points - points[:, :1]) @ slope[:, :, None]
    flat = np.ptp(fitted[:, :, 0], axis=1) <= _FLAT
    slope /= samples.unit[:, 0]
    length = np.where(flat, np.nan, np.sqrt((slope**2).sum(axis=1)))
    w = np.zeros((len(slope), width))
    np.put_along_axis(w, columns, slope / length[:, None], axis=1)
    return Surrogates(w, (level - 0.5) / length, flat)
