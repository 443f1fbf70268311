"""Tables on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from robust_recourse.notices.values import printable

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["print_line", "print_table"]


def print_line(text: object) -> None:
    """Print a line, or several, to standard output; what is not printable is shown as an escape."""
    print("\n".join(map(printable, str(text).split("\n"))))  # noqa: T201


def print_table(frame: pd.DataFrame, title: str) -> None:
    """Print a frame; names and values are text, never markup."""
    from pandas.api.types import is_numeric_dtype
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(printable(title)), title_justify="left")
    for column in frame.columns:
        justify = "right" if is_numeric_dtype(frame[column]) else "left"
        table.add_column(Text(printable(str(column))), justify=justify, overflow="fold")  # type: ignore[arg-type]
    for row in frame.itertuples(index=False):
        table.add_row(*(Text(_cell(value)) for value in row))
    Console().print(table)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "-" if value != value else f"{value:.3f}"
    return printable(str(value))
