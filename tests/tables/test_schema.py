"""Reading of tables whose columns are known."""

import numpy as np
import pandas as pd
import pytest

from robust_recourse import ActionSet, NearestAccepted
from robust_recourse.tables import Schema
from robust_recourse.tables.table import MISSING, UNSEEN

TRAIN = pd.DataFrame(
    {
        "amount": [1, 5, 9],
        "rate": [0.125, 2.5, 3.14159],
        "job": ["none", "clerk", "boss"],
        "edu": pd.Categorical(["lo", "hi", "mid"], categories=["lo", "mid", "hi"], ordered=True),
        "own": [True, False, True],
        "since": pd.to_datetime(["2020-01-01", "2021-01-01", "2022-01-01"]),
    }
)
SCHEMA = Schema.learn(TRAIN)


def rows(**cells):
    """Two rows of the training frame, with other columns."""
    return TRAIN.iloc[:2].assign(**cells)


def test_numbers_stay_and_categories_become_codes():
    table = SCHEMA.read(TRAIN, "X")
    expected = [[1, 0.125, 2, 0, 1, 0], [5, 2.5, 1, 2, 0, 0], [9, 3.14159, 0, 1, 1, 0]]
    np.testing.assert_array_equal(table.values, expected)
    assert not table.missing.any()
    pd.testing.assert_frame_equal(table.asked, TRAIN)


def test_an_array_has_continuous_columns_of_unit_1():
    schema = Schema.learn([[1.0, 2.0], [3.0, 4.0]])
    assert [column.kind for column in schema.columns] == ["number", "number"]
    np.testing.assert_array_equal(schema.units, 1.0)
    assert schema.names is None
    assert not schema.categorical.any()


def test_a_frame_may_have_its_columns_in_another_order():
    table = SCHEMA.read(TRAIN[list(TRAIN.columns[::-1])], "X")
    np.testing.assert_array_equal(table.values, SCHEMA.read(TRAIN, "X").values)
    pd.testing.assert_frame_equal(table.asked, TRAIN)
    np.testing.assert_array_equal(table.order, [5, 4, 3, 2, 1, 0])


@pytest.mark.parametrize(
    ("frame", "match"),
    [
        (TRAIN.rename(columns={"job": "work"}), r"lacks \['job'\] and adds \['work'\]"),
        (TRAIN.drop(columns="own"), r"lacks \['own'\]"),
        (TRAIN.assign(other=1.0), r"adds \['other'\]"),
        (TRAIN.rename(columns={"job": 3}), r"lacks \['job'\] and adds \[3\]"),
        (pd.concat([TRAIN, TRAIN[["job"]]], axis=1), "column 'job' twice"),
        (TRAIN.iloc[:0], r"X is empty: its shape is \(0, 6\)"),
    ],
)
def test_other_columns_are_named(frame, match):
    with pytest.raises(ValueError, match=match):
        SCHEMA.read(frame, "X")


@pytest.mark.parametrize(
    ("cells", "error", "match"),
    [
        ({"amount": ["5", "6"]}, TypeError, "column 'amount' must hold numbers.*got dtype str"),
        ({"rate": pd.to_datetime(["2020-01-01"] * 2)}, TypeError, "column 'rate' must hold numbers"),
        ({"rate": [1j, 2.0]}, TypeError, "column 'rate' must hold numbers"),
        ({"rate": pd.Series([1.0, "x"], dtype=object)}, TypeError, "column 'rate' must hold numbers"),
        ({"rate": [1.0, np.inf]}, ValueError, "finite, got inf in row 1, column 'rate'"),
        ({"amount": [-np.inf, 1.0]}, ValueError, "finite, got -inf in row 0, column 'amount'"),
    ],
)
def test_numbers_must_be_numbers(cells, error, match):
    with pytest.raises(error, match=match):
        SCHEMA.read(rows(**cells), "X")


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int32", "float32", "float64", "Int64", "Float64", object, "category"]
)
def test_numbers_of_other_types_become_those_of_the_training_rows(dtype):
    table = SCHEMA.read(rows(amount=pd.Series([4, 7], dtype=dtype)), "X")
    np.testing.assert_array_equal(table.values[:, 0], [4.0, 7.0])
    assert table.asked["amount"].dtype == np.int64


