import numpy as np
import pandas as pd
import pytest

from robust_recourse.actions import ActionSet
from robust_recourse.tables import Schema

FRAME = pd.DataFrame(
    {
        "amount": [250, 900, 4000],
        "rate": [0.25, 1.5, 2.75],
        "score": [0.1234567, 2.0, np.pi],
        "job": ["cook", None, "clerk"],
        "level": pd.Categorical(["low", "high", "low"], categories=["low", "high"], ordered=True),
        "flag": [True, False, True],
        "binary": [0, 1, 1],
        "constant": [3.0, 3.0, 3.0],
        "text": ["same", "same", "same"],
        "empty": [None, None, None],
    }
)

NONSENSE = [
    ({"immutable": ["sex"]}, "immutable names column 'sex', which is not there. The columns are 'amount', 'rate'"),
    ({"increase": [0]}, "increase names column 0, which is not there"),
    ({"decrease": [-1]}, "decrease names column -1, which is not there"),
    ({"bounds": {"sex": (0, 1)}}, "bounds names column 'sex'"),
    ({"integer": ["sex"]}, "integer names column 'sex'"),
    ({"step": {"sex": 1}}, "step names column 'sex'"),
    ({"categories": {"sex": ["f"]}}, "categories names column 'sex'"),
    ({"ordered": {"sex": ["f"]}}, "ordered names column 'sex'"),
    ({"weights": {"sex": 1}}, "weights names column 'sex'"),
    ({"rules": ["amount <= sex"]}, "'amount <= sex' names column 'sex', which is not there"),
    ({"increase": ["amount"], "decrease": ["amount"]}, "'amount' is in both increase and decrease"),
    (
        {"increase": ["job"]},
        r"increase names column 'job', whose categories have no order. Give it: ordered={'job': \[",
    ),
    ({"decrease": ["job"], "categories": {"job": ["cook"]}}, "whose categories have no order"),
    ({"bounds": {"job": (0, 1)}}, "bounds names column 'job', which holds categories"),
    ({"bounds": {"flag": (0, 1)}}, "bounds names column 'flag', which holds categories"),
    ({"integer": ["job"]}, "integer names column 'job', which holds categories"),
    ({"step": {"level": 2}}, "step names column 'level', which holds categories"),
    ({"bounds": {"amount": (5, 1)}}, "is empty: its low bound 5 is above its high bound 1"),
    ({"bounds": {"amount": (120, 140)}, "step": {"amount": 50}}, "no multiple of 50 between 120 and 140"),
    ({"bounds": {"amount": (0.2, 0.8)}}, "no multiple of 1 between 0.2 and 0.8"),
    ({"step": {"amount": 0}}, r"step\['amount'\] must be greater than 0"),
    ({"step": {"amount": float("inf")}}, r"step\['amount'\] must be finite"),
    ({"step": {"rate": 0.5}, "integer": ["rate"]}, "'rate' is in integer, but its step is 0.5"),
    ({"weights": {"job": 0}}, r"weights\['job'\] must be greater than 0"),
    ({"categories": {"job": []}}, r"categories\['job'\] is empty. Put the column in immutable"),
    ({"categories": {"job": ["cook", "cook"]}}, r"categories\['job'\] has 'cook' twice"),
    ({"categories": {"job": ["cook", None]}}, "a missing cell always stays missing"),
    ({"categories": {"job": ["kook"]}}, "has 'kook', which no training row has. They have 'cook', 'clerk'"),
    ({"categories": {"job": ["cook", "chef"]}}, r"categories\['job'\] has 'chef', which no training row has"),
    ({"categories": {"level": ["low", "mid"]}}, "has 'mid', which no training row has. They have 'low', 'high'"),
    (
        {"effects": {"amount": {"binary": 1}}},
        "is about column 'binary', which holds categories. If its 0 and 1 are numbers, give it the bounds 0 and 1",
    ),
    ({"effects": {"binary": {"amount": 1}}}, "column 'binary', which holds categories. If its 0 and 1 are numbers"),
    ({"effects": {"amount": {"flag": 1}}}, r"about column 'flag', which holds categories\.$"),
    ({"units": {"amount": "seconds since 1970-01-01"}}, r"units\['amount'\] must count days, as in 'days since"),
    ({"step": {"amount": 1e-320}}, r"step\['amount'\] must be at least 1e-50"),
    ({"step": {"amount": 1e300}}, r"step\['amount'\] must be at most 1e\+100"),
    (
        {"ordered": {"job": ["clerk"]}},
        "must list every value of the training rows, from low to high; 'cook' is missing",
    ),
    ({"ordered": {"amount": [250, 900]}}, "4000 is missing"),
    ({"ordered": {"job": ["clerk", "cook"]}, "step": {"job": 1}}, "'job' is in ordered, so it cannot have bounds"),
    ({"categories": {"amount": [250]}, "bounds": {"amount": (0, 1)}}, "'amount' is in categories, so it cannot"),
    (
        {"categories": {"job": ["chef"]}, "ordered": {"job": ["clerk", "cook"]}},
        r"categories\['job'\] has 'chef', which actions.ordered does not list",
    ),
    ({"max_changes": 0}, "max_changes must be at least 1"),
    ({"rules": ["amount <= job"]}, "'amount <= job' names column 'job', which holds categories"),
    ({"rules": ["amount <= flag"]}, "names column 'flag', which holds categories"),
    ({"rules": ["amount <= text"]}, "names column 'text', which holds no numbers"),
    ({"rules": ["amount <= empty"]}, "names column 'empty', which holds no numbers"),
]


