from __future__ import annotations

import pickle
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from robust_recourse import ActionSet, ModelError, NearestAccepted, Recourses, Status
from robust_recourse.metrics import accepted_by
from robust_recourse.result.future import FutureValidity, judged_together


class Named(list):
    """Models with the names of their scenarios."""

    def __init__(self, models, scenario):
        super().__init__(models)
        self.scenario = np.array(scenario)


def beyond(least):
    """Accept rows whose first column is large enough."""
    return lambda X: np.asarray(X)[:, 0].astype(float) > least


LATER = [beyond(least) for least in (0.0, 0.2, 0.7, 0.7, 1.5)]


def recourses(x, *, person=None, rank=None):
    """Put a result together as `explain` does; a row of NaN is one without a recourse."""
    x = np.asarray(x, dtype=float)
    n, exists = len(x), ~np.isnan(x).any(axis=1)
    status = np.empty(n, dtype=object)
    status[:] = [Status.OK if found else Status.NOT_FOUND for found in exists]
    return Recourses(
        x=x,
        boundary=x,
        cost=np.where(exists, 1.0, np.nan),
        budget=np.full(n, np.nan),
        valid=exists,
        status=status,
        reason=np.full(n, "Because.", dtype=object),
        log_worst_case_odds=np.full(n, np.nan),
        n_queries=np.ones(n, dtype=int),
        x0=np.zeros_like(x),
        person=np.arange(n) if person is None else np.array(person),
        rank=np.ones(n, dtype=int) if rank is None else np.array(rank),
        column_costs=np.zeros_like(x),
        kinds=("number",) * x.shape[1],
    )


@pytest.fixture
def found():
    """Four people: recourses at 0.5, 1 and 2, and one who has none."""
    return recourses([[0.5, 0.0], [1.0, 1.0], [2.0, 3.0], [np.nan, np.nan]])


@pytest.fixture
def frame():
    """People in a frame with integers and text, some without a recourse."""
    rng = np.random.default_rng(0)
    people = pd.DataFrame(
        {"income": rng.integers(-5, 5, 60), "job": rng.choice(["cook", "clerk"], 60)},
        index=[f"p{k}" for k in range(60)],
    )

    def model(table):
        assert pd.api.types.is_integer_dtype(table["income"])
        return table["income"] > np.where(table["job"] == "cook", 1, 10)

    refused = people[~model(people).to_numpy()]
    actions = ActionSet(people, immutable=["job"])
    return NearestAccepted(model, actions).fit(people).explain(refused)


def bar(least):
    return lambda table: (table["income"] >= least).to_numpy()


# ------------------------------------------------------------------------------------------------------------ answers


@pytest.mark.parametrize("named", [False, True])
def test_answers_are_those_of_a_naive_loop(found, named):
    models = Named(LATER, list("aabbb")) if named else LATER
    validity = found.future_validity(models)
    naive = [[not np.isnan(row[0]) and model(row[None])[0] for model in LATER] for row in found.x]
    np.testing.assert_array_equal(validity.accepted, naive)
    np.testing.assert_array_equal(validity.accepted.mean(axis=1), [0.4, 0.8, 1.0, 0.0])
    np.testing.assert_array_equal(validity.person.share, [0.4, 0.8, 1.0, 0.0])
    assert validity.overall.share == pytest.approx(0.55)
    assert validity.overall_found.share == pytest.approx(2.2 / 3.0)
    assert (validity.n_people, validity.n_models, validity.n_without) == (4, 5, 1)


def test_frames_are_asked_as_frames(frame):
    models = [bar(least) for least in (1, 2, 3, 4)]
    validity = frame.future_validity(models)
    assert 0 < validity.n_without < validity.n_people
    for k, model in enumerate(models):
        np.testing.assert_array_equal(validity.accepted[:, k], accepted_by(model, frame.x))
    none = frame.x["income"].isna().to_numpy()
    assert not validity.accepted[none].any()
    assert validity.accepted[~none, 0].all()
    np.testing.assert_array_equal(validity.has_recourse, ~none)
    assert list(validity.to_frame().index) == list(frame.x.index)


def test_frames_of_polars_are_asked_too():
    polars = pytest.importorskip("polars")
    table = polars.DataFrame({"a": [0.5, 1.0, -1.0], "b": [1.0, 2.0, 1.0]})
    method = NearestAccepted(lambda X: X["a"].to_numpy() > 0.0).fit(table)
    validity = method.explain(table).future_validity([lambda X: X["a"].to_numpy() > 0.7])
    np.testing.assert_array_equal(validity.accepted[:, 0], [False, True, False])


def test_several_recourses_of_a_person_count_as_one_person():
    found = recourses([[0.5], [1.0], [0.1], [2.0]], person=[0, 0, 0, 1], rank=[1, 2, 3, 1])
    validity = found.future_validity(LATER)
    shares = [accepted_by(model, found.x) for model in LATER]
    naive = np.mean([np.mean(shares, axis=0)[found.person == k].mean() for k in (0, 1)])
    assert validity.overall.share == pytest.approx(naive)
    assert validity.overall.share != pytest.approx(validity.accepted.mean())
    assert validity.n_people == 2
    assert validity.to_frame()["rank"].tolist() == [1, 2, 3, 1]
    assert validity.to_frame()["person"].tolist() == [0, 0, 0, 1]


