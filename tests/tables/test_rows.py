import numpy as np
import pandas as pd
import polars as pl

from robust_recourse.tables.rows import take


def test_rows_of_all_kinds_of_tables_are_taken_by_position():
    frame = pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"]}, index=[2, 1, 0])
    rows = np.array([2, 0])
    assert take(frame, rows)["a"].tolist() == [3, 1]
    assert take(pl.from_pandas(frame), rows)["a"].to_list() == [3, 1]
    assert take(np.array([[1], [2], [3]]), rows).tolist() == [[3], [1]]
