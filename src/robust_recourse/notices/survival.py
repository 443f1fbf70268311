"""What may be said about survival: measured by models apart from the search, or that it was not.

The share of the models that guided a search is no survival: the recourse was chosen so that they accept it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray
from robust_recourse.notices.notice import Notice
from robust_recourse.notices.writing import PERCENT, Writer

__all__ = ["APART", "GUIDES", "NOT_MEASURED", "letter", "of_all", "of_one", "percent"]

NOT_MEASURED = "Survival was not measured"
GUIDES = "the models that guided the search"
APART = "models that took no part in the search"


def percent(share: float, locale: str | None = None) -> str:
    """Write a share as a whole number of percent, never more than it is."""
    return Writer(PERCENT, locale=locale).text(math.floor(100.0 * share + 1e-9))


def of_one(notice: Notice) -> str:
    """Say in sentences what is known about the survival of values that the present model accepts."""
    said = of_all(np.array([True]), np.array([notice.survival_bound]), notice.confidence, notice.locale)
    if math.isnan(notice.jury_share):
        return said
    return f"{said} Of {GUIDES}, {percent(notice.jury_share, notice.locale)} accept these values."


def of_all(valid: BoolArray, bounds: FloatArray, confidence: float = math.nan, locale: str | None = None) -> str:
    """Say in a sentence what is known about the survival of results; nothing where the present model accepts none.

    Parameters
    ----------
    valid : ndarray of bool, shape (n,)
        Which results the present model accepts.
    bounds : ndarray of shape (n,)
        Lower bounds for the share of models apart from the search that accept each; NaN where none was asked.
    confidence : float
        Confidence of each bound; NaN if it is not known.
    locale : str, optional
        Whose signs numbers are written with.
    """
    known, n = bounds[valid & ~np.isnan(bounds)], int(np.count_nonzero(valid))
    if not n:
        return ""
    if not len(known):
        return f"{NOT_MEASURED}."
    one = n == 1
    sure = (
        "" if math.isnan(confidence) else f"with {percent(confidence, locale)} confidence{'' if one else ' for each'}, "
    )
    each = "these values" if one else "each result"
    said = f"{sure}at least {percent(known.min(), locale)} of {APART} accept {each}."
    if len(known) == n:
        return f"Survival: {said}"
    writer = Writer(locale=locale)
    missing = f"{writer.text(n - len(known))} of {writer.text(n)} results"
    return f"{NOT_MEASURED} for {missing}. For the others, {said}"


def letter(chosen: Sequence[Notice]) -> tuple[bool, str]:
    """Say to an applicant what is known about the survival of the options, and whether it was measured."""
    these, locale = "each option" if len(chosen) > 1 else "these values", chosen[0].locale
    bounds = [notice.survival_bound for notice in chosen]
    if not any(map(math.isnan, bounds)):
        least = percent(min(bounds), locale)
        return True, f"We also asked retrained models that took no part in the search: at least {least} accept {these}."
    said = f"{NOT_MEASURED}: we cannot say how many later models will accept {these}."
    shares = [notice.jury_share for notice in chosen]
    if any(map(math.isnan, shares)):
        return False, said
    least = f"{'at least ' if len(shares) > 1 else ''}{percent(min(shares), locale)}"
    return False, f"{said} Of {GUIDES}, {least} accept {these}."
