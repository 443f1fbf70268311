from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jinja2 import UndefinedError

from robust_recourse.notices._histogram import edges, histogram
from robust_recourse.notices.notice import Change, Notice, by_person
from robust_recourse.notices.page import AUDIENCES, page
from robust_recourse.notices.rendering import render
from robust_recourse.notices.writing import Writer

STYLE = files("robust_recourse.notices").joinpath("templates/style.css").read_text("utf-8")


def notice(person, *, rank=1, status="ok", cost=1.0, column="a", valid=True, reason="Why."):
    changes = (Change(column, "number", 1.0, 1.0 + cost, cost, 1),) if cost > 0.0 else ()
    after = None if np.isnan(cost) else {"a": 1.0, "b": 2.0, **{change.column: change.after for change in changes}}
    return Notice(
        f"row {person}",
        person,
        rank,
        status,
        reason,
        valid,
        cost,
        0.5,
        np.log(0.5),
        {"a": 1.0, "b": 2.0},
        after,
        changes,
    )


def none(person, status, reason="Why."):
    return notice(person, status=status, cost=np.nan, valid=False, reason=reason)


def analyst(notices):
    return page(notices, title="T", audience="analyst", when=date(2025, 1, 1))


def cells(markup, caption):
    """Return the rows of a table as text."""
    whole = next(part for part in re.findall(r"<table.*?</table>", markup, flags=re.DOTALL) if caption in part)
    rows = re.findall(r"<tr>(.*?)</tr>", whole)
    return [[re.sub("<.*?>", "", cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row)] for row in rows]


BATCH = [
    notice(0, cost=1.0),
    notice(0, rank=2, cost=3.0, column="b"),
    notice(1, cost=2.0),
    notice(2, status="already favourable", cost=0.0),
    none(3, "out of time", "Slow."),
    none(4, "out of time", "Slow."),
    none(5, "nothing may change", "Fixed."),
]


def test_summary_counts_people_not_recourses():
    summary = analyst(BATCH)
    assert cells(summary, "How the searches ended")[1:] == [
        ["ok", "2", "33.3 %", "2"],
        ["out of time", "2", "33.3 %", "0"],
        ["already favourable", "1", "16.7 %", "1"],
        ["nothing may change", "1", "16.7 %", "0"],
    ]
    tiles = re.findall(r"<li><b>(.*?)</b>(.*?)</li>", summary)
    assert tiles == [
        ("6", "rows explained"),
        ("2", "have a recourse that the present model accepts"),
        ("1", "are accepted as they are"),
        ("3", "have none"),
        ("3", "recourses in all"),
    ]


def test_summary_of_costs_is_of_the_cheapest():
    summary = analyst(BATCH)
    assert cells(summary, "over 2 rows")[1] == ["Cost", "1", "1.25", "1.5", "1.75", "2"]


def test_summary_says_what_changes_and_why_not():
    summary = analyst(BATCH)
    assert cells(summary, "accepted recourses change")[1:] == [
        ["a", "2", "66.7 %", "2", "0", "0", "1.5"],
        ["b", "1", "33.3 %", "1", "0", "0", "3"],
    ]
    assert cells(summary, "Why rows have no recourse")[1:] == [
        ["out of time", "Slow.", "2", "row 3, row 4"],
        ["nothing may change", "Fixed.", "1", "row 5"],
    ]


def test_many_rows_with_the_same_reason_are_not_all_named():
    summary = analyst([none(i, "out of time") for i in range(1203)])
    assert cells(summary, "Why rows")[1][3] == "row 0, row 1, row 2, row 3, row 4 and 1,198 more"


def test_all_rows_are_listed():
    rows = cells(analyst(BATCH), "Every recourse")
    assert rows[0][1] == "Option"
    assert rows[2] == ["row 0", "2", "accepted", "ok", "1", "3", "at most 1 to 2"]
    assert rows[5][2:6] == ["refused", "out of time", "\N{EN DASH}", "\N{EN DASH}"]
    assert "Option" not in cells(analyst(BATCH[2:]), "Every recourse")[0]


def local(some, **fields):
    return replace(some, writers={name: Writer(locale="de_DE") for name in "ab"}, **fields)


def test_a_locale_holds_for_the_whole_page():
    pytest.importorskip("babel")
    costs = [1000.5, 1500.25, 2001.0, 3000.0, 4000.0]
    batch = [local(notice(i, cost=cost), worst_case_odds=0.7, jury_share=0.9) for i, cost in enumerate(costs)]
    batch += [local(none(i, "out of time")) for i in range(5, 1203)]
    shown = page(batch, title="T", when=date(2025, 3, 1))
    assert "<b>1.203</b>rows explained" in shown
    assert cells(shown, "How the searches ended")[1] == ["out of time", "1.198", "99,6\xa0%", "0"]
    assert cells(shown, "Cost of the cheapest")[1] == ["Cost", "1.000", "1.500", "2.001", "3.000", "4.000"]
    assert cells(shown, "Every recourse")[1][3:] == ["1", "1.000", "at most 1 to 1,4", "90\xa0%"]
    assert cells(shown, "Why rows")[1][3].endswith("and 1.193 more")
    assert "1.000 to 1.500: 1" in shown
    assert "The model in use on 1. März 2025" in shown
    assert "Of the models that guided the search, 90\xa0% accept these values." in shown
    english = page([replace(some, writers={}) for some in batch], title="T", when=date(2025, 3, 1))
    assert "1,203" in english
    assert "1 March 2025" in english


