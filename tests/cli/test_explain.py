import copy
import csv
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from robust_recourse import ActionSet, NearestAccepted, RobustBayesianRecourse
from robust_recourse.cli import main
from robust_recourse.cli._csv import EXACTLY, harmless


def expected(lender, method=NearestAccepted, n_recourses=1, earlier=None, **parameters):
    """What the library finds for the people of the files, without any file."""
    X = lender.train.drop(columns="outcome")
    actions = ActionSet(X, immutable=["sex"], increase=["income"], categories={"job": ["part", "full"]})
    people = lender.refused.set_index(pd.Index([f"{i:03d}" for i in range(len(lender.refused))], name="person"))
    return (
        method(lender.model, actions, favourable="yes", random_state=0, **parameters)
        .fit(X)
        .explain(people, n_recourses, earlier=earlier)
    )


def same(read, found):
    """Whether a table that was read is what was found, to the last bit."""
    frame = found.to_frame().rename(columns={"person": "recourse_person"}).reset_index()
    pd.testing.assert_frame_equal(
        read, frame, check_dtype=False, check_exact=True, check_column_type=False, check_index_type=False
    )


def read_csv(path):
    return pd.read_csv(path, dtype={"person": str}, **EXACTLY)


def test_recourses_of_a_table_end_to_end(explain, folder, lender, capsys):
    fast = ["--set", "n_neighbors=50", "--set", "n_samples=50"]
    assert explain(*fast, method="robust", html="new/notices", json="new/all.json") == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    found = expected(lender, RobustBayesianRecourse, n_neighbors=50, n_samples=50)
    assert found.valid.all()
    same(read_csv("out.csv"), found)
    assert json.loads(Path("new/all.json").read_text(encoding="utf-8")) == json.loads(found.to_json())
    notices = sorted(path.name for path in Path("new/notices").glob("*.html"))
    assert notices == ["index.html", *(f"notice-{i:03d}.html" for i in range(12))]
    for shown in ("ok", "12", "100%", f"{np.median(found.cost):.3f}", "income", "out.csv", "all.json", "index.html"):
        assert shown in printed.out
    assert not (folder / "out.csv.partial").exists()


def test_what_is_written_is_what_the_model_accepts_and_the_action_set_allows(explain, lender, capsys):
    assert explain() == 0
    capsys.readouterr()
    read = read_csv("out.csv").set_index("person")
    after = read[list(lender.refused.columns)]
    before = lender.refused.set_index(after.index)
    assert (lender.model.predict(after) == "yes").all()
    assert read["valid"].all()
    assert ActionSet.from_toml("actions.toml", lender.train.drop(columns="outcome")).check(before, after) == []
    assert after["months"].dtype == np.int64


@pytest.mark.parametrize("kinds", ["csv parquet", "parquet csv", "parquet parquet"])
def test_parquet_in_and_out(explain, lender, kinds, capsys):
    pytest.importorskip("pyarrow")
    given, wanted = kinds.split()
    if given == "parquet":
        for name in ("train", "refused"):
            pd.read_csv(f"{name}.csv", dtype={"person": str}).to_parquet(f"{name}.parquet")
    assert explain(train=f"train.{given}", refused=f"refused.{given}", out=f"out.{wanted}") == 0
    capsys.readouterr()
    read = read_csv("out.csv") if wanted == "csv" else pd.read_parquet("out.parquet")
    same(read, expected(lender))
    if wanted == "parquet":
        assert read["months"].dtype == "Int64"  # whoever has a recourse or not


def test_a_named_index_of_a_parquet_file_is_a_column(explain, lender):
    pytest.importorskip("pyarrow")
    pd.read_csv("refused.csv", dtype={"person": str}).set_index("person").to_parquet("refused.parquet")
    assert explain(refused="refused.parquet") == 0
    same(read_csv("out.csv"), expected(lender))


