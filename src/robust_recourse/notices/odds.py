"""What worst-case odds of refusal mean, in words."""

from __future__ import annotations

import math
from collections.abc import Callable

from robust_recourse.notices.writing import Writer

__all__ = ["odds_sentence", "odds_text"]

_LEAST, _MOST = 1e-3, 10.0  # beyond these odds only one thing matters: that they are
_NO_MARGIN = "no margin"


def odds_text(odds: float, locale: str | None = None) -> str:
    """Write worst-case odds of refusal in a few words; empty if there are none.

    They are a bound, and stay one: they are rounded towards refusal.

    >>> [odds_text(odds) for odds in (1 / 9, 0.7, 1.0, 2.718, 2_753_233_084_963.0, 1e-9)]
    ['at most 1 to 9', 'at most 1 to 1.4', 'at most 1 to 1', 'at most 2.8 to 1', 'no margin', 'below 1 to 1,000']
    """
    if math.isnan(odds):
        return ""
    if odds >= _MOST:
        return _NO_MARGIN
    writer = Writer(locale=locale)
    if odds < _LEAST:
        return f"below 1 to {writer.text(round(1.0 / _LEAST))}"
    if odds > 1.0:
        return f"at most {writer.text(_rounded(odds, math.ceil))} to 1"
    return f"at most 1 to {writer.text(_rounded(1.0 / odds, math.floor))}"


def odds_sentence(odds: float) -> str:
    """Say what worst-case odds of refusal mean, without capital and full stop; empty if there are none.

    >>> odds_sentence(1 / 9)
    'even in the worst case the odds of refusal are at most 1 to 9'
    >>> odds_sentence(1e12)
    'no margin: the model may change only very little'
    """
    words = odds_text(odds)
    if words == _NO_MARGIN:
        return f"{words}: the model may change only very little"
    return words and f"{'even ' if odds < 1.0 else ''}in the worst case the odds of refusal are {words}"


def _rounded(number: float, towards: Callable[[float], int]) -> float:
    """Round to a whole number from 3 on, else to a tenth; what is one but for rounding errors stays."""
    digits = 0 if number >= 3.0 else 1
    scaled = number * 10**digits
    near = round(scaled)
    whole = near if math.isclose(scaled, near, rel_tol=1e-12) else towards(scaled)
    return float(whole / 10**digits)
