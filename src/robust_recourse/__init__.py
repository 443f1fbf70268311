"""Algorithmic recourse that survives the next model."""

from robust_recourse.actions import ActionSet
from robust_recourse.methods.bayesian import BayesianRecourse, RobustBayesianRecourse
from robust_recourse.models.predictor import ModelError
from robust_recourse.result import Recourse, Recourses, Status

__version__ = "0.1.0"

__all__ = [
    "ActionSet",
    "BayesianRecourse",
    "ModelError",
    "Recourse",
    "Recourses",
    "RobustBayesianRecourse",
    "Status",
    "__version__",
]
