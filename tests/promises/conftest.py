"""The judge of what `explain` returns: it knows the tables and the user's words, and none of the library's code."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest


def same(old, new):
    """Whether two cells hold the same; two empty ones do."""
    if pd.isna(old) or pd.isna(new):
        return bool(pd.isna(old) and pd.isna(new))
    return bool(old == new)


def records(frame):
    """The rows of a frame, by column, as plain values."""
    columns = {column: frame[column].tolist() for column in frame.columns}
    return [{column: cells[i] for column, cells in columns.items()} for i in range(len(frame))]


def is_number(train, words, column):
    """Whether the issue calls a column numbers: by its type, and not 0/1 unless the user treats it as a number."""
    if column in words.get("categories", {}) or column in words.get("ordered", {}):
        return False
    values = train[column]
    if pd.api.types.is_bool_dtype(values.dtype) or not pd.api.types.is_numeric_dtype(values.dtype):
        return False
    asked = [*words.get("bounds", {}), *words.get("integer", ()), *words.get("step", {})]
    asked += [name for rule in words.get("rules", ()) for name in re.findall(r"[A-Za-z_]\w*", rule)]
    whole = pd.api.types.is_integer_dtype(values.dtype)
    return not (whole and column not in asked and set(values.dropna()) <= {0, 1})


def order_of(train, words, column):
    """The order of a column's categories, None if it has none."""
    if column in words.get("ordered", {}):
        return list(words["ordered"][column])
    dtype = train[column].dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return list(dtype.categories) if dtype.ordered else None
    if pd.api.types.is_bool_dtype(dtype) or (pd.api.types.is_integer_dtype(dtype)):
        return [0, 1]
    return None


def is_multiple(value, step, single):
    """Whether a number is a multiple of a step, both as they are written."""
    if single:
        near = round(value / step)
        return any(np.float32(k * step) == np.float32(value) for k in (near - 1, near, near + 1))
    return Fraction(repr(float(value))) % Fraction(repr(float(step))) == 0


def unit_of(values):
    """One robust standard deviation: of the middle half, as in a normal distribution, or of all if that is less."""
    known = values.dropna().astype(float).to_numpy()
    low, high = np.quantile(known, [0.25, 0.75])
    middle, deviation = (high - low) / 1.349, known.std()
    return min(middle, deviation) if middle > 0 else deviation


def holds(rule, row):
    """Whether a rule of the form ``a * left <= right + b`` holds, by Python's own arithmetic."""
    names = set(re.findall(r"[A-Za-z_]\w*", rule))
    if any(pd.isna(row[name]) for name in names):
        return True
    return bool(eval(rule, {}, {name: float(row[name]) for name in names}))  # the test's own text


def with_gaps(dtype):
    """The type that holds the same and gaps, whether there are any or not."""
    if not isinstance(dtype, np.dtype) or dtype.kind not in "biu":
        return dtype
    return (
        pd.BooleanDtype()
        if dtype.kind == "b"
        else getattr(pd, f"{'U' * (dtype.kind == 'u')}Int{8 * dtype.itemsize}Dtype")()
    )


