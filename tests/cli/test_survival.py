"""What the commands print, and write, about survival."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

NOT_MEASURED = "Survival was not measured"
JURIES = {
    "alone": {},
    "guided": {"jury": 5, "outcome": "outcome"},
    "checked": {"jury": 5, "outcome": "outcome", "survival": 0.5},
}


@pytest.mark.parametrize("kind", JURIES)
def test_explain_says_whether_survival_was_measured(explain, capsys, kind):
    assert explain(html="letters", **JURIES[kind]) == 0
    printed = capsys.readouterr().out
    pages = [html.unescape(path.read_text(encoding="utf-8")) for path in Path("letters").glob("*.html")]
    assert len(pages) > 1
    for said in (printed, *pages):
        assert (NOT_MEASURED in said) == (kind != "checked")
    assert "accepted today" in printed
    assert ("survival at least" in printed) == (kind == "checked")
    assert ("share of guiding models" in printed) == (kind != "alone")
    if kind == "checked":
        measured = r"Survival: with 95 % confidence for each, at least \d+ % of models that took no part in the search"
        assert re.search(measured, printed)


@pytest.mark.parametrize("kind", JURIES)
def test_so_does_a_data_set(explain, capsys, kind):
    pytest.importorskip("pyarrow")
    assert explain(out="recourses/", **JURIES[kind]) == 0
    printed = capsys.readouterr().out
    assert (f"{NOT_MEASURED}." in printed) == (kind != "checked")
    assert ("survival_bound" in printed) == (kind == "checked")


def test_nobody_to_explain_has_no_survival(explain, edit, folder, capsys):  # noqa: ARG001
    lines = (folder / "refused.csv").read_text().splitlines()
    (folder / "refused.csv").write_text(f"{lines[0]}\n")
    assert explain() == 0
    assert "urviv" not in capsys.readouterr().out
