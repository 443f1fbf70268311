"""Pieces of finished work: whole, for one question only, and never used if they do not fit."""

import os
import signal
import subprocess
import sys

import pytest

from robust_recourse.checkpoints import CheckpointWarning, InUseError, Store
from robust_recourse.checkpoints import keys as keys_module

KEY, ANSWERS = "a1", "rows"


@pytest.fixture(params=[False, True], ids=["plain", "sealed"])
def store(request, tmp_path):
    return Store(tmp_path / "kept", sealed=request.param)


def test_a_piece_comes_back(store):
    assert store.read(KEY, ANSWERS) is None
    assert store.pieces() == []
    for content in (b"", b"\n\n", b"some\x00thing", bytes(range(256)) * 50):
        store.write(KEY, content, ANSWERS)
        assert store.read(KEY, ANSWERS) == content
    store.write("b2", b"other")
    assert store.pieces() == ["a1", "b2"]
    store.remove(["a1", "never"])
    assert store.pieces() == ["b2"]


def refused(store, *asked):
    with pytest.warns(CheckpointWarning, match="is not used, and computed again"):
        return store.read(*asked) is None


def test_every_byte_counts(store):
    store.write(KEY, b"content", ANSWERS)
    path = store.folder / "a1.piece"
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert refused(store, KEY, ANSWERS)
    for damaged in (b"", whole[:-1], whole + b"\n", whole[len(whole) // 2 :]):
        path.write_bytes(damaged)
        assert refused(store, KEY, ANSWERS)


def test_a_piece_answers_its_own_question_only(store):
    store.write(KEY, b"content", ANSWERS)
    assert refused(store, KEY, "other rows")
    assert refused(store, KEY)
    (store.folder / "a1.piece").rename(store.folder / "b2.piece")
    assert refused(store, "b2", ANSWERS)


def test_content_cannot_pass_for_a_header(store):
    store.write(KEY, b'{"key": "b2", "answers": ""}\nforged', ANSWERS)
    checksum, _, _ = (store.folder / "a1.piece").read_bytes().partition(b"\n")
    (store.folder / "b2.piece").write_bytes(checksum + b'\n{"key": "b2", "answers": ""}\nforged')
    assert refused(store, "b2")


def test_what_is_no_file_is_not_there(store):
    (store.folder / "a1.piece").mkdir(parents=True)
    assert store.read(KEY) is None


def test_a_seal_is_of_one_user(tmp_path, monkeypatch):
    ours, plain = Store(tmp_path, sealed=True), Store(tmp_path)
    plain.write(KEY, b"by anybody")
    assert refused(ours, KEY)
    ours.write(KEY, b"ours")
    assert ours.read(KEY) == b"ours"
    monkeypatch.setattr("robust_recourse.checkpoints.store.user_key", lambda: b"of somebody else")
    assert refused(ours, KEY)


def test_the_key_is_made_once_and_for_its_user_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("platformdirs.user_data_path", lambda _: tmp_path / "data")
    key = keys_module.user_key()
    path = tmp_path / "data" / "seal.key"
    assert path.read_bytes() == key
    assert len(key) == 32
    if os.name == "posix":
        assert path.stat().st_mode & 0o777 == 0o600
    keys_module._read.cache_clear()
    assert keys_module.user_key() == key
    assert [entry.name for entry in path.parent.iterdir()] == ["seal.key"]


def test_a_key_that_is_made_at_the_same_time_is_not_replaced(tmp_path):
    path = tmp_path / "seal.key"
    keys_module._make(path)
    first = path.read_bytes()
    keys_module._make(path)
    assert path.read_bytes() == first


def test_a_damaged_key_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("platformdirs.user_data_path", lambda _: tmp_path)
    (tmp_path / "seal.key").write_bytes(b"short")
    with pytest.raises(ValueError, match=r"seal\.key is damaged: remove it"):
        keys_module.user_key()


def test_without_a_place_for_the_key_nothing_is_used_again(tmp_path, monkeypatch):
    (tmp_path / "data").write_text("a file where a folder is wanted")
    monkeypatch.setattr("platformdirs.user_data_path", lambda _: tmp_path / "data" / "in")
    with pytest.warns(UserWarning, match="the next run trains models again"):
        key = keys_module.user_key()
    assert len(key) == 32
    keys_module._read.cache_clear()
    with pytest.warns(UserWarning, match="the next run trains models again"):
        assert keys_module.user_key() != key
    keys_module._read.cache_clear()


def test_one_writer_at_a_time_and_the_other_is_told_who(store):
    with store.writing():
        with pytest.raises(InUseError, match=rf"kept is in use: process {os.getpid()} on .* since 20.* writes there"):
            store.writing().__enter__()
        store.write(KEY, b"by the first")
        assert Store(store.folder, store.sealed).read(KEY) == b"by the first"
    with store.writing():
        assert (store.folder / "lock").exists()
    assert [path.name for path in store.folder.iterdir()] == ["a1.piece"]


def test_a_folder_that_was_made_for_nothing_goes(store):
    with store.writing():
        pass
    assert not store.folder.exists()
    store.folder.mkdir(parents=True)
    with store.writing():
        pass
    assert store.folder.exists()  # it is somebody's
    store.write(KEY, b"")
    with store.writing():
        store.remove([KEY])
    assert not store.folder.exists()


CODE = """
import sys, time; from pathlib import Path; from robust_recourse.checkpoints import Store
with Store(Path(sys.argv[1])).writing():
    print("locked", flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_killed_writer_is_in_nobodys_way(tmp_path):
    store = Store(tmp_path / "kept")
    with subprocess.Popen([sys.executable, "-c", CODE, str(store.folder)], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"locked\n"
        with pytest.raises(InUseError, match=rf"process {process.pid} on"):
            store.writing().__enter__()
        process.send_signal(signal.SIGKILL)
    assert (store.folder / "lock").exists()
    with store.writing():
        pass


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_a_lock_that_is_a_link_empties_nothing(tmp_path):
    (tmp_path / "dear").write_text("content")
    (tmp_path / "lock").symlink_to(tmp_path / "dear")
    with pytest.raises(OSError, match="lock"):
        Store(tmp_path).writing().__enter__()
    assert (tmp_path / "dear").read_text() == "content"


def test_a_file_system_without_locks_is_said(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")

    def no(*_):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", no)
    with pytest.warns(UserWarning, match="this file system has no locks"), Store(tmp_path).writing():
        pass


COUNT = """
import sys; from pathlib import Path; from robust_recourse.checkpoints import InUseError, Store
store, done = Store(Path(sys.argv[1])), 0
number = store.folder / "number"
while done < 50:
    try:
        with store.writing():
            number.write_text(str(int(number.read_text()) + 1))
            done += 1
    except InUseError:
        pass
"""


def test_many_writers_never_write_together(tmp_path):
    (tmp_path / "number").write_text("0")
    writers = [subprocess.Popen([sys.executable, "-c", COUNT, str(tmp_path)]) for _ in range(3)]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert (tmp_path / "number").read_text() == "150"
