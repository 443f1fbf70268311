"""What comes out on real tables: robust, cheapest, and never falsely impossible. `make tables`; takes some minutes.

    python benchmarks/tables.py                            # all tuning tables and models
    python benchmarks/tables.py --table credit --model boosted --people 30
    python benchmarks/tables.py --table report fresh --json out  # the tables that nothing was tuned on
    python benchmarks/tables.py --table fresh --model network --part brute monotone
    python benchmarks/tables.py --quick --part brute       # 20 people, one part: validity, monotone, brute or linear
    python benchmarks/tables.py --export folder            # only what `dice.py` needs to compare itself with

Every number is of the default settings of RobustBayesianRecourse, on people whom the model refuses. Data: see
`real_tables.py`; without them it says so and measures what there is.
"""

import argparse
import contextlib
import itertools
import json
import sys
import time
import warnings
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
from brute import Grid, Person, Program, linear_optimum
from real_tables import FRESH, MODELS, OTHERS, REPORT, TABLES, TUNING, AbsentError, case, fitted
from rich.console import Console
from rich.table import Table
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from robust_recourse import ROAR, ActionSet, NearestAccepted, RobustBayesianRecourse, future_models

LIMITS = (1, 2, 3, 4)
FUTURES = 20
TIGHTENINGS = 3
ALONE = 12  # people who are explained alone, for the time that takes
PARTS = ("validity", "monotone", "brute", "linear")


@contextlib.contextmanager
def counted(model):
    """Count how often a model is asked, and about how many rows, without hiding what kind of model it is."""
    count = {"calls": 0, "rows": 0, "seconds": 0.0}

    def counting(name):
        ask = getattr(model, name)

        def answer(X, **kwargs):
            start = time.perf_counter()
            answers = ask(X, **kwargs)
            count["seconds"] += time.perf_counter() - start
            count["calls"], count["rows"] = count["calls"] + 1, count["rows"] + len(X)
            return answers

        return answer

    ways = [name for name in ("predict", "predict_proba", "decision_function") if hasattr(model, name)]
    for name in ways:
        model.__dict__[name] = counting(name)
    try:
        yield count
    finally:
        for name in ways:
            del model.__dict__[name]


class Bench:
    """A table and a model, with the people whom it refuses."""

    def __init__(self, case, name, options):
        self.case, self.options = case, options
        self.model = fitted(case, name)
        self.people = case.refused(self.model, options.people)
        self.actions = ActionSet(case.X, **case.actions)
        self.grid = Grid(self.actions, case.X, options.values)
        self._found = {}

    def explain(self, method=RobustBayesianRecourse, **words):
        """Return what a method finds, under the action set or a tighter one."""
        key = method, json.dumps(words, sort_keys=True)
        if key not in self._found:
            actions = ActionSet(self.case.X, **tighter(self.case.actions, words)) if words else self.actions
            self._found[key] = method(self.model, actions, random_state=0).fit(self.case.X).explain(self.people)
        return self._found[key]

    def rows(self, frame):
        """Return the rows of people who have one, in the types of the table, and who they are."""
        there = ~frame.isna().all(axis=1).to_numpy()
        return frame[there].astype(self.case.X.dtypes), np.flatnonzero(there)

    def boundary_cost(self, found):
        """Return the cost of the cheapest accepted row that is told, of boundary and recourse; infinite without."""
        rows, who = self.rows(found.boundary)
        cost = np.full(len(self.people), np.inf)
        if len(who):
            yes = self.model.predict(rows) == 1
            cost[who[yes]] = self.grid.cost(self.people.iloc[who[yes]], rows[yes])
        return np.minimum(cost, self.recourse_cost(found))

    def sureness(self, found):
        """Return the model's probability of recourses, 0 without one."""
        rows, who = self.rows(found.x)
        sure = np.zeros(len(self.people))
        if len(who):
            sure[who] = self.model.predict_proba(rows)[:, 1]
        return sure

    def futures(self):
        """Return models retrained on bootstraps."""
        n_models = self.options.futures
        return future_models(self.model, self.case.X, self.case.y, "bootstrap", n_models=n_models, random_state=0)

    def survival(self, frame, futures):
        """Return for every person the share of future models that accept a row; 0 without one."""
        rows, who = self.rows(frame)
        shares = np.zeros(len(self.people))
        if len(who):
            shares[who] = np.mean([model.predict(rows) == 1 for model in futures], axis=0)
        return shares

    @staticmethod
    def recourse_cost(found):
        return np.where(found.valid, found.cost, np.inf)