def test_several_recourses_and_few_changes(explain, lender, capsys):
    assert explain(n_recourses=2, max_changes=1) == 0
    capsys.readouterr()
    read = read_csv("out.csv")
    assert read["rank"].max() == 2
    before = lender.refused.loc[read["person"].astype(int)]
    after = read[list(before.columns)].set_index(before.index)
    assert ((after != before).sum(axis=1)[read["valid"].to_numpy()] == 1).all()


def test_the_order_of_columns_and_labels_among_the_refused_do_not_matter(explain, lender):
    people = pd.read_csv("refused.csv", dtype={"person": str})
    people.assign(outcome="?")[["outcome", "sex", "months", "person", "job", "income"]].to_csv(
        "others.csv", index=False
    )
    assert explain(refused="others.csv") == 0
    read, found = read_csv("out.csv"), expected(lender)
    assert list(read.columns[:5]) == ["person", "sex", "months", "job", "income"]
    same(read[["person", *found.to_frame().columns]], found)


def test_people_without_a_name_are_numbered(explain, folder, lender):
    lender.refused.rename(columns={"sex": "row"}).to_csv("refused.csv", index=False)
    lender.train.rename(columns={"sex": "row"}).to_csv("train.csv", index=False)
    (folder / "actions.toml").write_text("[columns.row]\nimmutable = true\n", encoding="utf-8")
    joblib.dump(Renamed(lender.model), "model.joblib")
    assert explain("--trust-pickle", model="model.joblib", id=None) == 0
    read = read_csv("out.csv")
    assert list(read.columns[:5]) == ["row_", "income", "months", "job", "row"]
    assert list(read["row_"]) == list(range(12))


class Renamed:
    def __init__(self, model):
        self.model = model
        self.classes_ = model.classes_

    def predict(self, X):
        return self.model.predict(X.rename(columns={"row": "sex"}))


def test_a_pickle_only_with_trust(explain, lender, complaint):
    joblib.dump(lender.model, "model.joblib")
    assert explain(model="model.joblib") == 2
    line = complaint()
    assert all(word in line for word in ("model.joblib", "--trust-pickle", "runs whatever code"))
    assert not Path("out.csv").exists()
    assert explain("--trust-pickle", model="model.joblib") == 0
    same(read_csv("out.csv"), expected(lender))


def test_types_that_skops_does_not_trust_are_named(explain, lender, complaint):
    io = pytest.importorskip("skops.io")
    X = lender.train.drop(columns="outcome")
    strange = make_pipeline(FunctionTransformer(copy.copy), clone(lender.model))
    io.dump(strange.fit(X, lender.train["outcome"]), "strange.skops")
    (name,) = io.get_untrusted_types(file="strange.skops")
    assert explain(model="strange.skops") == 2
    assert f"--trust {name}" in complaint()
    assert explain("--trust", name, model="strange.skops") == 0


def test_an_onnx_model(explain, lender):
    skl2onnx = pytest.importorskip("skl2onnx")
    pytest.importorskip("onnxruntime")
    from skl2onnx.common.data_types import FloatTensorType, Int64TensorType, StringTensorType

    kinds = {"income": FloatTensorType, "months": Int64TensorType, "job": StringTensorType, "sex": StringTensorType}
    inputs = [(name, kind([None, 1])) for name, kind in kinds.items()]
    onnx = skl2onnx.to_onnx(lender.model, initial_types=inputs, options={"zipmap": False})
    Path("model.onnx").write_bytes(onnx.SerializeToString())
    assert explain(model="model.onnx") == 0
    read = read_csv("out.csv")
    assert read["valid"].all()
    assert (lender.model.predict(read[list(kinds)]) == "yes").all()


