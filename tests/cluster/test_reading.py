"""Rows of files, read forwards, backwards and from the middle: always those that were asked for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse.cluster import reading as module
from robust_recourse.cluster.reading import read_rows, reading


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    pd.DataFrame({"a": np.arange(100), "b": np.arange(100) * 0.5}).to_parquet(path, row_group_size=23)
    return str(path)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 40)), max_size=6))
def test_any_rows_in_any_order(path, wanted):
    with reading():
        for first, rows in wanted:
            if first + rows > 100:
                with pytest.raises(ValueError, match="fewer rows than it had"):
                    read_rows(path, first, rows, ["a"], "x")
            else:
                assert read_rows(path, first, rows, ["a"], "x")["a"].to_pylist() == list(range(first, first + rows))


def test_a_file_is_opened_once_for_rows_that_follow(path, monkeypatch):
    opened = []
    monkeypatch.setattr(module, "opened", lambda name: opened.append(name) or open(name, "rb"))  # noqa: SIM115
    with reading():
        for first in (0, 10, 20, 32, 40):  # the last ones leave rows out, but no row group
            read_rows(path, first, 4 if first > 20 else 10, ["a"], "x")
        assert len(opened) == 1
        read_rows(path, 80, 5, ["a"], "x")  # in another row group: what is between may be damaged
        read_rows(path, 85, 5, ["a"], "another content")
        read_rows(path, 90, 5, ["b"], "another content")
        read_rows(path, 80, 5, ["b"], "another content")
        assert len(opened) == 5
    assert read_rows(path, 85, 5, ["b"], "another content")["b"].to_pylist() == [42.5, 43.0, 43.5, 44.0, 44.5]
    assert len(opened) == 6
    with reading():
        pass
