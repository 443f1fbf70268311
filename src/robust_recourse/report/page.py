"""A plain HTML page of sections: text, tables, pictures with captions, files to download."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import pandas as pd
from jinja2 import Environment

from robust_recourse.report import _cells as cells

__all__ = ["Picture", "Section", "Table", "write_page"]

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
    formats: Mapping[Hashable, cells.Format] | None = None
    emphasis: Collection[Hashable] = ()


class Section(NamedTuple):
    """A part of the page: heading, paragraphs, picture, table, notes and downloads, from top to bottom.

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


def write_page(path: Path, *, title: str, lead: str, sections: Sequence[Section], footer: str = "") -> Path:
    """Write the page to `path` and return that.

    Everything is escaped; the page needs no network and no script. With more than three sections it begins with a
    list of them.

    Parameters
    ----------
    path : Path
        Where to write. Pictures and downloads must already be there, beside it or in folders below.
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
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["address"] = quote
    html = environment.from_string(_TEMPLATE).render(
        title=title,
        lead=lead,
        sections=[_fields(section, path.parent) for section in sections],
        anchors=_anchors(sections),
        contents=len(sections) >= _MANY,
        footer=footer,
    )
    path.write_text(html, encoding="utf-8")
    return path


def _fields(section: Section, folder: Path) -> dict[str, Any]:
    """Return what the template shows of a section."""
    fields = section._asdict()
    if section.picture is not None:
        _size(folder, section.picture.file)
    if section.table is not None:
        frame, caption, formats, emphasis = section.table
        rows = cells.body(frame, formats or {}, emphasis)
        fields["table"] = {"caption": caption, "head": cells.head(frame), "body": rows}
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


_TEMPLATE = """\
{% macro show(cell) %}
<{{ cell.tag }}{% if cell.scope %} scope="{{ cell.scope }}"{% endif %}
{% if cell.span > 1 %} colspan="{{ cell.span }}"{% endif %}
{% if cell.kind %} class="{{ cell.kind }}"{% endif %}>{{ cell.text }}</{{ cell.tag }}>
{% endmacro %}
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ title }}</title>
<style>
:root { color-scheme: light; }
body { font: 17px/1.55 system-ui, sans-serif; color: #1c2430; background: #fff; margin: 0 auto; padding: 2.5rem 1.25rem;
       max-width: 60rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .75rem; }
h2 { font-size: 1.35rem; line-height: 1.3; margin: 0 0 .5rem; }
p { max-width: 44rem; margin: .75rem 0; overflow-wrap: break-word; }
section { margin-top: 2.75rem; }
.lead { font-size: 1.15rem; color: #3a4656; }
nav { border-left: 3px solid #d9dfe7; margin: 1.75rem 0 0; padding: .1rem 0 .1rem 1rem; }
nav ol { margin: 0; padding: 0; list-style: none; }
a { color: #0b57a4; }
.scroll { overflow-x: auto; margin: 1.25rem 0; }
.scroll:focus-visible, a:focus-visible { outline: 2px solid #0b57a4; outline-offset: 2px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums lining-nums; }
caption { text-align: left; color: #3a4656; font-size: .95rem; padding-bottom: .4rem;
          max-width: min(44rem, 100vw - 2.5rem); }
th, td { padding: .45rem 0 .45rem 1.5rem; text-align: left; vertical-align: baseline;
         border-bottom: 1px solid #d9dfe7; }
th:first-child, td:first-child { padding-left: 0; }
thead th, thead td { color: #4d586a; font-weight: 600; vertical-align: bottom; border-bottom: 0; }
thead tr:last-child > * { border-bottom: 2px solid #1c2430; }
thead th[scope=colgroup] { text-align: center; border-bottom: 1px solid #d9dfe7; }
tbody th { font-weight: 600; white-space: nowrap; }
.number { text-align: right; }
td.number { white-space: nowrap; }
td.long { min-width: 18rem; }
.emphasis > * { font-weight: 700; }
figure { margin: 1rem 0; }
img { display: block; max-width: 100%; height: auto; }
figcaption, .note, footer { color: #3a4656; font-size: .95rem; max-width: 44rem; }
figcaption { margin-top: .5rem; }
.files { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; list-style: none; margin: 1rem 0 0; padding: 0;
         font-size: .95rem; }
.files a { overflow-wrap: anywhere; }
.size { color: #566173; }
footer { border-top: 1px solid #d9dfe7; margin-top: 3rem; padding-top: 1rem; max-width: none; overflow-wrap: anywhere; }
@media (max-width: 40rem) {
  body { font-size: 16px; padding: 1.5rem 1rem; }
  h1 { font-size: 1.6rem; }
  table { font-size: .9rem; }
  th, td { padding-left: 1rem; }
  tbody th:first-child { position: sticky; left: 0; background: #fff; white-space: normal; }
}
@media print {
  body { padding: 0; max-width: none; font-size: 10.5pt; }
  nav { display: none; }
  a { color: inherit; }
  h2 { break-after: avoid; }
  figure, tr { break-inside: avoid; }
  img { max-height: 22cm; }
  .scroll { overflow: visible; }
  table { font-size: 9pt; }
  th, td { padding-left: .8em; }
}
</style>
</head>
<body>
<main>
<h1>{{ title }}</h1>
<p class="lead">{{ lead }}</p>
{% if contents %}
<nav aria-label="Contents">
<ol>
{% for section in sections %}
<li><a href="#{{ anchors[loop.index0] }}">{{ section.heading }}</a></li>
{% endfor %}
</ol>
</nav>
{% endif %}
{% for section in sections %}
<section aria-labelledby="{{ anchors[loop.index0] }}">
<h2 id="{{ anchors[loop.index0] }}">{{ section.heading }}</h2>
{% for text in section.paragraphs %}
<p>{{ text }}</p>
{% endfor %}
{% if section.picture %}
<figure>
<a href="{{ section.picture.file | address }}">
<img src="{{ section.picture.file | address }}" alt="{{ section.picture.alt or section.picture.caption }}">
</a>
<figcaption>{{ section.picture.caption }}</figcaption>
</figure>
{% endif %}
{% if section.table %}
<div class="scroll" role="region" tabindex="0" aria-label="{{ section.table.caption or section.heading }}">
<table>
{% if section.table.caption %}
<caption>{{ section.table.caption }}</caption>
{% endif %}
<thead>
{% for row in section.table.head %}
<tr>{% for cell in row %}{{ show(cell) }}{% endfor %}</tr>
{% endfor %}
</thead>
<tbody>
{% for emphasised, row in section.table.body %}
<tr{% if emphasised %} class="emphasis"{% endif %}>{% for cell in row %}{{ show(cell) }}{% endfor %}</tr>
{% endfor %}
</tbody>
</table>
</div>
{% endif %}
{% for text in section.notes %}
<p class="note">{{ text }}</p>
{% endfor %}
{% if section.downloads %}
<ul class="files" aria-label="Downloads">
{% for file, size in section.downloads %}
<li><a href="{{ file | address }}" download>{{ file }}</a> <span class="size">({{ size }})</span></li>
{% endfor %}
</ul>
{% endif %}
</section>
{% endfor %}
</main>
{% if footer %}
<footer><p>{{ footer }}</p></footer>
{% endif %}
</body>
</html>
"""
