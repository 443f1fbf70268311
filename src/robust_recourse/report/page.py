"""A plain HTML page of sections: text, tables, pictures with captions, files to download."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from robust_recourse._files import write_atomically
from robust_recourse.notices.rendering import render
from robust_recourse.report._cells import Format, grid_of

__all__ = ["Picture", "Section", "Table", "page_of", "write_page"]

_MANY = 4  # sections that make a list of contents worth its place


class Picture(NamedTuple):
    """A picture beside the page.

    Attributes
    ----------
    file : str
        Its path, from the folder of the page.
    caption : str
        What stands below it.
    alt : str
        What it shows, for those who cannot see it; the caption if empty.
    """

    file: str
    caption: str
    alt: str = ""


class Table(NamedTuple):
    """A table on the page.

    Attributes
    ----------
    frame : DataFrame
        Numbers, text or both. The index is the row headers unless it only counts the rows; columns of two levels get
        a header of two rows. Missing values are an en dash, floats have three decimals.
    caption : str
        What stands above it.
    formats : mapping, optional
        How to write the values of a column, a format specification such as ``".1f"`` or a function.
    emphasis : collection
        Row headers of the rows in bold.
    """

    frame: pd.DataFrame
    caption: str = ""
    formats: Mapping[Hashable, Format] | None = None
    emphasis: Collection[Hashable] = ()


class Section(NamedTuple):
    """A part of the page: heading, paragraphs, numbers, picture, table, notes and downloads, from top to bottom.

    Attributes
    ----------
    heading : str
        Its title.
    paragraphs : sequence of str
        What to read first.
    table : Table, optional
        A table.
    picture : Picture, optional
        A picture.
    tiles : sequence of pairs of str
        Numbers, each with what it counts.
    downloads : sequence of str
        Files to link to, as paths from the folder of the page.
    notes : sequence of str
        What to read last, in small print.
    """

    heading: str
    paragraphs: Sequence[str] = ()
    table: Table | None = None
    picture: Picture | None = None
    downloads: Sequence[str] = ()
    notes: Sequence[str] = ()
    tiles: Sequence[tuple[str, str]] = ()


def write_page(path: Path, *, title: str, lead: str, sections: Sequence[Section], footer: str = "") -> Path:
    """Write the page to `path` and return that.

    Parameters
    ----------
    path : Path
        Where to write. Pictures and downloads must already be there, beside it or in folders below.
    title, lead, sections, footer
        See :func:`page_of`.

    Raises
    ------
    FileNotFoundError
        If a picture or a download does not exist.
    """
    write_atomically(path, page_of(path.parent, title=title, lead=lead, sections=sections, footer=footer))
    return path


def page_of(folder: Path, *, title: str, lead: str, sections: Sequence[Section], footer: str = "") -> str:
    """Return the page as text.

    Everything is escaped; the page needs no network and no script. With more than three sections it begins with a
    list of them.

    Parameters
    ----------
    folder : Path
        Where pictures and downloads are.
    title, lead : str
        Heading and first paragraph.
    sections : sequence of Section
        The page, in order.
    footer : str
        Last line.

    Raises
    ------
    FileNotFoundError
        If a picture or a download does not exist.
    """
    return render(
        "report.html",
        title=title,
        lead=lead,
        sections=[
            {**_fields(section, folder), "anchor": anchor}
            for section, anchor in zip(sections, _anchors(sections), strict=True)
        ],
        contents=len(sections) >= _MANY,
        footer=footer,
    )


def _fields(section: Section, folder: Path) -> dict[str, Any]:
    """Return what the template shows of a section."""
    fields = section._asdict()
    if section.picture is not None:
        _size(folder, section.picture.file)
    if section.table is not None:
        frame, caption, formats, emphasis = section.table
        fields["table"] = grid_of(frame, caption, formats or {}, emphasis)
    fields["downloads"] = [(file, _size(folder, file)) for file in section.downloads]
    return fields


def _anchors(sections: Sequence[Section]) -> list[str]:
    """Return a name for each section to link to, made of its heading; no two are the same."""
    anchors: list[str] = []
    for section in sections:
        name = re.sub(r"[^a-z0-9]+", "-", section.heading.lower()).strip("-") or "section"
        while name in anchors:
            name = f"{name}-{len(anchors) + 1}"
        anchors.append(name)
    return anchors


def _size(folder: Path, file: str) -> str:
    """Say how large a file is."""
    if not (folder / file).is_file():
        raise FileNotFoundError(f"the page shows {file!r}, which is not in {folder}: write it before the page.")
    size = float((folder / file).stat().st_size)
    if size < 1000.0:
        return f"{size:.0f} bytes"
    for unit in ("kB", "MB"):
        size /= 1000.0
        if size < 999.5:
            return f"{size:.3g} {unit}"
    return f"{size / 1000.0:.3g} GB"
