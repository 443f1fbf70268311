"""What users of other libraries complain about most, each as a test that is named after it."""

from __future__ import annotations

import io
import re
import time
import tomllib
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from robust_recourse import ROAR, ActionSet, BayesianRecourse, NearestAccepted, RobustBayesianRecourse, Wachter

pytestmark = pytest.mark.slow

SCHOOLS = ["none", "school", "college"]
NUMBERS = ["income", "savings", "used", "limit", "children"]
METHODS = [RobustBayesianRecourse, BayesianRecourse, Wachter, ROAR, NearestAccepted]
WORDS = {
    "immutable": ["sex", "birthday"],
    "increase": ["school"],
    "decrease": ["children"],
    "bounds": {"income": (0, 9000)},
    "step": {"income": 50, "limit": 100, "used": 0.5},
    "categories": {"job": ["clerk", "nurse"]},
    "ordered": {"school": SCHOOLS},
    "weights": {"job": 3.0},
    "max_changes": 3,
    "rules": ["used <= limit", "savings >= 0"],
}


def applicants(n=200, seed=0):
    """Raw rows as a lender has them: text, whole numbers, yes and no, dates, and gaps."""
    rng = np.random.default_rng(seed)
    limit = 100 * rng.integers(5, 60, n)
    frame = pd.DataFrame(
        {
            "income": np.round(rng.gamma(4.0, 700.0, n), 2),
            "savings": np.where(rng.random(n) < 0.1, np.nan, np.round(rng.gamma(1.0, 2000.0, n), 2)),
            "used": np.round(limit * rng.beta(2.0, 2.0, n), 1),
            "limit": limit,
            "children": rng.integers(0, 5, n).astype(np.int8),
            "school": rng.choice(SCHOOLS, n),
            "job": pd.Categorical(rng.choice(["clerk", "nurse", "driver", "artist"], n)),
            "sex": rng.choice(["f", "m"], n),
            "owner": rng.random(n) < 0.4,
            "birthday": pd.Timestamp("1980-01-01") + pd.to_timedelta(rng.integers(0, 9000, n), unit="D"),
        }
    )
    frame.loc[rng.random(n) < 0.1, "school"] = None
    return frame.set_index("A" + frame.index.astype(str))


def lender(X, numbers, estimator):
    """A pipeline on the raw frame, as people build it."""
    worth = X["income"] / 1500.0 + X["savings"].fillna(0.0) / 3000.0 - 2.0 * X["used"] / X["limit"] + X["owner"]
    y = worth + (X["school"] == "college") + np.random.default_rng(0).normal(0.0, 0.4, len(X)) > 3.0
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["school", "job", "sex"]),
        (numbers, NUMBERS),
        ("passthrough", ["owner"]),
    )
    return make_pipeline(encode, estimator).fit(X, y)


@pytest.fixture(scope="module")
def bank():
    """Training rows, a pipeline, and refused rows that it has not seen."""
    X, new = applicants(), applicants(60, seed=1)
    model = lender(X, make_pipeline(SimpleImputer(), StandardScaler()), LogisticRegression())
    return X, model, new[~model.predict(new)].iloc[:12]


@pytest.fixture(scope="module")
def trees():
    """The same with boosted trees."""
    X, new = applicants(), applicants(60, seed=1)
    model = lender(X, "passthrough", HistGradientBoostingClassifier(max_iter=10, random_state=0))
    return X, model, new[~model.predict(new)].iloc[:12]


@pytest.fixture(scope="module")
def explained(bank):
    """What every method finds."""
    X, model, refused = bank

    @cache
    def found(method):
        return fitted(method, model, X).explain(refused)

    return found


def fitted(method, model, X, words=WORDS, **options):
    if method not in {NearestAccepted, Wachter}:
        options = {"n_samples": 60, "random_state": 0} | options
    return method(model, ActionSet(X, **words), **options).fit(X)


