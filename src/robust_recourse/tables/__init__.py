"""Raw tables, and the numbers that stand for them."""

from robust_recourse.tables.columns import Column, Kind
from robust_recourse.tables.foreign import to_pandas
from robust_recourse.tables.schema import Schema
from robust_recourse.tables.seen import Seen
from robust_recourse.tables.table import Table

__all__ = ["Column", "Kind", "Schema", "Seen", "Table", "to_pandas"]
