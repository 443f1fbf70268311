from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from robust_recourse.notices.reading import Columns, Pair


@pytest.mark.parametrize(("before", "after"), [(1.0, np.nan), (np.nan, 1.0)])
def test_a_value_that_goes_missing_is_a_change(before, after):
    tables = (pd.DataFrame({"a": [value]}) for value in (before, after))
    pair = Pair(*tables, np.ones((1, 1)), Columns(["number"]))
    [(_, _, (change,))] = pair.rows([0])
    assert (change.before is None) == np.isnan(before)
    assert change.direction == 0


def test_rows_are_those_that_were_chosen():
    before = np.arange(6.0).reshape(3, 2)
    steps = np.array([[0.0, 1.0]] * 3)
    pair = Pair(before, before + steps, steps, Columns(["number"] * 2), {0: "left"})
    rows = pair.rows([2, 0])
    assert [row[0] for row in rows] == [{"left": 4.0, 1: 5.0}, {"left": 0.0, 1: 1.0}]
    assert [[(change.column, change.before, change.after) for change in row[2]] for row in rows] == [
        [(1, 5.0, 6.0)],
        [(1, 1.0, 2.0)],
    ]


@pytest.mark.parametrize("kind", ["numpy", "nullable", "arrow", "polars"])
def test_numbers_in_short_precision_grow_no_digits(kind):
    pytest.importorskip("pyarrow" if kind == "arrow" else kind if kind == "polars" else "numpy")
    table = pd.DataFrame({"a": pd.Series([8262.2, 0.1], dtype="float32")})
    if kind == "nullable":
        table = table.astype("Float32")
    if kind == "arrow":
        table = table.astype("float[pyarrow]")
    if kind == "polars":
        import polars

        table = polars.DataFrame({"a": polars.Series([8262.2, 0.1], dtype=polars.Float32)})
    pair = Pair(table, table[::-1], np.ones((2, 1)), Columns(["number"], digits={"a": 1}))
    [(before, _, _)] = pair.rows([0])
    assert Columns(["number"], digits={"a": 1}).writer("a").text(before["a"]) == "8,262.2"
    assert str(before["a"]) == "8262.2"
