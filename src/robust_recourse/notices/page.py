"""Notices as HTML pages: one for everything, or one for each person."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Literal, TypeAlias

from robust_recourse.notices.folder import NoticeFolder, file_names
from robust_recourse.notices.notice import Notice, by_person
from robust_recourse.notices.rendering import anchor, render
from robust_recourse.notices.summary import summary
from robust_recourse.notices.writing import Writer

__all__ = ["AUDIENCES", "Audience", "page", "write_pages"]

Audience: TypeAlias = Literal["both", "applicant", "analyst"]
AUDIENCES = ("both", "applicant", "analyst")

_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


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
    link = (lambda notice: f"#{anchor(notice)}") if audience == "both" else None
    return render(
        "notices.html",
        title=title,
        groups=groups if audience != "analyst" else [],
        alone=audience == "applicant" and len(groups) == 1,
        summary=summary(notices, link) if audience != "applicant" else [],
        when=_date(when, groups[0][0].locale if groups else None),
        note=note,
    )


def _date(when: date, locale: str | None) -> str:
    if locale is not None:
        return Writer(locale=locale).text(when)
    return f"{when.day} {_MONTHS[when.month - 1]} {when.year}"


def write_pages(
    folder: Path, notices: Sequence[Notice], *, title: str, when: date, note: str = "", overwrite: bool = False
) -> list[Path]:
    """Write a page for each person, and the summary as ``index.html``; return the pages of the persons in order.

    Parameters
    ----------
    folder : Path
        Where to write. What an earlier run wrote there is replaced or removed, and nothing else is touched.
    notices, title, when, note
        See :func:`page`.
    overwrite : bool
        Whether other files of the same names may be replaced.

    Raises
    ------
    FileExistsError
        If there are such files, and they may not.
    """
    groups = {options[0].person: options for options in by_person(notices)}
    names = file_names([options[0].label for options in groups.values()])
    files = dict(zip(groups, names, strict=True))
    with NoticeFolder(folder).writing(["index.html", *names], overwrite=overwrite) as write:
        for person, options in groups.items():
            write(files[person], page(options, title=title, audience="applicant", when=when, note=note))
        overview = summary(notices, lambda notice: files[notice.person])
        write("index.html", render("notices.html", title=title, groups=[], alone=False, summary=overview))
    return [folder / name for name in names]
