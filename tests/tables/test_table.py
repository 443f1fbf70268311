"""Rows as the model gets them, and as they were given."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse.tables import Schema

ALL = np.arange(3)
EVERY = np.ones(3, dtype=bool)

COLUMNS = {
    "int8": ([1, 5, 9], 7.0, 7),
    "int64": ([1, 5, 9], 7.0, 7),
    "uint64": ([1, 5, 2**63 + 2048], 7.0, 7),
    "Int32": ([1, 5, 9], 7.0, 7),
    "float32": ([0.1, 0.5, 0.9], 0.25, 0.25),
    "float64": ([0.1, 0.5, 0.9], 0.7, 0.7),
    "Float64": ([0.1, 0.5, 0.9], 0.7, 0.7),
    "int64[pyarrow]": ([1, 5, 9], 7.0, 7),
    "double[pyarrow]": ([0.1, 0.5, 0.9], 0.7, 0.7),
    "object": ([1, 5, 9.5], 7.0, 7),
    "int16": ([0, 1, 1], 1.0, 1),
    "Int64": ([0, 1, 1], 1.0, 1),
    "int32[pyarrow]": ([0, 1, 1], 1.0, 1),
    "O": (["a", "b", 3], 2.0, "b"),
    "bool": ([True, False, True], 0.0, False),
    "boolean": ([True, False, True], 0.0, False),
    "bool[pyarrow]": ([True, False, True], 0.0, False),
    "category": (["a", "b", "c"], 2.0, "c"),
    "str": (["a", "b", "c"], 2.0, "c"),
    "string": (["a", "b", "c"], 2.0, "c"),
    "string[python]": (["a", "b", "c"], 2.0, "c"),
    "string[pyarrow]": (["a", "b", "c"], 2.0, "c"),
}

NULLABLE = {"int8": "Int8", "int16": "Int16", "int64": "Int64", "uint64": "UInt64", "bool": "boolean"}


def table_of(dtype):
    cells, value, new = COLUMNS[dtype]
    frame = pd.DataFrame({"c": pd.Series(cells, dtype=dtype), "other": [1.5, 2.25, 3.125]}, index=["p", "q", "p"])
    frame["c"] = pd.Series(cells, dtype=dtype).array
    return frame, Schema.learn(frame).read(frame, "X"), value, new


@pytest.mark.parametrize("dtype", list(COLUMNS))
def test_a_changed_cell_is_a_value_of_the_column_and_the_others_keep_their_bits(dtype):
    frame, table, value, new = table_of(dtype)
    values = table.values.copy()
    values[0, 0] = value
    expected = [new, *frame["c"].tolist()[1:]]
    asked = table.decode(values, ALL)
    restored = table.restore(values, ALL, EVERY)
    for result, wanted in ((asked, frame["c"].dtype), (restored, NULLABLE.get(dtype, frame["c"].dtype))):
        assert result["c"].dtype == wanted
        assert result["c"].tolist() == expected
        assert [type(cell) for cell in result["c"]] == [type(cell) for cell in frame["c"].astype(wanted)]
        assert result["other"].tolist() == frame["other"].tolist()
    assert restored.index.tolist() == ["p", "q", "p"]
    assert frame["c"].tolist() == COLUMNS[dtype][0] or dtype == "float32"


@pytest.mark.parametrize("dtype", list(COLUMNS))
def test_rows_without_recourse_are_empty(dtype):
    frame, table, _, _ = table_of(dtype)
    restored = table.restore(table.values, ALL, np.array([True, False, True]))
    assert restored.isna().to_numpy().tolist() == [[False] * 2, [True] * 2, [False] * 2]
    assert restored["c"].dtype == NULLABLE.get(dtype, frame["c"].dtype)
    assert [*table.restore(table.values, ALL, EVERY).dtypes] == [*restored.dtypes]
    assert restored["c"].tolist()[::2] == frame["c"].tolist()[::2]


def test_rows_may_repeat_and_be_left_out():
    frame, table, _, _ = table_of("category")
    rows = np.array([2, 0, 2])
    restored = table.restore(table.values[rows], rows, EVERY)
    pd.testing.assert_frame_equal(restored, frame.iloc[rows])
    part = table.take(np.array([1, 2]))
    assert len(part) == 2
    pd.testing.assert_frame_equal(part.restore(part.values, np.arange(2), EVERY[:2]), frame.iloc[1:])


def test_indexes_with_levels_and_duplicates_survive():
    frame, _, _, _ = table_of("int64")
    for index in (
        pd.MultiIndex.from_tuples([(1, "a"), (1, "a"), (2, "b")], names=["u", "v"]),
        [0, 0, 0],
        [None, 1, "x"],
    ):
        given = frame.set_axis(index, axis=0)
        table = Schema.learn(frame).read(given, "X")
        pd.testing.assert_frame_equal(table.restore(table.values, ALL, EVERY), given.astype({"c": "Int64"}))
        pd.testing.assert_frame_equal(table.given_at(ALL), given)


@pytest.mark.parametrize("dtype", list(COLUMNS))
def test_missing_cells_stay_missing_whatever_their_value(dtype):
    frame, _, value, _ = table_of(dtype)
    given = frame.copy()
    given["c"] = given["c"].astype(object).where([False, True, True], None)
    table = Schema.learn(frame).read(given, "X")
    values = table.values.copy()
    values[0, 0] = value
    assert table.decode(values, ALL)["c"].isna().tolist() == [True, False, False]
    restored = table.restore(values, ALL, EVERY)
    pd.testing.assert_frame_equal(restored, given)


def test_what_is_given_in_another_type_comes_back_in_one_that_holds_what_a_recourse_may_say():
    train = pd.DataFrame({"n": [1.5, 2.25, 7.125], "c": pd.Categorical(["a", "b", "c"])})
    given = pd.DataFrame({"c": ["a", "b", "c"], "n": [1, 2, 7]})
    table = Schema.learn(train).read(given, "X")
    values = table.values.copy()
    pd.testing.assert_frame_equal(table.restore(values, ALL, EVERY), given.astype({"n": float}))
    pd.testing.assert_frame_equal(table.given_at(ALL), given)
    values[0] = [5.0, 2.0]
    restored = table.restore(values, ALL, EVERY)
    pd.testing.assert_frame_equal(restored, pd.DataFrame({"c": ["c", "b", "c"], "n": [5.0, 2.0, 7.0]}))
    values[1, 0] = 2.5
    assert table.restore(values, ALL, EVERY)["n"].tolist() == [5.0, 2.5, 7.0]
    assert table.decode(values, ALL).dtypes.equals(train.dtypes)


def test_the_categories_of_what_was_given_keep_their_order():
    train = pd.DataFrame({"c": pd.Categorical(["a", "b", "c"])})
    given = pd.DataFrame({"c": pd.Categorical(["b", "a", "b"], categories=["b", "a"])})
    table = Schema.learn(train).read(given, "X")
    pd.testing.assert_frame_equal(table.given_at(ALL), given)
    unchanged = table.restore(table.values, ALL, EVERY)["c"]
    assert unchanged.tolist() == ["b", "a", "b"]
    assert unchanged.cat.categories.tolist() == ["b", "a", "c"]
    values = np.array([[2.0], [1.0], [1.0]])
    restored = table.restore(values, ALL, EVERY)["c"]
    assert restored.tolist() == ["c", "b", "b"]
    assert restored.cat.categories.tolist() == ["b", "a", "c"]
    assert table.decode(values, ALL)["c"].tolist() == ["c", "b", "b"]


def test_a_row_with_a_new_category_may_switch_to_a_known_one():
    train = pd.DataFrame({"c": pd.Categorical(["a", "b", "c"])})
    table = Schema.learn(train).read(pd.DataFrame({"c": pd.Categorical(["new", "a", "b"])}), "X")
    asked = table.decode(np.array([[2.0], [0.0], [1.0]]), ALL)
    assert asked["c"].tolist() == ["c", "a", "b"]
    assert table.decode(table.values, ALL)["c"].tolist() == ["new", "a", "b"]


@pytest.mark.parametrize("dtype", ["int8", "int64", "Int32", "int64[pyarrow]"])
def test_derivatives_may_ask_between_integers(dtype):
    frame = pd.DataFrame({"c": pd.Series([1, 5, 9], dtype=dtype)})
    table = Schema.learn(frame).read(frame, "X")
    asked = table.decode(np.array([[1.0 + 1e-9], [5.0], [8.5]]), ALL)
    np.testing.assert_array_equal(asked["c"].to_numpy(dtype=float), [1.0 + 1e-9, 5.0, 8.5])


@pytest.mark.parametrize("dtype", ["float16", "float32", "Float32", "float[pyarrow]"])
def test_derivatives_are_rounded_to_the_precision_of_a_column(dtype):
    frame = pd.DataFrame({"c": pd.Series([1, 5, 9], dtype=dtype)})
    table = Schema.learn(frame).read(frame, "X")
    asked = table.decode(np.array([[1.0 + 1e-9], [5.0], [8.5]]), ALL)
    assert asked["c"].dtype == frame["c"].dtype
    np.testing.assert_array_equal(asked["c"].to_numpy(dtype=float), [1.0, 5.0, 8.5])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_decoding_and_reading_are_inverse(data):
    n = data.draw(st.integers(2, 6))
    numbers = st.one_of(st.none(), st.integers(-100, 100))
    texts = st.one_of(st.none(), st.sampled_from(["a", "b", "c"]))
    cells = {
        "n": pd.array(data.draw(st.lists(numbers, min_size=n, max_size=n)), dtype="Int16"),
        "t": pd.array(data.draw(st.lists(texts, min_size=n, max_size=n)), dtype="string"),
        "f": data.draw(
            st.lists(
                st.floats(-1e6, 1e6).map(lambda value: value if abs(value) > 1e-100 else 0.0), min_size=n, max_size=n
            )
        ),
    }
    frame = pd.DataFrame(cells)
    schema = Schema.learn(frame)
    table = schema.read(frame, "X")
    pd.testing.assert_frame_equal(table.decode(table.values, np.arange(n)), frame)
    # Every row with the values of another one, where both have some.
    other = data.draw(st.permutations(range(n)))
    fixed = np.array([column.kind == "fixed" for column in schema.columns])
    kept = table.missing | table.missing[other] | fixed
    values = np.where(kept, table.values, table.values[other])
    back = schema.read(table.decode(values, np.arange(n)), "X")
    np.testing.assert_array_equal(back.values, values)
    np.testing.assert_array_equal(back.missing, table.missing)


@pytest.mark.parametrize(
    ("trained", "given"),
    [
        ("bool", pd.array([0, None, 1], dtype="Int64")),
        ("bool", pd.array([4, 0, 3], dtype="Int64")),
        ("bool", pd.array([0, None, 1], dtype="Float32")),
        ("int64", pd.array([True, None, False], dtype="boolean")),
        ("boolean", pd.array([4, None, 3], dtype="Int64")),
        ("bool[pyarrow]", pd.array([4, None, 3], dtype="Int64")),
    ],
)
def test_categories_may_come_in_any_type_that_holds_them(trained, given):
    schema = Schema.learn(pd.DataFrame({"k": pd.array([0, 1, 1], dtype="int64").astype(trained), "a": [1.5, 2.5, 3.5]}))
    table = schema.read(pd.DataFrame({"k": given, "a": [1.5, 2.5, 3.5]}), "X")
    for code in (0.0, 1.0):
        values = table.values.copy()
        values[:, 0] = np.where(table.missing[:, 0], values[:, 0], code)
        cells = table.decode(values, ALL)["k"]
        assert [None if pd.isna(cell) else int(cell) for cell in cells] == [
            None if gap else int(code) for gap in table.missing[:, 0]
        ]
