"""Searches with a margin and with a jury: what is returned has what was asked for, or says what it lacks."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, norm
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from robust_recourse import (
    ROAR,
    ActionSet,
    BayesianRecourse,
    Juror,
    Jury,
    ModelError,
    NearestAccepted,
    Recourses,
    RobustBayesianRecourse,
    Status,
    Wachter,
    future_models,
)

SEARCHES = [
    lambda *args, **how: RobustBayesianRecourse(*args, random_state=0, **how),
    lambda *args, **how: RobustBayesianRecourse(*args, random_state=0, target_odds=0.5, **how),
    lambda *args, **how: BayesianRecourse(*args, random_state=0, **how),
    lambda *args, **how: NearestAccepted(*args, **how),
]


@pytest.fixture(scope="module")
def arrays():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = (X @ [1.0, 0.5, -0.5] + rng.normal(size=400) > 0.0).astype(int)
    model = LogisticRegression().fit(X, y)
    jurors = future_models(LogisticRegression(), X[:80], y[:80], n_models=12, random_state=0)
    return X, y, model, list(jurors), X[model.predict(X) == 0][:25]


@pytest.fixture(scope="module")
def frames():
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "income": rng.integers(10, 90, 500) * 100,
            "job": rng.choice(["clerk", "cook", "none"], 500),
            "age": rng.integers(18, 70, 500),
        }
    )
    score = table["income"] / 2000.0 + 2.0 * (table["job"] == "cook") - (table["job"] == "none") - 3.0
    y = (score + rng.normal(size=500) > 0.0).astype(int)

    def make():
        encoded = make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough")
        return make_pipeline(encoded, RandomForestClassifier(10, min_samples_leaf=5, random_state=0))

    model = make().fit(table, y)
    jurors = future_models(make(), table, y, n_models=7, random_state=0)
    return table, model, list(jurors), table[model.predict(table) == 0][:20], ActionSet(immutable=["age"])


def votes(models, rows):
    return np.mean([model.predict(rows) == 1 for model in models], axis=0)


@pytest.mark.parametrize("make", SEARCHES)
def test_what_is_returned_has_the_quorum_and_says_its_share(make, arrays):
    X, _, model, jurors, people = arrays
    found = make(model, jury=Jury(jurors, 0.9)).fit(X).explain(people)
    assert found.valid.all()
    assert (model.predict(found.x) == 1).all()
    np.testing.assert_array_equal(found.jury_share, votes(jurors, found.x))
    assert (found.jury_share >= 0.9).all()
    alone = make(model).fit(X).explain(people)
    assert np.isnan(alone.jury_share).all()
    assert votes(jurors, alone.x).min() < 0.9
    assert alone.cost.mean() < found.cost.mean()


@pytest.mark.parametrize("make", SEARCHES)
def test_a_margin_is_kept(make, arrays):
    X, _, model, _, people = arrays
    found = make(model, margin=0.8).fit(X).explain(people)
    assert found.valid.all()
    assert (model.predict_proba(found.x)[:, 1] >= 0.8).all()
    assert np.isnan(found.jury_share).all()
    assert found.threshold is None


def test_gradients_keep_a_margin_and_refuse_a_jury(arrays):
    X, _, model, jurors, people = arrays
    found = Wachter(model, margin=0.8).fit(X).explain(people)
    assert found.valid.all()
    probability = model.predict_proba(found.x)[:, 1]
    assert ((probability >= 0.8) & (probability < 0.81)).all()
    with pytest.raises(TypeError, match="Wachter follows the gradients of one model and takes no jury"):
        Wachter(model, jury=Jury(jurors)).fit(X)


def test_surrogates_say_where_a_quorum_is_missed(arrays):
    X, _, model, jurors, people = arrays
    found = ROAR(model, jury=Jury(jurors, 0.9), delta_max=0.05, random_state=0).fit(X).explain(people)
    share = votes(jurors, found.x)
    np.testing.assert_array_equal(found.jury_share, share)
    missed = found.status == Status.QUORUM_OUT_OF_REACH
    np.testing.assert_array_equal(missed, found.valid & (share < 0.9))
    assert missed.any()
    assert (found.status == Status.OK).any()


@pytest.mark.parametrize("rule", [{"rule": "mean", "quorum": 0.7}, {"rule": "mean", "margin": 0.7}, {"margin": 0.6}])
def test_jurors_vote_by_the_rule(rule, arrays):
    X, _, model, jurors, people = arrays
    found = RobustBayesianRecourse(model, jury=Jury(jurors, **rule), random_state=0).fit(X).explain(people)
    said = np.column_stack([juror.predict_proba(found.x)[:, 1] for juror in jurors])
    if "rule" in rule:
        assert (said.mean(axis=1) >= 0.7 - 1e-9).all()
    else:
        assert ((said >= 0.6).mean(axis=1) >= 0.9).all()


@pytest.mark.parametrize("actions", [{}, {"max_changes": 1}])
def test_rows_of_tables_have_the_quorum(actions, frames):
    table, model, jurors, people, _ = frames
    method = RobustBayesianRecourse(
        model, ActionSet(immutable=["age"], **actions), jury=Jury(jurors, 0.8), random_state=0
    ).fit(table)
    found = method.explain(people)
    np.testing.assert_array_equal(found.jury_share[found.valid], votes(jurors, found.x[found.valid]))
    reached = found.valid & (found.status != Status.QUORUM_OUT_OF_REACH)
    assert reached.sum() >= 15
    assert (found.jury_share[reached] >= 0.8).all()
    assert (found.x["age"] == found.x0["age"])[found.valid].all()
    several = method.explain(people, n_recourses=2)
    held = several.valid & (several.status != Status.QUORUM_OUT_OF_REACH)
    assert (several.jury_share[held] >= 0.8).all()


def test_answers_do_not_depend_on_company_processes_or_the_order_of_jurors(frames):
    table, model, jurors, people, actions = frames
    method = RobustBayesianRecourse(model, actions, jury=Jury(jurors, 0.8), random_state=0).fit(table)
    found = method.explain(people)
    assert method.set_params(n_jobs=2).explain(people).equals(found)
    assert Recourses.concat([method.explain(people[:7]), method.explain(people[7:])]).equals(found)
    other = RobustBayesianRecourse(model, actions, jury=Jury(jurors[::-1], 0.8), random_state=0).fit(table)
    pd.testing.assert_frame_equal(other.explain(people).x, found.x)


def test_who_cannot_have_the_quorum_gets_the_largest_share_that_was_found(arrays):
    X, _, model, _, people = arrays
    # Half of the jurors accept nobody, and one nobody with less than 2 in the first column.
    never = [lambda X: np.zeros(len(X), dtype=int)] * 5
    jury = Jury([model, model, model, model, lambda X: np.asarray(X)[:, 0] > 2.0, *never], 0.9)
    found = RobustBayesianRecourse(model, jury=jury, random_state=0).fit(X).explain(people)
    assert (found.status == Status.QUORUM_OUT_OF_REACH).all()
    assert found.valid.all()
    assert set(found.jury_share) <= {0.4, 0.5}
    assert (found.jury_share == 0.5).any()
    assert "the most that was found is 0.5" in found.reason[found.jury_share == 0.5][0]
    assert "quorum of 0.9" in found.reason[0]
    assert "Note (quorum out of reach)" in found.describe(0)


def test_who_cannot_have_the_margin_gets_what_there_is(arrays):
    X, _, model, _, people = arrays
    # Only the first column may change, and not far.
    actions = ActionSet(immutable=[1, 2], bounds={0: (-4.0, 1.0)})
    found = RobustBayesianRecourse(model, actions, margin=0.95, random_state=0).fit(X).explain(people)
    lost = found.status == Status.MARGIN_OUT_OF_REACH
    assert lost.any()
    assert found.valid[lost].all()
    assert "with a probability of 0.95; this one has at least" in found.reason[lost][0]
    reached = found.status == Status.OK
    assert (model.predict_proba(found.x[reached])[:, 1] >= 0.95).all()


@pytest.fixture(scope="module")
def corner():
    """A table of two numbers, and people to whom both of them are too small."""
    values = np.random.default_rng(0).integers(-30, 31, (300, 2)) / 10.0
    return pd.DataFrame(values, columns=["a", "b"]), pd.DataFrame({"a": [0.0, -1.0, 0.5], "b": [0.0, -1.0, 0.5]})


def least(**numbers):
    return lambda X: np.logical_and.reduce([np.asarray(X[name]) > number for name, number in numbers.items()])


@pytest.mark.parametrize("make", [SEARCHES[0], SEARCHES[-1]])
@pytest.mark.parametrize(("n_hard", "share"), [(2, 0.5), (1, 0.75), (4, 0.0)])
def test_with_few_changes_the_largest_share_is_that_of_so_few(make, n_hard, share, corner):
    table, people = corner
    # Training rows have the whole jury, whoever may change one column does not.
    jurors = [least(a=1.5)] * (4 - n_hard) + [least(a=1.0, b=1.0)] * n_hard
    method = make(least(a=1.0), ActionSet(table, max_changes=1), jury=Jury(jurors, 1.0))
    found = method.fit(table).explain(people)
    assert (found.status == Status.QUORUM_OUT_OF_REACH).all()
    assert found.valid.all()
    np.testing.assert_array_equal(found.jury_share, share)
    assert all(f"the most that was found is {share:g}, which this row has" in reason for reason in found.reason)
    assert ((found.x != found.x0).sum(axis=1) == 1).all()


def test_of_a_margin_and_a_jury_that_is_named_which_is_out_of_reach(corner):
    table, people = corner

    def probability(X):
        return 0.4 + 0.1 * np.asarray(X["a"])  # at most 0.7

    def search(margin, jurors):
        method = RobustBayesianRecourse(probability, ActionSet(table), margin=margin, jury=jurors, random_state=0)
        return method.fit(table).explain(people)

    found = search(0.9, Jury([least(a=1.5)] * 2, 1.0))
    assert (found.status == Status.MARGIN_OUT_OF_REACH).all()
    assert found.valid.all()
    assert (probability(found.x) >= 0.65).all()
    found = search(0.6, Jury([least(a=1.0), least(a=9.0)], 1.0))
    assert (found.status == Status.QUORUM_OUT_OF_REACH).all()
    np.testing.assert_array_equal(found.jury_share, 0.5)
    assert (probability(found.x) >= 0.6).all()


def test_who_is_accepted_is_told_the_share_too(arrays):
    X, _, model, jurors, _ = arrays
    accepted = X[model.predict(X) == 1][:5]
    found = NearestAccepted(model, jury=Jury(jurors)).fit(X).explain(np.vstack([accepted, -3.0 * np.ones((1, 3))]))
    assert (found.status[:5] == Status.ALREADY_FAVOURABLE).all()
    np.testing.assert_array_equal(found.jury_share, votes(jurors, found.x))


def test_no_rows_give_no_shares(arrays):
    X, _, model, jurors, _ = arrays
    found = RobustBayesianRecourse(model, jury=Jury(jurors), random_state=0).fit(X).explain(X[:0])
    assert found.jury_share.shape == (0,)


def test_results_keep_the_shares(arrays, tmp_path):
    X, y, model, jurors, people = arrays
    check = list(future_models(LogisticRegression(), X, y, n_models=20, random_state=9))
    found = NearestAccepted(model, jury=Jury(jurors, 0.5, check=check)).fit(X).explain(people)
    assert list(found.to_frame().columns[-2:]) == ["jury_share", "survival_bound"]
    assert Recourses.from_json(found.to_json()).equals(found)
    found.to_parquet(tmp_path / "found.parquet")
    assert Recourses.from_parquet(tmp_path / "found.parquet").equals(found)
    np.testing.assert_array_equal(found[3:5].jury_share, found.jury_share[3:5])
    assert found[3].survival_bound == found.survival_bound[3]
    assert Recourses.concat([found[:3], found[3:]]).equals(found)
    shown = found.describe(0)
    guided = int(100 * found.jury_share[0] + 1e-9)
    assert f"Of the models that guided the search, {guided} % accept these values." in shown
    least = int(100 * found.survival_bound[0] + 1e-9)
    assert f"with 95 % confidence, at least {least} % of models that took no part in the search accept these" in shown
    page = found.to_html()
    assert "<th" in page
    assert "Of the models that guided the search" in page
    assert "Survival at least" in page
    assert "guided the search" not in NearestAccepted(model).fit(X).explain(people).to_html()
    told = found[:1].to_html(audience="applicant")
    assert f"that took no part in the search: at least {least} % accept these values" in told


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"jury": "all"}, TypeError, "jury must be a Jury, got str"),
        ({"jury": [len]}, TypeError, "jury must be a Jury, got list"),
        ({"margin": 0.4}, ValueError, "margin .* must be more than what decides, 0.5, got 0.4"),
        ({"margin": 0.6, "threshold": 0.7}, ValueError, "must be more than what decides, 0.7, got 0.6"),
        ({"margin": 1.5}, ValueError, "margin must be less than 1"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(how, error, message, arrays):
    X, _, model, _, _ = arrays
    with pytest.raises(error, match=message):
        RobustBayesianRecourse(model, **how).fit(X)


def test_jurors_that_cannot_answer_are_named_before_the_search(arrays):
    X, y, model, jurors, _ = arrays
    narrow = LogisticRegression().fit(X[:, :2], y)
    named = LogisticRegression().fit(X, np.where(y == 1, "yes", "no"))

    def broken(X):
        return np.full(len(X), np.nan)

    def fitted(*more, **how):
        return RobustBayesianRecourse(model, jury=Jury([*jurors, *more], **how)).fit(X)

    with pytest.raises(ModelError, match=r"jury.models\[12\]: The model raised ValueError .* 3 features"):
        fitted(narrow)
    with pytest.raises(ValueError, match=r"jury.models\[12\]: model must have the two classes 0"):
        fitted(named)
    with pytest.raises(ModelError, match=r"jury.models\[12\]: .* it gave nan for row 0 of the training rows"):
        fitted(broken)
    with pytest.raises(ModelError, match=r"jury.check\[0\]: .*nan"):
        fitted(check=[broken])
    with pytest.raises(TypeError, match=r"margin needs probabilities: jury.models\[12\] answers with labels"):
        fitted(lambda X: (X[:, 0] > 0).astype(int), margin=0.7)
    with pytest.raises(TypeError, match=r"rule='mean' needs probabilities: jury.models\[12\]"):
        fitted(lambda X: (X[:, 0] > 0).astype(int), rule="mean")
    with pytest.raises(ValueError, match=r"jury.check\[0\] is the present model"):
        fitted(check=[model])
    with pytest.raises(TypeError, match="margin needs probabilities: The model answers with labels"):
        RobustBayesianRecourse(lambda X: (X[:, 0] > 0).astype(int), margin=0.7).fit(X)
    fitted(Juror(named, favourable="yes"))


def test_strict_jurors_are_asked_first_and_few_are_asked(arrays, counting):
    X, _, model, jurors, people = arrays
    asked = [counting(juror.predict) for juror in jurors]
    present = counting(model.predict)
    method = RobustBayesianRecourse(present, jury=Jury(asked, 0.9), random_state=0).fit(X)
    accepted = [int(juror.predict(X).sum()) for juror in jurors]
    assert accepted[method.jury_order_[0]] < accepted[method.jury_order_[-1]]
    for juror in (*asked, present):
        juror.batches.clear()
    method.explain(people)
    # Of what the present model refuses nobody is asked, and no row is put to all.
    assert sum(juror.n_rows for juror in asked) < 0.6 * len(asked) * present.n_rows


# ------------------------------------------------------------------------------------------------- promised survival


def test_who_is_promised_a_survival_has_a_bound_that_the_check_proves(arrays):
    X, y, model, jurors, people = arrays
    check = list(future_models(LogisticRegression(), X[:80], y[:80], n_models=60, start=100, random_state=0))
    jury = Jury(jurors, 0.95, check=check, survival=0.86)
    # What a search without a promise, and without a budget, comes to.
    weak = RobustBayesianRecourse(model, jury=Jury(jurors, 0.95), delta_plus=0.0, random_state=0).fit(X).explain(people)
    found = RobustBayesianRecourse(model, jury=jury, random_state=0).fit(X).explain(people)
    accepted = np.array([juror.predict(found.x) == 1 for juror in check]).T
    np.testing.assert_array_equal(found.survival_bound, jury.bounds(accepted))
    kept = found.survival_bound >= 0.86
    assert kept.sum() > 20
    assert (found.status[~kept] == Status.SURVIVAL_OUT_OF_REACH).all()
    assert not (found.status[kept] == Status.SURVIVAL_OUT_OF_REACH).any()
    # Who needs a stricter jury pays more; who does not pays no more than without a promise.
    strong = jury.bounds(np.array([juror.predict(weak.x) == 1 for juror in check]).T) >= 0.86
    assert 0 < strong.sum() < len(people)
    assert (found.cost[strong] <= weak.cost[strong]).all()
    assert (found.cost[~strong] > weak.cost[~strong]).all()
    assert (found.n_queries > weak.n_queries).all()


def test_who_cannot_be_promised_a_survival_is_told_how_close_it_came(arrays):
    X, _, model, jurors, people = arrays
    check = [lambda X, k=k: (np.asarray(X)[:, 0] > (-9.0 if k % 2 else 9.0)).astype(int) for k in range(60)]
    jury = Jury(jurors, 0.6, check=check, survival=0.9)
    found = RobustBayesianRecourse(model, jury=jury, random_state=0).fit(X).explain(people[:4])
    assert (found.status == Status.SURVIVAL_OUT_OF_REACH).all()
    assert found.valid.all()
    bound = float(jury.bounds(np.arange(60)[None] < 30)[0])
    np.testing.assert_allclose(found.survival_bound, bound)
    assert "A survival of 0.9 could not be proved at a confidence of 0.95: after 4 searches" in found.reason[0]
    assert f"at least {bound:.3g} of the models" in found.reason[0]


class Half:
    """Accepts a half of the space."""

    def __init__(self, normal):
        self.normal = normal

    def __call__(self, X):
        return np.asarray(X) @ self.normal > 1.0


@pytest.mark.slow
@pytest.mark.parametrize("leaky", [False, True])
def test_promises_are_broken_as_often_as_was_said_and_those_of_jurors_more_often(leaky):
    """The normals of the models are Gaussian, so that the share that accepts a row is known."""
    p, spread, n_models, survival, confidence, n_trials = 20, 2.2, 18, 0.8, 0.9, 200
    mean = np.ones(p) / np.sqrt(p)
    X = 3.0 * np.random.default_rng(1).normal(size=(3000, p))
    broken = 0
    for trial in range(n_trials):
        rng = np.random.default_rng(trial)
        normals = mean + spread / np.sqrt(p) * rng.normal(size=(2, n_models, p))
        check = normals[0] if leaky else normals[1]
        jury = Jury(
            [Half(normal) for normal in normals[0]],
            check=[Half(normal) for normal in check],
            survival=survival,
            confidence=confidence,
        )
        with np.errstate(all="raise"):
            found = NearestAccepted(Half(mean), jury=jury).fit(X).explain(np.zeros((1, p)))
        x = found.x[0]
        share = norm.cdf((x @ mean - 1.0) * np.sqrt(p) / (spread * np.linalg.norm(x)))
        broken += found.survival_bound[0] >= survival > share
    allowed = binom.ppf(0.999, n_trials, 1.0 - confidence)
    assert (broken > allowed) == leaky, (broken, allowed)
