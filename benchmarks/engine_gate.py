"""Is the search as good as it was? Cost and questions of every person, beside what was recorded. `make gate`.

    python benchmarks/engine_gate.py                                # all cases; two to three minutes on two cores
    python benchmarks/engine_gate.py --only wide24.boosted steps    # those whose names contain one of these
    python benchmarks/engine_gate.py --people 5                     # the first of each case
    python benchmarks/engine_gate.py --record                       # write engine_gate.csv anew

A case passes if rows cost no more than 1.01 times what was recorded on average (1.03 for trees on wide tables; where
the search sees only labels 1.02 and 1.06), nobody pays more than 1.3 times, and nobody is lost: for whoever a row was
found, one is found, and the model accepts it within the action set. The exit code is 0 if all cases pass, 1 if one
fails, and 2 if one could not be compared. Costs are those of the cheapest row that the search finds (`cheapest`). What
the default method makes of it (`default`) and the questions are shown beside, and do not count. `oracle` is the mean
ratio of costs to those of the nearest accepted training rows or, on the table `steps`, of the cheapest of all sets of
up to three changes (or of what was found at the time, if that is cheaper).

The record has one line for each case and quantity, with a number for each person. `calls` are those that it takes to
explain one person alone, and are counted where the search sees only labels. Models that are learnt under other versions
of the packages, or on another processor, may be other models: the line `problem` has a digest of the training rows and
of what the models say to them, and a case whose digest differs is not compared. To compare there, record with the old
code first.
"""

import argparse
import csv
import os
import platform
import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
from brute import Grid, Person
from engine_cases import QUORUM, TUNED, Deciding, cases, cheapest_of_three, problem
from sklearn.exceptions import ConvergenceWarning

from robust_recourse import Jury, NearestAccepted, RobustBayesianRecourse

RECORD = Path(__file__).with_suffix(".csv")
PEOPLE = 30
ALONE = 3  # people who are explained alone, too, for the calls that takes
WORST = 1.3  # ratio of one person's costs
SAME = 1e-5  # of a ratio: costs are recorded with six digits
PASSED, FAILED, NOT_COMPARED = 0, 1, 2


class Line(NamedTuple):
    """What came out of a case, as ratios to the record."""

    case: Any
    people: int
    mean: float
    worst: float
    before: int  # for how many people a row was found
    now: int
    lost: int
    questions: float
    default: float
    oracle: float  # mean ratio of costs to those of what was tried, or of the nearest accepted training rows
    seconds: float

    @property
    def passed(self):
        fine = self.mean <= self.case.greatest_mean + SAME and self.worst <= WORST + SAME
        return fine and not self.lost


# ------------------------------------------------------------------------------------------------------------ measuring


def explained(case, asked, **words):
    """Explain the people of a case: the one place that knows how the search is called."""
    if case.asks == "jury":
        words["jury"] = Jury(asked.jurors, QUORUM)
    words.update(axes=case.search == "full", random_state=0)
    method = RobustBayesianRecourse(asked.model, asked.actions, **words).fit(asked.X)
    return method, method.explain(asked.people, unseen="ignore")


def cheapest(case, asked):
    """Return a method whose rows are the cheapest that are found, these rows, their costs and the questions.

    Without a budget that is the row at the boundary. Only of the paper's search the method goes on from there.
    """
    method, found = explained(case, asked, delta_plus=0.0, n_samples=2)
    if case.search == "paper":
        return method, found.boundary, found.budget, found.n_queries
    return method, found.x, np.where(found.valid, found.cost, np.nan), found.n_queries


