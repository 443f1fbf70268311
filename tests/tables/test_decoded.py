"""Rows with other values, unpacked without a frame: as if there had been one."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse.tables import Schema
from robust_recourse.tables.decoded import decoded
from robust_recourse.tables.unpacked import OfFrame, Unpacked

N = 40
NUMBERS = {
    "whole": "int64",
    "real": "float64",
    "gaps": "float64",
    "yes": "bool",
    "coded": "int64",
    "constant": "int64",
    "short": "float32",
    "null": "Int64",
}
TEXTS = {"text": "str", "plain": object, "kind": "category", "name": "str", "same": object}


def training():
    rng = np.random.default_rng(0)
    columns = {
        "whole": rng.integers(0, 90, N),
        "real": rng.normal(size=N),
        "gaps": np.where(rng.random(N) < 0.3, np.nan, rng.normal(size=N)),
        "yes": rng.random(N) < 0.5,
        "coded": rng.integers(0, 2, N),
        "constant": np.full(N, 2**60 + 1),
        "short": rng.normal(size=N),
        "null": rng.integers(0, 90, N),
        "text": rng.choice(["a", "b", "c"], N),
        "plain": np.where(rng.random(N) < 0.3, None, rng.choice(["a", "b"], N)),
        "kind": rng.choice(["x", "y"], N),
        "name": [f"n{k}" for k in range(N)],
        "same": ["s"] * N,
    }
    return pd.DataFrame({name: pd.array(columns[name], dtype=kind) for name, kind in (NUMBERS | TEXTS).items()})


TRAINING = training()
SCHEMA = Schema.learn(TRAINING)


def moved(table, rows, rng):
    """Return values of rows some of whose numbers and categories are others."""
    values = table.values[rows].copy()
    for k, column in enumerate(table.columns):
        change = (rng.random(len(rows)) < 0.5) & ~table.missing[rows, k]
        if column.kind == "number":
            values[change, k] = np.round(values[change, k] + rng.integers(-3, 4, change.sum()), 0)
        elif column.categorical:
            values[change, k] = rng.integers(len(column.values), size=change.sum())
    return values


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.lists(st.sampled_from([*NUMBERS]), min_size=1, unique=True), st.booleans())
def test_what_is_unpacked_is_what_a_frame_holds(seed, columns, unseen):
    rng = np.random.default_rng(seed)
    people = TRAINING.iloc[rng.permutation(N)[:6]].reset_index(drop=True)
    if unseen:
        people.loc[0, "coded"], people.loc[1, "text"] = 7, "z"
    table = SCHEMA.read(people, "X")
    rows = rng.integers(0, 6, 15)
    values = moved(table, rows, rng)
    found, frame = decoded(table, values, rows), table.decode(values, rows)
    assert isinstance(found, Unpacked)
    assert len(found) == 15
    some = rng.permutation(15)[:4]
    true = Unpacked(OfFrame(frame))
    for mine, other in ((found, true), (found[some], true[some])):
        assert mine.columns.equals(other.columns)
        assert mine.kinds == other.kinds
        pd.testing.assert_frame_equal(mine.pack(), other.pack())
        numbers, wanted = (each.numbers(tuple(columns)) for each in (mine, other))
        assert (numbers is None) == (wanted is None)
        if wanted is not None:
            np.testing.assert_array_equal(numbers, wanted.astype(float))
        for name in TEXTS:
            texts = [np.array([*known, None], dtype=object)[codes] for codes, known in map_codes(mine, other, name)]
            assert texts[0].tolist() == texts[1].tolist()


def map_codes(one, other, name):
    return one.codes(name), other.codes(name)


def test_no_frame_is_made_for_a_model_that_wants_none(monkeypatch):
    table = SCHEMA.read(TRAINING.head(4), "X")
    rows = np.arange(4)
    found = decoded(table, table.values[rows], rows)

    def forbidden(*_):
        raise AssertionError("a frame was made")

    monkeypatch.setattr(type(table), "decode", forbidden)
    assert found.numbers(("whole", "real", "gaps", "yes", "coded", "constant")).shape == (4, 6)
    for name in TEXTS:
        found.codes(name)
    with pytest.raises(AssertionError, match="a frame was made"):
        found.pack()


@pytest.mark.parametrize("columns", [("real", "gaps"), ("real",), ("whole", "real")])
def test_rows_lie_in_memory_as_those_of_a_frame(columns):
    # Products of matrices are rounded in ways that depend on it.
    frame = TRAINING[list(columns)]
    table = Schema.learn(frame).read(frame, "X")
    rows = np.arange(N)
    numbers = decoded(table, table.values, rows).numbers(columns)
    wanted = OfFrame(table.decode(table.values, rows)).numbers(columns)
    assert (numbers.flags["C"], numbers.flags["F"]) == (wanted.flags["C"], wanted.flags["F"])


def test_arrays_and_frames_of_others_are_decoded():
    X = np.arange(6.0).reshape(3, 2)
    table = Schema.of_array(2).read(X, "X")
    assert isinstance(decoded(table, X, np.arange(3)), np.ndarray)
