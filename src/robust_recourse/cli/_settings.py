"""The parameters of a method, from a file that ``robust-recourse tune`` writes and from options ``--set``."""

from __future__ import annotations

import inspect
import tomllib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from robust_recourse.cli._options import blaming, overrides
from robust_recourse.methods.registry import METHODS

__all__ = ["check_parameters", "chosen", "read_settings"]

_DEFAULT = "robust"
# Those that have options of their own.
_GIVEN = {"model", "actions", "favourable", "threshold", "margin", "jury", "random_state", "n_jobs"}
_TOP = {"method": str, "parameters": dict, "criterion": dict, "measured": dict}


def chosen(
    method: str | None, settings: Path | None, pairs: Sequence[str]
) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Return which method it is, its parameters, and what the file says about a criterion.

    Parameters
    ----------
    method : str, optional
        The method that is asked for.
    settings : Path, optional
        A file with a method and parameters.
    pairs : sequence of str
        ``KEY=VALUE``; they replace parameters of the file.
    """
    given = overrides(pairs)
    if settings is None:
        name = _DEFAULT if method is None else method
        check_parameters(name, given, "--set")
        return name, given, {}
    name, parameters, criterion = read_settings(settings)
    if method not in (None, name):
        raise ValueError(f"--method {method}: the settings of {settings} are for the method {name}. Leave one out.")
    check_parameters(name, given, "--set")
    if "delta_plus" in given and "target_odds" in {*parameters} - {*given}:
        raise ValueError(
            f"--set delta_plus: the settings of {settings} promise odds, target_odds = {parameters['target_odds']}, "
            "and then there is no budget. Set target_odds, or take that line out of a copy of the file."
        )
    return name, {**parameters, **given}, criterion


def read_settings(path: Path) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Read a method, its parameters and a criterion from a file.

    What is wrong is named with the file, a missed target, too.
    """
    try:
        # Some editors begin a file with a mark that TOML does not know.
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (RecursionError, ValueError) as error:
        raise ValueError(f"{path}: this is no TOML file: {error}.") from error
    for key, value in content.items():
        if key not in _TOP:
            raise ValueError(f"{path}: there is no key {key!r} at the top; there are {', '.join(_TOP)}.")
        if not isinstance(value, _TOP[key]):
            wanted = "a text" if _TOP[key] is str else "a table"
            raise ValueError(f"{path}: {key} must be {wanted}, got {value!r}.")
    name, parameters = content.get("method"), content.get("parameters")
    if name not in METHODS:
        found = "it is missing" if name is None else f"got {name!r}"
        raise ValueError(f"{path}: method must be one of {_names(METHODS)}; {found}.")
    if parameters is None:
        raise ValueError(f"{path}: the table [parameters] is missing, which 'robust-recourse tune' writes.")
    check_parameters(name, parameters, f"{path}, [parameters]")
    _doubt_target(path, content.get("measured", {}))
    return name, parameters, content.get("criterion", {})


def _doubt_target(path: Path, measured: Mapping[str, Any]) -> None:
    """Warn of settings that were the best, and not good enough."""
    if measured.get("reached") is False:
        wanted, found = (measured.get(key, "unknown") for key in ("target_future_validity", "future_validity"))
        warnings.warn(
            f"{path}: the settings did not reach their target. A future validity of {wanted} was wanted, and "
            f"{found} was measured.",
            stacklevel=4,
        )


def check_parameters(name: str, parameters: Mapping[str, Any], where: str) -> None:
    """Raise if a method does not have such parameters; `where` says where they come from."""
    known = sorted(set(inspect.signature(METHODS[name]).parameters) - _GIVEN)
    for key in parameters:
        if key not in known:
            there = f"it has {', '.join(known)}" if known else "it has none"
            raise ValueError(f"{where} {key}: the method {name} has no such parameter; {there}.")
    with blaming(where):
        METHODS[name](None, **parameters).check_parameters()


def _names(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))
