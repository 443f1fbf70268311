"""A disk that is full, and a folder that nobody may write to."""

import os
import re
import shutil
import subprocess

import pytest

from .conftest import COMMANDS, FILES, Desk, moments

NAMED = r"robust-recourse: \S*(out\.csv|tuned\.toml|results|page)\S*: No space left on device\n"
SAVE = """
import numpy as np
from robust_recourse import NearestAccepted, save
rows = np.random.default_rng(0).normal(size=(400, 2))
method = NearestAccepted(lambda X: X.sum(axis=1) > {least}).fit(rows)
try:
    save(method, "method.zip", include_model=False)
except OSError as error:
    assert str(error.filename).endswith("method.zip"), error
    raise SystemExit(2)
"""


@pytest.mark.parametrize("name", COMMANDS)
def test_when_the_disk_is_full_the_file_is_named_and_nothing_is_lost(desks, whole, name):
    expected, steps = whole(name)
    for at in moments(f"full {name}", steps, 4 if name == "explain" else 1):
        desk = desks()
        said = desk.start(name, happening="full", at=at)
        code, line = said.wait(), said.err()
        if code == 0:  # only files were removed after this step
            assert at > steps // 2
        else:
            assert code == 2
            assert re.fullmatch(NAMED, line)
            assert not [path for path in desk.folder.rglob(".robust-recourse-*") if path.is_file()]
        desk.run(name)
        assert desk.result(name) == expected
        assert desk.tidy(name)


def test_a_result_that_is_there_survives_a_full_disk(desks, whole):
    _, steps = whole("explain")
    for at in range(1, steps, 9):
        desk = desks()
        old = desk.folder / "out.csv"
        old.write_text("old", encoding="utf-8")
        if desk.start("explain", happening="full", at=at).wait():
            assert old.read_text(encoding="utf-8") == "old"
        else:
            assert desk.result("explain") == whole("explain")[0]


def test_an_older_method_survives_a_full_disk(desk):
    path = desk.folder / "method.zip"
    first = desk.start(code=SAVE.format(least=0.0))
    assert first.wait() == 0, first.err()
    whole, steps = path.read_bytes(), first.steps()
    for at in range(1, steps + 1):
        running = desk.start(code=SAVE.format(least=0.5), happening="full", at=at)
        assert running.wait() == 2, running.err()
        assert path.read_bytes() == whole
        assert [entry.name for entry in desk.folder.glob("*method*")] == ["method.zip"]
    running = desk.start(code=SAVE.format(least=0.5), happening="kill", at=steps)
    assert running.wait() == -9
    assert path.read_bytes() == whole
    assert desk.start(code=SAVE.format(least=0.5)).wait() == 0
    assert path.read_bytes() != whole
    assert desk.tidy("save")


@pytest.mark.parametrize("largest", [0, 1, 500, 2000])
def test_an_older_method_survives_a_write_that_ends_in_the_middle(desk, largest):
    path = desk.folder / "method.zip"
    assert desk.start(code=SAVE.format(least=0.0)).wait() == 0
    whole = path.read_bytes()
    assert len(whole) > 2000
    assert desk.start(code=SAVE.format(least=0.5), largest=largest).wait() == 2
    assert path.read_bytes() == whole
    assert desk.tidy("save")


def test_a_result_survives_a_write_that_ends_in_the_middle(desk, whole):
    path = desk.folder / "out.csv"
    path.write_text("old", encoding="utf-8")
    for largest in (500, 1000):  # the line that says so is a file, too
        said = desk.run("explain", code=2, largest=largest).err()
        assert re.fullmatch(r"robust-recourse: \S*out\.csv\S*: File too large\n", said)
        assert path.read_text(encoding="utf-8") == "old"
    desk.run("explain")
    assert desk.result("explain") == whole("explain")[0]
    assert desk.tidy("explain")


@pytest.fixture
def small_disk(shelf, starter, tmp_path):
    """A file system of its own, of half a megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(place)]
    possible = not os.geteuid() and shutil.which("mount") is not None
    if not possible or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a small file system, and not everywhere")
    try:
        shutil.copytree(shelf, place / "desk")
        yield Desk(starter, place / "desk")
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill(path, keep):
    """Write until the disk is full, and leave some room."""
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 1024)
        except OSError:
            pass
    os.truncate(path, max(path.stat().st_size - keep, 0))


@pytest.mark.parametrize("room", [0, 8_000, 24_000])
def test_a_small_disk_that_is_really_full(small_disk, whole, room):
    desk = small_disk
    (desk.folder / "out.csv").write_text("old", encoding="utf-8")
    fill(desk.folder / "filling", room)
    running = desk.start("explain", said=str(desk.folder.parent.parent / "said"))
    code, line = running.wait(), running.err()
    (desk.folder / "filling").unlink()
    assert code == 2
    assert re.fullmatch(NAMED, line)
    assert (desk.folder / "out.csv").read_text(encoding="utf-8") == "old"
    again = desk.start("explain", said=str(desk.folder.parent.parent / "said"))
    assert again.wait() == 0, again.err()
    assert desk.result("explain") == whole("explain")[0]
    assert desk.tidy("explain")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_folder_that_is_read_only(small_disk, name):
    desk = small_disk
    subprocess.run(["mount", "-o", "remount,ro", str(desk.folder.parent)], check=True)
    running = desk.start(name, said=str(desk.folder.parent.parent / "said"))
    assert running.wait() == 2
    assert running.err().count("\n") == 1
    assert "Read-only file system" in running.err()


def test_a_folder_that_cannot_be_written_to_stops_before_the_work(desk):
    """The same without a mount: what cannot be made is a folder below a file."""
    command = f"explain {FILES} --refused refused.csv --label outcome --id person --out model.skops/out.csv".split()
    running = desk.start("explain", command=command)
    assert running.wait() == 2
    assert "model.skops" in running.err()
    assert running.err().count("\n") == 1