def kept(asked, rows, cost):
    """Return the costs of rows, NaN for those that are refused or break the action set."""
    there = np.flatnonzero(np.isfinite(cost))
    some = (lambda table: table[there]) if isinstance(rows, np.ndarray) else (lambda table: table.iloc[there])
    before, after = some(asked.people), some(rows)
    if not isinstance(rows, np.ndarray):
        after = after.astype(asked.X.dtypes)
    decides = Deciding(asked.decides, asked.jurors) if asked.jurors else asked.decides
    wrong = np.asarray(decides.predict(after)) != 1
    for i in range(len(there)):
        wrong[i] |= len(asked.actions.check(before[i : i + 1], after[i : i + 1])) > 0
    cost = np.array(cost, dtype=float)
    cost[there[wrong]] = np.nan
    return cost


def measure(case, n_people=PEOPLE):
    """Return what a case comes to: a list for every quantity, one entry for each person."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    asked = problem(case, n_people)
    method, rows, cost, questions = cheapest(case, asked)
    _, default = explained(case, asked)
    seen = {
        "problem": [asked.digest()],
        "cheapest": kept(asked, rows, cost).tolist(),
        "questions": questions.tolist(),
        "default": np.where(default.valid, default.cost, np.nan).tolist(),
        "default questions": default.n_queries.tolist(),
    }
    if case.most is None and case.asks == "scores":
        near = NearestAccepted(asked.model, asked.actions, random_state=0).fit(asked.X).explain(asked.people)
        seen["nearest"] = np.where(near.valid, near.cost, np.nan).tolist()
    if case.table == "steps":
        grid, known = Grid(asked.actions, asked.X), np.nan_to_num(seen["cheapest"], nan=np.inf)
        people = (Person(grid, asked.decides, row) for _, row in asked.people.iterrows())
        seen["tried"] = [cheapest_of_three(*both) for both in zip(people, known, strict=True)]
    if case.asks == "labels":
        seen["calls"] = [calls_alone(method, asked, i) for i in range(min(ALONE, n_people))]
    return seen


def calls_alone(method, asked, i):
    """Return how often the model is called to explain somebody alone."""
    before = asked.model.calls
    method.explain(asked.people[i : i + 1], unseen="ignore")
    return asked.model.calls - before


def timed(case, n_people):
    """Return a case, what it comes to, and the seconds of the processor that took."""
    start = time.process_time()
    seen = measure(case, n_people)
    return case, seen, time.process_time() - start


# ----------------------------------------------------------------------------------------------------------- the record


def made_with():
    """Return what the models depend on."""
    features = np._core._multiarray_umath.__cpu_features__
    found = [f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn", "pandas")]
    known = [name for name in ("X86_V3", "X86_V4", "ASIMD") if features.get(name)]
    return [*found, "python " + ".".join(platform.python_version_tuple()[:2]), " ".join([platform.machine(), *known])]


def write(record, file=RECORD):
    """Write what all cases came to; nobody's number is empty."""
    order = [case.name for case in cases() if case.name in record]
    with file.open("w", encoding="utf-8", newline="") as text:
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(["case", "what", *range(PEOPLE)])
        lines.writerow(["all", "made with", *made_with()])
        for name in order:
            for what, values in record[name].items():
                cells = values if what == "problem" else ["" if np.isnan(v) else f"{v:.6g}" for v in values]
                lines.writerow([name, what, *cells])


def read(file=RECORD):
    """Return what was recorded, and with what."""
    with file.open(encoding="utf-8", newline="") as text:
        rows = list(csv.reader(text))[1:]
    record = {}
    for name, what, *cells in rows[1:]:
        values = cells if what == "problem" else [float(cell) if cell else float("nan") for cell in cells]
        record.setdefault(name, {})[what] = values
    return rows[0][2:], record


# ------------------------------------------------------------------------------------------------------------ comparing


