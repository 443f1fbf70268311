"""Reads and writes the results of an experiment.

A result folder has the finished parts of an experiment, one table of all parts, and a provenance file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd

from robust_recourse._files import replacing, write_atomically
from robust_recourse._validation import check_choice
from robust_recourse.checkpoints import Store

__all__ = ["FORMATS", "ResultFolder"]

FORMATS = ("csv", "parquet")

_TEXTS = dict.fromkeys(("dataset", "method", "variant", "parameters", "status", "classifier", "data"), str)
_MISSING = "nan"  # in parts, so that an empty text stays one


class ResultFolder:
    """Parts, the table and the provenance of one experiment.

    Parameters
    ----------
    path : Path
        The folder; it is made when something is written.
    table_format : str
        ``"csv"`` or ``"parquet"``, of the table.
    """

    def __init__(self, path: Path, table_format: str = "csv") -> None:
        check_choice(table_format, "format", FORMATS)
        if table_format == "parquet" and find_spec("pyarrow") is None:
            raise ImportError("writing Parquet needs pyarrow: pip install 'robust-recourse[parquet]'")
        self.path, self._format = path, table_format
        self.parts = Store(path / "parts")

    def read_part(self, key: str) -> pd.DataFrame | None:
        """Return a finished part; None if it is not there, or damaged, which is said with a warning."""
        content = self.parts.read(key)
        if content is None:
            return None
        try:
            return pd.read_csv(BytesIO(content), keep_default_na=False, na_values=[_MISSING], dtype=_TEXTS)
        except ValueError as error:
            self.parts.refuse(key, str(error))
            return None

    def write_part(self, key: str, rows: pd.DataFrame) -> None:
        """Keep a finished part."""
        self.parts.write(key, rows.to_csv(index=False, na_rep=_MISSING).encode())

    def write_table(self, keys: Sequence[str]) -> pd.DataFrame:
        """Join finished parts to one table, in the given order; write and return it."""
        parts = [self.read_part(key) for key in keys]
        if any(part is None for part in parts):
            raise ValueError(f"{self.parts.folder}: finished parts are lost or damaged. Run again.")
        table = pd.concat(parts, ignore_index=True)
        with replacing(self.path / f"results.{self._format}") as written:
            if self._format == "csv":
                table.to_csv(written, index=False)
            else:
                table.to_parquet(written, index=False)
        return table

    def write_provenance(self, facts: Mapping[str, Any]) -> Path:
        """Write where the numbers come from, and return the path."""
        path = self.path / "provenance.json"
        write_atomically(path, json.dumps(facts, indent=2, default=str) + "\n")
        return path
