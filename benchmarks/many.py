"""Data sets: what parts, workers and a second run cost, and how much memory a worker needs."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from functools import partial
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
wall, used = time.perf_counter() - started, time.process_time() - used
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(json.dumps({"wall": wall, "cpu": used, "peak": peak}))
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
    """Explain in a process of its own; return wall and CPU seconds, and peak memory in GiB."""
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
    frame.to_parquet(source)
    method.explain(frame[:100], unseen="ignore")  # what is done once is done
    memory = timed(partial(method.explain, frame, unseen="ignore"))
    del frame
    one = in_child(method, source, folder / f"{name}-one")
    again = timed(lambda: explain_dataset(method, source, folder / f"{name}-one", unseen="ignore"))
    two = workers(method, source, folder / f"{name}-two")
    ratio, second = one["cpu"] / memory[1], again[1] / one["cpu"]
    faster, share = one["wall"] / two["wall"], 1.0 - two["tasks"] / two["cpu"]
    rows += [
        (f"{name}, {n:,} rows: CPU of data set / explain", "<= 1.15", ratio, ratio <= 1.15),
        (f"{name}: microseconds a row, explain in memory", "", 1e6 * memory[1] / n, None),
        (f"{name}: second run / first, CPU", "<= 0.01", second, second <= 0.01),
        (f"{name}: one process / local workers, wall", ">= 1.7", faster, faster >= 1.7),
        (f"{name}: one process / busiest worker, CPU", "", one["cpu"] / two["busiest"], None),
        (f"{name}: scheduler, client, loops of workers, share of CPU", "<= 0.10", share, share <= 0.10),
        (f"{name}: CPU of all processes / one process", "", two["cpu"] / one["cpu"], None),
    ]
    return one["peak"], two["peak"]


def workers(method, source, out):
    """Explain on local workers that are there already.

    Returns wall and CPU seconds of everybody, scheduler and client included; those within tasks; those of the busiest
    worker; the largest peak memory of a worker in GiB.
    """
    from robust_recourse.cluster.engine import connected

    with connected("local") as client:
        client.wait_for_workers(os.cpu_count())
        client.run(_ready)
        names = list(client.scheduler_info()["workers"])
        used_before, tasks_before = client.run(time.process_time), _in_tasks(client, names)
        wall, cpu = time.perf_counter(), time.process_time()
        explain_dataset(method, source, out, client=client, unseen="ignore")
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        each = [after - used_before[name] for name, after in client.run(time.process_time).items()]
        tasks = sum(_in_tasks(client, names)) - sum(tasks_before)
        peak = max(client.run(_peak).values())
        return {
            "wall": wall,
            "cpu": cpu + sum(each),
            "tasks": tasks,
            "busiest": max(each),
            "peak": peak,
        }


def _ready():
    import robust_recourse.cluster  # noqa: F401


def _in_tasks(client, names):
    """CPU seconds of the thread of every worker in which its tasks run."""
    return client.gather([client.submit(time.thread_time, workers=[name], pure=False) for name in names])


def _peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def run(numbers_rows=ROWS, mixed_rows=MIXED):
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        method, table = numbers()
        much = measured("numbers", method, table, numbers_rows, folder, rows)
        few = folder / "few.parquet"
        table(numbers_rows // 10).to_parquet(few)
        little = in_child(method, few, folder / "few")["peak"], workers(method, few, folder / "few-two")["peak"]
        for where, most, least in zip(("the process", "a worker"), much, little, strict=True):
            label = f"peak memory of {where}, {numbers_rows:,} rows / a tenth"
            rows.append((label, "<= 1.2", most / least, most / least <= 1.2))
            rows.append(("  of which GiB", "<= 1", most, most <= 1.0))
        method, table = mixed()
        measured("mixed", method, table, mixed_rows, folder, rows)
    return rows


def million():
    return run(1_000_000, 100_000)


if __name__ == "__main__":
    scale = int(os.environ.get("ROWS", ROWS))
    for line in run(scale, scale // 10):
        print(*line)