@pytest.mark.parametrize(("rules", "match"), NONSENSE)
def test_nonsense_is_refused_at_once_with_training_rows_and_later_without(rules, match):
    with pytest.raises(ValueError, match=match):
        ActionSet(FRAME, **rules)
    actions = ActionSet(**rules)
    with pytest.raises(ValueError, match=match):
        actions.schema_for(FRAME)


@pytest.mark.parametrize(
    ("rules", "match"),
    [
        ({"immutable": [True]}, "give column numbers, not a mask"),
        ({"max_changes": 2.5}, "max_changes must be an integer"),
        ({"step": {"amount": "50"}}, r"step\['amount'\] must be a real number"),
        ({"bounds": {"amount": ("0", 1)}}, r"bounds\['amount'\]\[0\] must be a real number"),
    ],
)
def test_wrong_types_are_refused(rules, match):
    with pytest.raises(TypeError, match=match):
        ActionSet(FRAME, **rules)


@pytest.mark.parametrize(
    "rules",
    [
        {"increase": ["level", "flag", "binary", "amount", "constant", "text", "empty"]},
        {"bounds": {"constant": (0, 1), "empty": (0, 1), "text": (0, 1)}},
        {"bounds": {"amount": (101, 150)}, "step": {"amount": 50}},
        {"bounds": {"rate": (0.7, 0.7)}, "step": {"rate": 0.1}},
        {"bounds": {"amount": (None, 0.5)}},
        {"integer": ["rate", "amount"], "step": {"rate": 5}},
        {"categories": {"job": ["cook"], "amount": [250, 900]}, "weights": {"job": 3}},
        {"categories": {"level": ["low", "high"]}},
        {"effects": {"amount": {"binary": 0.1}}, "bounds": {"binary": (0, 1)}},
        {"effects": {"binary": {"amount": 100}}, "bounds": {"binary": (0, 1)}},
        {"units": {"amount": "months since the last payment"}},
        {"ordered": {"job": ["clerk", "cook", "chef"]}, "categories": {"job": ["cook", "chef"]}, "decrease": ["job"]},
        {"ordered": {"amount": [4000, 250, 900]}, "increase": ["amount"]},
        {"rules": ["amount <= 2 * rate + constant"], "immutable": ["amount"]},
        {"immutable": list(FRAME.columns), "increase": ["amount"], "bounds": {"amount": (0, 1)}},
    ],
)
def test_what_makes_sense_is_accepted(rules):
    actions = ActionSet(FRAME, **rules)
    assert actions.schema is actions.schema_for(FRAME.iloc[:1])
    actions.resolve(actions.schema)


def test_whole_numbers_that_are_0_or_1_are_numbers_when_they_are_used_so():
    kinds = {}
    for name, rules in {
        "free": {},
        "bounds": {"bounds": {"binary": (0, 5)}},
        "rule": {"rules": ["binary <= amount"]},
        "integer": {"integer": ["binary"]},
        "up": {"increase": ["binary"]},
    }.items():
        (column,) = [c for c in ActionSet(FRAME, **rules).schema.columns if c.name == "binary"]
        kinds[name] = column.kind
    assert kinds == {"free": "ordered", "bounds": "number", "rule": "number", "integer": "number", "up": "ordered"}


