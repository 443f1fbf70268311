"""Models of the future: the same estimator, retrained after what may happen."""

from robust_recourse.futures._model_scenarios import Parameters, Threshold
from robust_recourse.futures._models import FutureModels, listed
from robust_recourse.futures._moved_threshold import MovedThreshold
from robust_recourse.futures._row_scenarios import Arrival, Bootstrap, Deletion, LabelNoise, Seeds, Temporal
from robust_recourse.futures._scenario import Drawn, Scenario
from robust_recourse.futures.jury import Juror, Jury
from robust_recourse.futures.retraining import future_models
from robust_recourse.futures.training import TrainingError

__all__ = [
    "Arrival",
    "Bootstrap",
    "Deletion",
    "Drawn",
    "FutureModels",
    "Juror",
    "Jury",
    "LabelNoise",
    "MovedThreshold",
    "Parameters",
    "Scenario",
    "Seeds",
    "Temporal",
    "Threshold",
    "TrainingError",
    "future_models",
    "listed",
]
