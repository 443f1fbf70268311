"""Files that are not what they should be."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import zipfile

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from robust_recourse import ActionSet, NearestAccepted
from robust_recourse.saving import load, save

ROWS = np.array([[0.0, 0.0], [3.0, 1.0], [1.0, 4.0]])


def model(X):
    return X.sum(axis=1) > 2


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A small file, and its bytes."""
    path = tmp_path_factory.mktemp("saved") / "loans.recourse"
    save(NearestAccepted(model, ActionSet(immutable=[0])).fit(ROWS), path, include_model=False)
    return path, path.read_bytes()


def rewritten(saved, path, change):
    """Write the file anew with other plain data."""
    with zipfile.ZipFile(io.BytesIO(saved[1])) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "method.json":
                data = json.loads(content)
                change(data)
                content = json.dumps(data)
            new.writestr(name, content)
    return path


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.recourse"):
        load(tmp_path / "nowhere.recourse")


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("the pickle was opened",))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_recognised_and_not_opened(protocol, tmp_path):
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(Bomb(), protocol))
    with pytest.raises(ValueError, match=r"model\.pkl is a pickle, as pickle and joblib write them.*not opened"):
        load(path)


@pytest.mark.parametrize("compress", [0, ("zlib", 3), ("gzip", 3), ("bz2", 3), ("xz", 3), ("lzma", 3)])
def test_a_file_of_joblib_is_recognised_and_not_opened(compress, tmp_path):
    path = tmp_path / "model.joblib"
    joblib.dump({"array": np.ones(500), "bomb": Bomb()}, path, compress=compress)
    with pytest.raises(ValueError, match=r"model\.joblib is a .* as (pickle and )?joblib write"):
        load(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"age,income\n31,44\n", "is no method of recourse"),
        (b'{"format": 1}', "is no method of recourse"),
        (gzip.compress(b"age,income", mtime=0), "is a compressed file"),
    ],
)
def test_another_file_is_recognised(content, message, tmp_path):
    path = tmp_path / "train.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"train\.csv {message}.*Give a file that robust_recourse\.save wrote"):
        load(path)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (["schema.json", "1.npy"], "is a file of skops but no method of recourse"),
        (["archive/data.pkl", "archive/version"], "is a file of torch, which holds a pickle"),
        (["word/document.xml"], "is a zip archive of something else"),
    ],
)
def test_another_archive_is_recognised(members, message, tmp_path):
    path = tmp_path / "other.zip"
    with zipfile.ZipFile(path, "w") as file:
        for name in members:
            file.writestr(name, "{}")
    with pytest.raises(ValueError, match=message):
        load(path)


def test_a_model_of_skops_is_recognised(tmp_path):
    skops = pytest.importorskip("skops.io")
    path = tmp_path / "model.skops"
    skops.dump(LogisticRegression(), path)
    with pytest.raises(ValueError, match=r"model\.skops is a file of skops but no method of recourse"):
        load(path)


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_a_truncated_file_is_recognised(data, saved, tmp_path_factory):
    path = tmp_path_factory.mktemp("cut") / "cut.recourse"
    path.write_bytes(saved[1][: data.draw(st.integers(0, len(saved[1]) - 1))])
    with pytest.raises(ValueError, match=r"cut\.recourse is (empty|no method|damaged or incomplete)"):
        load(path, model=model)


@settings(deadline=None, max_examples=100)
@given(data=st.data())
def test_a_changed_byte_is_found_or_changes_nothing(data, saved, tmp_path_factory):
    content = bytearray(saved[1])
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    path = tmp_path_factory.mktemp("changed") / "changed.recourse"
    path.write_bytes(content)
    try:
        method = load(path, model=model)
    except ValueError as error:
        assert "changed.recourse" in str(error)  # noqa: PT017
    else:
        assert method.explain([[0.5, 0.5]]).x.tolist() == [[0.5, 4.0]]


def test_a_file_of_a_newer_release_says_so(saved, tmp_path):
    def change(data):
        data["format"] = 3
        data["versions"]["robust-recourse"] = "9.1.0"
        data["parameters"] = "in a way that nobody knows yet"

    with pytest.raises(ValueError, match=r"saved by a newer release, robust-recourse 9\.1\.0; this is .*--upgrade"):
        load(rewritten(saved, tmp_path / "new.recourse", change), model=model)


def test_a_file_of_an_unknown_method_says_so(saved, tmp_path):
    path = rewritten(saved, tmp_path / "new.recourse", lambda data: data.update(method="Oracle"))
    with pytest.raises(ValueError, match="a method of the class 'Oracle', which is not part of robust-recourse"):
        load(path, model=model)


@pytest.mark.parametrize(
    "change",
    [
        dict.clear,
        lambda data: data.update(format="one"),
        lambda data: data.pop("learnt"),
        lambda data: data["parameters"].update(surprise=1),
        lambda data: data["learnt"].update(candidates_={"array": 99}),
        lambda data: data["learnt"].update(candidates_={"pickle": "c__builtin__"}),
        lambda data: data["learnt"].update(candidates_={}),
        lambda data: data["learnt"].update(explain=None),
        lambda data: data["learnt"].update(seed_={"dtype": {"dict": [["text", "no such type"]]}}),
    ],
    ids=["empty", "format", "missing", "parameter", "array", "kind", "no kind", "attribute", "type"],
)
def test_data_that_make_no_sense_are_called_damaged(change, saved, tmp_path):
    path = rewritten(saved, tmp_path / "odd.recourse", change)
    with pytest.raises(ValueError, match=r"odd\.recourse is damaged or incomplete \(.*\)\. Save the method again"):
        load(path, model=model)


def test_a_name_in_a_file_calls_nothing(saved, tmp_path):
    def change(data):
        data["parameters"]["random_state"] = {"generator": {"dict": [["bit_generator", "seed"]]}}

    path, before = rewritten(saved, tmp_path / "odd.recourse", change), np.random.get_state()[1].copy()  # noqa: NPY002
    with pytest.raises(ValueError, match="unknown type 'seed'"):
        load(path, model=model)
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


def test_arrays_with_objects_are_not_opened(saved, tmp_path):
    path = tmp_path / "objects.recourse"
    content = io.BytesIO()
    np.save(content, np.array([Bomb()], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(io.BytesIO(saved[1])) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            new.writestr(name, content.getvalue() if name == "arrays/0.npy" else old.read(name))
    with pytest.raises(ValueError, match="damaged or incomplete"):
        load(path, model=model)
