"""The folder in which a command keeps models and measurements until everything is finished."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["Parts"]


class Parts:
    """What is finished.

    Parameters
    ----------
    folder : Path
        Where it is kept, as :class:`robust_recourse.TunedRecourse` does.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """Say after an interruption what is kept."""
        try:
            yield
        except KeyboardInterrupt:
            counts = {"models": self._count("models", "output.pkl"), "measurements": self._count("measured", "*.json")}
            if not any(counts.values()):
                self.forget()
                raise KeyboardInterrupt("nothing is finished, and nothing is kept.") from None
            kept = " and ".join(f"{count} {what}" for what, count in counts.items())
            raise KeyboardInterrupt(
                f"{kept} are finished and kept in {self.folder}. Run the same command again to continue."
            ) from None

    def forget(self) -> None:
        """Remove models and measurements, and the folder if there is nothing else in it."""
        for part in ("models", "measured"):
            shutil.rmtree(self.folder / part, ignore_errors=True)
        if self.folder.is_dir() and not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _count(self, part: str, pattern: str) -> int:
        return sum(1 for _ in (self.folder / part).rglob(pattern))
