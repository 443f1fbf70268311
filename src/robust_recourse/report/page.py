"""A plain HTML page: a table, pictures with captions, files to download."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from jinja2 import Environment

__all__ = ["Picture", "write_page"]


class Picture(NamedTuple):
    """A picture beside the page."""

    file: str
    heading: str
    caption: str


def write_page(
    path: Path,
    *,
    title: str,
    lead: str,
    table: pd.DataFrame,
    notes: Sequence[str] = (),
    pictures: Sequence[Picture] = (),
    downloads: Sequence[str] = (),
) -> Path:
    """Write the page to `path` and return that.

    Everything is escaped; the page needs no network and no script.

    Parameters
    ----------
    path : Path
        Where to write; pictures and downloads are files of the same folder.
    title, lead : str
        Heading and first paragraph.
    table : DataFrame
        Numbers, one row for each method; the best one of a column is not marked, readers compare rows.
    notes : sequence of str
        Paragraphs below the table.
    pictures : sequence of Picture
        Pictures in order.
    downloads : sequence of str
        Names of files to link to.
    """
    template = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(_TEMPLATE)
    cells = [
        [name, *(f"{value:.3f}" for value in row)] for name, row in zip(table.index, table.to_numpy(), strict=True)
    ]
    html = template.render(
        title=title,
        lead=lead,
        head=list(table.columns),
        cells=cells,
        notes=notes,
        pictures=pictures,
        downloads=downloads,
    )
    path.write_text(html, encoding="utf-8")
    return path


_TEMPLATE = """\
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
h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; }
p { max-width: 44rem; }
.lead { font-size: 1.15rem; color: #3a4656; }
table { border-collapse: collapse; margin: 1.5rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .5rem 1.25rem .5rem 0; text-align: right; border-bottom: 1px solid #d9dfe7; }
th:first-child { text-align: left; font-weight: 600; }
thead th { color: #566173; font-weight: 600; border-bottom: 2px solid #1c2430; }
tbody tr:last-child th, tbody tr:last-child td { font-weight: 700; }
figure { margin: 0; }
img { width: 100%; height: auto; }
figcaption, .notes { color: #3a4656; font-size: .95rem; }
a { color: #0b57a4; }
@media print { body { padding: 0; } figure { break-inside: avoid; } }
</style>
</head>
<body>
<main>
<h1>{{ title }}</h1>
<p class="lead">{{ lead }}</p>
<table>
<thead><tr><th scope="col"></th>{% for name in head %}<th scope="col">{{ name }}</th>{% endfor %}</tr></thead>
<tbody>
{% for row in cells %}
<tr><th scope="row">{{ row[0] }}</th>{% for cell in row[1:] %}<td>{{ cell }}</td>{% endfor %}</tr>
{% endfor %}
</tbody>
</table>
{% for note in notes %}
<p class="notes">{{ note }}</p>
{% endfor %}
{% for picture in pictures %}
<section>
<h2>{{ picture.heading }}</h2>
<figure>
<img src="{{ picture.file }}" alt="{{ picture.caption }}">
<figcaption>{{ picture.caption }}</figcaption>
</figure>
</section>
{% endfor %}
{% if downloads %}
<h2>Files</h2>
<ul>
{% for file in downloads %}
<li><a href="{{ file }}" download>{{ file }}</a></li>
{% endfor %}
</ul>
{% endif %}
</main>
</body>
</html>
"""
