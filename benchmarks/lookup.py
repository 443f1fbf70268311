"""Time to build the tables of the profiles."""

import statistics
import time

from robust_recourse.math import profiles
from robust_recourse.math.lookup import optimistic_table, pessimistic_table


def run():
    times = []
    for k in range(15):
        epsilon = 0.2 + 0.11 * k
        start = time.perf_counter()
        optimistic_table(epsilon)
        pessimistic_table(epsilon, 10)
        times.append(1e3 * (time.perf_counter() - start))
    profiles.pessimistic_branches.cache_clear()
    return [
        (
            "building both tables, milliseconds, median",
            "<= 250",
            statistics.median(times),
            statistics.median(times) <= 250,
        ),
        ("  the slowest of 15 radii", "", max(times), None),
    ]
