"""Results in files: what is read equals what was written, and what is altered is named."""

from __future__ import annotations

import hashlib
import io
import json
import sys
from contextlib import suppress

import jsonschema
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.result.conftest import FLOATS, result, results

from robust_recourse import NearestAccepted, _files
from robust_recourse.notices.values import text
from robust_recourse.result import Recourses, Status
from robust_recourse.result.document import checksum

EXAMPLES = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def validate(document):
    jsonschema.Draft202012Validator(Recourses.json_schema()).validate(document)


@EXAMPLES
@given(results())
def test_json_reads_back_to_an_equal_result(found):
    text = found.to_json()
    validate(json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is not JSON")))
    read = Recourses.from_json(text)
    assert read.equals(found)
    assert found.equals(read)
    assert read.to_json() == text


@EXAMPLES
@given(results())
def test_parquet_reads_back_to_an_equal_result(tmp_path_factory, found):
    path = tmp_path_factory.mktemp("parquet") / "found.parquet"
    labels = found.x.index.names
    found.to_parquet(path)
    assert found.x.index.names == labels
    assert Recourses.from_parquet(path).equals(found)
    assert len(pd.read_parquet(path)) == len(found)


@EXAMPLES
@given(st.data(), st.integers(0, 4), st.integers(1, 3))
def test_arrays_come_back_as_arrays(data, n, p):
    def table():
        cells = data.draw(st.lists(FLOATS, min_size=n * p, max_size=n * p))
        return np.array(cells, dtype=float).reshape(n, p)

    found = result(data.draw, table(), table(), table(), repeat=False)
    read = Recourses.from_json(found.to_json())
    assert type(read.x) is np.ndarray
    assert read.equals(found)


@EXAMPLES
@given(st.data(), st.integers(0, 4))
def test_frames_of_polars_come_back_as_frames_of_polars(data, n):
    pl = pytest.importorskip("polars")
    columns = {
        "i": (pl.Int64, st.none() | st.integers(-(2**63), 2**63 - 1)),
        "f": (pl.Float64, st.none() | FLOATS),
        "g": (pl.Float32, st.none() | st.floats(width=32, allow_nan=False)),
        "b": (pl.Boolean, st.none() | st.booleans()),
        "t": (pl.String, st.none() | st.text(max_size=4)),
        "d": (pl.Date, st.none() | st.dates()),
        "e": (pl.Enum(["x", "y"]), st.none() | st.sampled_from("xy")),
        "c": (pl.Categorical, st.none() | st.sampled_from("xy")),
        "u": (pl.Datetime("us"), st.none() | st.datetimes().map(lambda day: day.replace(fold=0))),
    }

    def table():
        cells = {name: data.draw(st.lists(values, min_size=n, max_size=n)) for name, (_, values) in columns.items()}
        return pl.DataFrame(cells, schema={name: kind for name, (kind, _) in columns.items()})

    found = result(data.draw, table(), table(), table(), repeat=False)
    read = Recourses.from_json(found.to_json())
    assert isinstance(read.x, pl.DataFrame)
    assert read.x.schema == found.x.schema
    assert read.equals(found)


def test_what_explain_returns_reads_back(lender, tmp_path):
    method, refused, _ = lender
    found = method.explain(refused, n_recourses=2)
    assert np.isnan(found.cost).any()
    assert found.valid.any()
    found.to_json(tmp_path / "found.json", indent=None)
    found.to_parquet(tmp_path / "found.parquet")
    for read in (Recourses.from_json(tmp_path / "found.json"), Recourses.from_parquet(tmp_path / "found.parquet")):
        assert read.equals(found)
        assert read.provenance == found.provenance
        pd.testing.assert_frame_equal(read.to_frame(), found.to_frame())
        assert read.describe() == found.describe()
        with pytest.raises(ValueError, match="files do not hold the neighbourhoods"):
            read[0].worst_case()


def test_a_parquet_file_is_the_table_for_everybody(lender, tmp_path):
    method, refused, _ = lender
    found = method.explain(refused)
    found.to_parquet(tmp_path / "a.parquet")
    table = pd.read_parquet(tmp_path / "a.parquet")
    expected = found.to_frame()
    assert list(table.columns) == list(expected.columns)
    assert table.index.equals(expected.index)
    assert (table.dtypes == expected.dtypes).drop("since").all()  # the unit of times depends on the versions
    for name in expected:
        cells = zip(table[name], expected[name], strict=True)
        assert all((pd.isna(one) and pd.isna(other)) or one == other for one, other in cells)
    # A folder of parts is one table.
    found[:7].to_parquet(tmp_path / "parts" / "1.parquet")
    found[7:].to_parquet(tmp_path / "parts" / "2.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "parts"), table)


def test_types_of_arrow_that_pandas_cannot_read_back_are_text(tmp_path):
    pa = pytest.importorskip("pyarrow")
    town = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    X = pd.DataFrame({"town": pd.Series(["Leeds", "York", "Hull"] * 5).astype(town), "rate": np.arange(15.0)})
    found = NearestAccepted(lambda table: table["rate"].to_numpy() > 9.0).fit(X).explain(X)
    found.to_parquet(tmp_path / "found.parquet")
    assert Recourses.from_parquet(tmp_path / "found.parquet").equals(found)
    assert found.x["town"].dtype == town
    assert pd.read_parquet(tmp_path / "found.parquet")["town"].tolist() == X["town"].tolist()


@pytest.mark.parametrize(
    "kinds",
    [pd.period_range("2020", periods=3, freq="M"), pd.to_timedelta([1, 2, 3], unit="h"), pd.interval_range(0, 3)],
)
def test_categories_that_parquet_does_not_keep_are_text(kinds, tmp_path):
    found = result_of(pd.DataFrame({"kind": pd.Categorical(kinds), "rate": [1.0, 2.0, 3.0]}))
    found.to_parquet(tmp_path / "found.parquet")
    assert Recourses.from_parquet(tmp_path / "found.parquet").equals(found)
    assert pd.read_parquet(tmp_path / "found.parquet")["kind"].tolist() == [text(kind) for kind in kinds]


def test_categories_of_times_with_a_zone_read_back_from_parquet(tmp_path):
    days = pd.date_range("2020-03-28", periods=3, tz="Europe/Berlin")
    found = result_of(pd.DataFrame({"day": pd.Categorical(days), "rate": [1.0, 2.0, 3.0]}))
    found.to_parquet(tmp_path / "found.parquet")
    assert Recourses.from_parquet(tmp_path / "found.parquet").equals(found)


def test_names_and_labels_that_parquet_does_not_have_are_text(tmp_path):
    index = pd.MultiIndex.from_tuples([("Leeds", 1), ("York", 2)], names=["town", 3])
    columns = pd.MultiIndex.from_tuples([("income", "net"), ("income", "gross")])
    table = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], index=index, columns=columns)
    found = result_of(table)
    found.to_parquet(tmp_path / "a.parquet")
    read = pd.read_parquet(tmp_path / "a.parquet")
    assert list(read.columns[:2]) == ["income/net", "income/gross"]
    assert read.columns[2] == "cost"
    assert list(read.index.names) == ["town", "3"]
    assert Recourses.from_parquet(tmp_path / "a.parquet").equals(found)
    odd = result_of(pd.DataFrame({"a": [1.0, 2.0]}, index=pd.Index([1, "x"], dtype=object)))
    odd.to_parquet(tmp_path / "b.parquet")
    assert list(pd.read_parquet(tmp_path / "b.parquet").index) == ["1", "x"]
    assert Recourses.from_parquet(tmp_path / "b.parquet").equals(odd)


