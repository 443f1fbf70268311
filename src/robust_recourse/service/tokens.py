"""Bearer tokens from a file."""

from __future__ import annotations

import hashlib
import hmac
import os
from pathlib import Path

__all__ = ["Tokens"]

_SHORTEST = 16  # signs


class Tokens:
    """Tokens, of which only hashes are kept.

    Parameters
    ----------
    tokens : iterable of str
        The tokens.
    """

    def __init__(self, tokens: list[str]) -> None:
        if not tokens:
            raise ValueError("There is no token. Write one on a line of its own, such as from: openssl rand -hex 32")
        short = next((k for k, token in enumerate(tokens) if len(token) < _SHORTEST), None)
        if short is not None:
            raise ValueError(f"Token {short + 1} is too short to be safe: it must have at least {_SHORTEST} signs.")
        self._hashes = [_hash(token) for token in tokens]

    @classmethod
    def read(cls, path: Path) -> Tokens:
        """Read a file with a token on each line; empty lines and those that begin with # are left out.

        Raises
        ------
        ValueError
            If there is none, if one is too short, or if others may read the file. No message quotes a token.
        """
        if os.name == "posix" and path.stat().st_mode & 0o007:
            raise ValueError(f"{path} can be read or written by everybody on this machine. Run: chmod o-rwx {path}")
        lines = (line.strip() for line in path.read_text("utf-8").splitlines())
        try:
            return cls([line for line in lines if line and not line.startswith("#")])
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

    def allow(self, header: str | None) -> bool:
        """Whether a header ``Authorization`` has one of them; it takes as long for every token of some length."""
        scheme, _, token = (header or "").partition(" ")
        given, found = _hash(token.strip()), False
        for known in self._hashes:
            found |= hmac.compare_digest(known, given)
        return found and scheme.lower() == "bearer"


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
