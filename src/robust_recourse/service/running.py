"""The server: sockets, processes and signals, as uvicorn has them."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
import tempfile
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.supervisors import Multiprocess

from robust_recourse.service.connections import Guarded, Listening, backlog
from robust_recourse.service.gate import LOG
from robust_recourse.service.settings import Settings
from robust_recourse.service.sparing import Sparing

__all__ = ["follow_supervisor", "log_lines", "need_address", "serve", "with_metrics"]

METRICS = "PROMETHEUS_MULTIPROC_DIR"
_FAILED = 3  # exit status of a worker of uvicorn that could not begin
_GRACE = 10  # seconds beyond the longest search that a worker has to finish
_HEALTHY = 60  # seconds within which a worker must answer; one long question to a model may hold it up


def serve(settings: Settings, factory: str) -> None:
    """Serve until the process is told to end; what has begun is finished.

    Workers answer, also if it is only one, and this process replaces them: one that dies, and all on SIGHUP.

    Parameters
    ----------
    settings : Settings
        What to serve.
    factory : str
        ``"module:function"`` that makes the application in every worker, without arguments.
    """
    options: dict[str, Any] = {
        "factory": True,
        "http": partial(Guarded, most=settings.most),
        "loop": "asyncio",  # whose way of accepting connections the limit on them counts with
        "ws": "none",
        "backlog": backlog(),
        "host": settings.host,
        "port": settings.port,
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "timeout_graceful_shutdown": int(settings.most.time_limit) + _GRACE,
    }
    log_lines()
    with tempfile.TemporaryDirectory(prefix="robust-recourse-") as folder:
        os.environ[METRICS] = folder
        config = uvicorn.Config(factory, workers=settings.workers, timeout_worker_healthcheck=_HEALTHY, **options)
        bound = config.bind_socket()
        if os.name == "posix":
            bound = Listening(bound.family, bound.type, bound.proto, fileno=bound.detach())
        supervisor = Multiprocess(config, sockets=[bound])
        supervisor.run()
    if any(worker.process.exitcode == _FAILED for worker in supervisor.processes):
        raise ChildProcessError("A worker could not begin to serve. The lines above say why.")


def follow_supervisor() -> None:
    """Leave SIGHUP to the process that started this worker, and end with it."""
    supervisor = multiprocessing.parent_process()
    if supervisor is None:
        return
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # of a terminal, it comes to all; workers are replaced in turn

    def follow() -> None:
        supervisor.join()
        signal.raise_signal(signal.SIGTERM)

    threading.Thread(target=follow, daemon=True).start()


def need_address(host: str, port: int) -> None:
    """Check that it is possible to listen there, which takes a moment; to load a method takes longer.

    Raises
    ------
    ValueError
        If it is not; it says why.
    """
    try:
        family, kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does
            tried.bind(address)
    except OSError as error:
        raise ValueError(f"It is not possible to listen on {host}, port {port}: {error.strerror}.") from None


def with_metrics(settings: Settings) -> Settings:
    """Return the settings of a worker, which shares its metrics with the others."""
    folder = os.environ.get(METRICS)
    return settings if folder is None else replace(settings, metrics=Path(folder))


def log_lines() -> None:
    """Write what the service does to standard error, a line each; what happens again and again only now and then."""
    handler = logging.StreamHandler()
    handler.addFilter(Sparing())
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    for name in ("uvicorn.error", "asyncio", LOG.name):
        log = logging.getLogger(name)
        log.handlers, log.propagate = [handler], False
        log.setLevel(logging.INFO)
