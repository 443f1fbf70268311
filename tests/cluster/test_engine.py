"""The real engine: processes that are killed, that hang, that go away. What comes out never changes."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tests.cluster.conftest import assert_same, explained, mixed_table, numbers_table, written
from tests.cluster.models import Hanging, Poison, Slow
from tests.cluster.test_frames import promised

from robust_recourse import ActionSet, Jury, NearestAccepted, save
from robust_recourse.cluster import ClusterLostError, IncompleteError, engine, explain_dataset, local, validate_dataset
from robust_recourse.cluster.engine import connected, run_there

distributed = pytest.importorskip("distributed", reason="needs Dask: pip install 'robust-recourse[dask]'")
dask = pytest.importorskip("dask")
pytestmark = [
    pytest.mark.slow,
    # Of the engine, about sockets and tasks of processes that the tests kill.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning:distributed", "ignore:.*:UserWarning:distributed"),
]
ROOT = Path(__file__).parents[2]
KILLS = 20


@pytest.fixture(scope="module")
def cluster():
    """Two workers, each a process with a nanny that starts another when it dies."""
    with (
        dask.config.set({name: value for name, value in local.SETTINGS.items() if ".worker." not in name}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as started,
    ):
        yield started


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster, set_as_default=False) as there:
        there.wait_for_workers(2)
        yield there


def line(n=100):
    """Return one column that rises."""
    return pd.DataFrame({"a": np.arange(float(n)), "b": np.zeros(n)})


def fitted(model):
    train = line(20)
    return NearestAccepted(model, random_state=0).fit(train)


def test_two_workers_find_what_one_process_finds(client, mixed_method, tmp_path):
    table = mixed_table(300)
    source = written(tmp_path / "in", [table[:120], table[:0], table[120:125], table[125:]])
    tally = explain_dataset(mixed_method, source, tmp_path / "out", client=client, part_rows=40)
    assert tally.computed == 9
    assert_same(tmp_path / "out", explained(mixed_method, pd.read_parquet(tmp_path / "in")))
    assert sorted(path.name for path in (tmp_path / "out").iterdir() if not path.name.startswith("part-")) == [
        "_finished.jsonl",
        "_manifest.json",
    ]
    explain_dataset(mixed_method, source, tmp_path / "here", part_rows=40)
    for path in sorted((tmp_path / "here").glob("part-*")):
        assert path.read_bytes() == (tmp_path / "out" / path.name).read_bytes()


def test_a_jury_on_the_cluster(client, tmp_path):
    from sklearn.linear_model import LogisticRegression

    train = numbers_table(300, seed=1)
    label = (train["income"] - train["debt"] > 2000.0).astype(int)
    recipe = LogisticRegression(max_iter=2000)
    jury = Jury.retrain(recipe, train, label, n_models=5, quorum=0.8, random_state=0)
    method = NearestAccepted(recipe.fit(train, label), ActionSet(immutable=["age"]), jury=jury, random_state=0)
    method.fit(train)
    source = written(tmp_path / "in", [numbers_table(80)])
    explain_dataset(method, source, tmp_path / "out", client=client, part_rows=30, n_recourses=2)
    assert_same(tmp_path / "out", explained(method, numbers_table(80), n_recourses=2))


def test_a_model_that_cannot_be_saved_goes_as_a_pickle(client, tmp_path):
    least = 15.0
    method = fitted(lambda X: np.asarray(X)[:, 0] > least)
    source = written(tmp_path / "in", [line(60)])
    with pytest.warns(UserWarning, match=r"must be sent to the workers as a pickle: .*is code"):
        explain_dataset(method, source, tmp_path / "out", client=client.scheduler.address, part_rows=7, unseen="ignore")
    assert_same(tmp_path / "out", explained(method, line(60)))


def test_workers_killed_twenty_times(cluster, client, tmp_path):
    method = fitted(Slow(tmp_path / "enough", 0.15))
    source = written(tmp_path / "in", [line(600)])
    killed, stop, rng = [], threading.Event(), random.Random(0)

    def kill():
        while len(killed) < KILLS and not stop.is_set():
            time.sleep(rng.uniform(0.05, 0.4))
            process = rng.choice(list(cluster.workers.values())).pid
            if process is not None and process not in killed:
                os.kill(process, signal.SIGKILL)
                killed.append(process)
        (tmp_path / "enough").touch()

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        tally = explain_dataset(method, source, tmp_path / "out", client=client, part_rows=2, unseen="ignore")
    finally:
        stop.set()
        killer.join()
    assert len(killed) == KILLS
    assert tally.finished == 300
    assert_same(tmp_path / "out", explained(method, line(600)))


def test_a_part_that_kills_workers_is_set_aside(client, tmp_path):
    method = fitted(Poison(33.0))
    source = written(tmp_path / "in", [line(60)])
    with pytest.raises(IncompleteError, match=r"rows 30 to 39: every worker that computed it was killed") as caught:
        explain_dataset(method, source, tmp_path / "out", client=client, part_rows=10, unseen="ignore")
    assert len(caught.value.reasons) == 1
    assert caught.value.tally.finished == 5
    explain_dataset(method, source, tmp_path / "out", part_rows=10, unseen="ignore")
    assert_same(tmp_path / "out", explained(method, line(60)))


def test_results_that_die_with_their_workers_are_computed_again(cluster, client):
    job = SimpleNamespace(time_limit=None, place=SimpleNamespace(name="nowhere"))
    outcomes = run_there(client, lambda _job, part: {"part": part}, job, range(6))
    first = next(outcomes)

    killed = set()

    def wait_for(status):
        # Who looks too late finds all of them computed again by new workers, which is as good.
        while status not in (states := {future.status for future in client.futures.values()}):
            assert states <= {"pending", "finished", "lost"}
            if killed and states == {"finished"} and not killed & {worker.pid for worker in cluster.workers.values()}:
                break
            time.sleep(0.01)

    wait_for("finished")
    for worker in list(cluster.workers.values()):
        killed.add(worker.pid)
        os.kill(worker.pid, signal.SIGKILL)
    wait_for("lost")
    assert sorted([first, *outcomes]) == [(part, {"part": part}, "") for part in range(6)]


def test_a_part_that_hangs_is_set_aside(client, tmp_path):
    method = fitted(Hanging(33.0))
    source = written(tmp_path / "in", [line(60)])
    limit = {"part_rows": 10, "unseen": "ignore", "time_limit": 10.0}
    with pytest.raises(IncompleteError, match=r"rows 30 to 39: it took longer than 10 seconds") as caught:
        explain_dataset(method, source, tmp_path / "out", client=client, **limit)
    assert (len(caught.value.reasons), caught.value.tally.finished) == (1, 5)
    assert not [path for path in (tmp_path / "out").iterdir() if path.name.startswith(("_late", "_sent"))]


def test_a_full_disk_ends_everything(client, tmp_path):
    method = fitted(Slow(tmp_path, 0.0))
    source = written(tmp_path / "in", [line(60)])

    def limited(size):
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))

    client.run(limited, 100)
    try:
        with pytest.raises(OSError, match="File too large"):
            explain_dataset(method, source, tmp_path / "out", client=client, part_rows=10, unseen="ignore")
    finally:
        client.run(limited, -1)
    assert not list((tmp_path / "out").glob("*part*"))
    assert not list((tmp_path / "out").glob(".robust*"))
    explain_dataset(method, source, tmp_path / "out", client=client, part_rows=10, unseen="ignore")
    assert_same(tmp_path / "out", explained(method, line(60)))


def end(process):
    """Kill a process; nobody waits for what it has started, which may hold its end of a pipe."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        pipe.close()


