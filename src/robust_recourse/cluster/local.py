"""What a worker on this machine does before its first part; Dask imports it there."""

from __future__ import annotations

import signal
from typing import Any

__all__ = ["dask_setup"]


def dask_setup(_worker: Any) -> None:
    """Leave Ctrl-C, which a terminal sends to all processes, to the client: it ends the workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
