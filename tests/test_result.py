from __future__ import annotations

import json
import re
from datetime import date
from html.parser import HTMLParser
from itertools import pairwise

import jsonschema
import numpy as np
import pandas as pd
import pytest

from robust_recourse.notices.sentences import NO_RECOURSE
from robust_recourse.result import Recourse, Recourses, Status


def recourses(before, after, kinds, costs, status, valid=None, *, person=None, rank=None, orders=None):
    """Put a result together as `explain` does."""
    n, costs = len(status), np.asarray(costs, dtype=float).reshape(len(status), len(kinds))
    statuses = np.empty(n, dtype=object)
    statuses[:] = status
    return Recourses(
        x=after,
        boundary=after,
        cost=costs.sum(axis=1),
        budget=np.full(n, np.nan),
        valid=~np.isnan(costs).any(axis=1) if valid is None else np.array(valid),
        status=statuses,
        reason=np.array([f"Because of {word}." for word in status], dtype=object),
        log_worst_case_odds=np.where(np.isnan(costs).any(axis=1), np.nan, -1.0),
        n_queries=np.full(n, 7),
        x0=before,
        person=np.arange(n) if person is None else np.array(person),
        rank=np.ones(n, dtype=int) if rank is None else np.array(rank),
        column_costs=costs,
        kinds=tuple(kinds),
        orders=orders or {},
    )


KINDS = ("number", "number", "number", "category", "ordered", "ordered", "category", "number", "fixed")


@pytest.fixture
def before():
    """Rows with every type of column that a table may have."""
    return pd.DataFrame(
        {
            "savings": [1200, 5000, 10, 70],
            "rate": [0.1, 2.5, 3.0, 1.0],
            "share": np.array([0.1, 0.2, 0.3, 0.4], dtype=np.float32),
            "housing": pd.Categorical(["rent", "own", "free", "rent"]),
            "education": ["school", "none", "college", "school"],
            "phone": [False, True, False, True],
            "purpose": np.array(["car", "radio", None, "car"], dtype=object),
            "children": pd.array([1, None, 3, 2], dtype="Int64"),
            "opened": pd.to_datetime(["2020-01-31", "2021-02-28", "2022-03-01", "2023-01-01"]),
        },
        index=["ann", "bob", "cy", "dee"],
    )


@pytest.fixture
def found(before):
    """Four rows: a recourse, accepted as it is, out of time, refused."""
    after = before.astype({"savings": "Int64", "phone": "boolean"})
    after.loc["ann", ["savings", "rate", "share", "housing", "education", "phone", "purpose", "children"]] = [
        2050, 0.3, np.float32(0.7), "own", "college", True, "radio", 0,
    ]  # fmt: skip
    after.loc["cy"] = after.iloc[2].mask(np.ones(9, dtype=bool))
    after.loc["dee", "savings"] = 80
    costs = np.zeros((4, 9))
    costs[0] = [0.85, 0.2, 0.6, 1.0, 1.0, 1.0, 1.0, 0.5, 0.0]
    costs[2], costs[3, 0] = np.nan, 0.01
    status = [Status.OK, Status.ALREADY_FAVOURABLE, Status.TIME_LIMIT, Status.REFUSED]
    orders = {"education": ("none", "school", "college"), "phone": (False, True)}
    return recourses(before, after, KINDS, costs, status, [True, True, False, False], orders=orders)


@pytest.fixture
def several():
    """Three recourses of the first person, one of the second."""
    before = pd.DataFrame({"a": [1, 1, 1, 5], "b": [2.0, 2.0, 2.0, 6.0]}, index=["p", "p", "p", "q"])
    after = pd.DataFrame({"a": [3, 1, 2, 6], "b": [2.0, 5.0, 4.0, 6.0]}, index=before.index)
    costs = [[2.0, 0.0], [0.0, 3.0], [1.0, 2.0], [1.0, 0.0]]
    return recourses(before, after, ["number"] * 2, costs, [Status.OK] * 4, person=[0, 0, 0, 1], rank=[1, 2, 3, 1])


class Reader(HTMLParser):
    """Reads a page, and fails where elements are not closed in order."""

    VOID = frozenset({"meta"})

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.text = [], [], []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.text.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