def test_several_recourses_that_were_found(wide):
    model, X, refused = wide
    found = NearestAccepted(model).fit(X).explain(refused[:5], n_recourses=3)
    assert (found.rank > 1).any()
    later = [lambda Z, by=by: model(np.asarray(Z) + by) for by in (-0.3, 0.0, 0.2)]
    validity = found.future_validity(later)
    np.testing.assert_array_equal(validity.accepted, np.column_stack([one(found.x) for one in later]))
    assert validity.n_people == 5


def test_the_decision_is_that_of_the_method_unless_another_is_given():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.where(X[:, 0] + 0.8 * rng.normal(size=200) > 0, "no", "yes")
    model = LogisticRegression().fit(X, y)
    refused = X[model.predict_proba(X)[:, 1] < 0.8][:40]
    found = NearestAccepted(model, favourable="yes", threshold=0.8).fit(X).explain(refused)
    later = [LogisticRegression(C=c).fit(X, y) for c in (0.001, 1.0)]

    def naive(favourable, threshold):
        column = list(later[0].classes_).index(favourable)
        return np.column_stack([other.predict_proba(found.x)[:, column] >= threshold for other in later])

    np.testing.assert_array_equal(found.future_validity(later).accepted, naive("yes", 0.8))
    np.testing.assert_array_equal(found.future_validity(later, threshold=0.3).accepted, naive("yes", 0.3))
    np.testing.assert_array_equal(found.future_validity(later, favourable="no").accepted, naive("no", 0.8))
    labels = np.column_stack([other.predict(found.x) == "yes" for other in later])
    np.testing.assert_array_equal(found.future_validity(later, threshold=None).accepted, labels)
    with pytest.raises(ValueError, match=r"models\[0\]: model must have the two classes 0"):
        found.future_validity(later, favourable=None)


# ---------------------------------------------------------------------------------------------------------- intervals


def test_the_interval_of_a_person_is_exact(found):
    share, low, high = found.future_validity(LATER, level=0.8).person
    for k in range(3):
        known = stats.binomtest(round(5 * share[k]), 5).proportion_ci(0.8, method="exact")
        assert (low[k], high[k]) == pytest.approx((known.low, known.high))
    assert (low[3], high[3]) == (0.0, 0.0)


@given(st.integers(1, 40), st.integers(1, 40), st.floats(0.0, 1.0))
@example(n=1, m=1, share=2.225073858507e-313)
@settings(deadline=None, max_examples=40)
def test_the_overall_interval_counts_people_or_models_whichever_are_fewer(n, m, share):
    together = judged_together(np.full(n, share), m, 0.9)
    assert together.share == pytest.approx(share)
    whole = round(share * min(n, m))
    known = stats.binomtest(whole, min(n, m)).proportion_ci(0.9, method="exact")
    again = judged_together(np.full(n, whole / min(n, m)), m, 0.9)
    assert (again.low, again.high) == pytest.approx((known.low, known.high))
    assert together.low <= together.share <= together.high


@pytest.mark.parametrize(("n", "m"), [(60, 15), (15, 60), (25, 25)])
@pytest.mark.parametrize("spread", [(0.1, 0.1), (4.0, 0.1), (0.1, 4.0), (2.0, 2.0)])
def test_the_overall_interval_holds_when_people_and_models_differ(n, m, spread):
    """People are more or less at risk and models more or less strict: both are drawn anew each time."""
    rng = np.random.default_rng(0)
    of_people, of_models = spread

    def chances(people, models):
        return expit(2.0 + of_people * rng.normal(size=people) + of_models * rng.normal(size=models))

    true = chances(400_000, 400_000).mean()
    missed = 0
    for _ in range(150):
        answers = rng.random((n, m)) < chances((n, 1), (1, m))
        share = judged_together(answers.mean(axis=1), m, 0.9)
        missed += not share.low <= true <= share.high
    assert missed <= 15


# ------------------------------------------------------------------------------------------------------------- tables


def test_scenarios_have_lines_and_the_worst_is_named(found):
    validity = found.future_validity(Named(LATER, ["mild", "mild", "hard", "hard", "hard"]))
    table = validity.by_scenario
    assert list(table.index) == ["mild", "hard"]
    assert table["models"].tolist() == [2, 3]
    np.testing.assert_allclose(table["future_validity"], [0.75, 5.0 / 12.0])
    np.testing.assert_allclose(table["worst_model"], [0.75, 0.25])
    for name, columns in (("mild", [0, 1]), ("hard", [2, 3, 4])):
        alone = found.future_validity([LATER[k] for k in columns]).overall
        assert tuple(table.loc[name, ["future_validity", "low", "high"]]) == pytest.approx(alone)
    assert validity.worst_scenario == "hard"
    summary = validity.summary()
    assert list(summary.index) == ["all models", "mild", "hard", "people with a recourse"]
    assert summary["people"].tolist() == [4, 4, 4, 3]
    assert summary["models"].tolist() == [5, 2, 3, 5]
    assert tuple(summary.loc["people with a recourse", ["future_validity", "low", "high"]]) == validity.overall_found
    frame = validity.to_frame()
    np.testing.assert_allclose(frame["future_validity_hard"], [0.0, 2.0 / 3.0, 1.0, 0.0])
    np.testing.assert_array_equal(frame["future_validity"], validity.person.share)
    assert frame["has_recourse"].tolist() == [True, True, True, False]
    assert "rank" not in frame


