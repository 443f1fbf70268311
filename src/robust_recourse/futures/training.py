"""Trains models on what a scenario draws: in parallel, each with a stream of random numbers of its own, none twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from joblib import Parallel, delayed

from robust_recourse._progress import track
from robust_recourse._provenance import versions
from robust_recourse.futures._scenario import Drawn, Scenario
from robust_recourse.futures._store import ModelStore
from robust_recourse.futures.fingerprint import fingerprint
from robust_recourse.futures.recipes import Reseed, fitted
from robust_recourse.futures.rows import TrainingData

__all__ = ["Job", "TrainingError", "generator", "train"]

_DRAWS = 100  # that may lose a class before it is an error


class TrainingError(RuntimeError):
    """A future model could not be trained; the message names the scenario and the number of the model."""


@dataclass(frozen=True)
class Job:
    """One model to train.

    Attributes
    ----------
    name : str
        What messages call it.
    data : TrainingData
        Where its rows are drawn from.
    scenario : Scenario
        Draws them.
    stream : tuple of int
        The seed and the key of its random numbers.
    reseed : {"all", "missing", "none"}
        Which random states get a new seed.
    """

    name: str
    data: TrainingData
    scenario: Scenario
    stream: tuple[int, ...]
    reseed: Reseed = "all"


def generator(stream: Sequence[int]) -> np.random.Generator:
    """Return the random numbers of a stream."""
    seed, *key = stream
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=tuple(key)))


def train(recipe: Any, jobs: Sequence[Job], *, n_jobs: int | None, store: ModelStore | None) -> list[tuple[Any, str]]:
    """Return the models, each with a note on what is special about it; train those that are not in the store."""
    keys = [""] * len(jobs) if store is None else _keys(recipe, jobs)
    found: list[Any] = [None if store is None else store.load(key) for key in keys]
    missing = [place for place, model in enumerate(found) if model is None]
    with nullcontext() if store is None or not missing else store.writing():
        parallel = Parallel(n_jobs=n_jobs, return_as="generator")
        models = parallel(delayed(_train)(recipe, jobs[place], store, keys[place]) for place in missing)
        for place, model in zip(missing, track(models, "retraining", len(missing)), strict=True):
            found[place] = model
    return found


def _train(recipe: Any, job: Job, store: ModelStore | None, key: str) -> tuple[Any, str]:
    rng = generator(job.stream)
    drawn = _draw(job, rng)
    X, y = job.data.take(drawn.rows, drawn.codes)
    try:
        model = fitted(recipe, X, y, drawn.parameters, rng, job.reseed), drawn.note
    except Exception as error:
        raise TrainingError(f"{job.name}: training failed with {type(error).__name__}: {error}") from error
    if store is not None:
        try:
            store.save(key, model)
        except OSError:
            raise  # a full disk is not the model's fault
        except Exception as error:
            raise TrainingError(
                f"{job.name}: folder cannot keep the model, {type(error).__name__}: {error}. Leave folder out, or make "
                "models that can be pickled."
            ) from error
    return model


def _draw(job: Job, rng: np.random.Generator) -> Drawn:
    """Draw until every class is there."""
    data = job.data
    for _ in range(_DRAWS):
        drawn = job.scenario.draw(rng, data)
        if data.codes is None:
            return drawn
        codes = data.codes[drawn.rows] if drawn.codes is None else drawn.codes
        kept = np.bincount(codes, minlength=len(data.examples)) > 0
        if kept.all():
            return drawn
    lost = int(np.argmin(kept))
    raise ValueError(
        f"{job.name}: {_DRAWS} draws in a row left no row of the class {data.classes[lost]!r}, which has "
        f"{np.count_nonzero(data.codes == lost)} of the {len(data)} rows. Take a smaller share, or leave the scenario "
        "out."
    )


def _keys(recipe: Any, jobs: Iterable[Job]) -> list[str]:
    """Return a name for every model; those of the same name are the same."""
    try:
        trainer = joblib.hash(recipe) if hasattr(recipe, "fit") else fingerprint(recipe)
    except Exception as error:  # of pickling, where anything may be raised
        raise TypeError(
            f"folder cannot tell estimators apart of which a part cannot be pickled: {error}. Leave folder out, or "
            "define such functions in a module."
        ) from error
    tables = {id(job.data): job.data for job in jobs}
    contents = {
        place: joblib.hash((versions(), trainer, data.X, data.y, data.codes, data.times, data.n_present))
        for place, data in tables.items()
    }
    return [str(joblib.hash((contents[id(job.data)], job.scenario, job.stream, job.reseed))) for job in jobs]
