"""What a service is started with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from robust_recourse.tables import Schema

__all__ = ["Most", "Settings", "is_loopback"]


@dataclass(frozen=True)
class Most:
    """How much a request may ask for, and how much may wait.

    Attributes
    ----------
    body_bytes, rows, alternatives : int
        Of one request.
    time_limit : float
        Seconds of one search, whatever a request asks for.
    waiting : int
        Requests that wait for their turn, in every queue of a worker.
    together : int
        People who are searched for together.
    connections : int
        Of one worker; fewer where it has not so many free descriptors.
    head_seconds : float
        Until the head of a request has come, from the beginning of its connection or the end of the answer before. Ten
        are enough for a kilobyte on any line, and few enough for those who only hold connections open.
    body_seconds : float
        Until its body has come: 4 MiB on a line of 1.2 Mbit/s take thirty.
    """

    body_bytes: int = 4 * 2**20
    rows: int = 1000
    alternatives: int = 10
    time_limit: float = 30.0
    waiting: int = 256
    together: int = 64
    connections: int = 1000
    head_seconds: float = 10.0
    body_seconds: float = 30.0


@dataclass(frozen=True)
class Settings:
    """What a service is started with. It goes to every worker, so that all of it can be pickled.

    Attributes
    ----------
    method : Path
        A method that :func:`robust_recourse.save` wrote.
    name : str
        What the ledger and the page call its model.
    ledger : str or None
        File or URL of the ledger.
    tokens : Path or None
        File with the tokens, one of which a request must have; None for none, on loopback only.
    host, port
        Where to listen.
    workers : int
        Number of processes.
    trusted : tuple of str
        Types that the model may have, as for :func:`robust_recourse.load`.
    people : callable or None
        Reads the table of people, whose ids are its index, with the columns that it is given.
    search : bool
        Whether that table may be searched.
    promise_days : int
        How long a promise holds at most.
    most : Most
        How much is answered.
    metrics : Path or None
        Folder in which workers of a supervisor keep their metrics together; None for an application alone.
    """

    method: Path
    name: str
    ledger: str | None = None
    tokens: Path | None = None
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    trusted: tuple[str, ...] = ()
    people: Callable[[Schema], Any] | None = None
    search: bool = False
    promise_days: int = 180
    most: Most = field(default_factory=Most)
    metrics: Path | None = None

    def __post_init__(self) -> None:
        if self.tokens is None and not is_loopback(self.host):
            raise ValueError(
                f"host {self.host!r} can be reached from other machines, so that requests need tokens: give a file "
                "with tokens, or listen on 127.0.0.1."
            )


def is_loopback(host: str) -> bool:
    """Whether a host can be reached from this machine only.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0"), is_loopback("lender.example")
    (True, True, False, False)
    """
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
