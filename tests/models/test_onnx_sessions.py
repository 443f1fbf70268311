"""onnxruntime is optional: without it these tests are skipped."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

from robust_recourse.models.gradients import Scores
from robust_recourse.models.onnx_sessions import is_session
from robust_recourse.models.predictor import ModelError, Predictor, Probabilities

onnxruntime = pytest.importorskip("onnxruntime")
skl2onnx = pytest.importorskip("skl2onnx")
types = pytest.importorskip("skl2onnx.common.data_types")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

rng = np.random.default_rng(0)
X = rng.standard_normal((150, 3)).astype(np.float32).astype(float)
Y = (X[:, 0] - X[:, 1] > 0.1).astype(int)
THREE = np.digitize(X[:, 0], [-0.5, 0.5])
ROWS = np.arange(150)
WORDS = np.array(["refused", "approved"])
FRAME = pd.DataFrame(
    {
        "income": X[:, 0] * 500.0 + 2000.0,
        "children": rng.integers(0, 4, 150),
        "job": rng.choice(["clerk", "cook", "judge"], 150),
    }
)
GOOD = ((FRAME["income"] > 2000.0) & (FRAME["job"] != "cook")).to_numpy().astype(int)
PLACES = ROWS[:, None].astype(float)


def decode(places, _):
    return FRAME.iloc[places[:, 0].astype(int)]


def session(model, inputs=None, **options):
    inputs = [("input", types.FloatTensorType([None, 3]))] if inputs is None else inputs
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    made = skl2onnx.convert_sklearn(model, initial_types=inputs, options={id(last): options} if options else None)
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(made.SerializeToString(), settings, providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("zipmap", [True, False])
def test_labels_and_probabilities_of_two_classes(zipmap):
    model = LogisticRegression().fit(X, Y)
    made, share = session(model, zipmap=zipmap), model.predict_proba(X)
    assert is_session(made)
    assert not is_session(model)
    np.testing.assert_array_equal(Predictor(made)(X, ROWS), model.predict(X) == 1)
    np.testing.assert_array_equal(Predictor(made, favourable=0)(X, ROWS), model.predict(X) == 0)
    np.testing.assert_allclose(Probabilities(made)(X, ROWS), share[:, 1], atol=1e-6)
    np.testing.assert_allclose(Probabilities(made, favourable=0)(X, ROWS), share[:, 0], atol=1e-6)
    np.testing.assert_array_equal(Predictor(made, threshold=0.3)(X, ROWS), share[:, 1] >= 0.3)
    scores = Scores(made)
    scores.check(X)
    value, gradient = scores(X, ROWS)
    np.testing.assert_allclose(value, model.decision_function(X), rtol=1e-2, atol=1e-2)
    clear = np.abs(value) < 3
    np.testing.assert_allclose(gradient[clear], np.tile(model.coef_, (clear.sum(), 1)), rtol=0.1, atol=0.1)


@pytest.mark.parametrize("favourable", [0, 1, 2])
@pytest.mark.parametrize("zipmap", [True, False])
def test_one_of_three_classes(zipmap, favourable):
    model = LogisticRegression().fit(X, THREE)
    made, share = session(model, zipmap=zipmap), model.predict_proba(X)[:, favourable]
    np.testing.assert_array_equal(Predictor(made, favourable=favourable)(X, ROWS), model.predict(X) == favourable)
    np.testing.assert_allclose(Probabilities(made, favourable=favourable)(X, ROWS), share, atol=1e-6)
    found = Predictor(made, favourable=favourable, threshold=0.4)(X, ROWS)
    np.testing.assert_array_equal(found, share >= 0.4)


def test_words_are_named_by_zipmap():
    model = LogisticRegression().fit(X, WORDS[Y])
    made = session(model, zipmap=True)
    np.testing.assert_array_equal(Predictor(made, favourable="approved")(X, ROWS), model.predict(X) == "approved")
    share = model.predict_proba(X)
    for column, word in enumerate(model.classes_):
        np.testing.assert_allclose(Probabilities(made, favourable=word)(X, ROWS), share[:, column], atol=1e-6)
        found = Predictor(made, favourable=word, threshold=0.8)(X, ROWS)
        np.testing.assert_array_equal(found, share[:, column] >= 0.8)
    with pytest.raises(ModelError, match=r"such as '(approved|refused)'. Pass favourable="):
        Predictor(made)(X, ROWS)
    plain = session(model, zipmap=False)
    np.testing.assert_array_equal(Predictor(plain, favourable="approved")(X, ROWS), model.predict(X) == "approved")
    with pytest.raises(ModelError, match="columns of probabilities without names"):
        Probabilities(plain, favourable="approved")(X, ROWS)


def test_labels_that_are_no_numbers_of_columns_need_zipmap():
    model = LogisticRegression().fit(X, Y + 1)
    np.testing.assert_array_equal(
        Predictor(session(model, zipmap=True), favourable=1, threshold=0.7)(X, ROWS),
        model.predict_proba(X)[:, 0] >= 0.7,
    )
    made = session(model, zipmap=False)
    np.testing.assert_array_equal(Predictor(made, favourable=1)(X, ROWS), model.predict(X) == 1)
    with pytest.raises(ModelError, match=r"label 2 of the ONNX model is not the number.*with ZipMap"):
        Predictor(made, favourable=1, threshold=0.7)(X, ROWS)


@pytest.mark.parametrize("kind", ["float", "double"])
def test_scores_and_both_precisions(kind):
    model = LinearRegression().fit(X, X @ [3.0, -2.0, 0.5])
    made = session(
        model, [("input", {"float": types.FloatTensorType, "double": types.DoubleTensorType}[kind]([None, 3]))]
    )
    score = model.predict(X)
    clear = np.abs(score - 1.0) > 1e-4
    np.testing.assert_array_equal(Predictor(made, threshold=1.0)(X, ROWS)[clear], (score >= 1.0)[clear])
    below = Predictor(made, favourable="below", threshold=1.0)(X, ROWS)
    np.testing.assert_array_equal(below[clear], (score <= 1.0)[clear])
    value, gradient = Scores(made, threshold=1.0)(X, ROWS)
    np.testing.assert_allclose(value, score - 1.0, atol=1e-5)
    np.testing.assert_allclose(gradient, np.tile([3.0, -2.0, 0.5], (150, 1)), rtol=1e-2, atol=1e-2)
    with pytest.raises(ModelError, match="threshold= for scores"):
        Predictor(made)(X, ROWS)


@pytest.fixture(scope="module")
def mixed():
    """A pipeline on a raw frame, with one input for every column."""
    columns = make_column_transformer(
        (StandardScaler(), ["income"]), ("passthrough", ["children"]), (OneHotEncoder(), ["job"])
    )
    model = make_pipeline(columns, LogisticRegression()).fit(FRAME, WORDS[GOOD])
    inputs = [
        ("income", types.FloatTensorType([None, 1])),
        ("children", types.Int64TensorType([None, 1])),
        ("job", types.StringTensorType([None, 1])),
    ]
    return model, session(model, inputs, zipmap=True)


def test_a_raw_frame_with_one_input_for_every_column(mixed):
    model, made = mixed
    decides = {"favourable": "approved"}
    np.testing.assert_array_equal(Predictor(made, decode, **decides)(PLACES, ROWS), model.predict(FRAME) == "approved")
    share = model.predict_proba(FRAME)[:, 0]
    np.testing.assert_allclose(Probabilities(made, decode, **decides)(PLACES, ROWS), share, atol=1e-6)
    # By names: the order of the columns does not matter, and more of them do no harm.
    other = lambda places, rows: decode(places, rows)[["job", "income", "children"]].assign(more="x")  # noqa: E731
    np.testing.assert_array_equal(Predictor(made, other, **decides)(PLACES, ROWS), model.predict(FRAME) == "approved")
    category = lambda places, rows: decode(places, rows).astype({"job": "category", "children": float})  # noqa: E731
    np.testing.assert_array_equal(
        Predictor(made, category, **decides)(PLACES, ROWS), model.predict(FRAME) == "approved"
    )


def test_derivatives_may_ask_for_fractions_of_whole_numbers(mixed):
    _, made = mixed
    rows = np.arange(20)
    table = FRAME.iloc[rows]
    unit = np.array([500.0, 1.0, 1.0])

    def smoothly(Z, rows):
        return table.iloc[rows].assign(income=Z[:, 0] * unit[0], children=Z[:, 1])

    Z = np.column_stack([table["income"] / unit[0], table["children"], np.zeros(20)])
    free = np.tile([True, True, False], (20, 1))
    scores = Scores(made, smoothly, favourable="approved", unit=unit, numbers=False)
    value, gradient = scores(Z, rows, free)
    share = Probabilities(made, decode, favourable="approved")(PLACES[:20], rows)
    np.testing.assert_allclose(value, np.log(share / (1.0 - share)), rtol=1e-4, atol=1e-4)
    assert (np.abs(gradient[:, 0]) > 0.0).all()
    np.testing.assert_array_equal(gradient[:, 1], 0.0)
    with pytest.raises(ModelError, match="whole numbers"):
        Predictor(made, smoothly, favourable="approved")(Z + np.array([0.0, 0.25, 0.0]), rows)


def test_frames_of_polars(mixed):
    polars = pytest.importorskip("polars")
    model, made = mixed
    other = lambda places, rows: polars.from_pandas(decode(places, rows))  # noqa: E731
    found = Predictor(made, other, favourable="approved")(PLACES, ROWS)
    np.testing.assert_array_equal(found, model.predict(FRAME) == "approved")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda frame: frame.drop(columns="job"), r"row.* of X: the inputs \['job'\] of the ONNX model are no columns"),
        (lambda frame: frame.assign(children=frame["children"] + 0.5), "'children' .*whole numbers.*int64.*got"),
        (lambda frame: frame.assign(income="much"), "ValueError for row.*much"),
        (lambda frame: frame.assign(children=frame["children"].where(frame.index != 42, 2.5)), "row 42 .*got 2.5"),
    ],
)
def test_tables_that_do_not_fit_are_refused(mixed, change, match):
    with pytest.raises(ModelError, match=match):
        Predictor(mixed[1], lambda *asked: change(decode(*asked)), favourable="approved")(PLACES, ROWS)


def test_an_array_goes_into_many_inputs_by_position():
    model = LogisticRegression().fit(X, Y)
    inputs = [(name, types.FloatTensorType([None, 1])) for name in "abc"]
    made = session(make_pipeline(StandardScaler(), model).fit(X, Y), inputs)
    expected = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y).predict(X) == 1
    np.testing.assert_array_equal(Predictor(made)(X, ROWS), expected)
    with pytest.raises(ModelError, match="3 inputs, but the table has 2 columns"):
        Predictor(made)(X[:, :2], ROWS)


def test_a_classifier_without_probabilities_has_labels():
    model = LinearSVC().fit(X, Y)
    made = session(model)
    np.testing.assert_array_equal(Predictor(made)(X, ROWS), model.predict(X) == 1)


class Out:
    def __init__(self, name, kind):
        self.name, self.type, self.shape = name, kind, [None, 3]


class StandIn:
    """A session with any outputs."""

    def __init__(self, **outputs):
        self._kinds = {name: kind for name, (kind, _) in outputs.items()}
        self._answers = {name: answer for name, (_, answer) in outputs.items()}

    def get_inputs(self):
        return [Out("x", "tensor(float)")]

    def get_outputs(self):
        return [Out(name, kind) for name, kind in self._kinds.items()]

    def run(self, names, feed):
        assert feed["x"].dtype == np.float32
        return [self._answers[name][: len(feed["x"])] for name in names]


def test_other_outputs():
    share = np.stack([1.0 - X[:, 0] ** 2 / 20, X[:, 0] ** 2 / 20], axis=1).astype(np.float32)
    alone = StandIn(output=("tensor(float)", share))
    np.testing.assert_array_equal(Predictor(alone)(X, ROWS), share[:, 1] > 0.5)
    np.testing.assert_array_equal(Predictor(alone, favourable=0)(X, ROWS), share[:, 0] > 0.5)
    logits = StandIn(logits=("tensor(float)", share * 9), probabilities=("tensor(float)", share))
    np.testing.assert_array_equal(Probabilities(logits)(X, ROWS), share[:, 1])
    labels = StandIn(label=("tensor(int64)", Y))
    np.testing.assert_array_equal(Predictor(labels)(X, ROWS), Y == 1)
    with pytest.raises(TypeError, match="labels only"):
        Scores(labels).check(X)
    unclear = StandIn(one=("tensor(float)", share), two=("tensor(float)", share), label=("tensor(int64)", Y))
    np.testing.assert_array_equal(Predictor(unclear)(X, ROWS), Y == 1)


@pytest.mark.parametrize(
    "outputs",
    [
        {"one": ("tensor(float)", X), "two": ("tensor(float)", X)},
        {"one": ("tensor(int64)", Y), "two": ("tensor(int64)", Y)},
        {"one": ("seq(tensor(float))", X)},
    ],
)
def test_outputs_that_do_not_say_which_one_decides_are_refused(outputs):
    with pytest.raises(ValueError, match=r"outputs of the ONNX session are \['one'.*Pass a callable"):
        Predictor(StandIn(**outputs))