def result_of(table):
    """Return a result in which nothing changes."""
    n, p = table.shape
    return Recourses(
        x=table,
        boundary=table,
        cost=np.zeros(n),
        budget=np.zeros(n),
        valid=np.ones(n, dtype=bool),
        status=np.array([Status.OK] * n, dtype=object),
        reason=np.array([""] * n, dtype=object),
        log_worst_case_odds=np.zeros(n),
        n_queries=np.ones(n, dtype=np.int64),
        x0=table,
        person=np.arange(n),
        rank=np.ones(n, dtype=np.int64),
        column_costs=np.zeros((n, p)),
        kinds=("number",) * p,
    )


# ---------------------------------------------------------------------------------------------- altered and damaged


@pytest.fixture(scope="module")
def document(lender):
    method, refused, _ = lender
    return json.loads(method.explain(refused[:6]).to_json())


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda d: d.pop("version"), "The document lacks 'version'"),
        (lambda d: d.update(version=1), "version 1 of the format"),
        (lambda d: d.update(version=True), r"version must be of the type int, got True"),
        (lambda d: d.pop("rows"), "The document lacks 'rows'"),
        (lambda d: d.update(rows={}), "rows must be of the type list"),
        (lambda d: d.pop("exact"), "The document lacks 'exact'"),
        (lambda d: d.pop("checksum"), "The document lacks 'checksum'"),
        (lambda d: d.pop("provenance"), "The document lacks 'provenance'"),
        (lambda d: d["provenance"][0].pop("seed"), "The provenance cannot be read"),
        (lambda d: d["rows"].__setitem__(2, 7), r"rows\[2\] must be an object, got int"),
        (lambda d: d["rows"][1].pop("status"), r"rows\[1\] lacks 'status'"),
        (lambda d: d["rows"][1].update(status="fine"), r"rows\[1\].status is 'fine', which is no status"),
        (lambda d: d["rows"][1].update(cost="much"), r"rows\[1\].cost must be a number, got 'much'"),
        (lambda d: d["rows"][1].update(cost=True), r"rows\[1\].cost must be a number, got True"),
        (lambda d: d["rows"][1].update(n_queries=10**30), r"rows\[1\].n_queries must be of the type int"),
        (lambda d: d["rows"][1].update(cost=10**400), r"rows\[1\].cost cannot be read"),
        (lambda d: d["rows"][1].update(valid=1), r"rows\[1\].valid must be of the type bool"),
        (lambda d: d["rows"][1].update(before=None), r"rows\[1\].before must be of the type dict"),
        (lambda d: d["rows"][1]["before"].pop("income"), r"rows\[1\].before must have the columns"),
        (
            lambda d: d["rows"][1]["before"].update(income=1.5),
            "table 'before' cannot be read: column 0: 1.5 is no value",
        ),
        (lambda d: d["rows"][1]["before"].update(income=2**70), "table 'before' cannot be read: column 0"),
        (lambda d: d["rows"][1]["before"].update(job="thief"), "'thief' is none of the categories"),
        (lambda d: d["rows"][1]["before"].update(since="soon"), "table 'before' cannot be read: column 6"),
        (lambda d: d["rows"][0]["changes"].append({"column": "x"}), r"names the column 'x', which is none of"),
        (lambda d: d["rows"][0]["changes"].append({}), r"rows\[0\].changes lacks 'column'"),
        (lambda d: d["columns"][0].pop("kind"), r"columns\[0\] lacks 'kind'"),
        (lambda d: d["exact"].update(table="excel"), "exact.table must be 'array', 'pandas' or 'polars', got 'excel'"),
        (lambda d: d["exact"].update(index=[3]), "exact.index must be an index of 6 labels"),
        (lambda d: d["exact"].update(index=[{"virus": 3}]), "exact.index cannot be read: .*unknown kind 'virus'"),
        (lambda d: d["exact"]["cells"]["after"].append([99, 0, [1]]), "exact.cells.after must have entries"),
        (lambda d: d["exact"]["types"].update(after=[3]), "table 'after' cannot be read"),
        (lambda d: d["rows"].pop(), "exact.index must be an index of 5 labels"),
        # What reads well, and is not what was written.
        (lambda d: d["rows"][0].update(cost=0.125), "checksum"),
        (lambda d: d["rows"][0].update(reason="Because."), "checksum"),
        (lambda d: d["rows"][0]["before"].update(income=11), "checksum"),
        (lambda d: d["rows"][0].update(n_queries=0), "checksum"),
        (lambda d: d["provenance"][0].update(method="Other"), "checksum"),
    ],
)
def test_what_is_wrong_with_a_document_is_named(document, spoil, message):
    altered = json.loads(json.dumps(document))
    spoil(altered)
    with pytest.raises(ValueError, match=message):
        Recourses.from_json(json.dumps(altered))
    if message != "checksum" and "checksum" in altered:
        altered["checksum"] = checksum(altered)
        with pytest.raises(ValueError, match=message):
            Recourses.from_json(json.dumps(altered))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_nothing_but_a_value_error_comes_of_any_alteration(document, data):
    altered = json.loads(json.dumps(document))
    place = altered
    while True:
        keys = sorted(place) if isinstance(place, dict) else range(len(place))
        if not keys:
            break
        key = data.draw(st.sampled_from(list(keys)))
        if not isinstance(place[key], dict | list) or data.draw(st.integers(0, 3)) == 0:
            place[key] = data.draw(st.sampled_from([None, True, -1, 10**30, 1.5, "x", [], [1, [2]], {}, {"a": 1}]))
            break
        place = place[key]
    altered["checksum"] = data.draw(st.sampled_from([altered.get("checksum"), checksum(altered)]))
    with suppress(ValueError):
        Recourses.from_json(json.dumps(altered))


