"""What the library promises, on random tables, models and action sets.

Hypothesis draws what there is: kinds of columns, a model, an action set. The cells come from a seed.
"""

from __future__ import annotations

import json
import zlib

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from robust_recourse import ROAR, ActionSet, BayesianRecourse, NearestAccepted, RobustBayesianRecourse, Wachter

pytestmark = [
    pytest.mark.slow,
    # Random models may follow one column, or accept everybody.
    pytest.mark.filterwarnings("ignore:Column .* alone tells whom the model accepts"),
    pytest.mark.filterwarnings("ignore:The model accepts all"),
]

METHODS = {
    "RBR": lambda model, actions: RobustBayesianRecourse(model, actions, n_samples=30, random_state=0),
    "Bayesian": lambda model, actions: BayesianRecourse(model, actions, n_samples=30, random_state=0),
    "Wachter": lambda model, actions: Wachter(model, actions),
    "ROAR": lambda model, actions: ROAR(model, actions, n_samples=60, random_state=0),
    "nearest": lambda model, actions: NearestAccepted(model, actions),
}
WORDS = ["low", "middle", "high", "very high"]
NUMBERS = ("float", "cents", "float32", "whole floats", "int64", "int8", "uint16", "Int64", "Float64", "gaps")
CATEGORIES = ("bool", "boolean", "01", "category", "int category", "ordered", "text", "object", "string", "named order")
FROZEN = ("constant", "date", "empty")
PLAIN = (
    "float",
    "cents",
    "float32",
    "whole floats",
    "int64",
    "int8",
    "gaps",
    "bool",
    "01",
    "category",
    "text",
    "ordered",
)


def column(kind, n, rng):
    """Draw a column of a kind."""
    scale = 10.0 ** rng.integers(-2, 5)
    codes = rng.integers(0, rng.integers(2, 5), n)
    gaps = rng.random(n) < 0.15
    match kind:
        case "float":
            return rng.normal(rng.normal(), 1.0, n) * scale
        case "cents":
            return np.round(rng.gamma(2.0, 1.0, n) * scale, 2)
        case "float32":
            return (rng.normal(0.0, 1.0, n) * scale).astype(np.float32)
        case "whole floats":
            return np.round(rng.normal(0.0, 20.0, n))
        case "int64":
            return rng.integers(-50, 10**6 if scale > 100 else 50, n)
        case "int8":
            return rng.integers(-128, 128, n).astype(np.int8)
        case "uint16":
            return rng.integers(0, 100, n).astype(np.uint16)
        case "Int64":
            return pd.array(np.where(gaps, None, rng.integers(0, 100, n)), dtype="Int64")
        case "Float64":
            return pd.array(np.where(gaps, None, np.round(rng.normal(0.0, 1.0, n), 3)), dtype="Float64")
        case "gaps":
            return np.where(gaps, np.nan, rng.normal(0.0, scale, n))
        case "bool":
            return rng.random(n) < 0.5
        case "boolean":
            return pd.array(np.where(gaps, None, rng.random(n) < 0.5), dtype="boolean")
        case "01":
            return (rng.random(n) < 0.4).astype(np.int64)
        case "category":
            return pd.Categorical([None if gap else WORDS[c] for c, gap in zip(codes, gaps, strict=True)])
        case "int category":
            return pd.Categorical(codes * 10)
        case "ordered":
            return pd.Categorical([WORDS[c] for c in codes], categories=WORDS, ordered=True)
        case "text" | "named order":
            return [WORDS[c] for c in codes]
        case "object":
            return np.array([[None, "a", 3, ("x", 1)][c] for c in codes], dtype=object)
        case "string":
            return pd.array([None if gap else WORDS[c] for c, gap in zip(codes, gaps, strict=True)], dtype="string")
        case "constant":
            return np.full(n, 7.5)
        case "empty":
            return np.full(n, np.nan)
        case "date":
            return pd.Timestamp("2020-01-01") + pd.to_timedelta(codes, unit="D")
    raise AssertionError(kind)


