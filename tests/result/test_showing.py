"""Results in a notebook."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from robust_recourse import NearestAccepted
from robust_recourse.result import Recourses, Status


class Reader(HTMLParser):
    """Reads a piece of a page, and fails where elements are not closed in order."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.rows = [], [], []
        self.text = ""
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


@pytest.fixture
def found():
    method = NearestAccepted(lambda X: X[:, 0] - 0.1 * X[:, 1] > 1000.0).fit(np.array([[2050.0, 24.0], [900.0, 36.0]]))
    return method.explain(np.array([[1200.0, 24.0], [1000.0, 36.0], [3000.0, 6.0]]))


def test_a_notebook_shows_status_cost_and_changes(found):
    read = Reader(found._repr_html_())
    assert read.rows == [
        ["row", "status", "cost", "what to change"],
        ["0", "already favourable", "0", "nothing"],
        ["1", "ok", "1,062", "raise column 0 from 1,000 to 2,050; lower column 1 from 36 to 24"],
        ["2", "already favourable", "0", "nothing"],
    ]
    assert read.text.startswith("Recourses(3 rows: 2 already favourable, 1 ok. Survival was not measured.)")


def test_a_notebook_says_why_there_is_none_and_what_is_refused(lender):
    method, refused, _ = lender
    found = method.explain(refused)
    k = int(np.flatnonzero(np.isnan(found.cost))[0])
    row = Reader(found[k : k + 1]._repr_html_()).rows[1]
    assert row == [found.x.index[k], str(found.status[k]), "", found.reason[k]]


def test_a_long_result_is_cut_and_says_so(found):
    many = Recourses.concat([found] * 7)
    read = Reader(many._repr_html_())
    assert len(read.rows) == 21
    assert "and 1 more" in read.text
    assert "more" not in Reader(many[:20]._repr_html_()).text


def test_many_changes_are_cut(found):
    X = np.zeros((1, 9))
    method = NearestAccepted(lambda Z: Z.sum(axis=1) > 1.0).fit(np.ones((2, 9)))
    assert Reader(method.explain(X)._repr_html_()).rows[1][3].endswith("; and 3 more")
    assert Reader(found[:0]._repr_html_()).rows == []


def test_options_of_a_person_are_told_apart(lender):
    method, refused, _ = lender
    found = method.explain(refused, n_recourses=2)
    k = int(np.flatnonzero(found.rank == 2)[0])
    assert Reader(found[k - 1 : k + 1]._repr_html_()).rows[2][0] == f"{found.x.index[k]}, option 2"


def test_nothing_of_the_table_is_markup(found):
    evil = "\"><script>alert(1)</script>&\x00\u202e'"
    table = pd.DataFrame({evil: np.array([evil], dtype=object)}, index=pd.Index([evil], dtype=object))
    status = np.array([Status.OK], dtype=object)
    shown = Recourses(
        x=table,
        boundary=table,
        cost=np.array([1.0]),
        budget=np.array([1.0]),
        valid=np.array([True]),
        status=status,
        reason=np.array([evil], dtype=object),
        log_worst_case_odds=np.zeros(1),
        n_queries=np.ones(1, dtype=np.int64),
        x0=table.replace(evil, "other"),
        person=np.zeros(1, dtype=np.int64),
        rank=np.ones(1, dtype=np.int64),
        column_costs=np.ones((1, 1)),
        kinds=("category",),
    )
    page = shown._repr_html_()
    assert [tag for tag, _ in Reader(page).tags] == [tag for tag, _ in Reader(found[:1]._repr_html_()).tags]
    assert not set(page) & set("\x00\u202e")
    assert "<script" not in page
    assert "<script>alert(1)</script>" in Reader(page).text
