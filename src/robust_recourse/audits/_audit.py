"""Recourse by group: who gets one, what it costs, and whether it holds."""

from __future__ import annotations

import html
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse._typing import BoolArray
from robust_recourse.audits._comparisons import MEASURES, SMALLEST, Comparison, Estimate, People, compare
from robust_recourse.audits._groups import Groups, read_groups
from robust_recourse.math.intervals import check_level
from robust_recourse.notices.values import label_text
from robust_recourse.result import Recourses, Status
from robust_recourse.result.future import FutureValidity

__all__ = ["Audit", "audit"]

_SHOWN = 20  # groups
_EVERYONE, _OTHERS, _GROUP = "(everyone)", "(all others)", "group"


@dataclass(frozen=True, eq=False, kw_only=True)
class Audit:
    """Recourse by group; see :func:`audit`.

    Attributes
    ----------
    groups : DataFrame
        One line for each group: ``people`` and, each with ``_low`` and ``_high``, ``no_recourse``,
        ``current_validity``, ``future_validity`` (if there are models), ``median_cost`` and ``mean_cost``.
    everyone : Series
        The same for all people together.
    comparisons : DataFrame
        One line for each group that is compared and each measure: the value with its interval at the level of the
        flags, that of those whom the group is compared with (``against``), and whether the difference is flagged.
    flags : tuple of str
        The flagged differences as sentences; the intervals in them are at the level of the flags.
    level, flag_level : float
        Level of the intervals of `groups`, and the stricter one of the flags.
    n_accepted : int
        Number of people who are accepted as they are; they are left out.
    n_models : int
        Number of models behind the future validity; 0 if none were given.
    survival : str
        What is known about survival without such models, in a sentence.
    """

    groups: pd.DataFrame
    everyone: pd.Series[Any]
    comparisons: pd.DataFrame
    flags: tuple[str, ...]
    level: float
    flag_level: float
    n_accepted: int = 0
    n_models: int = 0
    survival: str = ""

    def to_frame(self) -> pd.DataFrame:
        """Return `groups`: one line for each group, numbers only."""
        return self.groups.copy()

    def summary(self) -> pd.DataFrame:
        """Return a table to read: one line for each group and one for everyone, intervals in brackets."""
        lines = pd.concat([self.groups, self.everyone.to_frame(_EVERYONE).T])
        measures = [measure for measure in MEASURES if measure in lines]
        table: dict[str, Any] = {"people": lines["people"].astype(int).to_numpy()}
        for measure in measures:
            cells = lines[[measure, f"{measure}_low", f"{measure}_high"]].to_numpy(dtype=float)
            table[measure.replace("_", " ")] = [Estimate(*cell).text(measure, 2) for cell in cells]
        return pd.DataFrame(table, [label_text(label) for label in lines.index])

    def __repr__(self) -> str:
        table = self.summary()
        shown = pd.concat([table.iloc[: min(_SHOWN, len(self.groups))], table.iloc[-1:]])
        hidden = len(self.groups) - _SHOWN
        more = [f"{hidden} more {'group is' if hidden == 1 else 'groups are'} in to_frame()."] * (hidden > 0)
        findings = [f"- {finding}" for finding in self._findings()]
        lines = [*shown.to_string().splitlines(), *more, *findings, *self.remarks]
        return "\n".join([self.title, *(f"  {line}" for line in lines)])

    def _repr_html_(self) -> str:
        findings = "".join(f"<li>{html.escape(finding)}</li>" for finding in self._findings())
        remarks = "".join(f"<p>{html.escape(remark)}</p>" for remark in self.remarks)
        title = html.escape(self.title)
        return f"<div><p><b>{title}</b></p>{self.summary().to_html()}<ul>{findings}</ul>{remarks}</div>"

    @property
    def title(self) -> str:
        """How many people and groups there are, in a line."""
        n, name = len(self.groups), str(self.groups.index.name)
        by = "" if name == _GROUP else f" by {name}"
        return f"Audit of {int(self.everyone['people']):,} refused people in {n} {'group' if n == 1 else 'groups'}{by}"

    @property
    def remarks(self) -> tuple[str, ...]:
        """What to know about the numbers, in sentences."""
        remarks = []
        if self.n_accepted:
            accepted = f"{self.n_accepted:,} {'person is' if self.n_accepted == 1 else 'people are'}"
            remarks.append(f"{accepted} accepted without a recourse and left out.")
        if len(self.groups) > 1 and (self.groups["people"] < SMALLEST).any():
            remarks.append(f"Groups of fewer than {SMALLEST} people are not compared.")
        if self.n_models:
            models = "the model" if self.n_models == 1 else f"the {self.n_models:,} models"
            remarks.append(f"Future validity is that under {models} given.")
        elif self.survival:
            remarks.append(self.survival)
        if len(self.comparisons):
            remarks.append(
                f"Differences are flagged where intervals at a level of {100.0 * self.flag_level:.4g} % are apart: "
                f"then all flags together are right at a level of {100.0 * self.level:.4g} %."
            )
        return (*remarks, f"In brackets: intervals at a level of {100.0 * self.level:.4g} %.")

    def _findings(self) -> tuple[str, ...]:
        if self.flags:
            return self.flags
        if len(self.comparisons):
            return ("No difference is flagged.",)
        alone = len(self.groups) < 2
        return ("There is only one group." if alone else "No two groups are large enough to be compared.",)