@pytest.mark.parametrize(
    ("labels", "text"), [((0, 1), None), ((0, 1), "1"), ((1, 2), "2"), ((False, True), "True"), ((1.0, 2.0), "2")]
)
def test_the_favourable_class_is_written_as_the_model_has_it(explain, lender, labels, text):
    io = pytest.importorskip("skops.io")
    X, y = lender.train.drop(columns="outcome"), lender.train["outcome"]
    model = clone(lender.model).fit(X, np.array(labels)[np.where(y == "yes", 1, 0)])
    io.dump(model, "other.skops")
    assert explain(model="other.skops", favourable=text) == 0
    assert (model.predict(read_csv("out.csv")[list(X.columns)]) == labels[1]).all()


def test_a_class_that_the_model_does_not_have(explain, complaint):
    assert explain(favourable="maybe") == 2
    assert "--favourable must be a class of the model, no, yes, got 'maybe'" in complaint()


def test_scores_with_a_threshold(explain, folder, lender):
    io = pytest.importorskip("skops.io")
    X = lender.train[["income", "months"]]
    model = LinearRegression().fit(X, np.where(lender.train["outcome"] == "yes", 700.0, 500.0))
    io.dump(model, "scores.skops")
    lender.refused[["income", "months"]].to_csv("refused.csv", index=False)
    (folder / "actions.toml").write_text("", encoding="utf-8")
    more = ["--label", "job", "--label", "sex"]
    assert explain(*more, model="scores.skops", favourable="above", threshold=650, id=None) == 0
    assert (model.predict(read_csv("out.csv")[["income", "months"]]) >= 650).all()


def test_jobs_change_nothing(explain, lender):
    with joblib.parallel_config(backend="threading"):  # processes take seconds to start
        assert explain(jobs=2) == 0
    same(read_csv("out.csv"), expected(lender))


CASES = {
    "no model": ({"model": "nothing.skops"}, ["nothing.skops", "No such file"]),
    "no training rows": ({"train": "nothing.csv"}, ["nothing.csv", "No such file"]),
    "no refused rows": ({"refused": "nothing.parquet"}, ["nothing.parquet", "No such file"]),
    "no actions": ({"actions": "nothing.toml"}, ["nothing.toml", "No such file"]),
    "a folder": ({"refused": "folder.csv"}, ["--out out.csv", "results of a data set are a folder"]),
    "suffix of the model": ({"model": "train.csv"}, ["train.csv", ".skops, .onnx", "'.csv'"]),
    "suffix of a table": ({"refused": "actions.toml"}, ["actions.toml", ".csv or .parquet"]),
    "suffix of the results": ({"out": "out.xlsx"}, ["out.xlsx", ".csv or .parquet"]),
    "no Parquet": ({"refused": "wrong.parquet"}, ["wrong.parquet", "no Parquet file"]),
    "no skops": ({"model": "wrong.skops"}, ["wrong.skops", "no file that skops wrote"]),
    "results that replace": ({"out": "refused.csv"}, ["--out refused.csv", "replace"]),
    "the same results twice": ({"json": "out.csv"}, ["--json out.csv", "--out"]),
    "results below a file": ({"out": "train.csv/out.csv"}, ["train.csv"]),
    "notices that are a file": ({"html": "train.csv"}, ["train.csv"]),
    "a JSON that is a folder": ({"json": "folder.csv"}, ["folder.csv is a folder"]),
    "label": ({"label": "result"}, ["--label result", "train.csv", "'outcome'"]),
    "id": ({"id": "name"}, ["--id name", "refused.csv", "'person'"]),
    "outcome is no label": ({"label": None}, ["refused.csv lacks", "'outcome'", "--label"]),
    "person is no feature": ({"id": None}, ["refused.csv has columns", "'person'", "--id"]),
    "parameter": ({"set": "delta=1"}, ["--set delta", "nearest"]),
    "value of a parameter": ({"method": "robust", "set": "delta_plus=-1"}, ["--set", "delta_plus", "-1"]),
    "value that is no TOML": ({"method": "robust", "set": "delta_plus="}, ["--set delta_plus="]),
    "two classes": ({"favourable": None}, ["model.skops", "favourable", "'yes'"]),
    "threshold": ({"threshold": 7}, ["threshold", "between 0 and 1"]),
}


