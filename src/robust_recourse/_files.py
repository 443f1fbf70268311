"""Files that are whole or not there, and names for what has been computed."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["part_key", "private_folder", "replacing", "write_atomically"]

_TEMPORARY = ".robust-recourse-"


def part_key(*facts: Any) -> str:
    """Return a name that two parts share only if all the facts about them are equal."""
    text = json.dumps(facts, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def write_atomically(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file in one move; text is written in UTF-8."""
    with replacing(path) as written:
        written.write_bytes(content.encode() if isinstance(content, str) else content)


def private_folder(path: Path) -> None:
    """Make a folder, and those above it, for their owner alone; one that is there stays as it is."""
    try:
        path.mkdir(mode=0o700, exist_ok=True)
    except FileNotFoundError:
        private_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a file beside `path` to write to, and move it there at the end: whoever looks sees all of it or nothing.

    Most files hold rows of people, so a new file is for its owner alone, and so is a folder that is made for it. A file
    that is there is replaced, and keeps its permissions. Whatever goes wrong, it stays as it is. What a killed process
    left behind is removed. An `OSError`, such as that of a full disk, names `path`.
    """
    target = Path(os.path.realpath(path))  # a link stays one
    name = os.fspath(target.parent / f"{_TEMPORARY}{_host()}-{os.getpid()}-{secrets.token_hex(6)}")
    try:
        private_folder(target.parent)
        _sweep(target.parent, os.getpid())
        os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield Path(name)
        with suppress(FileNotFoundError):
            os.chmod(name, target.stat().st_mode)
        _flush(name)
        os.replace(name, target)
    except BaseException as error:
        with suppress(OSError):  # what went wrong first is what counts
            os.unlink(name)
        if isinstance(error, OSError) and error.filename in (None, name):
            error.filename = os.fspath(path)
        raise


def _flush(name: str) -> None:
    """Wait until the content is on the disk: a power cut must not leave a name without it."""
    handle = os.open(name, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@cache
def _sweep(folder: Path, _process: int) -> None:
    """Remove what processes of this machine left in a folder when they were killed; once in a process."""
    for path in folder.glob(f"{_TEMPORARY}{_host()}-*"):
        process = path.name.split("-")[3]
        if process.isdecimal() and not _alive(int(process)):
            path.unlink(missing_ok=True)


@cache
def _host() -> str:
    return hashlib.blake2b(platform.node().encode(), digest_size=4).hexdigest()


def _alive(process: int) -> bool:
    if os.name != "posix":
        return True  # only a signal could tell, and there it would end the process
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OverflowError, PermissionError):
        pass
    return True