class Judge:
    """Says what is wrong with a recourse.

    Parameters
    ----------
    train : DataFrame
        The training rows.
    words : dict
        The arguments of the action set.
    """

    def __init__(self, train, words):
        self.train, self.words = train, words

    def may_ever_change(self, column):
        known = self.train[column].dropna()
        dtype = self.train[column].dtype
        return (
            column not in self.words.get("immutable", ())
            and len(known.astype(object).unique()) > 1
            and not pd.api.types.is_datetime64_dtype(dtype)
        )

    def faults(self, before, after):
        """List what breaks the user's words between two rows, in any way."""
        words, found = self.words, []
        changed = [column for column in self.train.columns if not same(before[column], after[column])]
        for column in changed:
            found += [f"{column}: {fault}" for fault in self._faults_of(column, before[column], after[column])]
        for column, (low, high) in words.get("bounds", {}).items():
            value = after[column]
            outside = not pd.isna(value) and ((low is not None and value < low) or (high is not None and value > high))
            # Bounds speak of changes: who leaves the column alone may keep it.
            if outside and column in changed:
                found.append(f"{column}: {value!r} is out of bounds")
        if len(changed) > (words.get("max_changes") or math.inf):
            found.append(f"{changed} changed")
        for rule in words.get("rules", ()):
            # Nobody can do anything about a rule between columns that never change.
            names = re.findall(r"[A-Za-z_]\w*", rule)
            if any(map(self.may_ever_change, names)) and not holds(rule, after):
                found.append(f"{rule} is broken")
        return found

    def _faults_of(self, column, old, new):
        words, train = self.words, self.train[column]
        if pd.isna(old):
            yield f"was missing, is {new!r}"
            return
        if pd.isna(new):
            yield f"was {old!r}, is missing"
            return
        if not self.may_ever_change(column):
            yield f"may not change, but went from {old!r} to {new!r}"
        way = 1 if column in words.get("increase", ()) else -1 if column in words.get("decrease", ()) else 0
        if is_number(self.train, words, column):
            old, new = float(old), float(new)
            if not math.isfinite(new):
                yield f"is {new!r}"
                return
            if way and (new - old) * way <= 0:
                yield f"went the wrong way, from {old!r} to {new!r}"
            single = str(train.dtype).lower() == "float32"
            if column in words.get("step", {}) and not is_multiple(new, words["step"][column], single):
                yield f"{new!r} is no multiple of {words['step'][column]}"
            if column in words.get("integer", ()) and new != round(new):
                yield f"{new!r} is not whole"
            known = train.dropna()
            low, high = words.get("bounds", {}).get(column, (None, None))
            if low is None and high is None and not min(known.min(), old) <= new <= max(known.max(), old):
                yield f"{new!r} is beyond what the training rows have"
        else:
            known = set(train.dropna())
            allowed = words.get("categories", {}).get(column, known)
            if new not in allowed or new not in known:
                yield f"switched to {new!r}, which is not among {allowed}"
            order = order_of(self.train, words, column)
            if way and (order is None or old not in order or (order.index(new) - order.index(old)) * way <= 0):
                yield f"went the wrong way, from {old!r} to {new!r}"

    def cost(self, before, after):
        """What a change costs: numbers in robust standard deviations, 1 for a category, times the weights."""
        total = 0.0
        for column in self.train.columns:
            if same(before[column], after[column]):
                continue
            weight = self.words.get("weights", {}).get(column, 1.0)
            if is_number(self.train, self.words, column):
                total += weight * abs(float(after[column]) - float(before[column])) / unit_of(self.train[column])
            else:
                total += weight
        return total

    def review(self, found, X, answer, n_recourses=1):
        """Assert everything that is promised about a batch of recourses.

        Parameters
        ----------
        found : Recourses
            What `explain` returned.
        X : DataFrame
            The rows that it was given.
        answer : callable
            The model's labels of a frame.
        n_recourses : int
            How many recourses were asked for.
        """
        x, person = found.x, np.asarray(found.person)
        exists = np.isfinite(found.cost)
        self._review_form(found, X, exists)
        accepted = np.asarray(answer(X), dtype=bool)
        assert (person == np.sort(person)).all()
        assert set(person) == set(range(len(X)))
        told = x[exists]
        given, returned = records(X), records(x)
        if len(told):
            # A column with empty cells has another type, which the model may not know.
            said = np.asarray(answer(told.astype(X.dtypes.to_dict())), dtype=bool)
            assert said.tolist() == found.valid[exists].tolist(), "valid is not what the model says"
        for i in range(len(found)):
            before, after = given[person[i]], returned[i]
            if accepted[person[i]]:
                assert found.status[i] == "already favourable"
                assert found.cost[i] == 0.0
                assert found.valid[i]
                assert all(same(before[column], after[column]) for column in X.columns)
                continue
            assert found.status[i] != "already favourable"
            assert len(found.reason[i]) > 10
            if not exists[i]:
                assert all(pd.isna(cell) for cell in after.values()), "a row without a recourse is not empty"
                assert not found.valid[i]
                assert found.status[i] != "ok"
                assert found.rank[i] == 1
                continue
            faults = self.faults(before, after)
            assert not faults, f"row {i} ({found.status[i]}): {faults}"
            assert math.isclose(found.cost[i], self.cost(before, after), rel_tol=1e-6, abs_tol=1e-9)
            if not found.valid[i]:
                assert found.status[i] == "refused by the model"
        self._review_ranks(found, given, returned, n_recourses)

    def _review_form(self, found, X, exists):
        x = found.x
        assert isinstance(x, pd.DataFrame)
        assert x.columns.equals(X.columns)
        assert x.index.equals(X.index[np.asarray(found.person)])
        for column in X.columns:
            assert x[column].dtype == with_gaps(X[column].dtype), (column, x[column].dtype, X[column].dtype)
        assert found.column_costs.shape == x.shape
        np.testing.assert_allclose(found.column_costs[exists].sum(axis=1), found.cost[exists], rtol=1e-6, atol=1e-9)
        assert np.isnan(found.column_costs[~exists]).all()

    def _review_ranks(self, found, given, returned, n_recourses):
        for who, before in enumerate(given):
            mine = np.flatnonzero(found.person == who)
            assert len(mine) <= n_recourses
            assert found.rank[mine].tolist() == list(range(1, len(mine) + 1))
            if len(mine) > 1:
                assert found.valid[mine].all()
                assert all(a <= b for a, b in pairwise(found.cost[mine]))
                sets = {frozenset(c for c, cell in before.items() if not same(cell, returned[i][c])) for i in mine}
                assert len(sets) == len(mine)


@pytest.fixture(scope="session")
def judge():
    """Make a judge of the training rows and the arguments of an action set."""
    return Judge
