"""Settings that keep a promised future validity."""

from robust_recourse.tuning._families import TUNED
from robust_recourse.tuning._tunable import Tunable
from robust_recourse.tuning._tuning import Tuning
from robust_recourse.tuning.tuned import FEWEST_PEOPLE, TunedRecourse

__all__ = ["FEWEST_PEOPLE", "TUNED", "Tunable", "TunedRecourse", "Tuning"]
