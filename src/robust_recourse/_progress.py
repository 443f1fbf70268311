"""Progress bars: shown on a terminal, silent everywhere else."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

__all__ = ["track"]

T = TypeVar("T")


def track(items: Iterable[T], description: str, total: int) -> Iterator[T]:
    """Yield the items; show a bar on standard error if that is a terminal and there is more than one item."""
    if total < 2 or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track as rich_track

    yield from rich_track(items, description, total=total, console=Console(stderr=True), transient=True)