def test_numbers_that_do_not_fit_the_type_of_the_training_rows_keep_theirs():
    table = SCHEMA.read(rows(amount=[4.5, np.nan]), "X")
    assert table.asked["amount"].dtype == float
    np.testing.assert_array_equal(table.values[:, 0], [4.5, 0.0])
    np.testing.assert_array_equal(table.missing[:, 0], [False, True])


@pytest.mark.parametrize(
    "cells",
    [
        pd.Series(["none", "new"]),
        pd.Series(["none", "new"], dtype=object),
        pd.Series(["none", "new"], dtype="category"),
        pd.Series(["none", "new"], dtype=pd.CategoricalDtype(["new", "boss", "none", "other"])),
        pd.Series(["none", "new"], dtype="string"),
    ],
)
def test_categories_that_no_training_row_has_are_marked_and_kept(cells):
    table = SCHEMA.read(rows(job=cells), "X")
    np.testing.assert_array_equal(table.values[:, 2], [2.0, UNSEEN])
    assert table.asked["job"].tolist() == ["none", "new"]
    assert table.asked["job"].dtype == TRAIN["job"].dtype


def test_a_new_category_of_a_categorical_column_is_added_behind_the_known_ones():
    table = SCHEMA.read(rows(edu=["phd", "lo"]), "X")
    assert table.asked["edu"].cat.categories.tolist() == ["lo", "mid", "hi", "phd"]
    assert table.asked["edu"].cat.codes.tolist() == [3, 0]
    np.testing.assert_array_equal(table.values[:, 3], [UNSEEN, 0.0])


@pytest.mark.parametrize("categories", [["hi", "lo"], ["mid", "lo", "hi"], ["lo", "mid", "hi", "more"]])
def test_a_categorical_column_has_the_codes_of_the_training_rows(categories):
    table = SCHEMA.read(rows(edu=pd.Categorical(["lo", "hi"], categories=categories)), "X")
    assert table.asked["edu"].dtype == TRAIN["edu"].dtype
    assert table.asked["edu"].cat.codes.tolist() == [0, 2]


@pytest.mark.parametrize("column", list(TRAIN.columns))
def test_empty_cells_are_missing(column):
    frame = TRAIN.copy()
    frame[column] = frame[column].astype(object).where([True, False, True], None)
    table = SCHEMA.read(frame, "X")
    k = TRAIN.columns.get_loc(column)
    expected = np.zeros((3, 6), dtype=bool)
    expected[1, k] = True
    np.testing.assert_array_equal(table.missing, expected)
    assert table.values[1, k] == (MISSING if SCHEMA.columns[k].categorical else 0.0)
    assert table.asked[column].isna().tolist() == [False, True, False]


def test_booleans_may_come_as_numbers():
    table = SCHEMA.read(rows(own=[1, 0]), "X")
    np.testing.assert_array_equal(table.values[:, 4], [1.0, 0.0])
    assert table.asked["own"].dtype == bool


def test_the_type_of_a_column_that_the_model_gets_does_not_depend_on_whether_a_gap_is_none_or_nan():
    for gap in (None, np.nan, pd.NA):
        table = SCHEMA.read(rows(rate=pd.Series([0.5, gap], dtype=object)), "X")
        assert table.asked["rate"].dtype == float


def test_a_frame_is_a_table_for_columns_learnt_from_an_array():
    schema = Schema.of_array(2)
    frame = pd.DataFrame({"u": [1, 2], "v": [3.5, 4.5]}, index=["p", "q"])
    table = schema.read(frame, "X")
    np.testing.assert_array_equal(table.values, [[1.0, 3.5], [2.0, 4.5]])
    back = table.restore(np.array([[7.0, 3.5], [1.0, 1.0]]), np.array([1, 0]), np.array([True, False]))
    pd.testing.assert_frame_equal(back, pd.DataFrame({"u": [7.0, np.nan], "v": [3.5, np.nan]}, index=["q", "p"]))
    with pytest.raises(TypeError, match="X must be numeric"):
        schema.read(frame.assign(u=["a", "b"]), "X")


