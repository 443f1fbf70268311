"""Rows that are explained together: the same answers as alone, in common calls."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from robust_recourse import (
    ROAR,
    ActionSet,
    BayesianRecourse,
    NearestAccepted,
    RobustBayesianRecourse,
    Status,
    Wachter,
)
from robust_recourse.search.explain import movable
from robust_recourse.search.space import Space

METHODS = [RobustBayesianRecourse, BayesianRecourse, NearestAccepted, Wachter, ROAR]
GROUPS = ["low", "middle", "high"]


def table(n, seed, gaps=0.0):
    """Numbers of several kinds, a one-way boolean, categories; some cells are missing."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": rng.integers(10, 90, n),
            "debt": np.round(rng.uniform(0, 20, n), 2),
            "age": rng.integers(18, 70, n),
            "wealth": rng.normal(size=n),
            "owner": rng.random(n) < 0.4,
            "group": rng.choice(GROUPS, n),
            "level": pd.Categorical(rng.choice(GROUPS, n), categories=GROUPS, ordered=True),
        }
    )
    for column in ("debt", "wealth", "group"):
        frame[column] = frame[column].mask(rng.random(n) < gaps)
    return frame


def accepts(frame):
    group = frame["group"].map({"low": 0.0, "middle": 1.0, "high": 2.0}).fillna(0.5).to_numpy(float)
    score = frame["income"].to_numpy(float) / 30 - frame["debt"].fillna(10.0).to_numpy(float) / 8 + group
    score += frame["owner"].to_numpy(float) + frame["level"].cat.codes.to_numpy() / 2
    return score + np.sin(2.0 * frame["wealth"].fillna(0.0).to_numpy(float)) > 3.3


class Counting:
    def __init__(self):
        self.calls = 0

    def __call__(self, frame):
        self.calls += 1
        return accepts(frame)


WORDS = {
    "immutable": ["age"],
    "increase": ["owner", "level", "income"],
    "step": {"income": 5},
    "bounds": {"debt": (0, 18)},
    "rules": ["debt <= income / 2"],
}


def fitted(method, model, train, **words):
    samples = {} if method is NearestAccepted else {"n_samples": 40}
    if method is Wachter:
        samples = {"max_halvings": 12, "max_iter": 25}
        # It follows gradients, of which labels have none.
        plain = model

        def model(frame):
            return np.where(plain(frame), 0.9, 0.1) + frame["income"].to_numpy(float) * 1e-4

    return method(model, ActionSet(train, **words), random_state=0, **samples).fit(train)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("words", [WORDS, {**WORDS, "max_changes": 2}], ids=["any", "few"])
def test_a_person_gets_the_same_answer_alone_and_in_any_company(method, words):
    train = table(150, 0, gaps=0.1)
    search = fitted(method, accepts, train, **words)
    rows = table(40, 1, gaps=0.2)
    rows = rows[~accepts(rows)][:12]
    together = search.explain(rows)
    order = np.random.default_rng(3).permutation(len(rows))
    mixed = search.explain(rows.iloc[order])
    parts = [search.explain(rows.iloc[[i]]) for i in (0, 3, 7, 11)]
    half = search.explain(rows.iloc[::2])
    for i, other, j in [
        *((i, alone, 0) for i, alone in zip((0, 3, 7, 11), parts, strict=True)),
        *((order[j], mixed, j) for j in range(len(rows))),
        *((2 * j, half, j) for j in range(len(half))),
    ]:
        pd.testing.assert_frame_equal(other.x.iloc[[j]], together.x.iloc[[i]])
        assert other.n_queries[j] == together.n_queries[i]
        assert other.status[j] == together.status[i]
        for name in ("cost", "budget", "log_worst_case_odds"):
            np.testing.assert_array_equal(getattr(other, name)[j], getattr(together, name)[i])
    assert together.valid.any()


@pytest.mark.parametrize("method", [RobustBayesianRecourse, NearestAccepted])
@pytest.mark.parametrize("kind", ["gaps", "ends"])
def test_people_who_may_change_different_columns_are_asked_about_in_common_calls(method, kind):
    train = table(300, 0)
    rows = table(400, 1)
    rows = rows[~accepts(rows)]
    if kind == "gaps":
        other = table(400, 1, gaps=0.25)
    else:
        other = rows.copy()
        other.loc[other.index[::2], "owner"] = True
        other.loc[other.index[1::3], "level"] = "high"
        other.loc[other.index[::4], "income"] = train["income"].max()
    other = other[~accepts(other)]
    assert len(rows) > 60
    assert len(other) > 60
    words = {name: said for name, said in WORDS.items() if name not in ("rules", "bounds")}
    calls = []
    for some in (rows[:60], other[:60]):
        model = Counting()
        search = fitted(method, model, train, **words)
        model.calls = 0
        found = search.explain(some)
        assert found.valid.mean() > 0.9
        calls.append(model.calls)
    if method is NearestAccepted:
        assert max(calls) <= 8
    else:
        assert calls[1] <= 1.3 * calls[0]


