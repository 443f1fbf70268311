"""Rows of JSON as tables, in the types that a model knows."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from robust_recourse.notices.values import json_value
from robust_recourse.service.problems import Problem
from robust_recourse.service.rows import RowReader
from robust_recourse.tables import Schema

N = 40
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "int8": RNG.integers(0, 100, N).astype("int8"),
        "uint64": RNG.integers(0, 100, N).astype("uint64"),
        "Int32": pd.array([None, *RNG.integers(0, 9, N - 1)], dtype="Int32"),
        "float32": RNG.normal(size=N).astype("float32"),
        "gaps": np.where(RNG.random(N) < 0.3, np.nan, RNG.normal(size=N)),
        "bool": RNG.random(N) < 0.5,
        "boolean": pd.array([None, *(RNG.random(N - 1) < 0.5)], dtype="boolean"),
        "binary": RNG.integers(0, 2, N),
        "object": np.array([None, *RNG.choice(["a", "b"], N - 1)], dtype=object),
        "string": pd.array([None, *RNG.choice(["a", "b"], N - 1)], dtype="string"),
        "category": pd.Categorical(RNG.choice(["a", "b", "c"], N)),
        "numbers": pd.Categorical(RNG.choice([10, 20, 30], N), ordered=True),
        "date": pd.Timestamp("2020-01-01") + pd.to_timedelta(RNG.integers(0, 900, N), unit="D"),
        "zone": (pd.Timestamp("2020-01-01") + pd.to_timedelta(RNG.integers(0, 900, N), unit="h")).tz_localize("UTC"),
        "constant": ["x"] * N,
        7: RNG.integers(0, 9, N),
    }
)


def as_json(frame):
    columns = {str(name): [json_value(cell) for cell in frame[name].tolist()] for name in frame.columns}
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


@pytest.fixture(scope="module")
def reader():
    return RowReader(Schema.learn(FRAME))


def test_a_table_comes_back_in_its_types(reader):
    rows = json.loads(json.dumps(as_json(FRAME)))
    for some in (slice(0, N), slice(0, 1), slice(5, 6)):
        table = reader.table(reader.cells(rows[some], strict=True), range(len(rows[some])))
        pd.testing.assert_frame_equal(table, FRAME.iloc[some].reset_index(drop=True), check_index_type=False)
        assert reader.is_typed(table)


def test_what_a_type_does_not_hold_is_refused(reader):
    [row] = as_json(FRAME.head(1).assign(Int32=pd.array([1], dtype="Int32")))
    wrong = {
        "int8": [128, -129, 1.5, "1", None, True],
        "uint64": [-1, 2**64],
        "Int32": [2**31, 0.5],
        "float32": ["1", True],
        "bool": [1, "true", None],
        "boolean": [1],
        "object": ["z", 1],
        "string": ["z"],
        "category": ["z"],
        "numbers": [11, "10"],
        "date": ["x", 1, "2020-01-01T00:00:00+00:00"],
        "zone": ["2020-01-01"],
        "7": [None],
    }
    for name, values in wrong.items():
        for value in values:
            with pytest.raises(Problem) as caught:
                reader.cells([row, {**row, name: value}], strict=True)
            [fault] = caught.value.faults
            assert (fault.row, fault.column, fault.field) == (1, name, f"rows[1].{name}"), (name, value)


def test_categories_that_nobody_had_pass_if_they_may(reader):
    [row] = as_json(FRAME.head(1))
    row |= {"object": "z", "category": "z", "numbers": 11, "string": "z", "binary": 7, "bool": "no", "boolean": 0.5}
    cells = reader.cells([row], strict=False)
    table = reader.table(cells, [0])
    read = Schema.learn(FRAME).read(table, "rows")
    told = read.decode(read.values, np.array([0])).iloc[0]
    assert [told[name] for name in ("object", "category", "numbers", "string", "binary")] == ["z", "z", 11, "z", 7]
    assert [told[name] for name in ("bool", "boolean")] == ["no", 0.5]


def test_many_faults_are_not_listed_all(reader):
    with pytest.raises(Problem) as caught:
        reader.cells([{}] * 1000, strict=True)
    assert len(caught.value.faults) == 20
