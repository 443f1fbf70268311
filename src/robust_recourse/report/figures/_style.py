"""What all figures share: colours, settings, and a legend with notes outside of the panels."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath

__all__ = ["BLUE", "GREEN", "GREY", "INK", "PALE_BLUE", "PALE_GREEN", "RED", "finish", "in_style"]

BLUE, GREEN, RED, INK, GREY = "#1F5FAF", "#2FA873", "#D7261E", "#1A1A1A", "#666666"
PALE_BLUE, PALE_GREEN = "#D6E4F5", "#E3F4E6"
_SMALL = 9.5  # points of a legend, and of the notes
_WIDEST = 0.88  # of the width of a figure: letters are up to a tenth wider where they are drawn with few dots
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
    "legend.fontsize": _SMALL,
    "legend.title_fontsize": _SMALL,
}


def in_style() -> AbstractContextManager[None]:
    """Draw in the style of all figures, whatever the user's own settings are."""
    return rc_context(_STYLE)


def finish(figure: Figure, handles: list[Artist], title: str, notes: list[str], *, beside: bool = False) -> None:
    """Add title, legend and notes, all outside of the panels."""
    figure.suptitle(title, x=0.01, y=1.0 - 0.08 / figure.get_figheight(), ha="left", va="top")
    text = _fill(" ".join(note for note in notes if note), figure.get_figwidth())
    columns = (len(handles) + 1) // 2
    if beside:
        figure.legend(handles=handles, loc="outside right upper")
        handles = []
    figure.legend(handles=handles, loc="outside lower left", ncols=columns, title=text, alignment="left", borderpad=0.8)
    for _ in range(2):  # with panels of a fixed aspect the layout needs more than one pass
        figure.draw_without_rendering()


def _fill(text: str, width: float) -> str:
    """Break a text into lines that fit into a figure of so many inches, with however many dots it is drawn."""
    font, path, most = FontProperties(size=_SMALL), TextToPath(), 72.0 * _WIDEST * width
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".lstrip()
        if path.get_text_width_height_descent(longer, font, ismath=False)[0] <= most:
            lines[-1] = longer
        else:
            lines.append(word)
    return "\n".join(lines)
