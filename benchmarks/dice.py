"""DiCE on the same tables, models, people and limits as ours: cost, time in a batch and alone, violations.

DiCE is no dependency of this project. It runs in an environment of its own, with the versions of scikit-learn and
pandas of the one that exported the problems:

    python benchmarks/tables.py --table all --people 20 --export FOLDER
    python -m venv diceenv
    diceenv/bin/pip install --no-deps dice-ml==0.12 raiutils
    diceenv/bin/pip install scikit-learn==1.9.1 pandas==3.1.1 pyarrow jsonschema tqdm requests
    diceenv/bin/python benchmarks/dice.py FOLDER [--table mortgages] [--model boosted] [--method random genetic]

Costs are the same sum for both, of `brute.py`, of the people for whom both found something. Ours are told twice: of
the default recourse, which spends some on odds that survive the next model, and of the cheapest accepted row on the
way to it, which is what DiCE looks for. DiCE gets the columns that may change and their ranges, for every person
within the directions; steps, rules and weights it does not know. In its favour, a number within a millionth of the
person's own, or of the grid, counts as that. People with gaps are left out: it does not take them. A batch is one
call with all people, who then have no directions of their own. Times are the processor's, in milliseconds a person:
the two run one after the other, and the machine may be busy. Future validity is the share of 20 models retrained on
bootstraps that accept what was found, of the same people.
"""

import argparse
import contextlib
import io
import json
import sys
import time
import warnings
from pathlib import Path
from types import SimpleNamespace

import joblib
import numpy as np
import pandas as pd
from brute import Grid, decimals, on_grid

CLOSE = 1e-6
LABEL = "outcome"


class Typed:
    """A model that gets its own types back: DiCE turns categories and booleans into text, and numbers into others."""

    def __init__(self, model, X):
        self._model, self._dtypes, self.classes_ = model, X.dtypes, model.classes_
        texts = X.select_dtypes(exclude="number")
        self._values = {name: {str(value): value for value in texts[name].dropna().unique()} for name in texts}

    def typed(self, X):
        own = {name: X[name].astype(str).map(values) for name, values in self._values.items()}
        return X.assign(**own)[list(self._dtypes.index)].astype(self._dtypes)

    def predict_proba(self, X):
        return self._model.predict_proba(self.typed(X))

    def predict(self, X):
        return self._model.predict(self.typed(X))


class Dice:
    """A method of DiCE on a problem."""

    def __init__(self, problem, grid, method):
        import dice_ml

        self.grid, self.X, self.actions = grid, problem["X"], problem["actions"]
        self.model = Typed(problem["model"], self.X)
        self.numbers = list(self.X.select_dtypes("number"))
        known = self.X.dropna()
        train = self.texts(known).assign(**{LABEL: problem["y"][self.X.notna().all(axis=1).to_numpy()]})
        data = dice_ml.Data(
            dataframe=train,
            continuous_features=self.numbers,
            continuous_features_precision={
                c.name: decimals(c.step) for c in grid.columns if c.step and train[c.name].dtype == float
            },
            outcome_name=LABEL,
        )
        self.method = method
        self.explainer = dice_ml.Dice(data, dice_ml.Model(model=self.model, backend="sklearn"), method=method)
        self.free = list(grid.values)

    def texts(self, frame):
        return frame.astype({name: object for name in frame if name not in self.numbers}).assign(
            **{name: frame[name].astype(str).astype(object) for name in frame if name not in self.numbers}
        )

    def ranges(self, row=None):
        """Return the permitted ranges: of a person, or of everybody."""
        ranges = {}
        for column in self.grid.columns:
            name = column.name
            if name not in self.grid.values:
                continue
            if name not in self.numbers:
                values = self.grid.values[name]
                if row is not None:  # the own value must be among them
                    values = [v for v in values if v == row[name] or self.grid._directed(column, row[name], v)]
                ranges[name] = [str(value) for value in values]
                continue
            if column.kind == "number":
                low, high = self.grid.range(column)
            else:
                low, high = min(column.values), max(column.values)
            if row is not None:
                low = max(low, row[name]) if name in self.actions["increase"] else min(low, row[name])
                high = min(high, row[name]) if name in self.actions["decrease"] else max(high, row[name])
            whole = pd.api.types.is_integer_dtype(self.X[name].dtype)
            ranges[name] = [int(low), int(high)] if whole else [float(low), float(high)]
        return ranges

    def ask(self, people, ranges):
        """Return counterfactuals, a frame or None for each of the people."""
        from raiutils.exceptions import UserConfigValidationException

        # A range of one value cannot be varied in.
        free = [name for name in self.free if name not in ranges or len(set(ranges[name])) > 1]
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stderr(io.StringIO()),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            warnings.simplefilter("ignore")
            seed = {"random_seed": 0} if self.method == "random" else {}
            np.random.seed(0)  # noqa: NPY002  it draws from the global generator, too
            try:
                found = self.explainer.generate_counterfactuals(
                    self.texts(people),
                    total_CFs=1,
                    desired_class=1,
                    features_to_vary=free,
                    permitted_range={name: ranges[name] for name in free if name in ranges},
                    **seed,
                )
            except UserConfigValidationException:  # says that nothing was found
                return [None] * len(people)
        ends = [example.final_cfs_df for example in found.cf_examples_list]
        return [None if end is None or not len(end) else end.head(1) for end in ends]

    def cleaned(self, row, end):
        """Return a counterfactual in the types of the table, what differs by rounding only being the person's own."""
        after = self.model.typed(end[list(self.X)].astype(dict.fromkeys(self.numbers, float)).set_axis(row.index))
        for column in self.grid.columns:
            if column.name in self.numbers:
                own, value = float(row[column.name].iloc[0]), float(after[column.name].iloc[0])
                near = on_grid([value], column.step)[0] if column.kind == "number" else value
                for known in (near, own):
                    if abs(value - known) <= CLOSE * max(abs(known), column.unit):
                        value = known
                after[column.name] = np.array([value]).astype(self.X[column.name].dtype)
        return after


