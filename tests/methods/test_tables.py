"""Raw tables in and out, for all methods."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from robust_recourse import (
    ROAR,
    ActionSet,
    BayesianRecourse,
    NearestAccepted,
    Recourses,
    RobustBayesianRecourse,
    Status,
    Wachter,
)

METHODS = [RobustBayesianRecourse, BayesianRecourse, NearestAccepted, Wachter, ROAR]
EDUCATION = ["none", "school", "college"]


def table(n=60, seed=0):
    """Rows of a lender: numbers, booleans and categories of several types."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "income": rng.integers(500, 5000, n).astype("int16"),
            "rate": np.round(rng.uniform(0, 9, n), 2),
            "score": rng.normal(size=n).astype("float32"),
            "wealth": rng.normal(size=n),
            "job": rng.choice(["idle", "clerk", "boss"], n),
            "owner": rng.random(n) < 0.5,
            "edu": pd.Categorical(rng.choice(EDUCATION, n), categories=EDUCATION, ordered=True),
            "phone": rng.integers(0, 2, n),
            "since": pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 99, n), unit="D"),
        },
        index=pd.Index(rng.permutation(n) + 1000, name="id"),
    )


class Lender:
    """Adds up what the cells are worth, an empty one nothing, and remembers the rows that it was asked about."""

    def __init__(self):
        self.asked = []

    def __call__(self, frame):
        self.asked.append(frame)

        def number(name):
            return np.nan_to_num(frame[name].to_numpy(float, na_value=np.nan))

        job, edu = frame["job"].to_numpy(object), frame["edu"].to_numpy(object)
        score = number("income") / 1500 - number("rate") / 4 + number("score") + 0.5 * number("wealth")
        score += number("owner") + 0.3 * number("phone") + 1.5 * (job == "boss")
        score += 0.6 * (edu == "school") + 1.2 * (edu == "college")
        return 1.0 / (1.0 + np.exp(3.5 - score))

    @property
    def n_rows(self):
        return sum(map(len, self.asked))


@pytest.fixture
def lender():
    return Lender()


X = table()
REFUSED = X[Lender()(X) <= 0.5]


def few(method, model, actions=None, train=X):
    """A method with little to do."""
    samples = {} if method in (NearestAccepted, Wachter) else {"n_samples": 40}
    return method(model, actions=actions, random_state=0, **samples).fit(train)


def assert_same_rows(one, other):
    """Whether two results are the same, bit for bit."""
    pd.testing.assert_frame_equal(one.x, other.x)
    for name in ("cost", "budget", "valid", "n_queries", "log_worst_case_odds", "column_costs"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert list(one.status) == list(other.status)


@pytest.mark.parametrize("method", METHODS)
def test_columns_types_and_index_survive(method, lender):
    rows = REFUSED.iloc[:5, ::-1]
    found = few(method, lender).explain(rows)
    pd.testing.assert_frame_equal(found.x0, rows)
    assert found.valid.sum() >= 4
    assert found.x.columns.equals(rows.columns)
    assert found.x.index.equals(rows.index)
    nullable = {"phone": "Int64", "owner": "boolean", "income": "Int16"}
    assert found.x.dtypes.equals(rows.astype(nullable).dtypes)
    accepted = found.x[found.valid].astype(rows.dtypes)
    assert (lender(accepted[X.columns]) > 0.5).all()
    assert ActionSet(X).check(rows, found.x) == []
    pd.testing.assert_series_equal(found.x["since"], rows["since"])


@pytest.mark.parametrize("method", METHODS)
def test_what_is_returned_is_what_the_model_was_asked_bit_for_bit(method, lender):
    fitted = few(method, lender)
    lender.asked.clear()
    found = fitted.explain(REFUSED[:5])
    assert all(frame.columns.equals(X.columns) for frame in lender.asked)
    # Only derivatives ask between the numbers of a type.
    assert method is Wachter or all(frame.dtypes.equals(X.dtypes) for frame in lender.asked)
    asked = {tuple(row) for frame in lender.asked for row in frame.itertuples(index=False)}
    for row, valid in zip(found.x[X.columns].astype(X.dtypes).itertuples(index=False), found.valid, strict=True):
        assert not valid or tuple(row) in asked


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("settings", "n_recourses"), [({}, 1), ({"max_changes": 2}, 1), ({"max_changes": 1}, 2)])
def test_every_question_is_counted(method, settings, n_recourses, lender, monkeypatch):
    fitted = few(method, lender, ActionSet(X, **settings))
    for rows in (REFUSED[:1], pd.concat([REFUSED[:2], X[Lender()(X) > 0.5][:1]])):
        lender.asked.clear()
        found = fitted.explain(rows, n_recourses=n_recourses)
        assert found.n_queries.sum() <= lender.n_rows
        lender.asked.clear()
        with monkeypatch.context() as patch:
            patch.setattr("robust_recourse.sampling.bisection._MOST_LEVELS", 1)  # nothing is asked ahead of need
            again = fitted.explain(rows, n_recourses=n_recourses)
        # Derivatives of people with different columns are asked for together, in all of these.
        together = method is Wachter and len(rows) > 1
        assert again.n_queries.sum() <= lender.n_rows if together else again.n_queries.sum() == lender.n_rows
        assert_same_rows(again, found)


