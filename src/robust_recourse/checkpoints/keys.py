"""The key of this user: what it seals, nobody else has written."""

from __future__ import annotations

import os
import secrets
import warnings
from functools import cache
from pathlib import Path

import platformdirs

__all__ = ["user_key"]

_LENGTH = 32


def user_key() -> bytes:
    """Return the secret of this user, which is made at the first use, in a file that only the user can read."""
    return _read(platformdirs.user_data_path("robust-recourse") / "seal.key")


@cache
def _read(path: Path) -> bytes:
    try:
        if not path.exists():
            _make(path)
        key = path.read_bytes()
    except OSError as error:
        warnings.warn(
            f"{path}: {error.strerror}. Without this key the next run trains models again that are kept now.",
            stacklevel=3,
        )
        return secrets.token_bytes(_LENGTH)
    if len(key) != _LENGTH:
        raise ValueError(f"{path} is damaged: remove it. Models that were kept are then trained again.")
    return key


def _make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = path.with_name(f"{path.name}.{secrets.token_hex(6)}")
    handle = os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        os.write(handle, secrets.token_bytes(_LENGTH))
        os.fsync(handle)
    finally:
        os.close(handle)
    try:
        os.link(new, path)  # unlike a move, this never replaces a key that another process has just made
    except FileExistsError:
        pass
    finally:
        new.unlink()
