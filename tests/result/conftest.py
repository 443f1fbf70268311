"""Results of any kind: random tables, random statuses."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st

from robust_recourse import ActionSet, RobustBayesianRecourse
from robust_recourse.result import Provenance, Recourses, Status

FLOATS = st.floats(width=64)  # NaN, infinities and -0.0 among them
TEXTS = st.text(max_size=5)
NUMBERED = st.integers(-(2**63), 2**63 - 1)
DAYS = st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2200, 1, 1)).map(lambda day: day.replace(fold=0))
LEVELS = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
MIXED = pd.CategoricalDtype(pd.Index([1, "1", 2.5], dtype=object))
ODD = st.one_of(
    st.none(), st.just(float("nan")), st.just(pd.NA), st.just(pd.NaT), st.booleans(), st.integers(), FLOATS, TEXTS,
    st.binary(max_size=4), DAYS, DAYS.map(pd.Timestamp), st.dates(), st.just(Decimal("1.50")),
    st.tuples(st.integers(), TEXTS),
)  # fmt: skip

COLUMNS = {
    "int64": NUMBERED,
    "int8": st.integers(-128, 127),
    "bool": st.booleans(),
    "float64": FLOATS,
    "float32": st.floats(width=32),
    "float16": st.floats(width=16),
    "Int64": st.none() | NUMBERED,
    "UInt8": st.none() | st.integers(0, 255),
    "boolean": st.none() | st.booleans(),
    "Float64": st.none() | st.floats(allow_nan=False),
    "string": st.none() | TEXTS,
    "str": st.none() | TEXTS,
    "object": ODD,
    "datetime64[ns]": st.none() | DAYS,
    "datetime64[s]": st.none() | DAYS.map(lambda day: day.replace(microsecond=0)),
    "datetime64[us, Europe/Berlin]": st.none() | DAYS,
    "timedelta64[ns]": st.none() | st.timedeltas(datetime.timedelta(-1000), datetime.timedelta(1000)),
    "period[M]": st.none() | DAYS.map(lambda day: pd.Period(day, "M")),
    "category": st.none() | st.sampled_from(["a", "b", "\u2603", ""]),
    "ordered": st.none() | st.sampled_from(list(LEVELS.categories)),
    "mixed": st.none() | st.sampled_from(list(MIXED.categories)),
    "int64[pyarrow]": st.none() | NUMBERED,
    "double[pyarrow]": st.none() | st.floats(allow_nan=False),
    "string[pyarrow]": st.none() | TEXTS.filter(lambda text: "\x00" not in text),
    "timestamp[us][pyarrow]": st.none() | DAYS,
}
DTYPES = {"ordered": LEVELS, "mixed": MIXED}
NAMES = [
    st.lists(TEXTS, unique=True),
    st.lists(st.integers(-5, 5), unique=True),
    st.lists(st.one_of(TEXTS, st.integers(), st.just(float("nan")), st.none(), st.booleans()), unique_by=repr),
    st.lists(st.tuples(TEXTS, st.integers(0, 3)), unique=True, min_size=1),
]


@st.composite
def column(draw, n):
    """A type, and as many series of it as are asked for."""
    dtype = draw(st.sampled_from(sorted(COLUMNS)))

    def series():
        cells = np.empty(n, dtype=object)
        cells[:] = draw(st.lists(COLUMNS[dtype], min_size=n, max_size=n))
        values = pd.Series(cells, dtype=object)
        if dtype == "datetime64[us, Europe/Berlin]":
            return values.astype("datetime64[us]").dt.tz_localize("UTC").astype(dtype)
        return values.astype(DTYPES.get(dtype, dtype))

    return series


@st.composite
def index(draw, n):
    """Labels of rows: numbers, texts, dates or several levels, with names or without."""
    name = draw(st.one_of(st.none(), TEXTS, st.integers()))
    kind = draw(st.sampled_from(["range", "numbers", "texts", "dates", "levels", "categories"]))
    if kind == "range":
        return pd.RangeIndex(3, 3 + n, name=name)
    if kind == "levels":
        levels = [draw(st.lists(part, min_size=n, max_size=n)) for part in (st.integers(0, 3), TEXTS)]
        return pd.MultiIndex.from_arrays(levels, names=[name, draw(st.none() | TEXTS)])
    parts = {"numbers": NUMBERED, "texts": TEXTS, "dates": DAYS, "categories": st.sampled_from("abc")}
    labels = draw(st.lists(parts[kind], min_size=n, max_size=n))
    dtypes = {"numbers": "int64", "texts": object, "dates": "datetime64[us]", "categories": "category"}
    return pd.Index(labels, dtype=dtypes[kind], name=name)


@st.composite
def results(draw, n=None):
    """Draw a result with a table of any kind; people have one or two recourses, or none."""
    n = draw(st.integers(0, 5)) if n is None else n
    names = draw(draw(st.sampled_from(NAMES)))
    columns = [draw(column(n)) for _ in names]
    labels = draw(index(n))

    def table():
        frame = pd.DataFrame({k: make() for k, make in enumerate(columns)}, index=pd.RangeIndex(n))
        flat = np.empty(len(names), dtype=object)
        flat[:] = names
        frame.columns = pd.Index(flat, dtype=object) if draw(st.booleans()) else pd.Index(list(names))
        return frame.set_axis(labels, axis=0)

    x0, x, boundary = table(), table(), table()
    x.columns = boundary.columns = x0.columns
    return result(draw, x0, x, boundary)


def result(draw, x0, x, boundary, *, repeat=True):
    """Draw everything beside the tables; whether people may have several recourses is `repeat`."""
    n, p = x0.shape
    costs = np.array([draw(st.lists(st.floats(0.0, 1e9), min_size=p, max_size=p)) for _ in range(n)]).reshape(n, p)
    nobody = np.array([draw(st.booleans()) for _ in range(n)], dtype=bool)
    costs[nobody] = np.nan

    def numbers():
        return np.array(draw(st.lists(FLOATS, min_size=n, max_size=n)), dtype=float)

    starts = np.array([True, *(not repeat or draw(st.booleans()) for _ in range(n - 1))][:n], dtype=bool)
    rank = np.ones(n, dtype=np.int64)
    for i in np.flatnonzero(~starts):
        rank[i] = rank[i - 1] + 1
    if repeat:  # several recourses of a person have one instance
        own = np.maximum.accumulate(np.where(starts, np.arange(n), 0))
        x0, x, boundary = (table.set_axis(x0.index[own], axis=0) for table in (x0.iloc[own], x, boundary))
    status = np.empty(n, dtype=object)
    status[:] = draw(st.lists(st.sampled_from(Status), min_size=n, max_size=n))
    made = Provenance("1.2", "Method", {"a": [1, None]}, "some.Model", draw(st.none() | TEXTS), 3, "abc")
    return Recourses(
        x=x,
        boundary=boundary,
        cost=np.where(nobody, np.nan, numbers()),
        budget=numbers(),
        valid=~nobody & np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=bool),
        status=status,
        reason=np.array(draw(st.lists(TEXTS, min_size=n, max_size=n)), dtype=object),
        log_worst_case_odds=numbers(),
        n_queries=np.array(draw(st.lists(st.integers(0, 2**62), min_size=n, max_size=n)), dtype=np.int64),
        x0=x0,
        person=(np.cumsum(starts) - 1).astype(np.int64),
        rank=rank,
        column_costs=costs,
        kinds=tuple(draw(st.sampled_from(["number", "category", "ordered", "fixed"])) for _ in range(p)),
        orders=dict.fromkeys(list(getattr(x0, "columns", []))[:1], ("low", 2)),
        favourable=draw(st.one_of(st.none(), TEXTS, st.integers(), st.just(np.int64(3)))),
        threshold=draw(st.none() | st.floats(0.0, 1.0)),
        provenance=draw(st.sampled_from([None, made])),
    )


@pytest.fixture(scope="session")
def lender():
    """A method, a table of refused people of every type, and the model's table."""
    rng = np.random.default_rng(0)
    n = 200
    X = pd.DataFrame(
        {
            "income": rng.integers(10, 60, n),
            "rate": rng.normal(size=n).round(2),
            "phone": rng.random(n) < 0.5,
            "job": pd.Categorical(rng.choice(["cook", "clerk", "boss"], n)),
            "town": rng.choice(["Leeds", "York"], n),
            "children": pd.array(rng.integers(0, 9, n), dtype="Int64"),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1000, n), "D"),
        },
        index=[f"p{i}" for i in range(n)],
    )

    def model(table):
        assert table.dtypes.equals(X.dtypes)
        rate = table["rate"].fillna(0.0)
        return (table["income"] + 3 * rate + 5 * table["phone"] + 4 * (table["town"] == "York") > 45).to_numpy()

    actions = ActionSet(immutable=["town"], bounds={"income": (10, 44)}, max_changes=1)
    method = RobustBayesianRecourse(model, actions, random_state=0, n_samples=40).fit(X)
    return method, X[~model(X)].iloc[:20], model
