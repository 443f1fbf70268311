"""Parts on a cluster: Dask runs them, we say what becomes of those that fail."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from typing import Any

from robust_recourse.cluster.errors import ClusterLostError
from robust_recourse.cluster.here import Outcome, why
from robust_recourse.cluster.local import local_cluster

__all__ = ["connected", "run_there"]

_PAUSE = 0.02  # seconds between looks at what has ended: parts last longer
_PATIENCE = 60.0  # seconds without an end after which somebody looks for workers
_AHEAD = 8  # parts that wait for every thread: more would only make the scheduler slow


@contextmanager
def connected(client: Any) -> Iterator[Any]:
    """Give a client of Dask: that which is given, one of a scheduler's address, or one of workers on this machine.

    Raises
    ------
    ClusterLostError
        If nobody answers at the address.
    """
    distributed = _dask()
    if not isinstance(client, str):
        if not hasattr(client, "submit"):
            raise TypeError(
                f"client must be None, 'local', the address of a scheduler or a distributed.Client, got {client!r}."
            )
        yield client
        return
    if client != "local":
        try:
            if not client.startswith("inproc://"):
                # A client that cannot even begin to connect would complain once more when it goes.
                distributed.comm.get_address_host_port(distributed.comm.normalize_address(client))
            there = distributed.Client(client, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise ClusterLostError(f"{client}: no scheduler of Dask answers there ({error}).") from error
        with there:
            yield there
        return
    with local_cluster() as cluster, distributed.Client(cluster, set_as_default=False) as there:
        yield there


def run_there(
    client: Any, work: Callable[..., dict[str, Any]], job: Any, parts: Iterable[Any], shared: Any = None
) -> Iterator[Outcome]:
    """Yield each part with what became of it, in the order in which they end.

    The work is a function of the job, the part and, if there is one, what all of them share, which goes to every worker
    once.

    A part during which workers died is tried again alone: only then it is known whether it was the one that killed
    them, and it is set aside if it does so again.

    Raises
    ------
    OSError
        If results cannot be written.
    ClusterLostError
        If the scheduler goes away.
    """
    suspects: list[Any] = []
    for part, done, reason in _run(client, work, job, parts, shared, most=None):
        if done is None and reason == _KILLED:
            suspects.append(part)
        else:
            yield part, done, reason
    for suspect in suspects:
        for part, done, reason in _run(client, work, job, [suspect], shared, most=1):
            if done is None and reason == _KILLED:
                reason = (
                    "every worker that computed it was killed, also when it was the only one: out of memory, perhaps."
                )
            yield part, done, reason


_KILLED = "killed"


def _run(client: Any, work: Any, job: Any, parts: Iterable[Any], shared: Any, most: int | None) -> Iterator[Outcome]:
    distributed = _dask()
    waiting = iter(parts)
    futures: dict[str, tuple[Any, Any]] = {}
    # As a task, so that it is made again when the worker that has it dies.
    known = () if shared is None else (client.submit(_itself, shared),)
    finished = distributed.as_completed(loop=client.loop)

    def submit() -> None:
        part = next(waiting, None)
        if part is not None:
            key = f"part-{os.urandom(12).hex()}"
            future = client.submit(_watched, work, job, part, *known, key=key, pure=False)
            futures[key] = part, future
            finished.add(future)

    with _explaining_losses(client, job):
        for _ in range(most or _AHEAD * max(sum(client.nthreads().values()), 1)):
            submit()
        try:
            for future in _ended(finished, client):
                part, _ = futures.pop(future.key)
                done, reason = _became(future, distributed)
                submit()
                yield part, done, reason
        finally:
            if futures:
                with suppress(Exception):  # whatever keeps a scheduler from it, it is left behind
                    client.cancel([future for _, future in futures.values()], force=True)


def _ended(finished: Any, client: Any) -> Iterator[Any]:
    """Yield futures as they end; say so once if there is nobody who works on them."""
    looked, warned = time.monotonic(), False
    while not finished.is_empty():
        batch = finished.next_batch(block=False)
        yield from batch
        if batch or time.monotonic() - looked < _PATIENCE:
            time.sleep(0.0 if batch else _PAUSE)
            continue
        looked = time.monotonic()
        if not warned and not client.nthreads():
            warned = True
            warnings.warn(
                f"The scheduler {client.scheduler.address} has no workers at the moment. The parts wait until some "
                "come; interrupt to stop: what is finished is kept.",
                stacklevel=2,
            )


def _became(future: Any, distributed: Any) -> tuple[dict[str, Any] | None, str]:
    """Return what is known about a part, or why nothing is."""
    try:
        return future.result(), ""  # waits where the worker died with the result, which is then computed again
    except Exception as error:
        if future.status != "error":  # not the part failed, but what asked for its result
            raise
        if isinstance(error, distributed.KilledWorker):
            return None, _KILLED
        if isinstance(error, OSError) and not isinstance(error, TimeoutError):
            raise
        return None, why(error)


@contextmanager
def _explaining_losses(client: Any, job: Any) -> Iterator[None]:
    from distributed.comm.core import CommClosedError

    try:
        yield
    except (CommClosedError, CancelledError, TimeoutError) as error:
        raise ClusterLostError(
            f"The scheduler {getattr(client.scheduler, 'address', '')} went away. What is finished is kept in "
            f"{job.place.name}: run the same again to continue."
        ) from error


def _itself(value: Any) -> Any:
    return value


def _watched(work: Callable[..., dict[str, Any]], job: Any, part: Any, *shared: Any) -> dict[str, Any]:
    """Compute a part; a process in which it takes too long is ended, and whoever tries it next says so."""
    if job.time_limit is None:
        return work(job, part, *shared)
    job.prepare()
    late = f"_late-{part.name}"
    if job.place.read(late) is not None:
        job.place.remove(late)
        raise TimeoutError(f"it took longer than {job.time_limit:g} seconds.")

    def end() -> None:
        job.place.write(late, b"")
        # Nothing else ends a model that does not come back. The nanny of the worker starts another.
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))

    timer = threading.Timer(job.time_limit, end)
    timer.daemon = True
    timer.start()
    try:
        return work(job, part, *shared)
    finally:
        timer.cancel()


def _dask() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise ImportError(f"Clusters need Dask ({error}): pip install 'robust-recourse[dask]'") from error
    return distributed