def tighter(words, more):
    """Return the words of an action set with more immutables, bounds or a limit of changes."""
    mixed = {**words, **more}
    for name in more.keys() & words.keys() - {"max_changes"}:
        mixed[name] = [*words[name], *more[name]] if name == "immutable" else {**words[name], **more[name]}
    return mixed


def share(values):
    return float(np.mean(values)) if len(values) else 0.0


def mean(values):
    values = np.asarray(values)[np.isfinite(values)]
    return float(values.mean()) if len(values) else float("nan")


def validity(bench):
    """Future validity under retrained models, odds, constraints, and what it takes."""
    n, seconds = len(bench.people), time.perf_counter()
    method = RobustBayesianRecourse(bench.model, bench.actions, random_state=0).fit(bench.case.X)
    with counted(bench.model) as count:
        start = time.perf_counter()
        found = method.explain(bench.people)
        seconds = time.perf_counter() - start
    bench._found[RobustBayesianRecourse, "{}"] = found
    futures = bench.futures()

    def survives(frame):
        return bench.survival(frame, futures)

    rows, who = bench.rows(found.x)
    before = bench.people.iloc[who]
    again = np.zeros(n, dtype=bool)
    again[who] = bench.model.predict(rows) == 1
    own_cost = bench.grid.cost(before, rows)
    differs = int((np.abs(own_cost - found.cost[who]) > 1e-6 * (1.0 + own_cost)).sum())
    broken, own_broken = len(bench.actions.check(before, rows)), int(bench.grid.broken(before, rows).sum())
    wrong = int((again != found.valid).sum())
    boundary, marked = bench.rows(found.boundary)
    shaky = len(boundary) - int((bench.model.predict(boundary) == 1).sum()) if len(boundary) else 0
    off = int(bench.grid.broken(bench.people.iloc[marked], boundary).sum())
    joined = boundary.index.intersection(rows.index)
    at_edge = same_rows(rows.loc[joined], boundary.loc[joined])
    valid = found.valid & (found.status != "already favourable")
    ok, above = found.valid & (found.status == "ok"), found.log_worst_case_odds > 0.0
    nearest = bench.explain(NearestAccepted)
    default, plain = survives(found.x), survives(nearest.x)
    both = found.valid & nearest.valid
    cost, dear = mean(found.cost[both]), mean(nearest.cost[both])
    better = default.mean() >= plain.mean() and cost <= dear * 1.0001
    odd = int((ok & above).sum())
    yield "people", f"people refused, of {len(bench.case.X)} training rows", "", n, None
    yield "valid", "share valid", "", share(valid), None
    yield "future", f"future validity, {len(futures)} bootstraps", ">= NearestAccepted", float(default.mean()), better
    yield "future_nearest", "  of NearestAccepted", "", float(plain.mean()), None
    try:
        roar = bench.explain(ROAR)
        yield "future_roar", "  of ROAR", "", float(survives(roar.x).mean()), None
        yield "valid_roar", "  share valid of ROAR", "", share(roar.valid), None
        yield "cost_roar", "  mean cost of ROAR, those valid", "", mean(roar.cost[roar.valid]), None
    except Exception as error:  # measured beside, and may not run on a table
        yield "future_roar", "  of ROAR", "", f"{type(error).__name__}: {error}"[:60], None
    yield "future_boundary", "  of the boundary rows", "", float(survives(found.boundary).mean()), None
    yield "cost", "mean cost, people of both", "<= NearestAccepted", cost, None
    yield "cost_nearest", "  of NearestAccepted", "", dear, None
    yield "cost_boundary", "  of the boundary rows, accepted ones", "", mean(bench.boundary_cost(found)), None
    yield "odds", "'ok' with worst-case odds above 1", "= 0", odd, odd == 0
    yield "odds_share", "  share of 'ok'", "", odd / max(int(ok.sum()), 1), None
    yield "edge", "recourse is the boundary row", "", f"{int(at_edge.sum())} of {len(joined)}", None
    yield (
        "edge_ok",
        "  of them 'ok'",
        "",
        int((at_edge & (found.status[bench.people.index.get_indexer(joined)] == "ok")).sum()),
        None,
    )
    yield "broken", "violations, ActionSet.check", "= 0", broken, broken == 0
    yield "own_broken", "violations, own check", "= 0", own_broken, own_broken == 0
    yield "wrong", "wrong valid flags", "= 0", wrong, wrong == 0
    yield "differs", "costs that are not our own sum", "= 0", differs, differs == 0
    yield "shaky", "boundary rows that the model refuses", "", shaky, None
    yield "off", "boundary rows that break the action set, own check", "", off, None
    yield "rows", "model rows a person", "", count["rows"] / n, None
    yield "calls", "model calls", "", count["calls"], None
    yield "ms", "milliseconds a person", "", 1e3 * seconds / n, None
    yield "ratio", "time / model's time", "", seconds / max(count["seconds"], 1e-9), None
    for status, number in pd.Series(found.status.astype(str)).value_counts().items():
        yield f"status {status}", f"status: {status}", "", int(number), None