@pytest.mark.parametrize("case", CASES)
def test_what_cannot_be_used_is_named_in_one_line(explain, folder, complaint, case):
    (folder / "folder.csv").mkdir()
    (folder / "wrong.parquet").write_text("nonsense", encoding="utf-8")
    (folder / "wrong.skops").write_text("nonsense", encoding="utf-8")
    options, words = CASES[case]
    assert explain(**options) == 2
    line = complaint()
    assert all(word in line for word in words), line
    assert not (folder / "out.csv").exists()


EDITS = {
    "a number": ("refused.csv", "\n003,", "\n003,many", ["refused.csv, line 5", "'income'", "no number", "train.csv"]),
    "too many fields": ("refused.csv", "\n003,", "\n003,1,", ["refused.csv, line 5", "6 fields", "5"]),
    "too few fields": ("train.csv", ",yes\n", "\n", ["train.csv, line ", "4 fields", "5"]),
    "an open quote": ("refused.csv", "\n003,", '\n003,"', ["refused.csv, line "]),
    "a column twice": ("train.csv", "sex", "job", ["train.csv", "'job' twice"]),
    "a column without a name": ("train.csv", "income,", ",", ["train.csv", "column 1 has no name", "index=False"]),
    "another column": ("refused.csv", "months", "years", ["refused.csv lacks", "'months'"]),
    "another separator": ("refused.csv", "person,income,months,job,sex", "person;income;months;job;sex", ["fields"]),
    "a person twice": ("refused.csv", "\n003,", "\n004,", ["--id person", "'004' twice"]),
    "a person without a name": ("refused.csv", "\n003,", "\n,", ["--id person", "row 3"]),
    "an infinite number": ("refused.csv", "\n003,", "\n003,inf,1,no,f\n077,", ["refused.csv: ", "inf in row 3"]),
    "TOML": ("actions.toml", "= true", "= yes", ["actions.toml", "no TOML"]),
    "a key": ("actions.toml", "immutable", "imutable", ["actions.toml", "'imutable'", "immutable"]),
    "a column of the action set": ("actions.toml", "columns.sex", "columns.seks", ["actions.toml", "'seks'"]),
    "a direction of a category": ("actions.toml", "columns.income", "columns.sexy", ["actions.toml", "'sexy'"]),
}  # fmt: skip


@pytest.mark.parametrize("case", EDITS)
def test_mistakes_in_files_are_named_with_their_place(explain, edit, complaint, case):
    name, old, new, words = EDITS[case]
    edit(name, old, new)
    assert explain() == 2
    line = complaint()
    assert all(word in line for word in words), line


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["refused.csv is empty"]),
        (b"\n\n", ["refused.csv is empty"]),
        (b"person;income;months;job;sex\n1;2;3;no;f\n", ["only one column", "semicolons", "--separator"]),
        ("person,income,months,job,sex\n1,2,3,no,é\n".encode("latin-1"), ["refused.csv", "UTF-8"]),
        ("person,income,months,job,sex\n1,2,3,no,f\n".encode("utf-16"), ["refused.csv", "UTF-8"]),
    ],
)
def test_files_that_are_no_tables(explain, folder, complaint, content, words):
    (folder / "refused.csv").write_bytes(content)
    assert explain() == 2
    line = complaint()
    assert all(word in line for word in words), line


def test_the_line_of_a_mistake_counts_blank_lines_and_breaks_in_quotes(explain, folder, complaint):
    text = '\ufeffperson,income,months,job,sex\n\n"a\nb",20,12,no,f\n\n"c ""d""",many,12,no,f\n'
    (folder / "refused.csv").write_text(text, encoding="utf-8")
    assert explain() == 2
    assert "refused.csv, line 6: 'many' in column 'income'" in complaint()


