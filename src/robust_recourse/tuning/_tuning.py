"""What tuning found, as tables, as text and as a file."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pandas as pd
import tomlkit

from robust_recourse._files import write_atomically
from robust_recourse.metrics import pareto_frontier
from robust_recourse.result.future import Share
from robust_recourse.tuning._halving import Dial
from robust_recourse.tuning._study import EXACT, Measured

__all__ = ["Tuning"]

_NAMES = {"RobustBayesianRecourse": "robust", "BayesianRecourse": "bayesian"}


@dataclass(frozen=True, eq=False, kw_only=True)
class Tuning:
    """The cheapest configuration that keeps a promised future validity.

    Attributes
    ----------
    method : str
        Name of the method's class.
    parameters : mapping
        The configuration: ``method.set_params(**tuning.parameters)``.
    others : mapping
        The other parameters that the method had, but for the model, the action set, the decision, the seed and the
        number of processes.
    target : float
        The promised future validity.
    reached : bool
        Whether it was measured, on people and models that did not choose the configuration. If not, the
        configuration is the best of those that were checked.
    future_validity : Share
        What was measured there, with an interval: ``share``, ``low``, ``high``. Who has no recourse counts as not
        accepted.
    cost : float
        Mean cost there; who has no recourse counts with the dearest of the others.
    without_recourse : float
        Share of the people without a recourse there.
    n_people, n_models : int
        How many people and models these are.
    scenarios : tuple of str
        What happened to the models.
    checks : DataFrame
        All configurations that were checked, in order. The last measurement counts: after several checks it is
        another one of the best, with new models.
    tried : DataFrame
        All configurations that were measured to choose, with the number of people each was measured on.
    frontier : DataFrame
        Those measured on all people to choose with that no other one of them beats in cost and validity. Left out is
        what leaves so many more people without a recourse than others that the target is out of reach: what it costs
        the people who are left says nothing about the rest.
    work : int
        Number of recourses that were searched for.
    seed : int
        Seed of everything.
    first_juror : int
        Number of the first juror, as the models of :func:`robust_recourse.future_models` are numbered: the models that
        choose and check come before.
    """

    method: str
    parameters: Mapping[str, Any]
    others: Mapping[str, Any]
    target: float
    reached: bool
    future_validity: Share
    cost: float
    without_recourse: float
    n_people: int
    n_models: int
    scenarios: tuple[str, ...]
    checks: pd.DataFrame
    tried: pd.DataFrame
    frontier: pd.DataFrame
    work: int
    seed: int
    first_juror: int

    @classmethod
    def of(
        cls,
        *,
        method: str,
        others: Mapping[str, Any],
        target: float,
        checks: Sequence[Measured],
        dials: Sequence[Dial],
        scenarios: tuple[str, ...],
        seed: int,
        first_juror: int,
        work: int,
    ) -> Self:
        """Put together what a search found."""
        best = checks[-1]
        tried = pd.concat(
            [_lines(dial.tried.values(), dial.family.mode) for dial in dials if dial.tried], ignore_index=True
        )
        whole = tried[tried["people"] == tried["people"].max()]
        lost = whole["without_recourse"]
        whole = whole[(lost - lost.min() + target).round(EXACT) <= 1.0]
        return cls(
            method=method,
            parameters=dict(best.parameters),
            others=dict(others),
            target=target,
            reached=best.validity >= target,
            future_validity=best.interval(),
            cost=best.cost,
            without_recourse=best.missing,
            n_people=len(best.costs),
            n_models=len(best.answers),
            scenarios=scenarios,
            checks=_lines(checks),
            tried=tried,
            frontier=whole.iloc[pareto_frontier(whole["cost"], whole["future_validity"])].reset_index(drop=True),
            work=work,
            seed=seed,
            first_juror=first_juror,
        )

    def to_toml(self, path: str | os.PathLike[str]) -> None:
        """Write the method with all its parameters, and what was measured, to a small file."""
        if self.method not in _NAMES:
            raise TypeError(f"The command line has no {self.method}: a file is for one of {', '.join(_NAMES)}.")
        file = tomlkit.document()
        file.add(tomlkit.comment("The cheapest configuration that was found for a promised future validity;"))
        file.add(tomlkit.comment("robust-recourse explain --settings reads it."))
        file["method"] = _NAMES[self.method]
        plain = {key: value for key, value in self.parameters.items() if key not in ("margin", "jury")}
        file["parameters"] = _table({**self.others, **plain})
        criterion = _table(self._criterion())
        if criterion:
            file["criterion"] = criterion
        file["measured"] = _table(
            {
                "target_future_validity": self.target,
                "reached": self.reached,
                "future_validity": _rounded(self.future_validity.share, 4),
                "interval": [_rounded(end, 4) for end in self.future_validity[1:]],
                "mean_cost": _rounded(self.cost, 6),
                "without_recourse": _rounded(self.without_recourse, 4),
                "people": self.n_people,
                "models": self.n_models,
                "scenarios": list(self.scenarios),
                "seed": self.seed,
            },
            "On other people and other models than those that chose it.",
        )
        write_atomically(Path(path), tomlkit.dumps(file))

    def _criterion(self) -> dict[str, Any]:
        """Return what the search asks for, as words and numbers; models are told by how they are trained."""
        margin, jury = (self.parameters.get(name) for name in ("margin", "jury"))
        if jury is None:
            return {"margin": margin}
        return {
            "margin": margin,
            "jury": len(jury) // len(self.scenarios),
            "quorum": jury.quorum,
            "rule": jury.rule,
            "first_juror": self.first_juror,
            "scenarios": list(self.scenarios),
            "seed": self.seed,
        }

    @property
    def summary(self) -> str:
        """What was found, in sentences."""
        said = (
            f"A future validity of {self.target:g} was reached"
            if self.reached
            else f"A future validity of {self.target:g} was not reached; this is the best that was found"
        )
        known = " The people took part in earlier checks, too." if len(self.checks) > 1 else ""
        unsure = (
            " The interval reaches below the target." if self.reached and self.future_validity.low < self.target else ""
        )
        return (
            f"{said}: {self.future_validity} on {self.n_people} other people and {self.n_models} other models, at a "
            f"mean cost of {self.cost:.4g}.{unsure}{known}"
        )

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={value!r}" for key, value in self.parameters.items() if value is not None)
        return f"{self.summary}\n{self.method}({shown})"

    def _repr_html_(self) -> str:
        table = self.frontier.to_html(index=False, float_format=lambda value: f"{value:.4g}", na_rep="")
        return f"<div><p><b>{html.escape(self.summary)}</b></p>{table}</div>"


def _table(values: Mapping[str, Any], comment: str = "") -> tomlkit.items.Table:
    """Return a table of what is there: TOML has no word for None."""
    table = tomlkit.table()
    if comment:
        table.add(tomlkit.comment(comment))
    for name, value in values.items():
        if value is not None:
            table.add(name, value.item() if hasattr(value, "item") else value)
    return table


def _rounded(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")


def _lines(measured: Iterable[Measured], mode: str | None = None) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                **({} if mode is None else {"mode": mode}),
                **found.parameters,
                "people": len(found.costs),
                "models": len(found.answers),
                "cost": found.cost,
                "future_validity": found.validity,
                "without_recourse": found.missing,
                "model_rows": found.n_queries,
            }
            for found in measured
        ]
    )
