"""XGBoost and LightGBM are optional: without them these tests are skipped."""

import numpy as np
import pandas as pd
import pytest

from robust_recourse.models.boosters import is_booster
from robust_recourse.models.gradients import Scores
from robust_recourse.models.predictor import Acceptance, ModelError, Predictor, Probabilities

rng = np.random.default_rng(0)
N = 200
JOBS = pd.CategoricalDtype(["clerk", "cook", "judge"])
FRAME = pd.DataFrame(
    {
        "income": rng.lognormal(7.0, 0.5, N),
        "job": pd.Categorical(rng.choice(JOBS.categories, N), dtype=JOBS),
        "children": rng.integers(0, 4, N),
        "owner": rng.random(N) < 0.5,
    }
)
FRAME.loc[::17, "income"] = np.nan
Y = (
    ((FRAME["income"].fillna(0.0) > 1000.0) & (FRAME["job"] != "cook") | (FRAME["children"] == 3))
    .to_numpy()
    .astype(int)
)
THREE = Y + FRAME["owner"].to_numpy()
CODES = np.column_stack([FRAME["income"].fillna(0.0), FRAME["job"].cat.codes, FRAME["children"], FRAME["owner"]])
ROWS = np.arange(N)
TREES = {"n_estimators": 8, "max_depth": 3, "n_jobs": 1, "random_state": 0}


def decode(places, _):
    """Rows are told by their places, as any table may be."""
    return FRAME.iloc[places[:, 0].astype(int)]


PLACES = ROWS[:, None].astype(float)


def assert_agrees(model, accepted, share=None, **decides):
    np.testing.assert_array_equal(Predictor(model, decode, **decides)(PLACES, ROWS), accepted)
    # Alone a row has the answer that it has in company.
    some = np.array([3, 17, 4])
    np.testing.assert_array_equal(Predictor(model, decode, **decides)(PLACES[some], some), accepted[some])
    if share is not None:
        np.testing.assert_array_equal(Probabilities(model, decode, **decides)(PLACES, ROWS), share)
        score = Scores(model, decode, numbers=False, **decides)
        assert score.kind == "differences"
        score.check(PLACES)
        np.testing.assert_array_equal(Acceptance(model, decode, **decides)(PLACES, ROWS) >= 0.5, accepted)


@pytest.fixture(scope="module")
def xgboost():
    return pytest.importorskip("xgboost")


@pytest.fixture(scope="module")
def lightgbm():
    return pytest.importorskip("lightgbm")


def fitted(library, y, kind="Classifier"):
    if library.__name__ == "xgboost":
        return getattr(library, f"XGB{kind}")(**TREES, enable_categorical=True, tree_method="hist").fit(FRAME, y)
    return getattr(library, f"LGBM{kind}")(**TREES, min_child_samples=5, verbose=-1).fit(FRAME, y)


@pytest.mark.parametrize("name", ["xgboost", "lightgbm"])
def test_classifiers_with_native_categories_and_missing_values(name, request):
    model = fitted(request.getfixturevalue(name), Y)
    share = model.predict_proba(FRAME)
    assert 0.2 < model.predict(FRAME).mean() < 0.8
    assert_agrees(model, model.predict(FRAME) == 1, share[:, 1])
    assert_agrees(model, model.predict(FRAME) == 0, share[:, 0], favourable=0)
    assert_agrees(model, share[:, 1] >= 0.7, share[:, 1], threshold=0.7)


@pytest.mark.parametrize("name", ["xgboost", "lightgbm"])
def test_one_of_three_classes(name, request):
    model = fitted(request.getfixturevalue(name), THREE)
    share = model.predict_proba(FRAME)
    for favourable in range(3):
        assert_agrees(model, model.predict(FRAME) == favourable, share[:, favourable], favourable=favourable)
        assert_agrees(model, share[:, favourable] >= 0.25, share[:, favourable], favourable=favourable, threshold=0.25)


def test_words_of_lightgbm(lightgbm):
    words = np.array(["refused", "approved"])[Y]
    model = fitted(lightgbm, words)
    assert_agrees(model, model.predict(FRAME) == "approved", model.predict_proba(FRAME)[:, 0], favourable="approved")


@pytest.mark.parametrize("name", ["xgboost", "lightgbm"])
def test_regressors_have_scores(name, request):
    model = fitted(request.getfixturevalue(name), 500.0 * THREE, "Regressor")
    score = model.predict(FRAME)
    assert_agrees(model, score >= 400.0, (score >= 400.0).astype(float), threshold=400.0)
    assert_agrees(model, score <= 400.0, (score <= 400.0).astype(float), favourable="below", threshold=400.0)


def test_a_booster_of_xgboost_gets_its_own_matrix(xgboost):
    fit = fitted(xgboost, Y)
    booster = fit.get_booster()
    assert is_booster(booster)
    assert not is_booster(fit)
    share = fit.predict_proba(FRAME)[:, 1]
    assert_agrees(booster, share > 0.5, share.astype(float))
    assert_agrees(booster, share >= 0.3, share.astype(float), threshold=0.3)
    assert_agrees(booster, share < 0.5, 1.0 - share.astype(float), favourable=0)
    three = fitted(xgboost, THREE)
    shares = three.predict_proba(FRAME)
    assert_agrees(three.get_booster(), shares.argmax(axis=1) == 2, shares[:, 2].astype(float), favourable=2)
    real = fitted(xgboost, 500.0 * THREE, "Regressor")
    assert_agrees(real.get_booster(), real.predict(FRAME) >= 400.0, threshold=400.0)


def test_labels_of_a_booster(xgboost):
    matrix = xgboost.DMatrix(FRAME, THREE, enable_categorical=True)
    booster = xgboost.train({"objective": "multi:softmax", "num_class": 3, "nthread": 1}, matrix, 4)
    assert_agrees(booster, booster.predict(matrix) == 2.0, favourable=2)


def test_a_booster_of_xgboost_on_arrays(xgboost):
    fit = xgboost.XGBClassifier(**TREES).fit(pd.DataFrame(CODES, columns=FRAME.columns), Y)
    for model in (fit.get_booster(), xgboost.XGBClassifier(**TREES).fit(CODES, Y).get_booster()):
        found = Predictor(model)(CODES, ROWS)
        np.testing.assert_array_equal(found, fit.predict(pd.DataFrame(CODES, columns=FRAME.columns)) == 1)


def test_a_booster_of_lightgbm(lightgbm):
    fit = fitted(lightgbm, Y)
    share = fit.predict_proba(FRAME)[:, 1]
    assert_agrees(fit.booster_, share > 0.5, share)
    assert_agrees(fit.booster_, share >= 0.3, share, threshold=0.3)
    three = fitted(lightgbm, THREE)
    shares = three.predict_proba(FRAME)
    assert_agrees(three.booster_, shares.argmax(axis=1) == 1, shares[:, 1], favourable=1)


@pytest.mark.parametrize("name", ["xgboost", "lightgbm"])
def test_errors_name_the_row(name, request):
    library = request.getfixturevalue(name)
    fit = fitted(library, Y)

    def words(places, rows):
        frame = decode(places, rows).copy()
        frame["children"] = frame["children"].astype(object)
        frame.loc[frame.index == 42, "children"] = "many"
        return frame if (frame["children"] == "many").any() else frame.astype({"children": int})

    booster = fit.get_booster() if name == "xgboost" else fit.booster_
    for model in (fit, booster):
        with pytest.raises(ModelError, match=r"ValueError for row 42 of X"):
            Predictor(model, words)(PLACES, ROWS)