def test_models_without_scenarios_have_one_line(found):
    validity = found.future_validity(LATER)
    assert validity.worst_scenario is None
    assert list(validity.by_scenario.index) == ["all models"]
    assert list(validity.summary().index) == ["all models", "people with a recourse"]
    assert not [name for name in validity.to_frame() if name.startswith("future_validity_")]


def test_any_collection_of_models_will_do(found):
    expected = found.future_validity(LATER).accepted
    objects = np.empty(5, dtype=object)
    objects[:] = LATER
    for models in (tuple(LATER), objects, iter(LATER), (model for model in LATER)):
        np.testing.assert_array_equal(found.future_validity(models).accepted, expected)


def test_text_is_short_and_says_what_matters(found):
    validity = found.future_validity(Named(LATER, ["mild", "mild", "hard", "hard", "hard"]), level=0.9)
    lines = repr(validity).splitlines()
    assert lines[0] == "Future validity of 4 people under 5 models"
    assert max(map(len, lines)) < 100
    text = repr(validity)
    for share in (validity.overall, validity.overall_found):
        assert f"{share.share:.3f} ({share.low:.3f} to {share.high:.3f})" in text
    assert "The worst scenario is hard." in text
    assert "1 person has no recourse, which counts as not accepted." in text
    assert "intervals at a level of 90 %" in text
    alone = repr(found.future_validity(LATER[:1]))
    assert "under 1 model\n" in alone
    assert "worst scenario" not in alone


def test_nine_in_ten_people_are_counted_with_a_recourse():
    method = NearestAccepted(beyond(0.0)).fit(np.linspace(-1.0, 2.0, 61)[:, None])
    found = method.explain(np.r_[np.full(19, -0.5), 1.8][:, None])
    text = repr(found.future_validity([beyond(0.0), beyond(1.0)]))
    assert "Nine in ten people with a recourse have a future validity of at least 0.500." in text


class Cells(HTMLParser):
    """Collects the text of a page, and fails where elements are not closed in order."""

    def __init__(self, page):
        super().__init__()
        self.open, self.text = [], []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, _):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_html_escapes_names(found):
    names = ["<b>mild</b>", "<b>mild</b>", "a & b\n", "a & b\n", "a & b\n"]
    validity = found.future_validity(Named(LATER, names))
    page = validity._repr_html_()
    assert "<b>mild" not in page
    cells = Cells(page).text
    assert "<b>mild</b>" in cells
    assert "a & b\\n" in cells
    assert str(validity.overall) in cells
    assert "a & b\\n" in repr(validity)


def test_a_result_can_be_stored(found):
    validity = found.future_validity(Named(LATER, list("aabbb")))
    again = pickle.loads(pickle.dumps(validity))
    assert repr(again) == repr(validity)
    assert isinstance(again, FutureValidity)
    with pytest.raises(AttributeError):
        again.level = 0.5


def test_nobody_with_a_recourse():
    validity = recourses(np.full((4, 2), np.nan)).future_validity(LATER)
    assert validity.overall.share == 0.0
    assert np.isnan(validity.overall_found.share)
    assert "4 people have no recourse" in repr(validity)


# -------------------------------------------------------------------------------------------------------------- wrong


@pytest.mark.parametrize(
    ("models", "error", "message"),
    [
        ([], ValueError, "models is empty: at least one retrained model"),
        (Named([], []), ValueError, "models is empty"),
        (beyond(0.0), TypeError, r"models must be a sequence of models, got one function. Pass a list, \[model\]"),
        (LogisticRegression(), TypeError, "got one LogisticRegression"),
        (None, TypeError, "got one NoneType"),
        ([beyond(0.0), "model"], TypeError, r"models\[1\]: model must have predict"),
        (Named(LATER, ["a"] * 4), ValueError, "models.scenario must name the scenario of each of the 5 models, got 4"),
        (Named([beyond(0.0), lambda X: X[:, 9]], ["a", "b"]), ModelError, r"models\[1\] \(b\): The model raised Index"),
    ],
)
def test_what_are_no_models_is_said(found, models, error, message):
    with pytest.raises(error, match=message):
        found.future_validity(models)


def test_level_is_checked(found):
    with pytest.raises(ValueError, match=r"For 95 % pass 0\.95"):
        found.future_validity(LATER, level=95)
