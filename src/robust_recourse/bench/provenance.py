"""Where numbers come from: versions, commit, machine."""

from __future__ import annotations

import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

__all__ = ["commit", "versions"]

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "pandas", "joblib")


def versions() -> dict[str, str]:
    """Return the versions that results may depend on."""
    from robust_recourse import __version__

    return {
        "robust-recourse": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in _LIBRARIES},
    }


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
        changed = git("status", "--porcelain", "--", str(here.parent))
        return git("rev-parse", "HEAD") + (" with changes" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return None
