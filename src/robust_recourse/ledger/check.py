"""What a new model makes of the open promises."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from robust_recourse._files import write_atomically
from robust_recourse._typing import BoolArray, IntArray
from robust_recourse.ledger.asking import Asked, Decision
from robust_recourse.ledger.chain import Head
from robust_recourse.ledger.current import Current
from robust_recourse.ledger.given import need_method, read_person
from robust_recourse.ledger.runs import Run
from robust_recourse.math.intervals import Interval, clopper_pearson
from robust_recourse.result.future import Share

if TYPE_CHECKING:
    from robust_recourse.ledger.remedies import Additions, Threshold
    from robust_recourse.ledger.source import Source

__all__ = ["Check"]


@dataclass(frozen=True, eq=False)
class Check:
    """Which open promises a new model keeps: those whose promised row it accepts.

    The frames are read from the ledger when they are asked for, so that a check of a million promises fits in memory.

    Attributes
    ----------
    name : str
        The name of the new model.
    made : str
        When it was asked.
    level : float
        Level of the intervals.
    number : int or None
        The entry of the ledger that says so; None if nothing was recorded.
    head : Head
        The last entry of the chain that was verified, and that was asked about.
    """

    name: str
    made: str
    level: float
    number: int | None
    head: Head
    model: Any = field(repr=False)
    decision: Decision = field(repr=False)
    asked: Asked = field(repr=False)
    runs: Mapping[int, Run] = field(repr=False)
    source: Source = field(repr=False)
    current: Current | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.asked.numbers)

    def __repr__(self) -> str:
        return f"Check({self.name!r}: {self.n_kept} of {len(self)} promises kept, share {self._shared(None)})"

    @property
    def n_kept(self) -> int:
        """Number of promises that are kept."""
        return int(self.asked.accepted.sum())

    @property
    def n_broken(self) -> int:
        """Number of promises that are not."""
        return len(self) - self.n_kept

    @property
    def share(self) -> float:
        """Share of the promises that are kept; NaN if there is no open promise."""
        return self._shared(None).share

    @property
    def interval(self) -> Interval:
        """The exact interval of the share, of Clopper and Pearson."""
        shared = self._shared(None)
        return Interval(shared.low, shared.high)

    @cached_property
    def kept(self) -> pd.DataFrame:
        """The promises that are kept, as of :meth:`robust_recourse.ledger.Ledger.promises`."""
        return self.source.frame(self.asked.numbers[self.asked.accepted])

    @cached_property
    def broken(self) -> pd.DataFrame:
        """The promises that are not kept, with what the new model says about them: its probability, and its level."""
        return self.source.frame(self.broken_numbers, self._verdicts())

    @property
    def broken_numbers(self) -> IntArray:
        """The entries of the promises that are not kept."""
        return self.asked.numbers[~self.asked.accepted]

    def by_model(self) -> pd.DataFrame:
        """Return one line for every model that promised: promises, kept, broken, share, low and high."""
        return self._by([self.runs[run].model for run in self.asked.runs.tolist()], "model")

    def by_month(self) -> pd.DataFrame:
        """Return one line for every month in which promises were made."""
        return self._by(self.asked.months, "month")

    def by_group(self, group: Any) -> pd.DataFrame:
        """Return one line for every group of people.

        Parameters
        ----------
        group : hashable, Series or mapping
            The name of a column of the promised rows, or the group of every person by id.
        """
        if isinstance(group, pd.Series | Mapping):
            groups = {read_person(person): value for person, value in group.items()}
            people = self.source.people(self.asked.numbers)
            return self._by(
                [groups.get(str(person), "(missing)") for person in people], getattr(group, "name", None) or "group"
            )
        return self._by(self.source.column(self.asked.numbers, group), str(group))

    def additions(self, method: Any = None, *, train: Any = None) -> Additions:
        """Return the cheapest addition to each broken promise under the new model: recourse from the promised row.

        Parameters
        ----------
        method : RecourseMethod, optional
            A method that was fitted with the new model.
        train : DataFrame or array_like, optional
            Training rows of the new model, if there is no method: that of the promises is then fitted to them, with
            the same action set and settings.
        """
        from robust_recourse.ledger.remedies import find_additions

        return find_additions(self, self.same_method(train) if method is None else need_method(method))

    def same_method(self, train: Any) -> Any:
        """Return the method of the newest promises with the new model, fitted to its training rows."""
        from robust_recourse.ledger.remedies import same_method

        return same_method(self, train)

    def threshold(self, at_least: float, others: Any = None) -> Threshold:
        """Return the highest threshold at which the new model keeps a share of the promises.

        Parameters
        ----------
        at_least : float
            The share.
        others : DataFrame or array_like, optional
            Other applicants: how many decisions about them that threshold would change.
        """
        from robust_recourse.ledger.remedies import find_threshold

        return find_threshold(self, at_least, others)

    def honour(self, additions: Additions | None = None) -> pd.DataFrame:
        """Return the list to honour anyway: person, until when, and the row promised, for every broken promise.

        With `additions` it also says what the person would have to do more, were the promise not honoured.
        """
        from robust_recourse.ledger.remedies import to_honour

        return to_honour(self, additions)

    def to_html(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        groups: Sequence[Any] = (),
        at_least: float | None = None,
        additions: Additions | None = None,
        threshold: Threshold | None = None,
        title: str = "Which promises does the new model keep?",
    ) -> str:
        """Return the check as a page for an auditor: what was promised, what holds, what does not and why.

        Parameters
        ----------
        path : path-like, optional
            File to write the page to.
        groups : sequence
            Columns of the promised rows by which people are compared.
        at_least : float, optional
            The share that was asked for.
        additions : Additions, optional
            What broken promises would need, to be shown beside them.
        threshold : Threshold, optional
            What :meth:`threshold` returned.
        title : str
            Heading of the page.
        """
        from robust_recourse.ledger.page import check_page

        page = check_page(self, groups=groups, at_least=at_least, additions=additions, threshold=threshold, title=title)
        if path is not None:
            write_atomically(Path(path), page)
        return page

    def to_dict(self, groups: tuple[Any, ...] = ()) -> dict[str, Any]:
        """Return the numbers of the check as data for JSON; people are named by their ids alone."""
        tables = {"by_model": self.by_model(), "by_month": self.by_month()}
        tables |= {f"by_{name}": self.by_group(name) for name in groups}
        share = None if np.isnan(self.share) else self.share
        return {
            "model": self.name,
            "made": self.made,
            "entry": self.number,
            "head": str(self.head),
            "promises": len(self),
            "kept": self.n_kept,
            "share": share,
            "interval": list(self.interval),
            "level": self.level,
            "broken": list(self.source.people(self.broken_numbers)),
            **{name: table.reset_index().to_dict("records") for name, table in tables.items()},
        }

    def _shared(self, chosen: BoolArray | None) -> Share:
        accepted = self.asked.accepted if chosen is None else self.asked.accepted[chosen]
        return _share(int(accepted.sum()), len(accepted), self.level)

    def _by(self, labels: Any, name: str) -> pd.DataFrame:
        frame = pd.DataFrame({name: pd.Series(labels, dtype=object), "kept": self.asked.accepted})
        counts = frame.groupby(name, dropna=False, sort=True)["kept"].agg(["size", "sum"])
        lines = [
            (int(n), int(kept), int(n - kept), *_share(int(kept), int(n), self.level)) for n, kept in counts.to_numpy()
        ]
        return pd.DataFrame(lines, index=counts.index, columns=["promises", "kept", "broken", "share", "low", "high"])

    def _verdicts(self) -> Callable[[], dict[str, Any]]:
        from robust_recourse.ledger.remedies import verdicts_of

        return lambda: verdicts_of(self)


def _share(kept: int, n: int, level: float) -> Share:
    low, high = clopper_pearson(kept, n, level)
    return Share(kept / n if n else np.nan, float(low), float(high))
