import itertools
import shutil

import numpy as np
import pandas as pd
import pytest

from robust_recourse import ActionSet, NearestAccepted, RobustBayesianRecourse
from robust_recourse.checkpoints import CheckpointWarning, Store
from robust_recourse.cli import _batches
from robust_recourse.cli._batches import Batches


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
    batches = Batches(refused, "refused.csv", Store(tmp_path), "key")
    found = batches.explain(fitted, n_recourses, None)
    whole = fitted.explain(refused, n_recourses)
    pd.testing.assert_frame_equal(found.to_frame(), whole.to_frame(), check_exact=True)
    pd.testing.assert_frame_equal(found.changes(), whole.changes(), check_exact=True)
    assert found.to_json() == whole.to_json()
    monkeypatch.setattr(method, "explain", lambda *_, **__: pytest.fail("it is kept"))
    assert batches.explain(fitted, n_recourses, None).to_json() == whole.to_json()
    batches.forget()
    assert Store(tmp_path).pieces() == []


def test_who_is_out_of_time_is_not_kept(problem, tmp_path, monkeypatch):
    monkeypatch.setattr(_batches, "_FIRST", 2)
    monkeypatch.setattr(_batches, "_GROWTH", 1)
    clock = itertools.count()
    monkeypatch.setattr(_batches.time, "monotonic", lambda: float(next(clock)))
    model, X, refused = problem
    store, asked = Store(tmp_path), []
    method = NearestAccepted(model).fit(X)

    class Slow:
        schema_, moves_, model = method.schema_, method.moves_, staticmethod(method.model)
        n_jobs, favourable, threshold = 1, None, None

        def explain(self, X, n_recourses, time_limit, **how):
            asked.append((len(X), time_limit))
            return method.explain(X, n_recourses, time_limit if time_limit > 1 else 0.0, **how)

    found = Batches(refused, "refused.csv", store, "key").explain(Slow(), 1, 8.0)
    # The clock is read three times in a batch: 1, 2, 3; 4, 5, 6; 7, 8: too late to keep, 9; then all that are left.
    assert asked == [(2, 7.0), (2, 4.0), (2, 1.0), (5, 0.0)]
    assert store.pieces() == ["key-000000000-000000002", "key-000000002-000000004"]
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
        schema_, moves_, model = method.schema_, method.moves_, staticmethod(method.model)
        n_jobs, favourable, threshold = 1, None, None

        def explain(self, X, n_recourses, time_limit, **how):
            asked.append(len(X))
            now[0] += fixed + each * len(X)
            return method.explain(X, n_recourses, time_limit, **how)

    Batches(refused, "refused.csv", Store(tmp_path), "key").explain(Timed(), 1, None)
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
        Batches(refused, "refused.csv", Store(tmp_path), "key").explain(method, 1, None)


class Watched:
    """A method that remembers whom it explained."""

    def __init__(self, method):
        self._method, self.asked = method, []
        self.schema_, self.moves_, self.model = method.schema_, method.moves_, method.model
        self.n_jobs, self.favourable, self.threshold = 1, None, None

    def explain(self, X, n_recourses, time_limit, **how):
        self.asked.append(list(X.index))
        return self._method.explain(X, n_recourses, time_limit, **how)


@pytest.fixture
def kept(problem, tmp_path, monkeypatch):
    """Everybody is explained in batches of 3, 3, 3 and 2, and kept."""
    monkeypatch.setattr(_batches, "_FIRST", 3)
    monkeypatch.setattr(_batches, "_GROWTH", 1)
    model, X, refused = problem
    method, store = Watched(NearestAccepted(model).fit(X)), Store(tmp_path)
    whole = Batches(refused, "refused.csv", store, "key").explain(method, 1, None).to_json()
    method.asked.clear()

    def again(people=refused, key="key"):
        method.asked.clear()
        found = Batches(people, "refused.csv", store, key).explain(method, 1, None)
        return found.to_json() == whole, method.asked

    return store, again


def test_only_what_is_missing_is_explained_again(kept):
    store, again = kept
    assert again() == (True, [])
    store.remove([store.pieces()[1]])
    assert again() == (True, [["p3", "p4", "p5"]])
    store.remove(store.pieces()[:2])
    assert again() == (True, [["p0", "p1", "p2"], ["p3", "p4", "p5"]])


def test_pieces_that_changed_places_are_not_used(kept):
    store, again = kept
    first, second = (store.folder / f"{name}.piece" for name in store.pieces()[:2])
    for _ in range(2):
        shutil.copy(first, second)
        with pytest.warns(CheckpointWarning, match=r"key-000000003-000000006.piece is not used.*something else"):
            assert again() == (True, [["p3", "p4", "p5"]])


def test_pieces_of_other_rows_are_not_used(kept, problem):
    _, again = kept
    other = problem[2].copy()
    other.iloc[4, 1] += 1
    with pytest.warns(CheckpointWarning, match="it answers something else"):
        same, asked = again(other)
    assert not same
    assert asked == [["p3", "p4", "p5"]]
    assert again(key="other")[1] == [["p0", "p1", "p2"], ["p3", "p4", "p5"], ["p6", "p7", "p8"], ["p9", "p10"]]


def test_people_who_changed_their_names_are_others(kept, problem):
    _, again = kept
    other = problem[2].rename(index={"p7": "q7"})
    with pytest.warns(CheckpointWarning, match="it answers something else"):
        assert again(other)[1] == [["p6", "q7", "p8"]]


@pytest.mark.parametrize(
    "change",
    [
        lambda _: b"",
        lambda _: b"{}",
        lambda content: content[:-20],
        lambda content: content.replace(b"checksum", b"checksun"),
    ],
)
def test_a_piece_with_a_checksum_that_is_no_recourse_is_not_used(kept, problem, change):
    store, again = kept
    name, answers = store.pieces()[2], Batches(problem[2], "", store, "key")._answers(6, 9)
    store.write(name, change(store.read(name, answers)), answers)
    with pytest.warns(CheckpointWarning, match="key-000000006-000000009.piece is not used"):
        assert again() == (True, [["p6", "p7", "p8"]])


def test_a_piece_about_fewer_people_is_not_used(kept, problem):
    store, again = kept
    batches = Batches(problem[2], "", store, "key")
    names = store.pieces()
    short = store.read(names[3], batches._answers(9, 11))
    store.write(names[2], short, batches._answers(6, 9))
    with pytest.warns(CheckpointWarning, match="it is about other people"):
        assert again() == (True, [["p6", "p7", "p8"]])


def test_names_that_are_no_batches_are_left_alone(kept):
    store, again = kept
    for name in ("key-000000009-000000002", "key-000000009-000000099", "key-1-2", "key-000000002-000000005"):
        store.write(name, b"?")
    assert again() == (True, [])
