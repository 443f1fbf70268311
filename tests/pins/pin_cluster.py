"""Pins that a data set in parts has the bits of the whole: in one process, and on workers of which one is killed.

A table with categories, booleans and gaps, in three files of which one is empty, is explained in one call, in parts in
one process, and in parts by a worker on every core; a worker dies of SIGKILL in the middle of a part. Then some parts
are removed and one is cut: only these are computed again. The engine, survival and tables may change the digests of the
whole; no work may change that parts agree with it, nor how many are computed.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

PART_ROWS = 10
REMOVED, CUT = (1, 4), 6


def observe(folder):
    if sys.platform == "win32":
        pytest.skip("no process of Windows is killed so")
    for package in ("distributed", "pyarrow", "cloudpickle"):
        pytest.importorskip(package)
    # In a process of its own: what Dask leaves behind, threads and warnings, would be that of other tests.
    # It imports this module, so that the class below has one name there and in workers.
    paths = [str(Path(__file__).parent), *filter(None, sys.path)]
    command = [sys.executable, "-c", "import pin_cluster; pin_cluster.write()", str(folder)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads((folder / "seen.json").read_text(encoding="utf-8"))


class Rule:
    """Accepts who has money left; a worker that is asked about a certain income for the first time ends itself."""

    def __init__(self, trap, flag):
        self.trap, self.flag, self.home = trap, str(flag), os.getpid()

    def predict(self, X):
        if os.getpid() != self.home and (X["income"] == self.trap).any() and not os.path.exists(self.flag):
            open(self.flag, "x").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return (X["income"] - X["debt"] + 500 * X["owner"] - 200 * X["loans"].fillna(2.0) > 2000).astype(int)


def people(n, least):
    """Return a table by arithmetic, which is the same everywhere."""
    import pandas as pd

    k = range(least, least + n)
    table = pd.DataFrame({"income": [800.5 + 37 * i % 4000 for i in k], "debt": [11 * i % 2100 for i in k]})
    table["job"] = pd.Categorical([("cook", "clerk", "nurse")[i % 3] for i in k], ["clerk", "cook", "nurse"])
    table["town"] = [None if i % 17 == 3 else ("Leeds", "York", "Hull")[i % 7 % 3] for i in k]
    table["owner"] = [i % 5 < 2 for i in k]
    table["loans"] = [float("nan") if i % 9 == 4 else float(i % 6) for i in k]
    return table


def see(folder):
    import dask
    import pandas as pd
    from pinning import digest

    from robust_recourse import ActionSet, NearestAccepted, Recourses
    from robust_recourse.cluster import explain_dataset

    source, table = folder / "people", people(90, 1000)
    source.mkdir()
    for name, first, last in (("a", 0, 44), ("b", 44, 44), ("c", 44, 90)):
        table[first:last].to_parquet(source / f"{name}.parquet")
    flag = folder / "killed"
    method = NearestAccepted(Rule(table["income"][57], flag), ActionSet(decrease=["debt"]), random_state=0)
    method.fit(people(300, 0))
    whole = method.explain(pd.read_parquet(source), 2)

    def run(out, client=None):
        tally = explain_dataset(method, source, folder / out, n_recourses=2, part_rows=PART_ROWS, client=client)
        same = Recourses.from_parquet(folder / out).equals(whole)
        same &= pd.read_parquet(folder / out).equals(whole.to_frame())
        same &= files(out) == files("here")
        return {"parts": tally.parts, "computed": tally.computed, "as the whole": bool(same)}

    def files(out):
        return {path.name: path.read_bytes() for path in sorted((folder / out).glob("part-*"))}

    seen = {
        "whole": {
            "rows": digest(whole.to_frame().to_csv()),
            "costs": digest(whole.cost),
            "statuses": dict(sorted(pd.Series(whole.status).astype(str).value_counts().items())),
        },
        "in parts": run("here"),
    }
    with dask.config.set({"distributed.comm.timeouts.connect": "300s"}):
        seen["a worker killed"] = run("there", "local") | {"killed": flag.exists()}
    for number, path in enumerate(sorted((folder / "there").glob("part-*"))):
        if number in REMOVED:
            path.unlink()
        elif number == CUT:
            path.write_bytes(path.read_bytes()[:-9])
    seen["what is missing"] = run("there")
    seen["again"] = run("there")
    return seen


def write():
    """Write what is seen into the folder that the command names."""
    warnings.simplefilter("ignore")
    folder = Path(sys.argv[1])
    (folder / "seen.json").write_text(json.dumps(see(folder)), encoding="utf-8")
