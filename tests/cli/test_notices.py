from pathlib import Path


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