def start(*arguments):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])}
    command = [sys.executable, "-m", "tests.cluster.starter", *map(str, arguments)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    )


def test_a_scheduler_that_goes_away(tmp_path):
    method = fitted(Slow(tmp_path / "enough", 0.1))
    source = written(tmp_path / "in", [line(200)])
    process = start("cluster", 2)
    out = tmp_path / "out"

    def kill():
        while len(list(out.glob("part-*"))) < 3 and process.poll() is None:
            time.sleep(0.05)
        process.kill()

    try:
        address = process.stdout.readline().strip()
        killer = threading.Thread(target=kill)
        killer.start()
        with (
            dask.config.set({"distributed.comm.timeouts.connect": "3s"}),
            pytest.raises(ClusterLostError, match=r"went away\. What is finished is kept in"),
        ):
            explain_dataset(method, source, out, client=address, part_rows=4, unseen="ignore")
        killer.join()
    finally:
        end(process)
    assert 3 <= len(list(out.glob("part-*"))) < 50
    (tmp_path / "enough").touch()
    tally = explain_dataset(method, source, out, part_rows=4, unseen="ignore")
    assert 0 < tally.computed <= 47
    assert_same(out, explained(method, line(200)))


@pytest.mark.parametrize("where", ["here", "there"])
def test_a_client_killed_twenty_times(cluster, tmp_path, where):
    method = fitted(Slow(tmp_path / "enough", 0.3))
    save(method, tmp_path / "method")
    source = written(tmp_path / "in", [line(600)])
    out, rng = tmp_path / "out", random.Random(1)
    address = cluster.scheduler_address if where == "there" else "here"
    process = start("clients", tmp_path / "method", source, out, address, 3)
    try:
        assert process.stdout.readline().strip() == "distributed"
        for kills in range(KILLS):
            process.stdin.write("run\n")
            process.stdin.flush()
            child = int(process.stdout.readline())
            time.sleep(rng.uniform(0.1, 1.5))
            while kills == KILLS - 1 and not list(out.glob("part-*")):  # on a busy machine all came too early
                time.sleep(0.05)
            os.kill(child, signal.SIGKILL)
            assert int(process.stdout.readline()) == -signal.SIGKILL
    finally:
        end(process)
    assert not [path for path in out.glob("*.parquet") if pd.read_parquet(path).empty]
    (tmp_path / "enough").touch()
    tally = explain_dataset(method, source, out, part_rows=3, unseen="ignore")
    assert tally.computed < 200
    assert_same(out, explained(method, line(600)))


