"""A histogram as SVG."""

from __future__ import annotations

import numpy as np

from robust_recourse._typing import FloatArray
from robust_recourse.notices._markup import Markup, element
from robust_recourse.notices.values import text

__all__ = ["edges", "histogram"]

_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 640, 190, 20, 22, 48
_FEWEST = 5  # different numbers that are worth a picture
_BINS = 10


def edges(numbers: FloatArray) -> FloatArray:
    """Return about ten equal bins with round edges that hold all the numbers.

    >>> edges(np.array([0.13, 0.2, 0.47]))
    array([0.1 , 0.15, 0.2 , 0.25, 0.3 , 0.35, 0.4 , 0.45, 0.5 ])
    """
    rough = (numbers.max() - numbers.min()) / _BINS
    power = 10.0 ** np.floor(np.log10(rough))
    step = power * min(round_number for round_number in (1.0, 2.0, 5.0, 10.0) if round_number * power >= rough)
    first, last = np.floor(numbers.min() / step), np.ceil(numbers.max() / step)
    marks: FloatArray = np.round(np.arange(first, last + 1.0) * step, int(max(0.0, 1.0 - np.log10(step))) + 1)
    return marks


def histogram(numbers: FloatArray) -> Markup:
    """Return a picture of how the costs are spread; empty if there are too few to show."""
    if len(np.unique(numbers)) < _FEWEST:
        return Markup("")
    marks = edges(numbers)
    counts, _ = np.histogram(numbers, marks)
    width = (_WIDTH - 2.0 * _LEFT) / len(counts)
    floor = _HEIGHT - _BOTTOM
    parts = []
    for k, count in enumerate(counts):
        x, height = _LEFT + k * width, (floor - _TOP) * count / counts.max()
        box = {
            "x": f"{x + 1:.1f}",
            "y": f"{floor - height:.1f}",
            "width": f"{width - 2:.1f}",
            "height": f"{height:.1f}",
        }
        parts.append(element("rect", fill="#2f5f94", **box))
        if count:
            parts.append(_label(x + width / 2.0, floor - height - 5.0, f"{count:,}"))
    parts += [_label(_LEFT + k * width, floor + 18.0, text(float(mark))) for k, mark in enumerate(marks)]
    parts.append(element("line", x1=_LEFT, x2=_WIDTH - _LEFT, y1=floor, y2=floor, stroke="#1c2430"))
    parts.append(_label(_WIDTH / 2.0, floor + 40.0, "cost of the cheapest recourse"))
    told = ", ".join(
        f"{text(float(low))} to {text(float(high))}: {count:,}"
        for low, high, count in zip(marks[:-1], marks[1:], counts, strict=True)
    )
    drawing = {"viewBox": f"0 0 {_WIDTH} {_HEIGHT}", "role": "img"}
    return element("svg", *parts, aria_label=f"Histogram of the costs. Number of rows: {told}.", **drawing)


def _label(x: float, y: float, words: str) -> Markup:
    return element("text", words, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor="middle")
