"""Files are whole or not there, whatever happens while they are written."""

import errno
import os
import subprocess
import sys

import pytest

from robust_recourse import _files
from robust_recourse._files import replacing, write_atomically


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_text_and_bytes_are_written_as_they_are(tmp_path):
    write_atomically(tmp_path / "new" / "text", "über\r\n\n")
    assert (tmp_path / "new" / "text").read_bytes() == "über\r\n\n".encode()
    write_atomically(str(tmp_path / "bytes"), b"\x00\xff")
    assert (tmp_path / "bytes").read_bytes() == b"\x00\xff"


ERRORS = {
    "a full disk": lambda: OSError(errno.ENOSPC, "full"),
    "a bad value": ValueError,
    "Ctrl-C": KeyboardInterrupt,
    "an end": SystemExit,
}


@pytest.mark.parametrize("what", ERRORS)
@pytest.mark.parametrize("where", ["writing", "fsync", "replace"])
def test_whatever_goes_wrong_the_old_file_stays_and_nothing_else(tmp_path, monkeypatch, what, where):
    write_atomically(tmp_path / "file", "before")
    error = ERRORS[what]()

    def fail(*_):
        raise error

    def write():
        with replacing(tmp_path / "file") as path:
            path.write_text("half")
            if where == "writing":
                fail()

    if where != "writing":
        monkeypatch.setattr(os, where, fail)
    with pytest.raises(type(error)) as caught:
        write()
    assert names(tmp_path) == ["file"]
    assert (tmp_path / "file").read_text() == "before"
    if isinstance(error, OSError):
        assert caught.value.filename == str(tmp_path / "file")


def test_an_error_about_another_file_names_that(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, replacing(tmp_path / "file"):
        (tmp_path / "missing").read_text()
    assert caught.value.filename == str(tmp_path / "missing")


def test_nobody_sees_half_a_file(tmp_path):
    with replacing(tmp_path / "file") as path:
        path.write_text("half")
        assert not (tmp_path / "file").exists()
        assert path.parent == tmp_path
    assert (tmp_path / "file").read_text() == "half"


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_new_files_and_folders_are_for_their_owner_alone_and_old_files_keep_their_permissions(tmp_path, mask):
    before = os.umask(mask)
    try:
        write_atomically(tmp_path / "a" / "b" / "new", "")
    finally:
        os.umask(before)
    new = tmp_path / "a" / "b" / "new"
    assert new.stat().st_mode & 0o777 == 0o600
    assert [path.stat().st_mode & 0o777 for path in (tmp_path / "a", tmp_path / "a" / "b")] == [0o700, 0o700]
    new.chmod(0o644)
    write_atomically(new, "again")
    assert new.stat().st_mode & 0o777 == 0o644


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "file")
    write_atomically(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "file").read_text() == "new"


@pytest.mark.skipif(os.name != "posix", reason="only there it is known who is alive")
def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path):
    code = (
        "import os, signal, sys; from robust_recourse._files import replacing\n"
        "with replacing(sys.argv[1]) as path:\n"
        "    path.write_text('half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "file")], check=False)
    assert len(names(tmp_path)) == 1
    with replacing(tmp_path / "other") as mine:  # of somebody who is alive
        (tmp_path / ".robust-recourse-somewhere-1-else").touch()  # of another machine
        (tmp_path / ".mine").touch()
        _files._sweep.cache_clear()
        write_atomically(tmp_path / "file", "whole")
        assert mine.exists()
    assert names(tmp_path) == [".mine", ".robust-recourse-somewhere-1-else", "file", "other"]