@pytest.mark.parametrize(("separator", "sign"), [(";", ";"), ("tab", "\t"), ("\\t", "\t")])
def test_other_separators(explain, lender, separator, sign):
    for name in ("train.csv", "refused.csv"):
        pd.read_csv(name, dtype=str).to_csv(name, index=False, sep=sign)
    assert explain(separator=separator) == 0
    read = pd.read_csv("out.csv", sep=sign, dtype={"person": str}, **EXACTLY)
    same(read, expected(lender))


@pytest.mark.parametrize("separator", ["", ", ", '"'])
def test_a_separator_is_one_sign(explain, separator, capsys):
    with pytest.raises(SystemExit) as caught:
        explain(separator=separator)
    assert caught.value.code == 2
    assert "one sign" in capsys.readouterr().err


def test_a_model_that_cannot_predict_on_these_columns(explain, lender, complaint):
    io = pytest.importorskip("skops.io")
    io.dump(LogisticRegression().fit(lender.train[["income", "months"]], lender.train["outcome"]), "numbers.skops")
    assert explain(model="numbers.skops") == 2
    line = complaint()
    assert all(word in line for word in ("numbers.skops", "train.csv", "The model raised ValueError"))


def test_a_row_that_the_model_cannot_take_fails_before_the_work(explain, complaint, monkeypatch):
    monkeypatch.setattr(NearestAccepted, "explain", lambda *_, **__: pytest.fail("too late"))
    people = pd.read_csv("refused.csv", dtype={"person": str})
    people.loc[7, "income"] = np.nan
    people.to_csv("refused.csv", index=False)
    assert explain() == 2
    assert "row 7 of refused.csv" in complaint()


@pytest.mark.parametrize(("suffix", "package", "extra"), [("skops", "skops", "save"), ("onnx", "onnxruntime", "onnx")])
def test_missing_packages_are_named(explain, folder, complaint, monkeypatch, suffix, package, extra):
    monkeypatch.setitem(sys.modules, package, None)
    (folder / f"model.{suffix}").write_bytes(b"")
    assert explain(model=f"model.{suffix}") == 2
    assert f"pip install 'robust-recourse[{extra}]'" in complaint()


@pytest.mark.parametrize("options", [{"out": "out.parquet"}, {"train": "train.parquet"}, {"refused": "r.parquet"}])
def test_parquet_without_pyarrow(explain, complaint, monkeypatch, options):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr(NearestAccepted, "fit", lambda *_: pytest.fail("too late"))
    assert explain(**options) == 2
    assert "pip install 'robust-recourse[parquet]'" in complaint()


@pytest.mark.parametrize("case", [case for case in CASES if {"out", "html", "json"} & set(CASES[case][0])])
def test_results_that_cannot_be_written_cost_no_work(explain, folder, complaint, monkeypatch, case):
    monkeypatch.setattr(NearestAccepted, "fit", lambda *_: pytest.fail("too late"))
    (folder / "folder.csv").mkdir()
    assert explain(**CASES[case][0]) == 2
    assert all(word in complaint() for word in CASES[case][1][:1])


@pytest.mark.skipif(sys.platform == "win32" or os.getuid() == 0, reason="needs a folder that cannot be written to")
def test_a_folder_that_cannot_be_written_to_costs_no_work(explain, folder, complaint, monkeypatch):
    monkeypatch.setattr(NearestAccepted, "fit", lambda *_: pytest.fail("too late"))
    (folder / "locked").mkdir(mode=0o500)
    assert explain(out="locked/out.csv") == 2
    assert "locked" in complaint()


