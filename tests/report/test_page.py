from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from robust_recourse.report.page import Picture, Section, Table, write_page

DASH = "\N{EN DASH}"
VOID = {"meta", "img", "br", "link", "input"}


class Reader(HTMLParser):
    """Elements in order, with their text; fails if tags do not close in order."""

    def __init__(self, html):
        super().__init__()
        self.open, self.elements = [], []
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        element = {"tag": tag, "text": "", "inside": [e["tag"] for e in self.open], **dict(attrs)}
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag):
        assert self.open.pop()["tag"] == tag

    def handle_data(self, data):
        for element in self.open:
            element["text"] += data

    def all(self, tag):
        return [element for element in self.elements if element["tag"] == tag]

    def texts(self, tag):
        return [" ".join(element["text"].split()) for element in self.all(tag)]


def render(tmp_path, *sections, files=(), **others):
    for file in files:
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_bytes(b"x" * 1234)
    path = write_page(tmp_path / "page.html", **{"title": "title", "lead": "lead", **others}, sections=sections)
    assert path == tmp_path / "page.html"
    html = path.read_text(encoding="utf-8")
    return html, Reader(html)


def rows_of(page):
    """Text of the table's rows, cell by cell."""
    cells = [e for e in page.elements if e["tag"] in {"th", "td", "tr"}]
    rows = []
    for cell in cells:
        if cell["tag"] == "tr":
            rows.append([])
        else:
            rows[-1].append(cell["text"])
    return rows


def test_everything_is_shown_and_escaped(tmp_path):
    table = pd.DataFrame({"cost <b>": [1.23456]}, index=["a & b"])
    html, _ = render(
        tmp_path,
        Section("a <i>heading", table=Table(table, "caption <u>"), notes=["note <p>"]),
        Section("heading", ["paragraph <s>"], picture=Picture("p.png", 'caption "quoted"')),
        Section("Files", downloads=["t.csv"]),
        files=["p.png", "t.csv"],
        title="<script>alert(1)</script>",
        lead="lead <em>",
        footer="footer <q>",
    )
    assert "<script>" not in html
    assert "a &amp; b" in html
    assert "cost &lt;b&gt;" in html
    assert "1.235" in html
    assert 'alt="caption &#34;quoted&#34;"' in html
    assert '<a href="t.csv" download>' in html
    assert "://" not in html
    body = html[html.index("<body") :]
    for tag in ("i", "u", "s", "em", "q"):
        assert f"<{tag}>" not in body
        assert f"&lt;{tag}&gt;" in body