@pytest.mark.parametrize("method", METHODS)
def test_constraints_are_never_silently_broken(bank, explained, judge, method):
    X, model, refused = bank
    found = explained(method)
    judge(X, WORDS).review(found, refused, model.predict)
    exists = np.isfinite(found.cost)
    assert exists.any()
    assert ActionSet(X, **WORDS).check(refused[exists], found.x[exists].astype(X.dtypes.to_dict())) == []


def test_a_broken_constraint_is_found_and_named():
    X = applicants()
    before = X.iloc[:1].assign(school="college", children=2, job="clerk", used=10.0, limit=1000, income=500.0)
    after = before.assign(school="none", children=3, job="artist", sex="x", used=2000.0, income=9050.0)
    said = {violation.rule for violation in ActionSet(X, **WORDS).check(before, after)}
    assert said == {"increase", "decrease", "categories", "immutable", "used <= limit", "bounds", "max_changes"}


def test_one_hot_and_pipeline_pain(trees):
    # The raw frame goes in; the user encodes nothing, and no row is between two categories.
    X, model, refused = trees
    asked = []

    class Watched:
        classes_ = model.classes_

        def predict(self, rows):
            asked.append(rows)
            return model.predict(rows)

    found = RobustBayesianRecourse(Watched(), n_samples=60, random_state=0).fit(X).explain(refused)
    assert found.valid.all()
    for rows in asked:
        assert list(rows.columns) == list(X.columns)
        assert rows.dtypes.equals(X.dtypes)
        for column in ("school", "job", "sex"):
            assert set(rows[column].dropna()) <= set(X[column].dropna())
    assert found.changes()["column"].isin(X.columns).all()


def test_a_row_with_an_unknown_category_or_an_empty_cell_is_no_error(trees):
    X, model, refused = trees
    odd = refused.iloc[:3].copy()
    odd["job"] = ["astronaut", None, "clerk"]
    odd["savings"] = [np.nan, 10.0, np.nan]
    found = RobustBayesianRecourse(model, n_samples=60, random_state=0).fit(X).explain(odd, unseen="ignore")
    assert found.valid.tolist() == model.predict(found.x).tolist()
    assert found.x["savings"].isna().tolist() == [True, False, True]
    assert found.x["job"].isna().tolist() == [False, True, False]


@pytest.mark.parametrize("method", METHODS)
def test_rounding_does_not_invalidate_results(method):
    # Every other library finds x = 49.9999 here, tells 50 and is wrong, or tells 49 and is wrong.
    X = pd.DataFrame({"age": np.arange(20, 80), "income": 10.0 * np.arange(60), "share": np.linspace(0.0, 1.0, 60)})

    def accepts(rows):
        score = rows["age"] / 10.0 + rows["income"] / 100.0 + rows["share"].astype(np.float32) - 8.05
        return 1.0 / (1.0 + np.exp(-5.0 * score))

    words = {"step": {"income": 25, "share": 0.1}, "integer": ["age"]}
    refused = X[accepts(X) <= 0.5]
    found = fitted(method, accepts, X, words).explain(refused)
    exists = np.isfinite(found.cost)
    x = found.x[exists].astype(X.dtypes.to_dict())
    assert exists.mean() > 0.9
    assert (found.valid[exists] == (accepts(x) > 0.5)).all()
    changed = (x != refused[exists]).to_numpy()
    assert (x["income"][changed[:, 1]] % 25 == 0).all()
    assert (x["share"][changed[:, 2]] == x["share"][changed[:, 2]].round(1)).all()
    if method in {RobustBayesianRecourse, BayesianRecourse, NearestAccepted}:
        assert found.valid[exists].all()


def test_what_is_told_in_lists_and_files_is_what_the_model_was_asked_about(bank, explained):
    X, model, refused = bank
    found = explained(RobustBayesianRecourse)
    exists = np.isfinite(found.cost)
    told = found.x[exists].astype(X.dtypes.to_dict())
    read = pd.read_csv(io.StringIO(told.to_csv()), index_col=0, parse_dates=["birthday"])
    read = read.astype(X.dtypes.to_dict())
    assert model.predict(read).tolist() == found.valid[exists].tolist()
    told = refused[exists].copy()
    for change in found.changes().itertuples():
        told.loc[change.row, change.column] = change.to
    assert model.predict(told).tolist() == found.valid[exists].tolist()


