"""What is known of people without a search: their cheapest accepted points, and that there is none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray

__all__ = ["Exact"]


@dataclass(frozen=True, eq=False)
class Exact:
    """Accepted points of people.

    Attributes
    ----------
    x : ndarray of shape (m, p)
        The points, which the criterion of the search accepts; NaN where nothing is known.
    impossible : ndarray of bool, shape (m,)
        For whom it is proven that there is none.
    cheapest : bool
        Whether no point is cheaper, so that nothing is left to search for.
    """

    x: FloatArray
    impossible: BoolArray
    cheapest: bool = True

    @classmethod
    def nothing(cls, x0: FloatArray) -> Exact:
        """Know nothing of people."""
        return cls(np.full_like(x0, np.nan), np.zeros(len(x0), dtype=bool))

    @property
    def known(self) -> BoolArray:
        """Whose points are known."""
        return np.asarray(~np.isnan(self.x).any(axis=1))
