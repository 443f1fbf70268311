"""What every way in which a model may change has in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar, Self

import numpy as np

from robust_recourse._typing import IntArray
from robust_recourse._validation import check_real
from robust_recourse.futures.recipes import Reseed
from robust_recourse.futures.rows import TrainingData

__all__ = ["Drawn", "Present", "Scenario", "check_pair", "check_part", "number_of"]


@dataclass(frozen=True)
class Drawn:
    """What a model is trained on.

    Attributes
    ----------
    rows : ndarray of int
        Rows of the data.
    codes : ndarray of int, optional
        Their classes, by number; those that they have if None.
    parameters : mapping
        Parameters of the estimator that are changed.
    note : str
        What is special about it.
    """

    rows: IntArray
    codes: IntArray | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class Present:
    """What is there before anything changes: how models are trained, on which data, and what they decide."""

    recipe: Any
    data: TrainingData
    favourable: Any = None
    threshold: float | None = None

    @property
    def level(self) -> float:
        """The probability from which on rows are accepted."""
        return 0.5 if self.threshold is None else self.threshold


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
        for name, value in self._checked().items():
            object.__setattr__(self, name, value)

    def _checked(self) -> Mapping[str, Any]:
        """Check the settings; return those to be replaced by what they were found to be."""
        return {}

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

    def prepare(self, present: Present) -> tuple[TrainingData, Self]:
        """Check the scenario against the present data and estimator.

        Returns
        -------
        data : TrainingData
            All rows that there are.
        scenario : Scenario
            The scenario that draws from them, without what is in `data` now: models are kept under its settings.
        """
        return present.data, self

    def draw(self, rng: np.random.Generator, data: TrainingData) -> Drawn:
        """Draw what one future model is trained on."""
        raise NotImplementedError(f"{type(self).__name__} must say in draw(rng, data) what a model is trained on.")


def check_part(value: Any, name: str) -> float:
    """Return a share that leaves something."""
    share = check_real(value, name, minimum=0.0, strict=True, maximum=1.0)
    if share == 1.0:
        raise ValueError(f"{name} must be less than 1, got 1: no row would be left.")
    return share


def check_pair(values: Any, name: str) -> tuple[float, float]:
    """Return the ends of a range; a number is both."""
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


def _in_words(value: Any) -> str:
    if isinstance(value, tuple):
        low, high = value
        return f"{low} to {high}" if low != high else f"{low}"
    return str(value)