def audit(
    found: Recourses, groups: Any, models: Any = None, *, level: float = 0.95, reference: Hashable | None = None
) -> Audit:
    r"""Compare what recourse is like for groups of people.

    Only the first recourse of each person counts. People whom the present model accepts as they are need none, and are
    left out.

    Parameters
    ----------
    found : Recourses
        The recourses.
    groups : array_like of shape (n_people,) or column name
        The label of the group of each person, in the order in which they were explained, or the name of a column of
        ``found.x0``. People without a label are the group "(missing)". Cut numbers into ranges first, with
        :func:`pandas.cut`.
    models : sequence of models or FutureValidity, optional
        Models that may replace the present one, or what ``found.future_validity(models)`` returned.
    level : float
        Level of the intervals of the table, and of all flags together.
    reference : label, optional
        The group with which the others are compared. None: each group is compared with all others together.

    Returns
    -------
    Audit
        Rates and costs of each group with intervals, and sentences about the differences that the intervals prove.

    Notes
    -----
    A difference is flagged only if the intervals of both sides have no point in common. For these the level is
    :math:`1 - (1 - \text{level}) / K` with :math:`K` the number of intervals that are looked at (Bonferroni), so the
    probability of any wrong flag is at most :math:`1 - \text{level}`, however many groups there are. Small groups have
    wide intervals and are not flagged by accident; those of fewer than five people are described and not compared.

    The no-recourse rate and the current validity (nobody is valid without a recourse) have the intervals of Clopper and
    Pearson, and the median cost has that of order statistics: exact for independent people. The mean cost has Student's
    interval and is never flagged. Costs are those of people who have a recourse.

    The intervals of the future validity are about the models that are given: the people are the trials, each with the
    share of the models that accept, which varies less than a yes or no. So the interval of Clopper and Pearson is
    wider than need be. As the models are a sample, too, a flagged difference must also show from model to model: the
    exact interval of the median, over the models, of the difference between both sides must not hold 0. So a handful
    of models never raises a flag.

    Examples
    --------
    >>> import numpy as np
    >>> from robust_recourse import NearestAccepted
    >>> method = NearestAccepted(lambda X: X[:, 0] > X[:, 1]).fit(np.array([[0.5, 0.0], [1.5, 1.0]]))
    >>> is_woman = np.tile([0.0, 1.0], 30)
    >>> found = method.explain(np.column_stack([np.linspace(-0.6, -0.01, 60), is_woman]))
    >>> audited = audit(found, np.where(is_woman, "women", "men"))
    >>> audited.summary()[["people", "no recourse", "median cost"]]
                people          no recourse          median cost
    men             30  0.00 (0.00 to 0.12)   0.81 (0.7 to 0.92)
    women           30  0.00 (0.00 to 0.12)   1.8 (1.69 to 1.91)
    (everyone)      60  0.00 (0.00 to 0.06)  1.31 (0.94 to 1.67)
    >>> print(*audited.flags)
    People in group 'women' pay more: median cost 1.8 (1.65 to 1.95) against 0.81 (0.66 to 0.96) for group 'men'.
    """
    if not isinstance(found, Recourses):
        raise TypeError(f"found must be the recourses that explain returned, got {type(found).__name__}.")
    level = check_level(level)
    first = found.rank == 1
    accepted = None if models is None else _accepted(found, models)[first]
    refused = np.array([status != Status.ALREADY_FAVOURABLE for status in found.status[first]], dtype=bool)
    people = People(found.cost[first], found.valid[first], accepted).only(refused)
    labelled = read_groups(found, groups)
    codes = labelled.codes[refused]
    flag_level, comparisons = compare(people, codes, _pairs(labelled, reference), level)
    if reference is None and len(labelled.labels) == 2:
        comparisons = [comparison if comparison.worse else comparison.turned() for comparison in comparisons]
    lines = [_line(people.only(codes == k), level) for k in range(len(labelled.labels))]
    index = pd.Index(labelled.labels, name=labelled.name or _GROUP, dtype=object, tupleize_cols=False)
    return Audit(
        groups=pd.DataFrame(lines, index).astype({"people": int}),
        everyone=pd.Series(_line(people, level)),
        comparisons=_tabulated(comparisons, labelled),
        flags=tuple(comparison.sentence(labelled) for comparison in comparisons if comparison.flagged),
        level=level,
        flag_level=flag_level,
        n_accepted=int((~refused).sum()),
        n_models=0 if accepted is None else accepted.shape[1],
        survival=found[first]._survival,
    )


