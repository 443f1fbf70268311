"""Columns of numbers that are stored as text are asked about, by the library and by its commands."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from robust_recourse import ActionSet, NearestAccepted
from robust_recourse.cli import main

N = 60


def table(**columns):
    rng = np.random.default_rng(0)
    return pd.DataFrame({"income": rng.normal(3000, 500, N).round(2), "age": 20 + np.arange(N) % 45, **columns})


def texts(write, values=None):
    return [write(value) for value in (1000 * (20 + np.arange(N) % 40) if values is None else values)]


AMOUNTS = {
    "thousands": texts("{:,}".format),
    "in German": texts(lambda value: f"{value:,}".replace(",", ".") + ",50"),
    "in Swiss": texts(lambda value: f"{value:,}".replace(",", "\u2019")),
    "spaces": texts(lambda value: f"{value:,}".replace(",", "\u202f")),
    "currency": texts("€ {:,.2f}".format),
    "code": texts("{:,} EUR".format),
    "short": texts(lambda value: f"{value / 10000:.1f}k"),
    "percent": texts(lambda value: f"{value / 1000} %"),
    "few amounts": texts("{:.1f}".format, np.arange(N) % 3),
    "negative": texts(str, np.arange(N) - 30),
    "with gaps": [None if k % 3 == 0 else text for k, text in enumerate(texts("{:,}".format))],
    "with a word": ["unknown" if k % 9 == 0 else text for k, text in enumerate(texts("{:,}".format))],
    "all different": texts(str, 100 + np.arange(N)),
}
NAMES = {
    "words": texts(lambda value: f"town {value}"),
    "few codes": texts(str, np.arange(N) % 3),
    "zip": texts("{:05d}".format, 1000 + np.arange(N)),
    "ranges": texts(lambda value: f"{value}-{value + 999}"),
    "days": texts(lambda value: f"{1 + value % 28:02d}.{1 + value % 12:02d}.2020", np.arange(N)),
    "iso days": texts(lambda value: f"2020-01-{1 + value % 28:02d}", np.arange(N)),
    "mostly words": [f"town {k}" if k % 4 == 0 else str(k) for k in range(N)],
    "one value": texts(str, np.full(N, 7)),
}


@pytest.mark.parametrize("dtype", ["str", object])
@pytest.mark.parametrize("kind", AMOUNTS)
def test_numbers_that_are_texts_are_asked_about(kind, dtype):
    X = table(amount=pd.Series(AMOUNTS[kind], dtype=dtype))
    first = next(text for text in AMOUNTS[kind] if text not in (None, "unknown"))
    with pytest.warns(UserWarning, match="Column 'amount' holds texts, but") as caught:
        ActionSet(X)
    assert len(caught) == 1
    said = str(caught[0].message)
    assert f"read as numbers, such as {first!r}. Store plain numbers, as pd.to_numeric reads them" in said
    assert ("97 % of its different texts" in said) == (kind == "with a word")


def test_so_are_those_of_a_column_that_was_turned_into_text():
    X = table()
    with pytest.warns(UserWarning, match="Column 'age' holds texts, but all its different texts read as numbers"):
        ActionSet(X.assign(age=X["age"].astype(str)))


@pytest.mark.parametrize("kind", NAMES)
def test_names_and_codes_are_not(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ActionSet(table(name=NAMES[kind]))


def test_who_says_that_they_are_codes_is_not_asked():
    codes = AMOUNTS["all different"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ActionSet(table(code=pd.Categorical(codes)))
        ActionSet(table(code=codes), categories={"code": codes})
        ActionSet(table(code=codes), ordered={"code": codes})


def test_fit_asks_once_and_explain_not_again():
    X = table(amount=AMOUNTS["thousands"])

    def model(frame):
        return frame["income"].to_numpy() > 3000.0

    with pytest.warns(UserWarning, match="Column 'amount'") as caught:
        method = NearestAccepted(model).fit(X)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        method.explain(X.head(3))
        method.explain(X.head(3))


def test_the_commands_ask_in_one_line(tmp_path, capsys):
    table(amount=AMOUNTS["thousands"]).to_csv(tmp_path / "train.csv", index=False)
    assert '"20,000"' in (tmp_path / "train.csv").read_text()
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert main(["actions", str(tmp_path / "train.csv"), "--out", str(tmp_path / "actions.toml")]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("robust-recourse: warning: Column 'amount' holds texts, but all its ")
    assert "say so with categories of column 'amount' or the type category" in lines[0]
