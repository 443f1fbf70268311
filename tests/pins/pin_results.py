"""Pins what `explain` returns: rows, costs and statuses of the six methods on a mixed frame, an array and a wide frame,
under models that are written down here, so that nothing is learnt; that a person gets the same bits alone, in company,
in another order and with two processes, questions included; and of tables with odd names, labels and types which types
and labels come back, the bits of the rows, and whether results read back from JSON and Parquet as they were. The engine
may change rows, costs, statuses and questions, "tables" the types that come back, and survival the rows of jurors; that
people do not depend on their company, and that files read back, nobody may change.
"""

import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
from tests.pins.pinning import digest

from robust_recourse import (
    ROAR,
    ActionSet,
    BayesianRecourse,
    BetaRCE,
    Jury,
    NearestAccepted,
    Recourses,
    RobustBayesianRecourse,
    Wachter,
)

METHODS = {  # with less to do than by default
    RobustBayesianRecourse: {"delta_plus": 0.2, "n_samples": 40},
    BayesianRecourse: {"delta_plus": 0.2, "n_samples": 40},
    NearestAccepted: {},
    Wachter: {"max_iter": 20, "max_halvings": 12},
    ROAR: {"n_samples": 40},
    BetaRCE: {"n_samples": 40, "delta": 0.8},
}
PEOPLE, ALONE = 6, (0, 5)


