"""Data sets, one file each: present data, shifted data, and what a reader must know about them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pandas as pd

from robust_recourse._validation import check_choice
from robust_recourse.paper.datasets.base import Dataset, Kind
from robust_recourse.paper.datasets.download import fetch
from robust_recourse.paper.datasets.files import DatasetError, find, read
from robust_recourse.paper.datasets.german import load_german
from robust_recourse.paper.datasets.gmc import load_gmc
from robust_recourse.paper.datasets.sba import load_sba
from robust_recourse.paper.datasets.sources import SOURCES
from robust_recourse.paper.datasets.synthetic import load_synthetic, make_synthetic

__all__ = ["NAMES", "Dataset", "DatasetError", "Kind", "available", "fetch", "load", "make_synthetic"]

_LOADERS: dict[str, Callable[..., Dataset]] = {
    "synthetic": load_synthetic,
    "german": load_german,
    "sba": load_sba,
    "gmc": load_gmc,
}
_FACTS = {
    "synthetic": ("Synthetic", 1000, 1000, "generated"),
    "german": ("German Credit", 1000, 1000, "CC BY 4.0"),
    "sba": ("Small Business Administration", 1159, 943, "none stated"),
    "gmc": ("Give Me Some Credit", 75000, 75000, "no redistribution"),
}

NAMES = tuple(_LOADERS)


def load(name: str, **options: Any) -> Dataset:
    """Load a data set. Nothing is downloaded: see :func:`fetch`.

    Files are looked for in the folder that the environment variable ``ROBUST_RECOURSE_DATA`` names, then in the user's
    cache, and must have the sha256 of the published ones.

    Parameters
    ----------
    name : {"synthetic", "german", "sba", "gmc"}
        Name of the data set.
    **options
        Options of the data set: ``n_samples``, ``random_state``, ``points`` (synthetic); ``columns`` (german);
        ``leak``, ``present`` (sba); ``codes``, ``random_state`` (gmc); ``check_hash=False`` (all but synthetic) to
        read files that are not the published ones.

    Raises
    ------
    DatasetError
        If a file is missing, is not the right one, or cannot be read; the message says what to do.
    ValueError
        If there is no such data set or option.

    Examples
    --------
    >>> data = load("synthetic")
    >>> data
    Dataset('synthetic': 1000 + 1000 rows, 2 columns, favourable accepted = 1)
    >>> data.X1.shape, data.y1.shape, data.kinds
    ((1000, 2), (1000,), {'x1': 'continuous', 'x2': 'continuous'})
    """
    loader = _LOADERS[check_choice(name, "name", NAMES)]
    known = list(inspect.signature(loader).parameters)
    unknown = [option for option in options if option not in known]
    if unknown:
        raise ValueError(f"the data set {name!r} has no option {unknown[0]!r}; it has {', '.join(known)}.")
    return loader(**options)


def available() -> pd.DataFrame:
    """List the data sets, and which of them are there.

    Returns
    -------
    DataFrame
        One row a data set: ``name``, ``title``, ``rows_D1``, ``rows_D2``, ``found`` (the paths of its files,
        "built in", "missing", or "damaged: " and the paths), ``licence``.

    Examples
    --------
    >>> available()[["name", "rows_D1", "rows_D2"]].head(1)
            name  rows_D1  rows_D2
    0  synthetic     1000     1000
    """
    rows = [(name, *facts[:3], _found(name), facts[3]) for name, facts in _FACTS.items()]
    return pd.DataFrame(rows, columns=["name", "title", "rows_D1", "rows_D2", "found", "licence"])


def _found(name: str) -> str:
    if name not in SOURCES:
        return "built in"
    paths = [find(source) for source in SOURCES[name]]
    if None in paths:
        return "missing"
    shown = ", ".join(map(str, paths))
    try:
        for source in SOURCES[name]:
            read(source)
    except OSError:
        return f"damaged: {shown}"
    return shown
