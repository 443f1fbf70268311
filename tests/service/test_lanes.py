"""A queue with a limit, a thread, and jobs that are done together."""

from __future__ import annotations

import threading

import pytest

from robust_recourse.service.lanes import Lane
from robust_recourse.service.problems import Problem


class Work:
    """Doubles numbers, when it is let; remembers what was done together."""

    def __init__(self):
        self.groups, self.go, self.begun = [], threading.Event(), threading.Event()

    def __call__(self, jobs):
        self.begun.set()
        assert self.go.wait(30)
        self.groups.append([job.load for job in jobs])
        if any(job.load < 0 for job in jobs):
            raise ValueError("negative")
        return [2 * job.load for job in jobs]


@pytest.fixture
def work():
    return Work()


@pytest.fixture
def lane(work):
    lane = Lane("test", work, waiting=8, together=4)
    yield lane
    work.go.set()
    lane.close()


def begin(lane, work):
    """Keep the lane at work, so that others wait."""
    first = lane.submit(0, key="a")
    assert work.begun.wait(30)
    return first


def test_jobs_that_wait_are_done_together_if_they_may_be(lane, work):
    first = begin(lane, work)
    jobs = [lane.submit(k, key=key) for k, key in enumerate("abaca", start=1)]
    big = lane.submit(6, key="a", size=2)
    alone = [lane.submit(7), lane.submit(8)]
    work.go.set()
    assert [job.result.result(30) for job in (first, *jobs, big, *alone)] == [2 * k for k in range(9)]
    assert work.groups == [[0], [1, 3, 5], [2], [4], [6], [7], [8]]


def test_a_job_that_fails_does_not_hurt_its_company(lane, work):
    begin(lane, work)
    jobs = [lane.submit(k, key="a") for k in (1, -1, 2)]
    work.go.set()
    assert jobs[0].result.result(30) == 2
    assert jobs[2].result.result(30) == 4
    with pytest.raises(ValueError, match="negative"):
        jobs[1].result.result(30)


def test_nobody_works_for_those_who_left(lane, work):
    begin(lane, work)
    jobs = [lane.submit(k, key="a") for k in (1, 2, 3)]
    jobs[0].leave()
    jobs[2].leave()
    last = lane.submit(4, key="b")
    work.go.set()
    assert last.result.result(30) == 8
    assert work.groups == [[0], [2], [4]]


def test_a_full_queue_takes_no_more(lane, work):
    begin(lane, work)
    jobs = [lane.submit(k, key="a") for k in range(1, 9)]
    assert len(lane) == 8
    with pytest.raises(Problem) as caught:
        lane.submit(9)
    assert caught.value.status_code == 503
    assert caught.value.headers["Retry-After"] == "1"
    work.go.set()
    assert [job.result.result(30) for job in jobs] == [2 * k for k in range(1, 9)]


def test_what_waits_is_finished_when_the_lane_closes(work):
    lane = Lane("test", work, waiting=8, together=4)
    begin(lane, work)
    jobs = [lane.submit(k) for k in (1, 2)]
    work.go.set()
    lane.close()
    assert [job.result.result(0) for job in jobs] == [2, 4]
    with pytest.raises(Problem):
        lane.submit(3)