@pytest.mark.parametrize(
    ("words", "status", "clue"),
    [
        ({"immutable": ["income", "savings", "used", "limit", "children", "school", "job", "sex", "owner", "birthday"]},
         "nothing may change", "action set"),
        ({"immutable": ["income", "savings", "used", "limit", "owner", "school"]},
         "impossible", "columns"),
        ({"rules": ["limit >= 1000000"]}, None, "limit >= 1000000"),
        ({"max_changes": 1, "bounds": {"income": (0, 2000), "savings": (0, 500)}, "immutable": ["owner", "school"]},
         None, ""),
    ],
)  # fmt: skip
def test_nothing_found_comes_with_a_reason(bank, words, status, clue):
    X, model, refused = bank
    found = fitted(RobustBayesianRecourse, model, X, words).explain(refused)
    without = np.flatnonzero(~np.isfinite(found.cost))
    assert len(without)
    for i in without:
        assert status is None or found.status[i] == status
        assert re.fullmatch(r"[A-Z].*\.", found.reason[i])
        assert clue in found.reason[i]
        assert found.x.iloc[i].isna().all()
        assert not found.valid[i]
        assert found.describe(int(i))


def test_a_reason_names_the_rule_that_cannot_be_kept(bank):
    # The card cannot be paid back so far; the limit cannot be raised.
    X, model, refused = bank
    words = {"immutable": ["limit"], "bounds": {"used": (0, None)}, "rules": ["used <= 0.001 * limit - 10"]}
    found = fitted(NearestAccepted, model, X, words).explain(refused)
    assert not found.valid.any()
    assert all("used <= 0.001 * limit - 10" in reason for reason in found.reason)


class Slow:
    """A model that is slow once, when it is asked about a person in the course of a search."""

    def __init__(self, model, who, monkeypatch):
        self.model, self.classes_, self.who, self.on = model, model.classes_, who, False
        self.asked, self.now = 0, 1000.0
        monkeypatch.setattr(time, "time", lambda: self.now)

    def predict(self, rows):
        self.asked += 1
        if self.on and len(rows) < len(self.who) and rows["birthday"].isin(self.who[-1:]).any():
            self.now += 3600.0
            self.on, self.asked = False, 0
        return self.model.predict(rows)


def test_hours_of_waiting_end_at_the_time_limit(bank, monkeypatch):
    X, model, refused = bank
    slow = Slow(model, refused["birthday"], monkeypatch)
    method = fitted(RobustBayesianRecourse, slow, X)
    slow.on = True
    found = method.explain(refused.iloc[-1:], time_limit=600)
    assert not slow.on
    assert slow.asked == 0  # since the question that took too long
    assert found.status[0] == "out of time"
    assert found.x.isna().all(axis=None)
    assert "time_limit" in found.reason[0]


def test_what_is_done_by_the_time_limit_is_returned(bank, monkeypatch):
    X, model, _ = bank
    people = applicants(400, seed=2)
    people = people[~model.predict(people)]
    slow = Slow(model, people["birthday"], monkeypatch)
    method = fitted(NearestAccepted, slow, X, {})
    whole = method.explain(people)
    slow.on = True
    found = method.explain(people, time_limit=600)
    late = found.status == "out of time"
    assert 0 < late.sum() < len(people)
    assert model.predict(found.x[~late].astype(X.dtypes.to_dict())).tolist() == found.valid[~late].tolist()
    np.testing.assert_array_equal(found.cost[~late], whole.cost[~late])


def test_enough_time_changes_nothing(bank, explained):
    X, model, refused = bank
    method = fitted(RobustBayesianRecourse, model, X)
    pd.testing.assert_frame_equal(method.explain(refused, time_limit=600).x, explained(RobustBayesianRecourse).x)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_waiting_shows_progress_on_a_terminal(bank, monkeypatch):
    X, model, refused = bank
    method = fitted(NearestAccepted, model, X)
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("robust_recourse.search.run._PEOPLE", 10)  # of a task: there is a bar if there are several
    method.explain(refused)
    assert "explaining" in terminal.getvalue()


