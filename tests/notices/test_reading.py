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