def compare(case, before, now, seconds=0.0):
    """Return the line of a case; of the record only as many people as are there now."""
    n = len(now["cheapest"])
    first = {what: np.array(values[:n], dtype=float) for what, values in before.items() if what != "problem"}
    new = {what: np.array(values, dtype=float) for what, values in now.items() if what != "problem"}
    had, has = np.isfinite(first["cheapest"]), np.isfinite(new["cheapest"])
    oracle = next((what for what in ("tried", "nearest") if what in first), None)
    ratio = (new["cheapest"] / first["cheapest"])[had & has]
    return Line(
        case,
        n,
        float(ratio.mean()) if len(ratio) else 1.0,
        float(ratio.max(initial=0.0)),
        int(had.sum()),
        int(has.sum()),
        int((had & ~has).sum()),
        float(new["questions"].sum() / first["questions"].sum()),
        float(np.nanmean(new["default"] / first["default"])),
        float(np.nanmean(new["cheapest"] / first[oracle])) if oracle else float("nan"),
        seconds,
    )


def show(line):
    oracle = "" if np.isnan(line.oracle) else f"{line.oracle:.3f}"
    table = "tuned on" if line.case.table in TUNED else "held out"
    cells = f"{line.case.name:28s} {table} {line.people:4d}   {line.mean:6.4f} {line.worst:6.3f}   "
    cells += (
        f"{line.before:3d} {line.now:3d}  {line.questions:9.3f} {line.default:8.3f}  {oracle:>7s} {line.seconds:6.1f}"
    )
    print(cells if line.passed else f"{cells}  FAILED", flush=True)


HEAD = f"{'case':28s} {'table':8s} people   mean  worst   found now  questions  default   oracle      s"


def main(argv=None, file=RECORD):
    """Measure, and record or compare; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="write the record instead of comparing with it")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="cases whose names contain one of these")
    parser.add_argument("--people", type=int, default=PEOPLE, metavar="N", help=f"people of a case, at most {PEOPLE}")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), metavar="N", help="processes")
    options = parser.parse_args(argv)
    if not 1 <= options.people <= PEOPLE or (options.record and options.people != PEOPLE):
        parser.error(f"--people must be from 1 to {PEOPLE}, and {PEOPLE} to record, got {options.people}.")
    chosen = [case for case in cases() if any(part in case.name for part in options.only or [""])]
    if not chosen:
        parser.error(f"no case has a name with {' or '.join(options.only)} in it.")
    tool, record = read(file) if file.exists() else ([], {})
    if options.record and options.only and record and tool != made_with():
        parser.error("the rest was recorded with other versions or on another processor. Record all cases.")
    work = (joblib.delayed(timed)(case, options.people) for case in chosen)
    results = joblib.Parallel(options.jobs, return_as="generator")(work)
    if options.record:
        for case, seen, seconds in results:
            record[case.name] = seen
            print(f"{case.name:28s} {seconds:6.1f} s", flush=True)
        write(record, file)
        return PASSED
    return judged(results, record, tool)


def judged(results, record, tool):
    """Print a line for every case and the verdict; return the exit code."""
    lines, strange = [], []
    print(HEAD)
    for case, seen, seconds in results:
        if case.name in record and record[case.name]["problem"] == seen["problem"]:
            lines.append(compare(case, record[case.name], seen, seconds))
            show(lines[-1])
        else:
            strange.append(case.name)
            print(f"{case.name:28s} not compared: {'another problem' if case.name in record else 'not recorded'}")
    bad = [line.case.name for line in lines if not line.passed]
    lost, costs = sum(line.lost for line in lines), [line.worst for line in lines]
    print(f"\n{len(lines)} cases: {len(bad)} failed, {lost} people lost, nobody above {max(costs, default=0.0):.3f}.")
    if strange:
        print(
            f"{len(strange)} cases have other models than the record, or none: these records are not comparable.\n"
            f"  recorded with: {', '.join(tool)}\n  here: {', '.join(made_with())}\n  Record with the old code first."
        )
    print(f"FAILED: {', '.join(bad)}" if bad else "NOT COMPARED" if strange else "PASSED")
    return FAILED if bad else NOT_COMPARED if strange else PASSED


if __name__ == "__main__":
    sys.exit(main())
