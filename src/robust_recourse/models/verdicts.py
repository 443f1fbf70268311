r"""What the answers of a model say about acceptance, on whatever scale they are.

==========  ========================================  ===============================  =================================
scale       value :math:`v`                           level :math:`l`                  score
==========  ========================================  ===============================  =================================
``share``   probability of the favourable class       one half, or the threshold       log odds of v less those of l
``rival``   the same, of one of many classes          the largest other probability    :math:`\log v - \log l`
``score``   a real number, negated if less is better  the threshold, in the same way   :math:`v - l`
==========  ========================================  ===============================  =================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import expit, logit

from robust_recourse._typing import BoolArray, FloatArray

__all__ = ["Verdicts"]

_LEAST = float(np.finfo(float).tiny)  # probabilities are kept this far from 0,
_MOST = 1.0 - float(np.finfo(float).epsneg)  # and this far from 1


@dataclass(frozen=True)
class Verdicts:
    """Answers to many rows, each beside the level that decides about it.

    Attributes
    ----------
    value : ndarray of shape (m,)
        More is better for the person.
    level : ndarray of shape (m,) or float
        A value above it is accepted.
    scale : {"share", "rival", "score"}
        What both are.
    reaches : bool
        Whether the level itself is accepted: a threshold is, one half and a tie are not.
    column : int
        The output of the model that the value was read from.
    sign : float
        -1 if more of that output is worse.
    """

    value: FloatArray
    level: FloatArray | float
    scale: Literal["share", "rival", "score"] = "share"
    reaches: bool = False
    column: int = 0
    sign: float = 1.0

    @property
    def accepted(self) -> BoolArray:
        """Which rows are accepted."""
        accepted: BoolArray = self.value >= self.level if self.reaches else self.value > self.level
        return accepted

    @property
    def probability(self) -> FloatArray:
        """The probability of the favourable class; scores say 1 for accepted and 0 for refused."""
        return self.accepted.astype(float) if self.scale == "score" else np.clip(self.value, 0.0, 1.0)

    @property
    def acceptance(self) -> FloatArray:
        """The probability moved so that one half decides: the same if it does already, 0 and 1 for scores."""
        if self.scale == "rival":
            return self.value / (self.value + self.level)
        if self.scale == "score" or self.level == 0.5:
            return self.probability
        moved: FloatArray = expit(self.score)
        return moved

    @property
    def score(self) -> FloatArray:
        """Positive where accepted and negative where refused, see the module."""
        if self.scale == "score":
            return self.value - self.level
        value = np.clip(self.value, _LEAST, _MOST)
        if self.scale == "rival":
            return np.log(value) - np.log(np.maximum(self.level, _LEAST))
        odds: FloatArray = logit(value) - logit(self.level)
        return odds