def test_page_tells_options_that_are_accepted_only():
    options = [notice(0), notice(0, rank=2, valid=False, cost=7.0)]
    shown = page(options, title="T", audience="applicant", when=date(2025, 1, 1))
    assert "What to change" in shown
    assert "from <bdi>1</bdi> to <bdi>2</bdi>" in shown
    assert "<bdi>8</bdi>" not in shown
    assert "<bdi>8</bdi>" in page([notice(0, cost=7.0)], title="T", audience="applicant", when=date(2025, 1, 1))


@pytest.mark.parametrize("status", ["ok", "at the edge", "stopped early"])
def test_an_applicant_is_told_what_is_not_certain(status):
    said = page([notice(0), notice(1, status=status)], title="T", audience="applicant", when=date(2025, 1, 1))
    assert said.count("without a margin") == (status == "at the edge")
    assert said.count("search was over before it was finished") == (status == "stopped early")


def test_no_status_but_a_proven_one_says_that_nothing_can_be_done():
    said = page([none(0, "no favourable candidate reachable")], title="T", audience="applicant", when=date(2025, 1, 1))
    assert "No change can be recommended: the model accepts none of the changes that were tried." in said
    assert "This does not mean that the answer can never change." in said


@pytest.mark.parametrize(("label", "said"), [(17, "for number <bdi>17</bdi>"), ("A-17", "for <bdi>A-17</bdi>")])
def test_notices_name_the_person(label, said):
    assert said in page([replace(notice(0), label=label)], title="T", audience="applicant", when=date(2025, 1, 1))


def test_by_person_keeps_people_together():
    assert [len(group) for group in by_person(BATCH)] == [2, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("audience", AUDIENCES)
def test_pages_load_nothing_and_run_nothing(audience):
    shown = page(BATCH, title="T", audience=audience, when=date(2025, 1, 1))
    assert re.findall(r'<meta http-equiv="Content-Security-Policy" content="(.*?)">', shown) == [
        "default-src 'none'; style-src 'unsafe-inline'"
    ]
    assert shown.index("Content-Security-Policy") < shown.index("<title>") < shown.index("<style>")


@pytest.mark.parametrize("audience", AUDIENCES)
def test_titles_and_notes_change_no_direction(audience):
    for notices in (BATCH, BATCH[2:3]):
        shown = page(notices, title="T\u202e\x1b", note="N\u202e\x1b", audience=audience, when=date(2025, 1, 1))
        assert "T\\u202e\\x1b" in shown
        assert not set(shown) & set("\u202e\x1b")


def test_what_a_template_is_not_given_is_an_error():
    with pytest.raises(UndefinedError, match="lead"):
        render("report.html", title="T", sections=[], contents=False, footer="")


@settings(deadline=None, max_examples=200)
@given(st.lists(st.floats(0.0, 1e6), min_size=2, max_size=30))
def test_bins_hold_all_numbers(numbers):
    held = np.array(numbers)
    assume(np.ptp(held) > 1e-3)
    marks = edges(held)
    assert (np.diff(marks) > 0.0).all()
    assert 2 <= len(marks) <= 14
    assert np.histogram(held, marks)[0].sum() == len(held)


def test_histogram_tells_its_numbers():
    shown = analyst([notice(i, cost=cost) for i, cost in enumerate([0.1, 0.2, 0.3, 0.4, 1.0, 1.0])])
    (drawing,) = re.findall("<svg.*?</svg>", shown, flags=re.DOTALL)
    heights = [float(height) for height in re.findall(r'<rect[^>]* height="([\d.]+)"', drawing)]
    told = [int(count) for count in re.findall(r": (\d+)(?=, |\.\")", drawing)]
    assert sum(told) == 6
    assert re.findall("<text[^>]*>(.*?)</text>", drawing)[:2] == ["1", "1"]
    np.testing.assert_allclose(np.array(heights) / max(heights), np.array(told) / max(told), atol=1e-3)


def test_histogram_of_costs_that_are_close_together():
    labels = [mark for _, mark in histogram(1000.0 + np.arange(6) / 10.0).marks]
    assert all(label.startswith("1,000") for label in labels)
    assert len(labels) == len(set(labels)) > 3


@pytest.mark.parametrize("numbers", [[1.0], [1.0] * 50, [1.0, 2.0, 3.0, 4.0]])
def test_few_costs_are_not_drawn(numbers):
    assert histogram(np.array(numbers)) is None
    assert "<svg" not in analyst([notice(i, cost=cost) for i, cost in enumerate(numbers)])


def _luminance(colour):
    channels = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255.0
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_text_has_contrast():
    """Every colour of text against both backgrounds: at least 4.5 to 1, as WCAG 2 asks."""
    colours = set(re.findall(r"(?<![-\w])(?:color|fill): (#[0-9a-f]{6})", STYLE))
    assert colours
    for colour in colours:
        for background in ("#ffffff", "#eef1f5"):
            high, low = sorted((_luminance(colour), _luminance(background)), reverse=True)
            assert (high + 0.05) / (low + 0.05) >= 4.5


def test_print_puts_every_notice_on_a_page_of_its_own():
    printed = STYLE.split("@media print")[1]
    assert "article { break-before: page; }" in printed
