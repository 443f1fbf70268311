"""The solver of linear programs prints past Python, whatever its options say: nobody reads that."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from robust_recourse import ActionSet, NearestAccepted
from robust_recourse._quiet import quiet_solver


@pytest.fixture
def strict():
    """A linear model and a rule with which HiGHS 1.12 repairs a solution, and prints a line when it does."""
    rng = np.random.default_rng(355)
    p = int(rng.integers(2, 5))
    names = [f"x{k}" for k in range(p)]
    X = pd.DataFrame(rng.uniform(-1, 1, (40, p)) * rng.uniform(0.3, 2, p), columns=names)
    weights = rng.uniform(0.1, 1, p) * rng.choice([-1, 1], p)
    model = LogisticRegression()
    model.coef_, model.classes_, model.n_features_in_ = weights[None], np.array([0, 1]), p
    model.intercept_ = np.array([-np.quantile(X.to_numpy() @ weights, 0.8)])
    model.feature_names_in_ = np.array(names)
    actions = ActionSet(rules=["1.631 * x0 - 0.141 * x1 - 1.988 * x2 <= 0.411"], max_changes=2)
    return NearestAccepted(model, actions).fit(X), X[model.predict(X) == 0]


def test_the_solver_prints_nothing(strict, capfd):
    method, people = strict
    assert method.explain(people).valid.any()
    assert capfd.readouterr() == ("", "")


def test_what_others_print_meanwhile_is_not_lost(capfd):
    with quiet_solver():
        os.write(1, b"HighsMipSolverData::something\na line\nHighs\n")
    os.write(1, b"and another\n")
    assert capfd.readouterr().out == "a line\nand another\n"


def test_an_error_gives_the_output_back(capfd):
    with pytest.raises(ZeroDivisionError), quiet_solver():
        raise ZeroDivisionError
    os.write(1, b"here\n")
    assert capfd.readouterr().out == "here\n"


def test_solvers_of_several_threads_give_the_output_back(capfd):
    """The second begins only when the first has ended: else it would give back what the first put in its place."""
    within, go_on = threading.Event(), threading.Event()

    def first():
        with quiet_solver():
            within.set()
            go_on.wait(60)

    def second():
        within.wait(60)
        threading.Timer(0.2, go_on.set).start()
        with quiet_solver():
            assert go_on.is_set()

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(first), pool.submit(second)]:
            done.result(60)
    os.write(1, b"here\n")
    assert capfd.readouterr().out == "here\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_process_that_is_forked_meanwhile_has_the_output():
    script = """
import os, threading
from robust_recourse._quiet import quiet_solver
within, go_on = threading.Event(), threading.Event()
def solve():
    with quiet_solver():
        within.set()
        go_on.wait(60)
thread = threading.Thread(target=solve)
thread.start()
within.wait(60)
threading.Timer(0.2, go_on.set).start()
child = os.fork()
if not child:
    os.write(1, b"child")
    os._exit(0)
os.waitpid(child, 0)
thread.join()
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True, capture_output=True)
    assert done.stdout == b"child"


@pytest.mark.skipif(os.name != "posix", reason="file descriptors of POSIX")
def test_a_process_without_output_solves_too():
    script = "import os; os.close(1)\nfrom robust_recourse._quiet import quiet_solver\nwith quiet_solver(): pass\n"
    subprocess.run([sys.executable, "-c", script], check=True)
