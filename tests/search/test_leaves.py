"""Of a single tree the cheapest accepted row is known: it is the nearest one of a leaf."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from robust_recourse import ActionSet, RobustBayesianRecourse
from robust_recourse.models.encoding import Ends, borders, made_of, split_off
from robust_recourse.models.leaves import accepted_leaves
from robust_recourse.search.doing import movable
from robust_recourse.search.leaves import cheapest_leaves
from robust_recourse.search.run import make_task
from robust_recourse.search.space import Space

# Random models may follow one column.
pytestmark = pytest.mark.filterwarnings("ignore:Column .* alone tells whom the model accepts")


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
@example(seed=489)
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


VALUES = {"whole": range(7), "flag": (0, 1), "half": np.arange(9) / 2, "kind": ("a", "b", "c")}
ENCODERS = {"hot": OneHotEncoder(), "ordinal": OrdinalEncoder()}


def mixed_tree(seed, encoder, numbers=StandardScaler):
    draw = np.random.default_rng(seed)
    X = pd.DataFrame({name: draw.choice(list(values), 300) for name, values in VALUES.items()})
    score = X.whole * X.flag / 4 + X.half / 3 * (X.kind == "b") + (X.kind == "a") + draw.normal(0.0, 0.5, 300)
    columns = make_column_transformer((encoder, ["kind"]), remainder=make_pipeline(SimpleImputer(), numbers()))
    tree = DecisionTreeClassifier(min_samples_leaf=3, random_state=0)
    return X, make_pipeline(columns, tree).fit(X, score > score.quantile(0.6))


def leaves_of(model, X, people, most=None, **words):
    method = RobustBayesianRecourse(model, ActionSet(X, step={"half": 0.5}, **words), random_state=0).fit(X)
    space = Space.of(method.schema_.read(people, "X"), method.moves_)
    task = make_task(method, space, movable(method.limits_, space))
    return method, task, cheapest_leaves(method, task, most)


@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 1000),
    encoder=st.sampled_from(list(ENCODERS)),
    most=st.sampled_from([None, 1, 2]),
    fixed=st.sampled_from([[], ["half"], ["kind"]]),
)
def test_a_tree_in_a_pipeline_is_seen_through(seed, encoder, most, fixed):
    X, model = mixed_tree(seed, ENCODERS[encoder])
    people = X[~model.predict(X)][:5]
    method, task, found = leaves_of(model, X, people, most, immutable=fixed)
    every = pd.DataFrame(list(product(*VALUES.values())), columns=list(VALUES)).astype(X.dtypes.to_dict())
    every = every[model.predict(every)]
    points = method.to_points(every)
    for own, best in zip(task.x0, found, strict=True):
        changed = points != own
        kept = ~changed[:, [list(X).index(name) for name in fixed]].any(axis=1)
        kept &= changed.sum(axis=1) <= (most or len(VALUES))
        cost = method.limits_.cost(points[kept], own)
        if np.isnan(best).any():
            assert not kept.any()
        else:
            assert method.limits_.cost(best, own) == pytest.approx(cost.min())


def test_what_mixes_columns_or_goes_up_and_down_is_not_seen_through():
    for numbers in (PCA, lambda: FunctionTransformer(lambda cells: np.abs(cells - 2))):
        X, model = mixed_tree(0, ENCODERS["hot"], numbers)
        assert leaves_of(model, X, X[~model.predict(X)][:3])[2] is None


def test_who_has_gaps_is_left_to_the_search():
    X, model = mixed_tree(0, ENCODERS["hot"])
    people = X[~model.predict(X)][:3].reset_index(drop=True)
    alone = leaves_of(model, X, people)[2]
    people.loc[1, "half"] = np.nan
    found = leaves_of(model, X, people)[2]
    assert np.isnan(found[1]).all()
    np.testing.assert_array_equal(found[[0, 2]], alone[[0, 2]])


def test_borders_are_the_last_numbers_to_the_bit():
    def encode(rows):
        return np.column_stack([-3.0 * rows[:, 1] + 0.1, rows[:, 0]]).astype(np.float32)

    ends = Ends(
        np.array([0, 1, 1, 1, 1]),
        np.array([1, 0, 0, 0, 0]),
        np.array([0.7, 0.0, 0.3, 9.0, -9.0]),
        np.array([True, True, False, True, True]),
        np.array([-5.0, 5.0, -5.0, 5.0, 5.0]),
        np.array([5.0, -5.0, 5.0, -5.0, -5.0]),
    )
    found = borders(encode, np.zeros((5, 2)), ends)
    assert found[1] == 0.0
    assert np.isnan(found[3])
    assert np.isneginf(found[4])
    for k, (column, sign) in {0: (1, 1.0), 2: (0, 1.0)}.items():
        rows = np.zeros((2, 2))
        rows[:, column] = found[k], np.nextafter(found[k], sign * np.inf)
        encoded = encode(rows)[:, ends.made[k]]
        holds = encoded >= ends.end[k] if ends.least[k] else encoded <= ends.end[k]
        assert holds.tolist() == [True, False]


def test_what_is_made_of_a_column_is_found_by_trying():
    made = made_of(
        lambda rows: np.column_stack([rows[:, 0] ** 2, -rows[:, 0], rows[:, 1]]), np.ones(2), 0, np.r_[-1, 2, 3]
    )
    assert made.columns.tolist() == [0, 1]
    assert made.sign.tolist() == [1, -1]
    assert split_off("a model")[1] == "a model"
