"""Of a single tree the cheapest accepted row is known: it is the nearest one of a leaf."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from robust_recourse import ActionSet, RobustBayesianRecourse
from robust_recourse.models.leaves import accepted_leaves


def grown(seed, whole=False, labels=(0, 1)):
    draw = np.random.default_rng(seed)
    X = draw.integers(0, 9, (400, 3)).astype(float) if whole else draw.normal(size=(400, 3))
    noise = draw.normal(0.0, 0.5 * X.std(), 400)
    good = (X[:, 0] - X[:, 0].mean()) * (X[:, 1] - X[:, 1].mean()) + X[:, 2] + noise > X[:, 2].mean()
    tree = DecisionTreeClassifier(min_samples_leaf=3, random_state=0)
    return X, tree.fit(X, np.asarray(labels)[good.astype(int)])


@pytest.mark.parametrize("labels", [(0, 1), ("bad", "good"), ("yes", "no")])
def test_leaves_hold_exactly_the_rows_that_the_tree_accepts(labels):
    X, tree = grown(0, labels=labels)
    low, high = accepted_leaves(tree, None if labels == (0, 1) else labels[1])
    splits = tree.tree_.threshold[tree.tree_.feature >= 0]
    rows = np.random.default_rng(1).choice(np.append(splits, X.ravel()), (2000, 3)).astype(np.float32)
    inside = ((low[:, None] <= rows) & (rows <= high[:, None])).all(axis=2)
    assert (inside.sum(axis=0) <= 1).all()
    np.testing.assert_array_equal(inside.any(axis=0), tree.predict(rows) == labels[1])
    ends = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high, 0.0))
    assert (tree.predict(ends) == labels[1]).all()


def test_other_models_have_no_leaves():
    X, tree = grown(0)
    assert accepted_leaves(RandomForestClassifier(2).fit(X, tree.predict(X))) is None
    assert accepted_leaves(lambda rows: rows[:, 0] > 0) is None
    assert accepted_leaves(tree, favourable="no such label") is None


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 1000), fixed=st.sampled_from([[], [0], [2]]), bound=st.sampled_from([None, 1.0]))
def test_the_boundary_of_a_tree_is_the_optimum_over_its_leaves(seed, fixed, bound):
    X, tree = grown(seed)
    people = X[tree.predict(X) == 0][:8]
    bounds = {1: (-bound, bound)} if bound else {}
    found = (
        RobustBayesianRecourse(tree, ActionSet(immutable=fixed, bounds=bounds), random_state=0).fit(X).explain(people)
    )
    low, high = accepted_leaves(tree)
    for i, own in enumerate(people):
        ends = np.clip(own, low, high)
        moved = ends != own
        if bound:
            moved_out = moved[:, 1] & ((np.abs(ends[:, 1]) > bound) | (np.abs(own[1]) > bound))
        else:
            moved_out = np.zeros(len(ends), dtype=bool)
        cost = np.abs(ends - own).sum(axis=1)[~moved[:, fixed].any(axis=1) & ~moved_out]
        if len(cost):
            # Up to the last bits of the single precision in which a tree reads.
            assert np.abs(found.boundary[i] - own).sum() == pytest.approx(cost.min(), rel=0, abs=1e-6)
        else:
            assert not found.valid[i]


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 1000))
def test_on_a_grid_it_is_the_cheapest_of_all_rows(seed):
    X, tree = grown(seed, whole=True)
    table = pd.DataFrame(X, columns=["a", "b", "c"]).astype(int)
    tree = DecisionTreeClassifier(min_samples_leaf=3, random_state=0).fit(table, tree.predict(X))
    people = table[tree.predict(table) == 0][:6]
    method = RobustBayesianRecourse(tree, random_state=0).fit(table)
    found = method.explain(people)
    every = pd.DataFrame(np.array(np.meshgrid(*[np.arange(9)] * 3)).reshape(3, -1).T, columns=list("abc"))
    every = every[tree.predict(every) == 1]
    units = method.moves_.units
    for (_, own), row in zip(people.iterrows(), found.boundary.astype(float).to_numpy(), strict=True):
        least = (np.abs(every - own) / units).sum(axis=1).min()
        assert (np.abs(row - own) / units).sum() == pytest.approx(least)
