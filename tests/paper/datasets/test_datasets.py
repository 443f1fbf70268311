import subprocess
import sys

import numpy as np
import pytest

from robust_recourse.paper.datasets import NAMES, DatasetError, available, load

ALL = [
    ("german", {}),
    ("german", {"columns": "all"}),
    ("sba", {}),
    ("sba", {"present": "late", "leak": False}),
    ("gmc", {}),
    ("gmc", {"codes": "missing"}),
    ("synthetic", {}),
]


def check_actions(data):
    limits = data.actions.limits(data.columns)
    for frame in (data.X1, data.X2):
        for k, (column, kind) in enumerate(data.kinds.items()):
            if kind == "category":
                assert np.isinf([limits.lower[k], limits.upper[k]]).all()
            else:
                assert frame[column].between(limits.lower[k], limits.upper[k]).all(), column
    free = limits.rises | limits.falls
    assert 0 < free.sum() <= len(data.columns)


@pytest.mark.parametrize(("name", "options"), ALL)
def test_the_action_set_names_columns_that_exist_and_holds_every_real_row(real, name, options):
    data = real(name, **options)
    assert list(data.kinds) == data.columns
    check_actions(data)
    for text in (data.title, data.citation, data.licence, data.notes):
        assert text


def test_nobody_is_told_to_change_what_is_given(real):
    given = {
        "german": ["age", "personal_status_sex"],
        "sba": ["Recession", "ChgOffPrinGr", "New", "UrbanRural"],
        "gmc": ["age", "NumberOfDependents", "NumberOfTimes90DaysLate"],
    }
    for name, columns in given.items():
        data = real(name)
        limits = data.actions.limits(data.columns)
        for column in columns:
            k = data.columns.index(column)
            assert not limits.rises[k]
            assert not limits.falls[k]


def test_real_data_say_which_files_they_come_from(real):
    table = available().set_index("name")
    for name in NAMES:
        data = real(name)
        assert data.name == name
        assert bool(data.hashes) == (name != "synthetic")
        assert table.loc[name, ["rows_D1", "rows_D2"]].tolist() == [len(data.D1), len(data.D2)]
        assert table.loc[name, "title"] == data.title
        assert not str(table.loc[name, "found"]).startswith(("missing", "damaged"))


def test_unknown_names_and_options_are_answered_with_the_known_ones():
    with pytest.raises(ValueError, match="must be one of 'synthetic', 'german', 'sba', 'gmc', got 'adult'"):
        load("adult")
    with pytest.raises(ValueError, match="'sba' has no option 'columns'; it has leak, present, check_hash"):
        load("sba", columns="all")
    for name, option in (("german", "columns"), ("sba", "present"), ("gmc", "codes")):
        with pytest.raises(ValueError, match=f"{option} must be one of .*, got 'odd'"):
            load(name, **{option: "odd"})


def test_loading_never_downloads(cache, monkeypatch):
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("a connection was opened"))
    for name in ("german", "sba", "gmc"):
        with pytest.raises(DatasetError, match=f"robust-recourse datasets fetch {name}"):
            load(name)
    assert not cache.exists()


def test_the_list_says_what_is_missing_damaged_or_there(cache, put, expect):  # noqa: ARG001
    table = available().set_index("name")
    assert list(table.index) == list(NAMES)
    assert table["found"].tolist() == ["built in", "missing", "missing", "missing"]
    (source,) = expect("sba", "right")
    path = put(source.paths[0], "wrong")
    assert available().set_index("name").loc["sba", "found"] == f"damaged: {path}"
    put(source.paths[0], "right")
    assert available().set_index("name").loc["sba", "found"] == str(path)
    put("german_statlog/german.data", "half of it")
    assert available().set_index("name").loc["german", "found"] == "missing"


@pytest.mark.slow
def test_importing_the_package_does_not_import_what_downloads():
    code = "import sys, robust_recourse.paper.datasets; print([m for m in ('pooch', 'requests') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