def test_columns_keep_the_types_of_the_training_rows(explain, folder, monkeypatch):
    io = pytest.importorskip("skops.io")
    rng = np.random.default_rng(1)
    train = pd.DataFrame(
        {
            "code": np.where(rng.random(80) < 0.5, "007", np.where(rng.random(80) < 0.5, "12", "x")),
            "hours": rng.integers(0, 60, 80),
            "late": rng.random(80) < 0.3,
            "rate": rng.normal(5, 1, 80).round(2),
        }
    )
    y = np.where(train["rate"] + 0.02 * train["hours"] > 5.5, "yes", "no")
    encode = make_pipeline(OneHotEncoder(handle_unknown="ignore", min_frequency=2), LogisticRegression(C=0.1))
    gappy = train.astype({"hours": float})
    gappy.loc[gappy.index[::7], ["hours", "code", "rate"]] = np.nan
    io.dump(encode.fit(gappy, y), "types.skops")
    train.to_csv("train.csv", index=False)
    # Texts that look like numbers only, an integer column without any value, one with gaps, a boolean with gaps.
    (folder / "refused.csv").write_text("code,hours,late,rate\n007,,True,3.1\n12,,,3.2\n,,False,\n", encoding="utf-8")
    (folder / "actions.toml").write_text("", encoding="utf-8")
    given = []
    explain_rows = NearestAccepted.explain
    monkeypatch.setattr(
        NearestAccepted, "explain", lambda self, X, *more, **how: given.append(X) or explain_rows(self, X, *more, **how)
    )
    assert explain(model="types.skops", label=None, id=None) == 0
    (people,) = given
    assert people["code"].tolist()[:2] == ["007", "12"]
    assert people["code"].isna().tolist() == [False, False, True]
    read = pd.read_csv("out.csv", dtype={"code": str})[:2]
    assert read["valid"].all()
    assert read["hours"].isna().all()
    assert read["late"].isna().tolist() == [False, True]
    assert set(read["code"]) <= {"007", "12", "x"}
    assert read["rate"].round(2).equals(read["rate"])


def test_what_stands_for_missing_values(explain):
    people = pd.read_csv("refused.csv", dtype=str)
    people.loc[[0, 1], "sex"] = ["None", "-"]
    people.to_csv("refused.csv", index=False)
    assert explain("--unseen", "ignore") == 0
    assert pd.read_csv("out.csv", keep_default_na=False)["sex"].tolist()[:2] == ["", "-"]
    assert explain("--missing", "-", "--unseen", "ignore") == 0
    assert pd.read_csv("out.csv", keep_default_na=False)["sex"].tolist()[:2] == ["None", ""]


FORMULAS = ["=1+1", "+49 30 1234", "-2+3", "@SUM(A1)", "\tx", "\rx", "=cmd|' /C calc'!A0"]
HARMLESS = ["-5", "+5", "-1e3", "-", "=", "a=b", "'=1", " =1", ""]


@pytest.mark.parametrize("raw", [False, True])
def test_no_text_is_a_formula_to_a_spreadsheet(explain, raw):
    people = pd.read_csv("refused.csv", dtype=str)
    people["person"] = [*FORMULAS, *HARMLESS][: len(people)]
    people.to_csv("refused.csv", index=False, quoting=csv.QUOTE_ALL)
    assert explain(*(["--raw-csv"] if raw else [])) == 0
    with Path("out.csv").open(encoding="utf-8", newline="") as file:
        names = [row[0] for row in csv.reader(file)][1:]
    shown = FORMULAS if raw else [f"'{text}" for text in FORMULAS]
    assert names == [*shown, *HARMLESS][: len(people)]


@pytest.mark.parametrize("kind", [object, "string", "category"])
def test_texts_of_all_types_are_made_harmless_and_numbers_stay_numbers(kind):
    texts = pd.Series([*FORMULAS, *HARMLESS, None], dtype=kind)
    frame = pd.DataFrame({"=text": texts, "number": -np.arange(len(texts)), "gaps": texts.isna().astype("Int64")})
    made = harmless(frame)
    assert list(made.columns) == ["'=text", "number", "gaps"]
    assert made["'=text"].tolist()[:-1] == [*(f"'{text}" for text in FORMULAS), *HARMLESS]
    assert pd.isna(made["'=text"].iloc[-1])
    pd.testing.assert_frame_equal(made[["number", "gaps"]], frame[["number", "gaps"]])
    assert list(frame.columns) == ["=text", "number", "gaps"]


