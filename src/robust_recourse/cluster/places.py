"""Where files are: in folders of this machine, or wherever fsspec finds them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import Any

from robust_recourse._files import private_folder, write_atomically

__all__ = ["Place", "checksum", "found_files", "opened"]

_CHUNK = 1 << 22  # bytes that are read together
_SUFFIXES = (".parquet", ".csv")


def found_files(source: Any) -> list[str]:
    """Return the files that a path, a folder, a pattern or a list of these names, each once and in order.

    Raises
    ------
    FileNotFoundError
        If there is none.
    """
    if not isinstance(source, str | os.PathLike | Iterable):
        raise TypeError(f"source must be a path, a folder, a pattern or a list of these, got {source!r}.")
    several = [source] if isinstance(source, str | os.PathLike) else list(source)
    files = list(dict.fromkeys(name for one in several for name in _files(os.fspath(one))))
    if not files:
        named = ", ".join(os.fspath(one) for one in several) or "an empty list"
        raise FileNotFoundError(
            f"There is no file {named}: name a .parquet or .csv file, a folder of them, or a pattern."
        )
    return files


def _files(name: str) -> list[str]:
    if _remote(name):
        system, path = _system(name)
        if has_magic(path):
            found = system.glob(path)
        elif system.isdir(path):
            found = [entry for entry in system.find(path, maxdepth=1) if _is_table(entry)]
        else:
            found = [path] if system.exists(path) else []
        return sorted(system.unstrip_protocol(entry) for entry in found)
    if Path(name).is_dir():
        return sorted(os.fspath(path) for path in Path(name).iterdir() if path.is_file() and _is_table(path.name))
    if Path(name).exists() or not has_magic(name):
        return [name] if Path(name).exists() else []
    return sorted(path for path in glob(name, recursive=True) if Path(path).is_file())


def _is_table(name: str) -> bool:
    # As readers of Parquet do, leave out what begins with a dot or an underscore.
    last = name.rsplit("/", 1)[-1]
    return not last.startswith((".", "_")) and last.lower().endswith(_SUFFIXES)


def opened(name: str) -> Any:
    """Open a file for reading bytes."""
    if _remote(name):
        system, path = _system(name)
        return system.open(path, "rb")
    return Path(name).open("rb")


def checksum(name: str) -> str:
    """Return a name for the content of a file: the entity tag of a store that has one, else that of all bytes."""
    if _remote(name):
        system, path = _system(name)
        tag = next((value for key, value in system.info(path).items() if key.lower() == "etag"), None)
        if tag:
            return f"etag {tag}"
    digest = hashlib.blake2b(digest_size=16)
    with opened(name) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


@dataclass(frozen=True)
class Place:
    """A folder in which files are whole or not there.

    Attributes
    ----------
    name : str
        Its path, or its URL.
    """

    name: str

    @property
    def local(self) -> Path | None:
        """The folder, if it is one of this machine."""
        return None if _remote(self.name) else Path(self.name)

    def path(self, name: str) -> str:
        """Return the name by which a file in it can be opened."""
        return f"{self.name.rstrip('/')}/{name}" if _remote(self.name) else os.fspath(Path(self.name, name))

    def make(self) -> None:
        """Make the folder, if it is not there."""
        if self.local is not None:
            private_folder(self.local)
        else:
            system, path = _system(self.name)
            system.makedirs(path, exist_ok=True)

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None if it is not there."""
        try:
            with opened(self.path(name)) as file:
                content: bytes = file.read()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return content

    def write(self, name: str, content: bytes) -> None:
        """Write a file: whoever looks sees all of it or nothing."""
        if self.local is not None:
            write_atomically(self.local / name, content)
            return
        system, path = _system(self.path(name))
        unfinished = f"{path.rsplit('/', 1)[0]}/_unfinished-{os.getpid()}-{path.rsplit('/', 1)[1]}"
        try:
            system.pipe_file(unfinished, content)
            system.mv(unfinished, path)
        except BaseException:
            if system.exists(unfinished):
                system.rm(unfinished)
            raise

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        if self.local is not None:
            (self.local / name).unlink(missing_ok=True)
            return
        system, path = _system(self.path(name))
        if system.exists(path):
            system.rm(path)

    def sizes(self) -> dict[str, int]:
        """Return the names of all files in it, with their numbers of bytes."""
        return dict(self._sizes())

    def _sizes(self) -> Iterator[tuple[str, int]]:
        if self.local is None:
            system, path = _system(self.name)
            if system.exists(path):
                system.invalidate_cache(path)
                for entry in system.ls(path, detail=True):
                    if entry["type"] == "file":
                        yield entry["name"].rsplit("/", 1)[-1], int(entry["size"])
        elif self.local.is_dir():
            with os.scandir(self.local) as entries:
                for entry in entries:
                    if entry.is_file():
                        yield entry.name, entry.stat().st_size


def _remote(name: str) -> bool:
    return "://" in name


def _system(name: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError as error:
        raise ImportError(f"{name}: such addresses need fsspec: pip install 'robust-recourse[dask]'") from error
    system, path = fsspec.core.url_to_fs(name)
    return system, str(path)
