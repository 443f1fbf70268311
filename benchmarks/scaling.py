"""How the cost of `explain`, without the model's own time, grows: the slope in doubly logarithmic scale."""

import statistics
import time

import numpy as np
from problem import Timed, network

from robust_recourse import RobustBayesianRecourse


def own_time(rows=256, p=10, **parameters):
    model, X, refused = network(p)
    timed = Timed(model)
    method = RobustBayesianRecourse(timed, random_state=0, **parameters).fit(X)
    times = []
    for _ in range(4):
        timed.seconds = 0.0
        start = time.perf_counter()
        method.explain(refused[:rows])
        times.append(time.perf_counter() - start - timed.seconds)
    return statistics.median(times[1:])


def slope(sizes, times):
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def run():
    rows = []
    for name, sizes, measure in (
        ("instances", (256, 512, 1024, 2048), lambda n: own_time(rows=n)),
        ("samples", (200, 400, 800, 1600), lambda n: own_time(n_samples=n)),
        ("dimensions", (5, 10, 20, 40), lambda n: own_time(p=n)),
    ):
        grown = slope(sizes, [measure(size) for size in sizes])
        rows.append((f"growth with {name}, exponent", "<= 1.1", grown, grown <= 1.1))
    return rows
