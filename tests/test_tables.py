import numpy as np
import pandas as pd
import pytest

from robust_recourse.tables import like, read_table

FRAME = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]}, index=["p", "q"])


def test_a_frame_may_have_its_columns_in_another_order():
    np.testing.assert_array_equal(read_table(FRAME[["b", "a"]], "X", columns=FRAME.columns), [[1, 3], [2, 4]])


@pytest.mark.parametrize(
    ("frame", "match"),
    [
        (FRAME.rename(columns={"b": "c"}), r"lacks \['b'\] and adds \['c'\]"),
        (FRAME[["a"]], r"lacks \['b'\]"),
        (FRAME.assign(c=1.0), r"adds \['c'\]"),
    ],
)
def test_other_columns_are_named(frame, match):
    with pytest.raises(ValueError, match=match):
        read_table(frame, "X", columns=FRAME.columns)


@pytest.mark.parametrize("values", [[1, 2], ["x", "y"], pd.Categorical(["x", "y"]), [True, False]])
def test_columns_that_are_not_continuous_are_refused(values):
    with pytest.raises(TypeError, match="X: column 'c' has dtype"):
        read_table(FRAME.assign(c=values), "X")


def test_a_column_name_may_not_occur_twice():
    with pytest.raises(ValueError, match="column 'a' twice"):
        read_table(pd.concat([FRAME, FRAME], axis=1), "X")


def test_results_look_like_what_came_in():
    values = np.array([[5.0, 6.0], [7.0, 8.0]])
    back = like(values, FRAME[["b", "a"]], FRAME.columns)
    pd.testing.assert_frame_equal(back, pd.DataFrame({"b": [6.0, 8.0], "a": [5.0, 7.0]}, index=["p", "q"]))
    assert like(values, values, None) is values
