"""What every way in which a model may change has in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar

import numpy as np

from robust_recourse._validation import check_real
from robust_recourse.futures._recipes import Reseed
from robust_recourse.futures._rows import TrainingData
from robust_recourse.futures._training import Drawn, Plan, Present

__all__ = ["Scenario", "check_pair", "check_share", "number_of", "store"]


@dataclass(frozen=True)
class Scenario:
    """What may happen to a model; subclasses say what each future model is trained on.

    A scenario of your own gives its ``kind`` a name and draws rows:

    >>> @dataclass(frozen=True)
    ... class Half(Scenario):
    ...     kind = "half"
    ...     def draw(self, rng, data):
    ...         return Drawn(rng.permutation(len(data))[: len(data) // 2])
    >>> Half().name
    'half'

    Parameters
    ----------
    label : str, optional
        What to call it; the kind, with the settings that are no defaults, if None.
    """

    kind: ClassVar[str]
    reseed: ClassVar[Reseed] = "all"

    label: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.label is not None and (not isinstance(self.label, str) or not self.label):
            raise TypeError(f"{type(self).__name__}: label must be a text, got {self.label!r}.")
        self._check()

    def _check(self) -> None:
        """Check the settings."""

    @property
    def name(self) -> str:
        """What the scenario is called. Scenarios of different names draw independently of each other."""
        if self.label is not None:
            return self.label
        settings = [
            f"{known.name} {_in_words(getattr(self, known.name))}"
            for known in fields(self)
            if known.default is not MISSING and getattr(self, known.name) != known.default
        ]
        return f"{self.kind} ({', '.join(settings)})" if settings else self.kind

    def prepare(self, present: Present) -> tuple[TrainingData, Plan]:
        """Check the scenario against the present data and estimator; return all rows that there are, and who draws."""
        return present.data, self

    def draw(self, rng: np.random.Generator, data: TrainingData) -> Drawn:
        """Draw what one future model is trained on."""
        raise NotImplementedError(f"{type(self).__name__} must say in draw(rng, data) what a model is trained on.")


def check_share(value: Any, name: str) -> float:
    share = check_real(value, name, minimum=0.0, strict=True, maximum=1.0)
    if share == 1.0:
        raise ValueError(f"{name} must be less than 1, got 1: no row would be left.")
    return share


def check_pair(values: Any, name: str) -> tuple[float, float]:
    if isinstance(values, float | int | np.number):
        values = (values, values)
    if not isinstance(values, Sequence | np.ndarray) or len(values) != 2:
        raise TypeError(f"{name} must be a number or a pair (low, high), got {values!r}.")
    low, high = (check_real(value, name) for value in values)
    if low > high:
        raise ValueError(f"{name} must have its lower end first, got ({low:g}, {high:g}).")
    return low, high


def number_of(share: float, most: int, rows: int) -> int:
    """Return how many of the rows a share is: at least one and not more than `most`."""
    return min(max(1, round(share * rows)), most)


def store(scenario: Scenario, **checked: Any) -> None:
    """Replace settings by what they were found to be."""
    for name, value in checked.items():
        object.__setattr__(scenario, name, value)


def _in_words(value: Any) -> str:
    if isinstance(value, tuple):
        low, high = value
        return f"{low} to {high}" if low != high else f"{low}"
    return str(value)