def same_rows(one, other):
    equal = (one == other) | (one.isna() & other.isna())
    return equal.all(axis=1).to_numpy(dtype=bool)


def dearer(loose, tight):
    """Whether people pay more than 1 % more with fewer constraints; infinite costs are no recourse."""
    return np.isfinite(tight) & ~(loose <= 1.01 * tight + 1e-9)


def not_surer(what):
    return " and no surer" if what == "recourse" else ""


def monotone(bench):
    """Whether whoever may do more pays more."""
    found = bench.explain()
    # Of recourses only those count that are no surer than with more constraints: robustness may be paid for.
    costs = {"boundary": bench.boundary_cost, "recourse": bench.recourse_cost}
    sure = {"boundary": lambda _: np.zeros(len(bench.people)), "recourse": bench.sureness}
    worst = dict.fromkeys(costs, np.zeros(len(bench.people), dtype=bool))
    for limit in LIMITS:
        few = bench.explain(max_changes=limit)
        for what, cost in costs.items():
            now = dearer(cost(found), cost(few)) & (sure[what](found) <= sure[what](few))
            worst[what] = worst[what] | now
            asked = "= 0" if what == "boundary" else ""
            ok = not now.any() if asked else None
            yield (
                f"dearer_{what}_{limit}",
                f"{what}: unlimited dearer{not_surer(what)} than max_changes={limit}",
                asked,
                int(now.sum()),
                ok,
            )
    for small, large in itertools.pairwise(LIMITS):
        now = dearer(
            bench.boundary_cost(bench.explain(max_changes=large)), bench.boundary_cost(bench.explain(max_changes=small))
        )
        yield (
            f"dearer_{large}_{small}",
            f"boundary: max_changes={large} dearer than {small}",
            "= 0",
            int(now.sum()),
            not now.any(),
        )
    for what in costs:
        yield (
            f"dearer_{what}",
            f"{what}: unlimited dearer{not_surer(what)} than any limit",
            "= 0",
            int(worst[what].sum()),
            not worst[what].any(),
        )
    total, people = dict.fromkeys(costs, 0), 0
    for words in tightenings(bench):
        few = bench.explain(**words)
        people += len(bench.people)
        for what, cost in costs.items():
            total[what] += int((dearer(cost(found), cost(few)) & (sure[what](found) <= sure[what](few))).sum())
    for what in costs:
        ok = total[what] == 0 if what == "boundary" else None
        yield (
            f"tighter_{what}",
            f"{what}: dearer{not_surer(what)} than with a random tightening, of {people}",
            "= 0" if ok is not None else "",
            total[what],
            ok,
        )


def tightenings(bench):
    """Return random tighter action sets: some columns immutable, others with the bounds of the middle of the rows."""
    rng = np.random.default_rng(0)
    free = [column for column in bench.grid.columns if column.name in bench.grid.values]
    for _ in range(bench.options.tightenings):
        drawn = rng.random(len(free))
        fixed = [c.name for c, u in zip(free, drawn, strict=True) if u < 0.3]
        bounds, step = {}, {}
        for column, u in zip(free, drawn, strict=True):
            if column.kind == "number" and u > 0.6 and column.name not in bench.case.actions.get("bounds", {}):
                low, high = bench.case.X[column.name].quantile([0.05, 0.95])
                bounds[column.name] = (float(low), float(high))
                if column.step:  # what is inferred of a column with bounds may be finer
                    step[column.name] = column.step
        yield {"immutable": fixed, "bounds": bounds, "step": step}