def test_an_array_is_a_table_for_a_frame_of_numbers():
    schema = Schema.learn(pd.DataFrame({"n": [1, 2, 5], "b": [True, False, True], "c": [1.5, 1.5, 1.5]}))
    table = schema.read(np.array([[4.0, 1.0, 1.5], [3.0, 0.0, 1.5]]), "X")
    np.testing.assert_array_equal(table.values[:, :2], [[4.0, 1.0], [3.0, 0.0]])
    assert table.asked.dtypes.tolist() == [np.int64, bool, float]
    back = table.restore(np.array([[2.0, 0.0, 1.5]]), np.array([0]), np.array([True]))
    np.testing.assert_array_equal(back, [[2.0, 0.0, 1.5]])


def test_numbers_that_never_change_are_read_because_rules_may_be_about_them():
    frame = pd.DataFrame({"limit": [7, 7], "day": pd.to_datetime(["2020-01-01"] * 2), "t": ["a", "a"]})
    schema = Schema.learn(frame)
    assert {column.kind for column in schema.columns} == {"fixed"}
    table = schema.read(frame.assign(limit=[8.5, None]), "X")
    np.testing.assert_array_equal(table.values, [[8.5, 0.0, 0.0], [0.0, 0.0, 0.0]])
    np.testing.assert_array_equal(table.missing, [[False] * 3, [True, False, False]])


def test_an_array_is_no_table_for_texts():
    with pytest.raises(TypeError, match="X must be a frame, as the training rows were: their column 'job'"):
        SCHEMA.read(np.zeros((2, 6)), "X")


def test_column_names_may_be_anything():
    names = [3, "b", ("t", 1), 2.5, pd.Timestamp("2020-01-01")]
    frame = pd.DataFrame(np.arange(10.0).reshape(2, 5) ** 1.5)
    frame.columns = pd.Index(names, tupleize_cols=False)
    table = Schema.learn(frame).read(frame.iloc[:, ::-1], "X")
    np.testing.assert_array_equal(table.values, frame.to_numpy())
    pd.testing.assert_frame_equal(table.restore(table.values, np.arange(2), np.ones(2, bool)), frame.iloc[:, ::-1])


def test_columns_may_have_several_levels():
    frame = pd.DataFrame(
        np.arange(6.0).reshape(3, 2) ** 1.5, columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")])
    )
    frame[("b", "z")] = ["p", "q", "p"]
    table = Schema.learn(frame).read(frame.iloc[:, ::-1], "X")
    pd.testing.assert_frame_equal(table.asked, frame)
    pd.testing.assert_frame_equal(table.restore(table.values, np.arange(3), np.ones(3, bool)), frame.iloc[:, ::-1])


def test_labels_name_columns_in_messages():
    assert SCHEMA.label(2) == "'job'"
    assert Schema.of_array(3).label(2) == "2"


HUGE = 10**400


@pytest.mark.parametrize("cells", [[HUGE] * 40, [HUGE + i for i in range(40)], [0.5] * 37 + [HUGE, 1, None]])
def test_whole_numbers_that_no_float_holds_are_named(cells):
    frame = pd.DataFrame({"a": np.arange(40), "b": pd.Series(cells, dtype=object)})
    row = cells.index(HUGE)
    message = f"column 'b' has 1e400 or so in the row {row}, which is more than a float can hold. Use another unit"
    with pytest.raises(ValueError, match=f"X_train: {message}"):
        Schema.learn(frame, name="X_train")
    plain = frame.assign(b=pd.Series(range(40), dtype=object))
    with pytest.raises(ValueError, match=f"X: {message}"):
        Schema.learn(plain).read(frame, "X")


@pytest.mark.filterwarnings("ignore:X has values that no training row has")
def test_integers_that_floats_round_keep_their_bits_unless_they_change():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.integers(0, 1000, 60), "b": rng.normal(size=60)})
    large = [2**53 + 1, 2**60 + 1, 2**62 + 513, -(2**61) - 3]
    rows = pd.DataFrame({"a": np.array(large), "b": [-3.0] * 4})
    for words in ({"immutable": ["a"]}, {"decrease": ["a"]}, {"increase": ["a"]}):
        actions = ActionSet(X, **words)
        found = NearestAccepted(lambda table: table["b"].to_numpy() > 0.5, actions).fit(X).explain(rows)
        assert actions.check(rows, found.x) == []
        assert found.x["a"].dtype == "Int64"
        kept = [value for value, told in zip(large, found.x["a"].tolist(), strict=True) if value == told]
        assert len(kept) == {"immutable": 4, "increase": 3, "decrease": 1}[next(iter(words))]