@pytest.mark.parametrize("text", ["{", "{}", '{"version": 2}', "{" * 100_000])
def test_what_is_no_document_is_refused(text):
    with pytest.raises(ValueError, match="The document"):
        Recourses.from_json(text)


def test_how_a_document_is_laid_out_does_not_matter(lender):
    method, refused, _ = lender
    found = method.explain(refused[:2])
    other = json.dumps(json.loads(found.to_json()), indent=7, sort_keys=True, ensure_ascii=False)
    assert Recourses.from_json(other).equals(found)


def test_other_parquet_files_are_refused(lender, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    method, refused, _ = lender
    found, path = method.explain(refused[:3]), tmp_path / "a.parquet"
    with pytest.raises(FileNotFoundError, match="There is no file"):
        Recourses.from_parquet(path)
    path.write_bytes(b"PAR1")
    with pytest.raises(ValueError, match="no whole Parquet file"):
        Recourses.from_parquet(path)
    found.to_frame().to_parquet(path)
    with pytest.raises(ValueError, match="was not written by to_parquet"):
        Recourses.from_parquet(path)
    found.to_parquet(path)
    whole = path.read_bytes()
    place = json.loads(pq.read_metadata(path).metadata[b"robust-recourse"])
    with pq.ParquetFile(path) as file:
        table = file.read()

    def write(table, block, **other):
        content = io.BytesIO()
        with pq.ParquetWriter(content, table.schema) as writer:
            writer.write_table(table)
            facts = {**place, "at": content.tell(), **other}
            content.write(block)
            writer.add_key_value_metadata({"robust-recourse": json.dumps(facts)})
        path.write_bytes(content.getvalue())

    block = whole[place["at"] : place["at"] + place["bytes"]]
    write(table, block)
    assert Recourses.from_parquet(path).equals(found)
    for other in (
        table.slice(0, 2),
        table.set_column(table.column_names.index("cost"), "cost", pa.array([0.0, 1.0, 2.0])),
        table.rename_columns(["other", *table.column_names[1:]]),
    ):
        write(other, block)
        with pytest.raises(ValueError, match="a table that is not that of its recourses"):
            Recourses.from_parquet(path)
    for damage in ({"at": 0}, {"bytes": 3}, {"checksum": ""}, {"length": -1}):
        write(table, block, **damage)
        with pytest.raises(ValueError, match=r"a.parquet: the file has no whole result any more"):
            Recourses.from_parquet(path)
    odd = pa.compress(b"\x02" + bytes(7) + b"{}", codec="zstd", asbytes=True)
    write(table, odd, bytes=len(odd), length=10, checksum=hashlib.blake2b(odd, digest_size=16).hexdigest())
    with pytest.raises(ValueError, match=r"a.parquet: The block of recourses cannot be read"):
        Recourses.from_parquet(path)


@pytest.mark.parametrize("byte", [0.1, 0.5, 0.9])
def test_a_block_that_was_changed_is_refused(lender, tmp_path, byte):
    import pyarrow.parquet as pq

    method, refused, _ = lender
    path = tmp_path / "a.parquet"
    method.explain(refused[:3]).to_parquet(path)
    place = json.loads(pq.read_metadata(path).metadata[b"robust-recourse"])
    content = bytearray(path.read_bytes())
    content[place["at"] + int(byte * place["bytes"])] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match="no whole result any more"):
        Recourses.from_parquet(path)


def test_without_pyarrow_there_is_a_message(lender, tmp_path, monkeypatch):
    method, refused, _ = lender
    found = method.explain(refused[:1])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for call in (found.to_parquet, Recourses.from_parquet):
        with pytest.raises(ImportError, match=r"pip install 'robust-recourse\[parquet\]'"):
            call(tmp_path / "a.parquet")


@pytest.mark.parametrize("write", ["to_html", "to_json", "to_parquet", "to_html_files"])
def test_a_file_is_whole_or_as_it_was(lender, tmp_path, monkeypatch, write):
    method, refused, _ = lender
    found = method.explain(refused[:2])
    target = tmp_path if write == "to_html_files" else tmp_path / "file"
    getattr(found, write)(target)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert before

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_files.os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        getattr(found[:1], write)(target)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_what_cannot_be_stored_says_so():
    table = pd.DataFrame({"a": np.array([object(), object()])})
    with pytest.raises(TypeError, match=r"found.x0, column 'a'.*cannot be saved"):
        result_of(table).to_json()
