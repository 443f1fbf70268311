"""Where numbers come from: versions and commit."""

from __future__ import annotations

import hashlib
import platform
import subprocess
from functools import cache
from importlib.metadata import version
from pathlib import Path

__all__ = ["commit", "source", "versions"]

_SHOWING = (
    "report/",
    "notices/",
    "saving/",
    "ledger/",
    "cli/",
    "paper/demo.py",
    "paper/reproduce.py",
    "paper/reading.py",
    "__main__.py",
)
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "pandas", "joblib")


def versions() -> dict[str, str]:
    """Return the versions that results may depend on."""
    return {
        "robust-recourse": version("robust-recourse"),
        "python": platform.python_version(),
        **{name: version(name) for name in _LIBRARIES},
    }


@cache
def source() -> str:
    """Return a fingerprint of the code that results depend on: all of the package but what shows them."""
    package = Path(__file__).parent
    digest = hashlib.blake2b(digest_size=12)
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).as_posix()
        if not name.startswith(_SHOWING):
            digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def commit() -> str | None:
    """Return the commit of the source, with a mark if files differ from it; None outside a repository."""
    here = Path(__file__).parent

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=here, capture_output=True, text=True, check=True, timeout=10
        ).stdout.strip()

    try:
        # Only a repository that tracks this very file tells anything about it.
        git("ls-files", "--error-unmatch", Path(__file__).name)
        changed = git("status", "--porcelain", "--", str(here))
        return git("rev-parse", "HEAD") + (" with changes" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return None
