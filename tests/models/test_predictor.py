import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from robust_recourse.models.predictor import Acceptance, ModelError, Predictor, Probabilities

X = np.array([[-1.0, 0.0], [1.0, 0.0], [2.0, 1.0]])
ROWS = np.array([4, 5, 9])
EXPECTED = np.array([False, True, True])


class OnlyProbabilities:
    def predict_proba(self, X):
        favourable = 1.0 / (1.0 + np.exp(-X[:, 0]))
        return np.stack([1.0 - favourable, favourable], axis=1)


@pytest.mark.parametrize(
    "model",
    [
        lambda X: (X[:, 0] > 0).astype(int),
        lambda X: X[:, 0] > 0,
        lambda X: (X[:, 0] > 0).astype(float)[:, None],
        lambda X: 1.0 / (1.0 + np.exp(-X[:, 0])),
        lambda X: [float(x > 0) for x in X[:, 0]],
        lambda X: pd.Series((X[:, 0] > 0).astype(int)),
        OnlyProbabilities().predict_proba,
        OnlyProbabilities(),
        LogisticRegression().fit([[-1.0, 0.0], [1.0, 0.0]], [0, 1]),
        LogisticRegression().fit([[-1.0, 0.0], [1.0, 0.0]], [False, True]),
    ],
)
def test_anything_that_predicts_two_classes_is_a_model(model):
    np.testing.assert_array_equal(Predictor(model)(X, ROWS), EXPECTED)


def test_a_rounding_error_beyond_one_is_a_probability():
    answer = np.array([-1e-17, 1.0000000000000002, 1.0000001])
    np.testing.assert_array_equal(Predictor(lambda _: answer)(X, ROWS), EXPECTED)


def test_an_answer_that_is_no_array_is_refused():
    with pytest.raises(ModelError, match="of X"):
        Predictor(lambda _: [[1], [1, 2], [0]])(X, ROWS)


def test_probability_one_half_is_not_favourable():
    np.testing.assert_array_equal(Predictor(lambda _: np.full(3, 0.5))(X, ROWS), False)


def test_the_model_gets_what_decode_gives():
    seen = []

    def model(frame):
        seen.append(list(frame.columns))
        return frame["income"] > 0

    def decode(Z, rows):
        np.testing.assert_array_equal(rows, ROWS)
        return pd.DataFrame(Z, columns=["income", "age"])

    np.testing.assert_array_equal(Predictor(model, decode)(X, ROWS), EXPECTED)
    assert seen == [["income", "age"]]


@pytest.mark.parametrize(
    ("answer", "match"),
    [
        (np.array([0, 1, 2]), "two classes.*2 for row 9"),
        (np.array([0, -1, 1]), "two classes.*-1 for row 5"),
        (np.array([0.1, 1.2, 0.3]), r"probabilities in \[0, 1\].*1.2 for row 5"),
        (np.array([0.1, np.nan, 0.3]), "nan for row 5"),
        (np.array(["good", "bad", "bad"]), "0, 1 or probabilities"),
        (np.array([0, 1]), r"one label for every row.*shape \(2,\)"),
        (np.zeros((3, 3)), r"shape \(3, 3\)"),
        (np.array([[0.5, 0.5], [0.9, 0.9], [0.2, 0.8]]), "add up to 1.*row 5"),
    ],
)
def test_other_answers_are_refused_and_the_row_is_named(answer, match):
    with pytest.raises(ModelError, match=match):
        Predictor(lambda _: answer)(X, ROWS)


@pytest.mark.parametrize("labels", [["bad", "good", "good"], [0, 1, 2], [-1, 1, 1], [1, 2, 2], [1, 1, 1]])
def test_a_classifier_with_other_classes_is_refused_at_once(labels):
    with pytest.raises(ValueError, match=r"two classes 0 .*and 1"):
        Predictor(DummyClassifier().fit(X, labels))


def test_something_that_cannot_predict_is_refused():
    with pytest.raises(TypeError, match="predict or predict_proba, or be callable, got int"):
        Predictor(3)


def test_an_error_of_the_model_names_the_row_that_caused_it():
    def model(X):
        if (X[:, 0] > 1.5).any():
            raise ZeroDivisionError("no such branch")
        return X[:, 0] > 0

    with pytest.raises(ModelError, match="ZeroDivisionError for row 9 of X: no such branch") as caught:
        Predictor(model)(X, ROWS)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_an_error_that_no_half_repeats_names_the_batch():
    def model(X):
        if len(X) > 2:
            raise MemoryError("too many")
        return X[:, 0] > 0

    with pytest.raises(ModelError, match="MemoryError for rows 4, 5, 9 of X"):
        Predictor(model)(X, ROWS)


@pytest.mark.parametrize("decode", [pd.Index(["income", "age"]), ["income", "age"], "income"])
def test_names_of_columns_are_no_decode(decode):
    with pytest.raises(TypeError, match=r"decode must be a function decode\(X, rows\).*got"):
        Predictor(lambda X: X[:, 0], decode)


