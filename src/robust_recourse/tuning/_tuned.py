"""What tuning found, as tables, as text and as a file."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pandas as pd
from sklearn.base import clone

from robust_recourse._files import write_atomically
from robust_recourse.metrics import pareto_frontier
from robust_recourse.result.future import Share
from robust_recourse.tuning._halving import Dial
from robust_recourse.tuning._study import Measured

__all__ = ["Tuning"]

_NAMES = {"RobustBayesianRecourse": "robust", "BayesianRecourse": "bayesian"}
_FILE = """\
# The cheapest configuration that was found for a promised future validity; robust-recourse explain --settings reads it.
method = "{name}"

[parameters]
{parameters}

# Measured on other people and other models than those that chose it.
[measured]
target_future_validity = {target}
reached = {reached}
future_validity = {share}
interval = [{low}, {high}]
mean_cost = {cost}
without_recourse = {missing}
people = {people}
models = {models}
scenarios = [{scenarios}]
seed = {seed}
"""


@dataclass(frozen=True, eq=False, kw_only=True)
class Tuning:
    """The cheapest configuration that keeps a promised future validity.

    Attributes
    ----------
    method : str
        Name of the method's class.
    parameters : mapping
        The configuration; :meth:`apply` gives it to a method.
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
        Those measured on all people to choose with that no other one of them beats in cost and validity.
    work : int
        Number of recourses that were searched for.
    seed : int
        Seed of everything.
    """

    method: str
    parameters: Mapping[str, Any]
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

    @classmethod
    def of(
        cls,
        *,
        method: str,
        target: float,
        checks: Sequence[Measured],
        dials: Sequence[Dial],
        scenarios: tuple[str, ...],
        seed: int,
        work: int,
    ) -> Self:
        """Put together what a search found."""
        best = checks[-1]
        tried = pd.concat(
            [_lines(dial.tried.values(), dial.family.mode) for dial in dials if dial.tried], ignore_index=True
        )
        whole = tried[tried["people"] == tried["people"].max()]
        return cls(
            method=method,
            parameters=dict(best.parameters),
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
        )

    def apply(self, method: Any) -> Any:
        """Return a copy of a method with the configuration that was found; it is not fitted yet."""
        if type(method).__name__ != self.method:
            raise TypeError(f"This configuration is one of a {self.method}, got a {type(method).__name__}.")
        settings = dict(self.parameters)
        if "target_future_validity" in method.get_params(deep=False):
            settings["target_future_validity"] = None
        return clone(method).set_params(**settings)

    def to_toml(self, path: str | os.PathLike[str]) -> None:
        """Write the configuration, and what was measured, to a small file."""
        if self.method not in _NAMES:
            raise TypeError(f"The command line has no {self.method}: a file is for one of {', '.join(_NAMES)}.")
        share, low, high = (f"{value:.4g}" for value in self.future_validity)
        text = _FILE.format(
            name=_NAMES[self.method],
            parameters="\n".join(
                f"{key} = {_toml(value)}" for key, value in self.parameters.items() if value is not None
            ),
            target=self.target,
            reached=str(self.reached).lower(),
            share=share,
            low=low,
            high=high,
            cost=f"{self.cost:.6g}",
            missing=f"{self.without_recourse:.4g}",
            people=self.n_people,
            models=self.n_models,
            scenarios=", ".join(map(_toml, self.scenarios)),
            seed=self.seed,
        )
        write_atomically(Path(path), text)

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


def _toml(value: Any) -> str:
    # Text, finite numbers and booleans are written as in JSON.
    return json.dumps(value, ensure_ascii=False)


def _lines(measured: Any, mode: str | None = None) -> pd.DataFrame:
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
