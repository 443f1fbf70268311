"""How recourses fare with models that replace the present one."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from types import EllipsisType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.futures import listed
from robust_recourse.math.intervals import check_level, clopper_pearson
from robust_recourse.models.acceptance import accepted_by
from robust_recourse.models.criteria import naming
from robust_recourse.notices.values import printable

if TYPE_CHECKING:
    from robust_recourse.result.recourses import Recourses

__all__ = [
    "FutureValidity",
    "Share",
    "Shares",
    "accepted_by_all",
    "judged_together",
    "measure_future_validity",
    "scenarios_of",
]

_ALL, _FOUND = "all models", "people with a recourse"


class Share(NamedTuple):
    """A share with its interval; as text ``0.950 (0.751 to 0.999)``."""

    share: float
    low: float
    high: float

    def __str__(self) -> str:
        return "-" if np.isnan(self.share) else f"{self.share:.3f} ({self.low:.3f} to {self.high:.3f})"


class Shares(NamedTuple):
    """Many shares with their intervals."""

    share: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class FutureValidity:
    r"""Which recourses are accepted by models that replace the present one.

    A row without a recourse counts as not accepted, and a row that the present model accepts as it is counts with its
    own values. Every person and every model has the same weight; of a person with several recourses the mean counts.

    Attributes
    ----------
    accepted : ndarray of bool, shape (n, m)
        Whether each of the models accepts each entry.
    scenario : ndarray of str, shape (m,)
        The scenario of each model; empty if the models were given without.
    has_recourse : ndarray of bool, shape (n,)
        Whether there is a recourse that a model can be asked about.
    position, rank : ndarray of int, shape (n,)
        The position of each entry's person in the table that was explained, and the number of the recourse among those
        of that person: ``person`` and ``rank`` of the recourses.
    labels : Index
        The label of each entry's row.
    level : float
        Level of all intervals.

    Notes
    -----
    The interval of one entry is that of Clopper and Pearson: to the person the models are independent trials. Over
    many people they are not, because all recourses are judged by the same models. The :math:`n m` answers have the
    variance :math:`\sigma_P^2 / n + \sigma_M^2 / m + \sigma_{PM}^2 / (n m)` with :math:`n` people and :math:`m` models,
    and the three parts sum to :math:`q (1 - q)`. So it is never more than that of :math:`\min(n, m)` independent
    trials, and that many are what the interval of Clopper and Pearson is given. If all stand and fall together it is
    exact. Else this is an argument about variances, not a proof; in simulations with people and models of all kinds the
    interval was too wide and never too narrow.
    """

    accepted: BoolArray
    scenario: np.ndarray[Any, np.dtype[np.object_]]
    has_recourse: BoolArray
    position: IntArray
    rank: IntArray
    labels: pd.Index[Any]
    level: float

    @property
    def n_people(self) -> int:
        """Number of people, with and without a recourse."""
        return len(self.by_person)

    @property
    def n_models(self) -> int:
        """Number of models."""
        return int(self.accepted.shape[1])

    @property
    def n_without(self) -> int:
        """Number of people without a recourse."""
        return len(np.unique(self.position[~self.has_recourse]))

    @property
    def person(self) -> Shares:
        """For every entry the share of the models that accept it, with exact intervals; 0 without a recourse."""
        count = self.accepted.sum(axis=1)
        low, high = clopper_pearson(count, self.n_models, self.level)
        return Shares(count / self.n_models, low, np.where(self.has_recourse, high, 0.0))

    @cached_property
    def by_person(self) -> FloatArray:
        """The share of the models for every person, in their order; the mean of several recourses."""
        shares: FloatArray = self._mean_of_people(self.accepted.mean(axis=1))
        return shares

    @property
    def overall(self) -> Share:
        """The mean over people and models, with an interval."""
        return judged_together(self.by_person, self.n_models, self.level)

    @property
    def overall_found(self) -> Share:
        """The same over the people who have a recourse."""
        return judged_together(self._found, self.n_models, self.level)

    @property
    def by_scenario(self) -> pd.DataFrame:
        """One line for each scenario: number of models, share with interval, and the share of the worst model."""
        names = list(dict.fromkeys(self.scenario))
        lines = []
        for name in names:
            answers = self._mean_of_people(self.accepted[:, self.scenario == name])
            share = judged_together(answers.mean(axis=1), answers.shape[1], self.level)
            worst = float(answers.mean(axis=0).min()) if len(answers) else np.nan
            lines.append((answers.shape[1], *share, worst))
        index = pd.Index([name or _ALL for name in names], name="scenario", dtype=object)
        return pd.DataFrame(lines, index, ["models", "future_validity", "low", "high", "worst_model"])

    @property
    def worst_scenario(self) -> str | None:
        """Name of the scenario with the lowest share; None for models without scenarios, and without people."""
        known = self.scenario[0] and self.n_people
        return str(self.by_scenario["future_validity"].idxmin()) if known else None

    def summary(self) -> pd.DataFrame:
        """Return the shares as a table: all models, every scenario, and the people with a recourse if some have none.

        The columns are people, models, future_validity, low and high.
        """
        n, m = self.n_people, self.n_models
        lines: dict[str, tuple[Any, ...]] = {_ALL: (n, m, *self.overall)}
        lines |= {
            str(name): (n, int(line["models"]), *line[["future_validity", "low", "high"]])
            for name, line in self.by_scenario.iterrows()
            if name != _ALL
        }
        if self.n_without:
            lines[_FOUND] = (n - self.n_without, m, *self.overall_found)
        return pd.DataFrame.from_dict(
            lines, orient="index", columns=["people", "models", "future_validity", "low", "high"]
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one line for every entry: share and interval over all models, and the share in each scenario.

        If a person has several recourses, the columns `person` and `rank` say whose each one is.
        """
        several = {"person": self.position, "rank": self.rank} if (self.rank > 1).any() else {}
        share, low, high = self.person
        scenarios = {
            f"future_validity_{name}": self.accepted[:, self.scenario == name].mean(axis=1)
            for name in dict.fromkeys(self.scenario)
            if name
        }
        columns = {**several, "has_recourse": self.has_recourse, "future_validity": share, "low": low, "high": high}
        return pd.DataFrame({**columns, **scenarios}, index=self.labels)

    def __repr__(self) -> str:
        lines = [*self._readable().to_string().splitlines(), *self.remarks]
        return "\n".join([self.title, *(f"  {line}" for line in lines)])

    def _repr_html_(self) -> str:
        remarks = "".join(f"<p>{html.escape(remark)}</p>" for remark in self.remarks)
        return f"<div><p><b>{html.escape(self.title)}</b></p>{self._readable().to_html()}{remarks}</div>"

    @property
    def title(self) -> str:
        """How many people and models there are, in a line."""
        people, models = _counted(self.n_people, "person", "people"), _counted(self.n_models, "model", "models")
        return f"Future validity of {people} under {models}"

    @property
    def remarks(self) -> tuple[str, ...]:
        """What to know about the numbers, in sentences."""
        remarks = []
        if len(self._found) >= 10:
            reached = float(np.quantile(self._found, 0.1, method="lower"))
            remarks.append(f"Nine in ten {_FOUND} have a future validity of at least {reached:.3f}.")
        if self.n_people and len(self.by_scenario) > 1:
            remarks.append(f"The worst scenario is {printable(str(self.worst_scenario))}.")
        if self.n_without:
            without = _counted(self.n_without, "person has", "people have")
            remarks.append(f"{without} no recourse, which counts as not accepted.")
        return (*remarks, f"In brackets: intervals at a level of {100.0 * self.level:.4g} %.")

    def _readable(self) -> pd.DataFrame:
        table = self.summary()
        shares = [str(Share(*line)) for line in table[["future_validity", "low", "high"]].to_numpy()]
        index = [printable(name) for name in table.index]
        return table[["people", "models"]].assign(**{"future validity": shares}).set_axis(index)

    @property
    def _found(self) -> FloatArray:
        """The shares of the people who have a recourse."""
        found: FloatArray = self.by_person[self._mean_of_people(self.has_recourse) > 0.0]
        return found

    def _mean_of_people(self, values: Any) -> Any:
        """Return the mean over the entries of each person, of values for every entry."""
        _, places, counts = np.unique(self.position, return_inverse=True, return_counts=True)
        sums = np.zeros((len(counts), *np.shape(values)[1:]))
        np.add.at(sums, places, values)
        return sums / counts.reshape(-1, *[1] * (sums.ndim - 1))


