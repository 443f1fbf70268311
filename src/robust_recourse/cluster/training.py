"""Training at scale: a method fitted to more rows than fit in memory, and models that are retrained on a cluster."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse._validation import check_integer, check_seed
from robust_recourse.cluster.places import Place, found_files
from robust_recourse.cluster.reading import reading
from robust_recourse.cluster.source import Part, Source, find_source, read_part
from robust_recourse.cluster.texts import as_parquet
from robust_recourse.math.spread import thinned

__all__ = ["fit_dataset", "retraining_on"]

_ROWS = 65_536  # that are read together
_SAMPLE = 200_000
_BUFFER = 4  # times as many candidates as may stay are collected before some go


def fit_dataset(
    method: Any,
    source: Any,
    *,
    max_candidates: int | None = 100_000,
    sample_rows: int = _SAMPLE,
    drop: Sequence[str] = (),
    separator: str = ",",
    missing: Sequence[str] | None = None,
) -> Any:
    r"""Fit a method to a data set of training rows, of which only some are in memory at any time.

    Kinds, units of cost, steps, categories and ranges of columns are learnt from a random sample of the rows. All rows
    are then asked about, a part at a time, and those that are accepted become candidates.

    Parameters
    ----------
    method : RecourseMethod
        The method; it stays as it is.
    source : path-like, or list of these
        Parquet or CSV files, as for :func:`explain_dataset`.
    max_candidates : int or None
        How many accepted rows are kept at most, spread over all of them; None for all.
    sample_rows : int
        Rows of the sample, at most. Data sets that are smaller are fitted as a whole.
    drop : sequence of str
        Columns that the model does not get.
    separator, missing
        Of CSV files, as for :func:`explain_dataset`.

    Returns
    -------
    RecourseMethod
        A fitted copy. Its attribute ``candidates_radius_`` is the length :math:`r` such that every accepted row
        :math:`z` has a candidate :math:`z'` with the same categories and :math:`|z_k - z'_k| \le r` in units of cost,
        in every column :math:`k`.

    Notes
    -----
    What fewer candidates do to costs: for a person whose nearest accepted row is in reach, and stays accepted where it
    stands, the cheapest candidate costs at most :math:`r \sum_k w_k` more. Searches then go on from there towards the
    person, so that what they end with as a rule differs by much less; the page "From one row to ten million" has
    measurements.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np, pandas as pd
    >>> from robust_recourse import NearestAccepted
    >>> from robust_recourse.cluster import fit_dataset
    >>> rng = np.random.default_rng(0)
    >>> train = pd.DataFrame(rng.normal(size=(1000, 2)), columns=["a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     train.to_parquet(f"{folder}/train.parquet")
    ...     few = NearestAccepted(lambda X: X["a"] > X["b"], random_state=0)
    ...     few = fit_dataset(few, f"{folder}/train.parquet", max_candidates=50)
    >>> len(few.candidates_) <= 50
    True
    """
    if max_candidates is not None:
        check_integer(max_candidates, "max_candidates", minimum=1)
    check_integer(sample_rows, "sample_rows", minimum=1)
    files = found_files(source)
    with (
        tempfile.TemporaryDirectory() as folder,
        as_parquet(files, Place(folder), (), separator, missing) as converted,
        reading(),
    ):
        found = find_source(files, drop=drop, converted=converted)
        if found.broken:
            name, why = next(iter(found.broken.items()))
            raise ValueError(f"{name}: {why} Training needs all files.")
        return _fitted(method, found, found.parts(_ROWS), max_candidates, sample_rows)


def _fitted(method: Any, found: Source, parts: Sequence[Part], max_candidates: int | None, sample_rows: int) -> Any:
    fitted = copy(method).fit(_sample(found, parts, sample_rows, check_seed(method.random_state)))
    fitted.candidates_radius_ = 0.0
    exact = fitted.schema_.categorical
    every = found.rows <= sample_rows
    if every and (max_candidates is None or len(fitted.candidates_) <= max_candidates):
        return fitted
    groups = [fitted.candidates_, fitted.accepted_] if every else _streamed(fitted, found, parts, max_candidates, exact)
    kept = [None if group is None else _spread(fitted, group, max_candidates, exact) for group in groups]
    fitted.keep_candidates(*kept)
    return fitted


def _sample(source: Source, parts: Sequence[Part], most: int, seed: int) -> pd.DataFrame:
    """Return all rows, or a random sample of them that depends on nothing but the seed and the rows' numbers."""
    chosen = np.arange(source.rows)
    if source.rows > most:
        chosen = np.sort(np.random.default_rng(seed).choice(source.rows, most, replace=False))
    pieces = [source.types.like()]
    for part in parts:
        first, last = np.searchsorted(chosen, [part.before, part.before + part.rows])
        if first < last:
            pieces.append(read_part(source.types, part).iloc[chosen[first:last] - part.before])
    return pd.concat(pieces[1:] or pieces)


def _streamed(
    method: Any, source: Source, parts: Sequence[Part], most: int | None, exact: Any
) -> list[np.ndarray | None]:
    """Return the accepted rows of all parts as points: those that the criterion takes, and all if there is one."""
    collected: list[list[np.ndarray]] = [[], []]
    for part in parts:
        table = method.schema_.read(read_part(source.types, part), f"{part.file} (from row {part.first})")
        for group, points in zip(collected, method.accepted_points(table), strict=True):
            if points is not None:
                group.append(points)
                if most is not None and sum(map(len, group)) > _BUFFER * most:
                    group[:] = [_spread(method, np.concatenate(group), 2 * most, exact)]
    consented, accepted = (np.concatenate(group) if group else None for group in collected)
    if consented is None or not len(consented):
        return [accepted if accepted is not None else method.candidates_, accepted]
    return [consented, accepted]


def _spread(method: Any, points: np.ndarray, most: int | None, exact: Any) -> np.ndarray:
    if most is None:
        return points
    kept, edge = thinned(points, most, exact)
    method.candidates_radius_ += edge
    return kept


@contextmanager
def retraining_on(client: Any) -> Iterator[None]:
    """Let `future_models` and `Jury.retrain` train on a cluster, in a ``with`` block.

    The models are the same as without. Everything else that runs in parallel in the block runs there, too.

    Parameters
    ----------
    client : str or distributed.Client
        As for :func:`explain_dataset`.
    """
    import joblib

    from robust_recourse.cluster.engine import connected

    with connected(client) as there, joblib.parallel_config(backend="dask", client=there, n_jobs=-1):
        yield