@st.composite
def tables(draw, kinds=NUMBERS + CATEGORIES + FROZEN):
    """Draw a training frame and the kinds of its columns."""
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=2, max_size=8))
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    n = draw(st.sampled_from([12, 40]))
    frame = pd.DataFrame({f"c{k}": column(kind, n, rng) for k, kind in enumerate(chosen)})
    frame.index = draw(st.sampled_from([frame.index, frame.index[::-1] * 3, pd.Index([f"p{i}" for i in range(n)])]))
    return frame, dict(zip(frame.columns, chosen, strict=True))


def effects(series, seed):
    """Give every cell a number of its own, so that a model can add them up: the same for the same cell."""
    if pd.api.types.is_numeric_dtype(series.dtype) and not pd.api.types.is_bool_dtype(series.dtype):
        return series.to_numpy(dtype=float, na_value=np.nan)
    return np.array([zlib.crc32(f"{seed}{cell}".encode()) % 1000 / 250.0 - 2.0 for cell in series.tolist()])


class Sum:
    """A score that adds up what the cells of a row are worth; accepts the better share of the training rows."""

    def __init__(self, train, rng, share, answer):
        self.strict = True
        self._answer, self._seed = answer, int(rng.integers(1000))
        self._weights = rng.normal(0.0, 1.0, train.shape[1])
        values = np.array([effects(train[c], self._seed) for c in train.columns], dtype=float)
        known = np.where(np.isfinite(values), values, 0.0)
        self._centre, self._scale = known.mean(axis=1), known.std(axis=1) + 1e-9
        self._types = train.dtypes
        self._bar = 0.0
        self._bar = float(np.quantile(self.score(train), share))

    def score(self, X):
        total = np.zeros(len(X))
        for k, c in enumerate(X.columns):
            value = (effects(X[c], self._seed) - self._centre[k]) / self._scale[k]
            total = total + self._weights[k] * np.where(np.isnan(value), 0.3, value)
        return total - self._bar

    def __call__(self, X):
        if self.strict:
            assert (X.dtypes == self._types).all(), "the model gets other types than in training"
        score = self.score(X)
        if self._answer == "steps":
            return np.floor(3.0 * score) % 3 >= 1.0
        if self._answer == "labels":
            return score > 0.0
        return 1.0 / (1.0 + np.exp(-np.clip(score, -30.0, 30.0)))


def pipeline(train, rng, share, estimator):
    """Fit a Pipeline on the raw frame to labels of a hidden score."""
    y = (Sum(train, rng, share, "labels").score(train) + rng.normal(0.0, 0.3, len(train)) > 0.0).astype(int)
    assume(0 < y.sum() < len(y))
    numbers = [c for c in train.columns if pd.api.types.is_numeric_dtype(train[c].dtype)]
    others = [c for c in train.columns if c not in numbers]
    encode = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), numbers),
            ("others", OneHotEncoder(handle_unknown="ignore", sparse_output=False), others),
        ]
    )
    return make_pipeline(encode, estimator).fit(train, y)


def model_of(name, train, rng, share):
    match name:
        case "tree":
            return pipeline(train, rng, share, DecisionTreeClassifier(max_depth=4, random_state=0))
        case "boosting":
            booster = HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=3, random_state=0)
            return pipeline(train, rng, share, booster)
        case "logistic":
            return pipeline(train, rng, share, LogisticRegression(max_iter=2000))
    return Sum(train, rng, share, name)


def answers(model):
    """Return the labels of a model, as a function of a frame."""
    if isinstance(model, Sum):
        return lambda X: np.asarray(model(X)) > 0.5
    return lambda X: model.predict(X) == 1