def brute(bench):
    """Compare with all changes of one and two columns, and with some of three."""
    n, rng = len(bench.people), np.random.default_rng(0)
    everyone = [Person(bench.grid, bench.model, row) for _, row in bench.people.iterrows()]
    limited = {limit: bench.explain(max_changes=limit) for limit in (1, 2, 3)}
    cost = {limit: bench.boundary_cost(found) for limit, found in limited.items()}
    least = {}
    for limit in (1, 2):
        best = np.full(n, np.inf)
        unlimited = bench.boundary_cost(bench.explain())
        for i, person in enumerate(everyone):
            below = max(cost[limit][i], unlimited[i])
            for size in range(1, limit + 1):
                # Dearer ones than ours are of no interest.
                now, changes = person.cheapest(size, min(below, best[i]))
                if changes is not None:
                    assert bench.model.predict(person.told(changes))[0] == 1
                    best[i] = now
        least[limit] = best
        refused = ~limited[limit].valid
        false = refused & np.isfinite(best)
        told = limited[limit].status == "more changes needed than allowed"
        yield (
            f"false_{limit}",
            f"max_changes={limit}: refused, but brute force finds one (of {int(refused.sum())} refused)",
            "= 0",
            int(false.sum()),
            not false.any(),
        )
        yield f"told_{limit}", "  of them told 'more changes needed'", "", int((false & told).sum()), None
        yield from ratios(f"cost_{limit}", f"max_changes={limit}: boundary cost / brute force", cost[limit], best)
        found = limited[limit]
        rows, who = bench.rows(found.x)
        broken = int(bench.grid.broken(bench.people.iloc[who], rows, limit).sum())
        yield f"broken_{limit}", f"max_changes={limit}: violations, own check", "= 0", broken, broken == 0
    yield from ratios("cost_any", "unlimited: boundary cost / brute force of two", unlimited, least[2])
    refused = np.flatnonzero(~limited[3].valid)
    found = [i for i in refused if np.isfinite(least[2][i]) or everyone[i].any_of_three(rng) is not None]
    findable = n - len(refused) + len(found)
    part = len(found) / max(findable, 1)
    label = f"max_changes=3: share refused of {findable} who have one ({len(found)} of {len(refused)} refused)"
    yield "false_3", label, "<= 0.02", part, part <= 0.02


def ratios(key, label, ours, best):
    """Compare our costs with those of brute force where both are known; who is cheaper counts as 1."""
    both = np.isfinite(ours) & np.isfinite(best)
    ratio = np.ones(len(ours))
    ratio[both] = ours[both] / np.minimum(best, ours)[both]
    ratio = ratio[np.isfinite(ours)]
    if not len(ratio):
        return
    yield key, f"{label}, mean", "<= 1.03", float(ratio.mean()), bool(ratio.mean() <= 1.03)
    yield f"{key}_max", "  largest", "<= 1.15", float(ratio.max()), bool(ratio.max() <= 1.15)
    yield f"{key}_over", "  people dearer by more than 1 %", "", int((ratio > 1.01).sum()), None


def linear(bench):
    """Compare with exact optima: of the table by integer programs, and of its numbers by linear programs."""
    yield from integer_programs(bench)
    yield from linear_programs(bench)


