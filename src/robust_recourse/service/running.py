"""The server: sockets, processes and signals, as uvicorn has them."""

from __future__ import annotations

import logging
import os
import socket
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import uvicorn

from robust_recourse.service.gate import LOG
from robust_recourse.service.settings import Settings

__all__ = ["log_lines", "need_address", "serve", "with_metrics"]

METRICS = "PROMETHEUS_MULTIPROC_DIR"
_GRACE = 10  # seconds beyond the longest search that a worker has to finish
_HEALTHY = 60  # seconds within which a worker must answer; one long question to a model may hold it up


def serve(settings: Settings, factory: str) -> None:
    """Serve until the process is told to end; what has begun is finished.

    Parameters
    ----------
    settings : Settings
        What to serve.
    factory : str
        ``"module:function"`` that makes the application in every worker, without arguments.
    """
    options: dict[str, Any] = {
        "factory": True,
        "host": settings.host,
        "port": settings.port,
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "timeout_graceful_shutdown": int(settings.most.time_limit) + _GRACE,
    }
    log_lines()
    if settings.workers == 1:
        uvicorn.run(factory, **options)
        return
    with tempfile.TemporaryDirectory(prefix="robust-recourse-") as folder:
        os.environ[METRICS] = folder
        uvicorn.run(factory, workers=settings.workers, timeout_worker_healthcheck=_HEALTHY, **options)


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
    """Return the settings of a worker, which shares its metrics with the others if there are some."""
    folder = os.environ.get(METRICS)
    return settings if folder is None or settings.workers == 1 else replace(settings, metrics=Path(folder))


def log_lines() -> None:
    """Write what the service does to standard error, a line each."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    for name in ("uvicorn.error", LOG.name):
        log = logging.getLogger(name)
        log.handlers, log.propagate = [handler], False
        log.setLevel(logging.INFO)
