"""What may change, as arrays: bounds, directions and weights of the columns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

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
    targets : tuple of ndarray of bool, or None for each column
        Of columns of categories: which codes they may switch to. None for columns of numbers.
    """

    lower: FloatArray
    upper: FloatArray
    rises: BoolArray
    falls: BoolArray
    weights: FloatArray
    targets: tuple[BoolArray | None, ...] = field(default=())

    def __post_init__(self) -> None:
        if not self.targets:
            object.__setattr__(self, "targets", (None,) * len(self.lower))

    def take(self, columns: BoolArray) -> Limits:
        """Keep the selected columns."""
        arrays = {name: getattr(self, name)[columns] for name in ("lower", "upper", "rises", "falls", "weights")}
        return replace(self, **arrays, targets=tuple(self.targets[k] for k in np.flatnonzero(columns)))

    @property
    def categories(self) -> BoolArray:
        """Which columns hold categories."""
        return np.array([target is not None for target in self.targets], dtype=bool)

    def without_codes(self, x0: FloatArray) -> FloatArray:
        """Return instances with 0 for codes of categories: these are names, and no draw shall depend on them."""
        return np.where(self.categories, 0.0, x0)

    def box(self, x0: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the bounds of every instance, with the directions turned into bounds at the instance itself.

        They always hold the instance: one beyond the bounds may stay where it is.
        """
        lower, upper = self.reach(x0)
        return np.where(self.falls, lower, x0), np.where(self.rises, upper, x0)

    def reach(self, x0: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the bounds of every instance without the directions, wide enough for the instance itself."""
        return np.minimum(self.lower, x0), np.maximum(self.upper, x0)

    def holds(self, x0: FloatArray) -> BoolArray:
        """Whether each instance lies within the bounds of the columns that may change."""
        inside = (self.lower <= x0) & (x0 <= self.upper)
        return np.asarray((inside | ~(self.rises | self.falls)).all(axis=1))

    def may_switch(self, column: int, own: FloatArray, code: FloatArray) -> BoolArray:
        """Whether an instance with the category `own` may switch to `code`; negative codes are no known category."""
        target = self.targets[column]
        if target is None:
            raise ValueError(f"column {column} holds no categories")
        known = np.append(target, False)  # the last entry is where negative codes point
        allowed = known[np.maximum(code, -1.0).astype(np.int64)] & (code != own)
        if not self.falls[column]:
            allowed = allowed & (code > own) & (own >= 0.0)
        if not self.rises[column]:
            allowed = allowed & (code < own)
        return np.asarray(allowed)

    @property
    def unlimited(self) -> bool:
        """Whether every column is a number and may go anywhere."""
        anywhere = self.rises & self.falls & np.isneginf(self.lower) & np.isposinf(self.upper)
        return bool(anywhere.all() and not self.categories.any())
