"""Workers on this machine: how they are started, and what each of them does before its first part."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

__all__ = ["KILLS", "SETTINGS", "dask_setup", "local_cluster"]

KILLS = 3
"""Workers that a part may kill on its own."""

SETTINGS: dict[str, Any] = {
    # A part that kills a worker may kill some more, until it is alone to blame.
    "distributed.scheduler.allowed-failures": KILLS - 1,
    "distributed.worker.daemon": True,
    "distributed.worker.preload": ["robust_recourse.cluster.local"],
    # What a worker looks at a hundred times a second takes time from its part: parts last seconds, not milliseconds.
    "distributed.worker.profile.interval": "100ms",
    "distributed.worker.profile.cycle": "10s",
    "distributed.admin.tick.interval": "200ms",
    "distributed.admin.system-monitor.interval": "2s",
    "distributed.worker.memory.monitor-interval": "1s",
    # Dask has processes give back memory beyond 64 KiB that they do not need at the moment. A part takes and leaves
    # some megabytes hundreds of times, and to get them anew from the system took a sixth of its time.
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 1 << 28,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 1 << 26,
}
"""Of Dask, for these workers."""

_AHEAD = "robust_recourse.cluster.ahead"


@contextmanager
def local_cluster() -> Iterator[Any]:
    """Give a cluster of Dask with a worker on every core, each a process with one thread."""
    import dask
    import distributed

    engine: Any = distributed  # which says nothing about its types
    # On other systems a process that has imported much cannot be copied safely, or not at all.
    forked = sys.platform == "linux"
    method = {"distributed.worker.multiprocessing-method": "forkserver"} if forked else {}
    with dask.config.set({**SETTINGS, **method}):
        if forked:
            # One process imports what all workers need, and they are copies of it: also those that replace killed ones.
            engine.utils.get_mp_context().set_forkserver_preload(["distributed", _AHEAD])
        # This process needs the same to send a method, and has nothing to do while workers start.
        threading.Thread(target=import_module, args=(_AHEAD,), daemon=True).start()
        with engine.LocalCluster(
            n_workers=os.cpu_count(), threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster:
            yield cluster


def dask_setup(_worker: Any) -> None:
    """Leave Ctrl-C, which a terminal sends to all processes, to the client: it ends the workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