# ----------------------------------------------------------------------------------------------------------- to_frame


def test_to_frame_adds_what_is_known(found):
    frame = found.to_frame()
    assert list(frame.columns[9:]) == ["cost", "budget", "valid", "status", "reason", "worst_case_odds", "n_queries"]
    assert list(frame.index) == ["ann", "bob", "cy", "dee"]
    pd.testing.assert_frame_equal(frame[found.x.columns], found.x)
    np.testing.assert_array_equal(frame["cost"], found.cost)
    np.testing.assert_allclose(frame["worst_case_odds"], np.exp(found.log_worst_case_odds))


def test_to_frame_says_whose_recourse_it_is_only_if_there_are_several(several, found):
    assert several.to_frame()["person"].tolist() == [0, 0, 0, 1]
    assert several.to_frame()["rank"].tolist() == [1, 2, 3, 1]
    assert "rank" not in found.to_frame()


def test_to_frame_keeps_names_that_the_table_has_already():
    table = pd.DataFrame({"cost": [1.0], "recourse_cost": [2.0], "valid": [3.0]})
    frame = recourses(table, table, ["number"] * 3, [[0.0] * 3], [Status.OK]).to_frame()
    assert frame["cost"].tolist() == [1.0]
    assert frame["recourse_cost"].tolist() == [2.0]
    assert frame["recourse_recourse_cost"].tolist() == [0.0]
    assert frame["recourse_valid"].tolist() == [True]


@pytest.mark.parametrize("levels", [2, 3])
def test_to_frame_with_columns_of_several_levels(levels):
    columns = pd.MultiIndex.from_tuples(
        [("z", "b", "c")[:levels], ("a", "x", "y")[:levels]], names=list("uvw")[:levels]
    )
    table = pd.DataFrame([[1.0, 2.0]], columns=columns)
    frame = recourses(table, table, ["number"] * 2, [[0.0, 0.0]], [Status.OK]).to_frame()
    assert frame.columns[2] == ("cost", *[""] * (levels - 1))
    assert frame.columns.names == columns.names
    pd.testing.assert_frame_equal(frame.iloc[:, :2], table)


def test_to_frame_of_an_array():
    table = np.array([[1.0, 2.0], [3.0, 4.0]])
    frame = recourses(table, table + 1.0, ["number"] * 2, np.ones((2, 2)), [Status.OK] * 2).to_frame()
    np.testing.assert_array_equal(frame[[0, 1]], table + 1.0)
    assert frame["cost"].tolist() == [2.0, 2.0]


def test_to_frame_with_categorical_column_names():
    table = pd.DataFrame([[1.0, 2.0]], columns=pd.CategoricalIndex(["a", "b"]))
    frame = recourses(table, table, ["number"] * 2, [[0.0, 0.0]], [Status.OK]).to_frame()
    assert list(frame.columns[:3]) == ["a", "b", "cost"]


def test_results_of_polars_frames():
    polars = pytest.importorskip("polars")
    before = polars.DataFrame({"n": [1, 2, 3], "c": ["x", "y", "x"], "f": [0.5, 1.5, 2.5]})
    after = polars.DataFrame({"n": [5, None, 3], "c": ["y", None, "x"], "f": [0.5, None, 3.5]})
    costs = [[1.0, 1.0, 0.0], [np.nan] * 3, [0.0, 0.0, 1.0]]
    found = recourses(before, after, ["number", "category", "number"], costs, [Status.OK, Status.NOT_FOUND, Status.OK])
    changes = found.changes()
    assert changes[["row", "column", "from", "to"]].to_numpy().tolist() == [
        [0, "n", 1, 5],
        [0, "c", "x", "y"],
        [2, "f", 2.5, 3.5],
    ]
    assert type(changes["to"][0]) is int
    assert isinstance(found.to_frame(), pd.DataFrame)
    assert found.to_frame()["c"].tolist()[0] == "y"
    assert "row" not in found.describe(0)
    assert found.describe(0).startswith("Raise n from 1 to 5; change c from 'x' to 'y'; keep everything else.")


# ------------------------------------------------------------------------------------------------------------ changes