def _accepted(found: Recourses, models: Any) -> BoolArray:
    """Return which models accept which entries."""
    validity = models if isinstance(models, FutureValidity) else found.future_validity(models)
    same = np.array_equal(validity.position, found.person)
    if not (same and np.array_equal(validity.has_recourse, np.isfinite(found.cost))):
        raise ValueError("models is the future validity of other recourses: pass that of found, or the models.")
    return validity.accepted


def _pairs(labelled: Groups, reference: Hashable | None) -> list[tuple[int, int | None]]:
    """Return which groups are compared with which; None stands for all others."""
    numbers = range(len(labelled.labels))
    if reference is not None:
        fixed = labelled.number(reference)
        return [(k, fixed) for k in numbers if k != fixed]
    if len(numbers) == 2:
        return [(0, 1)]
    return [(k, None) for k in numbers if len(numbers) > 1]


def _line(people: People, level: float) -> dict[str, float]:
    line = {"people": float(len(people))}
    for measure, (value, low, high) in people.estimates(level).items():
        line |= {measure: value, f"{measure}_low": low, f"{measure}_high": high}
    return line


def _tabulated(comparisons: list[Comparison], labelled: Groups) -> pd.DataFrame:
    rows = [
        (
            one.measure,
            labelled.labels[one.group],
            _OTHERS if one.against is None else labelled.labels[one.against],
            *one.mine,
            *one.theirs,
            one.flagged,
        )
        for one in comparisons
    ]
    ends = ("value", "low", "high")
    names = ["measure", "group", "against", *ends, *(f"against_{end}" for end in ends), "flagged"]
    return pd.DataFrame(rows, columns=names).astype({"flagged": bool})
