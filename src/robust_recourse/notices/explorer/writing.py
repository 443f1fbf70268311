"""Folders that hold the page and its data, to be read without a server."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from robust_recourse.notices.explorer.files import FILES, asset, page
from robust_recourse.notices.folder import NoticeFolder

__all__ = ["check_explorer", "write_explorer"]

_DATA = "data.js"
_NAMES: Sequence[str] = ("index.html", *FILES, _DATA)


def check_explorer(folder: Path) -> None:
    """Raise if the folder has files of the same names that no earlier run wrote."""
    NoticeFolder(folder).check(_NAMES)


def write_explorer(folder: Path, data: dict[str, Any], *, overwrite: bool = False) -> Path:
    """Write the page with its data into a folder, and return the path of the page.

    Parameters
    ----------
    folder : Path
        Where to write. What an earlier run wrote there is replaced or removed, and nothing else is touched.
    data : dict
        What the page shows, as data for JSON.
    overwrite : bool
        Whether other files of the same names may be replaced.

    Raises
    ------
    FileExistsError
        If there are such files, and they may not.
    """
    # A text in a script: a page from a disk may not fetch, and no name in it becomes a word of JavaScript.
    script = f"globalThis.recourseData = {json.dumps(json.dumps(data, allow_nan=False))};\n"
    with NoticeFolder(folder).writing(_NAMES, overwrite=overwrite) as write:
        for name in FILES:
            write(name, asset(name).decode("utf-8"))
        write(_DATA, script)
        write("index.html", page(_DATA))
    return folder / "index.html"
