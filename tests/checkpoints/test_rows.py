"""Names of rows: the same for the same cells, and for no others."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse.checkpoints import rows_fingerprint

CELLS = st.one_of(st.none(), st.integers(-3, 3), st.floats(width=16), st.sampled_from(["", "1", "nan", "a\0b", "b"]))
TABLES = st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=4)


def frame(cells):
    return pd.DataFrame(cells, columns=["a", "b"], dtype=object)


def written(cells):
    return [[(type(cell), repr(cell)) for cell in row] for row in cells]


@settings(max_examples=300, deadline=None)
@given(TABLES, TABLES)
def test_names_are_equal_only_if_all_cells_are(one, other):
    same = written(one) == written(other)
    assert (rows_fingerprint(frame(one)) == rows_fingerprint(frame(other))) == same


BASE = pd.DataFrame({"age": [31, 40], "job": ["cook", None], "rate": [0.5, np.nan]}, index=["p", "q"])


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.iloc[::-1],
        lambda table: table.iloc[:1],
        lambda table: table[["job", "age", "rate"]],
        lambda table: table.rename(columns={"age": "years"}),
        lambda table: table.rename(index={"q": "r"}),
        lambda table: table.astype({"age": float}),
        lambda table: table.astype({"age": "Int64"}),
        lambda table: table.astype({"job": "category"}),
        lambda table: table.assign(rate=[0.5, 0.5]),
        lambda table: table.assign(rate=[np.nextafter(0.5, 1), np.nan]),
        lambda table: table.assign(job=["cook", "None"]),
    ],
)
def test_whatever_is_different_gives_another_name(change):
    assert rows_fingerprint(change(BASE)) != rows_fingerprint(BASE)
    assert rows_fingerprint(BASE.copy(deep=True)) == rows_fingerprint(BASE)


def test_another_process_gives_the_same_name():
    code = (
        "import numpy as np, pandas as pd; from robust_recourse.checkpoints import rows_fingerprint\n"
        "table = pd.DataFrame({'age': [31, 40], 'job': ['cook', None], 'rate': [0.5, np.nan]}, index=['p', 'q'])\n"
        "print(rows_fingerprint(table))"
    )
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert said.strip() == rows_fingerprint(BASE)