def test_changes_are_the_cells_that_differ(found, before):
    changes = found.changes()
    assert list(changes.columns) == ["row", "column", "from", "to", "cost"]
    assert changes["row"].tolist() == ["ann"] * 8 + ["dee"]
    for line in changes.itertuples():
        assert line[3] == before.loc[line.row, line.column]
        assert line.to == found.x.loc[line.row, line.column]


def test_changes_keep_values_as_they_are(found):
    changes = found.changes().set_index("column")
    first = changes[changes["row"] == "ann"]
    assert changes["from"].dtype == object
    assert changes["to"].dtype == object
    kinds = {name: type(value) for name, value in first["to"].items()}
    assert kinds == {
        "savings": int, "rate": float, "share": np.float32, "housing": str, "education": str, "phone": bool,
        "purpose": str, "children": int,
    }  # fmt: skip


def test_changes_cost_what_the_recourse_costs(found, several):
    costs = found.changes().groupby("row")["cost"].sum()
    for label in costs.index:
        assert costs[label] == pytest.approx(found.cost[found.x.index.get_loc(label)])
    np.testing.assert_allclose(
        several.changes().groupby(["row", "rank"])["cost"].sum().to_numpy(), several.cost, rtol=1e-12
    )


def test_changes_tell_several_recourses_apart(several):
    changes = several.changes()
    assert list(changes.columns) == ["row", "rank", "column", "from", "to", "cost"]
    assert changes[["row", "rank", "column"]].to_numpy().tolist() == [
        ["p", 1, "a"],
        ["p", 2, "b"],
        ["p", 3, "a"],
        ["p", 3, "b"],
        ["q", 1, "a"],
    ]


def test_changes_of_columns_that_cost_nothing_are_listed():
    before, after = np.array([[1.0, 2.0]]), np.array([[1.5, 2.0]])
    changes = recourses(before, after, ["number"] * 2, [[0.0, 0.0]], [Status.OK]).changes()
    assert changes[["row", "column", "from", "to", "cost"]].to_numpy().tolist() == [[0, 0, 1.0, 1.5, 0.0]]


def test_changes_with_an_index_of_several_levels():
    index = pd.MultiIndex.from_tuples([("Leeds", 1), ("York", 2)])
    columns = pd.MultiIndex.from_tuples([("income", "net"), ("income", "gross")])
    before = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], index=index, columns=columns)
    found = recourses(before, before + 1.0, ["number"] * 2, np.ones((2, 2)), [Status.OK] * 2)
    changes = found.changes()
    assert changes["row"].tolist() == [("Leeds", 1)] * 2 + [("York", 2)] * 2
    assert changes["column"].tolist() == [("income", "net"), ("income", "gross")] * 2
    assert found.describe().splitlines()[1].startswith("York / 2: Raise income / net from 3 to 4; raise income / gross")


def test_an_unchanged_missing_value_is_no_change():
    before = pd.DataFrame({"a": [np.nan, 1.0], "b": pd.array([None, 2], dtype="Int64"), "c": [None, "x"]})
    found = recourses(before, before.copy(), ["number", "number", "category"], np.zeros((2, 3)), [Status.OK] * 2)
    assert found.changes().empty


def test_ordered_categoricals_bring_their_order():
    levels = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
    before, after = (
        pd.DataFrame({"a": pd.Series(values, dtype=levels)}) for values in (["low", "high"], ["high", "mid"])
    )
    found = recourses(before, after, ["ordered"], [[1.0], [1.0]], [Status.OK] * 2)
    assert found.describe(0).startswith("Raise a from 'low' to 'high'.")
    assert found.describe(1).startswith("Lower a from 'high' to 'mid'.")


# ----------------------------------------------------------------------------------------------------------- describe


def test_describe_says_everything(found):
    assert found.describe(0) == (
        "Raise savings from 1,200 to 2,050; raise rate from 0.1 to 0.3; raise share from 0.1 to 0.7; "
        "change housing from 'rent' to 'own'; raise education from 'school' to 'college'; "
        "change phone from no to yes; change purpose from "
        "'car' to 'radio'; lower children from 1 to 0; keep everything else. The present model accepts exactly these "
        "values. Survival was not measured. The cost is 6.15 units."
    )


