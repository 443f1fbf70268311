import operator
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse.actions import ActionSet, Rule
from robust_recourse.actions.rules import quoted

RELATIONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
NUMBERS = st.sampled_from(["2", "0.1", "3.7", "1e-3", "250", ".5", "1_000"])
SUMS = st.recursive(
    st.one_of(st.sampled_from("abc"), NUMBERS, st.builds("{} * {}".format, NUMBERS, st.sampled_from("abc"))),
    lambda inner: st.one_of(
        st.builds("({} + {})".format, inner, inner),
        st.builds("({} - {})".format, inner, inner),
        st.builds("-({})".format, inner),
        st.builds("({}) / {}".format, inner, NUMBERS),
        st.builds("{} * ({})".format, NUMBERS, inner),
    ),
    max_leaves=6,
)
VALUES = st.lists(st.floats(-1e3, 1e3), min_size=4, max_size=4)


@settings(deadline=None, max_examples=80)
@given(SUMS, SUMS, st.sampled_from(list(RELATIONS)), VALUES, VALUES, VALUES)
def test_a_rule_holds_when_python_says_so_to_the_last_bit(left, right, sign, a, b, c):
    text = f"{left} {sign} {right} + 0.3 * d"
    values = {"a": np.array(a), "b": np.array(b), "c": np.array(c), "d": np.full(4, 0.7)}
    rule = Rule(text)
    expected = eval(text, {}, values)
    np.testing.assert_array_equal(rule.holds(values), expected & np.ones(4, dtype=bool))


@settings(deadline=None, max_examples=80)
@given(SUMS, SUMS, st.sampled_from(list(RELATIONS)))
def test_the_normal_form_says_the_same(left, right, sign):
    text = f"{left} {sign} {right} + 7 * d"
    rule = Rule(text)
    point = {"a": 3.0, "b": -11.0, "c": 5.0, "d": 2.0}
    sides = [eval(side, {}, point) for side in (left, f"{right} + 7 * d")]
    low, high = sides if sign in {"<", "<="} else sides[::-1]
    assert rule.bound - sum(t * point[name] for name, t in rule.terms.items()) == pytest.approx(
        high - low, rel=1e-9, abs=1e-6
    )
    assert rule.strict == (sign in {"<", ">"})
    assert set(rule.terms) == set(rule.columns)


def test_rounding_errors_are_those_of_the_text():
    a, b = np.array([0.1]), np.array([0.2])
    assert not Rule("a + b <= 0.3").holds({"a": a, "b": b})[0]
    assert Rule("a <= 0.3 - b + 1e-16").holds({"a": a, "b": b})[0]


def test_a_missing_value_breaks_nothing():
    rule = Rule("used < limit")
    nan = np.nan
    np.testing.assert_array_equal(
        rule.holds({"used": [1, nan, 9, nan], "limit": [1, 1, nan, nan]}), [False, True, True, True]
    )
    assert Rule("a <= 3").holds({"a": [nan]})[0]


def test_infinite_values_warn_of_nothing():
    np.testing.assert_array_equal(Rule("a - b <= 1").holds({"a": [np.inf, 1.0], "b": [np.inf, 1.0]}), [False, True])


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("`credit amount` <= `a.b` + `it's``s`", ("credit amount", "a.b", "it's`s")),
        ("`2nd` + `class` > lambda_ * 2", ("2nd", "class", "lambda_")),
        ("größe <= µ", ("größe", "µ")),
        ("a ≤ b", ("a", "b")),
        ("  b\n >= a  ", ("b", "a")),
        ("c0 <= c1 + a", ("c0", "c1", "a")),
    ],
)
def test_names_are_what_the_user_wrote(text, columns):
    rule = Rule(text)
    assert rule.columns == columns
    assert rule.text == text
    assert rule.holds({name: [np.nan] for name in columns})[0]


