"""Data sets: what parts, workers and a second run cost, and how much memory a worker needs."""

import os
import resource
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from problem import network

from robust_recourse import NearestAccepted
from robust_recourse.cluster import explain_dataset

ROWS = 100_000  # of numbers, a tenth of what is asked for; of the mixed table, all
SLICES, LEAST = 10, 50_000  # slices, and rows of one: several parts, as a data set has


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


def sliced(name, method, frame, folder):
    """Explain slices in memory and as data sets, in turns: what else runs here hits both alike.

    Returns wall and CPU seconds of the data sets, CPU seconds in memory, and the median of the ratios of CPU seconds.
    """
    size = max(-(-len(frame) // SLICES), LEAST)
    memory, ours = [], []
    for k in range(-(-len(frame) // size)):
        piece = frame[k * size : (k + 1) * size].reset_index(drop=True)
        source = folder / f"{name}-{k}.parquet"
        piece.to_parquet(source)
        memory.append(timed(partial(method.explain, piece, unseen="ignore")))
        ours.append(timed(partial(explain_dataset, method, source, folder / f"{name}-{k}", unseen="ignore")))
    wall, cpu = np.sum(ours, axis=0)
    return wall, cpu, np.sum(memory, axis=0)[1], float(np.median(np.array(ours)[:, 1] / np.array(memory)[:, 1]))


def measured(name, method, table, n, folder, rows):
    source, few = folder / f"{name}.parquet", folder / f"{name}-few.parquet"
    frame = table(n)
    frame.to_parquet(source)
    frame[: n // 10].to_parquet(few)
    for warm in range(2):  # what is done once is done
        explain_dataset(method, few, folder / f"{name}-warm-{warm}", unseen="ignore")
    wall, cpu, memory, ratio = sliced(name, method, frame, folder)
    two = workers(method, source, folder / f"{name}-two")
    again = timed(partial(explain_dataset, method, source, folder / f"{name}-two", unseen="ignore"))
    little = workers(method, few, folder / f"{name}-few")
    second, faster, share = again[1] / cpu, wall / two["wall"], 1.0 - two["tasks"] / two["cpu"]
    grown = two["peak"] / little["peak"]
    rows += [
        (f"{name}, {n:,} rows: CPU of data set / explain", "<= 1.15", ratio, ratio <= 1.15),
        (f"{name}: microseconds a row, explain in memory", "", 1e6 * memory / n, None),
        (f"{name}: second run / first, CPU", "<= 0.01", second, second <= 0.01),
        (f"{name}: one process / local workers, wall", ">= 1.7", faster, faster >= 1.7),
        (f"{name}: one process / busiest worker, CPU", "", cpu / two["busiest"], None),
        (f"{name}: CPU of all / of one process", "", two["cpu"] / cpu, None),
        (f"{name}: scheduler, client, loops of workers, share of CPU", "<= 0.10", share, share <= 0.10),
        (f"{name}: the same, share of cores and time", "", (two["cpu"] - two["tasks"]) / two["wall"] / two["n"], None),
        (f"{name}: peak memory of a worker, {n:,} rows / a tenth", "<= 1.2", grown, grown <= 1.2),
        (f"{name}: of which GiB", "<= 1", two["peak"], two["peak"] <= 1.0),
    ]


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
            "n": len(names),
        }


def _ready():
    import robust_recourse.cluster  # noqa: F401


def _in_tasks(client, names):
    """CPU seconds of the thread of every worker in which its tasks run."""
    return client.gather([client.submit(time.thread_time, workers=[name], pure=False) for name in names])


def _peak():
    # Unlike ru_maxrss, this is not that of the process which started this one.
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 2**20


def run(numbers_rows=ROWS, mixed_rows=ROWS):
    rows = []
    for name, make, n in (("numbers", numbers, numbers_rows), ("mixed", mixed, mixed_rows)):
        with tempfile.TemporaryDirectory() as folder:
            measured(name, *make(), n, Path(folder), rows)
    return rows


def million():
    return run(1_000_000)


if __name__ == "__main__":
    scale = int(os.environ.get("ROWS", ROWS))
    for line in run(scale, scale // 10):
        print(*line)
