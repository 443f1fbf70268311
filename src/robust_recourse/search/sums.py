"""The cheapest points of linear models, whose score is a sum over the columns: nothing has to be searched.

The model may be the last step of a pipeline that is known to encode the columns of a table one by one. What each column
adds to the score of a person is found out by trying.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import logit

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.actions.rules import Rule
from robust_recourse.math.sums import Sums, cheapest_sums, out_of_reach
from robust_recourse.models.analytic import is_logistic, summed_terms
from robust_recourse.models.decisions import Decision
from robust_recourse.models.encoding import encodes_one_by_one, split_off
from robust_recourse.search.exact import Exact
from robust_recourse.search.method import Method
from robust_recourse.search.task import Task

__all__ = ["cheapest_sum"]

_PARTS = np.array([0.0, 0.31, 0.68, 1.0])  # of the range of a number, to see whether it adds in proportion
_FINELY = np.linspace(0.0, 1.0, 129)  # the same, once
_NUMBERS = 2**22  # in the rows that are encoded together
_STRAIGHT = 1e-7  # of the largest contribution of a column: it is a line but for rounding
_HAIR = 1e-6  # of a step, or of the room, beyond a person's own value: the first change is the next row
_FAR = 1e12  # where there is no bound
# Slack of the rules, and a part of the way beyond: where rounding takes away what is needed, more of each.
_TRIALS = ((0.0, 0.0), (1e-6, 0.0), (1e-6, 1e-7), (1e-6, 1e-5))


def cheapest_sum(method: Method, task: Task, most: int | None = None) -> Exact | None:
    """Return the cheapest accepted points of people; None if the model is not linear in columns of the table.

    With `most`, only so many columns may change.
    """
    least, moves = _least_score(method), task.space.moves
    if least is None or moves.followers or not moves.linear.all():
        return None
    added = _added(method, task, least[0])
    ways = _Ways(task, added, method.look().ranges)
    need = np.where(added.apart, least[1] - added.score, 0.0)
    sums = ways.sums(np.maximum(need, 0.0), most)
    found = Exact.nothing(task.x0)
    # With a margin it is not the model that is out of reach.
    lost = np.flatnonzero(out_of_reach(sums) & (need > 0.0) & ways.everything & (method.margin is None))
    # Where all that helps is done together, the model itself must refuse.
    found.impossible[lost] = most is not None or ~task.oracle(ways.farthest(sums)[lost], lost)
    left = np.flatnonzero((need > 0.0) & ~found.impossible)
    for slack, beyond in _TRIALS[:2] if not task.space.exact else _TRIALS:
        spent = cheapest_sums(sums.take(left), slack)
        enough = ~np.isnan(spent).any(axis=1)
        some = left[enough]
        points = task.room.clipped(ways.points(spent[enough], some, beyond), some)
        points = task.snap(points, some, "outward")
        yes = task.oracle(points, some) & (points != task.x0[some]).any(axis=1)
        found.x[some[yes]] = points[yes]
        left = some[~yes]
        if not len(left):
            break
    return found


def _least_score(method: Method) -> tuple[float, float] | None:
    """Return the sign with which the score counts, and the least score that the search asks for, if it is linear."""
    jury, last = method.jury is not None and not method.counts_votes, split_off(method.model)[1]
    # A subclass may decide in any other way.
    if jury or summed_terms(last) is None or not type(last).__module__.startswith("sklearn."):
        return None
    if not encodes_one_by_one(method.model):
        return None
    decision = Decision.of(method.model, method.favourable, method.threshold)
    asked = [value for value in (method.threshold, method.margin) if value is not None]
    if decision.regressor:
        side = decision.side or 1.0
        return (side, side * asked[-1]) if asked and method.favourable in (None, "above", "below") else None
    if decision.classes is None or decision.sign == 0.0 or (asked and not is_logistic(method.model)):
        return None
    return decision.sign, float(logit(max([0.5, *asked] if method.threshold is None else asked)))


class _Added(NamedTuple):
    """What columns add to the score of people."""

    score: FloatArray  # (m,): of the people as they are
    slope: FloatArray  # (m, p): of numbers, for a unit of cost before weights
    switch: dict[int, FloatArray]  # (m, codes): of categories, instead of what the own one adds
    apart: BoolArray  # (m,): whose columns add up, numbers in proportion


def _added(method: Method, task: Task, sign: float) -> _Added:
    """Try values of every column of every person."""
    space, values, (m, p) = task.space, task.space.table.values, task.x0.shape
    columns = np.flatnonzero(task.free.any(axis=0)).tolist()
    tried = [_tried(task, k, method.candidates_, _PARTS) for k in columns]
    ends = np.cumsum([0, *map(len, tried)])
    column, value = np.repeat(columns, np.diff(ends)).astype(np.int64), np.concatenate([np.zeros(0), *tried])
    known = _Added(np.zeros(m), np.zeros((m, p)), {}, np.zeros(m, dtype=bool))
    scores = np.zeros((m, len(value)))
    straight = _straight(method, task, columns)
    for part in np.array_split(np.arange(m), -(-m * (len(value) + 1) * p // _NUMBERS)):
        rows = np.repeat(values[part][:, None], len(value) + 1, axis=1)
        rows[:, 1 + np.arange(len(value)), column] = value
        each = _scores(method, task, rows.reshape(-1, p), np.repeat(part, len(value) + 1))
        if each is None:
            return known
        each = sign * each.reshape(len(part), -1)
        known.score[part], scores[part] = each[:, 0], each[:, 1:]
    known.apart[:] = np.isfinite(known.score)
    for k, values_of, begin in zip(columns, tried, ends, strict=False):
        adds, mine = scores[:, begin : begin + len(values_of)], task.free[:, k]
        known.apart[:] &= ~mine | (np.isfinite(adds).all(axis=1) & straight[k])
        if task.limits.categories[k]:
            known.switch[k] = np.full((m, len(task.limits.targets[k])), -np.inf)  # type: ignore[arg-type]
            known.switch[k][:, values_of.astype(np.int64)] = adds - known.score[:, None]
        elif len(values_of) > 1:
            # A person's own value may be out of the range, where a scaler may end.
            at, adds = np.column_stack([np.tile(values_of, (m, 1)), values[:, k]]), np.column_stack([adds, known.score])
            known.apart[:] &= ~mine | _on_a_line(at, adds)
            known.slope[:, k] = (adds[:, -2] - adds[:, 0]) / (values_of[-1] - values_of[0]) * space.moves.units[k]
    return known


def _scores(method: Method, task: Task, rows: FloatArray, people: IntArray) -> FloatArray | None:
    """Return the scores of rows of people, before the sign; None if they cannot be encoded."""
    encode, model = split_off(method.model)
    coefficients, intercept = summed_terms(model) or (np.zeros(0), 0.0)
    try:
        encoded = encode(task.space.decode(rows, people))
    except Exception:  # the search asks the model, which says what is wrong
        return None
    return encoded @ coefficients + intercept if encoded.shape[1:] == coefficients.shape else None


def _straight(method: Method, task: Task, columns: list[int]) -> dict[int, bool]:
    """Return which columns add to the score in proportion, by many values of each; categories need not."""
    numbers = [k for k in columns if not task.limits.categories[k]]
    tried = [_tried(task, k, method.candidates_, _FINELY) for k in numbers]
    ends = np.cumsum([0, *map(len, tried)])
    rows = np.repeat(task.space.table.values[:1], ends[-1], axis=0)
    rows[np.arange(ends[-1]), np.repeat(numbers, np.diff(ends)).astype(np.int64)] = np.concatenate(
        [np.zeros(0), *tried]
    )
    scores = _scores(method, task, rows, np.zeros(len(rows), dtype=np.int64)) if numbers else None
    found = dict.fromkeys(columns, True)
    for k, values, begin in zip(numbers, tried, ends, strict=False):
        adds = None if scores is None else scores[begin : begin + len(values)]
        found[k] = adds is not None and bool(_on_a_line(values[None], adds[None])[0])
    return found


def _on_a_line(at: FloatArray, adds: FloatArray) -> BoolArray:
    """Return whose values are on the line through the smallest and the largest."""
    each = np.arange(len(at))
    low, high = at.argmin(axis=1), at.argmax(axis=1)
    wide = at[each, high] - at[each, low]
    line = np.divide(adds[each, high] - adds[each, low], wide, out=np.zeros(len(at)), where=wide > 0.0)
    start, below = at[each, low][:, None], adds[each, low][:, None]
    off = np.abs(adds - below - line[:, None] * (at - start)).max(axis=1)
    on: BoolArray = np.asarray(off <= _STRAIGHT * (np.ptp(adds, axis=1) + np.abs(adds).max(axis=1)))
    return on


def _tried(task: Task, k: int, candidates: FloatArray, parts: FloatArray) -> FloatArray:
    """Return values of a column, in rising order, or the codes that it may have; the same for everybody."""
    limits, moves = task.limits, task.space.moves
    if limits.categories[k]:
        return np.flatnonzero(limits.targets[k]).astype(float)  # type: ignore[arg-type]
    low, high = (
        bound if np.isfinite(bound) else end
        for bound, end in ((limits.lower[k], candidates[:, k].min()), (limits.upper[k], candidates[:, k].max()))
    )
    points = np.zeros((len(parts), len(limits.weights)))
    points[:, k] = low + (high - low) * parts
    return np.unique(moves.told(k)(moves.to_values(points)[:, k]))


class _Ways:
    """The ways of people: every number up and down, and the best switch of every category.

    Attributes
    ----------
    everything : ndarray of bool, shape (m,)
        Whether there is nothing else that each may do.
    """

    def __init__(self, task: Task, added: _Added, ranges: tuple[FloatArray, FloatArray] | None) -> None:
        self._task, self._added = task, added
        free, categories = task.free, task.limits.categories
        numbers, switches = (
            np.flatnonzero(free.any(axis=0) & ~categories),
            np.flatnonzero(free.any(axis=0) & categories),
        )
        self._column = np.concatenate([numbers, numbers, switches])
        self._sign = np.repeat([1.0, -1.0, 0.0], [len(numbers), len(numbers), len(switches)])
        lower, upper = task.room.box
        # A value out of the bounds of an array stays, though the action set would let it come within.
        self.everything = task.limits.holds(task.x0) | (not task.space.exact)
        if ranges is not None and task.space.exact:
            # As in the search, nobody goes further than the training rows where the limits would let them.
            low, high = np.minimum(ranges[0], task.x0), np.maximum(ranges[1], task.x0)
            self.everything &= ((lower >= low) & (upper <= high)).all(axis=1)
            lower, upper = np.clip(lower, low, None), np.clip(upper, None, high)
        self._first, self._last = self._ends(lower, upper)
        self._code = {int(k): self._best_codes(int(k)) for k in switches}

    def _ends(self, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return where people are after the first change and after all of it, on every way, of shape (m, n)."""
        task, every = self._task, np.arange(len(self._task))
        hair = np.where(task.space.steps > 0.0, _HAIR * task.space.steps, _HAIR)
        near, far = np.repeat(task.x0[:, self._column][None], 2, axis=0)
        for sign, end in ((1.0, upper), (-1.0, lower)):
            mine = self._sign == sign
            moved = np.where(np.isfinite(end), end, task.x0 + sign * _FAR)
            some = task.x0 + sign * np.minimum(hair, np.abs(moved - task.x0))
            near[:, mine] = task.snap(some, every, "outward")[:, self._column[mine]]
            far[:, mine] = task.snap(moved, every, "inward")[:, self._column[mine]]
        return task.x0[:, self._column] if task.space.exact else near, far

    def _best_codes(self, k: int) -> FloatArray:
        """Return the code that gains most of those that each person may switch to, NaN if there is none."""
        task, gains = self._task, self._added.switch[k]
        codes = np.arange(gains.shape[1]).astype(float)
        people = np.repeat(np.arange(len(task)), len(codes))
        allowed = task.room.may_switch(k, people, np.tile(codes, len(task))).reshape(gains.shape)
        best = np.where(allowed, gains, -np.inf).argmax(axis=1)  # codes that nobody may have gain nothing
        return np.where(allowed.any(axis=1), codes[best], np.nan)

    def sums(self, need: FloatArray, limit: int | None) -> Sums:
        """Return the program of the people."""
        task, column, sign = self._task, self._column, self._sign
        weights, own = task.limits.weights[column], task.x0[:, column]
        first, most = (np.abs(ends - own) * weights for ends in (self._first, self._last))
        gain = sign * self._added.slope[:, column] / weights
        for j in np.flatnonzero(sign == 0.0):
            k = int(column[j])
            there = ~np.isnan(self._code[k])
            best = np.nan_to_num(self._code[k]).astype(np.int64)
            first[:, j] = most[:, j] = np.where(there, weights[j], 0.0)
            gain[:, j] = self._added.switch[k][np.arange(len(task)), best] / weights[j]
        most = np.where(most >= first, most, 0.0)
        steps = task.space.steps[column] * weights
        rules, bounds = self._rules()
        return Sums(column, first, most, np.where(sign != 0.0, steps, 0.0), gain, need, rules, bounds, limit)

    def _rules(self) -> tuple[FloatArray, FloatArray]:
        """Return what a unit of cost on every way adds to the left of the rules, and what is left of their bounds."""
        space, names = self._task.space, self._task.space.moves.rule_names
        rules = [rule for rule in space.moves.rules if isinstance(rule, Rule)]
        terms = np.zeros((len(rules), len(names)))
        for row, rule in zip(terms, rules, strict=True):
            for name, factor in rule.terms.items():
                row[names.index(name)] = factor
        gaps = space.table.missing @ (terms != 0.0).T
        used = np.nan_to_num(space.table.values) @ terms.T
        bounds = np.where(gaps, np.inf, [rule.bound for rule in rules] - used)
        factor = self._sign * space.moves.units[self._column] / self._task.limits.weights[self._column]
        return terms[:, self._column] * factor, bounds

    def farthest(self, sums: Sums) -> FloatArray:
        """Return the points in which all that helps is done as far as it goes, whatever the rules say."""
        spent = np.where((sums.gain > 0.0) & (sums.most > 0.0), sums.most, 0.0)
        every = np.arange(len(self._task))
        return self._task.snap(self.points(spent, every, 0.0), every)

    def points(self, spent: FloatArray, people: IntArray, beyond: float) -> FloatArray:
        """Return the points of what some people spend, or a little beyond them."""
        task, points = self._task, self._task.x0[people]
        for j, (k, sign) in enumerate(zip(self._column.tolist(), self._sign.tolist(), strict=True)):
            used = np.flatnonzero(spent[:, j] > 0.0)
            if sign == 0.0:
                points[used, k] = self._code[k][people[used]]
                continue
            moved = points[used, k] + sign * (1.0 + beyond) * spent[used, j] / task.limits.weights[k]
            last = self._last[people[used], j]
            points[used, k] = np.where(sign * moved >= sign * last, last, moved)
        return points
