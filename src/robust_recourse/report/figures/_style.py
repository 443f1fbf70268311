"""What all figures share: colours, settings, and a legend with notes outside of the panels."""

from __future__ import annotations

import textwrap
from contextlib import AbstractContextManager
from typing import Any

from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.figure import Figure

__all__ = ["BLUE", "GREEN", "GREY", "INK", "PALE_BLUE", "PALE_GREEN", "RED", "finish", "in_style"]

BLUE, GREEN, RED, INK, GREY = "#1F5FAF", "#2FA873", "#D7261E", "#1A1A1A", "#666666"
PALE_BLUE, PALE_GREEN = "#D6E4F5", "#E3F4E6"
_STYLE: dict[Any, Any] = {
    "text.usetex": False,
    "text.parse_math": False,
    "text.color": INK,
    "axes.titlesize": 10.0,
    "axes.labelsize": 9.5,
    "axes.labelcolor": INK,
    "axes.edgecolor": "#999999",
    "axes.facecolor": "white",
    "axes.grid": False,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelsize": 9.0,
    "ytick.labelsize": 9.0,
    "figure.facecolor": "white",
    "figure.titlesize": 12.5,
    "figure.titleweight": "bold",
    "legend.frameon": False,
    "legend.fontsize": 9.5,
    "legend.title_fontsize": 9.5,
}


def in_style() -> AbstractContextManager[None]:
    """Draw in the style of all figures, whatever the user's own settings are."""
    return rc_context(_STYLE)


def finish(figure: Figure, handles: list[Artist], title: str, notes: list[str], *, beside: bool = False) -> None:
    """Add title, legend and notes, all outside of the panels."""
    figure.suptitle(title, x=0.01, y=1.0 - 0.08 / figure.get_figheight(), ha="left", va="top")
    text = textwrap.fill(" ".join(note for note in notes if note), 125)
    columns = (len(handles) + 1) // 2
    if beside:
        figure.legend(handles=handles, loc="outside right upper")
        handles = []
    figure.legend(handles=handles, loc="outside lower left", ncols=columns, title=text, alignment="left", borderpad=0.8)
    for _ in range(2):  # with panels of a fixed aspect the layout needs more than one pass
        figure.draw_without_rendering()
