"""The entries of a result: what is known about each, some of them, several results as one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self, overload

import numpy as np
import pandas as pd

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.notices.reading import Columns, orders_of
from robust_recourse.notices.survival import of_all
from robust_recourse.result._parts import CONSENT, TABLES, VECTORS, concatenated, numbered, places_of, same
from robust_recourse.result.provenance import Provenance
from robust_recourse.result.recourse import Recourse, odds_of
from robust_recourse.result.trace import Trace
from robust_recourse.tables.foreign import is_frame
from robust_recourse.tables.values import row_reader, take

__all__ = ["Entries"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Entries:
    """The entries of :class:`robust_recourse.Recourses`, which says what they hold."""

    x: Any
    boundary: Any
    cost: FloatArray
    budget: FloatArray
    valid: BoolArray
    status: np.ndarray[Any, np.dtype[np.object_]]
    reason: np.ndarray[Any, np.dtype[np.object_]]
    log_worst_case_odds: FloatArray
    n_queries: IntArray
    x0: Any
    person: IntArray
    rank: IntArray
    column_costs: FloatArray
    kinds: tuple[str, ...]
    orders: Mapping[Hashable, Sequence[Any]] = field(default_factory=dict)
    units: Mapping[Hashable, str] = field(default_factory=dict)
    digits: Mapping[Hashable, int] = field(default_factory=dict)
    favourable: Any = None
    threshold: float | None = None
    provenance: Provenance | tuple[Provenance, ...] | None = None
    jury_share: FloatArray = field(default_factory=lambda: np.empty(0))
    survival_bound: FloatArray = field(default_factory=lambda: np.empty(0))
    _traces: tuple[Trace | None, ...] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name in CONSENT:
            if len(getattr(self, name)) != len(self.status):
                object.__setattr__(self, name, np.full(len(self.status), np.nan))

    @property
    def worst_case_odds(self) -> FloatArray:
        """Worst-case posterior odds of refusal at the recourses."""
        return odds_of(self.log_worst_case_odds)

    @property
    def consent(self) -> dict[str, FloatArray]:
        """What retrained models say to the entries, by the name of the measure."""
        return {name: getattr(self, name) for name in CONSENT}

    @property
    def _survival(self) -> str:
        """What is known about survival, in a sentence: bounds by models apart from the search, or that there are none.

        Nothing where the present model accepts no entry. The share of the models that guided the search is no survival.
        """
        return of_all(np.asarray(self.valid, dtype=bool), self.survival_bound, self._confidence)

    @property
    def _confidence(self) -> float:
        """The confidence of the bounds; NaN if it is not known, or not the same for all."""
        makers = self.provenance if isinstance(self.provenance, tuple) else (self.provenance,)
        juries = [maker.parameters.get("jury") for maker in makers if maker is not None]
        known = {jury["confidence"] for jury in juries if isinstance(jury, Mapping) and jury.get("check")}
        return float(known.pop()) if len(known) == 1 else np.nan

    @property
    def labels(self) -> pd.Index[Any]:
        """The label of each entry's row: that of the index, or the position in a table without."""
        return self.x.index if isinstance(self.x, pd.DataFrame) else pd.Index(self.person)

    def __len__(self) -> int:
        return len(self.status)

    def __iter__(self) -> Iterator[Recourse]:
        return (self._recourse(i) for i in range(len(self)))

    @overload
    def __getitem__(self, i: int) -> Recourse: ...
    @overload
    def __getitem__(self, i: slice | Sequence[int] | Sequence[bool] | IntArray | BoolArray) -> Self: ...
    def __getitem__(self, i: Any) -> Recourse | Self:
        if isinstance(i, int | np.integer) and not isinstance(i, bool):
            if not -len(self) <= i < len(self):
                raise IndexError(f"There are {len(self)} entries, and {i} is none of their positions.")
            return self._recourse(int(i) % len(self))
        rows = places_of(i, self)
        parts: dict[str, Any] = {name: take(getattr(self, name), rows) for name in TABLES}
        parts |= {name: getattr(self, name)[rows] for name in VECTORS}
        traces = None if self._traces is None else tuple(self._traces[row] for row in rows)
        return replace(self, **parts, person=numbered(self.person[rows], parts["rank"]), _traces=traces)

    @classmethod
    def concat(cls, parts: Sequence[Self]) -> Self:
        """Return the recourses of several batches as those of one.

        They are the same as if the tables had been explained as one: people are numbered anew. A batch that begins
        with further recourses of the person with whom the one before ends, as slices may, continues that person.

        Parameters
        ----------
        parts : sequence of Recourses
            Batches of tables with the same columns, found with the same settings of the decision. If different methods
            found them, `provenance` names each.

        Raises
        ------
        ValueError, TypeError
            If there is none, or if they do not belong together.

        Examples
        --------
        >>> import numpy as np
        >>> from robust_recourse import NearestAccepted, Recourses
        >>> method = NearestAccepted(lambda X: X[:, 0] > 0.0, random_state=0).fit(np.array([[0.5], [-1.0]]))
        >>> found = method.explain(np.array([[-1.0], [-2.0], [2.0]]))
        >>> Recourses.concat([found[:1], found[1:]]).equals(found)
        True
        """
        listed = list(parts)
        wrong = next((part for part in listed if not isinstance(part, cls)), None)
        if wrong is not None:
            raise TypeError(f"parts must be a sequence of Recourses, got {type(wrong).__name__}.")
        if not listed:
            raise ValueError("parts is empty: at least one batch is needed.")
        return cls(**concatenated(listed))

    def equals(self, other: Any) -> bool:
        """Say whether another result is the same to the last bit, with types, labels and provenance.

        How the searches went (`found[i].trace`) does not count: files do not hold it.
        """
        return isinstance(other, Entries) and same(self, other)

    def __eq__(self, other: object) -> bool:
        return self.equals(other) if isinstance(other, Entries) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        # What reads single rows is made of closures, which no pickle holds; it is made anew when it is needed.
        return {name: value for name, value in vars(self).items() if name != "_readers"}

    @cached_property
    def _readers(self) -> dict[str, Callable[[int], Any]]:
        return {name: row_reader(getattr(self, name)) for name in TABLES}

    @cached_property
    def _columns(self) -> Columns:
        like = self.x0[:0] if is_frame(self.x0) else None
        return Columns(self.kinds, {**orders_of(self.x0), **self.orders}, self.units, self.digits, like)

    def _recourse(self, i: int) -> Recourse:
        return Recourse(
            **{name: read(i) for name, read in self._readers.items()},
            cost=float(self.cost[i]),
            budget=float(self.budget[i]),
            valid=bool(self.valid[i]),
            status=self.status[i],
            reason=str(self.reason[i]),
            log_worst_case_odds=float(self.log_worst_case_odds[i]),
            n_queries=int(self.n_queries[i]),
            jury_share=float(self.jury_share[i]),
            survival_bound=float(self.survival_bound[i]),
            confidence=self._confidence,
            trace=None if self._traces is None else self._traces[i],
            label=self.labels[i],
            column_costs=self.column_costs[i],
            columns=self._columns,
        )
