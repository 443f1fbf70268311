"""Raw tables: what once went wrong."""

import numpy as np
import pandas as pd
import pytest

from robust_recourse import ROAR, ActionSet, NearestAccepted, RobustBayesianRecourse

rng = np.random.default_rng(0)
PLAIN = pd.DataFrame({"a": rng.normal(size=200), "b": rng.normal(size=200)})


def accepts(rows):
    return rows["a"].to_numpy() + rows["b"].to_numpy() > 1.0


@pytest.mark.parametrize("method", [ROAR, RobustBayesianRecourse, NearestAccepted])
def test_names_of_categories_change_nothing(method):
    groups = np.random.default_rng(1).integers(0, 30, 200)
    found = []
    for names in (np.arange(30), np.random.default_rng(2).permutation(30)):
        X = PLAIN.assign(g=[f"k{names[group]:02}" for group in groups])
        rows = X[~accepts(X)].head(15)
        found.append(method(accepts, ActionSet(X, immutable=["g"]), random_state=0).fit(X).explain(rows))
    np.testing.assert_array_equal(found[0].cost, found[1].cost)
    assert list(found[0].status) == list(found[1].status)


def test_a_recourse_that_was_found_is_not_lost():
    X = pd.DataFrame(np.random.default_rng(3).uniform(0, 2, (100, 2)), columns=["a", "b"])
    method = NearestAccepted(lambda rows: rows.to_numpy().max(axis=1) > 1.0).fit(X)
    row = pd.DataFrame({"a": [0.5], "b": [0.6]})
    alone = method.explain(row, n_recourses=3)
    # The usual answer is a training row, in which both columns differ.
    assert set(alone.changes().groupby("rank")["column"].agg(tuple)) == {("a",), ("b",), ("a", "b")}
    company = pd.concat([row, X[X.to_numpy().max(axis=1) <= 1.0].head(5)], ignore_index=True)
    together = method.explain(company, n_recourses=3)
    pd.testing.assert_frame_equal(together.x[together.person == 0], alone.x)
    np.testing.assert_array_equal(together.n_queries[together.person == 0], alone.n_queries)


def test_a_further_recourse_is_not_a_cheaper_one_with_more_changes():
    X = pd.DataFrame(np.random.default_rng(4).normal(size=(300, 4)), columns=list("abcd"))
    method = RobustBayesianRecourse(lambda rows: rows.to_numpy().max(axis=1) > 1.2, n_samples=50, random_state=0).fit(X)
    rows = X[X.to_numpy().max(axis=1) <= 1.2].head(8)
    single, found = method.explain(rows), method.explain(rows, n_recourses=3)
    changed = found.x.to_numpy() != found.x0.to_numpy()
    for person in np.unique(found.person):
        points = found.x[found.person == person].to_numpy()
        usual = (points == single.x.iloc[[person]].to_numpy()).all(axis=1)
        assert usual.sum() == 1  # the answer to a single recourse is among them
        sets = [frozenset(np.flatnonzero(row)) for row in changed[found.person == person]]
        for k in np.flatnonzero(~usual):
            assert not any(less <= sets[k] for less in sets[:k])


def test_questions_do_not_depend_on_company():
    X = pd.DataFrame(np.random.default_rng(5).integers(0, 40, (200, 6)), columns=list("abcdef"))
    model = RobustBayesianRecourse(lambda rows: rows.to_numpy() @ [3, -2, 1, 1, -1, 2] > 130, random_state=0).fit(X)
    rows = X[X.to_numpy() @ [3, -2, 1, 1, -1, 2] <= 130].head(12)
    together = model.explain(rows)
    for i in (0, 5, 11):
        alone = model.explain(rows.iloc[i : i + 1])
        assert alone.n_queries[0] == together.n_queries[i]
        pd.testing.assert_frame_equal(alone.x, together.x.iloc[i : i + 1])


@pytest.mark.parametrize("method", [ROAR, NearestAccepted])
def test_a_model_that_contradicts_itself_gets_a_status(method):
    X = pd.DataFrame(np.random.default_rng(6).integers(0, 9, (60, 4)), columns=list("abcd"))
    for seed in range(3):
        coin = np.random.default_rng(seed)
        search = method(lambda rows, coin=coin: coin.random(len(rows)) < 0.5, ActionSet(X, max_changes=1)).fit(X)
        found = search.explain(X.head(20))
        assert all(found.reason)


def test_a_rule_that_nobody_can_do_anything_about_is_no_rule():
    X = PLAIN.assign(used=14.0 + np.arange(200) % 3, limit=6.0 + np.arange(200) % 5)
    actions = ActionSet(X, immutable=["used", "limit"], rules=["used <= limit"])
    rows = X[~accepts(X)].head(5)
    found = NearestAccepted(accepts, actions).fit(X).explain(rows)
    assert found.valid.all()
    assert actions.check(rows, found.x) == []


def test_surrogate_points_are_rounded_towards_validity(monkeypatch):
    X = pd.DataFrame(np.random.default_rng(7).integers(0, 100, (300, 2)), columns=["a", "b"])

    def model(rows):
        return rows["a"].to_numpy() + rows["b"].to_numpy() >= 120

    rows = X[~model(X)].head(60)
    method = ROAR(model, ActionSet(X), delta_max=0.02, sampling_radius=1.0, n_samples=500, random_state=0).fit(X)
    found = method.explain(rows)
    monkeypatch.setattr("robust_recourse.search.verify._ROUNDINGS", ("nearest",))
    nearest = method.explain(rows)
    assert (found.valid >= nearest.valid).all()
    assert found.valid.sum() > nearest.valid.sum()
    np.testing.assert_array_equal(found.valid, model(found.x))


def test_numbers_instead_of_categories_are_refused_by_name():
    X = PLAIN.assign(g=np.where(np.arange(200) % 2, "x", "y"))
    method = NearestAccepted(accepts).fit(X)
    with pytest.raises(TypeError, match=r"X: column 'g' must hold categories.*'x'; got numbers"):
        method.explain(X.head(3).assign(g=3))
    with pytest.raises(TypeError, match=r"X: column 'g' must hold categories.*unhashable"):
        method.explain(X.head(1).assign(g=pd.Series([["x"]], index=X.index[:1])))


def test_numbers_that_cannot_be_calculated_with_never_change():
    X = PLAIN.assign(id=np.array([2**63 - 1 - i for i in range(200)], dtype=np.int64))
    rows = X[~accepts(X)].head(3)
    found = NearestAccepted(accepts, ActionSet(X)).fit(X).explain(rows)
    assert found.valid.all()
    pd.testing.assert_series_equal(found.x["id"], rows["id"].astype("Int64"))
    with pytest.raises(ValueError, match="Column 'a' has numbers as large as"):
        NearestAccepted(accepts).fit(PLAIN * 1e300)
    with pytest.raises(IndexError, match="one of the 3 entries, got 99"):
        found.describe(99)
    with pytest.raises(TypeError, match=r"i must be a position.*got 'P0'"):
        found.describe("P0")
