"""The command: parse, call, print."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from robust_recourse import __version__
from robust_recourse.cli import _actions, _check, _datasets, _demo, _experiments, _explain, _ledger, _serve, _tune
from robust_recourse.cli._ending import Terminated, complain, defect, ending, flush, reason, unread
from robust_recourse.cli._options import positive_integer

__all__ = ["main", "positive_integer"]

_STOPPED = (2, 130, 143)  # exit codes that say already that something went wrong


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    It is 0 if all went well, 1 if a target that was asked for strictly is out of reach, if too few promises are kept or
    if ``ledger verify`` finds a damaged entry, 2 for input that cannot be used and whatever else goes wrong, with one
    line on standard error that says why, 130 after an interruption from the keyboard, and 143 after SIGTERM.
    """
    arguments = _parser().parse_args(argv)
    code = _run(arguments)
    try:
        flush()
    except (OSError, ValueError) as error:
        if code not in _STOPPED:
            complain(unread(error))
            code = 2
    return code


def _run(arguments: argparse.Namespace) -> int:
    try:
        with ending():
            return int(arguments.run(arguments))
    except (ImportError, MemoryError, OSError, OverflowError, RecursionError, ValueError) as error:
        complain(reason(error))
        return 2
    except KeyboardInterrupt as stop:
        word, code = ("terminated", 143) if isinstance(stop, Terminated) else ("interrupted", 130)
        complain(f"{word}{f': {reason(stop)}' if str(stop) else ''}")
        return code
    except BaseException as error:  # 1 means something else, and 0 even more so, whatever a model raises
        complain(defect(error))
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="robust-recourse", description="Recourse that survives the next model.")
    parser.add_argument("--version", action="version", version=f"robust-recourse {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in (_actions, _explain, _tune, _serve, _check, _ledger, _demo, _datasets, _experiments):
        command.add_to(commands)
    return parser