def test_describe_rows_that_need_or_have_nothing(found):
    assert found.describe(1) == (
        "Nothing needs to change: the present model accepts these values as they are. Survival was not measured."
    )
    assert found.describe(2).startswith("No recourse was found: the time for the search was over")
    assert found.describe(2).endswith("Reason (out of time): Because of out of time.")


def test_describe_does_not_recommend_what_the_model_refuses(found):
    said = found.describe(-1)
    assert said.startswith("No recourse was found: the model refuses the best change")
    assert "is refused: raise savings from 70 to 80; keep everything else." in said
    assert "accepts exactly" not in said


def test_describe_all_names_the_rows(found, several):
    lines = found.describe().splitlines()
    assert [line.split(":")[0] for line in lines] == ["ann", "bob", "cy", "dee"]
    assert lines[0] == f"ann: {found.describe(0)}"
    assert several.describe().splitlines()[1].startswith("p, option 2 of 3: Raise b from 2 to 5; keep everything else.")
    assert several.describe().splitlines()[3].startswith("q: Raise a")


def test_describe_with_better_names(found):
    assert found.describe(0, names={"savings": "the savings account"}).startswith(
        "Raise the savings account from 1,200"
    )
    with pytest.raises(ValueError, match="names has 'saving', which is no column"):
        found.describe(0, names={"saving": "x"})
    with pytest.raises(ValueError, match="names calls two columns 'rate'"):
        found.describe(0, names={"savings": "rate"})


def test_describe_takes_an_entry_that_exists(found):
    with pytest.raises(IndexError):
        found.describe(4)


def test_every_status_has_words():
    with_point = {Status.OK, Status.ALREADY_FAVOURABLE, Status.FELL_BACK, Status.NOT_CONVERGED, Status.ONE_CLASS}
    with_point |= {Status.AT_THE_EDGE, Status.HURRIED, Status.MARGIN_OUT_OF_REACH, Status.QUORUM_OUT_OF_REACH}
    with_point |= {Status.SURVIVAL_OUT_OF_REACH, Status.NEAREST, Status.SURE}
    assert set(NO_RECOURSE) == {str(status) for status in Status} - {str(status) for status in with_point}


@pytest.mark.parametrize("status", Status)
def test_every_status_is_described(status):
    table = np.array([[1.0]])
    missing = recourses(table, table * np.nan, ["number"], [[np.nan]], [status])
    assert f"Reason ({status}): Because of {status}." in missing.describe(0)
    moved = recourses(table, table + 1.0, ["number"], [[1.0]], [status])
    assert moved.describe(0).startswith("Raise column 0 from 1 to 2. The present model accepts")
    assert ("Note" in moved.describe(0)) == (status not in {Status.OK, Status.SURE, Status.NEAREST})


# --------------------------------------------------------------------------------------------------------------- HTML


def test_page_is_well_formed_and_needs_nothing_else(found):
    page = found.to_html(when=date(2025, 3, 9))
    read = Reader(page)
    assert page.startswith("<!DOCTYPE html>")
    assert read.all("html") == [{"lang": "en"}]
    assert not {tag for tag, _ in read.tags} & {"script", "link", "img", "iframe", "object", "form", "base"}
    assert not [held for _, attributes in read.tags for name, held in attributes.items() if name in ("src", "style")]
    assert all(attributes["href"].startswith("#person-") for attributes in read.all("a"))
    assert "url(" not in page
    assert "@import" not in page
    assert "9 March 2025" in page


def test_page_is_accessible(found, several):
    for result in (found, several):
        for options in ({}, {"audience": "applicant"}, {"audience": "analyst"}, {"audience": "applicant", "person": 0}):
            read = Reader(result.to_html(**options))
            levels = [int(tag[1]) for tag, _ in read.tags if re.fullmatch("h[1-6]", tag)]
            assert levels[0] == 1
            assert levels.count(1) == 1
            assert all(deeper <= level + 1 for level, deeper in pairwise(levels))
            assert len(read.all("caption")) == len(read.all("table"))
            assert all(attributes.get("scope") in ("row", "col") for attributes in read.all("th"))
            ids = [attributes["id"] for _, attributes in read.tags if "id" in attributes]
            assert len(ids) == len(set(ids))
            named = [attributes["aria-labelledby"] for _, attributes in read.tags if "aria-labelledby" in attributes]
            assert set(named) <= set(ids)
            assert all(attributes.get("aria-label") for attributes in read.all("svg"))


