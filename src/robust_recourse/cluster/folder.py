"""The folder of results: what it is about, which parts are finished, and who may write there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robust_recourse.checkpoints import holding
from robust_recourse.cluster.errors import OtherJobError
from robust_recourse.cluster.job import FACTS
from robust_recourse.cluster.places import Place, opened
from robust_recourse.cluster.reading import arrow
from robust_recourse.cluster.source import File, Part
from robust_recourse.result.parquet import MANIFEST

__all__ = ["Folder"]

_FINISHED, _LOCK = "_finished.jsonl", "_lock"
_FORMAT = 1


@dataclass(frozen=True)
class Folder:
    """A folder of results.

    The files of parts are whole or not there, so that those which are there are what is finished. A list of them beside
    them, which is appended to, saves the time to open each of them again.
    """

    place: Place

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the only writer, but for workers.

        Raises
        ------
        InUseError
            If there is another one; the message says who.
        """
        local = self.place.local
        self.place.make()
        if local is None:
            yield
            return
        with holding(local / _LOCK, local):
            yield

    def begin(self, manifest: Mapping[str, Any], files: Iterable[File]) -> None:
        """Say what the folder is about; one that is about something else stays as it is.

        Raises
        ------
        OtherJobError
            If it is; the message names the difference.
        """
        inputs = [{"name": file.name, "fingerprint": file.fingerprint, "broken": file.broken} for file in files]
        new = json.loads(json.dumps({"format": _FORMAT, **manifest, "input": inputs}))
        content = self.place.read(MANIFEST)
        if content is not None:
            self._check(content, new)
        elif any(name.endswith(".parquet") for name in self.place.sizes()):
            raise OtherJobError(
                f"{self.place.name} has Parquet files, and nothing says what they are. Name a new folder, or empty it."
            )
        text = json.dumps(new, indent=1) + "\n"
        if content is None or content.decode("utf-8", "replace") != text:
            self.place.write(MANIFEST, text.encode())

    def finished(self, parts: Iterable[Part]) -> dict[str, dict[str, Any]]:
        """Return what is known about the parts that are finished, by their names; what is no part of it is removed."""
        sizes, noted = self.place.sizes(), self._noted()
        found, missing = {}, []
        for part in parts:
            if part.name not in sizes:
                continue
            known = noted.get(part.name)
            if known is None or known.get("bytes") != sizes[part.name]:
                known = self._inside(part.name, sizes[part.name])
                missing += [] if known is None else [known]
            if known is not None:
                found[part.name] = known
        for name in sizes:
            if name.startswith("part-") and name.endswith(".parquet") and name not in found:
                self.place.remove(name)
        self.note(missing)
        return found

    def note(self, facts: Iterable[dict[str, Any]]) -> None:
        """Append to the list of finished parts."""
        lines = "".join(json.dumps(known) + "\n" for known in facts)
        if lines and self.place.local is not None:
            with open(self.place.local / _FINISHED, "a", encoding="utf-8", opener=_private) as file:
                file.write(lines)

    def renew(self, facts: Iterable[dict[str, Any]]) -> None:
        """Write the list of finished parts anew."""
        content = "".join(json.dumps(known) + "\n" for known in facts)
        self.place.write(_FINISHED, content.encode())

    def _noted(self) -> dict[str, dict[str, Any]]:
        content = self.place.read(_FINISHED)
        noted = {}
        for line in (content or b"").splitlines():
            try:
                known = json.loads(line)
                noted[known["part"]] = known
            except (ValueError, KeyError, TypeError):  # a line that was being written when the process ended
                continue
        return noted

    def _inside(self, name: str, size: int) -> dict[str, Any] | None:
        """Return what the file of a part says about it; None if it is damaged."""
        pyarrow, parquet = arrow()
        try:
            with opened(self.place.path(name)) as content, parquet.ParquetFile(content) as file:
                facts = json.loads(file.metadata.metadata[FACTS.encode()])
        except (pyarrow.ArrowException, OSError, ValueError, KeyError, TypeError):
            return None
        return {**facts, "bytes": size} if facts.get("part") == name else None

    def _check(self, content: bytes, new: Mapping[str, Any]) -> None:
        where = self.place.path(MANIFEST)
        try:
            old = json.loads(content)
            known = old["input"]
        except (ValueError, KeyError, TypeError) as error:
            raise OtherJobError(f"{where} cannot be read ({error}). Name a new folder, or empty this one.") from error
        for name in dict.fromkeys([*new, *old]):
            if name not in ("input", "parts", "rows") and old.get(name) != new.get(name):
                self._differs(name, old.get(name), new.get(name))
        if len(known) != len(new["input"]):
            self._differs("input", f"{len(known)} files", f"{len(new['input'])} files")
        for one, other in zip(known, new["input"], strict=True):
            if one["fingerprint"] != other["fingerprint"] and not one["broken"]:
                self._differs("input", f"the file {one['name']}", f"{other['name']}, which has another content")

    def _differs(self, what: str, old: Any, new: Any) -> None:
        path: list[str] = []
        while isinstance(old, dict) and isinstance(new, dict):
            key = next(key for key in dict.fromkeys([*new, *old]) if old.get(key) != new.get(key))
            path, old, new = [*path, key], old.get(key), new.get(key)
        what += f" ({', '.join(path)})" if path else ""
        raise OtherJobError(
            f"{os.fspath(Path(self.place.name)) if self.place.local else self.place.name} has the results of another "
            f"job. Its {what}: {old}. Now: {new}. Name a new folder, or empty this one."
        )


def _private(path: str, flags: int) -> int:
    """Open a file that, if it is new, is for its owner alone."""
    return os.open(path, flags, 0o600)
