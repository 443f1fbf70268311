"""Checks of arguments: each raises at once and names the argument, the row and what to do."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from robust_recourse._typing import BoolArray, FloatArray

LARGEST = 1e100
"""Largest number of a table that is calculated with as it is: sums of squares are finite."""

_MANY_DIGITS = 30


def check_real(
    value: float, name: str, *, minimum: float = -math.inf, strict: bool = False, maximum: float = math.inf
) -> float:
    """Return `value` as a finite float of at least (`strict`: more than) `minimum` and at most `maximum`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a real number, got {value!r}.")
    try:
        number = float(value)
    except OverflowError as error:
        raise ValueError(f"{name} must be finite, got {briefly(value)}, more than a float can hold.") from error
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {number}.")
    if number < minimum or (strict and number == minimum):
        relation = "greater than" if strict else "at least"
        raise ValueError(f"{name} must be {relation} {minimum:g}, got {number:g}.")
    if number > maximum:
        raise ValueError(f"{name} must be at most {maximum:g}, got {number:g}.")
    return number


def check_share(value: float, name: str) -> float:
    """Return `value` as a share: more than 0 and at most 1."""
    number = check_real(value, name, minimum=0.0, strict=True)
    if number > 1.0:
        raise ValueError(f"{name} must be at most 1, got {number:g}. For {number:g} % pass {number / 100:g}.")
    return number


def check_integer(value: int, name: str, *, minimum: int) -> int:
    """Return `value` as an int of at least `minimum`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be an integer, got {value!r}.")
    if value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {briefly(value)}.")
    if value >= 2**63:
        raise ValueError(f"{name} must be below 2**63, got {briefly(value)}.")
    return int(value)


def briefly(value: object) -> str:
    """Show a value in a message; an integer may have more digits than anybody reads, or Python writes."""
    if isinstance(value, numbers.Rational) and abs(value) >= 10**_MANY_DIGITS:
        return f"{'-' if value < 0 else ''}1e{int(math.log10(abs(math.trunc(value))))} or so"
    return f"{value}"


def check_jobs(value: int | None, name: str = "n_jobs") -> int | None:
    """Return `value` as joblib reads it: None, a number of processes, or one below 0 that counts from all cores."""
    if value is None:
        return None
    jobs = check_integer(value, name, minimum=-(2**31))
    if jobs == 0:
        raise ValueError(f"{name} must not be 0. Use None or 1 for one process, -1 for as many as there are cores.")
    return jobs


def check_choice(value: str, name: str, choices: Sequence[str]) -> str:
    """Return `value` if it is one of `choices`."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")
    return value


def check_flag(value: bool, name: str) -> bool:
    """Return `value` if it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}.")
    return bool(value)


def check_distances(values: ArrayLike, name: str) -> FloatArray:
    """Return `values` as finite, non-negative floats of any shape."""
    array = _numbers(values, name)
    bad = ~(np.isfinite(array) & (array >= 0.0))
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(f"{name} must be finite and non-negative, got {array[where]} at index {where}.")
    return array


def _numbers(values: ArrayLike, name: str) -> FloatArray:
    """Return a copy: neither a model nor the user shall change what was checked."""
    try:
        given = np.asarray(values)
        if given.dtype.kind == "c":
            raise TypeError("it has complex numbers")
        return np.array(given, dtype=float, order="C")
    except OverflowError as error:
        raise ValueError(
            f"{name} must be finite, but has whole numbers that are more than a float can hold."
        ) from error
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be numeric: {error}. Encode text and categories as numbers first.") from error


def check_matrix(
    values: ArrayLike, name: str, *, width: int | None = None, largest: float = math.inf, fewest: int = 1
) -> FloatArray:
    """Return `values` as a finite float matrix with at least one column and `fewest` rows.

    It has `width` columns if that is given, and no number beyond `largest`.
    """
    array = _numbers(values, name)
    if array.ndim != 2:
        hint = f" Reshape a single row with {name}.reshape(1, -1)." if array.ndim == 1 else ""
        raise ValueError(f"{name} must be two-dimensional (rows, columns), got {array.ndim} dimension(s).{hint}")
    if width is not None and array.shape[1] != width:
        raise ValueError(f"{name} must have {width} columns, got {array.shape[1]}.")
    if array.shape[0] < fewest or array.shape[1] == 0:
        raise ValueError(f"{name} is empty: its shape is {array.shape}, at least one row and one column are needed.")
    bad = ~np.isfinite(array)
    if bad.any():
        row, column = (int(i) for i in np.argwhere(bad)[0])
        others = int(bad.any(axis=1).sum()) - 1
        more = f" ({others} more row(s) have such values)" if others else ""
        raise ValueError(f"{name} must be finite, got {array[row, column]} in row {row}, column {column}{more}.")
    if (np.abs(array) > largest).any():
        row, column = (int(i) for i in np.argwhere(np.abs(array) > largest)[0])
        got = f"got {array[row, column]:g} in row {row}, column {column}"
        raise ValueError(f"{name} must be within {-largest:g} and {largest:g}, {got}. Use a larger unit.")
    return array


def check_vector(values: ArrayLike, name: str, *, width: int | None = None) -> FloatArray:
    """Return `values` as a finite float vector, of length `width` if given."""
    array = _numbers(values, name)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got {array.ndim} dimension(s).")
    if width is not None and len(array) != width:
        raise ValueError(f"{name} must have {width} entries, got {len(array)}.")
    if not np.isfinite(array).all():
        index = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ValueError(f"{name} must be finite, got {array[index]} at index {index}.")
    return array


def check_labelled_samples(samples: ArrayLike, labels: ArrayLike) -> tuple[FloatArray, BoolArray]:
    """Return samples and which of them are accepted; both classes must occur."""
    matrix = check_matrix(samples, "samples")
    array = np.asarray(labels)
    if array.shape != (len(matrix),):
        raise ValueError(f"labels must have one entry for each of the {len(matrix)} samples, got shape {array.shape}.")
    accepted = array == 1
    if not (accepted | (array == 0)).all():
        raise ValueError(f"labels must be 0 or 1, got {array[~(accepted | (array == 0))][0]!r}.")
    if accepted.all() or not accepted.any():
        raise ValueError(f"labels must hold both classes, got only {int(accepted[0])}: the odds are not defined.")
    return matrix, accepted


def check_seed(random_state: int | np.random.Generator | np.random.RandomState | None) -> int:
    """Return a seed in [0, 2**63); drawn anew for None, from the generator if one is given."""
    if random_state is None:
        return int(np.random.default_rng().integers(2**63))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return check_integer(random_state, "random_state", minimum=0)