def test_links_of_the_summary_lead_to_the_notices(several):
    read = Reader(several.to_html())
    ids = {attributes.get("id") for _, attributes in read.tags}
    assert [attributes["href"][1:] in ids for attributes in read.all("a")] == [True] * 4


def test_audiences_see_their_part(found):
    applicant, analyst = found.to_html(audience="applicant"), found.to_html(audience="analyst")
    assert len(Reader(applicant).all("article")) == 4
    assert not Reader(applicant).all("section")
    assert not Reader(analyst).all("article")
    assert "Because of" in analyst
    assert "Because of" not in applicant
    with pytest.raises(ValueError, match="audience must be one of 'both', 'applicant', 'analyst', got 'all'"):
        found.to_html(audience="all")


def test_applicants_are_not_told_to_do_what_the_model_refuses(found):
    read = Reader(found.to_html(audience="applicant", person=3))
    text = "".join(read.text)
    assert "No change to recommend for dee" in text
    assert "80" not in text
    assert "accepted" not in text


def test_page_of_one_person_shows_all_options(several, found):
    text = "".join(Reader(several.to_html(audience="applicant", person=0)).text)
    assert "Option 3 of 3" in text
    assert "Choose one option." in text
    assert "for q" not in text
    with pytest.raises(ValueError, match="person must be the position of a row that was explained, got 4"):
        found.to_html(person=4)


def pages_of(words, folder):
    """Return all pages of a result in which everything that can be text is one of these words."""
    before = pd.DataFrame({words[0]: words[:2], words[1]: words[2:4]}, index=words[:2], dtype=object)
    after = pd.DataFrame({words[0]: words[2:4], words[1]: words[:2]}, index=before.index, dtype=object)
    found = recourses(before, after, ["category"] * 2, np.ones((2, 2)), [Status.OK, Status.FELL_BACK])
    missing = recourses(before, after * 0, ["category"] * 2, np.full((2, 2), np.nan), [Status.NOT_FOUND] * 2)
    missing.reason[:] = words[0]
    pages = [found.to_html(title=words[0], note=words[1], names={words[0]: f"new {words[0]}"}), missing.to_html()]
    pages += [path.read_text("utf-8") for path in found.to_html_files(folder, title=words[0], note=words[1])]
    return [*pages, (folder / "index.html").read_text("utf-8")]


def test_everything_is_escaped(tmp_path):
    evil = ['"><script>alert(1)</script>', "'&\u202e<b onclick=1>", "x\x00\n\x1b[31m</article>", "]]><!-- \ud800"]
    harmless = ["one", "two", "three", "four"]
    for bad, good in zip(pages_of(evil, tmp_path / "evil"), pages_of(harmless, tmp_path / "good"), strict=True):
        read = Reader(bad)
        assert [tag for tag, _ in read.tags] == [tag for tag, _ in Reader(good).tags]
        assert not [name for _, attributes in read.tags for name in attributes if name.startswith("on")]
        assert not set(bad) & set("\u202e\x00\x1b")
        assert evil[0] in "".join(read.text)


def test_to_html_writes_the_page(found, tmp_path):
    page = found.to_html(tmp_path / "page.html", when=date(2025, 1, 1))
    assert (tmp_path / "page.html").read_text("utf-8") == page


