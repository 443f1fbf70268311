"""One writer at a time: a lock that says who holds it, and that ends with the process that does."""

from __future__ import annotations

import errno
import os
import platform
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from robust_recourse._files import private_folder

__all__ = ["InUseError", "holding"]

_BUSY = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)
_TRIES = 100  # to open a file that others remove
_FAR = 1 << 30  # Windows locks bytes and nobody else may read these: lock one behind what is written


class InUseError(OSError):
    """Somebody else writes there at the moment; the message says who."""


@contextmanager
def holding(path: Path, what: Path) -> Iterator[None]:
    """Hold the lock in the file `path`, which is removed at the end; messages say that `what` is in use.

    The system gives the lock back when the process ends, however it ends: one that was killed is in nobody's way.

    Raises
    ------
    InUseError
        If another writer holds it.
    """
    handle = _acquire(path, what)
    try:
        yield
    finally:
        if os.name == "posix":
            path.unlink(missing_ok=True)  # before it is free, so that nobody takes a lock that is about to go
            os.close(handle)
        else:
            os.close(handle)
            with suppress(OSError):
                path.unlink()


def _acquire(path: Path, what: Path) -> int:
    for _ in range(_TRIES):
        private_folder(path.parent)
        try:
            # Not through a link: what it points to would be emptied.
            handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        except FileNotFoundError:
            continue  # its last user has removed the folder since it was looked for
        try:
            _lock(handle, path)
            if os.name != "posix" or _is_file(handle, path):
                _sign(handle)
                return handle
            os.close(handle)  # its last holder has removed the file since it was opened
        except OSError as error:
            os.close(handle)
            if error.errno in _BUSY:
                raise InUseError(
                    f"{what} is in use: {_holder(path)} writes there. Wait until that has finished, or end it."
                ) from None
            error.filename = os.fspath(path)
            raise
    raise InUseError(f"{what} is in use: {path} is made and removed all the time.")


def _sign(handle: int) -> None:
    os.truncate(handle, 0)
    os.lseek(handle, 0, os.SEEK_SET)
    since = f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S %z}"
    os.write(handle, f"process {os.getpid()} on {platform.node()} since {since}\n".encode())


def _lock(handle: int, path: Path) -> None:
    if os.name != "posix":
        import msvcrt  # only there

        os.lseek(handle, _FAR, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        return
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _BUSY:
            raise
        warnings.warn(
            f"{path.parent}: this file system has no locks ({error.strerror}). Make sure that nobody else writes.",
            stacklevel=2,
        )


def _is_file(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _holder(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip() or "another process"
    except OSError:
        return "another process"
