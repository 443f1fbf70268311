import json
import sys

import numpy as np
import pytest

from robust_recourse.notices.folder import NoticeFolder, file_names

MANIFEST = ".notices.json"


def write(folder, pages, overwrite=False):
    with NoticeFolder(folder).writing(list(pages), overwrite=overwrite) as put:
        for name, text in pages.items():
            put(name, text)


def held(folder):
    return {path.name: path.read_text("utf-8") for path in folder.iterdir() if path.name != MANIFEST}


def test_what_an_earlier_run_wrote_is_replaced_or_removed(tmp_path):
    folder = tmp_path / "new" / "notices"
    write(folder, {"index.html": "1", "notice-a.html": "1", "notice-b.html": "1"})
    (folder / "notice-mine.html").write_text("mine", "utf-8")
    (folder / "read me.txt").write_text("mine", "utf-8")
    write(folder, {"index.html": "2", "notice-b.html": "2", "notice-c.html": "2"})
    assert held(folder) == {
        "index.html": "2",
        "notice-b.html": "2",
        "notice-c.html": "2",
        "notice-mine.html": "mine",
        "read me.txt": "mine",
    }


@pytest.mark.parametrize("name", ["index.html", "notice-a.html"])
def test_files_that_nobody_wrote_are_not_replaced(tmp_path, name):
    pages = {"index.html": "new", "notice-a.html": "new"}
    (tmp_path / name).write_text("mine", "utf-8")
    with pytest.raises(FileExistsError, match=f"{name} is there already, and no earlier run wrote it.*overwrite=True"):
        write(tmp_path, pages)
    assert held(tmp_path) == {name: "mine"}
    write(tmp_path, pages, overwrite=True)
    assert held(tmp_path) == pages
    write(tmp_path, pages | {"index.html": "newer"})
    assert held(tmp_path)["index.html"] == "newer"


def test_a_link_is_a_file_that_nobody_wrote(tmp_path):
    (tmp_path / "index.html").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileExistsError, match="no earlier run wrote it"):
        NoticeFolder(tmp_path).check()


def test_what_a_run_wrote_before_it_was_killed_belongs_to_the_next(tmp_path):
    write(tmp_path, {"index.html": "1", "notice-a.html": "1"})
    killed = NoticeFolder(tmp_path).writing(["index.html", "notice-b.html", "notice-c.html"], overwrite=False)
    killed.__enter__()("notice-b.html", "2")
    assert held(tmp_path) == {"index.html": "1", "notice-a.html": "1", "notice-b.html": "2"}
    write(tmp_path, {"index.html": "3", "notice-c.html": "3"})
    assert held(tmp_path) == {"index.html": "3", "notice-c.html": "3"}


@pytest.mark.parametrize(
    "manifest",
    [
        "no JSON",
        "[]",
        "{}",
        '{"files": 5}',
        '{"files": [5]}',
        100_000 * "[",
        json.dumps(
            {"files": ["../precious.html", "/precious.html", "notice-../x.html", "read me.txt", ".notices.json"]}
        ),
    ],
)
def test_a_manifest_that_is_not_ours_names_nothing(tmp_path, manifest):
    folder = tmp_path / "notices"
    folder.mkdir()
    others = {"read me.txt": "mine"}
    (tmp_path / "precious.html").write_text("mine", "utf-8")
    (folder / "read me.txt").write_text("mine", "utf-8")
    (folder / MANIFEST).write_text(manifest, "utf-8")
    write(folder, {"index.html": "new"})
    assert held(folder) == {"index.html": "new", **others}
    assert (tmp_path / "precious.html").read_text("utf-8") == "mine"


def steps(labels):
    """Count the lines that run while names are made."""
    count = 0

    def trace(frame, event, _):
        nonlocal count
        count += event == "line" and frame.f_code.co_filename == file_names.__code__.co_filename
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        assert len(set(file_names(labels))) == len(labels)
    finally:
        sys.settrace(before)
    return count


def test_names_of_many_labels_without_ascii_take_linear_work():
    counts = [steps(["\u05e9" * (1 + k % 7) for k in range(n)]) for n in (100, 200, 400)]
    assert np.ptp(np.diff(counts) / [100, 200]) < 0.1


def test_names_are_made_of_labels():
    labels = ["a", "a-2", "A", "a", "\u05e9", "row", "row-2", "\u05d0", 17]
    assert file_names(labels) == [
        f"notice-{stem}.html" for stem in ("a", "a-2", "A-3", "a-4", "row", "row-2", "row-2-2", "row-3", "17")
    ]
