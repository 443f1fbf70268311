r"""Bisection of many lines at once, with the next questions asked ahead where few lines are left.

A line is refused at its *low* position and accepted at its *high* one, and the bracket between the two is halved. A
call of a model costs much whatever its size, so that for few lines the questions of the next :math:`b` halvings are
asked in one call, :math:`2^b - 1` for each line. Only the answers that a halving one by one would have asked for are
used and counted: the result does not depend on how many lines there are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.sampling.asking import Ahead, Ask

__all__ = ["Lines", "bisect"]

_TOGETHER = 1024  # questions up to which a call is asked ahead
_MOST_LEVELS = 5
_MOST_HALVINGS = 60


class Lines(NamedTuple):
    """Lines of people: where they are, and from which position on they exist."""

    people: IntArray  # (n,)
    begin: FloatArray  # (n,): nothing on a line is before its beginning
    point: Callable[[IntArray, FloatArray], FloatArray]  # points of lines at positions


def bisect(
    ask: Ask,
    lines: Lines,
    low: FloatArray,
    high: FloatArray,
    narrow: Callable[[IntArray, FloatArray, FloatArray], BoolArray],
    least: FloatArray | None = None,
    together: int = _TOGETHER,
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Halve the brackets of lines until they are narrow.

    Parameters
    ----------
    ask : Ask
        The model.
    lines : Lines
        The lines.
    low, high : ndarray of shape (n,)
        Their brackets.
    narrow : callable
        ``narrow(which, low, high)`` says which brackets of the lines `which` are narrow enough.
    least : ndarray, optional
        For every person a position at which a line is known to be accepted. The lines of a person then compete: one
        whose bracket is beyond another's, or beyond the least, is dropped.
    together : int
        Questions up to which a call is asked ahead.

    Returns
    -------
    low, high : ndarray of shape (n,)
        The brackets in the end.
    left : ndarray of bool, shape (n,)
        The lines that were not dropped.
    """
    low, high = np.where(high <= lines.begin, high, low), high.copy()
    floor = None if least is None else least.copy()
    left: BoolArray = np.ones(len(low), dtype=bool)

    def open_lines(which: IntArray) -> IntArray:
        if floor is not None:
            np.minimum.at(floor, lines.people[which], high[which])
            best = floor[lines.people[which]]
            left[which] &= (low[which] < best) | (high[which] <= best)
            which = which[left[which]]
        return which[~narrow(which, low[which], high[which])]

    going, halvings = open_lines(np.arange(len(low))), 0
    while len(going) and halvings < _MOST_HALVINGS:
        most = min(_MOST_LEVELS, _MOST_HALVINGS - halvings)
        levels = int(np.clip(np.log2(together / len(going) + 1.0), 1, most))
        answers, question = _ahead(ask, lines, going, low[going], high[going], narrow, levels)
        node = np.zeros(len(low), dtype=np.int64)
        place = np.empty(len(low), dtype=np.int64)
        place[going] = np.arange(len(going))
        for _ in range(levels):
            number = question[place[going], node[going]]
            answers.count(number)
            yes = answers.accepted[number]
            low[going], high[going] = _halved(low[going], high[going], lines.begin[going], yes)
            node[going] = 2 * node[going] + np.where(yes, 1, 2)
            going = open_lines(going)
        halvings += levels
    return low, high, left


def _ahead(
    ask: Ask,
    lines: Lines,
    which: IntArray,
    low: FloatArray,
    high: FloatArray,
    narrow: Callable[[IntArray, FloatArray, FloatArray], BoolArray],
    levels: int,
) -> tuple[Ahead, IntArray]:
    """Ask the questions of the next halvings; return the answers, and the number of each question, -1 for none.

    The questions of a line are a heap: after node k comes 2 k + 1 if it is accepted, else 2 k + 2.
    """
    n, size = len(which), 2**levels - 1
    lows, highs = np.empty((n, size)), np.empty((n, size))
    lows[:, 0], highs[:, 0] = low, high
    begin = lines.begin[which]
    for level in range(levels - 1):
        first, end = 2**level - 1, 2 ** (level + 1) - 1
        for yes, child in ((True, 2 * first + 1), (False, 2 * first + 2)):
            children = slice(child, child + 2 * (end - first), 2)
            lows[:, children], highs[:, children] = _halved(
                lows[:, first:end], highs[:, first:end], begin[:, None], np.array(yes)
            )
    every = np.repeat(which, size)
    wanted = ~narrow(every, lows.ravel(), highs.ravel())
    middle = _middle(lows, highs, begin[:, None]).ravel()[wanted]
    question = np.full(n * size, -1)
    question[wanted] = np.arange(len(middle))
    answers = ask.ahead(lines.point(every[wanted], middle), lines.people[every[wanted]])
    return answers, question.reshape(n, size)


def _middle(low: FloatArray, high: FloatArray, begin: FloatArray) -> FloatArray:
    return np.maximum(0.5 * (low + high), np.minimum(begin, high))


def _halved(low: FloatArray, high: FloatArray, begin: FloatArray, yes: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Return the brackets after an answer at their middles; one that ends where its line begins is closed."""
    middle = _middle(low, high, begin)
    low, high = np.where(yes, low, middle), np.where(yes, middle, high)
    return np.where(high <= begin, high, low), high
