"""The folder in which a command keeps models and measurements until everything is finished."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from robust_recourse.checkpoints import Store

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
        self._stores = {"models": Store(folder / "models"), "measurements": Store(folder / "measured")}

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """Be the only command that writes there, and say after an interruption what is kept."""
        with Store(self.folder).writing():
            try:
                yield
            except KeyboardInterrupt as stop:
                counts = {what: len(store.pieces()) for what, store in self._stores.items()}
                if not any(counts.values()):
                    raise type(stop)("nothing is finished, and nothing is kept.") from None
                kept = " and ".join(f"{count} {what}" for what, count in counts.items() if count)
                raise type(stop)(
                    f"{kept} are finished and kept in {self.folder}. Run the same command again to continue."
                ) from None

    def forget(self) -> None:
        """Remove models and measurements, and the folder if there is nothing else in it."""
        for store in self._stores.values():
            store.remove(store.pieces())
        for folder in (*(store.folder for store in self._stores.values()), self.folder):
            with suppress(OSError):  # something else is in it, or it is not there
                folder.rmdir()
