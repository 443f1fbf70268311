"""Data sets: what parts, workers and a second run cost, and how much memory a worker needs."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from problem import network

from robust_recourse import NearestAccepted
from robust_recourse.cluster import explain_dataset

ROWS, MIXED = 100_000, 10_000
CHILD = """
import json, resource, sys, time
from robust_recourse import load
from robust_recourse.cluster import explain_dataset
method = load(sys.argv[1], trusted=json.loads(sys.argv[4]))
started, used = time.perf_counter(), time.process_time()
explain_dataset(method, sys.argv[2], sys.argv[3], unseen="ignore")
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(json.dumps([time.perf_counter() - started, time.process_time() - used, peak]))
"""


def people(n, p=10, seed=5):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.standard_normal((n, p)), columns=[f"c{k}" for k in range(p)])


def numbers():
    """A small network on numbers: the method, and a function that makes people."""
    model, X, _ = network()
    train = pd.DataFrame(X, columns=[f"c{k}" for k in range(10)])
    model.feature_names_in_ = np.array(train.columns, dtype=object)
    return NearestAccepted(model, random_state=0).fit(train), people


def mixed():
    """A table with categories, text and gaps."""
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    def table(n, seed=5):
        rng = np.random.default_rng(seed)
        frame = people(n, 6, seed)
        frame["job"] = pd.Categorical(rng.choice(["cook", "clerk", "nurse", "smith"], n))
        frame["town"] = rng.choice(["Leeds", "York", "Hull"], n)
        frame["loans"] = rng.integers(0, 6, n)
        frame.loc[rng.random(n) < 0.05, "c5"] = np.nan
        return frame

    train = table(5000, seed=1)
    score = train["c0"] + train["c1"] ** 2 - 0.3 * train["loans"] + (train["job"] == "nurse")
    encode = make_column_transformer((OrdinalEncoder(), ["job", "town"]), remainder="passthrough")
    model = make_pipeline(encode, HistGradientBoostingClassifier(max_iter=30, random_state=0)).fit(train, score > 0.8)
    return NearestAccepted(model, random_state=0).fit(train), table


def used():
    """CPU seconds of this process and of all that it waited for: a busy machine does not change them."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def timed(work):
    wall, cpu = time.perf_counter(), used()
    work()
    return time.perf_counter() - wall, used() - cpu


def in_child(method, source, out):
    """Explain in a process of its own; return seconds, CPU seconds and peak memory in GiB."""
    from robust_recourse.cluster.sending import packed_method

    packed = packed_method(method)
    path = Path(out).with_suffix(".method")
    path.write_bytes(packed.content)
    trusted = json.dumps([name for name in packed.trusted if isinstance(name, str)])
    command = [sys.executable, "-c", CHILD, str(path), str(source), str(out), trusted]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def measured(name, method, table, n, folder, rows):
    source = folder / f"{name}.parquet"
    frame = table(n)
    frame.to_parquet(source, row_group_size=100_000)
    method.explain(frame[:100], unseen="ignore")  # what is done once is done
    memory = timed(lambda: method.explain(frame, unseen="ignore"))
    one = timed(lambda: explain_dataset(method, source, folder / f"{name}-one", unseen="ignore"))
    again = timed(lambda: explain_dataset(method, source, folder / f"{name}-one", unseen="ignore"))
    ratio = one[1] / memory[1]
    rows.append((f"{name}, {n:,} rows: CPU of data set / explain", "<= 1.15", ratio, ratio <= 1.15))
    rows.append((f"{name}: microseconds a row, explain in memory", "", 1e6 * memory[1] / n, None))
    rows.append((f"{name}: second run / first", "<= 0.01", again[0] / one[0], again[0] / one[0] <= 0.01))
    two = workers(method, source, folder / f"{name}-two", 2)
    single = workers(method, source, folder / f"{name}-single", 1)
    overhead = max(1.0 - one[1] / two["cpu"], 0.0)
    rows.append(
        (f"{name}: one process / two workers, wall", ">= 1.7", one[0] / two["wall"], one[0] / two["wall"] >= 1.7)
    )
    rows.append((f"{name}: one worker / two workers, wall", "", single["wall"] / two["wall"], None))
    rows.append((f"{name}: CPU beyond one process, share of all", "<= 0.10", overhead, overhead <= 0.10))


def workers(method, source, out, n):
    """Explain on workers that are there already; return wall and CPU seconds, of the scheduler and client, too."""
    import distributed

    options = {"n_workers": n, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(n)
        client.run(_ready)
        before = sum(client.run(time.process_time).values())
        wall, cpu = time.perf_counter(), time.process_time()
        explain_dataset(method, source, out, client=client, unseen="ignore")
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        return {"wall": wall, "cpu": cpu + sum(client.run(time.process_time).values()) - before}


def _ready():
    import robust_recourse.cluster  # noqa: F401


def run(numbers_rows=ROWS, mixed_rows=MIXED):
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        method, table = numbers()
        measured("numbers", method, table, numbers_rows, folder, rows)
        few = folder / "few.parquet"
        table(numbers_rows // 10).to_parquet(few)
        _, _, little = in_child(method, few, folder / "few")
        _, _, much = in_child(method, folder / "numbers.parquet", folder / "much")
        label = f"peak memory for {numbers_rows:,} rows / a tenth"
        rows.append((label, "<= 1.2", much / little, much / little <= 1.2))
        rows.append(("  of which GiB", "<= 1", much, much <= 1.0))
        method, table = mixed()
        measured("mixed", method, table, mixed_rows, folder, rows)
    return rows


def million():
    return run(1_000_000, 100_000)


if __name__ == "__main__":
    scale = int(os.environ.get("ROWS", ROWS))
    for line in run(scale, scale // 10):
        print(*line)
