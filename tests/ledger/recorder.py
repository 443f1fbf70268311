"""Records 2,000 promises in small pieces, as often as it is told to; some are killed in the middle.

Everything is imported once, and every recording is a fork of this process. A line on standard input is the place of a
ledger, a file for reports, and the seconds after which the fork is killed, if it is; one on standard output is its exit
code.
"""

import json
import os
import signal
import sys
import time
import traceback

import numpy as np

from robust_recourse import NearestAccepted
from robust_recourse.ledger import Ledger

PEOPLE, PIECE, UNTIL = 2_000, 100, "2099-12-31"


def accepts(X):
    return X[:, 0] + X[:, 1] > 1.0


def problem():
    rng = np.random.default_rng(0)
    method = NearestAccepted(accepts, random_state=0).fit(rng.uniform(-1, 2, (200, 2)))
    return method, method.explain(rng.uniform(-1, 0.5, (PEOPLE, 2)))


def record(where, report):
    ledger = Ledger(where)
    with open(report, "a", encoding="utf-8") as file:
        for first in range(0, PEOPLE, PIECE):
            people = [f"p{i:04d}" for i in range(first, first + PIECE)]
            ledger.record(
                FOUND[first : first + PIECE], people=people, model="m", method=METHOD, until=UNTIL, notices=people
            )
            file.write(f"{first}\n")
            file.flush()


if __name__ == "__main__":
    METHOD, FOUND = problem()
    print("ready", flush=True)  # noqa: T201
    for line in sys.stdin:
        where, report, seconds = json.loads(line)
        process = os.fork()
        if not process:
            try:
                record(where, report)
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
        if seconds is not None:
            time.sleep(seconds)
            os.kill(process, signal.SIGKILL)  # it keeps its number until it is waited for
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201
