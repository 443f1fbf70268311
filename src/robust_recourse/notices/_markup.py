"""HTML from elements: all text is escaped unless an element made it."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

__all__ = ["Markup", "element", "join", "table", "value"]


_LONG = 24  # characters that fit into a cell without a break


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def join(parts: Iterable[str]) -> Markup:
    """Put parts one after the other."""
    return Markup("".join(part if isinstance(part, Markup) else html.escape(part) for part in parts))


def element(name: str, *children: str, **attributes: str | float) -> Markup:
    """Return an element; ``class_`` stands for class, ``aria_label`` for aria-label.

    >>> element("p", "1 < 2, ", element("b", "always"), class_="note")
    '<p class="note">1 &lt; 2, <b>always</b></p>'
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(str(held))}"' for key, held in attributes.items()
    )
    return Markup(f"<{name}{given}>{join(children)}</{name}>")


def value(words: str) -> Markup:
    """Return text from a table, kept apart from the direction of the text around it; long text may break anywhere."""
    return element("bdi", words, **({"class_": "long"} if len(words) > _LONG else {}))


def table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = (), kind: str = ""
) -> Markup:
    """Return a table whose first column is the row headers.

    Parameters
    ----------
    caption : str
        What stands above it.
    head : sequence of str
        The column headers.
    rows : iterable of sequences of str
        The cells.
    numbers : sequence of int
        Columns that are aligned to the right.
    kind : str
        Class of the table.
    """

    def style(k: int) -> dict[str, str]:
        return {"class_": "number"} if k in numbers else {}

    header = element("tr", *(element("th", text, scope="col", **style(k)) for k, text in enumerate(head)))
    body = [
        element(
            "tr",
            element("th", row[0], scope="row", **style(0)),
            *(element("td", text, **style(k)) for k, text in enumerate(row[1:], start=1)),
        )
        for row in rows
    ]
    whole = element(
        "table",
        element("caption", caption),
        element("thead", header),
        element("tbody", *body),
        **({"class_": kind} if kind else {}),
    )
    return element("div", whole, class_="scroll", role="region", tabindex=0, aria_label=caption)
