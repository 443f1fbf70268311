"""What several commands share: kinds of arguments, and checks before long work."""

from __future__ import annotations

import argparse
import math
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from robust_recourse._files import private_folder
from robust_recourse.models.predictor import ModelError

if TYPE_CHECKING:
    Commands: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = [
    "add_running",
    "at_least",
    "between",
    "blaming",
    "need_file",
    "need_folder",
    "need_other_file",
    "need_report",
    "overrides",
    "positive_integer",
    "positive_number",
    "processes",
    "real_number",
    "share",
]

_MOST_PROCESSES = 1024


def add_running(group: argparse._ArgumentGroup) -> None:
    """Add the options of everything that is random and takes long."""
    group.add_argument("--seed", type=at_least(0), default=0, help="seed of everything random (default: %(default)s)")
    group.add_argument(
        "--jobs", type=processes, default=1, metavar="N", help="processes, -1 for all cores (default: 1)"
    )


def at_least(least: int) -> Callable[[str], int]:
    """Return what reads an integer that is not smaller."""

    def integer(text: str) -> int:
        value = _integer(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}, got {value}")
        return value

    return integer


def between(low: float, high: float) -> Callable[[str], float]:
    """Return what reads a number between two others."""

    def number(text: str) -> float:
        value = real_number(text)
        if not low < value < high:
            raise argparse.ArgumentTypeError(f"must be above {low:g} and below {high:g}, got {text}")
        return value

    return number


def positive_integer(text: str) -> int:
    """Read a number of things."""
    return at_least(1)(text)


def processes(text: str) -> int:
    """Read a number of processes; below 0 they are counted from all cores downwards."""
    value = _integer(text)
    if not 0 < abs(value) <= _MOST_PROCESSES:
        raise argparse.ArgumentTypeError(f"must be 1 to {_MOST_PROCESSES}, or -1 for all cores, got {text}")
    return value


def share(text: str) -> float:
    """Read a part of a whole."""
    value = real_number(text)
    if not 0.0 < value <= 1.0:
        raise argparse.ArgumentTypeError(f"must be above 0 and at most 1, such as 0.95, got {text}")
    return value


def positive_number(text: str) -> float:
    """Read a length of time."""
    value = real_number(text)
    if not 0.0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"must be positive and finite, got {text}")
    return value


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"must be a whole number, got {text!r}") from error


def real_number(text: str) -> float:
    """Read a number of any kind."""
    try:
        return float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"must be a number, got {text!r}") from error


def need_report(what: str) -> None:
    """Fail if the packages of the extra `report` are missing."""
    if find_spec("matplotlib") is None:
        raise ImportError(f"{what} needs matplotlib: pip install 'robust-recourse[report]'")


def need_folder(out: Path) -> None:
    """Fail before the long work: a folder that cannot be written to should not cost a minute."""
    private_folder(out)
    try:
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        error.filename = out
        raise


def need_file(out: Path) -> None:
    """Fail before the long work if a file cannot be written."""
    if out.is_dir():
        raise ValueError(f"{out} is a folder: name a file in it.")
    need_folder(out.parent)


def need_other_file(option: str, path: Path, inputs: Iterable[Path | None]) -> None:
    """Fail before the long work if a file cannot be written, or would replace one that is read."""
    if path.resolve() in {known.resolve() for known in inputs if known is not None}:
        raise ValueError(f"{option} {path} would replace a file that is read. Name another one.")
    need_file(path)


def overrides(pairs: Sequence[str]) -> dict[str, Any]:
    """Read the values of repeated options ``--set KEY=VALUE``."""
    from robust_recourse.paper.bench.spec import merged

    values: dict[str, Any] = {}
    for pair in pairs:
        try:
            values = merged(values, tomllib.loads(pair))
        except (RecursionError, ValueError) as error:
            raise ValueError(
                f"--set {pair}: write KEY=VALUE, with VALUE as in TOML (text in quotes): {error}"
            ) from None
    return values


@contextmanager
def blaming(what: object) -> Iterator[None]:
    """Say first what a mistake is in, a file or an option."""
    try:
        yield
    except (ModelError, NotImplementedError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise ValueError(f"{what}: {error}") from error