def observe(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        methods = {
            f"{method.__name__}, {name}": methodical(method, words, *problem)
            for name, problem in problems().items()
            for method, words in METHODS.items()
        }
        several = methodical(RobustBayesianRecourse, {}, *problems()["mixed"], n_recourses=3)
    return {"methods": methods, "three recourses": several, "tables": hostile(folder)}


# -------------------------------------------------------------------------------------------------------------- methods


class Sum:
    """Adds up what cells are worth, some of them together; jurors ask for a little more or less."""

    def __init__(self, worth, least, seed=None):
        self.worth, self.least, self.seed = worth, least, seed

    def predict_proba(self, X):
        score = self.worth(X) - self.least
        if self.seed is not None:
            score = score + np.random.default_rng(self.seed).normal(0.0, 0.3)
        yes = 1.0 / (1.0 + np.exp(-score))
        return np.column_stack([1.0 - yes, yes])

    def predict(self, X):
        return (self.predict_proba(X)[:, 1] > 0.5).astype(int)


def worth_of_mixed(X):
    job, edu = X["job"].to_numpy(object), X["edu"].to_numpy(object)
    score = X["income"].to_numpy(float) / 1500 - X["rate"].to_numpy(float) / 4 + X["score"].to_numpy(float)
    score = score + X["owner"].to_numpy(float) + 0.3 * X["phone"].to_numpy(float) + 1.5 * (job == "boss")
    return score + 0.6 * (edu == "school") + 1.2 * (edu == "college") * (job != "idle")


def worth_of_array(X):
    return X[:, 0] + X[:, 1] ** 2 - 0.7 * X[:, 2] * X[:, 0]


def worth_of_wide(X):
    numbers = X.iloc[:, :12].to_numpy(float)
    score = numbers @ np.cos(np.arange(12)) + 0.5 * numbers[:, 0] * numbers[:, 1]
    return score + sum(0.7 * (X[f"k{k}"].to_numpy(object) == "abcd"[k]) for k in range(4))


def problems():
    """Return a model, training rows, refused people and an action set of each table."""
    rng = np.random.default_rng(0)
    mixed = pd.DataFrame(
        {
            "income": rng.integers(500, 5000, 150).astype("int16"),
            "rate": np.round(rng.uniform(0, 9, 150), 2),
            "score": rng.normal(size=150).astype("float32"),
            "job": rng.choice(["idle", "clerk", "boss"], 150),
            "owner": rng.random(150) < 0.5,
            "edu": pd.Categorical(rng.choice(["none", "school", "college"], 150), ["none", "school", "college"], True),
            "phone": rng.integers(0, 2, 150),
            "age": rng.integers(18, 80, 150),
        },
        index=pd.Index(rng.permutation(150) + 1000, name="id"),
    )
    few = ActionSet(
        mixed, immutable=["age"], increase=["edu"], step={"income": 50}, rules=["rate <= income"], max_changes=3
    )
    array = rng.uniform(-2, 2, (300, 3))
    wide = pd.DataFrame(rng.normal(size=(120, 12)).round(2)).add_prefix("n")
    for k in range(4):
        wide[f"k{k}"] = rng.choice(list("abcd"), 120)
    wide_few = ActionSet(wide, immutable=["n3", "k3"], decrease=["n5"])
    tables = {
        "mixed": (mixed, Sum(worth_of_mixed, 3.5), few),
        "array": (array, Sum(worth_of_array, 1.5), ActionSet(bounds={2: (-2.0, 2.0)})),
        "wide": (wide, Sum(worth_of_wide, 2.5), wide_few),
    }
    return {
        name: (model, table, table[model.predict(table) == 0][:PEOPLE], actions)
        for name, (table, model, actions) in tables.items()
    }


def methodical(method, words, model, table, people, actions, n_recourses=1):
    """Return what a method finds, and whether company, order and processes matter."""
    if method is BetaRCE:
        words = {**words, "jury": Jury([Sum(model.worth, model.least, seed) for seed in range(20)])}
    fitted = method(model, actions, random_state=0, **words).fit(table)
    found = fitted.explain(people, n_recourses=n_recourses)
    own = [bits(found[np.flatnonzero(found.person == i)]) for i in range(PEOPLE)]
    alone = [bits(fitted.explain(people[i : i + 1], n_recourses=n_recourses)) for i in ALONE]
    order = fitted.explain(people[::-1], n_recourses=n_recourses)
    order = [bits(order[np.flatnonzero(order.person == PEOPLE - 1 - i)]) for i in range(PEOPLE)]
    shared = fitted.set_params(n_jobs=2).explain(people, n_recourses=n_recourses)
    shared = [bits(shared[np.flatnonzero(shared.person == i)]) for i in range(PEOPLE)]
    return {
        "alone": alone == [own[i] for i in ALONE],
        "in another order": order == own,
        "with two processes": shared == own,
        "valid": "".join(str(int(valid)) for valid in found.valid),
        "status": readable(found.status),
        "cost": readable(f"{cost:.6g}" for cost in found.cost),
        "questions": readable(found.n_queries),
        "bits": bits(found),
    }


def readable(values):
    """Return a text that can be read, and is compared where bits are."""
    return "digest: " + " | ".join(map(str, values))


def bits(found):
    """Return a digest of everything that is found about people."""
    numbers = ("cost", "budget", "valid", "log_worst_case_odds", "n_queries", "column_costs", "jury_share")
    tables = [cells(getattr(found, name)) for name in ("x", "boundary")]
    return digest(*tables, *(getattr(found, name) for name in numbers), *map(str, found.status))


def cells(table):
    """Return all cells of a table, with types and labels."""
    if isinstance(table, np.ndarray):
        return table
    if not isinstance(table, pd.DataFrame):
        return repr((table.schema, table.rows()))
    columns = [table.iloc[:, k] for k in range(table.shape[1])]
    return repr([*map(repr, table.columns), *table.index.tolist(), *((str(c.dtype), c.tolist()) for c in columns)])


# ----------------------------------------------------------------------------------------------- tables of every kind


class Half:
    """Accepts who has enough in the last column, less if the first cell is the one that counts."""

    def __init__(self, counts):
        self.counts = counts

    def __call__(self, X):
        if not isinstance(X, pd.DataFrame | np.ndarray):
            X = X.to_pandas()
        first, last = (X[:, 0], X[:, -1]) if isinstance(X, np.ndarray) else (X.iloc[:, 0], X.iloc[:, -1])
        good = np.array([cell is not None and str(cell) == self.counts for cell in first.tolist()])
        return np.asarray(last, dtype=float) + 0.6 * good > 0.9


def tables():
    """Yield names of tables, and tables, the last column of which has the numbers from 0 to 1."""
    rng, n = np.random.default_rng(5), 48
    rate, word = rng.random(n).round(3), rng.choice(["a", "b", "c"], n)

    def frame(first, **more):
        return pd.DataFrame({"first": first, **more, "rate": rate})

    def pick(values):
        chosen = np.empty(n, dtype=object)
        chosen[:] = [values[k] for k in rng.integers(0, len(values), n)]
        return chosen

    odd = frame(word, a=rng.normal(size=n).round(2), b=word[::-1], c=rng.integers(0, 9, n), d=rate[::-1])
    flat = np.empty(6, dtype=object)
    flat[:] = [0, ("a", 1), 2.5, "b", "", "rate"]
    yield "names of every type", odd.set_axis(pd.Index(flat, dtype=object), axis=1)
    yield "no name", odd.rename(columns={"b": None})
    yield "names of ours", odd.set_axis(["cost", "valid", "status", "person", "rank", "x"], axis=1)
    yield "names with spaces, quotes, <tags>", odd.set_axis([" ", "a b", "'", '"', "<b>&amp;</b>", "\u2603,\n"], axis=1)
    yield "names of numbers", odd.set_axis(range(6), axis=1)
    yield "names in levels", odd.set_axis(pd.MultiIndex.from_product([["x", "y"], [1, 2, 3]]), axis=1)
    yield "labels twice", odd.set_axis(["p", "q"] * (n // 2))
    yield "labels of every type", odd.set_axis(pd.Index(pick([1, "1", 2.5, None, (1, 2)]), dtype=object))
    yield "labels in levels", odd.set_axis(pd.MultiIndex.from_arrays([word, rng.integers(0, 9, n)], names=[3, None]))
    yield "labels of days", odd.set_axis(pd.date_range("2024-03-30", periods=n, freq="h", tz="Europe/Berlin"))
    yield "labels of categories", odd.set_axis(pd.CategoricalIndex(word, name="town"))
    yield "gaps", frame(pick(["a", "b", None]), number=np.where(rate > 0.3, rate, np.nan), none=None)
    yield (
        "nullable",
        frame(
            pd.array(pick([1, 2, 70, None]), dtype="Int64"),
            yes=pd.array(pick([True, False, None]), dtype="boolean"),
            part=pd.array(pick([0.5, 1.25, None]), dtype="Float64"),
            small=pd.array(pick([0, 200, None]), dtype="UInt8"),
            text=pd.array(pick(["x", "\u2603", None]), dtype="string"),
        ),
    )
    yield "objects of every type", frame(pick([1, "1", 2.5, True, Decimal("1.50"), b"x"]))
    yield "objects with gaps", frame(pick(["a", 3, None, float("nan"), pd.NA, pd.NaT]))
    yield "integers that floats do not hold", frame(pick([2**53, 2**53 + 1, 2**53 + 2, -(2**53) - 1]).astype("int64"))
    yield (
        "largest integers",
        frame(pick([2**63 - 1, 0, -(2**63)]).astype("int64"), most=pick([2**64 - 1, 1]).astype("uint64")),
    )
    yield "integers beyond", frame(pick([2**70, 2**71, 5]))
    yield "small integers", frame(rng.integers(-128, 128, n).astype("int8"), yes=rate > 0.5, code=rng.integers(0, 2, n))
    yield "half and single precision", frame(rate.astype("float16"), single=rng.normal(size=n).astype("float32"))
    yield "huge numbers", frame(rng.normal(size=n) * 1e300)
    yield "large and tiny numbers", frame(rng.normal(size=n) * 1e60, tiny=rng.normal(size=n) * 1e-60, zero=-0.0)
    ordered = pd.CategoricalDtype(["low", "mid", "high", "never"], ordered=True)
    yield "ordered categories", frame(pd.Series(pick(["low", "mid", "high"])).astype(ordered))
    yield "categories of every type", frame(pd.Categorical(pick([1, "1", 2.5]), pd.Index([1, "1", 2.5], dtype=object)))
    yield "categories of numbers, with gaps", frame(pd.Categorical(pick([10, 20, None]), [20, 10, 30]))
    yield "categories of days", frame(pd.Categorical(pick(list(pd.date_range("2024-03-30", periods=3, tz="UTC")))))
    day = pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 99, n), "D"))
    yield (
        "days",
        frame(word, day=day, zone=day.dt.tz_localize("Asia/Tokyo"), span=day - day[0], month=day.dt.to_period("M")),
    )
    yield "intervals", frame(word, when=pd.interval_range(0, n))
    for kind in ("int64[pyarrow]", "double[pyarrow]", "string[pyarrow]", "timestamp[us][pyarrow]"):
        values = day if "time" in kind else pd.Series(rng.integers(0, 4, n))
        yield kind, frame(values.astype("string" if "string" in kind else values.dtype).astype(kind))
    yield "constant columns", frame("x", same=1e6, none=np.nan)
    yield "array", np.column_stack([rng.integers(0, 3, n), rng.normal(size=n), rate])
    yield "array of single precision", np.column_stack([rng.integers(0, 3, n), rate]).astype("float32")
    yield "array in columns", np.asfortranarray(np.column_stack([rng.integers(0, 3, n), -rate, rate]))
    import polars

    yield "polars", polars.DataFrame({"first": word.tolist(), "whole": [None, *range(1, n)], "rate": rate})


