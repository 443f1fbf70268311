"""Workers on this machine: how they are started, and what each of them does before its first part."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import forkserver, get_context
from typing import Any

__all__ = ["KILLS", "SETTINGS", "dask_setup", "local_cluster"]

KILLS = 3
"""Workers that a part may kill on its own."""

SETTINGS: dict[str, Any] = {
    # A part that kills a worker may kill some more, until it is alone to blame.
    "distributed.scheduler.allowed-failures": KILLS - 1,
    # A worker that dies again this long after it died is taken for gone, and nobody starts another: a part that kills
    # its workers would leave none, and everybody would wait for ever.
    "distributed.deploy.lost-worker-timeout": "365 days",
    "distributed.worker.daemon": True,
    "distributed.worker.preload": ["robust_recourse.cluster.local"],
    # What a worker looks at a hundred times a second takes time from its part: parts last seconds, not milliseconds.
    "distributed.worker.profile.interval": "100ms",
    "distributed.worker.profile.cycle": "10s",
    "distributed.admin.tick.interval": "200ms",
    "distributed.admin.system-monitor.interval": "2s",
    "distributed.worker.memory.monitor-interval": "1s",
}
"""Of Dask, for these workers."""

_AHEAD = "robust_recourse.cluster.ahead"
_ENVIRONMENT = {
    # Dask has processes give back memory beyond 64 KiB that they do not need at the moment. A part takes and leaves
    # some megabytes hundreds of times, and to get them anew from the system took a sixth of its time.
    "MALLOC_TRIM_THRESHOLD_": str(1 << 28),
    "MALLOC_MMAP_THRESHOLD_": str(1 << 26),
    # A process with threads cannot be copied safely, and Arrow's allocator would start one when it is imported.
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
}


@contextmanager
def local_cluster() -> Iterator[Any]:
    """Give a cluster of Dask with a worker on every core, each a process with one thread."""
    import dask
    import distributed

    engine: Any = distributed  # which says nothing about its types
    method = {}
    if sys.platform == "linux":  # elsewhere a process that has imported much cannot be copied safely, or not at all
        method = {"distributed.worker.multiprocessing-method": "forkserver"}
        _start_copying()
    with (
        dask.config.set({**SETTINGS, **method}),
        engine.LocalCluster(
            n_workers=os.cpu_count(), threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
    ):
        yield cluster


def _start_copying() -> None:
    """Start the process that imports what all workers need: they are copies of it, also those that replace others."""
    before = {name: os.environ.get(name) for name in _ENVIRONMENT}
    get_context("forkserver").set_forkserver_preload(["distributed", _AHEAD])
    os.environ.update(_ENVIRONMENT)
    try:
        forkserver.ensure_running()
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value
    # This process needs the same to send a method, and the other one is busy with it, too.
    import_module(_AHEAD)


def dask_setup(_worker: Any) -> None:
    """Leave Ctrl-C, which a terminal sends to all processes, to the client: it ends the workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
