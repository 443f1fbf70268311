import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from robust_recourse.models.decisions import Decision

X = np.array([[-1.0], [0.0], [1.0], [2.0]])
WORDS = ["bad", "good", "good", "poor"]


def says(labels):
    return DummyClassifier().fit(np.zeros((len(labels), 1)), labels)


@pytest.mark.parametrize("labels", [["bad", "good"], [0, 1, 2], [-1, 1], [1, 2], [1, 1]])
def test_other_classes_need_a_favourable_one(labels):
    with pytest.raises(ValueError, match=r"two classes 0 .*and 1.*classes_ = \[.*Pass favourable="):
        Decision.of(says(labels))
    for label in labels:
        assert Decision.of(says(labels), label).favourable == label


def test_a_class_that_the_model_does_not_have_is_refused_with_a_list():
    with pytest.raises(ValueError, match=r"one of the model's classes \['bad', 'good', 'poor'\], got 'approved'"):
        Decision.of(make_pipeline(StandardScaler(), LogisticRegression()).fit(X, WORDS), "approved")
    with pytest.raises(ValueError, match=r"\[0, 1\], got '1'"):
        Decision.of(says([0, 1]), "1")


def test_a_column_is_found_by_its_class():
    model = says(WORDS)
    assert [Decision.of(model, word).column for word in ("bad", "good", "poor")] == [0, 1, 2]
    assert Decision.of(says([False, True])).column == 1
    assert Decision.of(says([5.0, 7.0, 9.0]), np.float64(7)).column == 1
    with pytest.raises(ValueError, match="does not tell its classes"):
        _ = Decision.of(len).column


@pytest.mark.parametrize(
    ("model", "favourable", "sign"),
    [
        (says([0, 1]), None, 1.0),
        (says([0, 1]), 0, -1.0),
        (says(["a", "b"]), "a", -1.0),
        (says(["a", "b"]), "b", 1.0),
        (says(WORDS), "good", 0.0),
        (len, None, 1.0),
        (len, 0, -1.0),
        (len, "good", 0.0),
    ],
)
def test_the_sign_of_margins(model, favourable, sign):
    assert Decision.of(model, favourable).sign == sign


@pytest.mark.parametrize("threshold", [0.0, 1.0, -0.1, 40])
@pytest.mark.parametrize(
    ("model", "favourable"), [(says([0, 1]), None), (says(WORDS), "good"), (len, "good"), (len, 0)]
)
def test_a_threshold_of_probabilities_lies_between_0_and_1(model, favourable, threshold):
    with pytest.raises(ValueError, match="threshold is compared with the probability"):
        Decision.of(model, favourable, threshold)


@pytest.mark.parametrize("favourable", [None, "above", "below"])
def test_a_threshold_of_scores_is_any_number(favourable):
    assert Decision.of(len, favourable, 40).threshold == 40.0
    assert Decision.of(LinearRegression().fit(X, X[:, 0]), favourable, -3).regressor


@pytest.mark.parametrize("threshold", ["0.5", True, np.nan, np.inf])
def test_a_threshold_is_a_finite_number(threshold):
    with pytest.raises((TypeError, ValueError), match="threshold must be"):
        Decision.of(len, None, threshold)


def test_a_threshold_needs_probabilities():
    with pytest.raises(TypeError, match=r"LinearSVC has no predict_proba.*decision_function"):
        Decision.of(LinearSVC().fit(X, [0, 0, 1, 1]), None, 0.3)


def test_favourable_is_one_label():
    with pytest.raises(TypeError, match="favourable must be one label"):
        Decision.of(len, ["good", "poor"])


def test_several_outputs_are_refused():
    model = DecisionTreeClassifier().fit(X, [[0, 1], [1, 0], [0, 0], [1, 1]])
    with pytest.raises(ValueError, match="one output"):
        Decision.of(model, 1)
