"""What is promised of saved methods: the same answers, nothing run, and messages that help."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from robust_recourse import (
    ROAR,
    ActionSet,
    BayesianRecourse,
    Juror,
    Jury,
    NearestAccepted,
    RobustBayesianRecourse,
    Wachter,
)
from robust_recourse.saving import UntrustedModelError, load, save

pytest.importorskip("skops.io", reason="models are saved with skops")

METHODS = [RobustBayesianRecourse, BayesianRecourse, Wachter, ROAR, NearestAccepted]
QUICK = {Wachter: {"tolerance": 0.1, "max_iter": 10}}


@pytest.fixture(scope="module")
def arrays():
    """A model, training rows and refused rows, as arrays."""
    X = np.random.default_rng(0).normal(size=(120, 3))
    model = LogisticRegression().fit(X, (X @ [1.0, 2.0, -1.0] > 0.5).astype(int))
    return model, X, X[model.predict(X) == 0][:4]


@pytest.fixture(scope="module")
def frames():
    """The same with frames that have columns of all kinds."""
    rng, n = np.random.default_rng(1), 150
    amount = np.round(rng.uniform(100, 5000, n), 2)
    X = pd.DataFrame(
        {
            "amount": amount,
            "limit": np.round(amount + rng.uniform(0, 1000, n), 2),
            "months": rng.integers(3, 60, n),
            "children": pd.array(rng.integers(0, 5, n), dtype="Int64"),
            "score": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "rate": rng.normal(size=n).astype(np.float32),
            "owner": rng.random(n) < 0.5,
            "calls": rng.integers(0, 3, n),
            "job": rng.choice(["clerk", "cook", "nurse"], n),
            "school": pd.Categorical(rng.choice(["none", "some", "high"], n), ["none", "some", "high"], ordered=True),
            "region": pd.Categorical(rng.choice(["n", "s", "w"], n)),
            "plan": pd.Series(rng.choice(["a", 1, 2.5], n), dtype=object),
            "age": pd.cut(rng.integers(18, 80, n), [0, 30, 50, 100]),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "constant": 7,
        },
        index=pd.Index(rng.permutation(n), name="person"),
    )
    encoder = make_column_transformer(
        (StandardScaler(), ["amount", "limit", "months", "rate"]), (OneHotEncoder(), ["job", "school"])
    )
    y = (X["months"] < 30).astype(int) + (X["job"] == "nurse") + (X["school"] == "high") > 1
    model = make_pipeline(encoder, LogisticRegression()).fit(X, y.astype(int))
    actions = ActionSet(
        X,
        immutable=["region", "children", "rate", "calls", "owner", "age"],
        increase=["school"],
        decrease=["months"],
        bounds={"amount": (50, None), "months": (1, np.int64(80))},
        step={"amount": 0.5},
        integer=["months"],
        categories={"job": ["cook", "nurse"]},
        ordered={"plan": sorted(set(X["plan"]), key=str)},
        weights={"amount": 2.0},
        max_changes=3,
        rules=["amount <= limit", "2 * amount >= 10"],
    )
    return model, X, X[model.predict(X) == 0][:2], actions


@pytest.fixture
def path(tmp_path):
    return tmp_path / "loans.recourse"


def again(method, path, include_model=True):
    save(method, path, include_model=include_model)
    return load(path, model=None if include_model else method.model)


def assert_same(found, other):
    """Compare two results to the last bit."""
    assert found.valid.any()
    for name, value in vars(found).items():
        back = getattr(other, name)
        if isinstance(value, np.ndarray) and value.dtype != object:
            assert value.dtype == back.dtype, name
            assert value.tobytes() == back.tobytes(), name
        elif isinstance(value, pd.DataFrame):
            pd.testing.assert_frame_equal(value, back, check_exact=True, obj=name)
    pd.testing.assert_frame_equal(found.to_frame(), other.to_frame(), check_exact=True)
    assert [str(item) for item in found.status] == [str(item) for item in other.status]


@pytest.mark.parametrize("kind", METHODS)
def test_a_loaded_method_answers_as_the_saved_one_did(kind, arrays, path):
    model, X, refused = arrays
    actions = ActionSet(immutable=[2], increase=[0], bounds={1: (None, 2.5)}, weights={0: 0.5})
    method = kind(model, actions, random_state=3).fit(X)
    loaded = again(method, path)
    assert type(loaded) is kind
    assert loaded.actions == actions
    assert_same(method.explain(refused), loaded.explain(refused))


@pytest.mark.parametrize("kind", METHODS)
def test_a_loaded_method_answers_for_frames_with_all_kinds_of_columns(kind, frames, path):
    model, X, refused, actions = frames
    method = kind(model, actions, random_state=3, **QUICK.get(kind, {})).fit(X)
    loaded = again(method, path)
    found = loaded.explain(refused)
    assert_same(method.explain(refused), found)
    assert repr(loaded.actions) == repr(actions)
    assert not actions.check(refused, found.x)


def test_kinds_that_were_learnt_in_fit_come_back(frames, path):
    model, X, refused, _ = frames
    method = NearestAccepted(model).fit(X)
    loaded = again(method, path)
    assert loaded.actions is None
    assert loaded.schema_.columns == method.schema_.columns
    assert list(loaded.schema_.dtypes) == list(X.dtypes)
    assert loaded.schema_.names.identical(X.columns)
    assert_same(method.explain(refused), loaded.explain(refused))


@pytest.mark.parametrize("random_state", [None, 7, np.int64(7), np.random.default_rng(7), np.random.RandomState(7)])
def test_the_seed_comes_back_and_so_does_its_source(random_state, arrays, path):
    model, X, refused = arrays
    method = RobustBayesianRecourse(model, random_state=random_state).fit(X)
    loaded = again(method, path)
    assert type(loaded.random_state) is type(random_state)
    assert_same(method.explain(refused), loaded.explain(refused))
    if random_state is not None:
        assert loaded.fit(X).seed_ == method.fit(X).seed_


def test_parameters_keep_their_types(arrays, path):
    model, X, _ = arrays
    method = RobustBayesianRecourse(
        model, sigma=np.float32(0.1), n_samples=np.int16(50), favourable=np.int64(1), threshold=np.float64(0.3)
    )
    loaded = again(method.fit(X), path)
    for name in ("sigma", "n_samples", "favourable", "threshold", "delta_plus", "solver", "axes", "n_jobs"):
        assert type(getattr(loaded, name)) is type(getattr(method, name)), name
        assert getattr(loaded, name) == getattr(method, name), name


def test_an_unfitted_method_can_be_saved(arrays, path):
    model, X, refused = arrays
    method = ROAR(model, ActionSet(immutable=[0]), delta_max=0.05, random_state=1)
    loaded = again(method, path)
    assert not hasattr(loaded, "candidates_")
    assert_same(method.fit(X).explain(refused), loaded.fit(X).explain(refused))


def test_parameters_that_were_changed_since_are_not_saved_as_if_they_were_fitted(arrays, path):
    model, X, refused = arrays
    method = NearestAccepted(model, ActionSet(immutable=[0])).fit(X)
    method.set_params(actions=ActionSet(immutable=[1]))
    with pytest.raises(ValueError, match=r"actions was changed after fit.*Call fit again"):
        again(method, path)
    loaded = again(method.fit(X), path)
    assert_same(method.explain(refused), loaded.explain(refused))
    assert (loaded.explain(refused).x[:, 1] == refused[:, 1]).all()
    with pytest.raises(ValueError, match="actions was changed after fit"):
        loaded.set_params(actions=ActionSet(immutable=[0])).explain(refused)


def test_names_of_columns_may_be_anything_that_pandas_allows(arrays, path):
    model, X, refused = arrays
    columns = pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)], names=["group", None])

    def asked(rows):
        assert rows.columns.identical(columns)
        return model.predict(rows.to_numpy())

    frame, rows = pd.DataFrame(X, columns=columns), pd.DataFrame(refused, columns=columns)
    method = NearestAccepted(asked, ActionSet(immutable=[("a", 2)])).fit(frame)
    loaded = again(method, path, include_model=False)
    assert_same(method.explain(rows), loaded.explain(rows))


def test_a_model_that_gets_frames_of_polars_gets_them_again(path):
    polars = pytest.importorskip("polars")
    rng = np.random.default_rng(0)
    jobs = polars.Enum(["clerk", "cook"])
    frame = polars.DataFrame(
        {"x": rng.normal(size=60), "k": rng.integers(0, 9, 60), "job": rng.choice(["clerk", "cook"], 60)},
        schema_overrides={"job": jobs, "k": polars.Int16},
    )

    def model(rows):
        assert dict(rows.schema) == dict(frame.schema)
        return (rows["x"].to_numpy() + (rows["job"] == "cook").to_numpy() > 0.8).astype(int)

    method = NearestAccepted(model).fit(frame)
    loaded = again(method, path, include_model=False)
    refused = frame.filter(polars.Series(model(frame) == 0))[:3]
    found, other = method.explain(refused), loaded.explain(refused)
    assert isinstance(other.x, polars.DataFrame)
    assert found.x.equals(other.x)
    assert found.cost.tobytes() == other.cost.tobytes()


class Scaled(BaseEstimator, ClassifierMixin):
    """A model of one's own."""

    def fit(self, X, y):
        self.inner_, self.classes_ = LogisticRegression().fit(X, y), np.unique(y)
        return self

    def predict(self, X):
        return self.inner_.predict(X)


