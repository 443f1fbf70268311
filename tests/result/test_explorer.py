"""What the page is told about a result."""

from datetime import date

import numpy as np
import pandas as pd
import pytest

from robust_recourse import ActionSet, Jury, NearestAccepted
from robust_recourse.result.explorer import explorer_data

TABLE = pd.DataFrame(
    {
        "income": [1000, 1500, 2600, 1200, 3000],
        "debt": [5.5, 2.0, 0.5, 4.0, 0.25],
        "job": ["none", "cook", "cook", "none", "clerk"],
    },
    index=["Ann", "Bo", "Cy", "Di", "Ed"],
)


def accept(table, least=2000.0):
    frame = table if isinstance(table, pd.DataFrame) else table.to_pandas()
    return (frame["income"] - 100.0 * frame["debt"] + 300.0 * (frame["job"] == "clerk") > least).to_numpy()


LATER = [lambda table, least=least: accept(table, least) for least in (1800.0, 2100.0, 2500.0, 9e9)]


def explained(table, n_recourses=2):
    actions = ActionSet(units={"income": "EUR"})
    return NearestAccepted(accept, actions, random_state=0).fit(table).explain(table, n_recourses=n_recourses)


def data_of(found, **options):
    return explorer_data(found, title="T", when=date(2026, 1, 31), **options)


def test_people_and_plans_are_those_of_the_result():
    found = explained(TABLE)
    data = data_of(found)
    assert [person["label"] for person in data["people"]] == list(TABLE.index)
    assert [person["row"] for person in data["people"]] == TABLE.to_numpy().tolist()
    assert [column["name"] for column in data["columns"]] == list(TABLE.columns)
    assert data["columns"][0]["unit"] == "EUR"
    for number, person in enumerate(data["people"]):
        mine = found[found.person == number]
        assert [plan["cost"] for plan in person["plans"]] == mine.cost.tolist()
        for plan, recourse in zip(person["plans"], mine, strict=True):
            after = list(person["row"])
            for column, value, _ in plan["changes"]:
                after[column] = value
            assert after == list(recourse.x)
            assert "steps" not in plan


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_steps_are_what_the_models_say_in_every_order(library):
    table = TABLE if library == "pandas" else pytest.importorskip("polars").from_pandas(TABLE)
    found = explained(table)
    data = data_of(found, model=accept, jury=Jury(LATER), rows=table)
    several = 0
    for number, person in enumerate(data["people"]):
        for plan in person["plans"]:
            own = [change for change in plan["changes"] if change[2]]
            several += len(own) > 1
            assert set(plan["steps"]) == ({str(mask) for mask in range(2 ** len(own))} if own else set())
            for mask, (yes, share) in plan["steps"].items():
                row = TABLE.iloc[[number]].astype(object).copy()
                for k, (column, value, _) in enumerate(own):
                    if int(mask) >> k & 1:
                        row.iloc[0, column] = value
                assert yes == bool(accept(row)[0])
                assert share == np.mean([model(row)[0] for model in LATER])
    assert several
    assert data["jurors"] == len(LATER)
    assert data["background"][2]["values"] == ["none", "cook", "clerk"]
    assert data["background"][2]["accepted"] == [0, 1, 1]


def test_an_array_has_steps_too():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 0.0, (6, 2))
    method = NearestAccepted(lambda x: x.sum(axis=1) > 1.0, random_state=0).fit(np.array([[1.0, 1.0], [-1.0, 0.0]]))
    found = method.explain(X)
    data = data_of(found, model=lambda x: x.sum(axis=1) > 1.0)
    for person, plan in ((person, person["plans"][0]) for person in data["people"]):
        for mask, (yes,) in plan["steps"].items():
            row = np.array(person["row"])
            for k, (column, value, _) in enumerate(plan["changes"]):
                if int(mask) >> k & 1:
                    row[column] = value
            assert yes == (row.sum() > 1.0)


def test_somebody_without_a_plan_is_told_why():
    method = NearestAccepted(accept, ActionSet(immutable=list(TABLE.columns)), random_state=0).fit(TABLE)
    person = data_of(method.explain(TABLE), model=accept)["people"][0]
    (plan,) = person["plans"]
    assert not plan["exists"]
    assert plan["changes"] == []
    assert plan["steps"] == {}
    assert plan["status"] == "nothing may change"
    assert plan["reason"]


def test_names_are_told_beside_those_of_the_table():
    data = data_of(explained(TABLE), names={"debt": "what is owed"})
    assert [column.get("title") for column in data["columns"]] == [None, "what is owed", None]
    with pytest.raises(ValueError, match="names has 'dept', which is no column"):
        data_of(explained(TABLE), names={"dept": "what is owed"})


def test_to_explorer_writes_the_page_and_the_notices(tmp_path):
    found = explained(TABLE)
    page = found.to_explorer(tmp_path / "a", title="Loans")
    assert page.name == "index.html"
    assert {each.name for each in (page.parent / "notices").glob("notice-*.html")} == {
        f"notice-{name}.html" for name in TABLE.index
    }
    bare = found.to_explorer(tmp_path / "b", with_notices=False)
    assert not (bare.parent / "notices").exists()
    (page.parent / "notices" / "mine.html").write_text("mine")
    found.to_explorer(tmp_path / "a", with_notices=False)
    assert [each.name for each in (page.parent / "notices").iterdir()] == ["mine.html"]
    with pytest.raises(TypeError, match="with_notices"):
        found.to_explorer(tmp_path / "c", with_notices="no")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "index.html").write_text("mine")
    with pytest.raises(FileExistsError):
        found.to_explorer(tmp_path / "d")
    assert not (tmp_path / "d" / "notices").exists()
