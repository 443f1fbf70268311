"""A data set explained part by part: the same recourses as in one call, never twice, and nothing lost."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.cluster.conftest import assert_same, explained, mixed_table, numbers_table, written

from robust_recourse import ActionSet, Jury, NearestAccepted, Recourses, RobustBayesianRecourse
from robust_recourse.cluster import IncompleteError, OtherJobError, explain_dataset
from robust_recourse.cluster.places import found_files
from robust_recourse.cluster.source import find_source, read_part


def whole_of(folder):
    return pd.read_parquet(folder)


@pytest.mark.slow
@settings(
    max_examples=8,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.integers(0, 40), min_size=1, max_size=4), st.integers(1, 50), st.integers(1, 3), st.booleans())
def test_parts_change_nothing(numbers_method, mixed_method, tmp_path_factory, sizes, part_rows, n_recourses, mixed):
    folder = tmp_path_factory.mktemp("data")
    table = (mixed_table if mixed else numbers_table)(sum(sizes))
    ends = np.cumsum(sizes)
    source = written(folder / "in", [table[end - size : end] for size, end in zip(sizes, ends, strict=True)])
    method = mixed_method if mixed else numbers_method
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tally = explain_dataset(method, source, folder / "out", part_rows=part_rows, n_recourses=n_recourses)
    found = explained(method, whole_of(folder / "in"), n_recourses=n_recourses)
    assert_same(folder / "out", found)
    assert tally.finished_rows == len(table)
    assert tally.statuses == pd.Series(found.status[found.rank == 1]).astype(str).value_counts().to_dict()


def odd_labels(table, kind):
    n = len(table)
    labels = {
        "names": pd.Index([f"p{k}" for k in range(n)], name="who"),
        "numbers": pd.Index(np.arange(n)[::-1] * 3),
        "days": pd.date_range("2026-01-01", periods=n, name="day"),
        "levels": pd.MultiIndex.from_arrays([np.arange(n) % 3, [f"p{k}" for k in range(n)]], names=["branch", "who"]),
        "range": pd.RangeIndex(7, 7 + 2 * n, 2, name="number"),
    }
    return table.set_axis(labels[kind], axis=0)


@pytest.mark.parametrize("n_recourses", [1, 2])
@pytest.mark.parametrize("kind", ["names", "numbers", "days", "levels", "range"])
def test_labels_are_those_of_the_input(numbers_method, tmp_path, kind, n_recourses):
    table = odd_labels(numbers_table(40), kind)
    tables = [table] if kind == "range" else [table[:25], table[25:]]
    source = written(tmp_path / "in", tables)
    explain_dataset(numbers_method, source, tmp_path / "out", part_rows=9, n_recourses=n_recourses)
    found = explained(numbers_method, whole_of(tmp_path / "in"), n_recourses=n_recourses)
    assert_same(tmp_path / "out", found)


def test_every_part_has_the_types_of_the_whole(mixed_method, tmp_path):
    table = mixed_table(60)
    table["age"] = table["age"].astype("Int64")
    table["job"] = table["job"].astype(str).astype("category")
    tables = [table[:20].copy(), table[20:40].copy(), table[40:].copy()]
    tables[0]["job"] = tables[0]["job"].cat.set_categories(["nurse"])  # others are missing, and come later
    tables[1]["town"] = pd.Series([None] * 20, index=tables[1].index, dtype=object)
    tables[2]["loans"] = 1.0
    tables[2]["owner"] = pd.Series([True, None] * 10, index=tables[2].index, dtype=object)
    source = written(tmp_path / "in", tables)
    read = [pd.read_parquet(path) for path in sorted((tmp_path / "in").iterdir())]
    assert read[0]["owner"].dtype != read[2]["owner"].dtype
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explain_dataset(mixed_method, source, tmp_path / "out", part_rows=7)
    whole = pd.concat([part.astype({"job": str, "town": object}) for part in read], ignore_index=True)
    kinds = pd.CategoricalDtype(["nurse", *sorted({"cook", "clerk"}, key=lambda job: job)])
    whole["job"] = whole["job"].where(whole["job"].isin(kinds.categories)).astype(kinds)
    whole["town"], whole["owner"] = whole["town"].astype(read[0]["town"].dtype), whole["owner"].astype(object)
    found = explained(mixed_method, whole)
    result = pd.read_parquet(tmp_path / "out")
    assert result["job"].cat.categories.tolist()[0] == "nurse"
    expected = found.to_frame()
    for name in expected:
        assert result[name].dtype == expected[name].dtype or name == "job", name
    pd.testing.assert_frame_equal(
        result.astype({"job": object}), expected.astype({"job": object}), check_exact=True, check_dtype=False
    )


def test_whole_numbers_with_a_gap_in_another_part(tmp_path):
    table = pd.DataFrame({"a": np.arange(30), "b": np.linspace(0.0, 1.0, 30)})
    method = NearestAccepted(accepts_b, random_state=0).fit(table)
    gapped = table.astype({"a": "float"})
    gapped.loc[25, "a"] = np.nan
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrow = pa.table({"a": pa.array(gapped["a"], from_pandas=True).cast("int64"), "b": gapped["b"]})
    pq.write_table(arrow, tmp_path / "in.parquet", row_group_size=4)
    explain_dataset(method, tmp_path / "in.parquet", tmp_path / "out", part_rows=7)
    assert_same(tmp_path / "out", explained(method, pd.read_parquet(tmp_path / "in.parquet")))


def accepts_b(X):
    return np.asarray(X)[:, 1] > 0.7


@pytest.mark.parametrize("write", [{"row_group_size": 7}, {"row_group_size": 1000}, {"write_statistics": False}])
def test_row_groups_change_nothing(mixed_method, tmp_path, write):
    table = mixed_table(90)
    table.to_parquet(tmp_path / "in.parquet", **write)
    explain_dataset(mixed_method, tmp_path / "in.parquet", tmp_path / "out", part_rows=20)
    assert_same(tmp_path / "out", explained(mixed_method, pd.read_parquet(tmp_path / "in.parquet")))


@pytest.mark.parametrize("several", [False, True])
def test_no_rows_at_all(numbers_method, tmp_path, several):
    table = numbers_table(5)[:0]
    source = written(tmp_path / "in", [table] * (1 + several))
    tally = explain_dataset(numbers_method, source, tmp_path / "out")
    assert (tally.rows, tally.parts) == (0, 1)
    found = explained(numbers_method, whole_of(tmp_path / "in"))
    read = pd.read_parquet(tmp_path / "out")
    assert list(read.columns) == list(found.to_frame().columns)
    assert Recourses.from_parquet(tmp_path / "out").equals(found)
    assert explain_dataset(numbers_method, source, tmp_path / "out").computed == 0


@pytest.mark.slow
def test_two_hundred_small_files(numbers_method, tmp_path):
    table = numbers_table(400)
    source = written(tmp_path / "in", [table[2 * k : 2 * k + 2] for k in range(200)])
    tally = explain_dataset(numbers_method, source, tmp_path / "out")
    assert tally.parts == 200
    assert_same(tmp_path / "out", explained(numbers_method, whole_of(tmp_path / "in")))


def test_methods_that_were_fitted_to_arrays(linear_model, square, tmp_path):
    method = NearestAccepted(linear_model, random_state=0).fit(square)
    table = pd.DataFrame(square[:50], columns=["a", "b"])
    explain_dataset(method, written(tmp_path / "in", [table]), tmp_path / "out", part_rows=8)
    assert_same(tmp_path / "out", explained(method, table))


@pytest.mark.slow
def test_a_jury_and_a_robust_method(tmp_path):
    from sklearn.linear_model import LogisticRegression

    train = numbers_table(300, seed=1)
    label = (train["income"] - train["debt"] > 2000.0).astype(int)
    model = LogisticRegression(max_iter=2000).fit(train, label)
    recipe = LogisticRegression(max_iter=2000)
    jury = Jury.retrain(recipe, train, label, n_models=5, quorum=0.8, random_state=0)
    actions = ActionSet(immutable=["age"])
    table = numbers_table(60)
    source = written(tmp_path / "in", [table])
    for k, method in enumerate(
        [
            NearestAccepted(model, actions, jury=jury, random_state=0),
            RobustBayesianRecourse(model, actions, n_samples=50, random_state=0),
        ]
    ):
        method.fit(train)
        explain_dataset(method, source, tmp_path / f"out{k}", part_rows=17)
        assert_same(tmp_path / f"out{k}", explained(method, table))


@pytest.mark.slow
def test_default_parts_ask_the_model_hardly_more_often(tmp_path):
    asked = []

    def model(X):
        asked.append(len(X))
        return X["income"] - X["debt"] > 2000.0

    method = NearestAccepted(model, ActionSet(immutable=["age"]), random_state=0).fit(numbers_table(400, seed=1))
    table = numbers_table(30_000)
    asked.clear()
    explained(method, table)
    whole = len(asked)
    asked.clear()
    explain_dataset(method, written(tmp_path / "in", [table]), tmp_path / "out", unseen="ignore")
    assert whole > 50
    assert len(asked) <= 1.1 * whole


def test_names_of_people_and_columns_that_are_left_out(numbers_method, tmp_path):
    table = numbers_table(20)
    table.assign(id=[f"p{k}" for k in range(20)], outcome=1).to_parquet(tmp_path / "in.parquet")
    explain_dataset(
        numbers_method, tmp_path / "in.parquet", tmp_path / "out", index="id", drop=["outcome"], part_rows=6
    )
    assert_same(
        tmp_path / "out", explained(numbers_method, table.set_axis(pd.Index([f"p{k}" for k in range(20)], name="id")))
    )


def test_a_second_run_computes_nothing(numbers_method, tmp_path, monkeypatch):
    source = written(tmp_path / "in", [numbers_table(30)])
    first = explain_dataset(numbers_method, source, tmp_path / "out", part_rows=7)
    files = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    monkeypatch.setattr("robust_recourse.cluster.dataset.explain_part", lambda *_: pytest.fail("computed again"))
    again = explain_dataset(numbers_method, source, tmp_path / "out", part_rows=7)
    assert (first.computed, again.computed, again.finished) == (5, 0, 5)
    assert again.statuses == first.statuses
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == files


@pytest.mark.parametrize("damage", ["removed", "cut", "list", "line"])
def test_only_what_is_missing_is_computed(numbers_method, tmp_path, damage):
    source = written(tmp_path / "in", [numbers_table(30)])
    explain_dataset(numbers_method, source, tmp_path / "out", part_rows=7)
    parts = sorted((tmp_path / "out").glob("part-*"))
    listed = tmp_path / "out" / "_finished.jsonl"
    if damage == "removed":
        parts[2].unlink()
    elif damage == "cut":
        parts[2].write_bytes(parts[2].read_bytes()[:-9])
    elif damage == "list":
        listed.unlink()
    else:
        listed.write_text(listed.read_text()[:-20])
    tally = explain_dataset(numbers_method, source, tmp_path / "out", part_rows=7)
    assert tally.computed == (damage in ("removed", "cut"))
    assert_same(tmp_path / "out", explained(numbers_method, numbers_table(30)))


def test_another_job_in_the_same_folder_is_refused(numbers_method, tmp_path):
    source = written(tmp_path / "in", [numbers_table(10), numbers_table(5)])
    out = tmp_path / "out"
    explain_dataset(numbers_method, source, out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    other = NearestAccepted(numbers_method.model, ActionSet(immutable=["age", "debt"]), random_state=0)
    other.fit(numbers_table(400, seed=1))
    with pytest.raises(OtherJobError, match=r"another job. Its method \(actions, fingerprint\)"):
        explain_dataset(other, source, out)
    other = NearestAccepted(numbers_method.model, numbers_method.actions, random_state=7)
    with pytest.raises(OtherJobError, match=r"Its method \(seed\): 0. Now: 7"):
        explain_dataset(other.fit(numbers_table(400, seed=1)), source, out)
    other = NearestAccepted(numbers_method.model, numbers_method.actions, random_state=0)
    with pytest.raises(OtherJobError, match=r"Its method \(schema_fingerprint\)"):
        explain_dataset(other.fit(numbers_table(401, seed=1)), source, out)
    with pytest.raises(OtherJobError, match=r"Its settings \(n_recourses\): 1. Now: 2"):
        explain_dataset(numbers_method, source, out, n_recourses=2)
    with pytest.raises(OtherJobError, match=r"Its settings \(part_rows\)"):
        explain_dataset(numbers_method, source, out, part_rows=3)
    with pytest.raises(OtherJobError, match=r"Its input: 2 files. Now: 1 files"):
        explain_dataset(numbers_method, tmp_path / "in" / "000.parquet", out)
    numbers_table(5, seed=3).to_parquet(tmp_path / "in" / "001.parquet")
    with pytest.raises(OtherJobError, match=r"001.parquet, which has another content"):
        explain_dataset(numbers_method, source, out)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    written(tmp_path / "mine", [numbers_table(5)])
    with pytest.raises(OtherJobError, match="nothing says what they are"):
        explain_dataset(numbers_method, source, tmp_path / "mine")


def test_the_same_method_from_a_file_is_the_same_job(numbers_method, tmp_path):
    from robust_recourse import load, save

    source = written(tmp_path / "in", [numbers_table(10)])
    explain_dataset(numbers_method, source, tmp_path / "out")
    save(numbers_method, tmp_path / "method")
    assert explain_dataset(load(tmp_path / "method"), source, tmp_path / "out").computed == 0
    again = NearestAccepted(numbers_method.model, numbers_method.actions, random_state=0, n_jobs=2)
    assert explain_dataset(again.fit(numbers_table(400, seed=1)), source, tmp_path / "out").computed == 0


def test_files_that_cannot_be_read_are_named_and_others_go_on(numbers_method, tmp_path):
    table = numbers_table(40)
    source = written(tmp_path / "in", [table[:10], table[10:20], table[20:30], table[30:]])
    files = sorted((tmp_path / "in").iterdir())
    good = files[1].read_bytes()
    files[1].write_bytes(good[: len(good) // 2])
    table[20:30].rename(columns={"debt": "depth"}).to_parquet(files[2])
    with pytest.raises(IncompleteError) as caught:
        explain_dataset(numbers_method, source, tmp_path / "out", part_rows=6)
    assert "no whole Parquet file" in caught.value.reasons[str(files[1])]
    assert "lacks the columns ['debt'] and has other columns, ['depth']" in caught.value.reasons[str(files[2])]
    assert caught.value.tally.finished_rows == 20
    files[1].write_bytes(good)
    table[20:30].to_parquet(files[2])
    explain_dataset(numbers_method, source, tmp_path / "out", part_rows=6)
    assert_same(tmp_path / "out", explained(numbers_method, whole_of(tmp_path / "in")))


def test_a_damaged_row_group_is_one_part(numbers_method, tmp_path):
    table = numbers_table(400)
    path = tmp_path / "in.parquet"
    table.to_parquet(path, row_group_size=100, compression=None)
    import pyarrow.parquet as pq

    column = pq.read_metadata(path).row_group(2).column(0)
    content = bytearray(path.read_bytes())
    at = column.dictionary_page_offset or column.data_page_offset
    content[at : at + 8] = b"\xff" * 8
    path.write_bytes(content)
    with pytest.raises(IncompleteError, match="rows 200 to 299") as caught:
        explain_dataset(numbers_method, path, tmp_path / "out", part_rows=100)
    assert caught.value.tally.finished == 3


@pytest.mark.parametrize("stop", [KeyboardInterrupt, MemoryError, OSError(28, "No space left on device")])
def test_whatever_stops_it_nothing_finished_is_lost(numbers_method, tmp_path, monkeypatch, stop):
    from robust_recourse.cluster import places

    source = written(tmp_path / "in", [numbers_table(40)])
    write, count = places.write_atomically, []

    def interrupted(path, content):
        if path.name.startswith("part-"):
            count.append(path)
        if len(count) == 3:
            raise stop
        write(path, content)

    monkeypatch.setattr(places, "write_atomically", interrupted)
    with pytest.raises(stop if isinstance(stop, type) else OSError):
        explain_dataset(numbers_method, source, tmp_path / "out", part_rows=10)
    assert len(list((tmp_path / "out").glob("*.parquet"))) == 2
    with pytest.raises(ValueError, match="2 of 4 parts: it is not finished"):
        Recourses.from_parquet(tmp_path / "out")
    monkeypatch.undo()
    assert explain_dataset(numbers_method, source, tmp_path / "out", part_rows=10).computed == 2
    assert_same(tmp_path / "out", explained(numbers_method, numbers_table(40)))


def test_values_that_nobody_had_are_told_once(numbers_method, tmp_path):
    table = numbers_table(40)
    table.loc[[5, 25], "income"] = 1e7
    source = written(tmp_path / "in", [table])
    with pytest.warns(UserWarning, match=r"income.*So have 1 more parts"):
        explain_dataset(numbers_method, source, tmp_path / "out", part_rows=10)
    explain_dataset(numbers_method, source, tmp_path / "silent", part_rows=10, unseen="ignore")
    with pytest.raises(IncompleteError, match=r"rows 0 to 9.*rows 20 to 29"):
        explain_dataset(numbers_method, source, tmp_path / "strict", part_rows=10, unseen="error")


def test_everybody_accepted_is_doubted_once(numbers_method, tmp_path):
    table = numbers_table(200)
    table = table[numbers_method.model.predict(table) == 1][:20].reset_index(drop=True)
    source = written(tmp_path / "in", [table])
    with pytest.warns(UserWarning, match="accepts all 20 rows") as caught:
        explain_dataset(numbers_method, source, tmp_path / "out", part_rows=6)
    assert len(caught) == 1


def test_a_part_that_takes_too_long_is_set_aside(tmp_path):
    import time

    def slow(X):
        if len(X) and 7.0 in np.asarray(X)[:, 0]:
            time.sleep(60.0)
        return np.asarray(X)[:, 0] > 15.0

    table = pd.DataFrame({"a": np.arange(20.0)})
    method = NearestAccepted(lambda X: np.asarray(X)[:, 0] > 15.0, random_state=0).fit(table)
    method.model = slow
    method.keep_settings()
    source = written(tmp_path / "in", [table])
    with pytest.raises(IncompleteError, match=r"rows 5 to 9: it took longer than 2 seconds") as caught:
        explain_dataset(method, source, tmp_path / "out", part_rows=5, time_limit=2.0)
    assert caught.value.tally.finished == 3


def test_wherever_fsspec_finds_files(numbers_method, tmp_path):
    fsspec = pytest.importorskip("fsspec")
    table = numbers_table(30)
    system = fsspec.filesystem("memory")
    for k in range(3):
        table[10 * k : 10 * k + 10].to_parquet(tmp_path / "part")
        system.pipe_file(f"/refused/{k}.parquet", (tmp_path / "part").read_bytes())
    tally = explain_dataset(numbers_method, "memory://refused/*.parquet", "memory://recourses", part_rows=4)
    assert tally.finished == 9
    assert (
        explain_dataset(numbers_method, "memory://refused/*.parquet", "memory://recourses", part_rows=4).computed == 0
    )
    system.get("/recourses", str(tmp_path / "out"), recursive=True)
    whole = table.reset_index(drop=True)
    assert_same(tmp_path / "out", explained(numbers_method, whole))


def test_the_manifest_says_what_the_folder_is_about(numbers_method, tmp_path):
    source = written(tmp_path / "in", [numbers_table(30)])
    explain_dataset(numbers_method, source, tmp_path / "out", part_rows=10)
    manifest = json.loads((tmp_path / "out" / "_manifest.json").read_text())
    assert manifest["method"]["class"] == "NearestAccepted"
    assert (manifest["rows"], manifest["parts"]) == (30, 3)
    assert [entry["name"] for entry in manifest["input"]] == [str(tmp_path / "in" / "000.parquet")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"part_rows": 0}, "part_rows"),
        ({"time_limit": 0.0}, "time_limit"),
        ({"unseen": "what"}, "unseen"),
        ({"n_recourses": 0}, "n_recourses"),
        ({"index": "id"}, "no column 'id'"),
    ],
)
def test_what_cannot_be_is_said_at_once(numbers_method, tmp_path, options, message):
    source = written(tmp_path / "in", [numbers_table(5)])
    with pytest.raises(ValueError, match=message):
        explain_dataset(numbers_method, source, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("empty", [[1], [0, 1, 2]])
def test_files_of_text_without_rows(mixed_method, tmp_path, empty):
    table = mixed_table(30)
    (tmp_path / "in").mkdir()
    for k in range(3):
        rows = table[:0] if k in empty else table[10 * k : 10 * k + 10]
        rows.to_csv(tmp_path / "in" / f"{k}.csv", index=False)
    explain_dataset(mixed_method, tmp_path / "in", tmp_path / "out", unseen="ignore")
    result = pd.read_parquet(tmp_path / "out")
    rows = [pd.read_csv(tmp_path / "in" / f"{k}.csv") for k in range(3) if k not in empty]
    if rows:
        found = explained(mixed_method, pd.concat(rows, ignore_index=True))
        pd.testing.assert_frame_equal(result, found.to_frame(), check_exact=True)
    else:
        assert result.empty
        assert list(result.columns) == list(explained(mixed_method, table[:0]).to_frame().columns)


def test_no_file_is_said_at_once(numbers_method, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no file .*nothing"):
        explain_dataset(numbers_method, str(tmp_path / "nothing*.parquet"), tmp_path / "out")
    with pytest.raises(FileNotFoundError, match="an empty list"):
        explain_dataset(numbers_method, [], tmp_path / "out")


def test_the_engine_is_imported_only_where_it_is_needed():
    code = (
        "import sys, robust_recourse, robust_recourse.cli, robust_recourse.cluster\n"
        "print([name for name in ('dask', 'distributed', 'fsspec', 'pyarrow') if name in sys.modules])"
    )
    # pandas may bring pyarrow along, which is its own matter.
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert set(ast.literal_eval(printed)) <= {"pyarrow"}


def test_parts_of_a_single_file_of_two_million_rows(tmp_path):
    n = 2_000_000
    table = pd.DataFrame({"a": np.arange(n), "b": np.arange(n) % 7 * 0.5})
    table.to_parquet(tmp_path / "in.parquet")
    source = find_source(found_files(tmp_path / "in.parquet"))
    parts = source.parts(4096)
    assert sum(part.rows for part in parts) == n == source.rows
    assert len({part.name for part in parts}) == len(parts) == 489
    assert sorted(parts, key=lambda part: part.name) == parts
    for part in (parts[0], parts[255], parts[256], parts[-1]):
        read = read_part(source.types, part)
        pd.testing.assert_frame_equal(read, table[part.first : part.first + part.rows])
