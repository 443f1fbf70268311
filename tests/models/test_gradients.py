import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, LinearSVC

from robust_recourse.models.gradients import Scores
from robust_recourse.models.predictor import ModelError, Predictor

rng = np.random.default_rng(0)
X = rng.standard_normal((120, 3))
Y = (X[:, 0] + 0.5 * X[:, 1] ** 2 - X[:, 2] > 0.3).astype(int)
ROWS = np.arange(len(X))


class OnlyPredict:
    """Answers with probabilities, as some libraries do."""

    def predict(self, Z):
        return 1.0 / (1.0 + np.exp(-(Z[:, 0] - Z[:, 1])))


MODELS = {
    "closed form": [
        LogisticRegression().fit(X, Y),
        MLPClassifier((8,), activation="tanh", max_iter=2000, random_state=0).fit(X, Y),
        make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y),
    ],
    "differences": [
        make_pipeline(PolynomialFeatures(2), LogisticRegression()).fit(X, Y),
        SVC().fit(X, Y),
        GaussianNB().fit(X, Y),
        GaussianProcessClassifier(random_state=0).fit(X, Y),
        GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, Y),
        RandomForestClassifier(10, random_state=0).fit(X, Y),
        OnlyPredict(),
        OnlyPredict().predict,
        GaussianNB().fit(X, Y).predict_proba,
    ],
}
CASES = [(kind, model) for kind, models in MODELS.items() for model in models]


def labels(model, Z):
    answer = np.asarray(model.predict(Z) if hasattr(model, "predict") else model(Z))
    return (answer[:, 1] if answer.ndim == 2 else answer) > 0.5