@pytest.mark.parametrize("method", METHODS)
def test_rows_do_not_depend_on_their_company(method, lender, monkeypatch):
    fitted = few(method, lender, ActionSet(X, max_changes=3))
    rows = REFUSED[:4]
    together = fitted.explain(rows)
    backwards = fitted.explain(rows[::-1])
    pd.testing.assert_frame_equal(backwards.x[::-1], together.x)
    np.testing.assert_array_equal(backwards.cost[::-1], together.cost)
    alone = fitted.explain(rows[2:3])
    pd.testing.assert_frame_equal(alone.x, together.x[2:3])
    monkeypatch.setattr("robust_recourse.search.run._PEOPLE", 2)
    assert_same_rows(fitted.explain(rows), together)


@pytest.mark.slow
@pytest.mark.parametrize("method", [RobustBayesianRecourse, Wachter])
def test_two_processes_find_the_same(method):
    # A function of its own travels to the processes, one of this module does not.
    def lender(frame):
        worth = frame["income"].to_numpy(float) / 1500 - frame["rate"].to_numpy() / 4 + frame["score"].to_numpy(float)
        return 1.0 / (1.0 + np.exp(2.0 - worth - 1.5 * (frame["job"] == "boss").to_numpy()))

    fitted = few(method, lender, ActionSet(X, max_changes=3, rules=["score <= wealth + 9"]))
    one = fitted.explain(REFUSED[:4])
    assert_same_rows(fitted.set_params(n_jobs=2).explain(REFUSED[:4]), one)


