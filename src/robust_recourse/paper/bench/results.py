"""Reads and writes the results of an experiment.

A result folder has one small file for every finished part of an experiment, written in one move so that a part is
there or not, one table of all parts, and a provenance file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd

from robust_recourse._files import replacing, write_atomically
from robust_recourse._validation import check_choice

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

    def has(self, key: str) -> bool:
        """Whether a part is finished and whole; one that is damaged is not."""
        try:
            return _content(self._part(key)) is not None
        except (OSError, UnicodeDecodeError):
            return False

    def write_part(self, key: str, rows: pd.DataFrame) -> None:
        """Keep a finished part."""
        text = rows.to_csv(index=False, na_rep=_MISSING)
        write_atomically(self._part(key), f"{_digest(text)}\n{text}")

    def write_table(self, keys: Sequence[str]) -> Path:
        """Join finished parts to one table, in the given order, and return its path."""
        table = self.read(keys)
        path = self.path / f"results.{self._format}"
        if self._format == "csv":
            write_atomically(path, table.to_csv(index=False))
        else:
            with replacing(path) as written:
                table.to_parquet(written, index=False)
        return path

    def read(self, keys: Sequence[str]) -> pd.DataFrame:
        """Read finished parts into one table."""
        parts = []
        for key in keys:
            text = _content(self._part(key))
            if text is None:
                raise ValueError(f"{self._part(key)} is damaged: remove it and run again.")
            parts.append(pd.read_csv(StringIO(text), keep_default_na=False, na_values=[_MISSING], dtype=_TEXTS))
        return pd.concat(parts, ignore_index=True)

    def write_provenance(self, facts: Mapping[str, Any]) -> Path:
        """Write where the numbers come from, and return the path."""
        path = self.path / "provenance.json"
        write_atomically(path, json.dumps(facts, indent=2, default=str) + "\n")
        return path

    def _part(self, key: str) -> Path:
        return self.path / "parts" / f"{key}.csv"


def _content(path: Path) -> str | None:
    """Return the rows of a part as text; None if they are not what was written."""
    with path.open(encoding="utf-8", newline="") as file:
        digest, _, text = file.read().partition("\n")
    return text if digest == _digest(text) else None


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()