NAME = f"{Scaled.__module__}.Scaled"


@pytest.fixture
def importable(monkeypatch):
    """Tests are imported under names that Python does not look up by itself."""
    monkeypatch.setitem(sys.modules, __name__, sys.modules.get(__name__) or type(sys)(__name__))
    monkeypatch.setattr(sys.modules[__name__], "Scaled", Scaled, raising=False)


@pytest.mark.usefixtures("importable")
@pytest.mark.parametrize("trusted", [[NAME], (Scaled,), iter([Scaled])])
def test_untrusted_types_are_refused_and_named_until_they_are_allowed(trusted, arrays, path):
    _, X, refused = arrays
    model = Scaled().fit(X, X[:, 0] > 0)
    method = NearestAccepted(model).fit(X)
    save(method, path)
    with pytest.raises(UntrustedModelError, match="not trusted by default") as caught:
        load(path)
    assert caught.value.types == (NAME,)
    assert f"load(path, trusted=[{NAME!r}])" in str(caught.value)
    with pytest.raises(UntrustedModelError):
        load(path, trusted=["something.Else"])
    assert_same(method.explain(refused), load(path, trusted=trusted).explain(refused))


def test_nothing_of_an_untrusted_model_is_imported_or_run(arrays, path, tmp_path, monkeypatch):
    _, X, _ = arrays
    (tmp_path / "surprise.py").write_text(
        "import builtins\nbuiltins.SURPRISED = True\ndef double(X):\n    return 2 * X\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import surprise

    model = make_pipeline(FunctionTransformer(surprise.double), LogisticRegression()).fit(X, X[:, 0] > 0)
    save(NearestAccepted(model).fit(X), path)
    import builtins

    monkeypatch.delattr(builtins, "SURPRISED")
    monkeypatch.delitem(sys.modules, "surprise")
    with pytest.raises(UntrustedModelError, match=r"surprise\.double"):
        load(path)
    assert "surprise" not in sys.modules
    assert not hasattr(builtins, "SURPRISED")
    assert load(path, trusted=["surprise.double"]).model.predict(X).shape == (len(X),)
    assert builtins.SURPRISED


def test_types_of_scikit_learn_that_are_refused_have_a_reason(arrays, path):
    from sklearn.tree import DecisionTreeClassifier

    _, X, _ = arrays
    save(NearestAccepted(DecisionTreeClassifier(max_depth=2).fit(X, X[:, 0] > 0)).fit(X), path)
    with pytest.raises(UntrustedModelError, match=r"sklearn\.tree\._tree\.Tree.*forged") as caught:
        load(path)
    assert load(path, trusted=caught.value.types).model.get_depth() == 1


def test_a_model_that_is_given_takes_the_place_of_one_that_is_not_trusted(arrays, path):
    model, X, refused = arrays
    from sklearn.tree import DecisionTreeClassifier

    save(NearestAccepted(DecisionTreeClassifier().fit(X, model.predict(X))).fit(X), path)
    loaded = load(path, model=model)
    assert loaded.model is model
    assert loaded.explain(refused).valid.all()


class Unpicklable:
    """Stands for networks and sessions, whose content lives outside of Python."""

    def __reduce__(self):
        raise RuntimeError("not to be copied")

    def __call__(self, X):
        return X[:, 0] > 0


@pytest.mark.parametrize(
    "model",
    [
        lambda X: X[:, 0] > 0,
        pd.isna,  # could be found again by its name, but nobody knows whether it will still be the same
        np.isfinite,
        np.array([1.0, 0.0, 0.0]).__matmul__,
        LogisticRegression().predict,
        Unpicklable(),
        make_pipeline(FunctionTransformer(lambda X: X), LogisticRegression()),
    ],
    ids=["lambda", "function", "ufunc", "builtin", "method", "object", "pipeline"],
)
def test_a_model_that_cannot_be_saved_is_refused_at_once_with_a_way_out(model, path):
    path.write_text("what was there before")
    method = NearestAccepted(model)
    with pytest.raises(TypeError, match=r"The model, a .*include_model=False.*load\(path, model="):
        save(method, path)
    assert path.read_text() == "what was there before"
    save(method, path, include_model=False)
    assert load(path, model=model).model is model
    with pytest.raises(ValueError, match=r"saved without its model.*load\(path, model="):
        load(path)


def test_torch_modules_are_refused_with_a_way_out(path):
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match="include_model=False"):
        save(NearestAccepted(torch.nn.Linear(2, 1)), path)


