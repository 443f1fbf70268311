"""Brute force over few columns, and other answers that do not come from the search: cost, limits, linear programs.

Of the library only the words of an action set and what it learnt of the columns (kinds, units, steps, range) are used,
so that the one can judge the other.
"""

from decimal import Decimal

import numpy as np
import pandas as pd
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

MOST_PAIRS = 250_000  # of a person: wide tables get fewer values a column
TINY = 1e-9  # of a step
CHUNK = 20_000  # rows that the model is asked about together


def decimals(step):
    """Return how many digits behind the point multiples of a step have."""
    return max(0, -int(Decimal(repr(float(step))).normalize().as_tuple().exponent))


def on_grid(values, step):
    """Return the nearest multiples of a step, as they are written."""
    if not step:
        return np.asarray(values, dtype=float)
    return np.round(np.round(np.asarray(values, dtype=float) / step) * step, decimals(step))


class Grid:
    """The values that the columns of a table may take, and what they cost."""

    def __init__(self, actions, train, n_values=40):
        self.actions, self.columns = actions, actions.schema.columns
        self.names = [column.name for column in self.columns]
        self.weights = [float(actions.weights.get(name, 1.0)) for name in self.names]
        self.dtypes = train.dtypes
        movable = [c for c in self.columns if c.kind != "fixed" and c.name not in actions.immutable]
        n_values = int(min(n_values, np.sqrt(2 * MOST_PAIRS) / max(len(movable), 1)))
        self.values = {column.name: self._values(column, train[column.name], n_values) for column in movable}
        ruled = [rule for rule in actions.rules if any(name in rule.split() for name in self.values)]
        self.rules = [(compile(rule, rule, "eval"), [n for n in self.names if n in rule.split()]) for rule in ruled]

    def range(self, column):
        """Return the bounds of a column: those that were asked for, or where it has none the training rows' range."""
        low, high = self.actions.bounds.get(column.name, (None, None))
        return (column.low if low is None else low), (column.high if high is None else high)

    def _values(self, column, training, n_values):
        if column.kind != "number":
            return list(self.actions.categories.get(column.name, column.values))
        low, high = self.range(column)
        known = training.dropna().to_numpy(dtype=float)
        shares = np.linspace(0.0, 1.0, n_values)
        some = np.unique(known)
        if len(some) > n_values:
            some = np.quantile(known, shares, method="inverted_cdf")
        # A column with few frequent values has few quantiles: the rest is spread over its range.
        spread = low + shares * (high - low) if len(np.unique(some)) < n_values else []
        values = np.unique(on_grid([*some, *spread, low, high], column.step))
        return values[(low <= values) & (values <= high)].tolist()

    def singles(self, row):
        """Return all changes of one column of a row (a Series): column, value and cost."""
        found = []
        for k, column in enumerate(self.columns):
            own = row[column.name]
            if column.name not in self.values or pd.isna(own):
                continue
            others = [v for v in self.values[column.name] if v != own and self._directed(column, own, v)]
            found += [(k, value, self.weights[k] * self._distance(column, own, value)) for value in others]
        return found

    def _directed(self, column, own, value):
        up, down = column.name in self.actions.increase, column.name in self.actions.decrease
        if not (up or down):
            return True
        if column.kind == "ordered":
            own, value = column.values.index(own), column.values.index(value)
        return value > own if up else value < own

    @staticmethod
    def _distance(column, own, value):
        return abs(float(value) - float(own)) / column.unit if column.kind == "number" else 1.0

    def cost(self, before, after):
        """Return the cost of every row; NaN where there is none."""
        total = np.zeros(len(before))
        for k, column in enumerate(self.columns):
            old, new = before[column.name], after[column.name]
            if column.kind == "number":
                change = (as_floats(new) - as_floats(old)) / column.unit
                change = np.where(old.isna() & new.isna(), 0.0, np.abs(change))
            else:
                change = np.array([not same(a, b) for a, b in zip(old, new, strict=True)], dtype=float)
            total += self.weights[k] * change
        return np.where(after.isna().all(axis=1).to_numpy(), np.nan, total)

    def keeps_rules(self, numbers):
        """Whether all rules hold; `numbers` has an array for every column of a rule."""
        kept = True
        for code, names in self.rules:
            gap = np.any([np.isnan(numbers[name]) for name in names], axis=0)
            kept = kept & (eval(code, {}, numbers) | gap)
        return kept

    def broken(self, before, after, max_changes=None):
        """Whether each row of `after` (without gaps where there is no recourse) breaks the action set."""
        broken = np.zeros(len(before), dtype=bool)
        changes = np.zeros(len(before), dtype=int)
        for column in self.columns:
            for i, (old, new) in enumerate(zip(before[column.name], after[column.name], strict=True)):
                if same(old, new):
                    continue
                changes[i] += 1
                broken[i] |= not self._allowed(column, old, new)
        numbers = {n: as_floats(after[n]) for _, names in self.rules for n in names}
        broken |= (changes > 0) & ~np.broadcast_to(self.keeps_rules(numbers), broken.shape)
        return broken | (changes > (max_changes or len(self.columns)))

    def _allowed(self, column, old, new):
        if column.name not in self.values or pd.isna(old) or pd.isna(new):
            return False
        if not self._directed(column, old, new):
            return False
        if column.kind != "number":
            return new in self.values[column.name]
        low, high = self.range(column)
        return low <= new <= high and bool(on_grid([new], column.step)[0] == float(new))


