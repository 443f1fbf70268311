"""What looks like a mistake in what a method is given."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from robust_recourse import (
    ActionSet,
    Jury,
    NearestAccepted,
    Recourses,
    RobustBayesianRecourse,
    TunedRecourse,
    load,
    save,
)
from robust_recourse.methods.registry import METHODS

rng = np.random.default_rng(0)
N = 120
X = pd.DataFrame(
    {
        "income": rng.normal(3000, 800, N).round(),
        "months": rng.integers(6, 60, N),
        "owner": rng.choice(["yes", "no"], N),
        "flag": rng.integers(0, 2, N),
    }
)


def probability(rows):
    return 1.0 / (1.0 + np.exp(-(rows["income"].to_numpy(float) - 10.0 * rows["months"].to_numpy(float) - 2800) / 100))


def model(rows):
    return (probability(rows) > 0.5).astype(int)


REFUSED = X[model(X) == 0].head(4).reset_index(drop=True)
BAD = REFUSED.astype({"months": float}).assign(
    income=[1e9 if i == 2 else v for i, v in enumerate(REFUSED["income"])],
    owner=["YES", *REFUSED["owner"][1:]],
    flag=[v if i != 1 else 3 for i, v in enumerate(REFUSED["flag"])],
)
BAD.loc[3, "months"] += 0.5
NAMED = [
    "column 'owner': 'YES' in row 0 (training rows have 'no', 'yes')",
    "column 'flag': 3 in row 1 (training rows have 0, 1)",
    "column 'income': 1000000000 in row 2 (training rows have ",
    f"column 'months': {BAD.loc[3, 'months']} in row 3 (training rows have whole numbers)",
]


@pytest.fixture(scope="module")
def method():
    return NearestAccepted(model).fit(X)


def test_values_that_no_training_row_has_are_named(method):
    with pytest.warns(UserWarning, match="^X has values that no training row has: ") as caught:
        found = method.explain(BAD)
    (warning,) = caught
    assert all(part in str(warning.message) for part in NAMED)
    assert str(warning.message).endswith('accept them with unseen="ignore".')
    assert warning.filename == __file__
    assert method.explain(BAD, unseen="ignore").equals(found)


def test_or_an_error_before_anything_is_asked(method):
    asked = []
    spy = NearestAccepted(lambda rows: asked.append(len(rows)) or model(rows)).fit(X)
    asked.clear()
    with pytest.raises(ValueError, match=r"^X has values that no training row has") as caught:
        spy.explain(BAD, unseen="error")
    assert all(part in str(caught.value) for part in NAMED)
    assert asked == []
    assert spy.explain(REFUSED, unseen="error").valid.all()
    with pytest.raises(ValueError, match="unseen must be one of 'warn', 'error', 'ignore', got 'raise'"):
        method.explain(REFUSED, unseen="raise")


def test_arrays_too():
    train = np.column_stack([rng.normal(size=N), np.arange(N) % 2])
    method = NearestAccepted(lambda rows: rows[:, 0] > 0.5).fit(train)
    with pytest.warns(UserWarning, match=r"column 1: 3 in row 1 \(training rows have 0, 1\)\."):
        method.explain([[0.0, 1.0], [0.0, 3.0]])


def test_the_training_rows_of_fit_count_not_those_of_the_action_set():
    other = X.assign(owner=np.where(np.arange(N) % 2, "maybe", "no"))
    actions = ActionSet(pd.concat([X, other], ignore_index=True))
    with pytest.warns(UserWarning, match="column 'owner': 'maybe' in rows 0"):
        NearestAccepted(model, actions).fit(X).explain(REFUSED.assign(owner="maybe"))


@pytest.mark.parametrize(
    "train", [X, X.assign(country="DE", since=pd.Timestamp("2020-01-01")), X[["income", "months"]]]
)
def test_it_is_known_after_saving(train, tmp_path):
    save(NearestAccepted(model).fit(train), tmp_path / "method.recourse", include_model=False)
    method = load(tmp_path / "method.recourse", model=model)
    assert method.explain(train[model(train) == 0].head(3)).valid.all()
    wrong = train.head(2).assign(**dict.fromkeys(train.columns[2:], "other"), income=-1e9)
    with pytest.raises(ValueError, match="no training row has") as caught:
        method.explain(wrong, unseen="error")
    assert str(caught.value).count("column ") == train.shape[1] - 1


def test_a_tuned_method_passes_it_on():
    y = (rng.random(N) < probability(X)).astype(int)
    numbers = X[["income", "months", "flag"]] / [1000, 10, 1]
    classifier = LogisticRegression().fit(numbers, y)
    tuned = TunedRecourse(
        RobustBayesianRecourse(classifier, n_samples=50), 0.1, n_models=2, n_people=10, jury=None, random_state=0
    )
    _fit_quietly(tuned, numbers, y)
    rows = numbers.head(2).assign(flag=7)
    with pytest.raises(ValueError, match="column 'flag': 7 in rows 0, 1"):
        tuned.explain(rows, unseen="error")
    refused = numbers[classifier.predict(numbers) == 0]
    people = refused.assign(flag=[7, *refused["flag"][1:]])
    with pytest.warns(UserWarning, match="^people has values .* 'flag': 7 in row 0"):
        _fit_quietly(tuned, numbers, y, people)


def _fit_quietly(tuned, *data):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "A future validity of")
        return tuned.fit(*data)


def test_if_nobody_needs_a_recourse_favourable_is_doubted():
    classes = NearestAccepted(lambda rows: np.where(model(rows), "good", "bad"), favourable="bad").fit(X)
    with pytest.warns(UserWarning, match=r"all 4 rows as they are.* Is favourable='bad' the wrong way round\?"):
        classes.explain(REFUSED)
    plain = NearestAccepted(lambda rows: 1 - model(rows)).fit(X)
    with pytest.warns(UserWarning, match=r"Is favourable= the wrong way round\?"):
        plain.explain(REFUSED)
    plain.explain(REFUSED.head(1))  # of one person that is no question
    plain.explain(pd.concat([REFUSED, X[model(X) == 1].head(1)]))
    classes.explain(REFUSED.head(0))


def labelled(label):
    """Return a table with its label among the features, and a model that was trained on it."""
    table = X.assign(outcome=label)
    encode = make_column_transformer((OneHotEncoder(), ["owner", "outcome"]), remainder="passthrough")
    return table, make_pipeline(encode, RandomForestClassifier(20, random_state=0)).fit(table, label)


@pytest.mark.parametrize(
    "values", [("repaid", "defaulted"), ("defaulted", "repaid"), (1, 0), (2.0, 1.0), (False, True)]
)
def test_a_label_among_the_features_is_named(values):
    label = np.where(rng.random(N) < probability(X), *values)
    table, trees = labelled(label)
    with pytest.warns(
        UserWarning, match=r"^Column 'outcome' alone tells whom the model accepts, in all 120 rows of X\."
    ) as caught:
        NearestAccepted(trees, favourable=values[0]).fit(table)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_a_label_of_several_classes_is_named():
    label = np.where(rng.random(N) < probability(X), "repaid", np.where(np.arange(N) % 3 == 0, "pending", "defaulted"))
    table, trees = labelled(label)
    with pytest.warns(UserWarning, match=r"^Column 'outcome' alone tells whom the model accepts, in all 120 rows"):
        NearestAccepted(trees, favourable="repaid").fit(table)


def test_a_label_that_the_model_did_not_learn_by_heart_is_named():
    label = (rng.random(N) < probability(X)).astype(int)
    table = X.assign(outcome=label)

    def nearly(rows):
        return np.where(rows["income"] > X["income"].quantile(0.98), 0, rows["outcome"])

    share = int(100 * (nearly(table) == label).mean())
    assert share < 100
    with pytest.warns(UserWarning, match=rf"^Column 'outcome' alone tells whom.* in {share} % of the 120 rows of X"):
        NearestAccepted(nearly).fit(table)


@pytest.mark.parametrize("values", [("repaid", "defaulted"), (1.0, 0.0)])
def test_a_label_with_a_gap_is_named(values):
    label = pd.Series(np.where(rng.random(N) < probability(X), *values))
    table = X.assign(outcome=label.where(label.index != 7))
    with pytest.warns(UserWarning, match=r"^Column 'outcome' alone tells whom.* in 99 % of the 120 rows of X"):
        NearestAccepted(lambda rows: rows["outcome"].to_numpy() == values[0]).fit(table)


def test_a_column_that_the_model_was_not_trained_with_is_named():
    label = np.where(rng.random(N) < probability(X), "good", "bad")
    encode = make_column_transformer((OneHotEncoder(), ["owner"]), ("passthrough", ["income", "months"]))
    trained = make_pipeline(encode, RandomForestClassifier(20, random_state=0)).fit(X, label)
    NearestAccepted(trained, favourable="good").fit(X)
    with pytest.warns(
        UserWarning, match="columns that the model was not trained with: 'outcome', 'id'. If one of them is"
    ):
        NearestAccepted(trained, favourable="good").fit(X.assign(outcome=label, id=[f"p{i}" for i in range(N)]))


def test_ordinary_columns_are_no_labels():
    one = X.assign(rich=(X["income"] > 3000).astype(int))
    rules = [
        (one, lambda rows: rows["income"] > 3000.5),  # a threshold of a number
        (one, lambda rows: (rows["rich"] == 1) & (rows["months"] < 55)),  # with exceptions
        (one.assign(rich=one["rich"].where(one.index % 10 > 0)), lambda rows: rows["income"] > 3000),  # with gaps
        (one[one["rich"].cumsum() <= 4], lambda rows: rows["rich"] == 1),  # of few accepted rows
        (one, lambda rows: np.ones(len(rows))),  # all are accepted
    ]
    for train, rule in rules:
        train = train.drop(columns="rich") if rule is rules[0][1] else train
        NearestAccepted(lambda rows, rule=rule: np.asarray(rule(rows), dtype=int)).fit(train)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("kind", ["frame", "array"])
def test_no_rows_give_no_recourses(name, kind, tmp_path):
    if kind == "frame":
        train, chance = X, probability
    else:
        train, chance = X[["income", "months"]].to_numpy(float) / 1000, lambda rows: 1 / (1 + np.exp(3 - rows[:, 0]))
    jury = {"jury": Jury([chance] * 40)} if name == "betarce" else {}
    method = METHODS[name](chance, random_state=0, **jury).fit(train)
    some = method.explain(train[chance(train) <= 0.5][:2])
    for more in ({}, {"n_recourses": 3}, {"time_limit": 1.0}):
        found = method.explain(train[:0], **more)
        assert len(found) == 0
        assert repr(found) == "Recourses(0 rows)"
        assert found.x.shape == (0, train.shape[1])
        assert Recourses.concat([found, some]).equals(some)
    if kind == "frame":
        pd.testing.assert_series_equal(found.x.dtypes, some.x.dtypes)
    assert found.changes().empty
    assert found.to_frame().shape == (0, some.to_frame().shape[1])
    assert found.describe() == ""
    assert found[:0].equals(found)
    assert list(found) == []
    assert "Recourses(0 rows)" in found._repr_html_()
    assert found.to_html_files(tmp_path) == []
    assert Recourses.from_json(found.to_json()).equals(found)
    future = found.future_validity([chance, chance])
    assert np.isnan(future.overall.share)
    assert "0 people under 2 models" in repr(future)
    assert future.to_frame().empty
