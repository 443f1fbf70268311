"""The types that a table has as a whole, so that every part of it is read as if it were read with all others.

A column of integers has another type in pandas where some are missing, and a column of categories knows those that it
has seen: read alone, parts of a table would differ from each other.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd

__all__ = ["Types", "TypesBuilder"]


@dataclass(frozen=True)
class Types:
    """What the columns of a whole table are.

    Attributes
    ----------
    schema : bytes
        The schema of Arrow, with what pandas wrote about it.
    gaps : frozenset of str
        Columns in which something is missing.
    categories : mapping
        The categories of a column, in the order in which they are met.
    index : str or None
        The column that names the people, if it was asked for.
    labels : tuple or None
        Start and step of the range that numbers the rows, and its name; None if labels are stored.
    """

    schema: bytes
    gaps: frozenset[str]
    categories: dict[str, list[Any]]
    index: str | None
    labels: tuple[int, int, str | None] | None

    @property
    def columns(self) -> list[str]:
        """Names of the stored columns, those of labels included."""
        return list(self._schema.names)

    @property
    def numbered(self) -> bool:
        """Whether the labels of rows are their numbers."""
        return self.index is None and self.labels == (0, 1, None)

    @property
    def digest(self) -> str:
        """The same for the same types."""
        facts = [
            sorted(self.gaps),
            {k: list(map(repr, v)) for k, v in self.categories.items()},
            self.index,
            self.labels,
        ]
        text = json.dumps([self._schema.to_string(show_schema_metadata=False), facts], sort_keys=True)
        return hashlib.blake2b(text.encode("utf-8", "backslashreplace"), digest_size=12).hexdigest()

    @cached_property
    def _schema(self) -> Any:
        import pyarrow

        return pyarrow.ipc.read_schema(pyarrow.py_buffer(self.schema))

    def arrow_type(self, column: str) -> Any:
        """Return the type of Arrow of a column; None if there is no such column."""
        schema = self._schema
        return schema.field(column).type if column in schema.names else None

    def like(self) -> pd.DataFrame:
        """Return no rows, in the types of the whole table."""
        return self.frame(self._schema.empty_table(), 0)

    def frame(self, table: Any, before: int) -> pd.DataFrame:
        """Return a part as a frame, in the types of the whole; `before` rows of the whole come before it."""
        schema = self._schema
        table = table.select(schema.names).cast(schema)
        frame = table.to_pandas()
        full, gapped = self._prototypes
        columns = {}
        for k, name in enumerate(frame.columns):
            dtype = (gapped if name in self.gaps else full).dtypes.iloc[k]
            columns[k] = self._typed(frame.iloc[:, k], name, dtype)
        typed = pd.DataFrame(columns, index=frame.index)
        typed.columns = frame.columns
        if self.labels is not None:
            start, step, name = self.labels
            first = start + step * before
            typed.index = pd.RangeIndex(first, first + step * len(typed), step, name=name)
        else:
            typed.index = self._typed_labels(typed.index, full.index)
        return typed if self.index is None else typed.set_index(self.index)

    def _typed(self, series: pd.Series[Any], name: str, dtype: Any) -> pd.Series[Any]:
        if name in self.categories and isinstance(dtype, pd.CategoricalDtype):
            values = pd.Index(self.categories[name], dtype=series.cat.categories.dtype if len(series) else None)
            return series.cat.set_categories(values, ordered=dtype.ordered)
        return series if series.dtype == dtype else series.astype(dtype)

    def _typed_labels(self, index: pd.Index[Any], like: pd.Index[Any]) -> pd.Index[Any]:
        return index if index.nlevels > 1 or index.dtype == like.dtype or not len(index) else index.astype(like.dtype)

    @cached_property
    def _prototypes(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return frames with the types of columns that have all values, and of those that lack some."""
        import pyarrow

        schema = self._schema
        nothing = pyarrow.table([pyarrow.nulls(1, known.type) for known in schema], schema=_nullable(schema))
        return schema.empty_table().to_pandas(), nothing.to_pandas()


