"""What several commands share: kinds of arguments, and checks before long work."""

from __future__ import annotations

import argparse
import math
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from robust_recourse.models.predictor import ModelError

if TYPE_CHECKING:
    Commands: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = ["blaming", "need_file", "need_folder", "need_report", "overrides", "positive_integer", "positive_number"]


def positive_integer(text: str) -> int:
    """Read a number of things."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {value}")
    return value


def positive_number(text: str) -> float:
    """Read a length of time."""
    value = float(text)
    if not 0.0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"must be positive and finite, got {text}")
    return value


def need_report(what: str) -> None:
    """Fail if the packages of the extra `report` are missing."""
    missing = [name for name in ("matplotlib", "jinja2") if find_spec(name) is None]
    if missing:
        raise ImportError(f"{what} needs {' and '.join(missing)}: pip install 'robust-recourse[report]'")


def need_folder(out: Path) -> None:
    """Fail before the long work: a folder that cannot be written to should not cost a minute."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=out):
        pass


def need_file(out: Path) -> None:
    """Fail before the long work if a file cannot be written."""
    if out.is_dir():
        raise ValueError(f"{out} is a folder: name a file in it.")
    need_folder(out.parent)


def overrides(pairs: Sequence[str]) -> dict[str, Any]:
    """Read the values of repeated options ``--set KEY=VALUE``."""
    from robust_recourse.bench.spec import merged

    values: dict[str, Any] = {}
    for pair in pairs:
        try:
            values = merged(values, tomllib.loads(pair))
        except tomllib.TOMLDecodeError as error:
            raise ValueError(
                f"--set {pair}: write KEY=VALUE, with VALUE as in TOML (text in quotes): {error}"
            ) from None
    return values


@contextmanager
def blaming(what: object) -> Iterator[None]:
    """Say first what a mistake is in, a file or an option."""
    try:
        yield
    except (ModelError, NotImplementedError, TypeError, ValueError) as error:
        raise ValueError(f"{what}: {error}") from error
