r"""The worst case of a linear score when its parameters may move.

A score :math:`s(x) = w^\top x + b` accepts :math:`x` if :math:`s(x) \ge 0`. Its parameters may move by
:math:`\|(\Delta w, \Delta b)\| \le \delta`, and by the dual norm the least that :math:`s(x)` can become is

.. math::
    h(x) = w^\top x + b - \delta \sqrt{\|x\|_2^2 + 1}
    \qquad\text{or}\qquad
    h(x) = w^\top x + b - \delta\, (\|x\|_1 + 1)

for the Euclidean and for the largest-entry norm. Both are concave.

References
----------
.. [1] S. Upadhyay, S. Joshi and H. Lakkaraju, "Towards Robust and Reliable Algorithmic Recourse", NeurIPS 2021.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from robust_recourse._typing import FloatArray

__all__ = ["Norm", "worst_case_score", "worst_case_shift"]

Norm: TypeAlias = Literal["2", "inf"]


def worst_case_score(x: FloatArray, w: FloatArray, b: FloatArray, delta: float, norm: Norm = "2") -> FloatArray:
    r"""Return the worst-case score :math:`h(x)` of every row.

    Parameters
    ----------
    x, w : ndarray of shape (m, p)
        Points and normals, all columns.
    b : ndarray of shape (m,)
        Offsets.
    delta : float
        Non-negative radius of the ball of parameters.
    norm : {"2", "inf"}
        Norm of that ball.

    Examples
    --------
    >>> x, w, b = np.array([[2.0, 2.0]]), np.array([[0.6, 0.8]]), np.array([-1.0])
    >>> worst_case_score(x, w, b, 0.1).round(6), worst_case_score(x, w, b, 0.1, "inf").round(6)
    (array([1.5]), array([1.3]))
    """
    score: FloatArray = (w * x).sum(axis=1) + b - delta * _dual(x, norm)
    return score


def worst_case_shift(x: FloatArray, delta: float, norm: Norm = "2") -> tuple[FloatArray, FloatArray]:
    r"""Return the moves :math:`(\Delta w, \Delta b)` of the parameters that attain the worst-case scores.

    :math:`-\delta\, (x, 1) / \sqrt{\|x\|_2^2 + 1}` in the Euclidean ball, :math:`-\delta\, (\operatorname{sign} x, 1)`
    in the other one.
    """
    if norm == "inf":
        return -delta * np.sign(x), np.full(len(x), -delta)
    length = _dual(x, norm)
    return -delta * x / length[:, None], -delta / length


def _dual(x: FloatArray, norm: Norm) -> FloatArray:
    """Dual norm of ``(x, 1)``."""
    size: FloatArray = np.abs(x).sum(axis=1) + 1.0 if norm == "inf" else np.sqrt((x**2).sum(axis=1) + 1.0)
    return size
