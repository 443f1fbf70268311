"""A histogram: where its bars are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robust_recourse._typing import FloatArray
from robust_recourse.notices.writing import Writer

__all__ = ["Bar", "Histogram", "edges", "histogram"]

_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 640, 190, 20, 22, 48
_FEWEST = 5  # different numbers that are worth a picture
_BINS = 10
_PLAIN = Writer()


class Bar(NamedTuple):
    """A bar, and what stands above it."""

    x: float
    y: float
    width: float
    height: float
    label: str

    @property
    def middle(self) -> float:
        """Where the label is centred."""
        return round(self.x + self.width / 2.0, 1)


class Histogram(NamedTuple):
    """What is drawn: the bars from the left, the marks below them with their places, and all of it in words."""

    bars: list[Bar]
    marks: list[tuple[float, str]]
    told: str
    width: int = _WIDTH
    height: int = _HEIGHT
    left: int = _LEFT
    floor: int = _HEIGHT - _BOTTOM


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


def histogram(numbers: FloatArray, writer: Writer = _PLAIN) -> Histogram | None:
    """Return how the costs are spread; None if there are too few to show."""
    if len(np.unique(numbers)) < _FEWEST:
        return None
    marks = edges(numbers)
    counts, _ = np.histogram(numbers, marks)
    width, floor = (_WIDTH - 2.0 * _LEFT) / len(counts), _HEIGHT - _BOTTOM
    bars = []
    for k, count in enumerate(counts):
        height = (floor - _TOP) * float(count) / counts.max()
        x, y = _LEFT + k * width + 1.0, floor - height
        label = writer.text(count) if count else ""
        bars.append(Bar(round(x, 1), round(y, 1), round(width - 2.0, 1), round(height, 1), label))
    written = [writer.text(float(mark)) for mark in marks]
    told = [
        f"{low} to {high}: {writer.text(count)}" for low, high, count in zip(written, written[1:], counts, strict=False)
    ]
    places = [(round(_LEFT + k * width, 1), mark) for k, mark in enumerate(written)]
    return Histogram(bars, places, ", ".join(told))
