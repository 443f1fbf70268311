import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pandas as pd
import pytest

from robust_recourse import ActionSet
from robust_recourse.paper.datasets import Dataset


@pytest.fixture
def data():
    places = pd.CategoricalDtype(["town", "country"])
    D1 = pd.DataFrame(
        {
            "income": [1.0, 2.5, 3.0],
            "age": [30, 40, 50],
            "owner": [0, 1, 1],
            "place": pd.Categorical(["town", "town", "country"], dtype=places),
            "late": ["yes", "no", "no"],
        }
    )
    return Dataset(
        name="loans",
        title="Loans",
        D1=D1,
        D2=D1.iloc[[2, 0]],
        label="late",
        favourable="no",
        kinds={"income": "continuous", "age": "integer", "owner": "binary", "place": "category"},
        actions=ActionSet(immutable=["age"], bounds={"income": (0, None)}),
        citation="",
        licence="",
        notes="",
        hashes={},
        shared=np.array([2, -1]),
    )


def test_features_and_labels_are_told_apart_and_the_favourable_label_is_one(data):
    assert data.columns == ["income", "age", "owner", "place"]
    assert list(data.X1.columns) == list(data.X2.columns) == data.columns
    assert data.y1.tolist() == [0, 1, 1]
    assert data.y2.tolist() == [1, 0]
    assert data.y1.dtype == np.int64
    assert repr(data) == "Dataset('loans': 3 + 2 rows, 4 columns, favourable late = 'no')"


def test_it_is_frozen_and_survives_pickling(data):
    with pytest.raises(FrozenInstanceError):
        data.name = "other"
    with pytest.raises(ValueError, match="read-only"):
        data.shared[0] = 0
    again = pickle.loads(pickle.dumps(data))
    pd.testing.assert_frame_equal(again.D1, data.D1)
    assert again.kinds == data.kinds


def test_what_was_passed_in_can_change_without_harm(data):
    kinds, shared = dict(data.kinds), np.array([2, -1])
    copy = replace(data, kinds=kinds, shared=shared)
    kinds["age"], shared[0] = "binary", 0
    assert copy.kinds["age"] == "integer"
    assert copy.shared[0] == 2


def test_what_does_not_fit_together_is_refused(data):
    more = data.D2["place"].cat.add_categories("sea")
    wrong = {
        "same columns": {"D2": data.D2[["age", "income", "owner", "place", "late"]]},
        "hold the label 'gone'": {"label": "gone"},
        "exactly the features": {"kinds": {"income": "continuous"}},
        "two values, one of them 'maybe'": {"favourable": "maybe"},
        "D2: the label must have two values": {"D2": data.D2.iloc[:1], "shared": [0]},
        "each of the rows of D2": {"shared": [0]},
        "a position in D1": {"shared": [3, -1]},
        "position in D1 or -1": {"shared": [-2, -1]},
        "a row of D1 twice": {"shared": [1, 1]},
        "D1: column 'income' has missing values": {"D1": data.D1.assign(income=[1.0, np.nan, 2.0])},
        "'income' of dtype float64 is not of kind 'continuous'": {"D1": data.D1.assign(income=[1.0, np.inf, 2.0])},
        "'age' of dtype float64 is not of kind 'integer'": {"D1": data.D1.assign(age=[1.0, 2.0, 3.0])},
        "'owner' of dtype int64 is not of kind 'binary'": {"D1": data.D1.assign(owner=[0, 1, 2])},
        "is not of kind 'category'": {"D1": data.D1.assign(place=["town", "town", "country"])},
        "categories of 'place' must be the same": {"D2": data.D2.assign(place=more)},
        "must be one of .*'binary'.*, got 'odd'": {"kinds": {**data.kinds, "age": "odd"}},
        "names column 'height'": {"actions": ActionSet(immutable=["height"])},
    }
    for message, change in wrong.items():
        with pytest.raises(ValueError, match=message):
            replace(data, **change)
