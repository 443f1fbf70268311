"""Processes that tests kill: ``cluster N`` is a scheduler with workers, ``clients`` starts a run for every line."""

from __future__ import annotations

import os
import sys
import time

from robust_recourse import load
from robust_recourse.cluster import explain_dataset


def say(word):
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def cluster(n_workers):
    from distributed import LocalCluster

    with LocalCluster(n_workers=int(n_workers), threads_per_worker=1, dashboard_address=None) as started:
        say(started.scheduler_address)
        time.sleep(600.0)


def clients(method, source, out, address, part_rows):
    import distributed

    trained = load(method, trusted=["tests.cluster.models.Slow"])
    say(distributed.__name__)
    for _ in sys.stdin:
        # What was imported is there at once, and nothing has been started yet.
        process = os.fork()
        if not process:
            client = None if address == "here" else address
            explain_dataset(trained, source, out, client=client, part_rows=int(part_rows))
            os._exit(0)
        say(process)
        say(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))


if __name__ == "__main__":
    {"cluster": cluster, "clients": clients}[sys.argv[1]](*sys.argv[2:])