def integer_programs(bench):
    programs = [Program(Person(bench.grid, bench.model, row)) for _, row in bench.people.iterrows()]
    for limit in (None, 1, 2, 3):
        found = bench.explain(**({} if limit is None else {"max_changes": limit}))
        exact = np.array([program.cheapest(limit) for program in programs])
        ours = bench.boundary_cost(found)
        both = np.isfinite(exact) & np.isfinite(ours)
        # Where the recourse has few enough changes, the boundary row may have more: nothing cheaper was looked for.
        rows, who = bench.rows(found.boundary)
        both[who[bench.grid.broken(bench.people.iloc[who], rows, limit)]] = False
        ratio = ours[both] / np.maximum(exact[both], 1e-12)
        assert (ratio > 1.0 - 1e-5).all(), "cheaper than the exact optimum: the program is wrong"
        word = "unlimited" if limit is None else f"max_changes={limit}"
        if len(ratio):
            ok = bool(ratio.max() <= 1.01)
            label = f"{word}: boundary cost / exact optimum, mean of {len(ratio)}"
            yield f"exact_{limit}", label, "<= 1.01", float(ratio.mean()), bool(ratio.mean() <= 1.01)
            yield f"exact_{limit}_max", "  largest", "<= 1.01", float(ratio.max()), ok
            yield f"exact_{limit}_over", "  people dearer by more than 1 %", "= 0", int((ratio > 1.01).sum()), ok
        missed = int((np.isfinite(exact) & ~found.valid).sum())
        label = f"  refused although there is one (of {int((~found.valid).sum())} refused)"
        yield f"exact_{limit}_missed", label, "= 0", missed, missed == 0


def linear_programs(bench):
    """Measure logistic regression on the table's numbers alone, an array of standard deviations."""
    numbers = [column for column in bench.case.X if column not in bench.case.texts]
    if len(numbers) < 2:
        return
    scale = StandardScaler()
    fill = SimpleImputer(strategy="median").set_output(transform="default")
    X = scale.fit_transform(fill.fit_transform(bench.case.X[numbers].astype(float)))
    X = X[:, X.std(axis=0) > 0.0]
    model = LogisticRegression(max_iter=2000, class_weight="balanced").fit(X, bench.case.y)
    people = X[model.predict(X) == 0][: bench.options.people]
    low, high = X.min(axis=0), X.max(axis=0)
    actions = ActionSet(bounds={k: (low[k], high[k]) for k in range(X.shape[1])})
    found = RobustBayesianRecourse(model, actions, random_state=0).fit(X).explain(people)
    exact = np.array([linear_optimum(x, model.coef_[0], model.intercept_[0], low, high) for x in people])
    ours = np.abs(found.boundary - people).sum(axis=1)
    missed = int((np.isfinite(exact) & ~found.valid).sum())
    both = np.isfinite(exact) & np.isfinite(ours)
    ratio = ours[both] / np.maximum(exact[both], 1e-12)
    if not len(ratio):
        return
    yield (
        "lp",
        f"numbers only, logistic: boundary cost / linear program, mean of {len(ratio)}",
        "<= 1.01",
        float(ratio.mean()),
        bool(ratio.mean() <= 1.01),
    )
    yield "lp_max", "  largest", "<= 1.01", float(ratio.max()), bool(ratio.max() <= 1.01)
    yield "lp_missed", "  refused although there is one", "= 0", missed, missed == 0


def export(bench, file):
    """Write the problem, without anything of this library, and what it found in what time."""
    method = RobustBayesianRecourse(bench.model, bench.actions, random_state=0).fit(bench.case.X)
    method.explain(bench.people.head(2))  # builds the tables of the profiles
    start = time.process_time()
    found = method.explain(bench.people)
    batch = (time.process_time() - start) / len(bench.people)
    alone = []
    for i in range(min(len(bench.people), ALONE)):
        start = time.process_time()
        method.explain(bench.people.iloc[[i]])
        alone.append(time.process_time() - start)
    names = ("immutable", "increase", "decrease", "bounds", "categories", "weights", "rules")
    futures = list(bench.futures())
    problem = {
        "futures": futures,
        "X": bench.case.X,
        "y": bench.case.y,
        "model": bench.model,
        "people": bench.people,
        "columns": [vars(column) for column in bench.grid.columns],
        "actions": {name: getattr(bench.actions, name) for name in names},
        "ours": {
            "x": found.x,
            "valid": found.valid,
            "cost": found.cost,
            "cheapest": bench.boundary_cost(found),
            "future": bench.survival(found.x, futures),
            "cheapest future": bench.survival(found.boundary, futures),
            "batch": batch,
            "alone": np.median(alone),
        },
    }
    joblib.dump(problem, file)


RUN = {"validity": validity, "monotone": monotone, "brute": brute, "linear": linear}