@pytest.mark.parametrize("method", [RobustBayesianRecourse, BayesianRecourse])
def test_the_budget_holds_with_grids_and_switches(method, lender):
    for delta_plus in (0.0, 0.2, 1.0):
        found = few(method, lender).set_params(delta_plus=delta_plus).fit(X).explain(REFUSED[:6])
        assert found.valid.all()
        assert (found.cost <= found.budget).all()
        np.testing.assert_allclose(found.column_costs.sum(axis=1), found.cost, rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_the_cost_is_what_the_columns_cost(method, lender):
    actions = ActionSet(X, weights={"job": 3.0, "income": 0.5})
    found = few(method, lender, actions).explain(REFUSED[:6])
    for i in np.flatnonzero(found.valid):
        for k, column in enumerate(X.columns):
            known = actions.schema.columns[k]
            old, new = REFUSED[column].iloc[i], found.x[column].iloc[i]
            change = float(old != new) if known.kind != "number" else abs(float(new) - float(old)) / known.unit
            weight = actions.weights.get(column, 1.0)
            assert found.column_costs[i, k] == pytest.approx(weight * change, rel=1e-9, abs=1e-15)
        assert found.column_costs[i].sum() == pytest.approx(found.cost[i], rel=1e-9)
    assert found.kinds == tuple(column.kind for column in actions.schema.columns)
    assert found.orders == {"owner": (False, True), "edu": tuple(EDUCATION), "phone": (0, 1)}


ALL = {"immutable": list(X.columns)}
CASES = {
    "categories": ["job", "owner", "edu", "phone"],
    "numbers": ["income", "rate", "score", "wealth"],
    "one number": ["income"],
    "one category": ["job"],
    "nothing": [],
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("free", list(CASES))
def test_any_choice_of_columns_that_may_change_has_a_recourse_or_a_reason(method, free, lender):
    actions = ActionSet(X, immutable=[column for column in X.columns if column not in CASES[free]])
    rows = REFUSED[:5]
    found = few(method, lender, actions).explain(rows)
    assert actions.check(rows, found.x) == []
    assert all(found.reason)
    assert (found.valid | (found.x.isna().all(axis=1).to_numpy()) | (found.status == Status.REFUSED)).all()
    if free == "nothing":
        assert set(found.status) == {Status.NOTHING_MAY_CHANGE}
        assert found.x["phone"].dtype == "Int64"
        assert found.x["income"].dtype == "Int16"
        assert found.x["owner"].dtype == "boolean"
    elif free in ("categories", "numbers"):
        assert found.valid.any()
    fixed = [column for column in X.columns if column not in CASES[free]]
    pd.testing.assert_frame_equal(found.x.loc[found.valid, fixed], rows.loc[found.valid, fixed], check_dtype=False)


@pytest.mark.parametrize("method", METHODS)
def test_a_table_of_categories_only(method):
    rng = np.random.default_rng(0)
    train = pd.DataFrame({name: rng.choice(list("abc"), 60) for name in "uvw"})

    def model(frame):
        return 0.1 + 0.25 * (frame == "c").sum(axis=1).to_numpy()

    rows = train[model(train) <= 0.5]
    found = few(method, model, train=train).explain(rows)
    # Two columns must be c.
    needed = 2 - (rows == "c").sum(axis=1).to_numpy()
    np.testing.assert_array_equal(found.cost, needed)
    assert found.valid.all()
    assert (model(found.x) > 0.5).all()
    assert found.x.dtypes.equals(rows.dtypes)


@pytest.mark.parametrize("method", METHODS)
def test_constant_columns_are_kept_and_the_others_change(method):
    rng = np.random.default_rng(0)
    train = pd.DataFrame({"a": rng.normal(size=80), "same": 1e6, "text": "x", "empty": None, "b": rng.normal(size=80)})

    def model(frame):
        return 1.0 / (1.0 + np.exp(1.0 - frame["a"].to_numpy() - frame["b"].to_numpy()))

    rows = train[model(train) <= 0.5][:5]
    found = few(method, model, train=train).explain(rows)
    # The surrogate of ROAR, a line through probabilities, may be wrong where its samples end with the training rows.
    assert found.valid.sum() >= (3 if method is ROAR else 4)
    kept = ["same", "text", "empty"]
    pd.testing.assert_frame_equal(found.x[kept], rows[kept])


@pytest.mark.parametrize("method", METHODS)
def test_three_hundred_columns(method):
    rng = np.random.default_rng(0)
    numbers = pd.DataFrame(rng.normal(size=(60, 200))).add_prefix("n")
    codes = pd.DataFrame(rng.integers(0, 2, (60, 100)), dtype="int8").add_prefix("c")
    train = pd.concat([numbers, codes], axis=1)

    def model(frame):
        share = frame.iloc[:, 200:].to_numpy(float).mean(axis=1)
        return 1.0 / (1.0 + np.exp(-20.0 * (share - 0.5) - frame["n7"].to_numpy()))

    rows = train[model(train) <= 0.5][:1]
    found = few(method, model, train=train).explain(rows)
    assert found.valid.all()
    assert (model(found.x) > 0.5).all()


@pytest.mark.parametrize("method", METHODS)
def test_a_single_accepted_training_row_is_enough(method, lender):
    p = lender(X)
    train = pd.concat([X[p <= 0.5][:20], X[p > 0.5][:1]])
    found = few(method, lender, train=train).explain(train[:5])
    assert found.valid.sum() >= 4
    assert ActionSet(train).check(train[:5], found.x) == []


@pytest.mark.parametrize("method", METHODS)
def test_categories_that_no_training_row_has(method, lender):
    rows = REFUSED[:6].assign(edu="phd", job="artist")
    actions = ActionSet(X, increase=["edu"])
    found = few(method, lender, actions).explain(rows, unseen="ignore")
    assert found.valid.sum() >= 5
    # There is no telling what is more than a category that is not known.
    assert (found.x["edu"] == "phd").all()
    assert set(found.x["job"]) <= {"artist", "idle", "clerk", "boss"}
    free = few(method, lender, ActionSet(X, immutable=["income", "rate", "score", "wealth"])).explain(
        rows, unseen="ignore"
    )
    assert free.valid.any()
    assert set(free.x["edu"].dropna()) <= {"phd", *EDUCATION}


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_missing_cells_stay_missing(method, lender):
    rng = np.random.default_rng(0)

    def with_gaps(frame):
        frame = frame.copy()
        for column in ("score", "wealth", "job", "edu", "owner"):
            typed = frame[column].astype("boolean") if column == "owner" else frame[column]
            frame[column] = typed.mask(rng.random(len(frame)) < 0.3)
        return frame

    train = with_gaps(X)
    rows = train[lender(train) <= 0.5][:6]
    actions = ActionSet(train, rules=["score <= wealth + 2"])
    found = few(method, lender, actions).explain(rows)
    assert found.valid.sum() >= 4
    assert actions.check(rows, found.x) == []
    was, now = rows.isna().to_numpy(), found.x.isna().to_numpy()
    np.testing.assert_array_equal(now[found.valid], was[found.valid])


@pytest.mark.parametrize("method", METHODS)
def test_rows_outside_the_training_range_never_go_further_out(method, lender):
    rows = REFUSED[:8].assign(income=np.int16(9000), rate=40.0, wealth=-9.0)
    rows = rows[lender(rows) <= 0.5]
    found = few(method, lender).explain(rows, unseen="ignore")
    assert found.valid.any()
    x = found.x[found.valid]
    assert (x["income"] <= 9000).all()
    assert (x["rate"] <= 40.0).all()
    assert (x["wealth"] >= -9.0).all()
    assert (x["income"] >= X["income"].min()).all()
    assert (x["rate"] >= X["rate"].min()).all()
    assert (x["wealth"] <= X["wealth"].max()).all()


@pytest.mark.parametrize("method", METHODS)
def test_rules_hold_in_everything_that_is_returned(method, lender):
    rules = ["wealth <= score", "income >= 300 * rate", "2 * rate + score < 17.5"]
    actions = ActionSet(X, rules=rules)
    found = few(method, lender, actions).explain(REFUSED[:8])
    assert actions.check(REFUSED[:8], found.x) == []
    x = found.x[~np.isnan(found.cost)]
    for rule in rules:
        assert x.astype({"income": float, "rate": float, "score": float}).eval(rule).all()
    assert all(found.reason)
    # Some rows break a rule as they are.
    assert not REFUSED[:8].eval(rules[0]).all()
    if method is RobustBayesianRecourse:
        assert found.valid.mean() > 0.9


def test_a_rule_may_be_about_a_column_that_never_changes(lender):
    train = X.assign(limit=3000)
    actions = ActionSet(train, rules=["income <= limit"])
    rows = REFUSED[:4].assign(limit=[3000, 2800] * 2)
    found = few(RobustBayesianRecourse, lambda frame: lender(frame.drop(columns="limit")), actions, train).explain(rows)
    assert found.valid.all()
    assert (found.x["income"] <= rows["limit"]).all()
    assert (found.x["limit"] == rows["limit"]).all()


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_rules_hold_in_arrays(method):
    rng = np.random.default_rng(0)
    train = rng.normal(size=(200, 3))

    def model(rows):
        return 1.0 / (1.0 + np.exp(1.0 - rows @ [1.0, 0.5, 0.2]))

    rows = train[model(train) <= 0.5][:20]
    found = few(method, model, ActionSet(rules=["x0 <= x1", "x2 < 1"]), train).explain(rows)
    exists = ~np.isnan(found.cost)
    assert (found.x[exists, 0] <= found.x[exists, 1]).all()
    assert (found.x[exists, 2] < 1).all()
    # The gradients lead straight across the first rule.
    assert found.valid.any() or method is Wachter


@pytest.mark.parametrize("method", METHODS)
def test_a_frame_for_a_method_that_learnt_from_an_array_and_the_reverse(method):
    rng = np.random.default_rng(0)
    train = rng.normal(size=(200, 2))

    def model(rows):
        assert isinstance(rows, pd.DataFrame) == framed
        return 1.0 / (1.0 + np.exp(1.0 - np.asarray(rows) @ [1.0, 0.5]))

    framed = False
    rows = train[model(train) <= 0.5][:5]
    fitted = few(method, model, train=train)
    names, index = ["u", "v"], list("pqrst")
    array, frame = fitted.explain(rows), fitted.explain(pd.DataFrame(rows, columns=names, index=index))
    pd.testing.assert_frame_equal(frame.x, pd.DataFrame(array.x, columns=names, index=index))
    framed = True
    fitted = few(method, model, train=pd.DataFrame(train, columns=names))
    array, frame = fitted.explain(rows), fitted.explain(pd.DataFrame(rows, columns=names, index=index))
    pd.testing.assert_frame_equal(frame.x, pd.DataFrame(array.x, columns=names, index=index))


@pytest.mark.parametrize("method", METHODS)
def test_frames_of_polars(method):
    pl = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    lender, kinds = Lender(), set()

    def model(frame):
        kinds.add(type(frame))
        pandas = frame.to_pandas() if isinstance(frame, pl.DataFrame) else frame
        return lender(pandas)

    columns = [column for column in X.columns if column != "since"]
    pandas = X[columns].reset_index(drop=True)
    polars = pl.from_pandas(pandas)
    refused = np.flatnonzero(lender(pandas) <= 0.5)[:4]
    found = few(method, model, train=polars).explain(polars[refused])
    assert kinds == {pl.DataFrame}
    assert isinstance(found.x, pl.DataFrame)
    assert found.valid.all()
    assert found.x.schema == polars.schema
    assert (model(found.x) > 0.5).all()
    # Fit and explain may get frames of different libraries.
    other = few(method, model, train=polars).explain(polars[refused].to_pandas())
    assert pl.from_pandas(other.x).cast(polars.schema).equals(found.x)
    kinds.clear()
    fitted = few(method, model, train=pandas)
    one, other = fitted.explain(pandas.loc[refused]), fitted.explain(polars[refused])
    assert kinds == {pd.DataFrame}
    assert other.x.equals(pl.from_pandas(one.x).cast(polars.schema))


def test_names_that_are_no_texts(lender):
    names = list(range(len(X.columns)))
    renamed = X.set_axis(names, axis=1)
    found = few(RobustBayesianRecourse, lambda frame: lender(frame.set_axis(X.columns, axis=1)), train=renamed).explain(
        renamed.loc[REFUSED.index[:5]]
    )
    plain = few(RobustBayesianRecourse, lender).explain(REFUSED[:5])
    pd.testing.assert_frame_equal(found.x.set_axis(X.columns, axis=1), plain.x)
    levels = X.set_axis(pd.MultiIndex.from_product([["all"], X.columns]), axis=1)
    found = few(RobustBayesianRecourse, lambda frame: lender(frame["all"]), train=levels).explain(
        levels.loc[REFUSED.index[:5]]
    )
    pd.testing.assert_frame_equal(found.x["all"], plain.x)


TEXTS = ["object", "str", "string", "string[python]", "string[pyarrow]", "large_string[pyarrow]", "category"]


@pytest.mark.filterwarnings("ignore:Column 'town' alone tells whom the model accepts")
@pytest.mark.parametrize("trained", TEXTS)
@pytest.mark.parametrize("dtype", TEXTS)
def test_texts_come_back_in_their_type(trained, dtype, tmp_path):
    rng = np.random.default_rng(0)

    def table(n, dtype):
        words = pd.Series(["b", "c", "a", None, *rng.choice(["a", "b", "c"], n)], dtype=object)
        return pd.DataFrame({"town": words.astype(dtype), "rate": rng.normal(size=n + 4).round(2)})

    def accepts(X):
        return np.array([cell == "c" if isinstance(cell, str) else False for cell in X["town"].tolist()])

    X = table(8, dtype)
    found = NearestAccepted(accepts).fit(table(60, trained)).explain(X)
    assert (found.x["town"] != X["town"]).to_numpy(dtype=bool, na_value=False).any()
    assert np.isnan(found.cost).any()
    found.to_parquet(tmp_path / "found.parquet")
    parts = [found, found[:3], found[~found.valid], Recourses.concat([found[:2], found[2:]])]
    parts += [Recourses.from_json(found.to_json()), Recourses.from_parquet(tmp_path / "found.parquet")]
    for part in parts:
        for name in ("x", "x0", "boundary"):
            assert getattr(part, name)["town"].dtype == X["town"].dtype
        assert part.to_frame()["town"].dtype == X["town"].dtype


def test_a_type_that_does_not_hold_every_recourse_is_one_of_objects():
    X = pd.DataFrame({"code": np.array(["a", 3, "c"] * 20, dtype=object), "rate": np.arange(60.0)})
    rows = pd.DataFrame({"code": pd.Series(["a", "c"], dtype="str"), "rate": [1.0, 2.0]})
    for goal in (3, "a"):

        def model(table, goal=goal):
            return np.array([cell == goal for cell in table["code"].tolist()]) & (table["rate"] < 50.0).to_numpy()

        found = NearestAccepted(model).fit(X).explain(rows)
        assert found.x["code"].tolist() == [goal, goal]
        assert found.x["code"].dtype == object


@pytest.mark.parametrize("method", [NearestAccepted, Wachter, RobustBayesianRecourse])
@pytest.mark.parametrize(("places", "step"), [(0, None), (2, None), (2, 0.25), (6, None)])
def test_decimal_numbers_of_arrow_are_numbers_on_the_grid_of_their_type(method, places, step):
    pa = pytest.importorskip("pyarrow")
    rng, dtype = np.random.default_rng(0), pd.ArrowDtype(pa.decimal128(8, places))

    def table(n):
        amounts = [Decimal(f"{number:.{places}f}") for number in rng.normal(0.0, 20.0, n)]
        return pd.DataFrame({"amount": pd.array([*amounts, None], dtype=dtype), "rate": rng.normal(size=n + 1)})

    def share(X):
        assert X["amount"].dtype in (dtype, float)  # derivatives lie between the numbers of a type
        amount = X["amount"].astype("float64").fillna(0.0).to_numpy()
        return 1.0 / (1.0 + np.exp(-amount / 10.0 - X["rate"].to_numpy() + 2.0))

    X, rows = table(80), table(10)
    actions = ActionSet(X, step={} if step is None else {"amount": step}, immutable=["rate"])
    found = method(share, actions).fit(X).explain(rows)
    assert found.x["amount"].dtype == dtype
    assert (found.x["amount"] != rows["amount"]).to_numpy(dtype=bool, na_value=False).sum() > 5
    assert actions.check(rows, found.x) == []
    exists = np.isfinite(found.cost)
    np.testing.assert_array_equal(share(found.x[exists]) > 0.5, found.valid[exists])


def test_steps_and_bounds_of_decimal_numbers_are_those_of_their_type():
    pa = pytest.importorskip("pyarrow")
    X = pd.DataFrame({"amount": pd.array(list(map(Decimal, range(40))), dtype=pd.ArrowDtype(pa.decimal128(4, 1)))})
    with pytest.raises(ValueError, match=r"so its step must be a multiple of 0.1, got 0.25"):
        ActionSet(X, step={"amount": 0.25})
    actions = ActionSet(X, bounds={"amount": (None, 1e9)}, step={"amount": 0.1})
    method = NearestAccepted(lambda table: table["amount"].astype(float).to_numpy() > 30.0, actions).fit(X)
    moves = method.moves_
    assert moves.settle(np.array([[1e6], [-1e6]]), np.array([[5.0], [5.0]])).tolist() == [[999.9], [0.0]]


def test_intervals_of_integers_have_one_type_whoever_has_a_recourse():
    X = pd.DataFrame({"when": pd.interval_range(0, 40), "rate": np.arange(40.0)})

    def explained(**words):
        return NearestAccepted(lambda table: table["rate"].to_numpy() > 20.0, ActionSet(X, **words)).fit(X).explain(X)

    whole, stuck = explained(), explained(immutable=["rate"])
    assert np.isfinite(whole.cost).all()
    assert np.isnan(stuck.cost).any()
    for result in (whole, stuck):
        assert result.x["when"].dtype == result.boundary["when"].dtype == "interval[float64, right]"
        assert result.x0["when"].dtype == X["when"].dtype
        assert Recourses.from_json(result.to_json()).equals(result)


@pytest.mark.filterwarnings("ignore:X has values that no training row has")
def test_types_of_recourses_do_not_depend_on_the_other_rows():
    X = pd.DataFrame({"a": np.arange(40, dtype="uint64"), "rate": np.arange(40.0)})
    rows = pd.DataFrame({"a": np.array([5, -1], dtype="int8"), "rate": [1.0, 2.0]})  # the model's type does not hold -1
    given_as_categories = rows.assign(a=pd.Categorical(rows["a"]))
    method = NearestAccepted(lambda table: table["a"].to_numpy() > 20).fit(X)
    for table in (rows, given_as_categories):
        together, alone = method.explain(table), method.explain(table[:1])
        assert alone.equals(together[:1])
        assert together.x["a"].dtype == alone.x["a"].dtype


@pytest.mark.filterwarnings("ignore:X has values that no training row has")
@pytest.mark.parametrize("dtype", ["str", "string", "category", "object"])
def test_a_model_gets_categories_as_they_are_whatever_the_type_of_the_column(dtype):
    X = pd.DataFrame({"owner": [True, False] * 20, "rate": np.arange(40.0)})
    rows = pd.DataFrame({"owner": pd.Series(["perhaps", "no"]).astype(dtype), "rate": [11.0, 12.0]})

    def accepts(table):
        assert all(cell in (True, False, "perhaps", "no") for cell in table["owner"].tolist())
        owner = np.array([cell is True or cell is np.True_ for cell in table["owner"].tolist()])
        return owner & (table["rate"].to_numpy() > 10.0)

    found = NearestAccepted(accepts, ActionSet(X, immutable=["rate"])).fit(X).explain(rows)
    assert found.x["owner"].tolist() == [True, True]
    assert found.valid.all()


def test_numbers_may_be_given_as_categories():
    X = pd.DataFrame({"income": np.arange(10, 50), "rate": np.arange(40.0)})
    rows = pd.DataFrame({"income": pd.Categorical([12, 15]), "rate": [1.0, 2.0]})
    actions = ActionSet(X, increase=["income"], bounds={"income": (10, 60)})
    found = NearestAccepted(lambda table: table["income"].to_numpy() > 30, actions).fit(X).explain(rows)
    assert actions.check(rows, found.x) == []
    assert (found.x["income"] > 30).all()
