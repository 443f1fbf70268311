"""Values, types and tables as plain data for JSON, and back to the last bit."""

from robust_recourse.tables.plain.cells import CELLS
from robust_recourse.tables.plain.coding import CONTAINERS, Kind, decode, encode, exactly
from robust_recourse.tables.plain.types import TYPES

__all__ = ["KINDS", "Kind", "decode", "encode", "exactly"]

KINDS: tuple[Kind, ...] = (*CONTAINERS, *CELLS, *TYPES)
