"""What one person can do: the lender's action set, and less."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse import ActionSet, NearestAccepted, RobustBayesianRecourse
from robust_recourse.actions import NarrowingError, narrow

RNG = np.random.default_rng(3)
TRAIN = pd.DataFrame(
    {
        "income": RNG.integers(5, 60, 200) * 100,
        "debt": RNG.normal(20.0, 5.0, 200),
        "job": RNG.choice(["none", "some", "full"], 200),
        "age": RNG.integers(20, 70, 200),
    }
)
LENDER = {
    "immutable": ["age"],
    "decrease": ["debt"],
    "bounds": {"income": (500, 5000)},
    "ordered": {"job": ["none", "some", "full"]},
    "categories": {"job": ["some", "full"]},
    "weights": {"debt": 2.0},
    "max_changes": 3,
}


def accept(X):
    return X["income"] / 1000 - X["debt"] / 20 + 2.0 * (X["job"] == "full") > 3.0


ACTIONS = ActionSet(TRAIN, **LENDER)
REFUSED = TRAIN[~accept(TRAIN)].head(5)


limits = st.fixed_dictionaries(
    {},
    optional={
        "fixed": st.lists(st.sampled_from(list(TRAIN.columns)), unique=True),
        "ranges": st.dictionaries(
            st.just("income"), st.tuples(st.sampled_from([None, 500, 900]), st.sampled_from([None, 3500, 5000]))
        ),
        "categories": st.dictionaries(
            st.just("job"), st.lists(st.sampled_from(["some", "full"]), min_size=1, unique=True)
        ),
        "difficulty": st.dictionaries(st.sampled_from(list(TRAIN.columns)), st.floats(0.01, 100.0)),
        "max_changes": st.integers(1, 3),
    },
)


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(limits)
def test_a_narrowed_method_is_one_that_was_fitted_so(less):
    method = RobustBayesianRecourse(accept, ActionSet(**LENDER), random_state=0).fit(TRAIN)
    narrowed = narrow(method.actions, method.schema_, **less)
    plain = {name: value for name, value in vars(narrowed).items() if name != "schema"}
    fresh = RobustBayesianRecourse(accept, ActionSet(**plain), random_state=0).fit(TRAIN)
    found, expected = method.narrowed(narrowed).explain(REFUSED), fresh.explain(REFUSED)
    np.testing.assert_array_equal(found.cost, expected.cost)
    np.testing.assert_array_equal(found.n_queries, expected.n_queries)
    pd.testing.assert_frame_equal(found.x, expected.x)
    # Nothing is allowed that the lender does not allow.
    assert ACTIONS.check(REFUSED, found.x) == []
    assert narrowed.check(REFUSED, found.x) == []
    # The method itself stays as it was.
    assert method.actions == ActionSet(**LENDER)


@pytest.mark.parametrize(
    ("less", "word", "column", "widens"),
    [
        ({"ranges": {"income": (499, None)}}, "ranges", "income", True),
        ({"ranges": {"income": (None, 5000.5)}}, "ranges", "income", True),
        ({"ranges": {"debt": (None, 1e9)}}, "ranges", "debt", True),
        ({"categories": {"job": ["none"]}}, "categories", "job", True),
        ({"categories": {"job": ["full", "official"]}}, "categories", "job", True),
        ({"max_changes": 4}, "max_changes", None, True),
        ({"max_changes": 0}, "max_changes", None, False),
        ({"ranges": {"income": (3000, 2000)}}, "ranges", "income", False),
        ({"ranges": {"income": (None, float("nan"))}}, "ranges", "income", False),
        ({"ranges": {"income": (None, True)}}, "ranges", "income", False),
        ({"ranges": {"income": (1.0,)}}, "ranges", "income", False),
        ({"ranges": {"job": (0, 1)}}, "ranges", "job", False),
        ({"categories": {"income": [500]}}, "categories", "income", False),
        ({"categories": {"job": []}}, "categories", "job", False),
        ({"difficulty": {"income": 0.0}}, "difficulty", "income", False),
        ({"difficulty": {"income": 1e9}}, "difficulty", "income", False),
        ({"difficulty": {"wealth": 1.0}}, "difficulty", "wealth", False),
        ({"fixed": ["wealth"]}, "fixed", "wealth", False),
    ],
)
def test_what_does_not_fit_is_named(less, word, column, widens):
    with pytest.raises(NarrowingError) as caught:
        narrow(ACTIONS, ACTIONS.schema, **less)
    assert (caught.value.word, caught.value.column, caught.value.widens) == (word, column, widens)


def test_columns_of_arrays_are_named_by_their_positions():
    method = NearestAccepted(lambda X: X[:, 0] > 1.0, random_state=0).fit(np.array([[2.0, 0.0], [0.0, 1.0]]))
    less = narrow(ActionSet(), method.schema_, ranges={0: (None, 0.9)}, fixed=[1])
    assert method.narrowed(less).explain([[0.5, 0.0]]).status[0] != "ok"
    assert method.explain([[0.5, 0.0]]).status[0] == "ok"
