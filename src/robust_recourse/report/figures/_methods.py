"""A colour and a marker for every method, the same in all figures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import NamedTuple

__all__ = ["MethodStyle", "styles_of"]


class MethodStyle(NamedTuple):
    """How a method is drawn.

    Attributes
    ----------
    colour : str
        Any colour that matplotlib knows.
    marker : str
        Any marker that matplotlib knows.
    emphasised : bool
        Whether the method is drawn larger and above the others.
    """

    colour: str
    marker: str
    emphasised: bool = False


# The colours of Okabe and Ito can be told apart with every common kind of colour vision; yellow is too pale for a line.
_KNOWN: list[tuple[str, MethodStyle]] = [
    (r"\brbr\b|robust ?bayes", MethodStyle("#D55E00", "o", True)),
    (r"wachter", MethodStyle("#000000", "*")),
    (r"nearest", MethodStyle("#666666", "X")),
    (r"limels", MethodStyle("#009E73", "^")),
    (r"lime", MethodStyle("#0072B2", "s")),
    (r"bayes|kde", MethodStyle("#CC79A7", "v")),
]
_SPARE_COLOURS = ("#E69F00", "#56B4E9", "#882255", "#999933", "#332288")
_SPARE_MARKERS = ("D", "P", "<", "p", "h", ">", "d")


def styles_of(methods: Sequence[str], given: Mapping[str, MethodStyle] | None = None) -> dict[str, MethodStyle]:
    """Give every method a style: the given one, the one that its name is known for, or one that is still free.

    Examples
    --------
    >>> styles_of(["Wachter", "LIME-ROAR", "other"])["Wachter"]
    MethodStyle(colour='#000000', marker='*', emphasised=False)
    """
    spare = zip(cycle(_SPARE_COLOURS), cycle(_SPARE_MARKERS), strict=False)
    styles: dict[str, MethodStyle] = {}
    for method in methods:
        name = re.sub(r"[\W_]+", " ", method.lower())
        style = next((style for pattern, style in _KNOWN if re.search(pattern, name)), None)
        if given is not None and method in given:
            style = MethodStyle(*given[method])
        elif style is None or style in styles.values():
            # A second variant of a known method keeps its emphasis.
            style = MethodStyle(*next(spare), emphasised=style is not None and style.emphasised)
        styles[method] = style
    return styles