def test_people_who_are_accepted_already_and_people_without_recourse(explain, folder, lender, capsys):
    (folder / "actions.toml").write_text(
        "".join(f"[columns.{name}]\nimmutable = true\n" for name in lender.refused), encoding="utf-8"
    )
    accepted = lender.train[lender.model.predict(lender.train) == "yes"].head(3)
    pd.concat([lender.refused, accepted]).drop(columns="outcome").to_csv("refused.csv", index=False)
    assert explain(id=None) == 0
    read = pd.read_csv("out.csv", dtype={"months": "Int64"})
    assert read["status"].tolist() == ["nothing may change"] * 12 + ["already favourable"] * 3
    assert read.loc[:11, list(lender.refused.columns)].isna().all(axis=None)
    printed = capsys.readouterr().out
    assert "nothing may change" in printed
    assert "20%" in printed


def test_the_time_limit(explain, lender):
    assert explain(time_limit=1e-9) == 0
    read = pd.read_csv("out.csv")
    assert read["status"].tolist() == ["out of time"] * 12
    assert explain(time_limit=1000) == 0
    same(read_csv("out.csv"), expected(lender))


@pytest.mark.parametrize("limit", ["0", "-1", "inf", "nan", "soon"])
def test_a_time_limit_is_positive(explain, limit):
    with pytest.raises(SystemExit) as caught:
        explain(time_limit=limit)
    assert caught.value.code == 2


@pytest.fixture
def interrupted(explain, monkeypatch, complaint):
    """Run ``explain`` with batches of 3 rows, and press Ctrl-C in the third: what is explained, and what it says."""
    monkeypatch.setattr("robust_recourse.cli._batches._FIRST", 3)
    monkeypatch.setattr("robust_recourse.cli._batches._GROWTH", 1)
    asked = []
    explain_rows = NearestAccepted.explain

    def press(self, X, *more, **how):
        if len(asked) == 2:
            asked.append([])
            raise KeyboardInterrupt
        asked.append(list(X.index))
        return explain_rows(self, X, *more, **how)

    monkeypatch.setattr(NearestAccepted, "explain", press)
    assert explain(n_recourses=2) == 130
    return SimpleNamespace(asked=asked, line=complaint())


def test_an_interrupted_command_continues_where_it_was(explain, interrupted, folder, lender):
    assert "interrupted: 6 of 12 rows are finished and kept in out.csv.partial. Run the same" in interrupted.line
    assert not Path("out.csv").exists()
    assert explain(n_recourses=2) == 0
    assert interrupted.asked[2:] == [[], ["006", "007", "008"], ["009", "010", "011"]]
    same(read_csv("out.csv"), expected(lender, n_recourses=2))
    assert not (folder / "out.csv.partial").exists()


