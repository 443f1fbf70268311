import pandas as pd

from robust_recourse.report.page import Picture, write_page


def test_everything_is_shown_and_escaped(tmp_path):
    table = pd.DataFrame({"cost <b>": [1.23456]}, index=["a & b"])
    path = write_page(
        tmp_path / "page.html",
        title="<script>alert(1)</script>",
        lead="lead",
        table=table,
        notes=["note"],
        pictures=[Picture("p.png", "heading", 'caption "quoted"')],
        downloads=["t.csv"],
    )
    html = path.read_text(encoding="utf-8")
    assert "<script>" not in html
    assert "a &amp; b" in html
    assert "cost &lt;b&gt;" in html
    assert "1.235" in html
    assert 'alt="caption &#34;quoted&#34;"' in html
    assert '<a href="t.csv" download>' in html
    assert "http" not in html
