from pathlib import Path

import pytest


def test_a_folder_of_notices_keeps_what_no_run_wrote(explain, folder, complaint, capsys):  # noqa: ARG001
    Path("notices").mkdir()
    for name in ("index.html", "notice-mine.html"):
        Path("notices", name).write_text("mine", encoding="utf-8")
    assert explain(html="notices") == 2
    assert "index.html is there already, and no earlier run wrote it" in complaint()
    assert not Path("out.csv").exists()  # said before all work
    assert Path("notices/index.html").read_text(encoding="utf-8") == "mine"
    for more in (["--overwrite"], []):
        assert explain(*more, html="notices") == 0
        assert "Made with robust-recourse" in Path("notices/index.html").read_text(encoding="utf-8")
        assert Path("notices/notice-mine.html").read_text(encoding="utf-8") == "mine"
        assert len(list(Path("notices").glob("notice-*.html"))) == 13
    capsys.readouterr()


def test_notices_have_the_signs_of_a_locale(explain, folder):
    pytest.importorskip("babel")
    actions = folder / "actions.toml"
    told = actions.read_text("utf-8").replace("[columns.income]", '[columns.income]\nunit = "EUR"')
    actions.write_text(told, "utf-8")
    said = {}
    for locale in ([], ["--locale", "de_DE"]):
        assert explain(*locale, html="notices") == 0
        said[bool(locale)] = " ".join(page.read_text("utf-8") for page in sorted(Path("notices").glob("notice-*.html")))
    assert "\xa0\N{EURO SIGN}" in said[True]
    assert "\N{EURO SIGN}" not in said[False]
    assert "EUR" in said[False]


@pytest.mark.parametrize(
    ("more", "where", "said"),
    [
        (["--locale", "xx_YY"], {"html": "notices"}, "--locale must be one like 'en_GB' or 'de_DE', got 'xx_YY'"),
        (["--locale", "de_DE"], {}, "--locale is about notices: name their folder with --html."),
    ],
)
def test_a_locale_that_is_of_no_use_is_told_before_all_work(explain, complaint, more, where, said):
    pytest.importorskip("babel")
    assert explain(*more, **where) == 2
    assert said in complaint()
    assert not Path("out.csv").exists()


def test_an_explorer_is_written_and_asks_the_models(explain, folder, complaint, capsys):  # noqa: ARG001
    assert explain(explorer="page") == 0
    assert f"Explorer: {Path('page/index.html')}" in capsys.readouterr().out
    data = Path("page/data.js").read_text(encoding="utf-8")
    assert "steps" in data
    assert "edges" in data
    assert len(list(Path("page/notices").glob("notice-*.html"))) == 12
    assert explain(html="page", explorer="page") == 2
    assert "--explorer page is the folder of --html, too" in complaint()
    Path("mine").mkdir()
    Path("mine/page.js").write_text("mine", encoding="utf-8")
    assert explain(explorer="mine") == 2
    assert "page.js is there already, and no earlier run wrote it" in complaint()
    assert Path("mine/page.js").read_text(encoding="utf-8") == "mine"
