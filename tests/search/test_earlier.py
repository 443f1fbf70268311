"""What people were told before is told again where nothing better is found: nobody pays more for being allowed more."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from robust_recourse import ActionSet, Jury, NearestAccepted, Recourses, RobustBayesianRecourse
from robust_recourse.search import earlier as module
from robust_recourse.search.doing import done_to_become
from robust_recourse.search.space import Space
from robust_recourse.search.stating import state

pytestmark = [
    pytest.mark.filterwarnings("ignore:Column .* alone tells whom the model accepts"),
    pytest.mark.filterwarnings("ignore:Stochastic Optimizer"),
]

MODELS = {
    "boosted": lambda: HistGradientBoostingClassifier(max_iter=15, max_leaf_nodes=8, random_state=0),
    "forest": lambda: RandomForestClassifier(9, min_samples_leaf=4, random_state=0),
    "network": lambda: MLPClassifier((8,), max_iter=60, random_state=0),
    "logistic": lambda: LogisticRegression(max_iter=500),
}
TIGHTER = {
    "few": {"max_changes": 2},
    "immutable": {"immutable": ["rate"]},
    "bounds": {"bounds": {"whole": (2, 8), "rate": (-1.0, 1.0)}},
    "step": {"step": {"other": 0.5}},
    "rules": {"rules": ["whole <= other + 9"]},
    "direction": {"increase": ["whole"], "decrease": ["amount"]},
    "never": {"never": {"kind": [("a", "b"), ("c", "b")]}},
}


def table(seed, n=240):
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "whole": draw.integers(0, 12, n),
            "kind": draw.choice(["a", "b", "c"], n),
            "rate": draw.normal(0.0, 1.0, n).round(2),
            "amount": draw.gamma(2.0, 500.0, n).round(-1),
            "other": draw.normal(5.0, 2.0, n).round(1),
        },
        index=[f"p{k}" for k in range(n)],
    )


def case(seed, kind, n_people=4):
    X = table(seed)
    score = X.whole / 4 + (X.kind == "b") + X.rate - X.amount / 800 + np.random.default_rng(seed).normal(0, 0.7, len(X))
    numbers = [column for column in X if column != "kind"]
    encoder = make_column_transformer((OneHotEncoder(sparse_output=False), ["kind"]), (StandardScaler(), numbers))
    model = make_pipeline(encoder, MODELS[kind]()).fit(X, score > score.median())
    return X, model, X[~model.predict(X)].head(n_people)


def costs(method, people, rows):
    """Return what rows cost people, NaN without one."""
    there = rows.notna().all(axis=1).to_numpy()
    cost = np.full(len(people), np.nan)
    own = people[there]
    cost[there] = method.limits_.cost(method.to_points(rows[there].astype(own.dtypes.to_dict())), method.to_points(own))
    return cost


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(list(MODELS)),
    words=st.lists(st.sampled_from(list(TIGHTER)), unique=True, min_size=1, max_size=3),
    kept=st.integers(0, 2),
    labels=st.booleans(),
)
def test_nobody_pays_more_for_being_allowed_more(seed, kind, words, kept, labels):
    X, model, people = case(seed, kind)
    asked = model.predict if labels else model
    tight, loose = (
        {key: value for name in some for key, value in TIGHTER[name].items()} for some in (words, words[:kept])
    )
    before = RobustBayesianRecourse(asked, ActionSet(X, **tight), random_state=0).fit(X).explain(people)
    method = RobustBayesianRecourse(asked, ActionSet(X, **loose), random_state=0).fit(X)
    found = method.explain(people, earlier=before)
    old, new = (costs(method, people, each.boundary) for each in (before, found))
    told = ~np.isnan(old)
    # Not a bit, but for sums that are added up in another order.
    assert (np.fmin(new, found.cost)[told] <= old[told] * (1.0 + 1e-12)).all()
    assert found.valid[before.valid].all()
    both = np.flatnonzero(before.valid)
    if labels:
        surer = found.log_worst_case_odds[both] < before.log_worst_case_odds[both]
    else:
        now, then = (
            model.predict_proba(each.x.iloc[both].astype(X.dtypes.to_dict()))[:, 1] for each in (found, before)
        )
        surer = now > then
    assert (surer | (found.cost[both] <= before.cost[both] * (1.0 + 1e-12))).all()
    assert (found.valid == model.predict(found.x.fillna(people).astype(X.dtypes.to_dict()))).all()
    assert ActionSet(X, **loose).check(people, found.x) == []


def worse(X, model, actions):
    """Return a search that finds nothing but the accepted training row of which a model is least sure."""
    far = NearestAccepted(model, actions).fit(X)
    accepted = X[np.asarray(model.predict(X) if hasattr(model, "predict") else model(X), dtype=bool)]
    sure = model.predict_proba(accepted)[:, 1] if hasattr(model, "predict_proba") else np.zeros(len(accepted))
    far.candidates_ = far.candidates_[[np.argmin(sure)]]
    return far


@pytest.fixture(scope="module")
def told():
    X, model, people = case(3, "boosted")
    method = RobustBayesianRecourse(model, ActionSet(X, immutable=["amount"]), random_state=0).fit(X)
    return X, model, people, method.explain(people)


def test_what_was_told_is_told_again_where_a_search_misses_it(told):
    X, model, people, before = told
    far = worse(X, model, ActionSet(X))
    alone, again = far.explain(people), far.explain(people, earlier=before)
    assert (alone.cost > before.cost).any()
    sure = [model.predict_proba(each.x.astype(X.dtypes.to_dict()))[:, 1] for each in (alone, before)]
    kept = (sure[0] <= sure[1]) & (alone.cost > before.cost)
    assert kept.any()
    pd.testing.assert_frame_equal(again.x[kept], before.x[kept])
    np.testing.assert_allclose(again.cost[kept], before.cost[kept])
    assert (again.status[kept] == before.status[kept]).all()
    assert all("was told before" in reason for reason in again.reason[kept])
    pd.testing.assert_frame_equal(again.x[~kept], alone.x[~kept])
    assert again.valid.all()
    assert (again.n_queries > alone.n_queries).all()
    assert "nan" not in again.describe()


def test_files_remember_what_was_told(told, tmp_path):
    X, model, people, before = told
    before.to_parquet(tmp_path / "told.parquet")
    far = worse(X, model, ActionSet(X))
    one = far.explain(people, earlier=before)
    other = far.explain(people, earlier=Recourses.from_parquet(tmp_path / "told.parquet"))
    pd.testing.assert_frame_equal(one.x, other.x)


def test_what_is_no_longer_allowed_is_not_told(told):
    X, model, people, before = told
    changed = [column for column in X if (before.x[column] != people[column]).any()]
    method = RobustBayesianRecourse(model, ActionSet(X, immutable=changed), random_state=0).fit(X)
    found, alone = method.explain(people, earlier=before), method.explain(people)
    pd.testing.assert_frame_equal(found.x, alone.x)
    assert ActionSet(X, immutable=changed).check(people, found.x) == []


def test_what_the_model_of_today_refuses_is_not_told(told):
    X, model, people, before = told

    def stricter(rows):
        return (
            model.predict(rows)
            & ~pd.util.hash_pandas_object(rows, index=False)
            .isin(pd.util.hash_pandas_object(before.x.astype(X.dtypes.to_dict()), index=False))
            .to_numpy()
        )

    found = NearestAccepted(stricter, ActionSet(X)).fit(X).explain(people, earlier=before)
    assert found.valid.all()
    assert (found.x != before.x).any(axis=1).all()


def test_nobody_gets_what_was_told_to_somebody_else(told):
    X, model, people, before = told
    method = NearestAccepted(model, ActionSet(X)).fit(X)
    with pytest.raises(ValueError, match=r"row 0 of X is another one"):
        method.explain(people.iloc[::-1], earlier=before)
    with pytest.raises(ValueError, match=r"row 2 of X is another one"):
        method.explain(people.assign(other=people.other + np.array([0.0, 0.0, 0.1, 0.0])), earlier=before)
    with pytest.raises(ValueError, match=r"row 1 of X is another one"):
        method.explain(people.rename(index={people.index[1]: "somebody"}), earlier=before)
    with pytest.raises(ValueError, match=r"of the 3 rows of X, in their order; it is of 4"):
        method.explain(people.head(3), earlier=before)
    with pytest.raises(TypeError, match=r"earlier must be Recourses, .* got DataFrame"):
        method.explain(people, earlier=before.x)


def test_columns_that_never_change_tell_people_apart():
    X, model, _ = case(3, "boosted")
    named = X.assign(name=X.index)

    def predict(rows):
        return model.predict(rows[X.columns])

    people = named[~predict(named)].head(3)
    method = NearestAccepted(predict, ActionSet(named)).fit(named)
    before = method.explain(people)
    with pytest.raises(ValueError, match=r"row 1 of X is another one"):
        method.explain(people.assign(name=[people.name.iloc[0], "q", "r"]), earlier=before)


def test_arrays_juries_and_several_recourses(told):
    X, model, people, before = told
    numbers = X.drop(columns="kind").to_numpy(float) / [3.0, 1.0, 500.0, 2.0]
    line = LogisticRegression(max_iter=500).fit(numbers, model.predict(X))

    def accepts(rows):
        return line.predict(rows)

    refused = numbers[~accepts(numbers)][:4]
    tight = RobustBayesianRecourse(accepts, ActionSet(bounds={2: (0.0, 9.0)}), random_state=0).fit(numbers)
    first = tight.explain(refused)
    outside = RobustBayesianRecourse(accepts, ActionSet(bounds={2: (2.0, 2.1)}), random_state=0).fit(numbers)
    found = outside.explain(refused, earlier=first)
    assert ActionSet(bounds={2: (2.0, 2.1)}).check(refused, found.x) == []
    jury = Jury([model, model], quorum=1.0)
    method = RobustBayesianRecourse(model, ActionSet(X), jury=jury, random_state=0).fit(X)
    found = method.explain(people, 2, earlier=before)
    assert (found.jury_share[found.valid] == 1.0).all()
    first = found[found.rank == 1]
    better = first.log_worst_case_odds < before.log_worst_case_odds
    assert (better | (first.cost <= before.cost * (1.0 + 1e-12))).all()


def test_links_are_followed(told):
    X, model, people, _ = told
    years = {"a": 1, "b": 2, "c": 3}

    def predict(rows):
        return model.predict(rows[X.columns]) & (rows["years"] == rows["kind"].map(years)).to_numpy()

    linked, own = (frame.assign(years=frame.kind.map(years)) for frame in (X, people))
    actions = ActionSet(linked, link={"years": "kind"})
    before = RobustBayesianRecourse(predict, actions, random_state=0).fit(linked).explain(own)
    far = worse(linked, predict, actions)
    again = far.explain(own, earlier=before)
    assert actions.check(own, again.x) == []
    told_again = np.array(["was told before" in reason for reason in again.reason])
    assert told_again.any()
    np.testing.assert_allclose(again.cost[told_again], before.cost[told_again])


def test_a_promise_of_odds_is_not_replaced(told, monkeypatch):
    X, model, people, before = told
    method = RobustBayesianRecourse(model, ActionSet(X), target_odds=0.5, random_state=0).fit(X)
    monkeypatch.setattr(module, "_better", lambda _, told, *__: np.ones(len(told), dtype=bool))
    pd.testing.assert_frame_equal(method.explain(people, earlier=before).x, method.explain(people).x)


def test_gaps_of_any_type_and_labels_of_any_kind():
    X = pd.DataFrame({"a": np.arange(20) / 10, "c": pd.array([None, *[1, 2] * 9, 3], dtype="Int64")})
    method = NearestAccepted(lambda rows: rows["a"].to_numpy() > 1, ActionSet(X)).fit(X)
    people = X.head(3)
    before = method.explain(people)
    assert method.explain(people, earlier=before).x.equals(before.x)
    for labels in (pd.CategoricalIndex(list("abc"), categories=list("abcd")), pd.Index([1, None, 3], dtype="Int64")):
        named = people.set_axis(labels)
        told = method.explain(named)
        assert method.explain(named, earlier=told).x.equals(told.x)
        with pytest.raises(ValueError, match=r"row 2 of X is another one"):
            method.explain(named.set_axis([*labels[:2], "other"]), earlier=told)


def test_a_status_of_another_search_is_not_told_again():
    X = pd.DataFrame({"a": np.arange(20) / 10, "b": np.arange(20) % 7})
    people = X.head(3)

    def model(rows):
        return rows["a"].to_numpy() > 1

    jury = Jury([lambda rows: np.zeros(len(rows), dtype=int)], quorum=1.0)
    old = RobustBayesianRecourse(model, ActionSet(X), jury=jury, random_state=0).fit(X).explain(people)
    assert (old.status == "quorum out of reach").all()
    far = NearestAccepted(model, ActionSet(X)).fit(X)
    far.candidates_ = far.candidates_[-1:]
    found = far.explain(people, earlier=old)
    assert all("was told before" in reason for reason in found.reason)
    assert set(found.status) <= {"ok", "at the edge"}
    assert np.isnan(found.log_worst_case_odds).all()


def test_who_has_less_than_is_asked_for_gets_what_was_told():
    X, *_ = case(3, "boosted")
    numbers = X[["rate", "other"]]

    def model(rows):
        return (rows["rate"] + rows["other"] > 6.0).to_numpy()

    def pocket(rows):
        return model(rows) & (np.abs(rows["rate"] - 1.23) < 0.006) & (np.abs(rows["other"] - 6.9) < 0.06)

    people = numbers[~model(numbers)].head(3)
    method = RobustBayesianRecourse(model, ActionSet(numbers), jury=Jury([pocket], quorum=1.0), random_state=0)
    method.fit(numbers)
    alone = method.explain(people)
    assert (alone.status == "quorum out of reach").all()
    before = state(method, method.read(people), method.read(people.assign(rate=1.23, other=6.9)))
    found = method.explain(people, earlier=before)
    assert (found.jury_share == 1.0).all()
    assert (found.status == "ok").all()
    # A row without the quorum is not told.
    without = state(method, method.read(people), method.read(people.assign(rate=1.3, other=6.9)))
    assert (method.explain(people, earlier=without).status == "quorum out of reach").all()


def test_who_is_out_of_time_is_told_what_was_told(told):
    X, model, people, before = told
    found = RobustBayesianRecourse(model, ActionSet(X), random_state=0).fit(X).explain(people, 1, 0.0, earlier=before)
    pd.testing.assert_frame_equal(found.x, before.x)
    pd.testing.assert_frame_equal(found.boundary, before.boundary)
    assert all("nothing as good was found now" in reason for reason in found.reason)


def test_what_follows_may_end_at_a_bound():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=300).round(2), "c": rng.integers(0, 9, 300)})
    actions = ActionSet(X, effects={"c": {"a": 1.7}})
    method = NearestAccepted(lambda rows: (rows["a"] + rows["c"] > 4).to_numpy(), actions).fit(X)
    person, high = pd.DataFrame({"a": [1.49], "c": [6]}), float(X.a.max())
    # From 1.37 one more of c leads to what is, rounded, the largest value there is.
    row = pd.DataFrame({"a": [high], "c": [7]})
    assert actions.check(person, row) == []
    points, able = done_to_become(Space.of(method.read(person), method.moves_), method.schema_.read(row, "row"))
    assert able.all()
    became = Space.of(method.read(person), method.moves_).consequences(
        method.moves_.to_values(points).round(2), np.array([0])
    )
    np.testing.assert_allclose(became, [[high, 7.0]])


def test_how_sure_a_model_is_does_not_depend_on_the_unit_of_its_scores():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(200, 3))
    people = X[X.sum(axis=1) < 0.0][:8]
    costs = []
    for unit in (1.0, 2.0**-40):

        def score(rows, unit=unit):
            return unit * rows.sum(axis=1)

        words = {"threshold": 0.5 * unit, "random_state": 0}
        told = RobustBayesianRecourse(score, delta_plus=0.0, **words).fit(X).explain(people)
        again = NearestAccepted(score, **words).fit(X).explain(people, earlier=told)
        assert (again.cost > told.cost).any()  # of the nearest rows the model is surer
        costs.append(again.cost)
    np.testing.assert_array_equal(*costs)