@dataclass
class TypesBuilder:
    """Finds the types of the whole, file by file.

    Attributes
    ----------
    expected : sequence of str or None
        The columns that a file must have, labels aside; None for those of the first.
    index : str or None
        The column that names the people.
    drop : tuple of str
        Columns that are left out.
    """

    expected: Sequence[str] | None
    index: str | None
    drop: tuple[str, ...]
    _schema: Any = None
    _gaps: set[str] = field(default_factory=set)
    _categories: dict[str, dict[Any, None]] = field(default_factory=dict)
    _range: dict[str, Any] | None = None

    def add(self, file: Any) -> None:
        """Look at an open Parquet file.

        Raises
        ------
        ValueError, TypeError
            If it does not belong to the others; the message says why.
        """
        import pyarrow

        schema, ranges = self._columns_of(file)
        if self._schema is None:
            whole, self._range = schema, ranges
        else:
            whole = _unified(self._schema, schema)
        gaps, categories = _gaps(file, schema), _categories(file, schema)
        for name, values in categories.items():
            self._categories.setdefault(name, {}).update(dict.fromkeys(values))
        self._schema, self._gaps = whole, self._gaps | gaps
        assert isinstance(whole, pyarrow.Schema)

    def types(self, *, several: bool) -> Types:
        """Return the types of all files that were looked at."""
        stored = _stored_labels(self._schema)
        labels = None
        if not stored:
            known = self._range or {}
            start, step = (0, 1) if several else (known.get("start", 0), known.get("step", 1))
            labels = (start, step, known.get("name"))
        categories = {name: list(values) for name, values in self._categories.items()}
        content = self._schema.serialize().to_pybytes()
        return Types(content, frozenset(self._gaps), categories, self.index, labels)

    def _columns_of(self, file: Any) -> tuple[Any, dict[str, Any] | None]:
        """Return the columns of a file that count, and the range that numbers its rows."""
        schema = file.schema_arrow
        pandas = schema.pandas_metadata or {}
        stored = _stored_labels(schema)
        ranges = next((label for label in pandas.get("index_columns", []) if isinstance(label, dict)), None)
        for name in (*self.drop, *([] if self.index is None else [self.index])):
            if name not in schema.names and name == self.index:
                raise ValueError(f"it has no column {name!r}; it has {schema.names}.")
        if self.index is not None and stored:
            # As if the labels had been columns: names of people are what was asked for.
            schema, stored = schema.remove_metadata(), []
        kept = [name for name in schema.names if name not in self.drop]
        columns = [name for name in kept if name not in stored and name != self.index]
        expected = self.expected
        if expected is None and self._schema is not None:
            own = _stored_labels(self._schema)
            expected = [name for name in self._schema.names if name not in own and name != self.index]
        if expected is not None:
            lacking = [name for name in expected if name not in columns]
            unknown = [name for name in columns if name not in set(expected)]
            if lacking or unknown:
                said = [f"lacks the columns {lacking}"] * bool(lacking) + [f"has other columns, {unknown}"] * bool(
                    unknown
                )
                raise ValueError(f"it {' and '.join(said)}.")
        if self._schema is not None and stored != _stored_labels(self._schema):
            raise ValueError(f"its rows have other labels ({stored or 'none'}) than those of the files before.")
        import pyarrow

        return pyarrow.schema([schema.field(name) for name in kept], metadata=schema.metadata), ranges


def _unified(one: Any, other: Any) -> Any:
    import pyarrow

    ordered = pyarrow.schema([other.field(name) for name in one.names])
    try:
        whole = pyarrow.unify_schemas([one.remove_metadata(), ordered], promote_options="permissive")
    except pyarrow.ArrowException as error:
        raise TypeError(f"its columns have other types than those of the files before: {error}") from error
    return whole.with_metadata(one.metadata)


def _stored_labels(schema: Any) -> list[str]:
    known = (schema.pandas_metadata or {}).get("index_columns", [])
    return [name for name in known if isinstance(name, str) and name in schema.names]


def _nullable(schema: Any) -> Any:
    import pyarrow

    return pyarrow.schema([known.with_nullable(True) for known in schema], metadata=schema.metadata)


def _gaps(file: Any, schema: Any) -> set[str]:
    """Return the columns in which something is missing; those of which that is not noted are read."""
    places = {file.metadata.schema.column(k).path: k for k in range(file.metadata.num_columns)}
    gaps = set()
    for name in schema.names:
        noted = [_null_count(file.metadata.row_group(g), places.get(name)) for g in range(file.metadata.num_row_groups)]
        unknown = not any(noted) and None in noted
        if any(noted) or (unknown and any(batch.column(0).null_count for batch in file.iter_batches(columns=[name]))):
            gaps.add(name)
    return gaps


def _null_count(group: Any, place: int | None) -> int | None:
    statistics = None if place is None else group.column(place).statistics
    return statistics.null_count if statistics is not None and statistics.has_null_count else None


def _categories(file: Any, schema: Any) -> dict[str, list[Any]]:
    import pyarrow

    names = [known.name for known in schema if pyarrow.types.is_dictionary(known.type)]
    found: dict[str, dict[Any, None]] = {name: {} for name in names}
    if names:
        for batch in file.iter_batches(columns=names):
            for name in names:
                found[name].update(dict.fromkeys(batch.column(name).dictionary.to_pylist()))
    return {name: list(values) for name, values in found.items()}