def test_the_page_needs_neither_script_nor_network(tmp_path):
    html, page = render(
        tmp_path, Section("a", picture=Picture("p.png", "c"), downloads=["p.png"]), files=["p.png"], footer="f"
    )
    assert not page.all("script")
    assert not page.all("link")
    assert "url(" not in html
    assert "@import" not in html
    assert not any(name.startswith("on") for element in page.elements for name in element)
    assert page.all("html")[0]["lang"] == "en"
    (policy,) = [meta["content"] for meta in page.all("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' file:"


def test_sections_are_shown_in_order(tmp_path):
    frame = pd.DataFrame({"n": [1]}, index=["row"])
    _, page = render(
        tmp_path,
        Section("first", ["one", "two"], Table(frame, "first table"), Picture("p.png", "picture"), ["t.csv"], ["note"]),
        Section("second", table=Table(frame, "second table")),
        Section("third", ["three"]),
        files=["p.png", "t.csv"],
        footer="the end",
    )
    assert page.texts("h1") == ["title"]
    assert page.texts("h2") == ["first", "second", "third"]
    assert page.texts("caption") == ["first table", "second table"]
    shown = [e["tag"] for e in page.elements if e["tag"] in {"h2", "p", "img", "table", "ul", "footer"}]
    first = ["h2", "p", "p", "img", "table", "p", "ul"]
    assert shown == ["p", *first, "h2", "table", "h2", "p", "footer", "p"]
    assert page.texts("p") == ["lead", "one", "two", "note", "three", "the end"]


@pytest.mark.parametrize("n", [1, 3, 4, 6])
def test_many_sections_have_a_list_of_contents(tmp_path, n):
    headings = ["Table 1: the classifier", "Ünïcode", "table 1, the classifier", "???", "!!!", "last"][:n]
    _, page = render(tmp_path, *(Section(heading) for heading in headings))
    anchors = [heading["id"] for heading in page.all("h2")]
    assert len(set(anchors)) == n
    assert all(re.fullmatch(r"[a-z0-9-]+", anchor) for anchor in anchors)
    assert anchors[0] == "table-1-the-classifier"
    if n <= 3:
        assert not page.all("nav")
    else:
        assert [link["href"] for link in page.all("a")] == [f"#{anchor}" for anchor in anchors]
        assert page.texts("a") == headings


def test_anchors_differ_also_if_headings_look_like_anchors(tmp_path):
    _, page = render(tmp_path, *(Section(heading) for heading in ("a 3", "a", "a", "A")))
    assert len({heading["id"] for heading in page.all("h2")}) == 4


def test_a_page_without_extras_has_none(tmp_path):
    _, page = render(tmp_path, Section("only", ["text"]))
    for tag in ("table", "figure", "ul", "footer", "nav", "caption"):
        assert not page.all(tag)


def test_missing_values_are_an_en_dash(tmp_path):
    frame = pd.DataFrame(
        {"a": [1.0, np.nan], "b": [None, "text"], "c": pd.array([pd.NA, 3], dtype="Int64"), "d": [np.nan, np.nan]},
        index=["r", "s"],
    )
    html, page = render(tmp_path, Section("h", table=Table(frame, formats={"a": ".1f"})))
    assert rows_of(page)[1:] == [["r", "1.0", DASH, DASH, DASH], ["s", DASH, "text", "3", DASH]]
    assert "nan" not in html.lower()


def test_headers_have_scopes_and_numbers_are_aligned(tmp_path):
    frame = pd.DataFrame(
        {
            "score": [0.5, 1.0],
            "n": [3, 4],
            "name": ["x", "y"],
            "mean": ["0.99 ± 0.01", None],
            "ok": [True, False],
        },
        index=pd.Index(["first", "second"], name="method"),
    )
    _, page = render(tmp_path, Section("h", table=Table(frame, "caption")))
    assert rows_of(page) == [
        ["method", "score", "n", "name", "mean", "ok"],
        ["first", "0.500", "3", "x", "0.99 ± 0.01", "yes"],
        ["second", "1.000", "4", "y", DASH, "no"],
    ]
    assert [cell.get("scope") for cell in page.all("th")] == ["col"] * 6 + ["row"] * 2
    expected = ["number", "number", None, "number", None]
    assert [cell.get("class") for cell in page.all("td")] == expected * 2
    assert [cell.get("class") for cell in page.all("th")[1:6]] == expected
    (region,) = [e for e in page.elements if e.get("role") == "region"]
    assert (region["tabindex"], region["aria-label"]) == ("0", "caption")
    assert "div" in page.all("table")[0]["inside"]


def test_without_an_index_of_its_own_the_first_column_heads_the_rows(tmp_path):
    frame = pd.DataFrame({"method": ["a", "b"], "cost": [1.0, 2.0]})
    _, page = render(tmp_path, Section("h", table=Table(frame, emphasis=["b"])))
    assert rows_of(page) == [["method", "cost"], ["a", "1.000"], ["b", "2.000"]]
    assert [cell["text"] for cell in page.all("th") if cell["scope"] == "row"] == ["a", "b"]
    assert [row.get("class") for row in page.all("tr")] == [None, None, "emphasis"]


def test_an_index_without_a_name_has_no_empty_header(tmp_path):
    _, page = render(tmp_path, Section("h", table=Table(pd.DataFrame({"a": [1]}, index=["r"]))))
    assert next((cell["tag"], cell["text"]) for cell in page.elements if cell["tag"] in {"th", "td"}) == ("td", "")


def test_two_levels_of_columns_have_two_rows_of_headers(tmp_path):
    columns = pd.MultiIndex.from_tuples([("D1", "accuracy"), ("D1", "AUC"), ("D2", "accuracy")])
    frame = pd.DataFrame([[0.1, 0.2, 0.3]], index=pd.Index(["SBA"], name="data set"), columns=columns)
    _, page = render(tmp_path, Section("h", table=Table(frame, formats={("D1", "AUC"): ".1%"})))
    assert rows_of(page) == [
        ["", "D1", "D2"],
        ["data set", "accuracy", "AUC", "accuracy"],
        ["SBA", "0.100", "20.0%", "0.300"],
    ]
    groups = [cell for cell in page.all("th") if cell["scope"] == "colgroup"]
    assert [(cell["text"], cell.get("colspan")) for cell in groups] == [("D1", "2"), ("D2", None)]


def test_two_levels_of_rows_are_both_headers(tmp_path):
    index = pd.MultiIndex.from_tuples([("SBA", "D1"), ("SBA", "D2")], names=["data set", "data"])
    frame = pd.DataFrame({"n": [1, 2]}, index=index)
    _, page = render(tmp_path, Section("h", table=Table(frame, emphasis=[("SBA", "D2")])))
    assert rows_of(page) == [["data set", "data", "n"], ["SBA", "D1", "1"], ["SBA", "D2", "2"]]
    assert [cell["scope"] for cell in page.all("th")] == ["col"] * 3 + ["row"] * 4
    assert [row.get("class") for row in page.all("tr")] == [None, None, "emphasis"]


def test_formats_may_be_functions_and_must_name_columns(tmp_path):
    frame = pd.DataFrame({"s": [0.00123], "x": [np.inf]}, index=["r"])
    formats = {"s": lambda seconds: f"{1000 * seconds:.1f} ms"}
    _, page = render(tmp_path, Section("h", table=Table(frame, formats=formats)))
    assert rows_of(page)[1] == ["r", "1.2 ms", "inf"]
    with pytest.raises(ValueError, match=r"formats names column 't'.* columns are 's', 'x'"):
        render(tmp_path, Section("h", table=Table(frame, formats={"t": ".1f"})))


def test_columns_of_the_same_name_are_both_shown(tmp_path):
    frame = pd.DataFrame([[1.0, 2.0]], columns=["a", "a"], index=["r"])
    _, page = render(tmp_path, Section("h", table=Table(frame)))
    assert rows_of(page) == [["", "a", "a"], ["r", "1.000", "2.000"]]


def test_a_table_without_rows_has_a_head(tmp_path):
    frame = pd.DataFrame({"a": pd.Series(dtype=float)}, index=pd.Index([], name="r"))
    _, page = render(tmp_path, Section("h", table=Table(frame)))
    assert rows_of(page) == [["r", "a"]]


@pytest.mark.parametrize(
    ("size", "said"), [(0, "0 bytes"), (999, "999 bytes"), (1234, "1.23 kB"), (45600, "45.6 kB"), (2500000, "2.5 MB")]
)
def test_downloads_say_their_size(tmp_path, size, said):
    (tmp_path / "t.csv").write_bytes(b"x" * size)
    _, page = render(tmp_path, Section("Files", downloads=["t.csv"]))
    assert page.texts("li") == [f"t.csv ({said})"]
    assert [(link["href"], "download" in link) for link in page.all("a")] == [("t.csv", True)]


def test_file_names_make_proper_links(tmp_path):
    names = ["a b#1?.csv", "sub/100%.csv", "javascript:alert(1)"]
    _, page = render(tmp_path, Section("Files", downloads=names), files=names)
    assert [link["href"] for link in page.all("a")] == [
        "a%20b%231%3F.csv",
        "sub/100%25.csv",
        "javascript%3Aalert%281%29",
    ]
    assert page.texts("a") == names


def test_pictures_have_alternative_texts_and_open_at_full_size(tmp_path):
    _, page = render(
        tmp_path,
        Section("a", picture=Picture("p 1.png", "caption", "what it shows")),
        Section("b", picture=Picture("p 1.png", "caption only")),
        files=["p 1.png"],
    )
    assert [image["alt"] for image in page.all("img")] == ["what it shows", "caption only"]
    assert page.texts("figcaption") == ["caption", "caption only"]
    assert [image["src"] for image in page.all("img")] == [link["href"] for link in page.all("a")] == ["p%201.png"] * 2


@pytest.mark.parametrize("section", [Section("a", downloads=["t.csv"]), Section("a", picture=Picture("t.csv", "c"))])
def test_missing_files_are_named(tmp_path, section):
    with pytest.raises(FileNotFoundError, match=r"shows 't.csv', which is not in .*write it before the page"):
        render(tmp_path, section)
    assert not (tmp_path / "page.html").exists()
