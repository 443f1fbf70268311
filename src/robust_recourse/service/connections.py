"""Connections: how many there are at most, and how long each may take until its request has come."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from functools import cache
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from robust_recourse.service.gate import LOG
from robust_recourse.service.settings import Most

__all__ = ["Guarded", "Listening", "backlog", "room"]

_RESERVED = 32  # descriptors that are left to the ledger, the files of the page, metrics and models
_TICKS = 3  # rounds of asyncio's loop from accepting a connection to closing it, each of which accepts a backlog
_LEAST, _MOST = 8, 1024  # connections that are accepted at a time
_QUEUE = 1024  # connections that the system keeps until they are accepted
_YOUNG = 1.0  # seconds: an honest request has come by then, so that those that have not are closed first


class Guarded(H11Protocol):
    """HTTP of uvicorn with what it lacks: a time limit for heads, and a limit on connections.

    The limit is below the free descriptors. Beyond it the connection that has waited longest without a whole request
    makes room for the new one; where there is none, the new one is closed. A connection whose request has come is
    never closed before it is answered, and the whole answer sent.

    Parameters
    ----------
    most : Most
        How long, and how many.
    """

    def __init__(self, *args: Any, most: Most, **options: Any) -> None:
        super().__init__(*args, **options)
        self._most, self._since, self._unsent = most, self.loop.time(), 0
        self._limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the head of the first request, if there is room."""
        super().connection_made(transport)
        self._wait()
        others = [one for one in self.connections if one is not self and isinstance(one, Guarded)]
        if len(others) < room(self._most.connections):
            return
        LOG.warning("%d connections are open: new ones replace those that have sent no request.", len(others))
        min((one for one in others if one.waits), key=Guarded._first_to_drop, default=self).drop()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._wait_no_more()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Take what came; once a head is complete, nothing is waited for here. The body has a limit of its own."""
        before = self.cycle
        super().handle_events()
        if self.cycle is not before and not self.flow.write_paused:  # by an answer before, which is not taken
            self._wait_no_more()

    def on_response_complete(self) -> None:
        """Wait for the next head, and for the client to take the answer."""
        super().on_response_complete()
        if self.answered:
            self._wait()

    def pause_writing(self) -> None:
        """Wait for the client to take more of an answer."""
        super().pause_writing()
        self._wait()

    def resume_writing(self) -> None:
        """Go on with the answer."""
        super().resume_writing()
        self._unsent = 0
        if not self.answered:
            self._wait_no_more()

    @property
    def answered(self) -> bool:
        """Whether no request is to be answered."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def waits(self) -> bool:
        """Whether the client has still to send something, and nothing to receive."""
        return not self.transport.get_write_buffer_size() and (self.answered or self.cycle.more_body)

    def drop(self) -> None:
        """Close the connection at once."""
        self._wait_no_more()
        self.connections.discard(self)  # its place is free, although its descriptor is closed a moment later
        self.transport.abort()

    def _first_to_drop(self) -> tuple[bool, int, float]:
        """Return what is least for the connection that is to be closed first."""
        # Of those that had a second the silent go first, then the slow, and bodies last. Of the others the oldest: an
        # honest client, too, is silent for a moment, and must not be pushed out by those who send half a head.
        young = self.loop.time() - self._since < _YOUNG
        if young or not self.answered:
            kind = 3
        elif self.conn.trailing_data[0]:
            kind = 1
        else:
            kind = 0 if self.cycle is None else 2
        return young, kind, self._since

    def _wait(self) -> None:
        self._wait_no_more()
        self._since = self.loop.time()
        self._limit = self.loop.call_later(self._most.head_seconds, self._late)

    def _wait_no_more(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None

    def _late(self) -> None:
        before, self._unsent = self._unsent, self.transport.get_write_buffer_size()
        if self._unsent and self._unsent != before:  # a slow client, but it takes the answer
            self._wait()
        else:
            self.drop()


class Listening(socket.socket):
    """A socket on which more connections can wait than asyncio accepts at a time, for which it has one number.

    It goes to workers, as sockets do.
    """

    def listen(self, _backlog: int = 0, /) -> None:
        """Take connections."""
        super().listen(_QUEUE)

    def __reduce__(self) -> tuple[Any, ...]:
        from multiprocessing.reduction import DupFd  # which Windows does not have

        return _received, (DupFd(self.fileno()), self.family, self.type, self.proto)


def _received(descriptor: Any, family: int, kind: int, proto: int) -> Listening:
    return Listening(family, kind, proto, fileno=descriptor.detach())


@cache
def room(most: int) -> int:
    """Return how many connections this process has at most: fewer than there are free descriptors."""
    try:
        held = len(os.listdir("/dev/fd"))
    except OSError:
        held = _RESERVED
    return max(_LEAST, min(most, _descriptors() - held - _RESERVED - _TICKS * backlog()))


def backlog() -> int:
    """Return how many connections are accepted at a time, of which each takes a descriptor until it is looked at."""
    return max(_LEAST, min(_MOST, _descriptors() // 16))


def _descriptors() -> int:
    if sys.platform == "win32":
        return 2**16
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 2**16 if soft == resource.RLIM_INFINITY else soft