def as_floats(series):
    return series.to_numpy(dtype=float, na_value=np.nan)


def same(one, other):
    return bool(pd.isna(one) and pd.isna(other)) or bool(not pd.isna(one) and not pd.isna(other) and one == other)


class Person:
    """All changes of one, two or three columns of a person, in the order of their cost.

    The model is a pipeline of an encoder that works column by column and an estimator: single changes are encoded, and
    the rows of several changes are put together of them.
    """

    def __init__(self, grid, model, row):
        self.grid, self.row = grid, row
        self._estimator, changes = model[-1], grid.singles(row)
        self.column = np.array([k for k, _, _ in changes], dtype=int)
        self.value = [value for _, value, _ in changes]
        self.costs = np.array([cost for *_, cost in changes])
        own = pd.DataFrame([row] * (len(changes) + 1)).reset_index(drop=True)
        for k in np.unique(self.column):
            cells = own[grid.names[k]].astype(object).tolist()
            for i in np.flatnonzero(self.column == k):
                cells[i] = self.value[i]
            own[grid.names[k]] = cells
        encoded = np.asarray(model[:-1].transform(own.astype(grid.dtypes)), dtype=float)
        self._single, self._own = encoded[:-1], encoded[-1]
        differs = (self._single != self._own) & ~(np.isnan(self._single) & np.isnan(self._own))
        self._block = {k: np.flatnonzero(differs[self.column == k].any(axis=0)) for k in np.unique(self.column)}
        named = {name for _, names in grid.rules for name in names}
        self._numbers = {name: float(row[name]) if not pd.isna(row[name]) else np.nan for name in named}

    def _rows(self, changes):
        """Encode rows with several changes each, of shape (n, m)."""
        rows = self._single[changes[:, 0]].copy()
        for more in changes.T[1:]:
            for k, block in self._block.items():
                some = np.flatnonzero(self.column[more] == k)
                rows[np.ix_(some, block)] = self._single[np.ix_(more[some], block)]
        return rows

    def _keeps_rules(self, changes):
        if not self.grid.rules:
            return np.ones(len(changes), dtype=bool)
        numbers = {}
        for name, own in self._numbers.items():
            k, cells = self.grid.names.index(name), np.full(len(changes), own)
            for more in changes.T:
                some = self.column[more] == k
                cells[some] = [self.value[i] for i in more[some]]
            numbers[name] = cells
        return np.broadcast_to(self.grid.keeps_rules(numbers), len(changes))

    def accepted(self, changes):
        """Ask about rows with these changes; a row that breaks a rule is not accepted."""
        kept = np.flatnonzero(self._keeps_rules(changes))
        answers = np.zeros(len(changes), dtype=bool)
        if len(kept):
            answers[kept] = self._estimator.predict(self._rows(changes[kept])) == 1
        return answers

    def sets(self, size):
        """Return all changes of `size` columns."""
        if size == 1:
            return np.arange(len(self.column))[:, None]
        one, other = np.triu_indices(len(self.column), 1)
        different = self.column[one] != self.column[other]
        return np.column_stack([one[different], other[different]])

    def cheapest(self, size, below=np.inf):
        """Return the least cost of `size` changes that the model accepts, and them; infinite if none costs less."""
        changes = self.sets(size)
        cost = self.costs[changes].sum(axis=1)
        order = np.argsort(cost, kind="stable")
        order, first, last = order[cost[order] < below], 0, 500
        while first < len(order):
            part = order[first:last]
            yes = np.flatnonzero(self.accepted(changes[part]))
            if len(yes):
                return float(cost[part[yes[0]]]), changes[part[yes[0]]]
            first, last = last, last + min(4 * (last - first), CHUNK)
        return np.inf, None

    def any_of_three(self, rng, n_random=40_000, n_pairs=150):
        """Look for three changes that the model accepts: random ones, and the most promising pairs with every third."""
        if len(np.unique(self.column)) < 3:
            return None
        n = len(self.column)
        drawn = rng.integers(n, size=(n_random, 3))
        pairs = self.sets(2)
        # Of very many pairs some, at random, are ranked.
        pairs = pairs[rng.permutation(len(pairs))[:CHUNK]]
        likely = self._estimator.predict_proba(self._rows(pairs))[:, 1]
        best = pairs[np.argsort(-likely, kind="stable")[:n_pairs]]
        grown = np.column_stack([np.repeat(best, n, axis=0), np.tile(np.arange(n), len(best))])
        for changes in (grown, drawn):
            columns = np.sort(self.column[changes], axis=1)
            different = changes[(np.diff(columns, axis=1) > 0).all(axis=1)]
            for first in range(0, len(different), CHUNK):
                part = different[first : first + CHUNK]
                yes = np.flatnonzero(self.accepted(part))
                if len(yes):
                    return part[yes[0]]
        return None

    def scores(self):
        """Return the decision function of the person, and what every single change adds to it."""
        own = self._estimator.decision_function(self._own[None])[0]
        return own, self._estimator.decision_function(self._single) - own

    def told(self, changes):
        """Return the row with these changes, as a frame."""
        row = self.row.astype(object).copy()
        for i in changes:
            row[self.grid.names[self.column[i]]] = self.value[i]
        return pd.DataFrame([row]).astype(self.grid.dtypes)


