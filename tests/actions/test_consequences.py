"""Columns that follow others."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from robust_recourse import ActionSet, NearestAccepted, RobustBayesianRecourse, Wachter, load, save

SCHOOLS = {"none": 8, "high": 12, "college": 16}
RNG = np.random.default_rng(0)
PEOPLE = pd.DataFrame(
    {
        "school": np.tile(list(SCHOOLS), 30),
        "years": np.tile(list(SCHOOLS.values()), 30),
        "savings": np.arange(90) * 100.0,
        "income": RNG.integers(100, 400, 90) * 10,
        "rent": RNG.integers(300, 900, 90),
    },
    index=[f"P{k}" for k in range(90)],
)


def consequences(actions, rows, before):
    """What becomes of people, as the search sees it: a frame of what they do to one of what they become."""
    schema = actions.schema_for(PEOPLE)
    moves, read = actions.resolve(schema), [schema.read(table, "X") for table in (rows, before)]
    values = moves.consequences(read[0].values, read[1].values, read[1].missing)
    kept = moves.keeps_rules(read[0].values, read[1].values, read[1].missing)
    return read[1].restore(values, np.arange(len(rows)), np.ones(len(rows), dtype=bool)), kept


def test_a_column_follows_as_in_the_training_rows():
    actions = ActionSet(PEOPLE, link={"years": "school"})
    before = PEOPLE.iloc[[0, 1, 2, 0]]
    became, kept = consequences(actions, before.assign(school=["college", "none", "college", "none"]), before)
    assert became["years"].tolist() == [16, 8, 16, 8]
    assert kept.all()
    assert not actions.resolve(actions.schema).rises[1]


def test_somebody_whose_own_pair_is_another_keeps_it():
    actions = ActionSet(PEOPLE, link={"years": "school"})
    before = PEOPLE.iloc[[0, 0]].assign(years=[11, 11])
    became, _ = consequences(actions, before.assign(school=["none", "high"]), before)
    assert became["years"].tolist() == [11, 12]


def test_pairs_that_are_given_come_before_the_training_rows():
    odd = PEOPLE.assign(years=RNG.permutation(PEOPLE["years"].to_numpy()))
    actions = ActionSet(odd, link={"years": {"school": {"none": 8, "high": 16}}})
    assert actions.resolve(actions.schema).targets[0].tolist() == [False, True, True]  # nobody says what college is
    assert actions.check(odd.head(1), odd.head(1).assign(school="high", years=16)) == []


def test_training_rows_that_disagree_are_named():
    message = (
        "column 'years' does not follow 'school' in the training rows: with 'high' it is 12 in row 'P1', "
        "but 16 in row 'P4'."
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        ActionSet(PEOPLE.assign(years=[8, 12, 16, 8, 16, 16] * 15), link={"years": "school"})


@pytest.mark.filterwarnings("ignore:Column .* alone tells whom the model accepts")
def test_rows_with_gaps_say_nothing_about_a_link():
    gaps = PEOPLE.assign(years=PEOPLE["years"].where(PEOPLE["school"] != "college").astype("Int64"))
    actions = ActionSet(gaps, link={"years": "school"})
    assert actions.schema.columns[1].partners == (("none", 8), ("high", 12))
    found = NearestAccepted(lambda X: X["school"] == "college", actions).fit(gaps).explain(gaps.head(2))
    assert not found.valid.any()  # what college means for the years is not known


@pytest.mark.filterwarnings("ignore:Column .* alone tells whom the model accepts")
def test_a_missing_follower_stays_missing():
    gaps = PEOPLE.assign(years=PEOPLE["years"].astype(float).where(np.arange(90) != 0))
    actions = ActionSet(gaps, link={"years": "school"}, immutable=["savings", "income", "rent"])
    found = NearestAccepted(lambda X: X["school"] == "high", actions).fit(gaps).explain(gaps.head(1))
    assert found.x["school"].tolist() == ["high"]
    assert found.x["years"].isna().all()
    assert actions.check(gaps.head(1), found.x) == []


def test_numbers_lead_to_values_that_were_seen_only():
    actions = ActionSet(PEOPLE, link={"school": "years"}, immutable=["savings", "income", "rent"])
    found = (
        RobustBayesianRecourse(lambda X: X["years"] > 9, actions, random_state=0).fit(PEOPLE).explain(PEOPLE.head(1))
    )
    assert found.x[["years", "school"]].values.tolist() == [[12, "high"]]
    _, kept = consequences(actions, PEOPLE.head(1).assign(years=10), PEOPLE.head(1))
    assert not kept.any()


def test_words_about_a_follower_limit_its_leader():
    actions = ActionSet(PEOPLE, link={"years": "school"}, decrease=["years"], bounds={"years": (10, None)})
    before = PEOPLE.iloc[[2, 2, 1]]
    after = before.assign(school=["high", "none", "college"])
    assert consequences(actions, after, before)[1].tolist() == [True, False, False]
    violations = actions.check(before.reset_index(drop=True), after.assign(years=[12, 8, 16]).reset_index(drop=True))
    assert [(violation.row, violation.rule) for violation in violations] == [(1, "bounds"), (2, "decrease")]


def test_effects_move_numbers_and_effects_of_effects_count():
    actions = ActionSet(
        PEOPLE, effects={"savings": {"income": 0.1}, "income": {"rent": 0.5}}, bounds={"rent": (0, 9000)}
    )
    before = PEOPLE.iloc[[0, 0, 0]].assign(income=1000, rent=500)
    did = before.assign(savings=[0.0, 1240.0, 1260.0], income=[1000, 1000, 1100])
    became, kept = consequences(actions, did, before)
    assert became["income"].tolist() == [1000, 1120, 1230]  # 124 and 126, in tens
    assert became["rent"].tolist() == [500, 560, 615]
    assert kept.all()


def test_rounding_never_goes_against_an_effect():
    actions = ActionSet(PEOPLE, effects={"savings": {"income": 0.1}})
    before = PEOPLE.iloc[[0, 0]].assign(income=[1003, 1003])
    became, _ = consequences(actions, before.assign(savings=[10.0, 80.0]), before)
    assert became["income"].tolist() == [1003, 1010]


def test_an_effect_that_leaves_the_bounds_is_not_allowed():
    actions = ActionSet(PEOPLE, effects={"savings": {"income": 0.1}}, bounds={"income": (0, 1500)})
    before = PEOPLE.iloc[[0, 0]].assign(income=1400)
    _, kept = consequences(actions, before.assign(savings=[1000.0, 1100.0]), before)
    assert kept.tolist() == [True, False]


def test_only_what_a_person_does_is_paid_counted_and_told():
    actions = ActionSet(
        PEOPLE, effects={"savings": {"income": 0.1}}, immutable=["income", "school", "years", "rent"], max_changes=1
    )
    method = NearestAccepted(lambda X: X["income"] >= X["income"].mul(0).add(3000), actions)
    person = PEOPLE.head(1).assign(income=2900)
    found = method.fit(PEOPLE).explain(person)
    assert found.valid.all()
    assert found.x["income"].item() >= 3000
    assert found.column_costs[0, 3] == 0.0
    assert found.cost[0] == pytest.approx(found.x["savings"].item() / actions.schema.columns[2].unit)
    assert f"; income then becomes {found.x['income'].item():,};" in found.describe(0)
    assert "follows from the rest" in found.to_html()
    assert actions.check(person, found.x) == []


def test_the_check_knows_what_others_make_of_a_column():
    actions = ActionSet(PEOPLE, effects={"savings": {"income": 0.1}}, immutable=["income"], link={"years": "school"})
    before = PEOPLE.iloc[[0, 0, 0]].assign(income=1000).reset_index(drop=True)
    after = before.assign(savings=[1000.0, 1000.0, 0.0], income=[1100, 1000, 1100], years=[8, 8, 12])
    assert [str(violation) for violation in actions.check(before, after)] == [
        "Row 1: income became 1000 instead of 1100.0, which other changes make it, but it only moves with savings.",
        "Row 2: years is 12, but it follows school, which is 'none', and must be 8.",
        "Row 2: income changed from 1000 to 1100, but it only moves with savings.",
    ]


def test_arrays_have_effects_and_no_links():
    X = RNG.uniform(0.0, 1.0, (50, 2))
    actions = ActionSet(effects={0: {1: -0.5}}, immutable=[-1])
    method = RobustBayesianRecourse(lambda X: X[:, 0] + X[:, 1] > 1.0, actions, random_state=0).fit(X)
    found = method.explain([[0.1, 0.6]])
    np.testing.assert_array_equal(found.x[:, 1], 0.6 + -0.5 * (found.x[:, 0] - 0.1))
    assert found.cost == found.x[:, 0] - 0.1
    assert actions.check([[0.1, 0.6]], found.x) == []
    with pytest.raises(ValueError, match="columns of an array are continuous"):
        NearestAccepted(lambda X: X[:, 0] > 0.5, ActionSet(link={0: 1})).fit(X)


def test_gradients_see_what_follows():
    def model(X):
        return 1.0 / (1.0 + np.exp(-(X["income"] - 3000) / 100.0))

    others = ["school", "years", "income", "rent"]
    actions = ActionSet(PEOPLE, effects={"savings": {"income": 0.5}}, immutable=others)
    found = Wachter(model, actions).fit(PEOPLE).explain(PEOPLE.head(1).assign(income=2000))
    assert found.valid.all()
    assert found.x["savings"].item() == pytest.approx(2000, abs=100)  # its step


def test_closed_forms_do_not_pass_for_gradients_of_what_follows():
    numbers = PEOPLE[["savings", "income"]]
    model = LogisticRegression().fit(numbers.assign(savings=0.0), numbers["income"] > 2500)
    actions = ActionSet(numbers, effects={"savings": {"income": 0.5}}, immutable=["income"])
    found = Wachter(model, actions).fit(numbers).explain(numbers.head(1).assign(income=2000))
    assert found.valid.all()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            {"effects": {"income": {"rent": 1.0}, "rent": {"income": 1.0}}},
            "lead in a circle: 'rent', 'income', 'rent'",
        ),
        ({"effects": {"income": {"income": 1.0}}}, "lead in a circle: 'income', 'income'"),
        ({"link": {"years": "school", "school": "years"}}, "lead in a circle"),
        ({"link": {"years": "school"}, "effects": {"income": {"years": 1.0}}}, "follows 'school' by link, and effects"),
        ({"effects": {"school": {"income": 1.0}}}, "is about column 'school', which holds categories"),
        ({"effects": {"income": {"wage": 1.0}}}, "actions.effects names column 'wage', which is not there"),
        ({"effects": {"income": {"rent": np.inf}}}, "actions.effects['income']['rent'] must be finite"),
        ({"link": {"years": "scool"}}, "actions.link names column 'scool', which is not there"),
        ({"link": {"years": {"school": {"high": 12.5}}}}, "makes it 12.5 with 'high', which it never has"),
        ({"link": {"years": {"school": {"hihg": 12}}}}, "has 'hihg', which column 'school' never has"),
        ({"link": {"years": {"school": [("high", 12), ("high", 16)]}}}, "names a value of 'school' twice"),
        ({"link": {"years": {"school": {}}}}, "has no pairs"),
        ({"link": {"years": {}}}, "must name one column"),
    ],
)
def test_what_makes_no_sense_raises(words, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        ActionSet(PEOPLE, **words)


WORDS = {
    "link": {"years": "school"},
    "effects": {"savings": {"income": 0.1, "rent": -0.05}},
    "never": {"school": [("none", "college")]},
}


def test_it_reads_back_from_a_file(tmp_path):
    file = tmp_path / "actions.toml"
    for words in (WORDS, {"link": {"years": {"school": SCHOOLS}}}, {"effects": {0: {-1: 0.5}}}):
        actions = ActionSet(**words)
        file.write_text(actions.to_toml())
        assert ActionSet.from_toml(file) == actions != ActionSet()
    file.write_text("[columns.years]\npairs = [['none', 8]]\n")
    with pytest.raises(ValueError, match="pairs needs a column that it follows"):
        ActionSet.from_toml(file)
    file.write_text("[columns.years]\neffects = { income = 'much' }\n")
    with pytest.raises(ValueError, match="effects must be a table of numbers"):
        ActionSet.from_toml(file)


def test_a_method_that_was_saved_does_the_same(tmp_path):
    def model(X):
        return X["income"] + 100 * X["years"] > 4500

    method = RobustBayesianRecourse(model, ActionSet(**WORDS), random_state=0).fit(PEOPLE)
    save(method, tmp_path / "method", include_model=False)
    again = load(tmp_path / "method", model=model)
    refused = PEOPLE[~model(PEOPLE)].head(5)
    assert again.explain(refused).equals(method.explain(refused))
    assert again.actions == method.actions


def test_an_overview_says_what_follows():
    actions = ActionSet(PEOPLE, immutable=["income"], **WORDS)
    text = " ".join(str(actions).split())
    assert "years number follows school" in text
    assert "income number only moves with savings" in text
    assert "effect: each 1 of savings adds 0.1 to income" in text


def test_a_file_to_start_from_proposes_links_that_hold():
    from robust_recourse.actions.toml import starting_toml

    text = starting_toml(PEOPLE.assign(note=np.where(PEOPLE["school"] == "none", "x", "y")))
    assert '# follows = "school"  # as in all training rows' in text.split("[columns.years]")[1].split("[")[0]
    assert '# follows = "school"' in text.split("[columns.note]")[1]
    assert "# follows" not in text.split("[columns.school]")[1].split("[columns")[0]
    assert text.count("# follows = ") == 2
    assert "# follows = " not in starting_toml(PEOPLE.head(20))  # too few rows to believe it


def proposed(frame):
    from robust_recourse.actions.links import proposed_links
    from robust_recourse.tables import Schema

    links = proposed_links(Schema.learn(frame), frame)
    ActionSet(frame, link=links)  # they hold, also together
    return links


def test_numbers_that_repeat_lead_too():
    rng = np.random.default_rng(1)
    town = rng.integers(0, 80, 300)
    frame = pd.DataFrame(
        {
            "group": "",
            "age": rng.integers(18, 70, 300),
            "level": rng.integers(1, 6, 300),
            "town": np.char.add("t", town.astype(str)),
            "post": 10_000 + town,
            "income": rng.normal(3000, 500, 300).round(2),
            "constant": 1,
        }
    )
    frame["group"] = pd.cut(frame["age"], [0, 30, 45, 99], labels=["young", "mid", "old"]).astype(str)
    frame["old"] = (frame["group"] == "old").astype(int)
    frame["worked"] = frame["age"] - 18
    frame["points"] = (10.0 * frame["level"]).where(rng.random(300) < 0.9)
    expected = {"group": "age", "old": "age", "worked": "age", "points": "level", "post": "town"}
    assert proposed(frame) == expected
    assert proposed(pd.concat([frame] * 5, ignore_index=True)) == expected
    assert proposed(frame.head(40)) == {}
    frame.loc[7, "worked"] += 1
    assert "worked" not in proposed(frame)


def test_few_kinds_of_rows_are_no_copies_of_few():
    frame = pd.DataFrame({"level": np.arange(600) % 4, "points": np.arange(600) % 4 * 10})
    assert proposed(frame) == {"points": "level"}


@pytest.mark.parametrize("seed", range(30))
def test_no_link_is_proposed_by_chance(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.choice([30, 100, 300, 1000]))
    kinds = [
        lambda: rng.integers(0, rng.integers(2, n), n),
        lambda: (rng.random(n) < rng.choice([0.001, 0.01, 0.1, 0.5])).astype(int),
        lambda: rng.poisson(rng.choice([0.01, 0.1, 1, 10]), n),
        lambda: np.char.add("t", rng.integers(0, rng.integers(2, n // 3), n).astype(str)),
        lambda: np.where(rng.random(n) < 0.95, 0, rng.integers(1, n, n)),
        lambda: rng.lognormal(8, 0.5, n).round(-1),
    ]
    table = pd.DataFrame({f"x{k}": kinds[rng.integers(6)]() for k in range(12)})
    again = table.sample(2 * n, replace=True, random_state=seed)
    for frame in (table, again, pd.concat([again] * 3)):
        assert proposed(frame.reset_index(drop=True)) == {}


def test_a_number_that_is_mostly_shared_is_no_evidence_for_the_others():
    rng = np.random.default_rng(0)
    months = np.where(np.arange(500) < 450, 999, 0)
    months[450:] = rng.permutation(np.r_[np.arange(40), np.arange(10)])
    late = np.where(months == 999, 0, 1 + months % 3)  # ten people show what forty values have
    assert proposed(pd.DataFrame({"months": months, "late": late, "income": rng.normal(size=500)})) == {}