def test_the_row_that_caused_an_error_is_found_through_decode():
    jobs = np.array(["cook", "clerk", "judge", "clerk", "cook", "clerk", "cook", "cook", "cook", "cook"])

    def decode(Z, rows):
        return pd.DataFrame({"age": Z[:, 0], "job": jobs[rows]})

    def model(table):
        if (table["job"] == "judge").any():
            raise KeyError("judge")
        return table["age"] > 3

    rows = np.arange(10)
    Z = rows[:, None].astype(float)
    for ask in (Predictor, Probabilities):
        with pytest.raises(ModelError, match="KeyError for row 2 of X: 'judge'"):
            ask(model, decode)(Z, rows)
    np.testing.assert_array_equal(Predictor(model, decode)(Z[3:], rows[3:]), rows[3:] > 3)


rng = np.random.default_rng(0)
TRAIN = rng.standard_normal((90, 2))
NUMBERS = np.digitize(TRAIN[:, 0] + 0.3 * rng.standard_normal(90), [-0.5, 0.5])
EVERY = np.arange(90)
LABELS = {
    "words": np.array(["refused", "approved", "maybe"])[NUMBERS],
    "two words": np.array(["refused", "approved"])[NUMBERS // 2],
    "numbers": NUMBERS * 10 - 5,
    "floats": NUMBERS + 1.0,
    "two numbers": NUMBERS // 2 + 1,
    "signs": NUMBERS // 2 * 2 - 1,
    "booleans": NUMBERS == 2,
    "objects": np.array(["refused", "approved", "maybe"], dtype=object)[NUMBERS],
}
CLASSIFIERS = [
    LogisticRegression(),
    make_pipeline(StandardScaler(), LogisticRegression()),
    GaussianNB(),
    GridSearchCV(LogisticRegression(), {"C": [1.0]}, cv=2),
]


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_any_class_of_a_classifier_can_be_the_favourable_one(model, labels):
    model = clone(model).fit(TRAIN, labels)
    for column, label in enumerate(model.classes_):
        share = model.predict_proba(TRAIN)[:, column]
        decides = {"favourable": label}
        np.testing.assert_array_equal(Predictor(model, **decides)(TRAIN, EVERY), model.predict(TRAIN) == label)
        np.testing.assert_array_equal(Probabilities(model, **decides)(TRAIN, EVERY), share)
        halves = Acceptance(model, **decides)(TRAIN, EVERY)
        np.testing.assert_array_equal(halves > 0.5, model.predict(TRAIN) == label)
        decides["threshold"] = 0.4
        np.testing.assert_array_equal(Predictor(model, **decides)(TRAIN, EVERY), share >= 0.4)
        np.testing.assert_array_equal(Probabilities(model, **decides)(TRAIN, EVERY), share)
        halves = Acceptance(model, **decides)(TRAIN, EVERY)
        np.testing.assert_array_equal(halves >= 0.5, share >= 0.4)


def test_a_threshold_of_the_class_1():
    model = LogisticRegression().fit(TRAIN, NUMBERS == 2)
    share = model.predict_proba(TRAIN)[:, 1]
    some = float(share[7])
    np.testing.assert_array_equal(Predictor(model, threshold=some)(TRAIN, EVERY), share >= some)
    # Of a callable it is the same.
    np.testing.assert_array_equal(Predictor(model.predict_proba, threshold=some)(TRAIN, EVERY), share >= some)
    one = lambda Z: model.predict_proba(Z)[:, 1]  # noqa: E731
    np.testing.assert_array_equal(Predictor(one, threshold=some)(TRAIN, EVERY), share >= some)


def test_a_classifier_without_probabilities_has_labels():
    model = LinearSVC().fit(TRAIN, LABELS["words"])
    found = Predictor(model, favourable="maybe")(TRAIN, EVERY)
    np.testing.assert_array_equal(found, model.predict(TRAIN) == "maybe")
    np.testing.assert_array_equal(Probabilities(model, favourable="maybe")(TRAIN, EVERY), found)


@pytest.mark.parametrize("threshold", [0.3, 1.0, -2.0])
def test_a_regressor_has_scores(threshold):
    model = LinearRegression().fit(TRAIN, 3.0 * TRAIN[:, 0])
    scores = model.predict(TRAIN)
    for ask in (model, model.predict, make_pipeline(StandardScaler(), LinearRegression()).fit(TRAIN, 3 * TRAIN[:, 0])):
        np.testing.assert_array_equal(Predictor(ask, threshold=threshold)(TRAIN, EVERY), scores >= threshold)
        for side, expected in (("above", scores >= threshold), ("below", scores <= threshold)):
            decides = {"favourable": side, "threshold": threshold}
            np.testing.assert_array_equal(Predictor(ask, **decides)(TRAIN, EVERY), expected)
            np.testing.assert_array_equal(Acceptance(ask, **decides)(TRAIN, EVERY), expected)
    with pytest.raises(ModelError, match=r"two classes.*threshold= for scores"):
        Predictor(model)(TRAIN, EVERY)


def test_a_callable_may_answer_with_words():
    model = lambda table: np.where(table[:, 0] > 0, "approved", "refused")  # noqa: E731
    np.testing.assert_array_equal(Predictor(model, favourable="approved")(X, ROWS), EXPECTED)
    np.testing.assert_array_equal(Predictor(model, favourable="refused")(X, ROWS), ~EXPECTED)


def test_polars_answers():
    polars = pytest.importorskip("polars")
    model = lambda table: polars.Series(["approved" if x > 0 else "refused" for x in table[:, 0]])  # noqa: E731
    np.testing.assert_array_equal(Predictor(model, favourable="approved")(X, ROWS), EXPECTED)
