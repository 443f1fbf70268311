import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse import ActionSet, NearestAccepted, RobustBayesianRecourse, Status
from robust_recourse.cli import _batches
from robust_recourse.cli._batches import Kept, explain_all
from robust_recourse.result import Answer

NUMBERS = st.floats()


@st.composite
def people(draw):
    """Some people, of width 3, each with one or two recourses of any numbers."""
    vector = st.lists(NUMBERS, min_size=3, max_size=3).map(np.array)
    recourse = st.builds(
        Answer,
        x0=st.just(np.zeros(3)),
        x=vector,
        boundary=vector,
        cost=NUMBERS,
        budget=NUMBERS,
        valid=st.booleans(),
        status=st.sampled_from(Status),
        reason=st.text(),
        log_worst_case_odds=NUMBERS,
        n_queries=st.integers(0, 2**62),
    )
    return draw(st.lists(st.lists(recourse, min_size=1, max_size=2), max_size=6))


def assert_same(read, kept):
    assert [len(known) for known in read] == [len(known) for known in kept]
    for one, other in zip(itertools.chain(*read), itertools.chain(*kept), strict=True):
        for name in ("x0", "x", "boundary", "cost", "budget", "log_worst_case_odds"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        assert (one.valid, one.status, one.reason, one.n_queries) == (
            other.valid,
            other.status,
            other.reason,
            other.n_queries,
        )
        assert isinstance(one.status, Status)


@settings(deadline=None, max_examples=60)
@given(first=people(), second=people(), cut=st.integers(0, 400))
def test_what_is_kept_comes_back_to_the_last_bit_and_a_torn_end_is_cut_off(tmp_path_factory, first, second, cut):
    kept = Kept(tmp_path_factory.mktemp("kept") / "out.csv.partial")
    points = np.zeros((20, 3))
    assert kept.read(points) == []
    kept.append(first)
    kept.append(second)
    assert_same(kept.read(points), first + second)
    whole = kept.path.read_bytes()
    torn = whole[: max(0, len(whole) - cut)]
    kept.path.write_bytes(torn)
    left = torn.count(b"\n")
    assert_same(kept.read(points), (first + second)[:left])
    kept.append(second)
    assert_same(kept.read(points), [*(first + second)[:left], *second])
    kept.remove()
    kept.remove()
    assert kept.read(points) == []


def test_a_line_that_only_lost_its_end_is_torn_too(tmp_path):
    kept, points = Kept(tmp_path / "partial"), np.zeros((5, 2))
    known = [[Answer.unchanged(points[0])]]
    kept.append(known * 2)
    kept.path.write_bytes(kept.path.read_bytes()[:-1])
    assert_same(kept.read(points), known)
    kept.append(known * 2)
    assert_same(kept.read(points), known * 3)


def test_more_people_than_rows_are_cut_off(tmp_path):
    kept = Kept(tmp_path / "partial")
    x0 = np.zeros(2)
    kept.append([[Answer.unchanged(x0)]] * 5)
    assert len(kept.read(np.zeros((3, 2)))) == 3


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(3)
    X = pd.DataFrame(
        {"a": rng.normal(size=120).round(2), "b": rng.integers(0, 9, 120), "c": rng.choice(["u", "v"], 120)}
    )

    def model(rows):
        return (rows["a"] + 0.2 * rows["b"] + (rows["c"] == "u") > 1.6).to_numpy()

    refused = X[~model(X)].head(11)
    refused.index = [f"p{i}" for i in range(11)]
    return model, X, refused


@pytest.mark.parametrize(
    ("method", "size", "seconds"),
    [
        *((NearestAccepted, size, seconds) for size in (1, 2, 5, 11, 100) for seconds in (1e-12, 1e6)),
        (RobustBayesianRecourse, 4, 1e6),
    ],
)
def test_batches_change_nothing(problem, tmp_path, monkeypatch, method, size, seconds):
    monkeypatch.setattr(_batches, "_FIRST", size)
    monkeypatch.setattr(_batches, "_SECONDS", seconds)
    model, X, refused = problem
    parameters = {} if method is NearestAccepted else {"n_samples": 20, "n_neighbors": 20}
    fitted = method(model, ActionSet(X, increase=["a"]), random_state=0, **parameters).fit(X)
    n_recourses = 2 if method is NearestAccepted else 1
    found = explain_all(fitted, refused, "refused.csv", Kept(tmp_path / "partial"), n_recourses, None)
    whole = fitted.explain(refused, n_recourses)
    pd.testing.assert_frame_equal(found.to_frame(), whole.to_frame(), check_exact=True)
    pd.testing.assert_frame_equal(found.changes(), whole.changes(), check_exact=True)
    assert found.to_json() == whole.to_json()
    assert len(Kept(tmp_path / "partial").read(np.zeros((11, 3)))) == 11


def test_who_is_out_of_time_is_not_kept(problem, tmp_path, monkeypatch):
    monkeypatch.setattr(_batches, "_FIRST", 2)
    monkeypatch.setattr(_batches, "_GROWTH", 1)
    clock = itertools.count()
    monkeypatch.setattr(_batches.time, "monotonic", lambda: float(next(clock)))
    model, X, refused = problem
    kept, asked = Kept(tmp_path / "partial"), []
    method = NearestAccepted(model).fit(X)

    class Slow:
        schema_, moves_, n_jobs, _accepted = method.schema_, method.moves_, 1, method._accepted
        favourable, threshold = None, None
        get_params, seed_, model_fingerprint_ = method.get_params, 0, None

        def explain(self, X, n_recourses, time_limit):
            asked.append((len(X), time_limit))
            return method.explain(X, n_recourses, time_limit if time_limit > 1 else 0.0)

    found = explain_all(Slow(), refused, "refused.csv", kept, 1, 8.0)
    # The clock is read three times in a batch: 1, 2, 3; 4, 5, 6; 7, 8: too late to keep, 9; then all that are left.
    assert asked == [(2, 7.0), (2, 4.0), (2, 1.0), (5, 0.0)]
    assert len(kept.read(np.zeros((11, 3)))) == 4
    assert [str(status) for status in found.status] == ["ok"] * 4 + ["out of time"] * 7
    assert list(found.x.index) == list(refused.index)


@pytest.mark.parametrize(
    ("fixed", "each", "sizes"),
    [
        (0.0, 0.1, [2, 4, 8, 16, 32, 64, 74]),  # quick: it always grows
        (0.0, 50.0, [2, 4, 4]),  # slow, and more rows take longer in proportion: it stays small, but does not shrink
        (90.0, 0.1, [2, 4, 8, 16, 32, 64, 74]),  # slow whatever the number of rows: it must grow
    ],
)
def test_batches_grow_as_long_as_that_pays(problem, tmp_path, monkeypatch, fixed, each, sizes):
    monkeypatch.setattr(_batches, "_FIRST", 2)
    monkeypatch.setattr(_batches, "_GROWTH", 2)
    model, X, refused = problem
    refused = pd.concat([refused] * 19, ignore_index=True).head(200)
    method, asked, now = NearestAccepted(model).fit(X), [], [0.0]
    monkeypatch.setattr(_batches.time, "monotonic", lambda: now[0])

    class Timed:
        schema_, moves_, n_jobs, _accepted = method.schema_, method.moves_, 1, method._accepted
        favourable, threshold = None, None
        get_params, seed_, model_fingerprint_ = method.get_params, 0, None

        def explain(self, X, n_recourses, time_limit):
            asked.append(len(X))
            now[0] += fixed + each * len(X)
            return method.explain(X, n_recourses, time_limit)

    explain_all(Timed(), refused, "refused.csv", Kept(tmp_path / "partial"), 1, None)
    assert asked[: len(sizes)] == sizes
    assert sum(asked) == 200


def test_a_model_that_fails_in_a_batch_names_its_first_row(problem, tmp_path, monkeypatch):
    monkeypatch.setattr(_batches, "_FIRST", 4)
    model, X, refused = problem
    asked = []

    def moody(rows):
        asked.append(len(rows))
        if len(asked) > 6:
            raise RuntimeError("no more")
        return model(rows)

    method = NearestAccepted(moody).fit(X)
    with pytest.raises(_batches.ModelError, match=r"batch of refused.csv that begins with row \d+: The model raised"):
        explain_all(method, refused, "refused.csv", Kept(tmp_path / "partial"), 1, None)