def test_a_method_of_ones_own_needs_its_class(arrays, path):
    class Mine(NearestAccepted):
        pass

    model, X, refused = arrays
    method = Mine(model).fit(X)
    save(method, path)
    with pytest.raises(ValueError, match=r"class 'Mine'.*trusted=\[Mine\]"):
        load(path)
    with pytest.raises(ValueError, match="class 'Mine'"):
        load(path, trusted=["Mine"])
    loaded = load(path, trusted=[Mine])
    assert type(loaded) is Mine
    assert_same(method.explain(refused), loaded.explain(refused))


class Tag:
    """A value that nobody knows how to write."""

    def __repr__(self):
        return "Tag()"


def test_values_that_cannot_be_saved_are_named(arrays, path):
    model, X, _ = arrays
    tags = [Tag(), Tag()]
    frame = pd.DataFrame(X, columns=list("abc")).assign(tag=pd.Series(tags * 60, dtype=object))
    method = NearestAccepted(lambda rows: model.predict(rows[["a", "b", "c"]].to_numpy())).fit(frame)
    with pytest.raises(TypeError, match=r"NearestAccepted\.schema_: Tag\(\) of the type .*Tag cannot be saved"):
        save(method, path, include_model=False)
    assert not path.exists()


def test_without_skops_the_message_says_what_to_install(arrays, path, monkeypatch):
    model, X, refused = arrays
    method = NearestAccepted(model).fit(X)
    save(method, path)
    monkeypatch.setitem(sys.modules, "skops", None)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(ImportError, match=r"pip install 'robust-recourse\[save\]'"):
        save(method, path)
    with pytest.raises(ImportError, match=r"pip install 'robust-recourse\[save\]'"):
        load(path)
    assert_same(method.explain(refused), load(path, model=model).explain(refused))
    assert_same(method.explain(refused), again(method, path, include_model=False).explain(refused))


