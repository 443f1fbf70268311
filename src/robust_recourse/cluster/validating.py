"""Many recourses, many models: which of them accept what was promised, part by part."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from types import EllipsisType
from typing import Any

import numpy as np

from robust_recourse._typing import BoolArray
from robust_recourse.cluster.errors import IncompleteError
from robust_recourse.cluster.here import Outcome, run_here
from robust_recourse.cluster.places import Place, found_files, opened
from robust_recourse.cluster.progress import Tally, watching
from robust_recourse.cluster.sending import Packed, packed_models
from robust_recourse.futures import listed
from robust_recourse.math.intervals import check_level
from robust_recourse.result import FutureValidity, Recourses
from robust_recourse.result.parquet import MANIFEST, read_parquet_file

__all__ = ["validate_dataset"]


@dataclass(frozen=True)
class _Asking:
    """What is asked about every part."""

    place: Place
    favourable: Any
    threshold: Any
    level: float
    time_limit: float | None = None


@dataclass(frozen=True)
class _File:
    """A file of recourses."""

    name: str


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

    With recourses that were promised, and one model that is to replace the present one, this is the check of these
    promises: ``validity.by_person`` is 1 for those that it keeps.

    Parameters
    ----------
    source : path-like
        The folder that :func:`explain_dataset` wrote, or files that :meth:`Recourses.to_parquet` wrote.
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
    files = [_File(name) for name in found_files(source)]
    _need_all(source, len(files))
    several = listed(models, "models")
    scenario = np.array([str(name) for name in getattr(models, "scenario", [""] * len(several))], dtype=object)
    asking = _Asking(Place(str(source)), favourable, threshold, check_level(level))
    tally = Tally(str(source), len(files), len(files))
    found: dict[str, dict[str, Any]] = {}
    failed: dict[str, str] = {}
    with watching(tally, show=progress) as show:
        for file, done, reason in _outcomes(asking, several, files, client):
            if done is None:
                failed[file.name] = reason
                continue
            found[file.name] = done
            tally.add({"rows": 1, "statuses": {}, "several": False}, now=True)
            show()
    if failed:
        raise IncompleteError(str(source), failed, tally)
    return _together([found[file.name] for file in files], scenario, asking.level)


def _need_all(source: Any, n: int) -> None:
    """Raise if a folder of results is not finished."""
    manifest = Place(os.fspath(source)).read(MANIFEST) if isinstance(source, str | os.PathLike) else None
    parts = n if manifest is None else json.loads(manifest)["parts"]
    if n < parts:
        raise ValueError(f"{os.fspath(source)} has {n} of {parts} parts: it is not finished. Finish it first.")


def _outcomes(asking: _Asking, models: Sequence[Any], files: Sequence[_File], client: Any) -> Iterator[Outcome]:
    if client is None:
        yield from run_here(partial(_asked, asking, models=models), files, None)
        return
    from robust_recourse.cluster.engine import connected, run_there

    with connected(client) as there:
        yield from run_there(there, _asked, asking, files, packed_models(list(models)))


def _asked(asking: _Asking, file: _File, models: Sequence[Any] | Packed) -> dict[str, Any]:
    """Ask the models about a file; answers are bits."""
    asked = models.value() if isinstance(models, Packed) else models
    with opened(file.name) as content:
        found = Recourses(**read_parquet_file(content, file.name)[0])
    validity = found.future_validity(
        asked, favourable=asking.favourable, threshold=asking.threshold, level=asking.level
    )
    return {
        "accepted": np.packbits(validity.accepted, axis=1),
        "models": validity.n_models,
        "has_recourse": validity.has_recourse,
        "position": validity.position,
        "rank": validity.rank,
        "labels": validity.labels,
    }


def _together(parts: Sequence[dict[str, Any]], scenario: Any, level: float) -> FutureValidity:
    accepted: list[BoolArray] = [
        np.unpackbits(part["accepted"], axis=1, count=part["models"]).astype(bool) for part in parts
    ]
    people = np.cumsum([0, *(len(np.unique(part["position"])) for part in parts)])
    labels = [part["labels"] for part in parts]
    return FutureValidity(
        accepted=np.concatenate(accepted),
        scenario=scenario,
        has_recourse=np.concatenate([part["has_recourse"] for part in parts]),
        position=np.concatenate([part["position"] + before for part, before in zip(parts, people, strict=False)]),
        rank=np.concatenate([part["rank"] for part in parts]),
        labels=labels[0].append(labels[1:]) if len(labels) > 1 else labels[0],
        level=level,
    )
