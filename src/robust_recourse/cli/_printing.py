"""Tables on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from robust_recourse.cli._ending import unread
from robust_recourse.notices.values import printable

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

__all__ = ["need_output", "print_line", "print_table", "show"]

_WIDEST = 100_000  # signs of a line in a file


def need_output() -> None:
    """Fail before the work if nobody would read the result."""
    if sys.stdout is None:
        raise ValueError("Standard output is closed. Send it to a file if nobody reads it.")


def print_line(text: object) -> None:
    """Print a line, or several, to standard output; what is not printable is shown as an escape."""
    with _to_somebody():
        print("\n".join(map(printable, str(text).split("\n"))))  # noqa: T201


def print_table(frame: pd.DataFrame, title: str) -> None:
    """Print a frame; names and values are text, never markup."""
    from pandas.api.types import is_numeric_dtype
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for column in frame.columns:
        justify = "right" if is_numeric_dtype(frame[column]) else "left"
        table.add_column(Text(printable(str(column))), justify=justify, overflow="fold")  # type: ignore[arg-type]
    for row in frame.itertuples(index=False):
        table.add_row(*(Text(_cell(value)) for value in row))
    show(table, title)


def show(table: Table, title: str) -> None:
    """Print a table under its title; only a terminal has an edge that breaks lines."""
    from rich.console import Console
    from rich.text import Text

    console = Console()
    if not console.is_terminal:
        console.width = _WIDEST
    with _to_somebody():
        console.print(Text(printable(title), style="table.title"), soft_wrap=True)
        console.print(table)


@contextmanager
def _to_somebody() -> Iterator[None]:
    """Say what it means if nobody reads any more."""
    try:
        yield
    except BrokenPipeError as error:
        raise BrokenPipeError(unread(error)) from None


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "-" if value != value else f"{value:.3f}"
    return printable(str(value))
