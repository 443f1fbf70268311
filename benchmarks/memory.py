"""Peak memory of a process that explains 10,000 refused rows."""

import subprocess
import sys
from pathlib import Path

CHILD = """
import resource
from problem import network
from robust_recourse import RobustBayesianRecourse
model, X, refused = network()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = RobustBayesianRecourse(model, random_state=0).fit(X).explain(refused)
assert len(found) == 10_000
print(before / 2**20, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
"""


def run():
    here = Path(__file__).parent
    child = subprocess.run([sys.executable, "-c", CHILD], cwd=here, capture_output=True, text=True, check=True)
    before, peak = map(float, child.stdout.split())
    return [
        ("peak memory for 10,000 rows, GiB", "<= 1.4 (1.5 GB)", peak, peak <= 1.5e9 / 2**30),
        ("  of which before explaining", "", before, None),
    ]
