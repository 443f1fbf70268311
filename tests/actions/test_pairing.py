import numpy as np
import pandas as pd
import pytest

from robust_recourse.actions import ActionSet

FRAME = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 6.0]}, index=["p", "q", "r"])
FIXED = ActionSet(immutable=["a"])


def rows(before, after):
    return [found.row for found in FIXED.check(before, after)]


def test_rows_belong_together_by_their_index():
    after = FRAME.assign(a=[1.0, 2.0, 9.0])
    assert rows(FRAME, after) == ["r"]
    assert rows(FRAME, after.loc[["r", "p", "q"]]) == ["r"]
    assert rows(FRAME, after.loc[["q"]]) == []
    assert rows(FRAME, after.loc[["r", "r", "q"]]) == ["r", "r"]


def test_rows_with_the_same_index_belong_together_by_their_order():
    before, after = FRAME.set_axis(["p", "p", "q"]), FRAME.assign(a=[1.0, 7.0, 3.0]).set_axis(["p", "p", "q"])
    assert rows(before, after) == ["p"]
    with pytest.raises(ValueError, match="before has several rows with the index 'p'"):
        rows(before, after.iloc[::-1])


def test_columns_may_be_in_another_order():
    assert rows(FRAME, FRAME[["b", "a"]].assign(a=[0.0, 2.0, 3.0])) == ["p"]
    known = ActionSet(FRAME, immutable=["a"])
    assert known.check(FRAME[["b", "a"]], FRAME) == []


@pytest.mark.parametrize("names", [[0, 1], [("x", 1), ("x", 2)], ["x0", "x1"]])
def test_columns_may_have_any_names(names):
    before = FRAME.set_axis(pd.Index(names, tupleize_cols=False), axis=1)
    (found,) = ActionSet(immutable=[names[0]]).check(before, before + np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]))
    assert (found.row, found.column) == ("p", names[0])


@pytest.mark.parametrize(
    ("before", "after", "error", "match"),
    [
        (FRAME, FRAME.to_numpy(), TypeError, "both be frames or both be arrays, got DataFrame and ndarray"),
        (FRAME, FRAME[["a"]], ValueError, r"after must have the columns \['a', 'b'\]; it lacks \['b'\]"),
        (FRAME, FRAME.assign(c=1), ValueError, r"it adds \['c'\]"),
        (FRAME, FRAME.rename(index={"r": "s"}), ValueError, "after has a row 's', which before has not"),
        (pd.concat([FRAME, FRAME], axis=1), FRAME, ValueError, "before has the column 'a' twice"),
    ],
)
def test_tables_that_do_not_belong_together_are_refused(before, after, error, match):
    with pytest.raises(error, match=match):
        FIXED.check(before, after)


@pytest.mark.parametrize(
    ("after", "match"),
    [
        ([[1.0, 2.0]], "before has 2 rows, but after has 1"),
        ([[1.0], [2.0]], "after must have 2 columns, got 1"),
        ([1.0, 2.0], r"after is one row \(a list\). Pass \[after\], a table with one row"),
    ],
)
def test_arrays_have_the_same_shape(after, match):
    with pytest.raises(ValueError, match=match):
        ActionSet(immutable=[0]).check(np.ones((2, 2)), after)


def test_what_was_learnt_says_which_columns_there_are():
    with pytest.raises(ValueError, match="before must have 3 columns, got 2"):
        ActionSet(np.ones((2, 3))).check(np.ones((2, 2)), np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"before must have the columns \['a', 'b'\]; it adds \['c'\]"):
        ActionSet(FRAME).check(FRAME.assign(c=1), FRAME.assign(c=1))
