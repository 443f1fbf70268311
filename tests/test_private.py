"""Whatever is written about people is for its owner alone, whoever wrote it: the library and its commands."""

from __future__ import annotations

import os
import stat

import numpy as np
import pandas as pd
import pytest

from robust_recourse import ActionSet, NearestAccepted
from robust_recourse.cli import main
from robust_recourse.saving import save

pytest.importorskip("skops.io", reason="needs skops: pip install 'robust-recourse[save]'")
pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'robust-recourse[parquet]'")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")


@pytest.fixture(autouse=True)
def open_handed():
    """A mask that lets everybody read and write."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The files of a small lender."""
    import skops.io
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    X = pd.DataFrame({"income": rng.normal(30, 8, 100).round(1), "months": rng.integers(6, 48, 100)})
    y = (X["income"] - 0.3 * X["months"] > 22).astype(int)
    model = LogisticRegression().fit(X, y)
    skops.io.dump(model, tmp_path / "model.skops")
    X.assign(outcome=y).to_csv(tmp_path / "train.csv", index=False)
    refused = X[model.predict(X) == 0].head(4)
    refused.rename_axis("person").reset_index().to_csv(tmp_path / "refused.csv", index=False)
    (tmp_path / "actions.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    return model, X, refused


def run(*words):
    return main([str(word) for word in words])


def explain(*more, out="out.csv"):
    needed = ("--model", "model.skops", "--train", "train.csv", "--refused", "refused.csv", "--actions", "actions.toml")
    return run("explain", *needed, "--label", "outcome", "--id", "person", "--method", "nearest", "--out", out, *more)


def by_library(_, model, X, refused):
    method = NearestAccepted(model, ActionSet(X)).fit(X)
    found = method.explain(refused)
    save(method, "written/method.zip")
    found.to_json("written/found.json")
    found.to_parquet("written/found.parquet")
    found.to_html("written/found.html")
    found.to_html_files("written/notices")
    found.to_explorer("written/deep/explorer", model=model, rows=X)


def by_tables(*_):
    assert explain("--json", "out.json", "--html", "letters", "--explorer", "page") == 0
    assert explain(out="out.parquet") == 0


def by_data_sets(*_):
    assert explain(out="recourses/") == 0


def by_juries(*_):
    assert explain("--jury", "2", "--outcome", "outcome", "--folder", "kept") == 0


def by_ledgers(*_):
    pytest.importorskip("sqlalchemy")
    assert explain("--ledger", "promises.db", "--until", "2099-01-01") == 0
    for name in ("all.csv", "all.json", "all.parquet"):
        assert run("ledger", "export", "--ledger", "promises.db", "--out", name) == 0
    needed = ("--ledger", "promises.db", "--model", "model.skops", "--at-least", "0.5", "--label", "outcome")
    assert run("check", *needed, "--html", "check.html", "--json", "check.json", "--honour", "honour.csv") == 0


@pytest.mark.parametrize("write", [by_library, by_tables, by_data_sets, by_juries, by_ledgers])
def test_what_is_written_about_people_is_for_its_owner_alone(files, tmp_path, write):
    before = set(tmp_path.rglob("*"))
    write(tmp_path, *files)
    written = set(tmp_path.rglob("*")) - before
    assert any(path.is_file() for path in written)
    modes = {str(path.relative_to(tmp_path)): oct(stat.S_IMODE(path.stat().st_mode)) for path in written}
    assert modes == {name: "0o700" if (tmp_path / name).is_dir() else "0o600" for name in modes}


def test_who_lets_others_read_a_file_or_a_folder_keeps_it_so(files, tmp_path):  # noqa: ARG001
    assert explain("--html", "letters") == 0
    shared = {tmp_path / "out.csv": 0o644, tmp_path / "letters": 0o755, tmp_path / "letters" / "index.html": 0o640}
    for path, mode in shared.items():
        path.chmod(mode)
    assert explain("--html", "letters") == 0
    assert {path: stat.S_IMODE(path.stat().st_mode) for path in shared} == shared


def test_what_is_not_finished_is_private_too(files, tmp_path, monkeypatch):  # noqa: ARG001
    seen = {}

    def interrupt(*_, **__):
        pieces = (tmp_path / "out.csv.partial").glob("*.p*")
        seen.update({path.name: stat.S_IMODE(path.stat().st_mode) for path in pieces})
        raise KeyboardInterrupt

    monkeypatch.setattr("robust_recourse.cli._explain._write", interrupt)
    assert explain() == 130
    assert seen
    assert set(seen.values()) == {0o600}
