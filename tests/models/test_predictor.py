import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression

from robust_recourse.models.predictor import ModelError, Predictor

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


def test_with_columns_the_model_gets_frames():
    seen = []

    def model(frame):
        seen.append(list(frame.columns))
        return frame["income"] > 0

    np.testing.assert_array_equal(Predictor(model, pd.Index(["income", "age"]))(X, ROWS), EXPECTED)
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
