"""How a search ended."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Status"]


class Status(StrEnum):
    """How the search for a recourse ended."""

    OK = "ok"
    ALREADY_FAVOURABLE = "already favourable"
    AT_THE_EDGE = "at the edge"
    SURE = "sure"
    NEAREST = "nearest accepted row"
    FELL_BACK = "fell back to an accepted iterate"
    NOT_CONVERGED = "not converged"
    ONE_CLASS = "one-class neighbourhood"
    NO_CANDIDATE = "no favourable candidate reachable"
    IMPOSSIBLE = "impossible"
    NOTHING_MAY_CHANGE = "nothing may change"
    INCONSISTENT_MODEL = "inconsistent model"
    REFUSED = "refused by the model"
    NOT_FOUND = "no accepted point found"
    TOO_MANY_CHANGES = "none found with so few changes"
    TIME_LIMIT = "out of time"
    HURRIED = "stopped early"
    OUT_OF_REACH = "promised odds out of reach"
    MARGIN_OUT_OF_REACH = "margin out of reach"
    QUORUM_OUT_OF_REACH = "quorum out of reach"
    SURVIVAL_OUT_OF_REACH = "promised survival out of reach"
