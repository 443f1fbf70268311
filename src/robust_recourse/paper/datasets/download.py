"""Download the files of the data sets into the user's cache, on demand only."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from robust_recourse._validation import check_choice
from robust_recourse.paper.datasets.files import DATA_VARIABLE, DatasetError, cache_folder, find, mismatch, read
from robust_recourse.paper.datasets.sources import SOURCES, Source

__all__ = ["fetch"]

_PATIENCE = 30.0  # seconds without a byte


def fetch(name: str, *, progress: bool | None = None) -> list[Path]:
    """Make sure that the files of a data set are there; download those that are not.

    Files are downloaded into the user's cache and put in their place only once their sha256 is known to be right.

    Parameters
    ----------
    name : str
        Name of the data set.
    progress : bool, optional
        Whether to show progress on standard error; by default if that is a terminal.

    Returns
    -------
    list of Path
        Where the files are.

    Raises
    ------
    DatasetError
        If a file cannot be downloaded, is not the right one, or has to be downloaded by hand; the message says how.
    ImportError
        If pooch is not installed.
    """
    check_choice(name, "name", ("synthetic", *SOURCES))
    if name == "synthetic":
        raise DatasetError("the data set 'synthetic' is generated: there is nothing to fetch, just load it.")
    shown = sys.stderr.isatty() if progress is None else progress
    return [_fetch_file(source, shown) for source in SOURCES[name]]


def _fetch_file(source: Source, progress: bool) -> Path:
    there = find(source)
    target = cache_folder() / source.paths[0]
    # A damaged file of the cache is replaced; one elsewhere is the user's own, and would hide what is downloaded.
    if there is not None:
        try:
            return read(source).path
        except DatasetError:
            if there != target or source.by_hand:
                raise
    if source.by_hand:
        raise DatasetError(_steps(source))
    pooch = _pooch()
    cache_folder().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache_folder(), prefix=".fetch-") as folder:
        checked = Path(folder) / "checked"
        checked.write_bytes(_download(pooch, source, Path(folder), progress))
        target.parent.mkdir(exist_ok=True)
        os.replace(checked, target)
    return target


def _download(pooch: Any, source: Source, folder: Path, progress: bool) -> bytes:
    """Content of the file, checked; the folder is for temporary files."""
    # What is in an archive is known, the archive itself is not.
    known = None if source.member else f"sha256:{source.versions[0].sha256}"
    try:
        with _quiet(pooch.get_logger()):
            path = pooch.retrieve(source.url, known, fname="download", path=folder, downloader=_Downloader(progress))
        content = _extract(Path(path), source.member) if source.member else Path(path).read_bytes()
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DatasetError(_failed(source, reason)) from error
    if problem := mismatch(content, source):
        raise DatasetError(_failed(source, f"{source.member or 'what came'} {problem}"))
    return content


def _pooch() -> Any:
    try:
        import pooch
    except ImportError as error:
        raise ImportError("downloading data needs pooch: pip install 'robust-recourse[data]'") from error
    return pooch


def _extract(archive: Path, member: str) -> bytes:
    with zipfile.ZipFile(archive) as opened:
        names = [name for name in opened.namelist() if PurePosixPath(name).name == member]
        if len(names) != 1:
            raise ValueError(f"the archive must hold {member} once, it holds {', '.join(opened.namelist())}")
        return opened.read(names[0])


def _failed(source: Source, reason: str) -> str:
    place = cache_folder() / source.paths[0]
    return (
        f"the data set {source.dataset!r} could not be downloaded from {source.url}: {reason.rstrip('.')}. "
        f"Nothing of it was kept. Try again later, or get the file by hand and put it at {place}."
    )


def _steps(source: Source) -> str:
    path = source.paths[-1]
    return (
        f"the data set {source.dataset!r} cannot be downloaded for you: its publisher asks for a login and forbids "
        f"redistribution. 1. Sign in at {source.url}, accept the rules, and download {Path(path).name}. "
        f"2. Put it at {cache_folder() / path}, or at {path} in the folder that {DATA_VARIABLE} "
        f"names. 3. Its sha256 must be {source.versions[0].sha256}."
    )


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


class _Downloader:
    """What pooch downloads with: unlike pooch's own, it closes the connection also if that fails."""

    def __init__(self, progress: bool) -> None:
        self.progress = progress

    def __call__(self, url: str, path: str, _pooch: Any) -> None:
        import requests
        from rich.console import Console
        from rich.progress import Progress

        bar = Progress(console=Console(stderr=True), disable=not self.progress)
        with bar, requests.get(url, stream=True, timeout=_PATIENCE) as response, open(path, "wb") as file:
            response.raise_for_status()
            size = int(response.headers.get("Content-Length", 0))
            task = bar.add_task(f"Downloading {PurePosixPath(url).name}", total=size or None)
            for part in response.iter_content(chunk_size=2**16):
                file.write(part)
                bar.update(task, advance=len(part))
