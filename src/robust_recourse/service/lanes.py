"""Work outside the event loop: a queue with a limit, a thread, and requests that arrive together answered together."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request

from robust_recourse.service.problems import Problem

__all__ = ["Job", "Lane", "outcome"]


@dataclass(eq=False)
class Job:
    """A piece of work for one request.

    Attributes
    ----------
    key : hashable or None
        Jobs with the same key can be done together; None: alone.
    load : object
        What it is about.
    size : int
        How many people.
    result : Future
        What comes of it.
    """

    key: Hashable
    load: Any
    size: int
    result: Future[Any] = field(default_factory=Future)
    _gone: threading.Event = field(default_factory=threading.Event)

    @property
    def gone(self) -> bool:
        """Whether nobody waits for it any more."""
        return self._gone.is_set()

    @property
    def wanted(self) -> bool:
        """Whether to begin it: somebody waits, and from now on nobody can take it back but by leaving."""
        return not self.gone and self.result.set_running_or_notify_cancel()

    def leave(self) -> None:
        """Say that nobody waits for it any more."""
        self._gone.set()


class Lane:
    """A thread that does one thing after the other.

    While it works, requests wait; when it is done, all that wait and can be answered together are. So a request that
    comes alone never waits for others, and many that come together share the calls of the model.

    Parameters
    ----------
    name : str
        What it is called.
    work : callable
        Does some jobs with the same key, and returns a result for each; an exception of jobs that were done together is
        no result: each is then done alone.
    waiting : int
        How many jobs may wait.
    together : int
        How many people may be dealt with together.
    """

    def __init__(
        self, name: str, work: Callable[[Sequence[Job]], Sequence[Any]], *, waiting: int, together: int
    ) -> None:
        self._work, self._most, self._together = work, waiting, together
        self._jobs: deque[Job] = deque()
        self._changed = threading.Condition()
        self._open = True
        self._thread = threading.Thread(target=self._run, name=f"robust-recourse {name}", daemon=True)
        self._thread.start()

    def __len__(self) -> int:
        return len(self._jobs)

    def submit(self, load: Any, *, key: Hashable = None, size: int = 1) -> Job:
        """Put a job at the end of the queue.

        Raises
        ------
        Problem
            If the queue is full, or closed.
        """
        job = Job(key, load, size)
        with self._changed:
            if not self._open or len(self._jobs) >= self._most:
                raise Problem(
                    "busy", f"{self._most} requests are waiting already. Try again.", headers={"Retry-After": "1"}
                )
            self._jobs.append(job)
            self._changed.notify()
        return job

    def close(self) -> None:
        """Finish what waits, and take nothing new."""
        with self._changed:
            self._open = False
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                while self._open and not self._jobs:
                    self._changed.wait()
                if not self._jobs:
                    return
                jobs = self._next()
            self._do(jobs)

    def _next(self) -> list[Job]:
        """Take the first job, and others that wait and can be done with it; those that nobody waits for are dropped."""
        first, taken, left = self._jobs.popleft(), [], deque[Job]()
        size = first.size
        if first.wanted:
            taken.append(first)
        while taken and first.key is not None and self._jobs:
            job = self._jobs.popleft()
            if job.key != first.key or size + job.size > self._together:
                left.append(job)
            elif job.wanted:
                taken.append(job)
                size += job.size
        left.extend(self._jobs)
        self._jobs = left
        return taken

    def _do(self, jobs: list[Job]) -> None:
        if not jobs:
            return
        try:
            for job, result in zip(jobs, self._work(jobs), strict=True):
                job.result.set_result(result)
        except Exception as error:
            if len(jobs) == 1:
                jobs[0].result.set_exception(error)
            else:
                for job in jobs:
                    self._do([job])


async def outcome(job: Job, request: Request) -> Any:
    """Wait for the result of a job; if the client goes away, the job is given up."""
    result = asyncio.ensure_future(asyncio.wrap_future(job.result))
    watch = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({result, watch}, return_when=asyncio.FIRST_COMPLETED)
        if result.done():
            return result.result()
        raise Problem("gone")
    finally:
        if not result.done():
            job.leave()
            result.cancel()
        watch.cancel()


async def _gone(request: Request) -> None:
    with suppress(Problem):  # of a body that was announced, does not come, and is not needed
        while (await request.receive())["type"] != "http.disconnect":
            pass