def test_an_interruption_before_anything_is_finished_says_so(explain, folder, complaint, monkeypatch):
    def press(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(NearestAccepted, "explain", press)
    assert explain() == 130
    assert "none of 12 rows is finished, and nothing is kept" in complaint()
    assert not (folder / "out.csv.partial").exists()


@pytest.mark.parametrize("name", ["train.csv", "refused.csv", "actions.toml"])
def test_with_another_file_nothing_is_continued(explain, interrupted, edit, folder, name, capsys):
    kept = {path.name for path in (folder / "out.csv.partial").iterdir()}
    edit(name, "\n", "\n\n")
    interrupted.asked[:] = [[], [], []]
    assert explain(n_recourses=2) == 0
    assert interrupted.asked[3] == ["000", "001", "002"]
    assert {path.name for path in (folder / "out.csv.partial").iterdir()} == kept  # what it holds is not lost
    assert "Left: out.csv.partial keeps recourses of another command" in capsys.readouterr().out


def test_with_another_model_nothing_is_continued(explain, interrupted, lender):
    io = pytest.importorskip("skops.io")
    few = lender.train.iloc[5:]
    io.dump(clone(lender.model).fit(few.drop(columns="outcome"), few["outcome"]), "model.skops")
    interrupted.asked[:] = [[], [], []]
    assert explain(n_recourses=2) == 0
    assert interrupted.asked[3] == ["000", "001", "002"]


def test_with_other_options_nothing_is_continued(explain, interrupted, lender):
    assert explain(n_recourses=1) == 0
    assert interrupted.asked[3] == ["000", "001", "002"]
    same(read_csv("out.csv"), expected(lender))


def test_an_old_result_stays_if_the_new_one_cannot_be_written(explain, folder, complaint, monkeypatch):
    (folder / "out.csv").write_text("old", encoding="utf-8")

    def full(*_, **__):
        raise OSError(28, "No space left on device", "out.csv")

    monkeypatch.setattr(pd.DataFrame, "to_csv", full)
    before = {path.name for path in folder.iterdir()}
    assert explain() == 2
    assert "No space left on device" in complaint()
    assert (folder / "out.csv").read_text(encoding="utf-8") == "old"
    assert {path.name for path in folder.iterdir()} - before == {"out.csv.partial"}


@pytest.mark.parametrize("missing", ["--model", "--train", "--refused", "--actions", "--out"])
def test_what_is_needed_is_needed(missing, capsys):
    given = {name: "file.csv" for name in ("--model", "--train", "--refused", "--actions", "--out") if name != missing}
    with pytest.raises(SystemExit) as caught:
        main(["explain", *(word for pair in given.items() for word in pair)])
    assert caught.value.code == 2
    assert f"required: {missing}" in capsys.readouterr().err


def test_the_help(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["explain", "--help"])
    assert caught.value.code == 0
    printed = capsys.readouterr().out
    options = "model train refused actions out html json favourable threshold trust trust-pickle method set n-recourses"
    more = "raw-csv max-changes time-limit seed jobs label id separator missing"
    for option in f"{options} {more}".split():
        assert f"--{option} " in printed
    assert "robust-recourse actions train.csv" in printed


@pytest.mark.slow
@pytest.mark.skipif(
    "ROBUST_RECOURSE_DATA" not in os.environ, reason="needs ROBUST_RECOURSE_DATA, the folder with the published files"
)
def test_german_credit(explain, folder):
    io = pytest.importorskip("skops.io")
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.preprocessing import OrdinalEncoder

    from robust_recourse.paper.datasets import load

    data = load("german", columns="all")
    data.D1.to_csv("train.csv", index=False)
    train = pd.read_csv("train.csv")
    X, y = train.drop(columns=data.label), train[data.label]
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    text = make_column_selector(dtype_exclude="number")
    model = make_pipeline(
        make_column_transformer((codes, text), remainder="passthrough"),
        HistGradientBoostingClassifier(max_iter=30, random_state=0),
    ).fit(X, y)
    io.dump(model, "model.skops")
    refused = X[model.predict(X) == "bad"].head(25)
    refused.to_csv("refused.csv", index=False)
    (folder / "actions.toml").write_text(data.actions.to_toml(), encoding="utf-8")
    trust = [word for name in io.get_untrusted_types(file="model.skops") for word in ("--trust", name)]
    assert explain(*trust, method="robust", label=data.label, id=None, favourable="good", html="notices") == 0
    after = pd.read_csv("out.csv")
    found = after["valid"].to_numpy()
    assert found.mean() > 0.9
    assert (model.predict(after.loc[found, list(X.columns)]) == "good").all()
    kept = after.loc[found, list(X.columns)]
    assert ActionSet.from_toml("actions.toml", X).check(refused.reset_index(drop=True).loc[kept.index], kept) == []
    assert len(list(Path("notices").glob("notice-*.html"))) == 25
