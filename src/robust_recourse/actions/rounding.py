"""Numbers that can be told to a person: within bounds, on the grid of their column, in its type."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray, Rounding
from robust_recourse.tables.columns import decimals
from robust_recourse.tables.types import decimal_places

__all__ = ["Grid", "has_few_digits", "held", "multiples", "short_type"]

_CLOSE = 16.0 * float(np.finfo(float).eps)  # relative distance within which a number is a multiple of its step
_FEW_DIGITS = 12  # behind the point
_POWERS = np.array([10.0**digits for digits in range(_FEW_DIGITS + 1)])


@dataclass(frozen=True, eq=False)
class Grid:
    """Columns of numbers that are rounded alike; all arrays are of shape (p,), by column of the table.

    Attributes
    ----------
    columns : ndarray of bool
        Which columns are meant.
    low, high : ndarray
        The range of the numbers.
    lower, upper : ndarray
        Bounds that were asked for: who is out of them may stay there.
    rises, falls : ndarray of bool
        Whether a column may go up, and whether it may go down.
    steps : ndarray
        A changed number is a multiple of its step; 0 where there is none.
    short : dtype or None
        Their type, if it is one of less than double precision.
    """

    columns: BoolArray
    low: FloatArray
    high: FloatArray
    lower: FloatArray
    upper: FloatArray
    rises: BoolArray
    falls: BoolArray
    steps: FloatArray
    short: Any

    @cached_property
    def _digits(self) -> IntArray:
        """Of the steps, behind the point."""
        return np.array([decimals(step) if step > 0.0 else 0 for step in np.where(self.columns, self.steps, 0.0)])

    def settle(self, k: IntArray, value: FloatArray, start: FloatArray, rounding: Rounding) -> FloatArray:
        """Return what can be told instead of numbers of shape (n,), each of the column `k`, of who is at `start`."""
        bottom = np.where(self.falls[k], np.minimum(self.low[k], start), start)
        top = np.where(self.rises[k], np.maximum(self.high[k], start), start)
        value = np.clip(value, bottom, top)
        outside = np.flatnonzero((start < self.lower[k]) | (start > self.upper[k]))
        if len(outside):
            # Who is out of the bounds may stay there, but goes nowhere else out of them.
            least, most = self.lower[k[outside]], self.upper[k[outside]]
            value[outside] = _entering(value[outside], start[outside], least, most, rounding)
            bottom[outside], top[outside] = np.maximum(bottom[outside], least), np.minimum(top[outside], most)
        stepped = np.flatnonzero(self.steps[k] > 0.0)
        if len(stepped):
            column = k[stepped]
            around = multiples(value[stepped], self.steps[column], self._digits[column], self.short)
            ends = start[stepped], bottom[stepped], top[stepped]
            value[stepped] = _choose(value[stepped], *ends, around, rounding, self.steps[column])
        if self.short is not None and len(stepped) < len(k):
            free = np.flatnonzero(self.steps[k] == 0.0)
            ends = start[free], bottom[free], top[free]
            around = _nearby(value[free], self.short)
            value[free] = _choose(value[free], *ends, around, rounding, np.zeros(len(free)))
        return np.where(value == start, start, value)  # a zero keeps its sign


def held(dtype: Any) -> tuple[float, float]:
    """Return the smallest and the largest number of a type; infinite if it says nothing about numbers."""
    kept = getattr(dtype, "numpy_dtype", dtype)
    if isinstance(kept, np.dtype) and kept.kind in "iu":
        info = np.iinfo(kept)
        highest = float(info.max)
        # The largest integers are no floats.
        return float(info.min), highest if int(highest) <= info.max else float(np.nextafter(highest, 0.0))
    if isinstance(kept, np.dtype) and kept.kind == "f":
        return float(np.finfo(kept).min), float(np.finfo(kept).max)
    places = decimal_places(dtype)
    if places is not None:
        # Below the next power of ten, which has one digit more.
        largest = float(np.nextafter(10.0 ** places[0], 0.0))
        return -largest, largest
    return -np.inf, np.inf


def short_type(dtype: Any) -> Any:
    """Return the type of a column of floats in less than double precision, None for others."""
    kept = getattr(dtype, "numpy_dtype", dtype)
    return kept if isinstance(kept, np.dtype) and kept.kind == "f" and kept.itemsize < 8 else None


def has_few_digits(step: float) -> bool:
    """Whether multiples of a step are rounded exactly by powers of ten; without a step nothing is."""
    return step == 0.0 or decimals(step) <= _FEW_DIGITS


def multiples(value: FloatArray, step: FloatArray, digits: IntArray, short: Any = None) -> FloatArray:
    """Return three multiples of steps, in a type that is shorter: the nearest one, and those around it.

    Parameters
    ----------
    value, step : ndarray of shape (n,)
        The numbers, and their steps.
    digits : ndarray of int, shape (n,)
        How many digits the steps have behind the point; few of all, or many of all.
    short : dtype, optional
        The type.
    """
    if short is not None:
        with np.errstate(over="ignore"):  # one may be more than the type holds
            return multiples(value, step, digits).astype(short).astype(float)
    exact = (np.round(value / step) + np.array([[-1.0], [0.0], [1.0]])) * step
    if digits.max(initial=0) <= _FEW_DIGITS:
        scale = _POWERS[digits]
        return np.asarray(np.rint(exact * scale) / scale)
    # Scaled by such a power of ten numbers are not exact, as they are in Python.
    places = np.broadcast_to(digits, exact.shape).ravel().tolist()
    return np.array([*map(round, exact.ravel().tolist(), places)]).reshape(exact.shape)


def _nearby(value: FloatArray, short: Any) -> FloatArray:
    """Return three numbers of a type: the nearest one, and those around it."""
    middle = value.astype(short)
    ends = np.array([-np.inf, np.inf], dtype=short)
    with np.errstate(over="ignore"):
        return np.stack([np.nextafter(middle, ends[0]), middle, np.nextafter(middle, ends[1])]).astype(float)


def _entering(
    value: FloatArray, start: FloatArray, low: FloatArray, high: FloatArray, rounding: Rounding
) -> FloatArray:
    """Move values between an instance out of the bounds and the nearer bound to one of the two."""
    bound = np.clip(start, low, high)
    between = np.clip(value, low, high) != value
    enters = np.abs(value - bound) < np.abs(value - start) if rounding == "nearest" else rounding == "outward"
    # What goes further away from the bounds than the instance is stays.
    enters = enters & ((value - start) * (bound - start) > 0.0)
    return np.where(between, np.where(enters, bound, start), value)


def _choose(
    value: FloatArray,
    start: FloatArray,
    bottom: FloatArray,
    top: FloatArray,
    around: FloatArray,
    rounding: Rounding,
    step: FloatArray,
) -> FloatArray:
    """Choose one of the numbers around a value, between `bottom` and `top`, or `start`."""
    close, middle = _CLOSE * np.maximum(np.abs(start), step), around[1]
    # Mostly it is one of them already, within the ends and not at the start.
    done = (np.abs(value - middle) <= _CLOSE * np.maximum(np.abs(middle), step)) & (np.abs(middle - start) > close)
    done &= (bottom <= middle) & (middle <= top)
    if done.any():
        chosen: FloatArray = middle.copy()
        left = np.flatnonzero(~done)
        if len(left):
            ends = start[left], bottom[left], top[left]
            chosen[left] = _choose(value[left], *ends, around[:, left], rounding, step[left])
        return chosen
    possible = np.concatenate([np.where((bottom <= around) & (around <= top), around, np.nan), start[None]])
    # What differs from one of them by rounding only is that.
    possible = np.where(np.abs(possible - start) <= close, start, possible)
    for known in (possible[1], start):
        value = np.where(np.abs(value - known) <= _CLOSE * np.maximum(np.abs(known), step), known, value)
    below = np.where(possible <= value, possible, -np.inf).max(axis=0)
    above = np.where(possible >= value, possible, np.inf).min(axis=0)
    rising = value >= start
    inner, outer = np.where(rising, below, above), np.where(rising, above, below)
    further = np.isfinite(outer) & (rounding != "inward")
    if rounding == "nearest":
        further &= np.abs(outer - value) < np.abs(inner - value)
    return np.asarray(np.where(further, outer, inner))
