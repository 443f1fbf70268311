"""Recourses as one table of pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from robust_recourse import notices
from robust_recourse.tables.foreign import to_pandas

if TYPE_CHECKING:
    from robust_recourse.result._entries import Entries

__all__ = ["frame_of"]


def frame_of(found: Entries, *, several: bool, before: int = 0) -> pd.DataFrame:
    """Return the columns of the recourses, then what is known about each entry; see ``Recourses.to_frame``.

    Parameters
    ----------
    found : Entries
        The recourses, maybe those of a part of many people.
    several : bool
        Whether any of all people has several recourses, so that columns must tell whose each one is.
    before : int
        Number of people before them.
    """
    frame = to_pandas(found.x)
    frame = frame if isinstance(frame, pd.DataFrame) else pd.DataFrame(frame)
    asked = _asked(found)
    extra: dict[str, Any] = {
        **({"person": found.person + before, "rank": found.rank} if several else {}),
        "cost": found.cost,
        "budget": found.budget,
        "valid": found.valid,
        "status": _texts([str(status) for status in found.status]),
        "reason": _texts(found.reason.tolist()),
        "worst_case_odds": found.worst_case_odds,
        "n_queries": found.n_queries,
        **{name: value for name, value in found.consent.items() if name in asked},
    }
    return notices.beside(frame, extra)


def _texts(values: list[str]) -> Any:
    """Return texts in the type that pandas gives them, also where there are none."""
    return pd.Series([*values, ""]).array[:-1]


def _asked(found: Entries) -> set[str]:
    """Return what retrained models were asked about, also where there is nobody to ask about."""
    makers = found.provenance if isinstance(found.provenance, tuple) else (found.provenance,)
    juries = [maker.parameters.get("jury") for maker in makers if maker is not None]
    told = {name for name, value in found.consent.items() if not np.isnan(value).all()}
    told |= {"jury_share"} if any(juries) else set()
    return told | ({"survival_bound"} if any(jury.get("check") for jury in juries if jury) else set())
