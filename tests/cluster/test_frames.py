"""Frames of Dask, and models that are asked about a data set."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.cluster.conftest import explained, mixed_table, numbers_table, written

from robust_recourse.cluster import IncompleteError, explain_dataset, explain_frame, validate_dataset

dd = pytest.importorskip("dask.dataframe", reason="needs Dask: pip install 'robust-recourse[dask]'")


@pytest.mark.parametrize("n_recourses", [1, 2])
@pytest.mark.parametrize("mixed", [False, True])
def test_a_frame_of_dask_is_explained_as_the_whole(numbers_method, mixed_method, n_recourses, mixed):
    table = (mixed_table if mixed else numbers_table)(50)
    method = mixed_method if mixed else numbers_method
    frame = dd.from_pandas(table, npartitions=3)
    lazy = explain_frame(method, frame, n_recourses=n_recourses)
    # Which has texts of another type than the table.
    whole = explained(method, frame.compute(scheduler="sync"), n_recourses=n_recourses).to_frame()
    result = lazy.compute(scheduler="sync")
    pd.testing.assert_frame_equal(result, whole, check_exact=True)
    assert (lazy.dtypes == whole.dtypes).all()
    assert lazy.npartitions == 3


def test_other_frames_are_refused(numbers_method):
    with pytest.raises(TypeError, match="must be a frame of Dask, got DataFrame"):
        explain_frame(numbers_method, numbers_table(3))


def thresholds(n):
    return [Least(k * 200.0) for k in range(n)]


class Least:
    def __init__(self, more):
        self.more = more

    def predict(self, X):
        return (X["income"] - X["debt"] > 1500.0 + self.more).astype(int)


@pytest.mark.parametrize("n_recourses", [1, 2])
def test_models_are_asked_about_all_parts(numbers_method, tmp_path, n_recourses):
    table = numbers_table(60).set_axis(pd.Index([f"p{k}" for k in range(60)], name="who"))
    source = written(tmp_path / "in", [table])
    explain_dataset(numbers_method, source, tmp_path / "out", part_rows=13, n_recourses=n_recourses)
    models = thresholds(9)
    whole = explained(numbers_method, table, n_recourses=n_recourses).future_validity(models)
    validity = validate_dataset(tmp_path / "out", models)
    pd.testing.assert_frame_equal(validity.to_frame(), whole.to_frame())
    pd.testing.assert_frame_equal(validity.summary(), whole.summary())
    np.testing.assert_array_equal(validity.accepted, whole.accepted)
    assert repr(validity) == repr(whole)


def promised(method, folder, n=60):
    """Return a ledger with promises of two runs, some of which are not open any more."""
    ledger = pytest.importorskip("robust_recourse.ledger").Ledger(str(folder / "promises.db"))
    for k, seed in enumerate([3, 4]):
        found = explained(method, numbers_table(n, seed))
        people = [f"p{k}-{i}" for i in range(n)]
        ledger.record(found, people=people, model="first", method=method, until="2099-12-31")
    kept = ledger.promises()
    ledger.withdraw(kept["person"].iloc[2], reason="moved away")
    return ledger


def test_models_are_asked_about_the_promises_of_a_ledger(numbers_method, tmp_path):
    ledger = promised(numbers_method, tmp_path)
    models = thresholds(9)
    validity = validate_dataset(ledger, models)
    numbers = ledger.promises().index
    pd.testing.assert_index_equal(validity.labels, numbers)
    for k, model in enumerate(models):
        check = ledger.check(model, name=f"next {k}", dry_run=True)
        np.testing.assert_array_equal(numbers[~validity.accepted[:, k]], check.broken_numbers)
    assert 0.0 < validity.overall.share < 1.0
    assert validity.n_people == len(numbers)


def test_a_ledger_without_promises_has_nobody(tmp_path):
    ledger = pytest.importorskip("robust_recourse.ledger").Ledger(str(tmp_path / "promises.db"))
    validity = validate_dataset(ledger, thresholds(3))
    assert (validity.n_people, validity.n_models) == (0, 3)


def test_files_that_hold_no_recourses_are_named(numbers_method, tmp_path):
    source = written(tmp_path / "in", [numbers_table(10)])
    explain_dataset(numbers_method, source, tmp_path / "out")
    numbers_table(3).to_parquet(tmp_path / "out" / "other.parquet")
    with pytest.raises(IncompleteError, match=r"other.parquet.*holds no recourses"):
        validate_dataset(tmp_path / "out", thresholds(2))


def test_results_that_are_not_finished_are_not_validated(numbers_method, tmp_path):
    source = written(tmp_path / "in", [numbers_table(10)])
    explain_dataset(numbers_method, source, tmp_path / "out", part_rows=4)
    next((tmp_path / "out").glob("part-*")).unlink()
    with pytest.raises(ValueError, match="has 2 of 3 parts: it is not finished"):
        validate_dataset(tmp_path / "out", thresholds(2))
