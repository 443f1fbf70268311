"""Files that others made: those that claim too much are not unpacked."""

import io
import json
import tracemalloc
import zipfile

import numpy as np
import pytest

from robust_recourse import NearestAccepted, load, save
from robust_recourse._archives import check_size
from robust_recourse.models.files import read_model

MEGABYTE = 2**20


def zipped(members, compression=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return buffer.getvalue()


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Files for tests: what is harmless is small."""
    monkeypatch.setattr("robust_recourse._archives._HARMLESS", 4 * MEGABYTE)


@pytest.fixture(scope="module")
def zeros():
    """Sixty-four megabytes in seventy kilobytes."""
    return zipped({"0.npy": bytes(64 * MEGABYTE)})


def refuse(path, read):
    """Reading fails with the name of the file, and needs little memory for that."""
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=f"{path.name}.*far more than such a file should"):
            read(path)
        assert tracemalloc.get_traced_memory()[1] < 16 * MEGABYTE
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("nested", ["at once", "in its model", "in its arrays"])
def test_a_method_that_unpacks_to_a_thousand_times_its_size(tmp_path, zeros, nested):
    path = tmp_path / "method.zip"
    if nested == "at once":
        path.write_bytes(_with(zeros, "method.json", b"{}"))
    elif nested == "in its model":
        path.write_bytes(zipped({"method.json": "{}", "model.skops": zeros}))
    else:
        inner = zipped({"schema.json": "{}", "sparse.npz": zeros})
        path.write_bytes(zipped({"method.json": "{}", "model.skops": inner}))
    assert path.stat().st_size < MEGABYTE // 5
    refuse(path, load)


def _with(content, name, more):
    buffer = io.BytesIO(content)
    with zipfile.ZipFile(buffer, "a") as file:
        file.writestr(name, more)
    return buffer.getvalue()


def test_a_model_that_unpacks_to_a_thousand_times_its_size(tmp_path, zeros):
    pytest.importorskip("skops.io")  # now: it needs memory of its own
    path = tmp_path / "model.skops"
    path.write_bytes(_with(zeros, "schema.json", b"{}"))
    refuse(path, read_model)


def test_members_that_share_their_bytes_count_each(tmp_path):
    """Many names for one content, which is how a small file can claim everything."""
    content = zipped({"a": bytes(3 * MEGABYTE)})
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        (member,) = file.infolist()
    start = content.index(b"PK\x01\x02")
    end = content.index(b"PK\x05\x06")
    entry, tail = content[start:end], bytearray(content[end:])
    many = 100
    tail[8:12] = many.to_bytes(2, "little") * 2
    tail[12:16] = (len(entry) * many).to_bytes(4, "little")
    path = tmp_path / "method.zip"
    path.write_bytes(content[:start] + entry * many + bytes(tail))
    assert member.file_size == 3 * MEGABYTE
    refuse(path, load)


def test_an_array_that_claims_to_be_larger_than_it_is(tmp_path):
    path = tmp_path / "method.zip"
    method = NearestAccepted(lambda X: X[:, 0] > 0.0).fit(np.array([[1.0, 2.0], [-1.0, 0.0]]))
    save(method, path, include_model=False)
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    content = io.BytesIO()
    np.lib.format.write_array_header_1_0(content, {"descr": "<f8", "fortran_order": False, "shape": (10**10, 2)})
    name = next(name for name in members if name.startswith("arrays/"))
    members[name] = content.getvalue()
    path.write_bytes(zipped(members))
    with pytest.raises(ValueError, match=r"method\.zip is damaged.*claims to have the shape \(10000000000, 2\)"):
        load(path, model=lambda X: X[:, 0] > 0.0)


def test_what_is_saved_can_be_loaded_however_well_it_shrinks(tmp_path):
    rows = np.ones((20_000, 60))
    rows[0] = -1.0
    path = tmp_path / "method.zip"
    save(NearestAccepted(_positive).fit(rows), path, include_model=False)
    again = load(path, model=_positive)
    assert again.candidates_.shape == (19_999, 60)


def _positive(X):
    return X[:, 0] > 0.0


def test_nesting_without_end_is_damage(tmp_path):
    content = json.dumps({"format": 1}).encode()
    for _ in range(1500):
        content = zipped({"a.zip": content}, zipfile.ZIP_STORED)
    path = tmp_path / "method.zip"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"method\.zip is damaged or incomplete"):
        load(path)


def test_small_archives_may_shrink_as_they_like():
    check_size(zipped({"a": bytes(3 * MEGABYTE)}))
