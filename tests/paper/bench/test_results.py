import json

import numpy as np
import pandas as pd
import pytest

from robust_recourse import _provenance as provenance
from robust_recourse._files import part_key
from robust_recourse._provenance import source
from robust_recourse.checkpoints import CheckpointWarning
from robust_recourse.paper.bench.results import ResultFolder

ROWS = pd.DataFrame({"dataset": ["synthetic"] * 2, "variant": ["", ""], "cost": [0.1 + 0.2, np.nan], "row": [3, 4]})


@pytest.mark.parametrize("table_format", ["csv", "parquet"])
def test_the_table_joins_parts_in_order_and_keeps_every_bit(tmp_path, table_format):
    folder = ResultFolder(tmp_path / "new", table_format)
    folder.write_part("b", ROWS)
    folder.write_part("a", ROWS.assign(row=[1, 2]))
    returned = folder.write_table(["b", "a"])
    path = tmp_path / "new" / f"results.{table_format}"
    table = pd.read_csv(path, keep_default_na=False, na_values=[""]) if table_format == "csv" else pd.read_parquet(path)
    assert list(returned["row"]) == list(table["row"])
    assert list(table["row"]) == [3, 4, 1, 2]
    np.testing.assert_array_equal(table["cost"], [0.1 + 0.2, np.nan] * 2)
    assert list(folder.read_part("a")["variant"]) == ["", ""]
    assert folder.read_part("c") is None


def test_keys_differ_as_soon_as_a_fact_does():
    facts = ("case", {"a": 1, "b": [0.1]}, 0)
    assert part_key(*facts) == part_key("case", {"b": [0.1], "a": 1}, 0)
    others = [("case", {"a": 1, "b": [0.2]}, 0), ("case", {"a": 1, "b": [0.1]}, 1), ("fold", {"a": 1, "b": [0.1]}, 0)]
    assert part_key(*facts) not in {part_key(*other) for other in others}


def test_provenance_is_json(tmp_path):
    path = ResultFolder(tmp_path).write_provenance({"seeds": (0, 1), "out": tmp_path})
    assert json.loads(path.read_text(encoding="utf-8")) == {"seeds": [0, 1], "out": str(tmp_path)}


def test_unknown_formats_and_missing_libraries_raise(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="format must be one of 'csv', 'parquet'"):
        ResultFolder(tmp_path, "xlsx")
    monkeypatch.setattr("robust_recourse.paper.bench.results.find_spec", lambda _: None)
    with pytest.raises(ImportError, match=r"robust-recourse\[parquet\]"):
        ResultFolder(tmp_path, "parquet")


def test_the_fingerprint_follows_the_code_that_computes_and_not_what_shows(tmp_path, monkeypatch):
    package = tmp_path / "robust_recourse"
    (package / "report").mkdir(parents=True)
    monkeypatch.setattr(provenance, "__file__", str(package / "_provenance.py"))
    (package / "metrics.py").write_text("a = 1", encoding="utf-8")
    first = source.__wrapped__()
    (package / "report" / "page.py").write_text("b = 1", encoding="utf-8")
    assert source.__wrapped__() == first
    (package / "metrics.py").write_text("a = 2", encoding="utf-8")
    assert source.__wrapped__() != first


@pytest.mark.parametrize("damage", [lambda text: text[:-9], lambda _: b"", lambda text: text.replace(b"3", b"5")])
def test_a_damaged_part_counts_as_missing(tmp_path, damage):
    folder = ResultFolder(tmp_path)
    folder.write_part("a", ROWS)
    path = tmp_path / "parts" / "a.piece"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.warns(CheckpointWarning, match=r"a\.piece is not used"):
        assert folder.read_part("a") is None
    with (
        pytest.warns(CheckpointWarning, match=r"a\.piece is not used"),
        pytest.raises(ValueError, match=r"parts: finished parts are lost or damaged\. Run again"),
    ):
        folder.write_table(["a"])
    folder.write_part("a", ROWS)
    assert list(folder.read_part("a")["row"]) == [3, 4]


def test_a_part_that_is_no_table_counts_as_missing(tmp_path):
    folder = ResultFolder(tmp_path)
    folder.parts.write("a", b'"')
    with pytest.warns(CheckpointWarning, match=r"a\.piece is not used"):
        assert folder.read_part("a") is None


def test_names_that_look_like_numbers_stay_texts(tmp_path):
    folder = ResultFolder(tmp_path)
    folder.write_part("a", ROWS.assign(method="01", variant="1"))
    assert list(folder.read_part("a")["method"]) == ["01", "01"]
    assert list(folder.read_part("a")["variant"]) == ["1", "1"]