@pytest.mark.parametrize(("kind", "model"), CASES, ids=lambda case: type(case).__name__)
def test_the_score_is_positive_where_the_model_accepts(kind, model):
    scores = Scores(model)
    assert scores.kind == kind
    Z = np.random.default_rng(1).uniform(-2, 2, (200, 3))
    value, gradient = scores(Z, np.arange(200))
    decided = value != 0.0  # a forest can be undecided
    np.testing.assert_array_equal((value > 0)[decided], labels(model, Z)[decided])
    assert decided.mean() > 0.9
    assert gradient.shape == (200, 3)
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("model", MODELS["closed form"], ids=lambda case: type(case).__name__)
def test_closed_forms_agree_with_differences(model):
    exact, naive = Scores(model)(X, ROWS), Scores(model.predict_proba)(X, ROWS)
    clear = np.abs(exact.value) < 15.0
    np.testing.assert_allclose(exact.value[clear], naive.value[clear], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(exact.gradient[clear], naive.gradient[clear], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("model", [MODELS["closed form"][1], SVC().fit(X, Y)], ids=["network", "svm"])
def test_only_the_columns_that_may_change_are_differentiated(model):
    whole, free = Scores(model)(X, ROWS), np.random.default_rng(0).random(X.shape) < 0.6
    part = Scores(model)(X, ROWS, free)
    np.testing.assert_array_equal(part.value, whole.value)
    np.testing.assert_allclose(part.gradient, np.where(free, whole.gradient, 0.0), rtol=1e-12, atol=1e-12)
    assert part.gradient.flags.c_contiguous


def test_the_rows_that_the_model_is_asked_for_are_counted(counting):
    model = counting(OnlyPredict().predict)
    scores = Scores(model)
    scores(X, ROWS)
    assert model.n_rows == scores.n_queries == len(X) * 7
    free = np.arange(3) < (ROWS % 4)[:, None]
    np.testing.assert_array_equal(scores.rows_asked(free), 1 + 2 * (ROWS % 4))
    scores(X, ROWS, free)
    assert model.n_rows == scores.n_queries == len(X) * 7 + scores.rows_asked(free).sum()
    exact = Scores(MODELS["closed form"][0])
    exact(X, ROWS)
    assert exact.n_queries == len(X)


@pytest.mark.parametrize("model", [GaussianNB(), LogisticRegression(), make_pipeline(StandardScaler(), SVC())], ids=str)
def test_frames_go_to_the_model_and_numbers_to_closed_forms(model):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = clone(model).fit(frame, Y)
    value = Scores(model, lambda Z, _: pd.DataFrame(Z, columns=frame.columns))(X, ROWS).value
    np.testing.assert_array_equal(value > 0, model.predict(frame) == 1)


def test_steps_follow_the_scale_of_the_columns():
    def wiggly(Z):
        # A slope of 1 in units of the column, with wiggles that only a step of the wrong size sees.
        return 1.0 / (1.0 + np.exp(-(Z[:, 0] / 1000.0 + 1e-3 * np.sin(Z[:, 0]))))

    Z = np.linspace(-500.0, 500.0, 9)[:, None]
    rows = np.arange(9)
    scaled = Scores(wiggly, scale=np.array([1000.0]), step=0.1)(Z, rows).gradient
    np.testing.assert_allclose(scaled, 1e-3, rtol=0.05)
    assert np.abs(Scores(wiggly)(Z, rows).gradient - 1e-3).max() > 5e-4


@pytest.mark.parametrize(
    "model",
    [
        lambda Z: Z[:, 0] > 0,
        lambda Z: (Z[:, 0] > 0).astype(int),
        lambda Z: (Z[:, 0] > 0).astype(float),
        RandomForestClassifier(3, random_state=0).fit(X, Y).predict,
    ],
)
def test_labels_alone_are_not_enough(model):
    with pytest.raises(TypeError, match=r"labels only: 0 or 1 for each of the 120 rows.*predict_proba"):
        Scores(model).check(X)


@pytest.mark.parametrize("model", [model for _, model in CASES], ids=lambda case: type(case).__name__)
def test_everything_else_passes_the_check(model):
    Scores(model).check(X)


def test_what_is_no_model_is_refused():
    with pytest.raises(TypeError, match="predict or predict_proba"):
        Scores(3)
    with pytest.raises(ValueError, match="two classes"):
        Scores(LogisticRegression().fit(X, np.where(Y, "good", "bad")))


def test_an_error_of_the_model_names_the_row():
    def fragile(Z):
        if (Z[:, 0] > 5.0).any():
            raise ZeroDivisionError("no such branch")
        return OnlyPredict().predict(Z)

    Z = X.copy()
    Z[17, 0] = 6.0
    with pytest.raises(ModelError, match="ZeroDivisionError for row 17 of X: no such branch"):
        Scores(fragile)(Z, ROWS)


def test_a_model_that_works_in_place_changes_nothing_of_ours():
    def in_place(Z):
        Z *= 0.1
        return OnlyPredict().predict(Z)

    Z = X.copy()
    Scores(in_place).check(Z)
    Scores(in_place)(Z, ROWS)
    np.testing.assert_array_equal(Z, X)


WORDS = np.array(["refused", "approved"])[Y]
THREE = np.array(["refused", "maybe", "approved"])[np.digitize(X[:, 0] - X[:, 2], [-0.6, 0.6])]
Z = np.random.default_rng(2).uniform(-2, 2, (150, 3))
EVERY = np.arange(150)
NETWORK = MLPClassifier((8,), activation="tanh", solver="lbfgs", max_iter=15, random_state=0)


def assert_same_side(model, kind, **decides):
    """The score is positive exactly where the model accepts, and its gradient is its derivative."""
    scores = Scores(model, **decides)
    assert scores.kind == kind
    scores.check(Z)
    value, gradient = scores(Z, EVERY)
    np.testing.assert_array_equal(value > 0, Predictor(model, **decides)(Z, EVERY))
    h = 1e-5
    clear = np.abs(value) < 15.0
    for k in range(3):
        ahead, behind = (scores(Z + move * np.eye(3)[k], EVERY).value for move in (h, -h))
        np.testing.assert_allclose(gradient[clear, k], (ahead - behind)[clear] / (2 * h), rtol=2e-2, atol=1e-2)


@pytest.mark.parametrize("favourable", ["refused", "approved"])
@pytest.mark.parametrize("threshold", [None, 0.2, 0.9])
@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (LogisticRegression(), "closed form"),
        (LinearDiscriminantAnalysis(), "closed form"),
        (SGDClassifier(loss="log_loss", random_state=0), "closed form"),
        (make_pipeline(StandardScaler(), LogisticRegression()), "closed form"),
        (NETWORK, "closed form"),
        (make_pipeline(PolynomialFeatures(2), LogisticRegression()), "differences"),
        (GaussianNB(), "differences"),
    ],
    ids=lambda case: type(case).__name__,
)
@pytest.mark.filterwarnings("ignore:lbfgs failed")
def test_either_class_with_any_threshold(model, kind, threshold, favourable):
    assert_same_side(clone(model).fit(X, WORDS), kind, favourable=favourable, threshold=threshold)


