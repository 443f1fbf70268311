import numpy as np
import pandas as pd
import pytest

from robust_recourse import ActionSet


def test_rules_become_bounds_of_every_instance():
    actions = ActionSet(immutable=[0], increase=[1], decrease=[2], bounds={3: (-1, 5)}, weights={3: 2.0})
    limits = actions.limits(5)
    x0 = np.array([[1.0, 2.0, 3.0, 4.0, 5.0]])
    lower, upper = limits.box(x0)
    np.testing.assert_array_equal(lower, [[1.0, 2.0, -np.inf, -1.0, -np.inf]])
    np.testing.assert_array_equal(upper, [[1.0, np.inf, 3.0, 5.0, np.inf]])
    np.testing.assert_array_equal(limits.weights, [1, 1, 1, 2, 1])


def test_columns_are_found_by_name_and_from_the_end():
    by_name = ActionSet(immutable=["age"], bounds={"income": (0, None)}).limits(["income", "age"])
    by_position = ActionSet(immutable=[-1], bounds={0: (0, None)}).limits(2)
    for limits in (by_name, by_position):
        np.testing.assert_array_equal(limits.rises, [True, False])
        np.testing.assert_array_equal(limits.lower, [0.0, -np.inf])


def test_immutable_wins_over_a_direction():
    limits = ActionSet(immutable=[0], increase=[0]).limits(1)
    assert not limits.rises[0]
    assert not limits.falls[0]


@pytest.mark.parametrize(
    ("actions", "match"),
    [
        (lambda: ActionSet(immutable=["sex"]), "actions.immutable names column 'sex'"),
        (lambda: ActionSet(increase=[7]), "actions.increase names column 7"),
        (lambda: ActionSet(increase=[1], decrease=[1]), "column 1 is in both increase and decrease"),
        (lambda: ActionSet(bounds={0: (2, 1)}), r"bounds\[0\] is empty: its low bound 2 is above its high bound 1"),
        (lambda: ActionSet(bounds={0: 3}), r"bounds\[0\] must be a pair"),
        (lambda: ActionSet(bounds={0: (0, float("nan"))}), r"bounds\[0\]\[1\] must be finite"),
        (lambda: ActionSet(weights={1: 0.0}), r"weights\[1\] must be greater than 0"),
        (lambda: ActionSet(weights={1: 1e200}), r"weights\[1\] must be at most"),
        (lambda: ActionSet(weights={1: -1.0}), r"weights\[1\] must be greater than 0"),
    ],
)
def test_contradictions_and_unknown_columns_are_refused(actions, match):
    with pytest.raises(ValueError, match=match):
        actions().limits(3)


@pytest.mark.parametrize(
    "rules", [{"immutable": [False, True]}, {"bounds": {True: (0, 1)}}, {"weights": {np.True_: 2}}]
)
def test_a_mask_is_not_a_list_of_columns(rules):
    with pytest.raises(TypeError, match="give column numbers, not a mask"):
        ActionSet(**rules).limits(2)


def test_a_text_is_not_a_list_of_columns():
    with pytest.raises(TypeError, match=r"write \['sex'\]"):
        ActionSet(immutable="sex")


def test_the_repr_shows_the_rules_that_were_given():
    assert repr(ActionSet(increase=["a"])) == "ActionSet(increase=['a'])"
    assert repr(ActionSet()) == "ActionSet()"


def test_the_repr_shows_all_arguments():
    rules = {"integer": ["a"], "step": {"b": 2}, "ordered": {"c": ["x", "y"]}, "max_changes": 1, "rules": ["a <= b"]}
    assert repr(ActionSet(**rules)) == (
        "ActionSet(integer=['a'], step={'b': 2}, ordered={'c': ['x', 'y']}, max_changes=1, rules=['a <= b'])"
    )


def test_the_arguments_are_plain_and_copied():
    given = {"bounds": {"a": (0, 1)}, "categories": {"b": ("x", "y")}, "immutable": ("c",)}
    actions = ActionSet(**given)
    assert actions.categories == {"b": ["x", "y"]}
    assert actions.immutable == ["c"]
    assert actions.bounds is not given["bounds"]
    assert actions.schema is None


