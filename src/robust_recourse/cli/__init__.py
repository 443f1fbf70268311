"""The command: parse, call, print."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from robust_recourse import __version__
from robust_recourse.cli import _actions, _datasets, _demo, _experiments, _explain, _tune
from robust_recourse.cli._options import positive_integer

__all__ = ["main", "positive_integer"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    It is 0 if all went well, 1 if a target that was asked for strictly is out of reach, 2 for input that cannot be
    used, with one line on standard error that says why, and 130 after an interruption from the keyboard.
    """
    arguments = _parser().parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except (ImportError, OSError, ValueError) as error:
        print(f"robust-recourse: {_line(error)}", file=sys.stderr)  # noqa: T201
        return 2
    except KeyboardInterrupt as error:
        print(f"robust-recourse: interrupted{f': {error}' if str(error) else ''}", file=sys.stderr)  # noqa: T201
        return 130


def _line(error: Exception) -> str:
    """Say what went wrong in one line."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="robust-recourse", description="Recourse that survives the next model.")
    parser.add_argument("--version", action="version", version=f"robust-recourse {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in (_actions, _explain, _tune, _demo, _datasets, _experiments):
        command.add_to(commands)
    return parser
