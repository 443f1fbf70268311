import re

import numpy as np
import pandas as pd
import pytest

from .conftest import accepts, scored, stricter


@pytest.fixture
def checked(ledger, record):
    record()
    return ledger.check(scored, name="scorecard <2027>")


def test_the_page_says_what_holds_and_what_does_not(checked, table, tmp_path):
    additions, threshold = checked.additions(train=table), checked.threshold(0.98, others=table)
    path = tmp_path / "check.html"
    page = checked.to_html(path, groups=["region"], at_least=0.98, additions=additions, threshold=threshold)
    assert path.read_text(encoding="utf-8") == page
    assert "scorecard &lt;2027&gt;" in page
    assert "<2027>" not in page
    assert "does not pass" in page
    assert f"<b>{checked.n_kept}</b>are kept" in page
    assert f"<b>{checked.n_broken}</b>are broken" in page
    for person in checked.broken["person"]:
        assert f">{person}<" in page
    for person in checked.kept["person"]:
        assert f">{person}<" not in page
    for words in ("north", "south", "2026-11", "NearestAccepted", f"{threshold.threshold:.6g}", " (0.5)<"):
        assert words in page
    assert f"{threshold.changed:,} of 200 other decisions" in page
    assert page.count("(cost ") == checked.n_broken + additions.found.valid.sum()
    assert "<script" not in page


def test_a_page_without_broken_promises(ledger, record):
    record()
    page = ledger.check(accepts, name="same").to_html(at_least=0.98)
    assert "the model passes" in page
    assert "What does not hold" not in page


def test_a_page_without_promises(ledger):
    assert "There is no open promise" in ledger.check(accepts, name="same").to_html(at_least=0.98)


def test_names_that_try_to_be_code_are_only_names(ledger, record, people):
    record(people=["<img src=x>", "\u202eevil", *people[2:]], model="<b>")
    page = ledger.check(lambda X: np.zeros(len(X), dtype=int), name="none").to_html()
    assert "<img" not in page
    assert "\u202e" not in page
    assert "&lt;img src=x&gt;" in page


def test_only_some_of_many_are_listed(checked, monkeypatch):
    monkeypatch.setattr("robust_recourse.ledger.page._MOST", 2)
    page = checked.to_html()
    assert f"These are the first 2 of {checked.n_broken}." in page
    assert len(re.findall(r" \(0\.5\)<", page)) == 2


def test_the_timeline_is_drawn(ledger, record, found, people, clock):
    figures = pytest.importorskip("robust_recourse.report.figures")
    record(found=found[:8], people=people[:8])
    ledger.fulfil("id1", found.x.iloc[1])
    clock.on("2027-01-10")
    record(found=found[8:], people=people[8:], until="2027-01-31")
    check = ledger.check(stricter, name="2027-01")
    clock.on("2027-02-03")
    figure = figures.draw_timeline(ledger.timeline())
    above, below = figure.axes
    heights = [[round(bar.get_height()) for bar in group] for group in above.containers]
    assert heights[0] == [8, 0, 4, 0]
    assert [-n for n in heights[1]] == [1, 0, 0, 0]  # fulfilled
    assert [-n for n in heights[4]] == [0, 0, 0, 4]  # expired
    drawn = [[round(bar.get_height()) for bar in group] for group in below.containers]
    assert drawn == [[check.n_kept], [check.n_broken]]
    assert any("2027-01" in text.get_text() for text in below.texts)
    names = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert "expired" in names
    assert "withdrawn" not in names


def test_a_timeline_without_anything(ledger):
    figures = pytest.importorskip("robust_recourse.report.figures")
    figure = figures.draw_timeline(ledger.timeline())
    assert "no model was checked" in [text.get_text() for text in figure.axes[1].texts]
    with pytest.raises(TypeError, match="it lacks 'made'"):
        figures.draw_timeline(pd.DataFrame())
