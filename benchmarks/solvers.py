"""The exact solver against the paper's Algorithm 1, on the same neighbourhoods."""

import time

import numpy as np
from problem import network

from robust_recourse import RobustBayesianRecourse
from robust_recourse.math.odds import log_worst_case_odds
from robust_recourse.methods import _odds_descent, _posterior

ROWS = 16


def exact_odds(ends, problem):
    values = []
    for i, path in enumerate(ends.paths):
        around = problem.around
        odds = log_worst_case_odds(path[-1], around.samples[i], around.accepted[i], *ends.scales[i])
        values.append(float(odds.value))
    return np.array(values)


def compare(epsilon):
    model, X, refused = network()
    problems = []

    def capture(problem, solver, scales_of):
        problems.append((problem, scales_of))
        return _odds_descent.descend(problem, solver, scales_of)

    _posterior.descend = capture
    try:
        method = RobustBayesianRecourse(model, epsilon_0=epsilon, epsilon_1=epsilon, random_state=0)
        method.fit(X).explain(refused[:ROWS])
    finally:
        _posterior.descend = _odds_descent.descend
    problem, scales_of = problems[0]
    times, odds = {}, {}
    for solver in ("exact", "first-order"):
        start = time.perf_counter()
        ends = _odds_descent.descend(problem, solver, scales_of)
        times[solver] = time.perf_counter() - start
        odds[solver] = exact_odds(ends, problem)
    larger = int((odds["exact"] > odds["first-order"] + 1e-7).sum())
    return times["first-order"] / times["exact"], larger, float((odds["first-order"] - odds["exact"]).mean())


def run():
    rows = []
    for name, epsilon in (("default radii", None), ("radii = sigma", 0.05)):
        speed, larger, gain = compare(epsilon)
        rows += [
            (f"exact / first-order speed, {name}", ">= 50", speed, speed >= 50),
            ("  rows with larger worst-case odds", "= 0", larger, larger == 0),
            ("  mean gain in log odds", "", gain, None),
        ]
    return rows
