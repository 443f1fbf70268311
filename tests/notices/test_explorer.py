"""The folder of the page, and the distributions behind it."""

import json
import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robust_recourse.notices import explorer


def data_of(folder):
    text = (folder / "data.js").read_text(encoding="utf-8")
    return json.loads(json.loads(re.fullmatch(r"globalThis\.recourseData = (.*);\n", text)[1]))


def test_a_folder_has_the_page_its_files_and_the_data(tmp_path):
    data = {"title": "</script>\u2028'\"\\", "__proto__": [1, None]}
    path = explorer.write_explorer(tmp_path / "new", data)
    assert path == tmp_path / "new" / "index.html"
    assert sorted(each.name for each in path.parent.iterdir()) == [
        ".notices.json",
        "data.js",
        "index.html",
        "page.css",
        "page.js",
    ]
    assert data_of(path.parent) == data
    assert (path.parent / "data.js").read_bytes().isascii()
    assert '<script src="data.js" defer></script>' in path.read_text(encoding="utf-8")
    assert "data.js" not in explorer.page()


def test_a_folder_is_written_again_and_files_of_others_are_left_alone(tmp_path):
    explorer.write_explorer(tmp_path, {"n": 1})
    explorer.write_explorer(tmp_path, {"n": 2})
    assert data_of(tmp_path) == {"n": 2}
    other = tmp_path / "other"
    other.mkdir()
    (other / "page.js").write_text("mine")
    for call in (lambda: explorer.write_explorer(other, {}), lambda: explorer.check_explorer(other)):
        with pytest.raises(FileExistsError, match=r"page\.js is there already"):
            call()
    assert (other / "page.js").read_text() == "mine"
    explorer.write_explorer(other, {}, overwrite=True)


def test_only_the_files_of_the_page_are_given():
    with pytest.raises(KeyError, match=r"has no file 'files\.py'"):
        explorer.asset("files.py")


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.booleans()), min_size=1, max_size=60))
def test_numbers_are_counted_between_the_edges(rows):
    values, accepted = np.array([value for value, _ in rows]), np.array([yes for _, yes in rows])
    (told,) = explorer.background(values[:, None], accepted)
    edges = np.array(told["edges"])
    assert (np.diff(edges) > 0).all()
    for side, who in (("accepted", accepted), ("refused", ~accepted)):
        inside = np.clip(values[who], edges[0], edges[-1])
        naive = [sum(low <= v < high or (v == high == edges[-1]) for v in inside) for low, high in pairwise(edges)]
        assert told[side] == naive
    assert sum(told["accepted"]) + sum(told["refused"]) == len(rows)


def test_categories_are_counted_and_gaps_are_not():
    table = pd.DataFrame(
        {"job": ["cook", None, "clerk", "cook"], "new": [True, False, True, True], "gap": [np.nan] * 4}
    )
    job, new, gap = explorer.background(table, np.array([True, True, False, False]))
    assert job == {"values": ["cook", "clerk"], "accepted": [1, 0], "refused": [1, 1]}
    assert new == {"values": [True, False], "accepted": [1, 1], "refused": [2, 0]}
    assert gap == {"edges": [], "accepted": [], "refused": []}