def test_to_html_files_writes_a_file_for_each_person(tmp_path):
    labels = ["a/b", "A:B", "..", "CON", "x" * 300, "שלום", "a b", 17]
    before = pd.DataFrame({"n": np.arange(8.0)}, index=pd.Index(labels, dtype=object))
    found = recourses(before, before + 1.0, ["number"], np.ones((8, 1)), [Status.OK] * 8)
    paths = found.to_html_files(tmp_path / "new" / "notices")
    assert len({path.name.lower() for path in paths}) == 8
    assert all(re.fullmatch(r"notice-[A-Za-z0-9-]{1,70}\.html", path.name) for path in paths)
    assert all(path.parent == tmp_path / "new" / "notices" for path in paths)
    assert [path.name for path in paths[:2]] == ["notice-a-b.html", "notice-A-B-2.html"]
    for i, path in enumerate(paths):
        text = "".join(Reader(path.read_text("utf-8")).text)
        assert f"from {i} to {i + 1}" in text
        assert str(labels[i]) in text
    links = Reader((tmp_path / "new" / "notices" / "index.html").read_text("utf-8")).all("a")
    assert [link["href"] for link in links] == [path.name for path in paths]


def test_to_html_files_replaces_its_own_files_only(found, tmp_path):
    (tmp_path / "index.html").write_text("mine", "utf-8")
    with pytest.raises(FileExistsError, match="no earlier run wrote it"):
        found.to_html_files(tmp_path)
    with pytest.raises(TypeError, match="overwrite must be True or False"):
        found.to_html_files(tmp_path, overwrite="yes")
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]
    paths = found.to_html_files(tmp_path, overwrite=True)
    assert paths == found.to_html_files(tmp_path)
    assert all(path.is_file() for path in paths)


def test_file_names_with_numbers_at_the_end_do_not_collide(tmp_path):
    before = pd.DataFrame({"n": np.zeros(4)}, index=["a", "a-2", "a", "a"])
    found = recourses(before, before + 1.0, ["number"], np.ones((4, 1)), [Status.OK] * 4)
    assert len(set(found.to_html_files(tmp_path))) == 4


# --------------------------------------------------------------------------------------------------------------- JSON


def validate(text):
    document = json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    schema = Recourses.json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(document)
    return document


def test_json_holds_everything(found):
    document = validate(found.to_json())
    first, second, third, fourth = document["rows"]
    assert document["version"] == 2
    assert document["created_by"]["name"] == "robust-recourse"
    assert [column["kind"] for column in document["columns"]] == list(KINDS)
    assert first["before"] == {
        "savings": 1200, "rate": 0.1, "share": 0.1, "housing": "rent", "education": "school", "phone": False,
        "purpose": "car", "children": 1, "opened": "2020-01-31T00:00:00",
    }  # fmt: skip
    assert first["after"]["savings"] == 2050
    assert first["changes"][0] == {"column": "savings", "from": 1200, "to": 2050, "cost": 0.85}
    assert first["worst_case_odds"] == pytest.approx(np.exp(-1.0))
    assert second["before"] == second["after"]
    assert second["before"]["children"] is None
    assert (first["budget"], first["n_queries"], first["boundary"]) == (None, 7, first["after"])
    assert [column["type"] for column in document["columns"]] == [str(dtype) for dtype in found.x.dtypes]
    assert (third["after"], third["cost"], third["changes"], third["valid"]) == (None, None, [], False)
    assert (third["status"], third["reason"]) == ("out of time", "Because of out of time.")
    assert (fourth["valid"], fourth["after"]["savings"]) == (False, 80)


def test_json_is_written(found, tmp_path):
    text = found.to_json(tmp_path / "found.json", indent=None)
    assert (tmp_path / "found.json").read_text("ascii") == text
    assert text.count("\n") == 1
    assert json.loads(text) == json.loads(found.to_json())


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        (pd.Timestamp("2024-05-06 07:08"), "2024-05-06T07:08:00"),
        (3.5, 3.5),
        (b"\xff", "\\xff"),
        ("\ud800 lone", "\ud800 lone"),
        (pd.Period("2024-01"), "2024-01"),
        (2**70, 2**70),
    ],
)
def test_json_with_odd_labels(label, expected):
    before = pd.DataFrame({"n": [1.0]}, index=pd.Index([label], dtype=object))
    document = validate(recourses(before, before + 1.0, ["number"], [[1.0]], [Status.OK]).to_json())
    assert document["rows"][0]["label"] == expected


def test_json_with_an_index_of_several_levels():
    index = pd.MultiIndex.from_tuples([("Leeds", 1), ("York", np.nan)])
    before = pd.DataFrame({("a", "b"): [1.0, 2.0]}, index=index)
    document = validate(recourses(before, before + 1.0, ["number"], [[1.0], [1.0]], [Status.OK] * 2).to_json())
    assert [row["label"] for row in document["rows"]] == [["Leeds", 1], ["York", None]]
    assert document["columns"][0]["name"] == "a/b"


