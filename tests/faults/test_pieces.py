"""Pieces that were removed, swapped, altered or forged are not used."""

import json
import pickle
import shutil

import numpy as np
import pytest

from robust_recourse.checkpoints import Store

from .conftest import KEPT, KILL


@pytest.fixture
def kept(desk):
    """Kill a command when some of its work is done; return its pieces."""

    def kill(name):
        desk.run(name, happening="kill", pieces=2, code=-KILL)
        return sorted((desk.folder / KEPT[name]).glob("*.piece"))

    return kill


def remove(pieces):
    pieces[0].unlink()


def swap(pieces):
    first = pieces[0].read_bytes()
    pieces[0].write_bytes(pieces[1].read_bytes())
    pieces[1].write_bytes(first)


def copy(pieces):
    shutil.copy(pieces[0], pieces[1])


def cut(pieces):
    pieces[1].write_bytes(pieces[1].read_bytes()[:-7])


def empty(pieces):
    pieces[0].write_bytes(b"")


def alter(pieces):
    content = bytearray(pieces[0].read_bytes())
    content[-5] ^= 1
    pieces[0].write_bytes(content)


def header(pieces):
    """Keep the content under the header of another piece."""
    one, other = (piece.read_bytes().split(b"\n", 2) for piece in pieces[:2])
    pieces[0].write_bytes(b"\n".join([*one[:2], other[2]]))


FAULTS = [remove, swap, copy, cut, empty, alter, header]


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        *(("explain", fault) for fault in FAULTS),
        *((name, fault) for name in ("tune", "experiment", "reproduce") for fault in (swap, alter)),
    ],
)
def test_what_does_not_fit_is_done_again_with_a_word(desk, whole, kept, name, fault):
    fault(kept(name))
    said = desk.run(name).err()
    assert desk.result(name) == whole(name)[0]
    assert desk.tidy(name)
    if fault is remove:
        assert said == ""
    else:
        assert "robust-recourse: warning: " in said
        assert ".piece is not used, and computed again: " in said
        assert said.count("\n") == (2 if fault is swap else 1)


FORGED = [
    b"",
    b"\x00" * 50,
    b"null",
    b"[NaN, NaN]",
    b"[[NaN],[NaN],[NaN],NaN]",
    b"PK\x03\x04" + b"\xff" * 60,
    b"[" * 10**5,
]


@pytest.mark.parametrize("content", FORGED, ids=lambda content: repr(content[:12]))
def test_nonsense_with_a_checksum_is_done_again_with_a_word(desk, whole, kept, content):
    for piece in kept("explain"):
        answers = json.loads(piece.read_bytes().split(b"\n", 2)[1])["answers"]
        Store(piece.parent).write(piece.stem, content, answers)
    said = desk.run("explain").err()
    assert said.count(".piece is not used, and computed again: ") == said.count("\n") == 2
    assert desk.result("explain") == whole("explain")[0]


def test_the_recourses_of_others_are_not_used_for_another_table(desk, whole, kept):
    """Whoever has another row in the same place does not get what was found for it."""
    pieces = kept("explain")
    table = desk.folder / "refused.csv"
    lines = table.read_text(encoding="utf-8").splitlines()
    order = np.random.default_rng(0).permutation(len(lines) - 1)
    table.write_text("\n".join([lines[0], *(lines[1 + i] for i in order)]) + "\n", encoding="utf-8")
    desk.run("explain")
    found = (desk.folder / "out.csv").read_text(encoding="utf-8").splitlines()
    assert found != whole("explain")[0]
    expected = {line.split(",", 1)[1] for line in whole("explain")[0]["out.csv"].splitlines()}
    assert {line.split(",", 1)[0] for line in found[1:]} == {f"{i:03d}" for i in range(20)}
    assert len(expected) == len(found)
    assert pieces[0].exists()  # of another question, which may be continued


class Boom:
    """Would leave a file behind if it were opened."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


@pytest.mark.parametrize("name", ["tune", "experiment"])
def test_no_pickle_of_somebody_else_is_opened(desk, whole, kept, name, tmp_path):
    kept(name)
    forged = pickle.dumps(Boom(tmp_path / "it was opened"))
    folders = {path.parent for path in desk.folder.rglob("*.piece") if "cache" in str(path) or "models" in str(path)}
    (folder,) = folders
    for piece in folder.glob("*.piece"):
        Store(folder).write(piece.stem, forged)
    # What else might be read there.
    (folder.parent / "case.joblib").write_bytes(forged)
    for part in desk.folder.rglob("parts/*.piece"):
        part.unlink()
    said = desk.run(name).err()
    assert "this user has not written it like that" in said
    assert desk.result(name) == whole(name)[0]
    assert not (tmp_path / "it was opened").exists()
