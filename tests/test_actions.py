import numpy as np
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
