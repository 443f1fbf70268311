"""Silence of a solver that prints past Python, whatever its options say."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

__all__ = ["quiet_solver"]

_STDOUT = 1
_LINES = b"Highs"  # what those of HiGHS begin with
_ONE = threading.Lock()
if hasattr(os, "register_at_fork"):  # a child must not begin with the file in place of its output
    os.register_at_fork(before=_ONE.acquire, after_in_parent=_ONE.release, after_in_child=_ONE.release)


@contextmanager
def quiet_solver() -> Iterator[None]:
    """Keep lines of HiGHS from the standard output of the process; what other threads write there comes a little later.

    Some releases print a line when they repair a solution, also where all output is switched off. A program that
    another thread starts meanwhile, other than by a fork of this process, keeps the temporary file as its output.
    """
    with _ONE, ExitStack() as stack:
        try:
            kept = stack.enter_context(tempfile.TemporaryFile())
            own = os.dup(_STDOUT)
        except OSError:  # nowhere to keep it, or nothing to print to
            yield
            return
        stack.callback(os.close, own)
        try:
            os.dup2(kept.fileno(), _STDOUT)
            yield
        finally:
            os.dup2(own, _STDOUT)
            kept.seek(0)
            others = b"".join(line for line in kept if not line.startswith(_LINES))
            with suppress(OSError):
                while others:
                    others = others[os.write(own, others) :]
