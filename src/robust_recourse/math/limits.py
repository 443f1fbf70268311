"""What may change, as arrays: bounds, directions and weights of the columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """Limits of every column, common to all instances.

    Attributes
    ----------
    lower, upper : ndarray of shape (p,)
        Bounds, infinite where there is none.
    rises, falls : ndarray of bool, shape (p,)
        Whether the column may go up, and whether it may go down.
    weights : ndarray of shape (p,)
        Positive cost weights.
    """

    lower: FloatArray
    upper: FloatArray
    rises: BoolArray
    falls: BoolArray
    weights: FloatArray

    def take(self, columns: BoolArray) -> Limits:
        """Keep the selected columns."""
        return Limits(*(getattr(self, name)[columns] for name in self.__dataclass_fields__))

    def box(self, x0: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the bounds of every instance, with the directions turned into bounds at the instance itself."""
        return np.where(self.falls, self.lower, x0), np.where(self.rises, self.upper, x0)

    def holds(self, x0: FloatArray) -> BoolArray:
        """Whether each instance lies within the bounds of the columns that may change."""
        inside = (self.lower <= x0) & (x0 <= self.upper)
        return np.asarray((inside | ~(self.rises | self.falls)).all(axis=1))

    @property
    def unlimited(self) -> bool:
        """Whether every column may go anywhere."""
        return bool((self.rises & self.falls & np.isneginf(self.lower) & np.isposinf(self.upper)).all())