@pytest.mark.parametrize("trusted", ["sklearn.tree._tree.Tree", True, Scaled, 3, [3]])
def test_trusted_must_be_a_list_of_types(trusted, arrays, path):
    save(NearestAccepted(arrays[0]), path)
    with pytest.raises(TypeError, match="trusted must be a list of types or of their names"):
        load(path, trusted=trusted)


def test_only_methods_are_saved(arrays, path):
    with pytest.raises(TypeError, match="method must be a method of recourse, got LogisticRegression"):
        save(arrays[0], path)


# ------------------------------------------------------------------------------------------------------------- juries


def test_a_jury_is_kept_with_its_models_and_its_check(arrays, path):
    model, X, refused = arrays
    y = model.predict(X)
    jury = Jury.retrain(LogisticRegression(), X, y, n_models=5, n_check=4, random_state=0, margin=0.55, confidence=0.9)
    jury = replace(jury, models=[*jury.models, Juror(model, threshold=0.6)])
    method = RobustBayesianRecourse(model, jury=jury, random_state=0).fit(X)
    save(method, path)
    loaded = load(path)
    assert repr(loaded.jury) == repr(jury)
    assert (loaded.jury.margin, loaded.jury.confidence, loaded.jury.models[-1].threshold) == (0.55, 0.9, 0.6)
    np.testing.assert_array_equal(loaded.explain(refused).x, method.explain(refused).x)
    np.testing.assert_array_equal(loaded.explain(refused).survival_bound, method.explain(refused).survival_bound)
    save(method, path, include_model=False)
    with pytest.raises(ValueError, match="was saved without its jury"):
        load(path, model=model)
    given = load(path, model=model, jury=jury)
    np.testing.assert_array_equal(given.explain(refused).x, method.explain(refused).x)


def test_untrusted_types_of_a_jury_are_refused_and_named(arrays, path):
    model, X, _ = arrays
    y = model.predict(X)
    jury = Jury([RandomForestClassifier(2, max_depth=2, random_state=0).fit(X, y)])
    save(RobustBayesianRecourse(model, jury=jury, random_state=0).fit(X), path)
    with pytest.raises(UntrustedModelError, match=r"sklearn\.tree\._tree\.Tree") as error:
        load(path)
    assert len(load(path, trusted=error.value.types).jury) == 1
    with pytest.raises(TypeError, match=r"The jury, a .*, cannot be saved without pickle"):
        save(RobustBayesianRecourse(model, jury=Jury([lambda X: X[:, 0] > 0])).fit(X), path)