def measure(bench, model, options):
    """Return the entries of a table and a model."""
    entries = []
    for part in options.part:
        if part == "linear" and model != "logistic":
            continue
        start = time.perf_counter()
        entries += RUN[part](bench)
        entries.append((f"seconds_{part}", f"seconds of the part {part}", "", time.perf_counter() - start, None))
    return entries


def shown(value):
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def summary(results):
    """Return the most important numbers as a table in Markdown."""
    keys = {
        "future": "future validity",
        "future_nearest": "NearestAccepted",
        "future_roar": "ROAR",
        "cost": "cost",
        "cost_nearest": "NA's cost",
        "odds_share": "ok, odds > 1",
        "edge": "at the edge",
        "dearer_boundary": "unlimited dearer",
        "dearer_recourse": "recourse dearer",
        "tighter_boundary": "tightened dearer",
        "false_1": "false at 1",
        "false_2": "false at 2",
        "false_3": "false at 3",
        "cost_1": "/ brute 1",
        "cost_2": "/ brute 2",
        "cost_2_max": "max",
        "cost_any": "any / brute 2",
        "cost_any_max": "max",
        "exact_None_max": "/ exact max",
        "exact_None_over": "over 1 %",
        "exact_3_missed": "false at 3, exact",
        "lp_max": "LP max",
        "rows": "rows",
        "calls": "calls",
    }
    known = {name: {key: value for key, _, _, value, _ in entries} for name, entries in results.items()}
    used = [key for key in keys if any(key in values for values in known.values())]
    lines = [["table, model", *(keys[key] for key in used)], ["---"] * (len(used) + 1)]
    lines += [[name, *(shown(values.get(key, "")) for key in used)] for name, values in known.items()]
    if len(known) > 1:
        numbers = {key: [v[key] for v in known.values() if isinstance(v.get(key), int | float)] for key in used}
        lines.append(["mean", *(shown(float(np.mean(some))) if some else "" for some in numbers.values())])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def names_of(given):
    groups = {"tuning": list(TUNING), "report": list(REPORT), "fresh": list(FRESH), "all": list(TABLES)}
    names = [name for word in given for name in groups.get(word, [word])]
    for name in names:
        if name not in TABLES:
            raise SystemExit(
                f"There is no table {name!r}; there are {', '.join(TABLES)}, tuning, report, fresh and all."
            )
    return names


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", nargs="+", default=["tuning"], help="names, tuning, report, fresh or all")
    parser.add_argument("--model", nargs="+", default=list(MODELS), choices=[*MODELS, *OTHERS])
    parser.add_argument("--part", nargs="+", default=list(PARTS), choices=PARTS)
    parser.add_argument("--people", type=int, default=60)
    parser.add_argument("--values", type=int, default=40, help="values of a column that brute force tries, at most")
    parser.add_argument("--quick", action="store_true", help="20 people, 15 values, 10 future models, 1 tightening")
    parser.add_argument("--json", type=Path, help="file to write the numbers to")
    parser.add_argument("--export", type=Path, help="folder for dice.py; nothing is measured")
    options = parser.parse_args(arguments)
    options.futures, options.tightenings = FUTURES, TIGHTENINGS
    if options.quick:
        options.people, options.values, options.futures, options.tightenings = 20, 15, 10, 1
    console, results, missed = Console(width=150), {}, 0
    for name in names_of(options.table):
        for model in options.model:
            try:
                bench = Bench(case(name), model, options)
            except AbsentError as absent:
                console.print(f"{name}: skipped, {absent}", style="yellow")
                break
            if options.export:
                options.export.mkdir(parents=True, exist_ok=True)
                export(bench, options.export / f"{name}-{model}.joblib")
                continue
            entries = measure(bench, model, options)
            results[f"{name}, {model}"] = entries
            table = Table("measure", "asked", "measured", "", title=f"{name}, {model}")
            for _, label, asked, value, ok in entries:
                table.add_row(label, asked, shown(value), "" if ok is None else "ok" if ok else "MISSED")
                missed += ok is False
            console.print(table)
            if options.json:
                numbers = {at: {key: value for key, _, _, value, _ in some} for at, some in results.items()}
                options.json.write_text(json.dumps(numbers, indent=1, default=str))
    if results:
        print(summary(results))
    return int(missed > 0)


if __name__ == "__main__":
    warnings.filterwarnings("ignore", category=UserWarning)
    sys.exit(main(sys.argv[1:]))