def test_nothing_is_printed_elsewhere(bank, capfd):
    X, model, refused = bank
    fitted(NearestAccepted, model, X).explain(refused)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("method", METHODS)
def test_no_encoded_arrays_come_out_where_a_table_went_in(bank, explained, method):
    X, model, refused = bank
    exists = np.isfinite(explained(method).cost)
    assert exists.any()
    shuffled = refused.loc[exists, list(refused.columns[::-1])]
    found = fitted(method, model, X).explain(shuffled)
    assert isinstance(found.x, pd.DataFrame)
    assert found.x.columns.equals(shuffled.columns)
    assert found.x.index.equals(shuffled.index)
    # Always the kind that can be empty, so that it does not depend on who has no recourse.
    whole = shuffled.select_dtypes("integer").columns
    kinds = {"owner": "boolean", **{column: str(shuffled[column].dtype).capitalize() for column in whole}}
    assert "Int64" in kinds.values()
    assert found.x.dtypes.equals(shuffled.astype(kinds).dtypes)
    pd.testing.assert_frame_equal(found.x[X.columns].astype(object), explained(method).x[exists].astype(object))


@pytest.mark.parametrize("method", METHODS)
def test_results_do_not_change_from_run_to_run(bank, explained, method):
    X, model, refused = bank
    again = fitted(method, model, X).explain(refused)
    pd.testing.assert_frame_equal(again.to_frame(), explained(method).to_frame())


def test_results_do_not_change_with_the_order_of_rows_or_the_number_of_processes(bank, explained):
    X, model, refused = bank
    together = explained(RobustBayesianRecourse).x
    backwards = fitted(RobustBayesianRecourse, model, X).explain(refused.iloc[::-1]).x
    parallel = fitted(RobustBayesianRecourse, model, X, n_jobs=2).explain(refused).x
    pd.testing.assert_frame_equal(together, backwards.loc[together.index])
    pd.testing.assert_frame_equal(together, parallel)


def test_dependencies_are_not_pinned():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    every = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    for dependency in every:
        assert re.fullmatch(r"[\w-]+(\[[\w,-]+\])?(>=[\d.]+)?(; .*)?", dependency), dependency
    core = {re.match(r"[\w-]+", dependency).group() for dependency in project["dependencies"]}
    assert core <= {"numpy", "scipy", "scikit-learn", "pandas", "joblib", "rich", "platformdirs", "jinja2", "tomlkit"}


def test_costs_can_be_compared_across_columns_and_units(bank):
    # The same table in other units gives the same recourse at the same cost.
    X, _, refused = bank
    numbers = ["income", "limit"]

    def score(rows, scale=1.0):
        return rows["income"] / scale / 2000.0 + rows["limit"] / 4000.0 > 2.4

    cents = X[numbers].assign(income=X["income"] * 100.0)
    low = refused[numbers][~score(refused[numbers])].iloc[:5]
    high = low.assign(income=low["income"] * 100.0)
    one = NearestAccepted(score).fit(X[numbers]).explain(low)
    two = NearestAccepted(lambda rows: score(rows, 100.0)).fit(cents).explain(high)
    np.testing.assert_allclose(one.cost, two.cost, rtol=1e-6)


def test_several_ways_out_are_different_ways(bank, judge):
    X, model, refused = bank
    found = fitted(RobustBayesianRecourse, model, X).explain(refused, n_recourses=3)
    judge(X, WORDS).review(found, refused, model.predict, n_recourses=3)
    assert len(found) > len(refused)


def test_a_scaled_pipeline_is_explained_in_the_units_of_the_table(bank):
    X, _, _ = bank
    table = X[["income", "limit"]]
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(table, table["income"] > 3000.0)
    refused = table[~model.predict(table)].iloc[:5]
    found = Wachter(model).fit(table).explain(refused)
    assert found.valid.all()
    assert (found.x["income"] > 2000.0).all()
    assert (found.x["limit"] == refused["limit"]).all()
