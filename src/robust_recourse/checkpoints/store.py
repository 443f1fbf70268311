"""A folder with finished pieces of work."""

from __future__ import annotations

import hashlib
import hmac
import json
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from robust_recourse._files import write_atomically
from robust_recourse.checkpoints.keys import user_key
from robust_recourse.checkpoints.lock import holding

__all__ = ["CheckpointWarning", "Store"]

_SUFFIX, _LOCK = ".piece", "lock"


class CheckpointWarning(UserWarning):
    """A kept piece of work does not fit, and is not used."""


@dataclass(frozen=True)
class Store:
    """Pieces of finished work, each in a file of its own.

    A piece is there as a whole or not at all. It carries its key, a fingerprint of what it answers and a checksum of
    all that; a piece in which anything of it is not as expected is never used.

    Parameters
    ----------
    folder : Path
        Where they are; made when the first one is written.
    sealed : bool
        Whether the checksum is keyed with a secret of this user. What is not data alone, as a pickle, must be: such a
        piece is only ever used if this user has written it, under this very key.
    """

    folder: Path
    sealed: bool = False

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the only writer, but for helper processes; a folder that is empty at the end goes, if it was not before.

        Raises
        ------
        InUseError
            If there is another one; the message says who.
        """
        lock = self.folder / _LOCK
        ours = not self.folder.is_dir() or lock.exists() or bool(self.pieces())  # a killed run leaves its lock
        try:
            with holding(lock, self.folder):
                yield
        finally:
            if ours:
                with suppress(OSError):  # something is kept
                    self.folder.rmdir()

    def read(self, key: str, answers: str = "") -> bytes | None:
        """Return the content of a piece; None if it is not there.

        If it is there and does not fit, that is said with a warning, and it is None, too.

        Parameters
        ----------
        key : str
            What the piece depends on.
        answers : str
            Fingerprint of what it answers.
        """
        path = self._path(key)
        if not path.is_file():
            return None
        try:
            checksum, _, signed = path.read_bytes().partition(b"\n")
        except OSError as error:
            self.refuse(key, f"it cannot be read: {error.strerror}")
            return None
        if not hmac.compare_digest(checksum, self._checksum(signed)):
            self.refuse(key, "this user has not written it like that" if self.sealed else "it is damaged or altered")
            return None
        said, _, content = signed.partition(b"\n")
        if said != _said(key, answers):
            self.refuse(key, "it answers something else")
            return None
        return content

    def write(self, key: str, content: bytes, answers: str = "") -> None:
        """Keep a piece; it is on the disk when this returns."""
        signed = _said(key, answers) + b"\n" + content
        write_atomically(self._path(key), self._checksum(signed) + b"\n" + signed)

    def refuse(self, key: str, why: str) -> None:
        """Say that a piece is not used."""
        warnings.warn(f"{self._path(key)} is not used, and computed again: {why}.", CheckpointWarning, stacklevel=3)

    def pieces(self) -> list[str]:
        """Return the keys of all pieces that are there, whether they fit or not."""
        return sorted(path.name.removesuffix(_SUFFIX) for path in self.folder.glob(f"*{_SUFFIX}"))

    def remove(self, keys: Iterable[str]) -> None:
        """Forget pieces."""
        for key in keys:
            self._path(key).unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}{_SUFFIX}"

    def _checksum(self, signed: bytes) -> bytes:
        if self.sealed:
            return hmac.new(user_key(), signed, "sha256").hexdigest().encode()
        return hashlib.sha256(signed).hexdigest().encode()


def _said(key: str, answers: str) -> bytes:
    return json.dumps({"key": key, "answers": answers}).encode()
