"""Where scores say what labels do."""

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

from robust_recourse.models.predictor import Predictor, Sureness

KNOWN = {
    "forest": RandomForestClassifier(10, max_depth=3, random_state=0),
    "extra": ExtraTreesClassifier(4, max_depth=2, random_state=0),
    "boosted": HistGradientBoostingClassifier(max_iter=5, random_state=0),
    "network": MLPClassifier((4,), max_iter=20, random_state=0),
}


def fitted(model, labels=(0, 1)):
    draw = np.random.default_rng(0)
    X = draw.normal(size=(200, 3)).round(1)
    with np.errstate(all="ignore"):
        return X, model.fit(X, np.where(X.sum(axis=1) + draw.normal(0.0, 1.0, 200) > 0, labels[1], labels[0]))


def least(model, **how):
    sure = Sureness(model, **how, quickly=True)
    return Predictor(model, **how, quickly=True).least_score(sure), sure


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize("kind", KNOWN)
def test_labels_of_known_models_are_those_of_their_scores(kind):
    X, model = fitted(KNOWN[kind])
    level, sure = least(model)
    assert level is not None
    rows = np.arange(len(X))
    np.testing.assert_array_equal(sure(X, rows) >= level, model.predict(X) == 1)


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize("kind", KNOWN)
def test_a_tie_is_the_first_class(kind):
    _, model = fitted(KNOWN[kind], ("good", "no"))
    assert least(model, favourable="good")[0] is None
    assert least(model, favourable="no")[0] is not None


def test_of_other_models_with_probabilities_nothing_is_known():
    assert least(fitted(LogisticRegression())[1])[0] is None
    # Labels that are asked for in both cases agree with themselves.
    assert least(fitted(SVC())[1])[0] is not None


def test_a_threshold_and_a_function_speak_for_themselves():
    X, model = fitted(KNOWN["boosted"])
    rows = np.arange(len(X))
    level, sure = least(model, threshold=0.7)
    assert level == 0.0
    np.testing.assert_array_equal(sure(X, rows) >= level, model.predict_proba(X)[:, 1] >= 0.7)

    def likely(X):
        return np.where(X[:, 0] > 0.0, 0.5, 0.7)

    level, sure = least(likely)
    np.testing.assert_array_equal(sure(X, rows) >= level, X[:, 0] <= 0.0)
