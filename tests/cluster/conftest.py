"""Data sets for the tests: numbers, and a mixed table; a method for each."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from robust_recourse import ActionSet, NearestAccepted

pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'robust-recourse[parquet]'")
NUMBERS = ["income", "debt", "age"]


@pytest.fixture(scope="session", autouse=True)
def importable():
    """Let processes of workers and clients import the models of these tests, however pytest was started."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[2]))  # a process that is spawned takes it over
        yield


def numbers_table(n, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "income": np.round(rng.gamma(4.0, 800.0, n), 2),
            "debt": np.round(rng.gamma(2.0, 700.0, n), 2),
            "age": rng.integers(18, 80, n),
        }
    )


def mixed_table(n, seed=0):
    """Return a table with numbers, categories, text, booleans and gaps."""
    rng = np.random.default_rng(seed)
    table = numbers_table(n, seed)
    table["job"] = pd.Categorical(rng.choice(["cook", "clerk", "nurse"], n))
    table["town"] = rng.choice(["Leeds", "York", "Hull"], n)
    table["owner"] = rng.random(n) < 0.5
    table["loans"] = rng.integers(0, 5, n).astype(float)
    table.loc[rng.random(n) < 0.1, "loans"] = np.nan
    table.loc[rng.random(n) < 0.05, "town"] = None
    return table


@pytest.fixture(scope="session")
def numbers_method():
    train = numbers_table(400, seed=1)
    label = (train["income"] - train["debt"] > 2000.0).astype(int)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(train, label)
    actions = ActionSet.infer(train, immutable=["age"]) if hasattr(ActionSet, "infer") else ActionSet(immutable=["age"])
    return NearestAccepted(model, actions, random_state=0).fit(train)


@pytest.fixture(scope="session")
def mixed_method():
    train = mixed_table(400, seed=1)
    score = train["income"] - train["debt"] + 500.0 * train["owner"] - 200.0 * train["loans"].fillna(2.0)
    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["job", "town"]), remainder=StandardScaler(), sparse_threshold=0.0
    )
    from sklearn.impute import SimpleImputer

    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["job", "town"]),
        remainder=make_pipeline(SimpleImputer(), StandardScaler()),
        sparse_threshold=0.0,
    )
    model = make_pipeline(encoder, LogisticRegression(max_iter=1000)).fit(train, (score > 2000.0).astype(int))
    return NearestAccepted(model, ActionSet(immutable=["age"]), random_state=0).fit(train)


def written(folder, tables):
    """Write tables as the files of a data set; return the pattern that names them."""
    folder.mkdir(parents=True, exist_ok=True)
    for k, table in enumerate(tables):
        table.to_parquet(folder / f"{k:03d}.parquet")
    return str(folder / "*.parquet")


def explained(method, table, **options):
    """Return what one call for the whole table finds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return method.explain(table, **options)


def assert_same(out, found):
    """Compare a folder of results with one result, to the last bit."""
    from robust_recourse import Recourses

    pd.testing.assert_frame_equal(pd.read_parquet(out), found.to_frame(), check_exact=True)
    assert Recourses.from_parquet(out).equals(found)
