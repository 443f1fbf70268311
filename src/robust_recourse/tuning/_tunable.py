"""What tuning needs of a method."""

from __future__ import annotations

from typing import Any, Protocol, Self

from robust_recourse._typing import Unseen
from robust_recourse.result import Recourses

__all__ = ["Tunable"]


class Tunable(Protocol):
    """A method that can be tuned: an estimator of recourses with the parameters of ``robust_recourse.tuning.TUNED``.

    It may do without ambiguity radii, `epsilon_0` and `epsilon_1`. ``sklearn.base.clone`` copies it, and the copy has
    the same model.

    Attributes
    ----------
    model : object or callable
        The present model.
    favourable, threshold
        What it decides.
    random_state : int, Generator, RandomState or None
        Seed.
    sampling_radius : float or None
        Radius of a neighbourhood, as it was given.
    radius_ : float
        The same as a length, after `fit`.
    """

    model: Any
    favourable: Any
    threshold: float | None
    random_state: Any
    sampling_radius: float | None
    radius_: float

    def fit(self, X: Any) -> Self:
        """Learn from the training rows."""

    def read(self, X: Any, name: str) -> Any:
        """Read rows to explain; `name` is what messages call them."""

    def explain(
        self, X: Any, n_recourses: int = 1, time_limit: float | None = None, *, unseen: Unseen = "warn"
    ) -> Recourses:
        """Find recourses for every row."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""

    def set_params(self, **params: Any) -> Self:
        """Change parameters."""