def judged_together(shares: FloatArray, n_models: int, level: float) -> Share:
    """Return the mean of people's shares of the same models, see the notes of :class:`FutureValidity`."""
    if not len(shares):
        return Share(np.nan, 0.0, 1.0)
    trials, share = min(len(shares), n_models), min(float(np.mean(shares)), 1.0)
    low, high = clopper_pearson(share * trials, trials, level)
    # Between whole successes the quantiles are accurate to some 1e-12 only.
    return Share(share, min(float(low), share), max(float(high), share))


def measure_future_validity(
    found: Recourses, models: Any, favourable: Any, threshold: float | EllipsisType | None, level: float
) -> FutureValidity:
    """Ask every model about every recourse; see ``Recourses.future_validity``."""
    level = check_level(level)
    several = listed(models, "models")
    scenario = scenarios_of(models, len(several))
    favourable = found.favourable if favourable is ... else favourable
    threshold = found.threshold if isinstance(threshold, EllipsisType) else threshold
    return FutureValidity(
        accepted=accepted_by_all(several, scenario.tolist(), found.x, favourable, threshold, like=found.x0),
        scenario=scenario,
        has_recourse=np.isfinite(found.cost),
        position=found.person,
        rank=found.rank,
        labels=found.labels,
        level=level,
    )


def accepted_by_all(
    models: Sequence[Any], scenario: Sequence[str], x: Any, favourable: Any, threshold: float | None, *, like: Any
) -> BoolArray:
    """Return which rows each of some models accepts, shape (rows, models); whoever cannot answer is named."""
    answers = []
    for k, model in enumerate(models):
        with naming(f"models[{k}]{f' ({scenario[k]})' if scenario[k] else ''}"):
            answers.append(accepted_by(model, x, favourable=favourable, threshold=threshold, like=like))
    return np.column_stack(answers)


def scenarios_of(models: Any, n: int) -> np.ndarray[Any, np.dtype[np.object_]]:
    """Return the scenario of each of `n` models; empty for those that have none."""
    names = getattr(models, "scenario", [""] * n)
    if len(names) != n:
        raise ValueError(f"models.scenario must name the scenario of each of the {n} models, got {len(names)} names.")
    return np.array([str(name) for name in names], dtype=object)


def _counted(n: int, one: str, many: str) -> str:
    return f"{n:,} {one if n == 1 else many}"
