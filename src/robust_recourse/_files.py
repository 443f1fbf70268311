"""Files that are whole or not there, and names for what has been computed."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["part_key", "replacing", "write_atomically"]


def part_key(*facts: Any) -> str:
    """Return a name that two parts share only if all the facts about them are equal."""
    text = json.dumps(facts, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def write_atomically(path: Path, text: str) -> None:
    """Write a text file in one move."""
    with replacing(path) as written:
        written.write_text(text, encoding="utf-8", newline="")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a file beside `path` to write to, and move it there at the end: whoever looks sees all of it or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".")
    os.close(handle)
    try:
        yield Path(name)
        Path(name).chmod(0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