def test_bounds_do_not_round_a_column_of_fractions():
    (column,) = [c for c in ActionSet(FRAME, bounds={"score": (0, 5)}).schema.columns if c.name == "score"]
    assert column.step == 0.0


@pytest.mark.parametrize(
    ("rules", "match"),
    [
        ({"integer": [0]}, "integer names column 0, but the columns of an array are continuous. Give a DataFrame"),
        ({"step": {0: 0.5}}, "step names column 0, but the columns of an array are continuous"),
        ({"categories": {1: [0.0, 1.0]}}, "categories names column 1, but the columns of an array are continuous"),
        ({"ordered": {1: [0.0, 1.0]}}, "ordered names column 1, but the columns of an array are continuous"),
        ({"rules": ["x0 <= x2"]}, "names column 'x2', which is not there. The columns are x0 to x1"),
        ({"rules": ["a <= x1"]}, "names column 'a', which is not there"),
        ({"immutable": [2]}, "names column 2, which is not there. The columns are 0 to 1"),
        ({"bounds": {1: (0, 1), -1: (0, 2)}}, "bounds names column 1 twice, also as -1"),
        ({"increase": [1], "decrease": [-1]}, "column 1 is in both increase and decrease"),
    ],
)
def test_arrays_are_continuous(rules, match):
    X = np.array([[0.0, 1.0], [2.0, 3.0]])
    with pytest.raises(ValueError, match=match):
        ActionSet(X, **rules)
    with pytest.raises(ValueError, match=match):
        ActionSet(**rules).resolve(Schema.of_array(2))


def test_an_array_may_be_restricted_by_position():
    actions = ActionSet(np.eye(3), immutable=[-1], bounds={0: (0, 1)}, rules=["x0 + x1 <= 1"], max_changes=1)
    assert len(actions.schema.columns) == 3


def test_a_schema_that_does_not_know_the_steps_is_refused():
    with pytest.raises(ValueError, match="its kind was learnt without it"):
        ActionSet(step={"amount": 50}).resolve(Schema.learn(FRAME))
    with pytest.raises(ValueError, match="its kind was learnt without it"):
        ActionSet(ordered={"amount": [250, 900, 4000]}).resolve(Schema.learn(FRAME))
    with pytest.raises(ValueError, match="its kind was learnt without it"):
        ActionSet(integer=["rate"]).resolve(Schema.learn(FRAME))


@pytest.mark.parametrize(
    ("units", "message"),
    [
        ({"when": "EUR"}, r"actions.units\['when'\] is 'EUR', but the column holds moments"),
        ({"rate": "days since 2020-01-01"}, "the training rows have fractions there"),
    ],
)
def test_units_fit_the_column(units, message):
    rows = {"when": pd.date_range("2020-01-01", periods=9), "rate": np.arange(9) / 7, "day": np.arange(9)}
    with pytest.raises(ValueError, match=message):
        ActionSet(pd.DataFrame(rows), units=units)
    ActionSet(pd.DataFrame(rows), units={"when": "date", "rate": "EUR", "day": "days since 2020-01-01"})


@pytest.mark.parametrize(
    "word", ["bounds", "step", "categories", "never", "link", "effects", "weights", "cost", "units"]
)
def test_none_says_nothing_about_a_column(word):
    with pytest.raises(ValueError, match=rf"actions.{word}\['amount'\] is None. Leave the column out"):
        ActionSet(**{word: {"amount": None}})


@pytest.mark.parametrize(
    ("rule", "hint"),
    [
        ("savings >= 3", ""),
        ("limit >= 3", ""),
        ("credit-limit >= 3", " In a rule the column 'credit-limit' is written `credit-limit`."),
    ],
)
def test_a_hint_how_a_column_is_written_is_about_one_that_the_rule_has(rule, hint):
    names = ["in", "a", "credit-limit"]
    frame = pd.DataFrame({name: [1.5, 2.5, 3.7] for name in names})
    with pytest.raises(ValueError, match=r"which is not there\. The columns are 'in', 'a', 'credit-limit'\.") as caught:
        ActionSet(frame, rules=[rule])
    assert str(caught.value).endswith(f"'credit-limit'.{hint}")