def test_names_are_those_of_pandas():
    frame = pd.DataFrame({"credit amount": [1.0, 2.0, 3.0], "limit": [2.0, 2.0, 2.0]})
    text = "`credit amount` * 2 <= limit + 2"
    np.testing.assert_array_equal(Rule(text).holds(frame), frame.eval(text))


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("a * b <= 1", "multiplies 'a' by 'b', but rules are linear"),
        ("1 / a <= 1", "divides by the column 'a', but rules are linear"),
        ("a / (1 - 1) <= 1", "divides by 0"),
        ("a ** 2 <= 1", "may only add, subtract"),
        ("abs(a) <= 1", "may only add, subtract"),
        ("a <= 'b'", "names go between backticks, not quotes: write b"),
        ('a <= "credit-\\d" + 1', r"not quotes: write `credit-\\d`"),
        ("a <= ''", "may only add, subtract"),
        ("a <= True", "may only add, subtract"),
        ("__import__('os') <= a", "may only add, subtract"),
        ("a.b <= 1", "a name with a dot goes between backticks"),
        ("a <= b <= c", "compares more than once"),
        ("a <= b and b <= c", "has 'and' or 'or'"),
        ("a == b", "must compare with <, <=, > or >="),
        ("a != b", "must compare with"),
        ("a in b", "must compare with"),
        ("a = b", "is no inequality"),
        ("a + b", "is no inequality"),
        ("", "is no inequality"),
        ("credit amount <= 1", "If 'credit amount' is a column, write `credit amount`"),
        ("2 * `my own` + credit amount 2 <= 1", "If 'credit amount 2' is a column, write `credit amount 2`"),
        ("a% <= 1", "no plain words go between backticks, as in '`credit limit` >= 500'"),
        ("2a <= b", "is no inequality"),
        ("a <= 0x10", "is no inequality"),
        (" + ".join(["a"] * 1000) + " <= 1", r"a \+ a \+ \.\.\.': it is too long: a rule may have 200 signs"),
        ("-" * 300 + "a <= 1", "it is too long"),
        ("a <= 1j", "is no inequality"),
        ("a <= \0", "is no inequality"),
        ("a <= " + "(" * 5000 + "b" + ")" * 5000, "is no inequality"),
        ("1 <= 2", "says nothing about any column"),
        ("a <= a + 1", "says nothing about any column"),
        ("0 * a <= 1", "says nothing about any column"),
        ("a <= 1e999", "too large"),
        (f"a <= {10**400}", "too large"),
    ],
)
def test_what_is_no_linear_inequality_is_refused(text, match):
    with pytest.raises(ValueError, match=match) as error:
        Rule(text)
    assert "actions.rules" in str(error.value)


@settings(deadline=None, max_examples=80)
@given(st.text(min_size=1, max_size=8) | st.sampled_from(["class", "a-b", "a b", "`", "2nd", "a.b", "größe", "1e3"]))
def test_a_name_that_is_quoted_is_read_as_it_is(name):
    assert Rule(f"{quoted(name)} <= 1").columns == (name,)


def test_a_rule_is_a_text():
    with pytest.raises(TypeError, match="must be texts, got 3"):
        Rule(3)


def test_rules_are_equal_if_their_texts_are_and_survive_pickling():
    rule = Rule("a <= b")
    assert rule == Rule("a <= b") != Rule("a < b")
    assert hash(rule) == hash(Rule("a <= b"))
    copy = pickle.loads(pickle.dumps(rule))
    assert copy == rule
    assert str(copy) == "a <= b"
    assert not copy.holds({"a": [2.0], "b": [1.0]})[0]


def test_a_long_rule_is_judged_however_deep_in_a_program():
    rule = Rule(" + ".join(["a"] * 201) + " <= 202")

    def deep(level):
        return deep(level - 1) if level else rule.holds({"a": [1.0, 1.1]}).tolist()

    assert deep(500) == [True, False]


@pytest.mark.parametrize(
    ("columns", "text", "match"),
    [
        (["a", "credit-limit"], "a <= credit-limit", "'credit-limit' is written `credit-limit`"),
        (["a", "credit limit"], "a <= credit - limit", r"The columns are 'a', 'credit limit'\.$"),
        (["a", "x-y", "credit-limit"], "credit-limit >= a", "'credit-limit' is written `credit-limit`"),
        (["a", "`b`"], "a <= `b`", "'`b`' is written ```b```"),
        (["a", 5], "a <= `5`", "Only those whose names are texts can be in a rule: rename the others"),
        ([0, 1], "x0 <= x1", "Only those whose names are texts can be in a rule"),
        (["a", "b"], "a <= c", r"The columns are 'a', 'b'\.$"),
    ],
)
def test_a_column_that_is_not_found_is_told_how_to_write(columns, text, match):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(20, len(columns)))).set_axis(columns, axis=1)
    with pytest.raises(ValueError, match=match):
        ActionSet(frame, rules=[text])