@pytest.mark.parametrize(
    ("rules", "match"),
    [
        ({"rules": "a <= b"}, r"rules must be a list of rules, got the text 'a <= b'; write \['a <= b'\]"),
        ({"categories": {"a": "x"}}, r"categories\['a'\] must be a list of values, got the text 'x'"),
        ({"categories": ["a"]}, "categories must be a dictionary from columns to values"),
        ({"bounds": [(0, 1)]}, "bounds must be a dictionary from columns to values"),
        ({"step": 50}, "step must be a dictionary from columns to values, got 50"),
        ({"rules": [3]}, "rules must be texts, got 3"),
        ({"immutable": 5}, "immutable must be a list of columns, got 5"),
        ({"increase": None}, "increase must be a list of columns, got None"),
        ({"rules": 5}, "rules must be a list of rules, got 5"),
        ({"ordered": {"a": 5}}, r"ordered\['a'\] must be a list of values, got 5"),
        ({"immutable": [["a"]]}, r"immutable must name columns, got \['a'\]"),
        ({"immutable": [("a", ["b"])]}, "immutable must name columns"),
        ({"decrease": [None]}, "decrease must name columns, got None; a name is a text or a number"),
        ({"bounds": {float("nan"): (0, 1)}}, "bounds must name columns, got nan"),
        ({"step": {pd.NA: 1}}, "step must name columns, got <NA>"),
    ],
)
def test_arguments_of_the_wrong_form_are_refused(rules, match):
    with pytest.raises(TypeError, match=match):
        ActionSet(**rules)


def test_a_rule_that_cannot_be_read_is_refused_at_once():
    with pytest.raises(ValueError, match="rules are linear"):
        ActionSet(rules=["a * b <= 1"])


def test_sets_are_equal_if_they_allow_the_same():
    assert ActionSet(immutable=["a", "b"]) == ActionSet(immutable=["b", "a"])
    assert ActionSet(bounds={"a": (0, None)}) == ActionSet(bounds={"a": [0.0, np.inf]})
    assert ActionSet(pd.DataFrame({"a": [1.0, 2.0]}), increase=["a"]) == ActionSet(increase=["a"])
    everything = {
        "immutable": ["a"],
        "increase": ["a"],
        "decrease": ["a"],
        "bounds": {"a": (0, 1)},
        "integer": ["a"],
        "step": {"a": 1},
        "categories": {"a": [1]},
        "ordered": {"a": [1]},
        "weights": {"a": 2},
        "max_changes": 1,
        "rules": ["a <= 1"],
    }
    for name, value in everything.items():
        assert ActionSet(**{name: value}) != ActionSet()
    assert ActionSet() != "ActionSet()"
    assert ActionSet(weights={"a": 1}) == ActionSet()
    assert ActionSet(bounds={"a": (2, 1)}) != ActionSet(bounds={"a": (1, 2)})


@pytest.mark.parametrize("rules", [{"bounds": {0: (0, 10**400)}}, {"step": {0: 10**400}}, {"weights": {0: 10**400}}])
def test_numbers_that_are_too_large_are_named(rules):
    (word,) = rules
    with pytest.raises(ValueError, match=rf"actions\.{word}\[0\].* must be finite, got 1e400 or so"):
        ActionSet(**rules).limits(1)


def test_the_columns_are_learnt_from_frames_of_polars():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "x"]})
    actions = ActionSet(frame, immutable=["b"])
    assert [column.kind for column in actions.schema.columns] == ["number", "category"]
    assert [
        found.column for found in actions.check(frame, polars.DataFrame({"a": [1, 2, 9], "b": ["y", "y", "x"]}))
    ] == ["b"]


def test_a_column_that_occurs_twice_is_refused():
    with pytest.raises(ValueError, match="X_train has the column 'a' twice"):
        ActionSet(pd.DataFrame(np.eye(2), columns=["a", "a"]), bounds={"a": (0, 1)})
