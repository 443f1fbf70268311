"""Pages from templates: everything is escaped, and a name that is not given is an error."""

from __future__ import annotations

import numbers
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from robust_recourse.notices.cells import Cell, Grid, grid
from robust_recourse.notices.notice import Notice
from robust_recourse.notices.sentences import CAUTIONS, NO_RECOURSE, how, phrases
from robust_recourse.notices.survival import letter
from robust_recourse.notices.values import column_text, label_text, printable

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["anchor", "render"]


def render(template: str, **fields: Any) -> str:
    """Fill in a template of the folder ``templates``."""
    return _environment().get_template(template).render(fields)


def anchor(notice: Notice) -> str:
    """Return the name to link to a person's notice."""
    return f"person-{notice.person}"


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("robust_recourse.notices"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"cautions": CAUTIONS, "no_recourse": NO_RECOURSE, "version": version("robust-recourse")}
    environment.filters |= {
        "address": quote,
        "anchor": anchor,
        "changes_grid": _changes_grid,
        "details": _details,
        "is_whole": lambda label: isinstance(label, numbers.Integral),
        "label_text": label_text,
        "phrases": phrases,
        "printable": printable,
        "survival": letter,
    }
    return environment


def _changes_grid(notice: Notice, caption: str) -> Grid:
    rows: list[list[str | Cell]] = []
    for change in notice.changes:
        writer = notice.writer(change.column)
        words = (column_text(change.column), *writer.pair(change.before, change.after, quoted=False))
        rows.append([*(Cell(word, foreign=True) for word in words), how(change, writer)])
    return grid(caption, ("Detail", "Today", "Needed", "How"), rows)


def _details(notice: Notice) -> list[tuple[str, str]]:
    """Return the names and values of a row as it is."""
    return [(column_text(name), notice.writer(name).text(held)) for name, held in notice.before.items()]