@st.composite
def action_sets(draw, train, kinds):
    """Draw the arguments of an action set that fit the columns."""
    words = {name: [] for name in ("immutable", "increase", "decrease", "integer", "rules")}
    words |= {name: {} for name in ("bounds", "step", "categories", "ordered", "weights")}
    for name, kind in kinds.items():
        values = train[name].dropna()
        if kind == "named order":
            words["ordered"][name] = draw(st.permutations(WORDS))
        if draw(st.integers(0, 7)) == 0:
            words["immutable"].append(name)
        if draw(st.integers(0, 3)) == 0:
            words["weights"][name] = draw(st.sampled_from([0.1, 0.5, 2.0, 7.0]))
        if kind in {"category", "text", "string"} and len(values) and draw(st.integers(0, 2)) == 0:
            words["categories"][name] = draw(
                st.lists(st.sampled_from(sorted(set(values))), min_size=1, max_size=3, unique=True)
            )
        if kind in {*NUMBERS, "bool", "boolean", "01", "ordered", "named order"}:
            way = draw(st.sampled_from(["increase", "decrease", None, None]))
            if way:
                words[way].append(name)
        if kind in NUMBERS and len(values):
            _numbers(draw, words, name, kind, values)
    numeric = [name for name, kind in kinds.items() if kind in NUMBERS]
    if len(numeric) > 1 and draw(st.integers(0, 2)) == 0:
        left, right = draw(st.permutations(numeric))[:2]
        factor = draw(st.sampled_from(["", "0.5 * ", "3 * "]))
        gap = train[left].astype(float) - train[right].astype(float)
        words["rules"].append(f"{factor}{left} <= {right} + {float(np.nanquantile(gap, 0.7)):.3f}")
    words["max_changes"] = draw(st.sampled_from([None, None, 1, 2, 3]))
    return {name: value for name, value in words.items() if value}


def _numbers(draw, words, name, kind, values):
    low, high = float(values.min()), float(values.max())
    if draw(st.integers(0, 3)) == 0:
        inside = sorted(float(values.quantile(draw(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0])))) for _ in range(2))
        if kind in {"Int64", "int64", "int8", "uint16", "whole floats"}:
            inside = [np.floor(inside[0]), np.ceil(inside[1])]
        pair = draw(st.sampled_from([inside, [None, inside[1]], [inside[0], None], [low - 5.0, high + 5.0]]))
        if pair != [None, None] and (None in pair or pair[1] - pair[0] > 0.5 * (high - low)):
            words["bounds"][name] = tuple(pair)
    if draw(st.integers(0, 3)) == 0:
        if kind in {"Int64", "int64", "int8", "uint16"}:
            words["step"][name] = draw(st.sampled_from([1, 5, 10]))
        elif name not in words["bounds"]:
            words["step"][name] = draw(st.sampled_from([0.1, 0.25, 0.5, 1.0, 50.0, 0.01]))
    elif (
        kind in {"float", "gaps", "cents", "whole floats"}
        and name not in words["bounds"]
        and draw(st.integers(0, 4)) == 0
    ):
        words["integer"].append(name)


@st.composite
def problems(draw, models, kinds=NUMBERS + CATEGORIES + FROZEN):
    train, chosen = draw(tables(kinds))
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    model = model_of(draw(st.sampled_from(models)), train, rng, draw(st.sampled_from([0.5, 0.8])))
    labels = answers(model)(train)
    assume(0 < labels.sum() < len(labels))
    words = draw(action_sets(train, chosen))
    return train, model, words


def strangers(train, rng):
    """Rows unlike the training rows: beyond their range, with gaps, with values that they do not have."""
    X = train.iloc[:4].copy()
    for name in X.columns[rng.random(X.shape[1]) < 0.5]:
        dtype, row = X[name].dtype, X.index[rng.integers(4)]
        if dtype in ("float64", "Float64", "float32"):
            X.loc[row, name] = rng.choice([np.nan, 3.0 * round(float(train[name].fillna(0.0).max())), -65536.0])
        elif dtype in ("int64", "Int64"):
            X.loc[row, name] = int(rng.choice([-1000, 10**7]))
        elif dtype in ("str", "string", "object"):
            X.loc[row, name] = rng.choice(["never seen", ""])
    return X.set_axis(pd.RangeIndex(-4, 0).astype(train.index.dtype))


def people(train, model):
    """Rows to explain: of the training rows and, if the model can read them, others."""
    if not isinstance(model, Sum):
        return train.iloc[:10]
    return pd.concat([train.iloc[:7], strangers(train, np.random.default_rng(len(train.columns)))])


def assert_kept(judge, train, model, words, method, n_recourses=1, early=True):
    actions = ActionSet(train, **words) if early else ActionSet(**words)
    fitted = METHODS[method](model, actions).fit(train)
    X = people(train, model)
    if isinstance(model, Sum):
        model.strict = method != "Wachter"  # derivatives are taken between whole numbers
    assert X.dtypes.equals(train.dtypes)
    found = fitted.explain(X, n_recourses=n_recourses, unseen="ignore")
    judge(train, words).review(found, X, answers(model), n_recourses)
    exists = np.isfinite(found.cost) & (found.status != "already favourable")
    known = ActionSet(train, **words)
    where = X.iloc[found.person[exists]]
    violations = known.check(where, found.x[exists].astype(X.dtypes.to_dict()))
    assert violations == [], str(violations[0])
    return fitted, found