def hostile(folder):
    """Return what comes back from tables of every kind, and from files of it."""
    seen = {}
    for number, (name, table) in enumerate(tables()):
        for method in (NearestAccepted, RobustBayesianRecourse):
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                seen[f"{name}, {method.__name__}"] = explained(method, table, folder / f"{number}.parquet")
            seen[f"{name}, {method.__name__}"]["warnings"] = len({str(warning.message) for warning in warned})
    return seen


def explained(method, table, file):
    """Return what is found for a table whose first rows are explained."""
    first = pd.DataFrame(table) if isinstance(table, np.ndarray | pd.DataFrame) else table.to_pandas()
    words = {} if method is NearestAccepted else {"n_samples": 20}
    try:
        fitted = method(Half(str(first.iloc[:, 0].tolist()[0])), random_state=0, **words).fit(table)
        found = fitted.explain(table[:12])
    except (TypeError, ValueError) as error:
        return {"refused": readable([type(error).__name__, error])}
    found.to_parquet(file)
    read = {"JSON": Recourses.from_json(found.to_json()), "Parquet": Recourses.from_parquet(file)}
    return {
        "valid": "".join(str(int(valid)) for valid in found.valid),
        "types": readable(types(found.x)),
        "labels": readable([type(found.labels).__name__, *list(found.labels)[:3]]),
        "bits": bits(found),
        **{f"{kind} reads back": one.equals(found) for kind, one in read.items()},
        "the same again": read["JSON"].to_json() == found.to_json(),
        "slices put together": Recourses.concat([found[:5], found[5:]]).equals(found),
    }


def types(table):
    """Return the types of the columns of a table."""
    return [table.dtype] if isinstance(table, np.ndarray) else list(table.dtypes)