def test_nobody_answers(numbers_method, tmp_path):
    source = written(tmp_path / "in", [numbers_table(5)])
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        pytest.raises(ClusterLostError, match="no scheduler of Dask answers there"),
    ):
        explain_dataset(numbers_method, source, tmp_path / "out", client="tcp://127.0.0.1:9")
    with pytest.raises(ClusterLostError, match="missing port number"):
        explain_dataset(numbers_method, source, tmp_path / "out", client="nonsense")
    with pytest.raises(TypeError, match="client must be None"):
        explain_dataset(numbers_method, source, tmp_path / "out", client=3)


def test_a_terminal_interrupts_the_client_and_not_its_workers(cluster):
    assert local.SETTINGS["distributed.worker.preload"] == [local.__name__]
    with distributed.Client(cluster, set_as_default=False) as client:
        client.run(local.dask_setup, None)
        assert set(client.run(signal.getsignal, signal.SIGINT).values()) == {signal.SIG_IGN}


def test_workers_on_this_machine(numbers_method, tmp_path):
    source = written(tmp_path / "in", [numbers_table(50)])
    tally = explain_dataset(numbers_method, source, tmp_path / "out", client="local", part_rows=20)
    assert tally.computed == 3
    assert_same(tmp_path / "out", explained(numbers_method, numbers_table(50)))


def what_is_there():
    """Return which process a worker is a copy of, how many threads that has, and whether all is imported."""
    parent = os.getppid()
    told = Path(f"/proc/{parent}/environ").read_text().split("\0")
    kept = sorted(setting for setting in told if setting.startswith("MALLOC_"))
    threads = len(list(Path(f"/proc/{parent}/task").iterdir()))
    return parent, kept, threads, {"skops.io", "robust_recourse.cluster.job"} <= set(sys.modules)


def print_what_is_there():
    with connected("local") as client:
        client.wait_for_workers(os.cpu_count())
        sys.stdout.write(f"{json.dumps(list(client.run(what_is_there).values()))}\n")
        address, victim = next(iter(client.run(os.getpid).items()))
        os.kill(victim, signal.SIGKILL)
        while address in client.scheduler_info()["workers"]:
            time.sleep(0.05)
        client.wait_for_workers(os.cpu_count(), timeout=200)
        sys.stdout.write(f"{json.dumps(list(client.run(what_is_there).values()))}\n")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere every worker imports all by itself")
def test_workers_on_this_machine_are_copies_of_one_process(tmp_path):
    # From a process of its own: that of the tests may have started another such process before.
    script = "from tests.cluster.test_engine import print_what_is_there as show; show()"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [environment.get("PYTHONPATH")])])
    # By itself Dask would give a worker up that is not there again after so long, and start no other.
    environment["DASK_DISTRIBUTED__DEPLOY__LOST_WORKER_TIMEOUT"] = "100ms"
    with (tmp_path / "shown").open("w") as shown:
        subprocess.run([sys.executable, "-c", script], env=environment, stdout=shown, check=True)
    before, after = map(json.loads, (tmp_path / "shown").read_text().splitlines())
    assert len(before) == len(after) == os.cpu_count()
    kept = ["MALLOC_MMAP_THRESHOLD_=67108864", "MALLOC_TRIM_THRESHOLD_=268435456"]
    # With a second thread a copy might wait for ever for a lock that nobody holds any more.
    assert all(known == [before[0][0], kept, 1, True] for known in (*before, *after))


def test_who_waits_for_workers_says_so(monkeypatch):
    monkeypatch.setattr(engine, "_PATIENCE", 0.3)
    job = SimpleNamespace(time_limit=None, place=SimpleNamespace(name="nowhere"))
    with (
        distributed.LocalCluster(n_workers=0, threads_per_worker=1, dashboard_address=None, silence_logs=50) as empty,
        distributed.Client(empty, set_as_default=False) as client,
    ):
        helper = threading.Timer(1.5, empty.scale, [1])
        helper.start()
        with pytest.warns(UserWarning, match="has no workers at the moment") as told:
            outcomes = sorted(run_there(client, lambda _job, part: {"part": part}, job, range(3)))
        helper.join()
    assert outcomes == [(part, {"part": part}, "") for part in range(3)]
    assert len([warning for warning in told if "no workers" in str(warning.message)]) == 1


def test_models_are_asked_on_the_cluster(client, numbers_method, tmp_path):
    table = numbers_table(60)
    explain_dataset(numbers_method, written(tmp_path / "in", [table]), tmp_path / "out", part_rows=13)
    models = [numbers_method.model] * 3
    validity = validate_dataset(tmp_path / "out", models, client=client)
    whole = explained(numbers_method, table).future_validity(models)
    pd.testing.assert_frame_equal(validity.to_frame(), whole.to_frame())
    ledger = promised(numbers_method, tmp_path)
    there, here = (validate_dataset(ledger, models, client=where) for where in (client, None))
    pd.testing.assert_frame_equal(there.to_frame(), here.to_frame())
