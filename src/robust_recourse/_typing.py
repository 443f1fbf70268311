"""Aliases and protocols shared by all layers."""

from __future__ import annotations

from typing import Literal, NewType, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]

Rounding: TypeAlias = Literal["nearest", "inward", "outward"]
"""Where a number goes that rows cannot hold: to the nearest, or towards the person, or away from it."""

Unseen: TypeAlias = Literal["warn", "error", "ignore"]
"""What happens to values that no training row has."""

Rows = NewType("Rows", IntArray)
"""Numbers of rows in the table that was given, for messages; elsewhere people are numbered by their place in a task."""