def test_json_keeps_columns_apart_whose_names_are_written_alike():
    before = pd.DataFrame([[1.0, 2.0, 3.0]], columns=pd.Index([1, "1", "1 (2)"], dtype=object))
    document = validate(recourses(before, before + 1.0, ["number"] * 3, [[1.0] * 3], [Status.OK]).to_json())
    names = [column["name"] for column in document["columns"]]
    assert len(set(names)) == 3
    assert [document["rows"][0]["before"][name] for name in names] == [1.0, 2.0, 3.0]


def test_json_of_infinite_numbers():
    before = pd.DataFrame({"n": [np.inf], "m": [1.0]})
    found = recourses(before, before.assign(m=2.0), ["fixed", "number"], [[0.0, 1.0]], [Status.OK])
    found.log_worst_case_odds[:] = 1e4
    row = validate(found.to_json())["rows"][0]
    assert row["before"]["n"] == "inf"
    assert (row["worst_case_odds"], row["log_worst_case_odds"]) == (None, 1e4)


def test_a_column_may_be_called_nan(tmp_path):
    before = pd.DataFrame([[1.0, 2.0]], columns=pd.Index([float("nan"), "b"], dtype=object))
    found = recourses(before, before + 1.0, ["number"] * 2, [[1.0, 1.0]], [Status.OK], orders={before.columns[0]: ()})
    document = validate(found.to_json())
    assert document["rows"][0]["after"] == {"nan": 2.0, "b": 3.0}
    assert document["rows"][0]["changes"][0] == {"column": "nan", "from": 1.0, "to": 2.0, "cost": 1.0}
    assert Recourses.from_json(found.to_json()).equals(found)
    assert "Raise column" in found.describe(0)
    assert len(found.changes()) == 2
    assert "column" in found.to_html(tmp_path / "page.html")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda document: document.pop("version"),
        lambda document: document["rows"][0].pop("status"),
        lambda document: document["rows"][0].update(extra=1),
        lambda document: document["rows"][0].update(rank=0),
        lambda document: document["rows"][2].update(valid=True),
        lambda document: document["rows"][0]["changes"][0].update(cost=None),
        lambda document: document["columns"][0].update(kind="text"),
    ],
)
def test_schema_refuses_other_documents(found, spoil):
    document = json.loads(found.to_json())
    spoil(document)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(Recourses.json_schema()).validate(document)


# ------------------------------------------------------------------------------------------------------------- batches


def test_empty_results(tmp_path):
    for table in (np.empty((0, 2)), pd.DataFrame({"a": np.empty(0), "b": pd.Categorical([])})):
        found = recourses(table, table, ["number", "category"], np.empty((0, 2)), [])
        assert found.to_frame().shape == (0, 9)
        assert list(found.changes().columns) == ["row", "column", "from", "to", "cost"]
        assert found.describe() == ""
        assert Reader(found.to_html()).all("h1")
        assert found.to_html_files(tmp_path) == []
        assert validate(found.to_json())["rows"] == []
        assert repr(found).startswith("Recourses(0 rows")


def test_single_recourses_are_still_there(found):
    assert len(found) == 4
    assert isinstance(found[0], Recourse)
    assert [single.status for single in found] == list(found.status)
    assert found[0].x["savings"] == 2050
    assert found[0].x0["savings"] == 1200
    assert found[0].trace is None


def test_notices_follow_the_order_of_the_columns_of_the_table(found):
    order = [8, 3, 0, 1, 2, 7, 6, 5, 4]
    names = found.x.columns[order]
    other = recourses(
        found.x0[names], found.x[names], [KINDS[k] for k in order], found.column_costs[:, order], list(found.status),
        found.valid, orders=found.orders,
    )  # fmt: skip
    keys = ["row", "column"]
    pd.testing.assert_frame_equal(
        other.changes().sort_values(keys, ignore_index=True), found.changes().sort_values(keys, ignore_index=True)
    )
