"""Many recourses, many models: which of them accept what was promised, part by part."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from types import EllipsisType
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse._typing import BoolArray, IntArray
from robust_recourse.cluster.errors import IncompleteError
from robust_recourse.cluster.here import Outcome, run_here
from robust_recourse.cluster.places import Place, found_files, opened
from robust_recourse.cluster.progress import Tally, watching
from robust_recourse.cluster.sending import Packed, packed_models
from robust_recourse.futures import listed
from robust_recourse.math.intervals import check_level
from robust_recourse.result import FutureValidity, Recourses
from robust_recourse.result.future import accepted_by_all, scenarios_of
from robust_recourse.result.parquet import MANIFEST, read_parquet_file

__all__ = ["validate_dataset"]


@dataclass(frozen=True)
class _Asking:
    """What is asked about every part."""

    place: Place
    favourable: Any
    threshold: Any
    scenario: Sequence[str]
    time_limit: float | None = None

    def accepted(self, models: Sequence[Any], told: Any, x: Any, like: Any) -> BoolArray:
        """Ask about rows; what decides is what was given, else what is `told` about them."""
        favourable = told.favourable if self.favourable is ... else self.favourable
        threshold = told.threshold if self.threshold is ... else self.threshold
        return accepted_by_all(models, self.scenario, x, favourable, threshold, like=like)


@dataclass(frozen=True)
class _File:
    """A file of recourses."""

    name: str

    def asked(self, asking: _Asking, models: Sequence[Any]) -> dict[str, Any]:
        with opened(self.name) as content:
            found = Recourses(**read_parquet_file(content, self.name)[0])
        return {
            "accepted": asking.accepted(models, found, found.x, found.x0),
            "has_recourse": np.isfinite(found.cost),
            "position": found.person,
            "rank": found.rank,
            "labels": found.labels,
        }


@dataclass(frozen=True, eq=False)
class _Promised:
    """Promised rows of a ledger."""

    name: str
    numbers: IntArray
    table: Any
    favourable: Any
    threshold: float | None

    def asked(self, asking: _Asking, models: Sequence[Any]) -> dict[str, Any]:
        n = len(self.numbers)
        return {
            "accepted": asking.accepted(models, self, self.table, self.table),
            "has_recourse": np.ones(n, dtype=bool),
            "position": np.arange(n),
            "rank": np.ones(n, dtype=int),
            "labels": pd.Index(self.numbers, name="promise"),
        }


def validate_dataset(
    source: Any,
    models: Any,
    *,
    client: Any = None,
    favourable: Any = ...,
    threshold: float | EllipsisType | None = ...,
    level: float = 0.95,
    progress: bool | None = None,
) -> FutureValidity:
    """Ask models about all recourses of a data set, as ``found.future_validity(models)`` of the whole would.

    Of a ledger, they are asked about all open promises, each with its number as the label. With one model, those that
    it accepts are those that :meth:`robust_recourse.ledger.Ledger.check` finds kept, but nothing is recorded: the gate
    that a new model must pass is `check`.

    Parameters
    ----------
    source : path-like, list of these, or Ledger
        The folder that :func:`explain_dataset` wrote, files that :meth:`Recourses.to_parquet` wrote, or a ledger, whose
        open promises are read a piece at a time.
    models : sequence of models
        For instance of :func:`robust_recourse.future_models`.
    client : None, str or distributed.Client
        Where, as for :func:`explain_dataset`.
    favourable, threshold, level
        As for :meth:`Recourses.future_validity`.
    progress : bool, optional
        Whether to show a bar; None for: on a terminal.

    Returns
    -------
    FutureValidity
        The same as of the whole. It holds a byte for every person and model; workers hold a part.

    Raises
    ------
    IncompleteError
        If files cannot be read, or a model cannot be asked about them.
    """
    several = listed(models, "models")
    scenario = scenarios_of(models, len(several))
    name, rows, parts = _parts(source)
    level = check_level(level)
    asking = _Asking(Place(name), favourable, threshold, list(scenario))
    tally = Tally(name, rows, parts=0)
    found: dict[str, dict[str, Any]] = {}
    failed: dict[str, str] = {}
    order: list[str] = []
    with watching(tally, show=progress, doing="asking about") as show:
        for part, done, reason in _outcomes(asking, several, _noting(parts, order), client):
            if done is None:
                failed[part.name] = reason
                continue
            found[part.name] = done
            tally.add({"rows": len(np.unique(done["position"])), "statuses": {}, "several": False}, now=True)
            show()
    if failed:
        raise IncompleteError(name, failed, tally)
    return _together([found[part] for part in order], scenario, level)


def _parts(source: Any) -> tuple[str, int, Iterable[_File | _Promised]]:
    """Return what the parts are of, how many people they have, 0 if that is not known, and the parts."""
    if hasattr(source, "pieces"):
        return str(source.name), 0, (_promised(piece) for piece in source.pieces())
    files = found_files(source)
    if not isinstance(source, str | os.PathLike):
        return f"the list of {len(files)} files", 0, map(_File, files)
    name = os.fspath(source)
    manifest = Place(name).read(MANIFEST)
    if manifest is None:
        return name, 0, map(_File, files)
    facts = json.loads(manifest)
    if len(files) < facts["parts"]:
        raise ValueError(f"{name} has {len(files)} of {facts['parts']} parts: it is not finished. Finish it first.")
    return name, int(facts["rows"]), map(_File, files)


def _promised(piece: Any) -> _Promised:
    name = f"promises {piece.numbers[0]} to {piece.numbers[-1]}"
    return _Promised(name, piece.numbers, piece.table, piece.run.favourable, piece.run.threshold)


def _noting(parts: Iterable[_File | _Promised], order: list[str]) -> Iterator[_File | _Promised]:
    """Yield parts when they are needed, and note their order: they end in another one."""
    for part in parts:
        order.append(part.name)
        yield part


def _outcomes(asking: _Asking, models: Sequence[Any], parts: Iterable[Any], client: Any) -> Iterator[Outcome]:
    if client is None:
        yield from run_here(partial(_asked, asking, models=models), parts, None)
        return
    from robust_recourse.cluster.engine import connected, run_there

    with connected(client) as there:
        yield from run_there(there, _asked, asking, parts, packed_models(list(models)))


def _asked(asking: _Asking, part: _File | _Promised, models: Sequence[Any] | Packed) -> dict[str, Any]:
    """Ask the models about a part; answers are bits."""
    asked = models.value() if isinstance(models, Packed) else models
    answers = part.asked(asking, asked)
    return {**answers, "accepted": np.packbits(answers["accepted"], axis=1)}


def _together(parts: Sequence[dict[str, Any]], scenario: Any, level: float) -> FutureValidity:
    people = np.cumsum([0, *(len(np.unique(part["position"])) for part in parts)])
    labels = [part["labels"] for part in parts] or [pd.Index([], dtype=np.int64, name="promise")]
    bits = [np.empty((0, -(-len(scenario) // 8)), dtype=np.uint8), *(part["accepted"] for part in parts)]

    def whole(name: str, dtype: type) -> Any:
        return np.concatenate([np.empty(0, dtype=dtype), *(part[name] for part in parts)])

    return FutureValidity(
        accepted=np.unpackbits(np.concatenate(bits), axis=1, count=len(scenario)).astype(bool),
        scenario=scenario,
        has_recourse=whole("has_recourse", bool),
        position=np.concatenate([people[:0], *(part["position"] + n for part, n in zip(parts, people, strict=False))]),
        rank=whole("rank", int),
        labels=labels[0].append(labels[1:]) if len(labels) > 1 else labels[0],
        level=level,
    )
