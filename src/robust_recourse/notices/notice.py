"""What a notice is made of: plain values, one notice for every recourse."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from robust_recourse.notices.writing import Writer

__all__ = ["Change", "Notice", "by_person"]


@dataclass(frozen=True)
class Change:
    """A column that changes.

    Attributes
    ----------
    column : Hashable
        Name of the column.
    kind : str
        "number", "category", "ordered" or "fixed".
    before, after : object
        Its values.
    cost : float
        What the change costs.
    direction : int
        1 if the value rises, -1 if it falls, 0 if its values have no order.
    """

    column: Hashable
    kind: str
    before: Any
    after: Any
    cost: float
    direction: int = 0

    @property
    def follows(self) -> bool:
        """Whether it follows from other changes: what a person does has a price."""
        return self.cost == 0.0


@dataclass(frozen=True)
class Notice:
    """What is to be said about one recourse of one person.

    Attributes
    ----------
    label : Hashable
        Label of the person's row.
    person, rank : int
        Position of the row, and number of the recourse among those of the row, from 1.
    status, reason : str
        How the search ended, and the same in a sentence.
    valid : bool
        Whether the present model accepts `after`.
    cost, worst_case_odds, log_worst_case_odds : float
        NaN where they are not defined.
    before : mapping
        The row as it is, by column.
    after : mapping or None
        The row as it should be; None where there is no recourse.
    changes : tuple of Change
        The columns that change.
    writers : mapping
        What writes the values, by column; those of others are written plainly.
    jury_share, survival_bound, confidence : float
        Share of the models that guided the search that accept `after`, and a lower bound for models that took no part
        in it, at this confidence; NaN where nobody was asked.
    """

    label: Hashable
    person: int
    rank: int
    status: str
    reason: str
    valid: bool
    cost: float
    worst_case_odds: float
    log_worst_case_odds: float
    before: Mapping[Hashable, Any]
    after: Mapping[Hashable, Any] | None
    changes: tuple[Change, ...]
    writers: Mapping[Hashable, Writer] = field(default_factory=dict)
    jury_share: float = math.nan
    survival_bound: float = math.nan
    confidence: float = math.nan

    def writer(self, column: Hashable) -> Writer:
        """Return what writes the values of a column."""
        return self.writers.get(column, Writer())

    @property
    def locale(self) -> str | None:
        """Whose signs the values are written with, and so all other numbers, too."""
        return next((writer.locale for writer in self.writers.values()), None)

    @property
    def needs_nothing(self) -> bool:
        """Whether the row is accepted as it is."""
        return self.valid and not self.changes

    @property
    def recommended(self) -> bool:
        """Whether there are changes that the present model accepts."""
        return self.valid and bool(self.changes)


def by_person(notices: Iterable[Notice]) -> Iterator[tuple[Notice, ...]]:
    """Group the notices, which come person by person."""
    for _, group in groupby(notices, key=lambda notice: notice.person):
        yield tuple(group)
