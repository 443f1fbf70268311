"""A row, a column, a dict or a list in place of a table is answered with what to pass instead, and that works."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from robust_recourse import ActionSet, NearestAccepted

X = pd.DataFrame({"income": np.linspace(1000.0, 4000.0, 40), "debt": np.linspace(900.0, 0.0, 40)})
MIXED = X.assign(job=["cook", "clerk"] * 20)


def model(frame):
    return np.asarray(frame)[:, 0].astype(float) > 2500.0


def fitted(table):
    return NearestAccepted(model, random_state=0).fit(table)


ROW = MIXED.iloc[0]
CASES = [
    (ROW, TypeError, r"X is one row \(a Series\). Pass a table with one row, such as X.iloc\[\[0\]\] in place of"),
    (MIXED["income"], TypeError, r"X is one column \(a Series\). Pass a table with all columns"),
    (dict(ROW), TypeError, r"X is one row \(a dict\). Pass pd.DataFrame\(\[X\]\), a table with one row."),
    (dict(MIXED), TypeError, r"X is a dict. Pass pd.DataFrame\(X\)."),
    (MIXED.head(2).to_dict("list"), TypeError, r"X is a dict. Pass pd.DataFrame\(X\)."),
    (MIXED.head(2).to_dict("records"), TypeError, r"X is a list of rows that are dicts. Pass pd.DataFrame\(X\)."),
    (list(ROW), TypeError, r"X is one row without names \(a list\). Pass pd.DataFrame\(\[X\], columns=...\)"),
    (ROW.to_numpy(), TypeError, r"X is one row without names \(an array\). Pass pd.DataFrame\(\[X\], columns=...\)"),
    ("refused.csv", TypeError, "X must be a table, got str. Read the file first, such as with pd.read_csv."),
    (Path("refused.csv"), TypeError, "X must be a table, got (Posix|Windows)Path. Read the file first"),
    ([[1, [2, 3]]], TypeError, "X must be a frame, as the training rows were"),
    ({"income": [[1], [2, 3]]}, TypeError, r"X is a dict. Pass pd.DataFrame\(X\)."),
    (MIXED.head(2).to_numpy(), TypeError, r"which an array does not hold. Pass pd.DataFrame\(X, columns=...\)."),
]
NUMBERS = [
    (X.iloc[0], TypeError, r"X is one row \(a Series\)"),
    (dict(X.iloc[0]), TypeError, r"Pass pd.DataFrame\(\[X\]\)"),
    (list(X.iloc[0]), ValueError, r"X is one row \(a list\). Pass \[X\], a table with one row."),
    (tuple(X.iloc[0]), ValueError, r"X is one row \(a tuple\). Pass \[X\], a table with one row."),
    (X.iloc[0].to_numpy(), ValueError, r"Reshape a single row with X.reshape\(1, -1\)."),
]


@pytest.mark.parametrize(("given", "error", "message"), CASES)
def test_what_is_no_frame_is_answered_with_one(given, error, message):
    with pytest.raises(error, match=message):
        fitted(MIXED).explain(given)


@pytest.mark.parametrize("train", [X, X.to_numpy()], ids=["frame", "array"])
@pytest.mark.parametrize(("given", "error", "message"), NUMBERS)
def test_what_is_no_table_of_numbers_is_answered_with_one(given, error, message, train):
    if isinstance(train, np.ndarray) and isinstance(given, pd.Series):
        message = r"X is a Series. Pass a table: X.to_frame\(\) for one column, or for one row X.iloc\[\[0\]\]"
    with pytest.raises(error, match=message):
        fitted(train).explain(given)


def test_what_is_advised_works():
    expected = fitted(MIXED).explain(MIXED.head(1)).cost
    for table in (MIXED.iloc[[0]], pd.DataFrame([dict(ROW)]), pd.DataFrame([list(ROW)], columns=list(MIXED))):
        np.testing.assert_array_equal(fitted(MIXED).explain(table).cost, expected)
    assert len(fitted(X).explain([list(X.iloc[0])])) == 1


@pytest.mark.parametrize("use", [ActionSet, fitted], ids=["ActionSet", "fit"])
@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            X["income"],
            r"is a Series. Pass a table: X\w*.to_frame\(\) for one column, or for one row X\w*.iloc\[\[0\]\]",
        ),
        (X.to_dict("list"), r"is a dict. Pass pd.DataFrame\(X\w*\)."),
        (X.to_dict("records"), r"is a list of rows that are dicts. Pass pd.DataFrame\(X\w*\)."),
    ],
)
def test_training_rows_are_a_table(use, given, message):
    with pytest.raises(TypeError, match=message):
        use(given)


def test_changes_are_checked_on_tables():
    with pytest.raises(TypeError, match=r"before is a Series. Pass a table: .* for one row before.iloc\[\[0\]\]"):
        ActionSet(X).check(X.iloc[0], X.iloc[1])
    with pytest.raises(TypeError, match=r"after is one row \(a dict\). Pass pd.DataFrame\(\[after\]\)"):
        ActionSet(X).check(X.iloc[[0]], dict(X.iloc[1]))


def test_columns_of_polars_are_answered_too():
    polars = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    with pytest.raises(TypeError, match=r"X is one column \(a Series of polars\). Pass a table"):
        fitted(X).explain(polars.Series("income", [1.0, 2.0]))
    with pytest.raises(TypeError, match="a Series of polars"):
        fitted(polars.Series("income", [1.0, 2.0]))
