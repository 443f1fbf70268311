import operator
import pickle
import sys
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from robust_recourse import NearestAccepted
from robust_recourse.models.files import read_model

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3)).astype(np.float32)
Y = (X @ [1.0, -2.0, 0.5] > 0.2).astype(int)


@pytest.fixture(scope="module")
def model():
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)


@pytest.fixture
def skops_file(tmp_path, model):
    io = pytest.importorskip("skops.io")
    io.dump(model, tmp_path / "model.skops")
    return tmp_path / "model.skops"


@pytest.fixture
def onnx_file(tmp_path, model):
    convert = pytest.importorskip("skl2onnx").to_onnx
    pytest.importorskip("onnxruntime")
    path = tmp_path / "model.onnx"
    path.write_bytes(convert(model, X[:1], options={"zipmap": False}).SerializeToString())
    return path


class Trap:
    """A pickle that writes a file when it is read."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.write_text, (self.path, "sprung")


def test_a_skops_file_is_the_model(skops_file, model):
    np.testing.assert_array_equal(read_model(skops_file).predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(read_model(str(skops_file)).predict(X), model.predict(X))


def test_types_that_are_not_trusted_are_named_and_nothing_is_loaded(tmp_path):
    io = pytest.importorskip("skops.io")
    path = tmp_path / "model.skops"
    io.dump(make_pipeline(FunctionTransformer(operator.pos), LogisticRegression()).fit(X, Y), path)
    names = io.get_untrusted_types(file=path)
    assert names
    with pytest.raises(ValueError, match="not trusted") as caught:
        read_model(path)
    assert all(f"--trust {name}" in str(caught.value) for name in names)
    with pytest.raises(ValueError, match="not trusted"):
        read_model(path, trusted=["another.type"])
    assert read_model(path, trusted=names).predict(X).shape == (80,)


@pytest.mark.parametrize("suffix", [".joblib", ".pickle", ".pkl", ".PKL"])
def test_a_pickle_needs_trust(tmp_path, model, suffix):
    path = tmp_path / f"model{suffix}"
    if suffix == ".joblib":
        joblib.dump(model, path)
    else:
        path.write_bytes(pickle.dumps(model))
    with pytest.raises(ValueError, match="--trust-pickle"):
        read_model(path)
    np.testing.assert_array_equal(read_model(path, trust_pickle=True).predict(X), model.predict(X))


@pytest.mark.parametrize("suffix", [".joblib", ".pickle", ".pkl", ".skops", ".onnx", ".txt"])
def test_no_code_of_a_pickle_runs_without_trust(tmp_path, suffix):
    pytest.importorskip("skops")
    pytest.importorskip("onnxruntime")
    path, sprung = tmp_path / f"model{suffix}", tmp_path / "sprung"
    path.write_bytes(pickle.dumps(Trap(sprung)))
    with pytest.raises(ValueError, match="model"):
        read_model(path)
    assert not sprung.exists()
    if suffix == ".pkl":  # the trap does work
        with pytest.raises(ValueError, match="holds a int"):
            read_model(path, trust_pickle=True)
        assert sprung.exists()


def test_an_onnx_file_is_the_model_also_in_another_process(onnx_file, model):
    session = read_model(onnx_file)
    again = pickle.loads(pickle.dumps(session))
    for asked in (session, again):
        labels, shares = asked.run(None, {asked.get_inputs()[0].name: X})
        np.testing.assert_array_equal(labels, model.predict(X))
        np.testing.assert_allclose(shares, model.predict_proba(X), atol=1e-5)
    assert [output.name for output in again.get_outputs()] == [output.name for output in session.get_outputs()]


def test_methods_take_what_an_onnx_file_holds(onnx_file, model):
    found = NearestAccepted(read_model(onnx_file)).fit(X).explain(X[Y == 0][:10])
    assert found.valid.all()
    assert (model.predict(found.x) == 1).all()


@pytest.mark.parametrize(
    ("suffix", "content", "words"),
    [
        (".skops", b"nonsense", "this is no file that skops wrote"),
        (".onnx", b"nonsense", "this is no ONNX model"),
        (".pkl", b"nonsense", "the model cannot be read"),
        (".pkl", pickle.dumps({"a": 1}), "holds a dict, which is no model"),
        (".h5", b"", "a model ends in .skops, .onnx, .joblib, .pickle or .pkl, not '.h5'"),
    ],
)
def test_what_is_no_model_is_named(tmp_path, suffix, content, words):
    pytest.importorskip("skops")
    pytest.importorskip("onnxruntime")
    path = tmp_path / f"thing{suffix}"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="thing") as caught:
        read_model(path, trust_pickle=True)
    assert words in str(caught.value)


@pytest.mark.parametrize("suffix", [".skops", ".onnx", ".joblib"])
def test_a_file_that_is_not_there(tmp_path, suffix):
    with pytest.raises(FileNotFoundError, match="nothing"):
        read_model(tmp_path / f"nothing{suffix}", trust_pickle=True)


@pytest.mark.parametrize(
    ("suffix", "package", "extra"), [(".skops", "skops", "save"), (".onnx", "onnxruntime", "onnx")]
)
def test_missing_packages_are_named_with_their_extra(tmp_path, monkeypatch, suffix, package, extra):
    monkeypatch.setitem(sys.modules, package, None)
    path = tmp_path / f"model{suffix}"
    path.write_bytes(b"")
    with pytest.raises(ImportError, match=package) as caught:
        read_model(path)
    assert f"pip install 'robust-recourse[{extra}]'" in str(caught.value)