@pytest.mark.parametrize("favourable", [0, 1])
def test_margins_that_are_no_log_odds_know_no_threshold(favourable):
    rough = SGDClassifier(loss="modified_huber", random_state=0).fit(X, Y)
    assert Scores(rough, favourable=favourable).kind == "closed form"
    scores = Scores(rough, favourable=favourable, threshold=0.3)
    assert scores.kind == "differences"
    found = Predictor(rough, favourable=favourable, threshold=0.3)(Z, EVERY)
    np.testing.assert_array_equal(scores(Z, EVERY).value > 0, found)
    assert_same_side(LinearSVC().fit(X, Y), "closed form", favourable=favourable)
    assert_same_side(SVC().fit(X, Y), "differences", favourable=favourable)


@pytest.mark.parametrize("favourable", ["refused", "maybe", "approved"])
@pytest.mark.parametrize("threshold", [None, 0.5, 0.2])
@pytest.mark.parametrize("model", [LogisticRegression(), GaussianNB()], ids=str)
def test_one_of_three_classes(model, threshold, favourable):
    assert_same_side(clone(model).fit(X, THREE), "differences", favourable=favourable, threshold=threshold)


def test_the_score_of_one_of_three_classes_is_how_far_it_is_ahead():
    model = LogisticRegression().fit(X, THREE)
    a, b, c = model.predict_log_proba(Z).T
    assert list(model.classes_) == ["approved", "maybe", "refused"]
    np.testing.assert_allclose(Scores(model, favourable="approved")(Z, EVERY).value, a - np.maximum(b, c), rtol=1e-9)


def test_margins_of_three_classes_are_not_enough():
    with pytest.raises(TypeError, match="labels only"):
        Scores(LinearSVC().fit(X, THREE), favourable="maybe").check(X)


@pytest.mark.parametrize("favourable", ["above", "below"])
@pytest.mark.parametrize("threshold", [-0.3, 0.4])
def test_scores_of_a_regressor(favourable, threshold):
    model = LinearRegression().fit(X, X @ [1.0, -2.0, 0.5])
    for ask in (model, model.predict):
        assert_same_side(ask, "differences", favourable=favourable, threshold=threshold)
        value, gradient = Scores(ask, favourable=favourable, threshold=threshold)(Z, EVERY)
        sign = 1.0 if favourable == "above" else -1.0
        np.testing.assert_allclose(value, sign * (model.predict(Z) - threshold), atol=1e-12)
        np.testing.assert_allclose(gradient, np.tile(sign * model.coef_, (150, 1)), rtol=1e-6)


UNIT = np.array([1000.0, 0.01, 7.0])


def scaled(Z, _):
    return pd.DataFrame(Z * UNIT, columns=["a", "b", "c"])


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(max_iter=10_000),
        make_pipeline(StandardScaler(), NETWORK),
        GaussianNB(),
        make_pipeline(StandardScaler(), SVC()),
    ],
    ids=str,
)
@pytest.mark.parametrize("numbers", [True, False])
@pytest.mark.filterwarnings("ignore:lbfgs failed")
def test_rows_may_be_in_other_units(model, numbers):
    frame = scaled(X, None)
    model = clone(model).fit(frame, WORDS)
    scores = Scores(model, scaled, favourable="refused", unit=UNIT, numbers=numbers)
    if not numbers:
        assert scores.kind == "differences"
    value, gradient = scores(Z, EVERY)
    np.testing.assert_array_equal(value > 0, model.predict(scaled(Z, None)) == "refused")
    raw = Scores(model, lambda Q, _: pd.DataFrame(Q, columns=frame.columns), favourable="refused", scale=UNIT)
    other = raw(Z * UNIT, EVERY)
    clear = np.abs(value) < 15.0  # beyond that a probability has lost its digits
    np.testing.assert_allclose(value[clear], other.value[clear], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(gradient[clear], (other.gradient * UNIT)[clear], rtol=1e-2, atol=1e-2)


def test_a_model_in_single_precision_is_differentiated_well_in_other_units():
    def single(table):
        rows = table.astype(np.float32)
        return 1.0 / (1.0 + np.exp(-(np.float32(0.01) * (rows[:, 0] - np.float32(50_000.0))).astype(float)))

    points = np.array([[50_010.0], [49_990.123], [50_003.7]]) / 3.3
    scores = Scores(single, lambda Q, _: Q * 3.3, unit=np.array([3.3]))
    np.testing.assert_allclose(scores(points, np.arange(3)).gradient, 0.033, rtol=1e-3)
