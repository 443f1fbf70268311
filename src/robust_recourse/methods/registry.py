"""The methods of the library, by the names that commands know them by."""

from __future__ import annotations

from robust_recourse.methods.base import RecourseMethod
from robust_recourse.methods.bayesian import BayesianRecourse, RobustBayesianRecourse
from robust_recourse.methods.betarce import BetaRCE
from robust_recourse.methods.nearest import NearestAccepted
from robust_recourse.methods.roar import ROAR
from robust_recourse.methods.wachter import Wachter

__all__ = ["METHODS"]

METHODS: dict[str, type[RecourseMethod]] = {
    "robust": RobustBayesianRecourse,
    "bayesian": BayesianRecourse,
    "wachter": Wachter,
    "roar": ROAR,
    "nearest": NearestAccepted,
    "betarce": BetaRCE,
}