def tell(found):
    """Everything that is told about the recourses can be told, and agrees."""
    table = found.to_frame()
    assert len(table) == len(found)
    lines = found.changes()
    exists = np.isfinite(found.cost)
    total = sum(
        int(not (pd.isna(a) and pd.isna(b)) and not (not pd.isna(a) and not pd.isna(b) and a == b))
        for i in np.flatnonzero(exists)
        for a, b in zip(found.x0.iloc[i].tolist(), found.x.iloc[i].tolist(), strict=True)
    )
    assert len(lines) == total
    assert lines["cost"].sum() == pytest.approx(np.nansum(found.cost))
    for i in range(len(found)):
        assert len(found.describe(i)) > 10
    json.loads(found.to_json())
    assert "<html" in found.to_html()


QUICK = settings(
    deadline=None, max_examples=8, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


@settings(QUICK, max_examples=120)
@given(problem=problems(["probabilities", "labels", "steps"]), early=st.booleans(), n_recourses=st.sampled_from([1, 3]))
def test_no_promise_is_broken_by_the_nearest_accepted_rows_of_many_tables(judge, problem, early, n_recourses):
    assert_kept(judge, *problem, "nearest", n_recourses, early)


@pytest.mark.parametrize("method", METHODS)
@QUICK
@given(problem=problems(["probabilities"]), early=st.booleans(), n_recourses=st.sampled_from([1, 1, 3]))
def test_nothing_that_a_smooth_score_is_explained_with_breaks_a_promise(judge, method, problem, early, n_recourses):
    _, found = assert_kept(judge, *problem, method, n_recourses, early)
    tell(found)


@pytest.mark.parametrize("method", [name for name in METHODS if name != "Wachter"])
@QUICK
@given(problem=problems(["labels", "steps"]), n_recourses=st.sampled_from([1, 1, 3]))
def test_nothing_that_a_rule_is_explained_with_breaks_a_promise(judge, method, problem, n_recourses):
    assert_kept(judge, *problem, method, n_recourses)


@pytest.mark.parametrize("method", METHODS)
@QUICK
@given(problem=problems(["tree", "boosting", "logistic"], PLAIN), n_recourses=st.sampled_from([1, 1, 2]))
def test_nothing_that_a_pipeline_is_explained_with_breaks_a_promise(judge, method, problem, n_recourses):
    assert_kept(judge, *problem, method, n_recourses)


@pytest.mark.parametrize("method", METHODS)
@QUICK
@given(problem=problems(["probabilities"]), pick=st.integers(0, 2**16))
def test_a_row_gets_the_same_recourse_alone_and_in_company(method, problem, pick):
    train, model, words = problem
    model.strict = method != "Wachter"
    fitted = METHODS[method](model, ActionSet(train, **words)).fit(train)
    X = people(train, model)
    together = fitted.explain(X, unseen="ignore")
    again = fitted.explain(X, unseen="ignore")
    pd.testing.assert_frame_equal(together.x, again.x)
    alone = fitted.explain(X.iloc[[pick % len(X)]], unseen="ignore")
    assert alone.status[0] == together.status[pick % len(X)]
    if method != "Wachter":
        assert alone.cost[0] == pytest.approx(together.cost[pick % len(X)], rel=1e-12, nan_ok=True)


@QUICK
@given(problem=problems(["probabilities", "labels", "steps"]))
def test_what_the_nearest_accepted_row_reaches_is_reached_by_the_robust_method(problem):
    train, model, words = problem
    words = {name: value for name, value in words.items() if name not in {"max_changes", "rules"}}
    X = train.iloc[:10]
    nearest, robust = (
        METHODS[name](model, ActionSet(train, **words)).fit(train).explain(X, unseen="ignore")
        for name in ("nearest", "RBR")
    )
    assert (robust.valid >= nearest.valid).all()
