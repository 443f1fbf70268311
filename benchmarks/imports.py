"""Import time of the package against that of scikit-learn."""

import statistics
import subprocess
import sys
import time

REPEATS = 7


def seconds(statement):
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return time.perf_counter() - start


def run():
    empty, ours, theirs = (
        statistics.median(seconds(statement) for _ in range(REPEATS))
        for statement in ("pass", "import robust_recourse", "import sklearn.ensemble, sklearn.neural_network")
    )
    plain = statistics.median(seconds("import sklearn") for _ in range(REPEATS))
    ratio = (ours - empty) / (plain - empty)
    return [
        ("import time / import sklearn", "<= 1.5", ratio, ratio <= 1.5),
        ("import time / import of two sklearn modules", "", (ours - empty) / (theirs - empty), None),
    ]
