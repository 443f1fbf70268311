"""A folder of notices: it knows its own files, and leaves all others alone."""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from robust_recourse._files import write_atomically
from robust_recourse.notices.values import label_text

__all__ = ["NoticeFolder", "file_names"]

_LONGEST_NAME = 60
_NAME = re.compile(r"index\.html|page\.(?:js|css)|data\.js|notice-[A-Za-z0-9-]+\.html")


class NoticeFolder:
    """A folder that notices are written to.

    Parameters
    ----------
    path : Path
        The folder; made if it is not there. The file ``.notices.json`` in it names what was written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._manifest = path / ".notices.json"

    def check(self, names: Iterable[str] = ("index.html",)) -> None:
        """Raise if a file of one of these names is there, and no earlier run wrote it."""
        own = self._own()
        for name in names:
            if name not in own and os.path.lexists(self.path / name):
                raise FileExistsError(
                    f"{self.path / name} is there already, and no earlier run wrote it. Name another folder, or allow "
                    "to replace it: overwrite=True, or --overwrite at the command line."
                )

    @contextmanager
    def writing(self, names: Sequence[str], *, overwrite: bool) -> Iterator[Callable[[str, str], None]]:
        """Give a function that writes files of these names; at the end, others of earlier runs are removed."""
        if not overwrite:
            self.check(names)
        before = self._own()
        # Also what a run writes that is killed belongs to the next.
        self._remember([*before, *names])
        yield lambda name, text: write_atomically(self.path / name, text)
        # A notice of an earlier run, maybe under other rules, must not be taken for one of this run.
        for name in before.difference(names):
            (self.path / name).unlink(missing_ok=True)
        self._remember(names)

    def forget(self) -> None:
        """Remove what earlier runs wrote, and nothing else."""
        for name in self._own():
            (self.path / name).unlink(missing_ok=True)
        self._manifest.unlink(missing_ok=True)

    def _own(self) -> set[str]:
        """Return the files that earlier runs wrote; whatever else a manifest names is not ours."""
        try:
            listed = json.loads(self._manifest.read_text(encoding="utf-8"))["files"]
            return {name for name in listed if _NAME.fullmatch(name)}
        except (FileNotFoundError, ValueError, TypeError, KeyError, RecursionError):
            return set()

    def _remember(self, names: Iterable[str]) -> None:
        content = {"made_by": "robust-recourse", "files": sorted(set(names))}
        write_atomically(self._manifest, json.dumps(content, indent=1) + "\n")


def file_names(labels: Sequence[Hashable]) -> list[str]:
    """Return a file name for each person: made of the label, safe on all systems, and no two the same."""
    names = []
    taken: set[str] = set()
    numbers: Counter[str] = Counter()
    for label in labels:
        ascii_label = unicodedata.normalize("NFKD", label_text(label)).encode("ascii", "ignore").decode("ascii")
        stem = re.sub(r"[^A-Za-z0-9]+", "-", ascii_label).strip("-")[:_LONGEST_NAME].strip("-") or "row"
        name = stem
        while name.lower() in taken:
            # Counted on for every stem: to begin anew each time would be slow for many labels without ASCII.
            numbers[stem.lower()] += 1
            name = f"{stem}-{numbers[stem.lower()] + 1}"
        taken.add(name.lower())
        names.append(f"notice-{name}.html")
    return names
