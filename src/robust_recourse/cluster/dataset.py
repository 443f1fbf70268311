"""Explaining a data set: part by part, here or on a cluster, and never a part twice."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from importlib.metadata import version
from typing import Any

from robust_recourse._typing import Unseen
from robust_recourse._validation import check_choice, check_integer, check_real
from robust_recourse.cluster.errors import IncompleteError
from robust_recourse.cluster.folder import Folder
from robust_recourse.cluster.here import Outcome, run_here
from robust_recourse.cluster.job import Job, explain_part, facts_of, part_bytes, result_schema
from robust_recourse.cluster.places import Place, found_files, opened
from robust_recourse.cluster.progress import Tally, watching
from robust_recourse.cluster.reading import reading
from robust_recourse.cluster.sending import packed_method, sent
from robust_recourse.cluster.source import Part, Source, find_source
from robust_recourse.cluster.texts import as_parquet, is_text
from robust_recourse.result import Recourses, Status
from robust_recourse.result.frames import frame_of
from robust_recourse.result.parquet import read_parquet_file
from robust_recourse.result.provenance import Provenance
from robust_recourse.saving import fingerprint

__all__ = ["PART_ROWS", "explain_dataset"]

PART_ROWS = 8192
"""Rows of a part, at most: what a worker holds in memory, and what is lost if it dies."""

_TOLD = ("seed", "model", "model_fingerprint", "schema_fingerprint")  # of a method, beside its parameters


def explain_dataset(
    method: Any,
    source: Any,
    out: str | os.PathLike[str],
    *,
    client: Any = None,
    n_recourses: int = 1,
    unseen: Unseen = "warn",
    index: str | None = None,
    drop: Sequence[str] = (),
    part_rows: int = PART_ROWS,
    time_limit: float | None = None,
    progress: bool | None = None,
    separator: str = ",",
    missing: Sequence[str] | None = None,
) -> Tally:
    """Find recourses for all rows of a data set, however many, and write them as another one.

    What comes out is ``method.explain`` of the whole table, to the last bit: ``pandas.read_parquet(out)`` is
    ``found.to_frame()``, in the order of the input and with its labels, and :meth:`Recourses.from_parquet` reads `out`,
    too. It depends neither on the parts nor on who computed them.

    Parameters
    ----------
    method : RecourseMethod
        A fitted method.
    source : path-like, or list of these
        Parquet or CSV files: one, a folder of them, a pattern such as ``"refused/*.parquet"``, or a list; paths, or
        whatever fsspec opens. They are one table, in the order of their names.
    out : path-like
        A folder for the results, which workers see under the same name. What is finished there is not computed again.
    client : None, str or distributed.Client
        Where parts are computed: None for this process, "local" for a worker on every core of this machine, else the
        address of a scheduler of Dask, or a client.
    n_recourses, unseen
        As for :meth:`RecourseMethod.explain`. With ``unseen="error"`` parts that have such values fail.
    index : str, optional
        A column that names the people.
    drop : sequence of str
        Columns that the model does not get.
    part_rows : int
        Rows of a part, at most.
    time_limit : float, optional
        Seconds that a part may take; one that takes longer is set aside.
    progress : bool, optional
        Whether to show a bar; None for: on a terminal.
    separator, missing
        Of CSV files: what stands between two fields, and for a missing value; None for what pandas takes for one.

    Returns
    -------
    Tally
        How many people there are, and what became of them.

    Raises
    ------
    IncompleteError
        If files or parts failed: it names each with its reason. All others are finished.
    OtherJobError
        If `out` has results of another method, input or settings.
    ClusterLostError
        If the scheduler goes away. What is finished is kept, as with all other errors and interruptions.
    OSError
        If results cannot be written, as on a full disk.

    Warns
    -----
    UserWarning
        Of values that no training row has; if all of several rows are accepted.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np, pandas as pd
    >>> from robust_recourse import NearestAccepted
    >>> from robust_recourse.cluster import explain_dataset
    >>> people = pd.DataFrame({"income": [1.0, 2.0, 3.0, 4.0], "debt": [4.0, 3.0, 2.0, 1.0]})
    >>> method = NearestAccepted(lambda X: X["income"] > X["debt"], random_state=0).fit(people)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     people.to_parquet(f"{folder}/refused.parquet")
    ...     tally = explain_dataset(method, f"{folder}/refused.parquet", f"{folder}/recourses", part_rows=2)
    ...     whole = pd.read_parquet(f"{folder}/recourses")
    >>> tally.parts, dict(tally.statuses)
    (2, {'ok': 2, 'already favourable': 2})
    >>> pd.testing.assert_frame_equal(whole, method.explain(people).to_frame())
    """
    method = getattr(method, "best_method_", method)
    method.check_ready(n_recourses)
    check_choice(unseen, "unseen", ("warn", "error", "ignore"))
    check_integer(part_rows, "part_rows", minimum=1)
    if time_limit is not None:
        check_real(time_limit, "time_limit", minimum=0.0, strict=True)
    place, files = Place(os.fspath(out)), found_files(source)
    labels = method.schema_.names
    settings = {"n_recourses": n_recourses, "part_rows": part_rows, "index": index, "drop": list(drop)}
    if any(map(is_text, files)):
        settings |= {"separator": separator, "missing": None if missing is None else list(missing)}
    facts = {
        "version": version("robust-recourse"),
        "method": _described(method),
        "settings": settings,
    }
    with as_parquet(files, place, _texts(method, index), separator, missing) as converted:
        expected = None if labels is None else list(map(str, labels))
        found = find_source(files, expected, index=index, drop=drop, converted=converted)
        job = Job(place, found.types, None, n_recourses, unseen, time_limit=time_limit)
        parts = found.parts(part_rows, facts) or [_no_rows(found, facts)]
        tally = Tally(place.name, found.rows, len(parts))
        with Folder(place).writing():
            Folder(place).begin({**facts, "rows": found.rows, "parts": len(parts)}, found.files)
            known = _run(job, method, found, parts, client, tally, progress)
    _doubt(method, {} if unseen == "ignore" else known, tally)
    return tally


def _run(
    job: Job, method: Any, source: Source, parts: Sequence[Part], client: Any, tally: Tally, progress: bool | None
) -> dict[str, dict[str, Any]]:
    """Compute what is missing; return what is known about every part."""
    folder = Folder(job.place)
    known = folder.finished(parts)
    for there in known.values():
        tally.add(there, now=False)
    left = [part for part in parts if part.name not in known]
    job = replace(job, schema=result_schema(job, method))
    failed = dict(source.broken)
    with watching(tally, show=progress) as show:
        for part, done, reason in _outcomes(job, method, left, client):
            if done is None:
                failed[str(part)] = reason
                continue
            known[part.name] = done
            folder.note([done])
            tally.add(done, now=True)
            show()
    if failed:
        raise IncompleteError(job.place.name, failed, tally)
    if job.n_recourses > 1 and not tally.several:
        _without_ranks(job, folder, parts, known)
    return known


def _described(method: Any) -> dict[str, Any]:
    """Return what a method is; its fingerprint comes last, because it does not say what is different."""
    known = asdict(Provenance.of(method))
    return {
        "class": known["method"],
        **known["parameters"],
        **{k: known[k] for k in _TOLD},
        "fingerprint": fingerprint(method),
    }


def _texts(method: Any, index: str | None) -> set[str]:
    """Return the columns of which the training rows hold text, whatever it looks like; names of people, too."""
    columns = method.schema_.columns
    texts = {
        str(column.name) for column in columns if column.categorical and all(isinstance(v, str) for v in column.values)
    }
    return texts | ({index} if index is not None else set())


def _outcomes(job: Job, method: Any, parts: Sequence[Part], client: Any) -> Iterator[Outcome]:
    if not parts:
        return
    if client is None:
        with reading():
            yield from run_here(partial(_explained_here, job, method), parts, job.time_limit)
        return
    from robust_recourse.cluster.engine import connected, run_there

    with connected(client) as there, sent(packed_method(method), job.place) as known:
        yield from run_there(there, explain_part, replace(job, sent=known), parts)


def _explained_here(job: Job, method: Any, part: Part) -> dict[str, Any]:
    return explain_part(job, part, method)


def _no_rows(source: Source, facts: Any) -> Part:
    """Return the only part of a table without rows, which has a file all the same."""
    file = next(file for file in source.files if not file.broken)
    [part] = replace(source, files=(replace(file, rows=1),)).parts(1, facts)
    return replace(part, rows=0)


def _without_ranks(job: Job, folder: Folder, parts: Sequence[Part], known: dict[str, dict[str, Any]]) -> None:
    """Write the parts again without what tells several recourses of a person apart: nobody has several."""
    import pyarrow

    assert job.schema is not None
    schema = pyarrow.ipc.read_schema(pyarrow.py_buffer(job.schema))
    for part in parts:
        with opened(job.place.path(part.name)) as file:
            found = Recourses(**read_parquet_file(file, part.name)[0])
        added = [name for name in frame_of(found, several=True).columns if name not in frame_of(found, several=False)]
        plain = pyarrow.schema([column for column in schema if column.name not in added])
        slim = replace(job, schema=plain.serialize().to_pybytes())
        content = part_bytes(slim, part, found, facts_of(found), several=False)
        job.place.write(part.name, content)
        known[part.name] = {**known[part.name], "bytes": len(content)}
    folder.renew(known.values())


def _doubt(method: Any, known: dict[str, dict[str, Any]], tally: Tally) -> None:
    """Say what looks like a mistake, once for all parts."""
    unseen = [done["unseen"] for done in known.values() if done.get("unseen")]
    if unseen:
        more = f" So have {len(unseen) - 1} more parts." if len(unseen) > 1 else ""
        warnings.warn(f'{unseen[0]}{more} Correct them, or accept them with unseen="ignore".', stacklevel=3)
    if tally.rows > 1 and tally.statuses[str(Status.ALREADY_FAVOURABLE)] == tally.rows:
        told = "" if method.favourable is None else repr(method.favourable)
        warnings.warn(
            f"The model accepts all {tally.rows} rows as they are, so that nobody needs a recourse. Is "
            f"favourable={told} the wrong way round?",
            stacklevel=3,
        )
