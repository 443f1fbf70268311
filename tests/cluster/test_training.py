"""Fitting to data sets: the same as of the whole where that fits, and few candidates that are nowhere far."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cluster.conftest import mixed_table, numbers_table, written

from robust_recourse import ActionSet, Jury, NearestAccepted
from robust_recourse.cluster import fit_dataset, retraining_on
from robust_recourse.math.spread import thinned
from robust_recourse.saving import fingerprint


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 200), st.integers(1, 4), st.integers(1, 60))
def test_points_that_stay_are_near_to_all(seed, n, p, most):
    rng = np.random.default_rng(seed)
    points = np.round(rng.normal(size=(n, p)), int(rng.integers(0, 4)))
    exact = np.zeros(p, dtype=bool)
    if p > 1:
        points[:, 0], exact[0] = rng.integers(0, 2, n), True
    if len(np.unique(points[:, exact], axis=0)) > most:
        with pytest.raises(ValueError, match="combinations of categories"):
            thinned(points, most, exact)
        return
    kept, edge = thinned(points, most, exact)
    assert len(kept) <= most
    assert len(np.unique(kept, axis=0)) == len(kept)
    apart = np.abs(points[:, None] - kept[None])
    near = (apart[:, :, exact] == 0.0).all(axis=2) & (apart.max(axis=2, initial=0.0) <= edge)
    assert near.any(axis=1).all()
    assert {tuple(row) for row in kept} <= {tuple(row) for row in points}
    if len(np.unique(points, axis=0)) <= most:
        assert edge == 0.0


@pytest.mark.parametrize("table", [numbers_table, mixed_table])
def test_a_data_set_that_fits_is_fitted_as_a_whole(numbers_method, mixed_method, tmp_path, table):
    method = numbers_method if table is numbers_table else mixed_method
    train = table(400, seed=1)
    source = written(tmp_path, [train[:150], train[150:]])
    fitted = fit_dataset(NearestAccepted(method.model, method.actions, random_state=0), source)
    whole = NearestAccepted(method.model, method.actions, random_state=0).fit(pd.read_parquet(tmp_path))
    assert fitted.candidates_radius_ == 0.0
    del fitted.candidates_radius_
    assert fingerprint(fitted) == fingerprint(whole)


def test_candidates_of_all_rows_beyond_the_sample(numbers_method, tmp_path, monkeypatch):
    monkeypatch.setattr("robust_recourse.cluster.training._ROWS", 90)
    train = numbers_table(400, seed=1)
    source = written(tmp_path, [train])
    actions = ActionSet(train, immutable=["age"])
    fitted = fit_dataset(
        NearestAccepted(numbers_method.model, actions, random_state=0), source, max_candidates=None, sample_rows=120
    )
    whole = NearestAccepted(numbers_method.model, actions, random_state=0).fit(train)
    np.testing.assert_array_equal(fitted.candidates_, whole.candidates_)
    table = numbers_table(40)
    assert fitted.explain(table).to_frame().equals(whole.explain(table).to_frame())


@pytest.mark.parametrize("most", [10, 40])
def test_fewer_candidates_cost_at_most_what_is_said(numbers_method, tmp_path, monkeypatch, most):
    monkeypatch.setattr("robust_recourse.cluster.training._ROWS", 70)
    train = numbers_table(400, seed=1)
    source = written(tmp_path, [train])
    actions = ActionSet(train, immutable=["age"])
    method = NearestAccepted(numbers_method.model, actions, random_state=0)
    few = fit_dataset(method, source, max_candidates=most, sample_rows=100)
    assert 0 < len(few.candidates_) <= most
    assert few.candidates_radius_ > 0.0
    every = NearestAccepted(numbers_method.model, actions, random_state=0).fit(train)
    apart = np.abs(every.candidates_[:, None] - few.candidates_[None]).max(axis=2)
    assert (apart.min(axis=1) <= few.candidates_radius_).all()
    with pytest.raises(ValueError, match="max_candidates"):
        fit_dataset(method, source, max_candidates=0)


def test_training_rows_in_files_of_text(numbers_method, tmp_path):
    train = numbers_table(400, seed=1)
    for k in range(2):
        train[200 * k : 200 * k + 200].to_csv(tmp_path / f"{k}.csv", index=False, sep=";")
    method = NearestAccepted(numbers_method.model, numbers_method.actions, random_state=0)
    fitted = fit_dataset(method, tmp_path, separator=";")
    np.testing.assert_array_equal(fitted.candidates_, method.fit(train).candidates_)
    with pytest.raises(TypeError, match="source must be a path"):
        fit_dataset(method, 3)


def test_training_needs_all_files(numbers_method, tmp_path):
    source = written(tmp_path, [numbers_table(20), numbers_table(20)])
    (tmp_path / "001.parquet").write_bytes(b"PAR1")
    with pytest.raises(ValueError, match=r"001.parquet: it is no whole Parquet file.*Training needs all files"):
        fit_dataset(NearestAccepted(numbers_method.model), source)


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore:.*:UserWarning:distributed", "ignore:.*:UserWarning:joblib"
)
def test_juries_that_are_trained_on_a_cluster(numbers_method):
    distributed = pytest.importorskip("distributed", reason="needs Dask: pip install 'robust-recourse[dask]'")
    train = numbers_table(200, seed=1)
    label = (train["income"] - train["debt"] > 2000.0).astype(int)
    here = Jury.retrain(numbers_method.model, train, label, n_models=4, random_state=0)
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        retraining_on(client),
    ):
        there = Jury.retrain(numbers_method.model, train, label, n_models=4, random_state=0)
        ran = client.run(lambda dask_worker: (dask_worker.state.tasks and True) or dask_worker.digests is not None)
    assert ran
    for one, other in zip(here.models, there.models, strict=True):
        np.testing.assert_array_equal(one.predict_proba(train), other.predict_proba(train))
