"""Notices as HTML pages: one for everything, or one for each person."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Literal, TypeAlias

from robust_recourse._files import write_atomically
from robust_recourse.notices._markup import Markup, element, join
from robust_recourse.notices._style import STYLE
from robust_recourse.notices.analyst import analyst
from robust_recourse.notices.applicant import anchor, applicant
from robust_recourse.notices.notice import Notice, by_person
from robust_recourse.notices.values import label_text, printable

__all__ = ["AUDIENCES", "Audience", "page", "write_pages"]

Audience: TypeAlias = Literal["both", "applicant", "analyst"]
AUDIENCES = ("both", "applicant", "analyst")

_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
# Nothing may be loaded and nothing may run, whatever a table contains.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_LONGEST_NAME = 60


def page(notices: Sequence[Notice], *, title: str, audience: Audience = "both", when: date, note: str = "") -> str:
    """Return a self-contained page.

    Parameters
    ----------
    notices : sequence of Notice
        What it shows.
    title : str
        Its heading.
    audience : {"both", "applicant", "analyst"}
        The notices of the persons, the summary, or both.
    when : date
        The date that the notices bear.
    note : str
        Last paragraph of every notice.
    """
    groups = list(by_person(notices))
    if audience == "applicant" and len(groups) == 1:
        return _document(title, [applicant(groups[0], _written(when), note, title=title, level=1)])
    link = (lambda notice: f"#{anchor(notice)}") if audience == "both" else None
    parts = analyst(notices, link) if audience != "applicant" else []
    if audience != "analyst":
        parts += [applicant(options, _written(when), note) for options in groups]
    return _document(title, [_header(title), *parts])


def write_pages(folder: Path, notices: Sequence[Notice], *, title: str, when: date, note: str = "") -> list[Path]:
    """Write a page for each person, and the summary as ``index.html``; return the pages of the persons in order."""
    folder.mkdir(parents=True, exist_ok=True)
    groups = list(by_person(notices))
    names = file_names([options[0] for options in groups])
    paths = []
    for options in groups:
        path = folder / names[options[0].person]
        write_atomically(path, page(options, title=title, audience="applicant", when=when, note=note))
        paths.append(path)
    summary = analyst(notices, lambda notice: names[notice.person])
    write_atomically(folder / "index.html", _document(title, [_header(title), *summary]))
    return paths


def file_names(firsts: Sequence[Notice]) -> dict[int, str]:
    """Return a file name for each person: made of the label, safe on all systems, and no two the same."""
    names: dict[int, str] = {}
    taken: set[str] = set()
    for notice in firsts:
        ascii_label = unicodedata.normalize("NFKD", label_text(notice.label)).encode("ascii", "ignore").decode("ascii")
        stem = re.sub(r"[^A-Za-z0-9]+", "-", ascii_label).strip("-")[:_LONGEST_NAME].strip("-") or "row"
        name, n = f"notice-{stem}", 1
        while name.lower() in taken:
            n += 1
            name = f"notice-{stem}-{n}"
        taken.add(name.lower())
        names[notice.person] = f"{name}.html"
    return names


def _written(when: date) -> str:
    return f"{when.day} {_MONTHS[when.month - 1]} {when.year}"


def _header(title: str) -> Markup:
    return element("header", element("h1", printable(title)))


def _document(title: str, parts: Sequence[Markup]) -> str:
    head = join(
        [
            Markup('<meta charset="utf-8">'),
            Markup(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'),
            Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
            element("title", printable(title)),
            element("style", Markup(STYLE)),
        ]
    )
    main = element("main", *parts)
    made_by = element("p", f"Made with robust-recourse {version('robust-recourse')}.")
    body = element("body", main, element("footer", made_by))
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n</head>\n{body}\n</html>\n'
