"""``robust-recourse serve`` as a process of its own, for tests that use it as its users do."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import httpx


@contextmanager
def command(saved, *options, descriptors=None):
    """The command at work: its process, its address, and all that it wrote."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-m", "robust_recourse", "serve", str(saved), f"--port={port}", *options]
    if descriptors is not None:
        words = ["sh", "-c", f'ulimit -n {descriptors}; exec "$@"', "sh", *words]
    log = Path(saved).with_name(f"log-{port}")
    with log.open("wb") as out:
        process = subprocess.Popen(words, stdout=out, stderr=out)
        try:
            url = f"http://127.0.0.1:{port}"
            wait(lambda: _ready(url, process, log))
            yield process, url, log
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(60)


def _ready(url, process, log):
    assert process.poll() is None, log.read_text()
    try:
        return httpx.get(f"{url}/readyz").status_code == 200
    except httpx.TransportError:
        return False


def wait(ready, seconds=300):
    for _ in range(10 * seconds):
        if ready():
            return
        time.sleep(0.1)
    raise TimeoutError(f"nothing after {seconds} seconds")
