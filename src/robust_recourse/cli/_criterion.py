"""What a search asks for beyond the model's decision: the options, what a file with settings says, and the jury."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from robust_recourse.cli._model import favourable_of
from robust_recourse.cli._options import between, blaming, positive_integer, share
from robust_recourse.cli._outcomes import Labelled
from robust_recourse.cli._scenarios import read_scenarios
from robust_recourse.futures import Jury, TrainingError

__all__ = ["Criterion", "add_criterion", "described", "retrained"]

_KEYS: Mapping[str, type | tuple[type, ...]] = {
    "margin": (int, float),
    "jury": int,
    "quorum": (int, float),
    "rule": str,
    "first_juror": int,
    "scenarios": list,
    "seed": int,
}
_OPTIONS = ("margin", "jury", "quorum", "rule", "survival", "confidence")
_OF_JURIES = ("quorum", "rule", "survival", "confidence", "outcome", "scenario", "new", "time", "folder")


@dataclass(frozen=True, kw_only=True)
class Criterion:
    """What is asked for; None for what is not.

    Attributes
    ----------
    margin : float or None
        The least probability that the present model must give.
    jury : int or None
        Number of models of every scenario that are retrained and asked.
    quorum, rule, survival, confidence
        As :class:`robust_recourse.Jury` has them.
    first_juror : int
        Number of the first of these models.
    scenarios : list of str or None
        What must happen to them; None for whatever the options say.
    seed : int or None
        Their seed; None for that of the command.
    """

    margin: float | None = None
    jury: int | None = None
    quorum: float | None = None
    rule: str | None = None
    survival: float | None = None
    confidence: float | None = None
    first_juror: int = 0
    scenarios: list[str] | None = None
    seed: int | None = None

    @classmethod
    def of(cls, arguments: argparse.Namespace, settings: Mapping[str, Any]) -> Criterion:
        """Return what options ask for, and in their absence a file with settings; what does not fit together fails."""
        with blaming(f"{arguments.settings}, [criterion]"):
            _check_settings(settings)
        given = {name: getattr(arguments, name) for name in _OPTIONS if getattr(arguments, name) is not None}
        found = cls(**{**settings, **given})
        if found.jury is None:
            for name in _OF_JURIES:
                if getattr(arguments, name):
                    option = "jury-rule" if name == "rule" else name
                    raise ValueError(f"--{option} is for models that are retrained. Say how many with --jury.")
        elif arguments.outcome is None:
            asked = "--jury" if arguments.jury else f"{arguments.settings}: the jury"
            raise ValueError(
                f"{asked} needs --outcome, the column of {arguments.train} with what the model learns to predict: the "
                "model is retrained."
            )
        if found.confidence is not None and found.survival is None:
            raise ValueError("--confidence is that of a promised survival. Name one with --survival.")
        return found

    def facts(self, arguments: argparse.Namespace) -> dict[str, Any]:
        """Return all that its answers depend on, besides the model and the training rows."""
        if self == Criterion():
            return {}
        new = None if arguments.new is None else hashlib.blake2b(arguments.new.read_bytes()).hexdigest()
        scenarios = [scenario.name for scenario in arguments.scenario]
        return {"criterion": [asdict(self), arguments.outcome, scenarios, arguments.time, new]}


def add_criterion(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    group = parser.add_argument_group("more than the model's decision")
    probability = between(0.0, 1.0)
    group.add_argument(
        "--margin",
        type=probability,
        metavar="PROBABILITY",
        help="the least that the model must give a recourse, above what decides",
    )
    group.add_argument(
        "--jury",
        type=positive_integer,
        metavar="N",
        help="retrain N models of every scenario, and find recourses that they accept, too; needs --outcome",
    )
    group.add_argument(
        "--quorum",
        type=share,
        metavar="SHARE",
        help="of the jury that must accept, or its least mean probability (default: 0.9)",
    )
    group.add_argument(
        "--jury-rule",
        dest="rule",
        choices=("quorum", "mean"),
        help="whether votes are counted, or probabilities averaged (default: quorum)",
    )
    group.add_argument(
        "--survival",
        type=probability,
        metavar="SHARE",
        help="promise every person that so many of the models retrained later accept: more models are trained, which "
        "check the recourses and take no part in the search",
    )
    group.add_argument(
        "--confidence",
        type=probability,
        metavar="PROBABILITY",
        help="with which the promise to a person holds (default: 0.95)",
    )
    group.add_argument("--outcome", metavar="COLUMN", help="column of --train with what the model learns to predict")
    group.add_argument(
        "--folder",
        type=Path,
        help="keep the retrained models here, for good: another command takes them from there, and those of "
        "'robust-recourse tune --folder', too (default: beside --out, until everything is finished)",
    )


def retrained(criterion: Criterion, arguments: argparse.Namespace, data: Labelled, model: Any, folder: Path) -> Jury:
    """Return the jury; what was trained before is taken from the folder."""
    scenarios = read_scenarios(arguments, data, model)
    names = [scenario.name for scenario in scenarios]
    if criterion.scenarios not in (None, names):
        raise ValueError(
            f"{arguments.settings}: its jury is trained for {', '.join(criterion.scenarios or ())}, and the options "
            f"say {', '.join(names)}. Give those of 'robust-recourse tune': --scenario, --new, --time."
        )
    told = {name: value for name in _OPTIONS[2:] if (value := getattr(criterion, name)) is not None}
    try:
        return Jury.retrain(
            model,
            data.X,
            data.y,
            scenarios,
            criterion.jury or 0,
            start=criterion.first_juror,
            favourable=favourable_of(arguments.favourable, model),
            threshold=arguments.threshold,
            random_state=arguments.seed if criterion.seed is None else criterion.seed,
            n_jobs=arguments.jobs,
            memory=folder / "models",
            **told,
        )
    except TrainingError as error:
        raise ValueError(f"{arguments.model}: {error}") from error


def described(jury: Jury, folder: Path | None) -> str:
    """Return who was asked, in a line."""
    level = f"a mean probability of {jury.level:g}" if jury.rule == "mean" else f"a quorum of {jury.quorum:g}"
    checked = "" if jury.check is None else f"; {len(jury.check)} others checked"
    promised = (
        "" if jury.survival is None else f" a survival of {jury.survival:g} at a confidence of {jury.confidence:g}"
    )
    kept = "" if folder is None else f"; kept in {folder}"
    return f"Jury: {len(jury)} retrained models, {level}{checked}{promised}{kept}"


def _check_settings(settings: Mapping[str, Any]) -> None:
    for key, value in settings.items():
        if key not in _KEYS:
            raise ValueError(f"there is no key {key!r}; there are {', '.join(_KEYS)}.")
        if not isinstance(value, _KEYS[key]) or isinstance(value, bool):
            raise ValueError(f"{key} cannot be {value!r}.")
    if "margin" in settings and not 0.0 < settings["margin"] < 1.0:
        raise ValueError(f"margin must be above 0 and below 1, got {settings['margin']:g}.")
    if settings.get("jury", 1) < 1 or settings.get("first_juror", 0) < 0 or settings.get("seed", 0) < 0:
        raise ValueError("jury must be at least 1, first_juror and seed at least 0.")
    if not 0.0 < settings.get("quorum", 1.0) <= 1.0:
        raise ValueError(f"quorum must be above 0 and at most 1, got {settings['quorum']:g}.")
    if settings.get("rule", "quorum") not in ("quorum", "mean"):
        raise ValueError(f"rule must be 'quorum' or 'mean', got {settings['rule']!r}.")
