"""What a row must satisfy in a search: the consent of the present model, a margin, the votes of a jury.

What *decides*, and what ``valid`` means, is the present model alone; a criterion asks for more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, Protocol

import numpy as np

from robust_recourse._typing import BoolArray, IntArray
from robust_recourse.models.errors import ModelError
from robust_recourse.models.predictor import Predictor, Probabilities
from robust_recourse.tables.unpacked import unpacked
from robust_recourse.tables.values import take

__all__ = ["Consent", "Criterion", "Margin", "Rule", "Votes", "naming"]

Rule = Literal["quorum", "mean"]

# Multiples of it add up without rounding, so that sums do not depend on their order.
_GRAIN = 2.0**-40
_FADING = 0.9  # of what is remembered of refusals, from one question to the next


class Criterion(Protocol):
    """What a row must satisfy: the consent of a model, or more."""

    def __call__(self, X: Any, rows: IntArray, /) -> BoolArray:
        """Return which rows of `X` satisfy it; `rows` are their numbers in messages.

        They are as a model gets them, or :class:`Unpacked`, which :func:`packed` turns into that.
        """
        ...


class Margin:
    """The consent of a model with a probability of at least a margin.

    Parameters
    ----------
    model : object or callable
        A model with probabilities.
    margin : float
        The least probability of the favourable class.
    **decides
        The other parameters of :class:`robust_recourse.models.predictor.Predictor`.
    """

    def __init__(self, model: Any, margin: float, **decides: Any) -> None:
        self._labels, self._probabilities = Predictor(model, **decides), Probabilities(model, **decides)
        self._margin = margin

    def __call__(self, X: Any, rows: IntArray) -> BoolArray:
        """Return which rows have it."""
        verdicts = self._probabilities.verdicts(X, rows)
        accepted: BoolArray = verdicts.accepted & (verdicts.probability >= self._margin)
        left = np.flatnonzero(accepted)
        # Labels of their own decide, as those of support vector machines, which are not what their probabilities say.
        if len(left) and not self._labels.asks_as(self._probabilities):
            accepted[left] = self._labels(take(X, left), rows[left])
        return accepted


class Votes:
    r"""The votes of a jury: at least a share of :math:`k` jurors accepts, or their mean probability is at least that.

    Jurors are asked one block after the other, and only about rows that are not decided yet. With votes
    :math:`v_i \in [0, 1]` and those of :math:`j` jurors known, the verdict is

    .. math:: \text{yes if } \sum_{i \le j} v_i \ge q k, \qquad \text{no if } \sum_{i \le j} v_i + k - j < q k,

    whatever the others say; so that it is that of all votes, for any blocks and any order. A yes takes nearly all
    jurors and a no few of them, if it is the right ones: those who refused most of what was refused lately come first.

    Parameters
    ----------
    jurors : sequence of callable
        Each returns its vote on every row, ``juror(X, rows)``: booleans, or probabilities. They are asked in this order
        as long as nothing was refused.
    quorum : float
        The share :math:`q`.
    block : int
        How many are asked before rows that are decided are left out.
    """

    def __init__(self, jurors: Sequence[Any], quorum: float, block: int = 1) -> None:
        self._jurors, self._block = tuple(jurors), block
        # Rounded down by less than one vote in a million: 0.9 * 20 is 18, not a bit more.
        self._need = np.floor((quorum * len(self._jurors) - 1e-9) / _GRAIN) * _GRAIN
        self._refusals = np.zeros(len(self._jurors))  # of every juror, among rows that were refused

    def __call__(self, X: Any, rows: IntArray) -> BoolArray:
        """Return which rows have the quorum."""
        k, order = len(self._jurors), np.argsort(-self._refusals, kind="stable")
        yes, left, votes = np.zeros(len(rows), dtype=bool), np.arange(len(rows)), np.zeros(len(rows))
        said, X = [], unpacked(X)
        for first in range(0, k, self._block):
            block = order[first : first + self._block]
            some = X if len(left) == len(rows) else take(X, left)
            for number in block:
                vote = np.asarray(self._jurors[number](some, rows[left]), dtype=float)
                votes[left] += np.floor(vote / _GRAIN) * _GRAIN
                said.append((number, left, vote))
            known = votes[left]
            passed = known >= self._need
            yes[left[passed]] = True
            left = left[~passed & (known + (k - first - len(block)) >= self._need)]
            if not len(left):
                break
        self._refusals *= _FADING
        for number, asked, vote in said:
            self._refusals[number] += (1.0 - vote)[~yes[asked]].sum()
        return yes


class Consent:
    """The consent of the present model and of a jury, which is asked about what the model accepts."""

    def __init__(self, present: Criterion, votes: Criterion) -> None:
        self._present, self._votes = present, votes

    def __call__(self, X: Any, rows: IntArray) -> BoolArray:
        """Return which rows have both."""
        X = unpacked(X)
        accepted = self._present(X, rows).copy()
        left = np.flatnonzero(accepted)
        if len(left):
            accepted[left] = self._votes(X if len(left) == len(rows) else take(X, left), rows[left])
        return accepted


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Say of which of several models an error speaks."""
    try:
        yield
    except (ModelError, TypeError, ValueError) as error:
        kind = next(kind for kind in (ModelError, TypeError, ValueError) if isinstance(error, kind))
        raise kind(f"{what}: {error}") from error
