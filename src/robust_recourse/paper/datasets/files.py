"""Find the files of the data sets and make sure that they are the right ones."""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from robust_recourse._validation import check_flag
from robust_recourse.paper.datasets.sources import Source

__all__ = ["DATA_VARIABLE", "DatasetError", "Found", "cache_folder", "data_folders", "find", "mismatch", "read"]

DATA_VARIABLE = "ROBUST_RECOURSE_DATA"


class DatasetError(OSError):
    """A file of a data set is missing, is not the right one, or cannot be downloaded."""


@dataclass(frozen=True)
class Found:
    """A file that was read: where it is, its uncompressed content, and the sha256 of that."""

    path: Path
    content: bytes
    sha256: str

    @property
    def name(self) -> str:
        """Name of the file without the ending of a compressed one."""
        return self.path.name.removesuffix(".gz")


def cache_folder() -> Path:
    """Folder of the user's cache into which data sets are downloaded."""
    return Path(platformdirs.user_cache_dir("robust-recourse", appauthor=False)) / "data"


def data_folders() -> list[Path]:
    """Folders in which files are looked for: the one that ROBUST_RECOURSE_DATA names, then the user's cache."""
    named = os.environ.get(DATA_VARIABLE)
    return [*([Path(named).expanduser()] if named else []), cache_folder()]


def find(source: Source) -> Path | None:
    """Path of the first file that is there, if any."""
    places = (folder / path for folder in data_folders() for path in source.paths)
    return next((place for place in places if place.is_file()), None)


def read(source: Source, *, check_hash: bool = True) -> Found:
    """Read a file, uncompressed.

    Parameters
    ----------
    source : Source
        The file.
    check_hash : bool
        Whether its content must be one that is known to be right.

    Raises
    ------
    DatasetError
        If it is missing or damaged. Nothing is downloaded.
    """
    path = find(source)
    if path is None:
        raise DatasetError(
            f"the data set {source.dataset!r} needs {' or '.join(source.paths)}, found in none of the folders "
            f"{', '.join(map(str, data_folders()))}. {_remedy(source)}, or set the environment variable "
            f"{DATA_VARIABLE} to a folder that holds it."
        )
    raw = path.read_bytes()
    try:
        content = gzip.decompress(raw) if path.suffix == ".gz" else raw
    except (OSError, EOFError, zlib.error) as error:
        raise DatasetError(f"{path} cannot be uncompressed (truncated?): {error}. {_replace(source, path)}.") from error
    if check_flag(check_hash, "check_hash") and (problem := mismatch(content, source)):
        raise DatasetError(f"{path} {problem}. {_replace(source, path)}.")
    return Found(path, content, _sha256(content))


def mismatch(content: bytes, source: Source) -> str | None:
    """Say what is wrong with the content; None if it is one of the right ones."""
    got = _sha256(content)
    if any(got == version.sha256 for version in source.versions):
        return None
    sizes = [version.size for version in source.versions]
    guess = " (truncated?)" if len(content) < min(sizes) else ""
    return (
        f"is not the expected file{guess}: it has {len(content)} bytes, expected {' or '.join(map(str, sizes))}; "
        f"its sha256 is {got}, expected {' or '.join(version.sha256 for version in source.versions)}"
    )


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _remedy(source: Source) -> str:
    verb = "See how to download it" if source.by_hand else "Download it"
    return f"{verb} with `robust-recourse datasets fetch {source.dataset}`"


def _replace(source: Source, path: Path) -> str:
    # Only a file in the cache is replaced by fetching; any other one is the user's own and stands in the way.
    first = "Remove it. " if source.by_hand or not path.is_relative_to(cache_folder()) else ""
    return f"{first}{_remedy(source)}, or read it as it is with load({source.dataset!r}, check_hash=False)"
