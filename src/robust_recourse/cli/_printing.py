"""Tables on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["print_line", "print_table"]


def print_line(text: object) -> None:
    """Print a line to standard output."""
    print(text)  # noqa: T201


def print_table(frame: pd.DataFrame, title: str) -> None:
    """Print a frame; names and values are text, never markup."""
    from pandas.api.types import is_numeric_dtype
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title), title_justify="left")
    for column in frame.columns:
        justify = "right" if is_numeric_dtype(frame[column]) else "left"
        table.add_column(Text(str(column)), justify=justify, overflow="fold")  # type: ignore[arg-type]
    for row in frame.itertuples(index=False):
        table.add_row(*(Text(_cell(value)) for value in row))
    Console().print(table)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "-" if value != value else f"{value:.3f}"
    return str(value)
