"""Pipelines asked without the price of their first step answer as they always do, bit by bit."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    StandardScaler,
)

from robust_recourse import ActionSet, Jury, RobustBayesianRecourse
from robust_recourse.models import predictor
from robust_recourse.models.quick import pipelines
from robust_recourse.models.quick.pipelines import pipeline_quickly

TEXT, NUMBERS = ["status", "home"], ["age", "income"]


pytestmark = pytest.mark.filterwarnings("ignore:Stochastic Optimizer")


def table(n=200, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "status": rng.choice(["none", "low", "high"], n),
            "age": rng.integers(20, 70, n),
            "home": rng.choice(["own", "rent"], n),
            "income": rng.normal(3.0, 1.0, n),
            "married": rng.random(n) < 0.4,
        }
    )


def outcome(X, seed=1):
    noise = np.random.default_rng(seed).normal(size=len(X))
    return ((X["income"] - 3.0) + (X["status"] == "high") + 0.02 * (X["age"] - 45) + noise > 0.3).astype(int)


def last():
    return LogisticRegression(max_iter=1000)


def dense(**how):
    return OneHotEncoder(sparse_output=False, **how)


PIPELINES = {
    "codes": lambda: make_pipeline(
        make_column_transformer((OrdinalEncoder(), TEXT), remainder="passthrough"), HistGradientBoostingClassifier()
    ),
    "dense": lambda: make_pipeline(make_column_transformer((dense(), TEXT), (StandardScaler(), NUMBERS)), last()),
    "sparse": lambda: make_pipeline(
        make_column_transformer(
            (OneHotEncoder(), TEXT), (StandardScaler(with_mean=False), NUMBERS), sparse_threshold=1.0
        ),
        last(),
    ),
    "booleans": lambda: make_pipeline(
        make_column_transformer((OrdinalEncoder(), TEXT), ("drop", ["income"]), remainder="passthrough"),
        HistGradientBoostingClassifier(max_iter=9),
    ),
    "imputed": lambda: make_pipeline(
        make_column_transformer(
            (dense(), TEXT), (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), NUMBERS)
        ),
        RandomForestClassifier(9, random_state=0),
    ),
    "others, too": lambda: make_pipeline(
        make_column_transformer(
            (make_pipeline(SimpleImputer(), MinMaxScaler()), ["age"]), (dense(), TEXT), (StandardScaler(), ["income"])
        ),
        PolynomialFeatures(2),
        last(),
    ),
    "dropped": lambda: make_pipeline(
        ColumnTransformer(
            [("a", dense(), ["home"]), ("b", "drop", ["status"]), ("c", "passthrough", NUMBERS), ("d", "drop", [])]
        ),
        "passthrough",
        last(),
    ),
    "network": lambda: make_pipeline(
        make_column_transformer((dense(), TEXT), (StandardScaler(), NUMBERS)), MLPClassifier((5,), max_iter=20)
    ),
    "by number": lambda: make_pipeline(make_column_transformer((dense(), [0, 2]), (StandardScaler(), [1, 3])), last()),
}


@pytest.fixture
def watched(monkeypatch):
    """How often a ColumnTransformer was asked itself."""
    calls = []
    plain = ColumnTransformer.transform

    def transform(self, X, **params):
        calls.append(len(X))
        return plain(self, X, **params)

    monkeypatch.setattr(ColumnTransformer, "transform", transform)
    return calls


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_answers_are_those_of_the_pipeline(name, method, watched):
    X = table()
    model = PIPELINES[name]().fit(X, outcome(X))
    quick, watched[:] = pipeline_quickly(model, method), []
    tables = [X, table(1, 2), table(17, 3), table(400, 4)]
    answers = [quick(rows) for rows in tables]
    assert watched == [200]  # the first rows, to compare
    for rows, answer in zip(tables, answers, strict=True):
        np.testing.assert_array_equal(answer, getattr(model, method)(rows), strict=True)


def test_a_category_that_is_new_is_ignored_or_coded_as_the_pipeline_does():
    X, new = table(), table(20, 5).assign(status="new")
    coder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-7)
    for encoder in (dense(handle_unknown="ignore"), OneHotEncoder(handle_unknown="ignore"), coder):
        model = make_pipeline(make_column_transformer((encoder, TEXT), (StandardScaler(), NUMBERS)), last())
        model.fit(X, outcome(X))
        quick = pipeline_quickly(model, "predict_proba")
        quick(X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of unknown categories
            np.testing.assert_array_equal(quick(new), model.predict_proba(new))


@pytest.mark.parametrize("encoder", [dense(), OneHotEncoder(), OrdinalEncoder()])
def test_a_category_that_is_new_raises_what_the_pipeline_raises(encoder):
    X = table()
    model = make_pipeline(make_column_transformer((encoder, TEXT), remainder="passthrough"), last())
    quick = pipeline_quickly(model.fit(X, outcome(X)), "predict")
    quick(X)
    with pytest.raises(ValueError, match="unknown categories"):
        quick(X.assign(home="new"))


def test_what_a_scaler_refuses_is_refused():
    X = table()
    scaled = make_column_transformer((OrdinalEncoder(), TEXT), (StandardScaler(), NUMBERS))
    quick = pipeline_quickly(make_pipeline(scaled, HistGradientBoostingClassifier()).fit(X, outcome(X)), "predict")
    quick(X)
    with pytest.raises(ValueError, match="infinity"):
        quick(X.assign(income=np.inf))


def test_what_looks_different_is_put_to_the_pipeline(watched):
    X = table()
    model = PIPELINES["codes"]().fit(X, outcome(X))
    quick = pipeline_quickly(model, "predict_proba")
    quick(X)
    others = [
        X[["income", *TEXT, "married", "age"]],  # in another order
        X.assign(more=1.0),
        X.assign(age=X["age"].astype("float32")),
        X.assign(age=X["age"].astype(object)),
        X.assign(age=X["age"].astype("Int64")),
    ]
    for other in others:
        watched[:] = []
        answer = quick(other)
        assert watched == [200]
        np.testing.assert_array_equal(answer, model.predict_proba(other))
    for answer in (quick(X.head(5)), quick(X.assign(age=X["age"].astype(float)))):
        np.testing.assert_array_equal(answer, model.predict_proba(X)[: len(answer)])


def test_missing_values_are_those_of_the_pipeline():
    X = table()
    X.loc[X.index[:20], "income"] = np.nan
    X["home"] = X["home"].astype(object)
    X.loc[X.index[10:30], "home"] = np.nan
    encoder = make_column_transformer(
        (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), TEXT), remainder="passthrough"
    )
    known = make_pipeline(encoder, HistGradientBoostingClassifier()).fit(X, outcome(X))
    unknown = make_pipeline(encoder, HistGradientBoostingClassifier()).fit(X.iloc[30:], outcome(X.iloc[30:]))
    imputed = make_pipeline(make_column_transformer((SimpleImputer(), NUMBERS)), last()).fit(X, outcome(X))
    marked = make_column_transformer((SimpleImputer(add_indicator=True), NUMBERS), (dense(), ["status"]))
    indicated = make_pipeline(marked, last()).fit(X, outcome(X))
    for model in (known, unknown, imputed, indicated):
        quick = pipeline_quickly(model, "predict_proba")
        for rows in (X.iloc[30:], X, X.head(15)):
            np.testing.assert_array_equal(quick(rows), model.predict_proba(rows))


def test_gaps_of_their_own_types_raise_what_the_pipeline_raises():
    X = table().astype({"income": "Float64"})
    encoder = make_column_transformer((OrdinalEncoder(), TEXT), remainder="passthrough")
    quick = pipeline_quickly(make_pipeline(encoder, HistGradientBoostingClassifier()).fit(X, outcome(X)), "predict")
    quick(X)
    X.loc[5, "income"] = pd.NA
    with pytest.raises(ValueError, match="has dtype Float64"):
        quick(X)


def test_a_pipeline_that_is_fitted_again_answers_anew():
    X = table()
    model = PIPELINES["dense"]().fit(X, outcome(X))
    quick = pipeline_quickly(model, "predict_proba")
    before = quick(X)
    model.fit(X.head(100), 1 - outcome(X.head(100)))
    np.testing.assert_array_equal(quick(X), model.predict_proba(X))
    assert (quick(X) != before).all()


def test_a_scaler_that_has_learnt_more_answers_anew():
    X = table()
    model = PIPELINES["dense"]().fit(X, outcome(X))
    quick = pipeline_quickly(model, "predict_proba")
    quick(X)
    model[0].named_transformers_["standardscaler"].partial_fit(X[NUMBERS] * 3.0)
    np.testing.assert_array_equal(quick(X), model.predict_proba(X))


def test_gaps_that_are_filled_in_short_precision_are_left_to_the_imputer():
    X = table().astype({"income": "float32", "age": "float32"})
    model = make_pipeline(make_column_transformer((SimpleImputer(), NUMBERS)), last()).fit(X, outcome(X))
    quick, rows = pipeline_quickly(model, "predict_proba"), X.astype({"income": float, "age": float})
    for gaps in (rows, rows.assign(income=rows["income"].where(rows.index % 3 > 0))):
        np.testing.assert_array_equal(quick(gaps), model.predict_proba(gaps))


def test_a_wrong_way_is_never_taken(monkeypatch):
    X = table()
    model = PIPELINES["dense"]().fit(X, outcome(X))
    monkeypatch.setattr(pipelines, "_scaled", lambda _: lambda _: None)
    quick = pipeline_quickly(model, "predict_proba")
    for rows in (X, X.head(3)):
        np.testing.assert_array_equal(quick(rows), model.predict_proba(rows))
    assert pipelines._KNOWN[model].encoder is None


def test_pipelines_that_give_tables_are_asked_themselves():
    X = table()
    model = PIPELINES["dense"]()
    model.set_output(transform="pandas")
    model.fit(X, outcome(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of names that are missing
        np.testing.assert_array_equal(pipeline_quickly(model, "predict")(X), model.predict(X))


def test_infrequent_and_dropped_categories_are_left_to_the_encoder():
    X = table()
    for encoder in (dense(min_frequency=90), dense(drop="first"), dense(dtype=np.float32)):
        model = make_pipeline(make_column_transformer((encoder, TEXT), (StandardScaler(), NUMBERS)), last())
        quick = pipeline_quickly(model.fit(X, outcome(X)), "predict_proba")
        for rows in (X, table(30, 6)):
            np.testing.assert_array_equal(quick(rows), model.predict_proba(rows))


def test_columns_by_a_mask_or_a_slice_are_left_to_the_pipeline():
    X = table()
    for some in ([True, False, True, False, False], slice("status", "status")):
        model = make_pipeline(make_column_transformer((dense(), some)), last()).fit(X, outcome(X))
        quick = pipeline_quickly(model, "predict_proba")
        np.testing.assert_array_equal(quick(X), model.predict_proba(X))
        assert pipelines._KNOWN[model].encoder is None


def test_other_models_are_not_meant():
    class Own(ColumnTransformer):
        pass

    class Mine(Pipeline):
        pass

    encoder = make_column_transformer((dense(), TEXT), remainder="drop")
    assert pipeline_quickly(last(), "predict") is None
    assert pipeline_quickly(make_pipeline(StandardScaler(), last()), "predict") is None
    assert pipeline_quickly(make_pipeline(Own([("a", dense(), TEXT)]), last()), "predict") is None
    assert pipeline_quickly(Mine([("a", encoder), ("b", last())]), "predict") is None
    changed = make_pipeline(encoder, last())
    changed.predict = lambda X: np.ones(len(X))
    assert pipeline_quickly(changed, "predict") is None
    nothing = make_pipeline(make_column_transformer((FunctionTransformer(np.sqrt), ["age"])), last())
    X = table()
    nothing.fit(X, outcome(X))
    np.testing.assert_array_equal(pipeline_quickly(nothing, "predict")(X), nothing.predict(X))


@pytest.mark.parametrize("name", ["codes", "dense", "sparse"])
def test_recourses_of_a_jury_are_the_same(name, monkeypatch):
    X = table(120)
    y = outcome(X)
    model = PIPELINES[name]().fit(X, y)
    jurors = [PIPELINES[name]().fit(rows, y[rows.index]) for rows in (X.head(90), X.tail(90), X.iloc[::2])]
    people = X[model.predict(X) == 0].head(6)

    def found():
        method = RobustBayesianRecourse(
            model, ActionSet(X, immutable=["age"]), jury=Jury(jurors, 0.6), n_samples=50, random_state=0
        )
        return method.fit(X).explain(people)

    quick = found()
    monkeypatch.setattr(predictor, "answered_quickly", lambda *_: None)
    slow = found()
    pd.testing.assert_frame_equal(quick.to_frame(), slow.to_frame())
    np.testing.assert_array_equal(quick.n_queries, slow.n_queries)