def grid_of(problem, steps=True):
    """Return the grid of a problem, with the steps of its columns or without."""
    kept = {} if steps else {"step": 0.0}
    schema = SimpleNamespace(columns=[SimpleNamespace(**{**column, **kept}) for column in problem["columns"]])
    return Grid(SimpleNamespace(schema=schema, **problem["actions"]), problem["X"])


def compare(problem, method, n_people):
    grid, free = grid_of(problem), grid_of(problem, steps=False)
    whole = problem["people"].notna().all(axis=1).to_numpy()
    people = problem["people"][whole].head(n_people)
    ours = {name: values[whole][:n_people] for name, values in problem["ours"].items() if np.ndim(values)}
    dice = Dice(problem, grid, method)
    seconds, rows, errors = [], [], 0
    for i in range(len(people)):
        row = people.iloc[[i]]
        start = time.process_time()
        try:
            end = dice.ask(row, dice.ranges(people.iloc[i]))[0]
        except Exception as error:  # it has its own limits; they are counted
            end, errors, last = None, errors + 1, error
        seconds.append(time.process_time() - start)
        rows.append(None if end is None else dice.cleaned(row, end))
    start = time.process_time()
    try:
        dice.ask(people, dice.ranges())
        batch = (time.process_time() - start) / len(people)
    except Exception:
        batch = float("nan")
    found = np.array([row is not None for row in rows])
    cost, future = np.full(len(people), np.nan), np.zeros(len(people))
    valid, broken, worse = np.zeros((3, len(people)), dtype=bool)
    if found.any():
        after, before = pd.concat([row for row in rows if row is not None]), people[found]
        cost[found], broken[found] = grid.cost(before, after), grid.broken(before, after)
        worse[found] = free.broken(before, after)
        valid[found] = problem["model"].predict(after) == 1
        future[found] = np.mean([model.predict(after) == 1 for model in problem["futures"]], axis=0)
    both = valid & ours["valid"]
    entry = {
        "people": len(people),
        "found": int(valid.sum()),
        "errors": errors,
        "violations": int((broken & valid).sum()),
        "violations but for steps": int((worse & valid).sum()),
        "our violations": int(grid.broken(people[ours["valid"]], ours["x"][ours["valid"]].astype(people.dtypes)).sum()),
        "our found": int(ours["valid"].sum()),
        "cost": float(cost[both].mean()) if both.any() else np.nan,
        "our cost": float(ours["cost"][both].mean()) if both.any() else np.nan,
        "our cheapest": float(ours["cheapest"][both].mean()) if both.any() else np.nan,
        **{
            name: float(values[both].mean()) if both.any() else np.nan
            for name, values in (
                ("future", future),
                ("our future", ours["future"]),
                ("our cheapest future", ours["cheapest future"]),
            )
        },
        "batch": 1e3 * batch,
        "our batch": 1e3 * float(problem["ours"]["batch"]),
        "alone": 1e3 * float(np.median(seconds)),
        "our alone": 1e3 * float(problem["ours"]["alone"]),
    }
    if errors:
        entry["error"] = f"{type(last).__name__}: {last}"[:200]
    ratios = {"ratio": entry["our cost"] / entry["cost"], "least ratio": entry["our cheapest"] / entry["cost"]}
    return {**entry, **ratios}


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--table", nargs="+")
    parser.add_argument("--model", nargs="+")
    parser.add_argument("--method", nargs="+", default=["random", "genetic"])
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    results = {}
    heads = (
        "cheapest / DiCE",
        "default / DiCE",
        "our cheapest",
        "our default",
        "DiCE",
        "future validity: cheapest, default, DiCE",
        "found",
        "violating (but for steps)",
        "ms batch",
        "ms alone",
    )
    print(f"| table, model, method | {' | '.join(heads)} |\n|{' --- |' * (len(heads) + 1)}")
    for file in sorted(options.folder.glob("*.joblib")):
        name, model = file.stem.rsplit("-", 1)
        if (options.table and name not in options.table) or (options.model and model not in options.model):
            continue
        problem = joblib.load(file)
        for method in options.method:
            entry = results[f"{name}, {model}, {method}"] = compare(problem, method, options.people)
            cells = [
                f"{entry['least ratio']:.2f}",
                f"{entry['ratio']:.2f}",
                f"{entry['our cheapest']:.2f}",
                f"{entry['our cost']:.2f}",
                f"{entry['cost']:.2f}",
                f"{entry['our cheapest future']:.2f}, {entry['our future']:.2f}, {entry['future']:.2f}",
                f"{entry['our found']} / {entry['found']} of {entry['people']}",
                f"{entry['our violations']} / {entry['violations']} ({entry['violations but for steps']})",
                f"{entry['our batch']:.0f} / {entry['batch']:.0f}",
                f"{entry['our alone']:.0f} / {entry['alone']:.0f}",
            ]
            print(f"| {name}, {model}, {method} | {' | '.join(cells)} |", flush=True)
            if entry["errors"]:
                print(f"{entry['errors']} errors: {entry['error']}", file=sys.stderr)
            if options.json:
                options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
