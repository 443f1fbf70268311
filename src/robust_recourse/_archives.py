"""Zip archives that others made: how large they would become is known before anything is unpacked."""

from __future__ import annotations

import io
import zipfile

__all__ = ["check_size"]

_RATIO = 100  # of what is unpacked to the file, at most
_HARMLESS = 256 * 2**20  # bytes that may be unpacked from any file
_NESTED = (".skops", ".npz", ".zip")


def check_size(content: bytes) -> None:
    """Raise if an archive, with the archives in it, claims to unpack to far more than it is.

    More than it claims is never unpacked: `zipfile` stops there.

    Raises
    ------
    ValueError
        If it does.
    """
    _unpacked(content, max(_HARMLESS, _RATIO * len(content)))


def _unpacked(content: bytes, most: int) -> int:
    """Return how large everything is that an archive unpacks to."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        size = sum(member.file_size for member in file.infolist())
        if size > most:
            raise ValueError(f"it unpacks to {size:,} bytes or more, far more than such a file should")
        for member in file.infolist():
            if member.filename.lower().endswith(_NESTED):
                nested = file.read(member)
                if zipfile.is_zipfile(io.BytesIO(nested)):
                    size += _unpacked(nested, most - size)
    return size
