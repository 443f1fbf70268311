"""How far a data set is: rows, statuses, rows a second, time left."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Tally", "watching"]


@dataclass
class Tally:
    """What is finished of a data set.

    Attributes
    ----------
    folder : str
        Where the results are.
    rows, parts : int
        People and parts of the input, without files that cannot be read; 0 if that is not known.
    finished, finished_rows : int
        Parts that are finished, and their people.
    computed : int
        Parts that were computed now; the others were there.
    statuses : Counter
        How many people have which status; of several recourses the first counts.
    several : bool
        Whether somebody has more than one recourse.
    seconds : float
        How long it took.
    """

    folder: str
    rows: int
    parts: int
    finished: int = 0
    finished_rows: int = 0
    computed: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    several: bool = False
    seconds: float = 0.0

    def add(self, done: Mapping[str, Any], *, now: bool) -> None:
        """Count a part."""
        self.finished += 1
        self.finished_rows += int(done["rows"])
        self.computed += now
        self.statuses.update(done["statuses"])
        self.several |= bool(done["several"])


@contextmanager
def watching(tally: Tally, *, show: bool | None = None, doing: str = "explaining") -> Iterator[Callable[[], None]]:
    """Give a function that shows how far a data set is: on a terminal, unless `show` says otherwise."""
    started = time.monotonic()
    try:
        if not (sys.stderr.isatty() if show is None else show):
            yield lambda: None
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn(doing),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("rows, {task.fields[speed]} a second,"),
            TimeRemainingColumn(),
            TextColumn("left. {task.fields[statuses]}"),
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(doing, total=tally.rows or None, speed="-", statuses="")
            first = tally.finished_rows

            def update() -> None:
                took = max(time.monotonic() - started, 1e-9)
                statuses = ", ".join(f"{count:,} {name}" for name, count in tally.statuses.most_common(3))
                speed = f"{(tally.finished_rows - first) / took:,.0f}"
                bar.update(task, completed=tally.finished_rows, speed=speed, statuses=statuses)

            update()
            yield update
    finally:
        tally.seconds = time.monotonic() - started
