"""What can go wrong with a data set, beyond its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robust_recourse.cluster.progress import Tally

__all__ = ["ClusterLostError", "IncompleteError", "OtherJobError"]

_SHOWN = 5  # reasons in a message


class IncompleteError(RuntimeError):
    """Some of the input could not be explained; everything else is finished and kept.

    Attributes
    ----------
    reasons : dict
        Why, by the name of the file or part.
    tally : Tally
        What is finished.
    """

    def __init__(self, folder: str, reasons: dict[str, str], tally: Tally) -> None:
        self.folder, self.reasons, self.tally = folder, reasons, tally
        shown = [f"{name}: {why}" for name, why in list(reasons.items())[:_SHOWN]]
        more = f"; and {len(reasons) - _SHOWN} more" if len(reasons) > _SHOWN else ""
        super().__init__(
            f"{folder} is not complete, because of {'; '.join(shown)}{more}. Everything else is finished and kept: "
            "correct what is named, and run the same again."
        )

    def __reduce__(self) -> tuple[type, tuple[str, dict[str, str], Tally]]:
        return type(self), (self.folder, self.reasons, self.tally)


class OtherJobError(ValueError):
    """The folder has results of another method, input or settings; the message names the difference."""


class ClusterLostError(ConnectionError):
    """The scheduler went away; what is finished is kept."""
