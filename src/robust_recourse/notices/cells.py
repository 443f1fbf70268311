"""What a table on a page is made of."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

__all__ = ["Cell", "Grid", "grid"]

_LONG = 32  # characters


@dataclass(frozen=True)
class Cell:
    """What stands in a cell.

    Attributes
    ----------
    text : str
        Its text.
    scope : str
        Empty unless it is a header.
    number : bool
        Whether it is aligned as numbers are.
    span : int
        Columns that it fills.
    foreign : bool
        Whether the text comes from somebody's table, and is kept apart from ours.
    link : str
        Where it leads.
    """

    text: str
    scope: str = ""
    number: bool = False
    span: int = 1
    foreign: bool = False
    link: str = ""

    @property
    def tag(self) -> str:
        """The element of HTML."""
        return "th" if self.scope else "td"

    @property
    def kind(self) -> str:
        """The class of the element: numbers are aligned, long text of ours gets room."""
        return "number" if self.number else "long" if len(self.text) > _LONG and not self.foreign else ""


class Grid(NamedTuple):
    """A table: what stands above it, rows of headers, rows, and the numbers of those in bold."""

    caption: str
    head: Sequence[Sequence[Cell]]
    body: Sequence[Sequence[Cell]]
    emphasised: Collection[int] = ()


def grid(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[str | Cell]], numbers: Collection[int] = ()
) -> Grid:
    """Return a table whose first column is the row headers; `numbers` are the columns of numbers."""

    def cell(k: int, held: str | Cell, scope: str) -> Cell:
        given = held if isinstance(held, Cell) else Cell(held)
        return replace(given, scope=scope, number=k in numbers)

    header = [cell(k, text, "col") for k, text in enumerate(head)]
    body = [[cell(k, held, "" if k else "row") for k, held in enumerate(row)] for row in rows]
    return Grid(caption, [header], body)
