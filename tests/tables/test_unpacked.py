"""Tables that are unpacked once give every model the rows that it would get of the frame."""

import numpy as np
import pandas as pd
import pytest
from tests.models.quick.test_pipelines import PIPELINES, outcome, table

from robust_recourse import Jury
from robust_recourse.models.criteria import Consent, Votes
from robust_recourse.models.predictor import Predictor
from robust_recourse.tables.unpacked import packed, unpacked

pytestmark = pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
KINDS = ["object", "str", "string", "category"]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_rows_are_those_of_the_frame(kind):
    frame = table(50).astype({"status": kind})
    frame.loc[3, "status"] = None
    first, second = np.array([7, 3, 3, 49, 0]), np.array([4, 1, 0])
    some = unpacked(frame)[first][second]
    expected = frame.iloc[first].iloc[second]
    assert len(some) == 3
    pd.testing.assert_frame_equal(packed(some), expected)
    np.testing.assert_array_equal(some.numbers(("income", "age")), expected[["income", "age"]])
    codes, values = some.codes("status")
    told = [None if code < 0 else values[code] for code in codes]
    assert told == [None if pd.isna(value) else value for value in expected["status"]]


def test_a_column_is_unpacked_once_for_all_rows(monkeypatch):
    frame, asked = table(30), []
    plain = pd.DataFrame.__getitem__
    monkeypatch.setattr(pd.DataFrame, "__getitem__", lambda self, key: asked.append(key) or plain(self, key))
    whole = unpacked(frame)
    for rows in (np.arange(5), np.arange(9), np.array([2])):
        whole[rows].codes("home")
        whole[rows].numbers(("age", "income"))
    assert asked == ["home", ["age", "income"]]


def test_what_is_no_frame_of_pandas_is_left_as_it_is():
    rows = np.eye(3)
    assert unpacked(rows) is rows
    assert packed(rows) is rows


@pytest.mark.parametrize("rule", ["quorum", "mean"])
def test_jurors_of_any_kind_vote_as_they_would_about_the_frame(rule):
    X = table()
    quick = [PIPELINES[name]().fit(X.iloc[::2], outcome(X.iloc[::2])) for name in ("codes", "dense", "network")]

    def function(rows):
        assert isinstance(rows, pd.DataFrame)
        return (rows["income"] > 3.0).to_numpy()

    decides = {"data": "X", "favourable": None, "threshold": None}
    models, rows = [*quick, function], table(80, 9)
    asked = "predict" if rule == "quorum" else "predict_proba"
    own = [getattr(model, asked)(rows) for model in quick]
    shares = np.mean([*(each if rule == "quorum" else each[:, 1] for each in own), function(rows)], axis=0)
    votes = Jury(models, 0.6, rule=rule).votes({**decides, "quickly": True})
    assert isinstance(votes, Votes)
    both = Consent(Predictor(models[0], **decides, quickly=True), votes)
    every = np.arange(len(rows))
    for _ in range(2):
        np.testing.assert_array_equal(votes(rows, every), shares >= 0.6)
        np.testing.assert_array_equal(both(rows, every), (quick[0].predict(rows) == 1) & (shares >= 0.6))
