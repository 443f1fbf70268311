"""Algorithmic recourse that survives the next model."""

from robust_recourse.actions import ActionSet
from robust_recourse.audits import audit
from robust_recourse.certificates import certify
from robust_recourse.futures import Juror, Jury, future_models
from robust_recourse.methods.bayesian import BayesianRecourse, RobustBayesianRecourse
from robust_recourse.methods.betarce import BetaRCE
from robust_recourse.methods.nearest import NearestAccepted
from robust_recourse.methods.roar import ROAR
from robust_recourse.methods.wachter import Wachter
from robust_recourse.models.predictor import ModelError
from robust_recourse.result import FutureValidity, Provenance, Recourse, Recourses, Status
from robust_recourse.saving import UntrustedModelError, load, save
from robust_recourse.tuning import TunedRecourse

__version__ = "0.1.0"

__all__ = [
    "ROAR",
    "ActionSet",
    "BayesianRecourse",
    "BetaRCE",
    "FutureValidity",
    "Juror",
    "Jury",
    "ModelError",
    "NearestAccepted",
    "Provenance",
    "Recourse",
    "Recourses",
    "RobustBayesianRecourse",
    "Status",
    "TunedRecourse",
    "UntrustedModelError",
    "Wachter",
    "__version__",
    "audit",
    "certify",
    "future_models",
    "load",
    "save",
]