def linear_optimum(x0, weights, intercept, lower, upper):
    """Return the least L1 distance at which `weights @ x + intercept` is 0 or more, within bounds; infinite if none."""
    p = len(x0)
    rooms = np.maximum(np.concatenate([upper - x0, x0 - lower]), 0.0)
    ends = linprog(
        np.ones(2 * p),
        A_ub=[np.concatenate([-weights, weights])],
        b_ub=[weights @ x0 + intercept],
        bounds=[(0, room) for room in rooms],
    )
    return float(ends.fun) if ends.status == 0 else np.inf


class Program:
    """A mixed-integer linear program of a person, for models whose score is a sum over the columns.

    Every column of numbers may go up or down to a multiple of its step, and every category is a switch.
    """

    def __init__(self, person):
        self.grid, self.row = person.grid, person.row
        self.score, added = person.scores()
        self.cost, self.gain, self.whole, self.most = [], [], [], []
        self.starts, self.linked, self.groups = [], [], []  # who changes a column, what needs it, what excludes what
        self.shift = {name: [] for _, names in self.grid.rules for name in names}
        for k in np.unique(person.column):
            own, some = self.row[self.grid.names[k]], np.flatnonzero(person.column == k)
            if self.grid.columns[k].kind == "number":
                i = max(some, key=lambda i: abs(person.value[i] - own))
                self._number(k, float(own), added[i] / (person.value[i] - own))
            else:
                places = [self._variable(person.costs[i], added[i], True, 1) for i in some]
                self.starts += places
                self.groups.append(places)

    def _variable(self, cost, gain, whole, most):
        for column, value in ((self.cost, cost), (self.gain, gain), (self.whole, whole), (self.most, most)):
            column.append(value)
        return len(self.cost) - 1

    def _number(self, k, own, slope):
        column, price = self.grid.columns[k], self.grid.weights[k] / self.grid.columns[k].unit
        group, size = [], column.step or 1.0
        for sign, barred in ((1.0, self.grid.actions.decrease), (-1.0, self.grid.actions.increase)):
            if column.name in barred:
                continue
            # In steps, away from the person: the nearest and the farthest value on that side.
            low, high = sorted(sign * bound / size for bound in self.grid.range(column))
            near = max(sign * own / size, low)
            if column.step:
                near = max(np.floor(sign * own / size + TINY) + 1.0, np.ceil(low - TINY))
                high = np.floor(high + TINY)
            if near > high:
                continue
            first, most = near - sign * own / size, high - near
            start = self._variable(price * size * first, slope * sign * size * first, True, 1)
            more = self._variable(price * size, slope * sign * size, bool(column.step), most)
            self.starts.append(start)
            self.linked.append((more, start, most))
            group.append(start)
            if column.name in self.shift:
                self.shift[column.name] += [(start, sign * size * first), (more, sign * size)]
        self.groups.append(group)

    def cheapest(self, max_changes=None, margin=1e-9):
        """Return the least cost that is accepted; infinite if there is none."""
        n = len(self.cost)
        rows, lower, upper = [np.array(self.gain)], [margin - self.score], [np.inf]

        def add(terms, low, high):
            line = np.zeros(n)
            for place, factor in terms:
                line[place] += factor
            rows.append(line)
            lower.append(low)
            upper.append(high)

        for more, start, most in self.linked:
            add([(more, 1.0), (start, -most)], -np.inf, 0.0)
        for group in self.groups:
            add([(place, 1.0) for place in group], -np.inf, 1.0)
        if max_changes is not None:
            add([(place, 1.0) for place in self.starts], -np.inf, max_changes)
        for code, names in self.grid.rules:
            if any(pd.isna(self.row[name]) for name in names):
                continue
            left, right = split(code.co_filename)
            own = {name: float(self.row[name]) for name in names}
            room = difference(right, left, own)
            terms = []
            for name in names:
                slope = difference(right, left, {**own, name: own[name] + 1.0}) - room
                terms += [(place, slope * size) for place, size in self.shift[name]]
            add(terms, -room, np.inf)
        ends = milp(
            self.cost,
            integrality=np.array(self.whole, dtype=int),
            bounds=Bounds(0.0, np.array(self.most, dtype=float)),
            constraints=LinearConstraint(np.array(rows), lower, upper),
            options={"mip_rel_gap": 1e-6},
        )
        return float(ends.fun) if ends.status == 0 else np.inf


def split(rule):
    """Return both sides of a rule, the smaller one first."""
    smaller, _, larger = rule.partition("<=")
    if larger:
        return smaller, larger
    larger, _, smaller = rule.partition(">=")
    return smaller, larger


def difference(one, other, numbers):
    return eval(one.strip(), {}, numbers) - eval(other.strip(), {}, numbers)