def test_questions_that_count_are_different_rows_that_were_needed():
    train, model = table(200, 0), Counting()
    asked = []

    def watched(frame):
        asked.append(frame)
        return model(frame)

    search = fitted(RobustBayesianRecourse, watched, train, **WORDS)
    rows = table(60, 1)
    rows = rows[~accepts(rows)][:1]
    asked.clear()
    found = search.explain(rows)
    different = pd.concat(asked).drop_duplicates()
    total = sum(map(len, asked))
    # The last question, about what is returned, is asked in any case, and how sure the model is of three rows.
    assert total <= len(different) + 5
    assert found.n_queries[0] <= total
    assert found.n_queries[0] > 0.2 * total


@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_a_booster_on_a_table_needs_few_calls_and_rows(gaps):
    train = table(500, 0, gaps)
    names = ["income", "debt", "age", "wealth"]
    booster = HistGradientBoostingClassifier(max_iter=30, random_state=0).fit(train[names], accepts(train))
    calls = []

    def model(frame):
        calls.append(len(frame))
        return booster.predict(frame[names].astype(float))

    method = RobustBayesianRecourse(model, ActionSet(train, **WORDS), random_state=0).fit(train)
    rows = table(300, 1, gaps)
    rows = rows[booster.predict(rows[names].astype(float)) == 0]
    calls.clear()
    found = method.explain(rows[:100])
    assert len(calls) <= 150
    assert found.n_queries.max() <= 2000
    assert sum(calls) <= 1500 * 100


def test_a_parameter_that_was_set_after_fit_is_not_ignored_in_silence():
    train = table(100, 0)
    rows = train[~accepts(train)][:3]
    for method, changed in [
        (RobustBayesianRecourse, {"delta_plus": 0.7}),
        (RobustBayesianRecourse, {"model": lambda frame: accepts(frame)}),
        (BayesianRecourse, {"sigma": 0.3}),
        (ROAR, {"delta_max": 0.3}),
        (Wachter, {"trade_off": 3.0}),
        (NearestAccepted, {"actions": ActionSet(train, immutable=["income"])}),
        (NearestAccepted, {"threshold": 0.7}),
    ]:
        search = fitted(method, accepts, train)
        name = next(iter(changed))
        old = getattr(search, name)
        search.set_params(**changed)
        with pytest.raises(ValueError, match=rf"{name} was changed after fit.*Call fit again"):
            search.explain(rows)
        before = search.set_params(**{name: old}).explain(rows)
        assert len(before) == 3
        assert len(search.set_params(n_jobs=1).explain(rows)) == 3


def test_equal_values_are_no_change():
    train = table(100, 0)
    search = fitted(RobustBayesianRecourse, accepts, train)
    assert len(search.set_params(epsilon_0=None, n_samples=int("40")).explain(train[:2])) == 2


def test_people_who_need_no_search_or_cannot_be_searched_for_are_told():
    train = table(100, 0)
    method = NearestAccepted(accepts, ActionSet(train, immutable=[*train.columns[1:]], bounds={"income": (20, 80)}))
    rows = pd.concat([train[accepts(train)][:1], train[~accepts(train)][:1].assign(income=10)])
    found = method.fit(train).explain(rows)
    # Bounds speak of changes: who is out of them may stay there, or come within.
    assert found.status[0] is Status.ALREADY_FAVOURABLE
    assert not found.valid[1] or 20 <= found.x["income"].iloc[1] <= 80
    assert found.n_queries[0] == 1
    stuck = NearestAccepted(accepts, ActionSet(train, immutable=[*train.columns[1:]], increase=["income"])).fit(train)
    found = stuck.explain(train[~accepts(train)][:1].assign(income=train["income"].max()))
    assert found.status[0] in (Status.NOTHING_MAY_CHANGE, Status.ALREADY_FAVOURABLE)


def test_what_is_missing_cannot_be_changed():
    train = table(100, 0)
    actions = ActionSet(train, increase=["level"])
    rows = train[:4].copy()
    rows.loc[0, ["debt", "wealth"]] = np.nan
    rows.loc[1, ["group", "level"]] = None
    rows["level"] = rows["level"].astype(train["level"].dtype)
    rows.loc[2, "level"] = "high"
    rows.loc[3, "level"] = "low"
    space = Space.of(actions.schema.read(rows, "X"), actions.resolve(actions.schema))
    expected = np.ones(rows.shape, dtype=bool)
    expected[rows.isna().to_numpy()] = False
    expected[2, -1] = False  # it can only rise
    np.testing.assert_array_equal(movable(space.moves.limits(), space), expected)


@pytest.mark.parametrize("column", ["debt", "wealth", "group"])
def test_who_could_only_change_what_is_missing_is_told_that_nothing_may_change(column):
    train = table(200, 0, gaps=0.1)
    actions = ActionSet(train, immutable=[name for name in train.columns if name != column])
    rows = train[~accepts(train) & train[column].isna().to_numpy()]
    assert len(rows)
    found = NearestAccepted(accepts, actions).fit(train).explain(rows)
    assert set(found.status) == {Status.NOTHING_MAY_CHANGE}
    np.testing.assert_array_equal(found.n_queries, 1)
