r"""The nearest accepted point, by gradients: the counterfactual explanations of Wachter and others.

.. math::
    \min_x \; \log(1 + e^{-s(x)}) + \lambda \sum_k w_k |x_k - x_{0k}| \quad\text{s.t.}\quad x \in \text{action set},

with the score :math:`s` of the model, positive where it accepts, and a trade-off :math:`\lambda` that is halved until
the model accepts the solution. Where the solution crosses the boundary as :math:`\lambda` varies it satisfies the
optimality conditions of *the cheapest accepted point*, so that value is searched for, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse._validation import check_integer, check_real
from robust_recourse.actions import ActionSet
from robust_recourse.futures import Jury
from robust_recourse.math.scales import spread
from robust_recourse.methods._proximal import Descent, Iterate, Penalty
from robust_recourse.methods.base import RecourseMethod
from robust_recourse.models.gradients import Score, Scores
from robust_recourse.models.predictor import Decode
from robust_recourse.result import Answer, Status
from robust_recourse.search import Outcome, Task, verify_points
from robust_recourse.search.space import Space

__all__ = ["Wachter"]

_LARGEST, _MOST_HALVINGS = 1e50, 200  # of what is given, so that prices are numbers
_MOST_ROUNDS = 40  # trade-offs tried after the first accepted solution
_MARGIN, _MOST_DOUBLINGS = 1.05, 8.0  # factor that guesses of a trade-off are kept apart by, and how it grows
_VAGUE = 1e-2  # relative difference of trade-offs whose solutions differ by chance, at a kink
_MOST_SCORE = 50.0  # so that a guess is a number
_FINE = 1e-6  # width of the last bracket relative to its cost
_MOST_BISECTIONS = 60


class Wachter(RecourseMethod):
    """The cheapest accepted point that the gradients of the model lead to.

    Gradients are exact for networks and linear models of scikit-learn, alone or behind scalers, and for torch
    modules; other models are differentiated by central differences, see :mod:`robust_recourse.models.gradients`.

    Parameters
    ----------
    model : object or callable
        As for :class:`robust_recourse.RobustBayesianRecourse`, but it must tell how far a row is from acceptance:
        by ``predict_proba`` or ``decision_function``, as a torch module, or as a callable that answers with
        probabilities.
    actions : ActionSet, optional
        What may change; everything if None.
    trade_off : float
        The first price of the cost, in units of the loss.
    max_halvings : int
        How often it is halved before giving up.
    max_iter : int
        Largest number of steps for one value of the trade-off.
    tolerance : float
        How well optimality conditions and the best trade-off are met: roughly the relative error of the cost
        where the nearest accepted point can be found by going downhill.
    step : float, optional
        Half the width of a central difference, in scales of the column; None for 0.001.
    favourable, threshold, margin
        As for :class:`robust_recourse.RobustBayesianRecourse`.
    jury : None
        There are gradients of one model only: a jury is refused.
    random_state : int, Generator, RandomState or None
        Not used; nothing is random here.
    n_jobs : int, optional
        Number of processes.

    Attributes
    ----------
    candidates_ : ndarray
        The accepted training rows. Only their existence matters here.
    scale_ : ndarray of shape (p,)
        Scales of the columns.

    Notes
    -----
    Following gradients is a local search: where the score is not concave the point may be dearer than another, or
    the search ends without one although there is one.

    A row gets the same recourse whatever it is explained with, to the last bit if its gradient is a closed form
    and the model labels it alone as in company; otherwise as far as the model's own rounding lets it.

    References
    ----------
    .. [1] S. Wachter, B. Mittelstadt and C. Russell, "Counterfactual explanations without opening the black box:
       automated decisions and the GDPR", Harvard Journal of Law & Technology 31 (2017).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.random.default_rng(0).uniform(-1, 1, (500, 2))
    >>> model = LogisticRegression().fit(X, X[:, 0] + 2 * X[:, 1] > 0.5)
    >>> found = Wachter(model).fit(X).explain([[-0.5, -0.3]])
    >>> bool(found.valid[0]), str(found.status[0])
    (True, 'ok')

    Only the column that moves the score most is changed, just far enough:

    >>> (found.x[0] - [-0.5, -0.3]).nonzero()[0]
    array([1])
    >>> bool(0 < model.decision_function(found.x)[0] < 1e-4)
    True
    """

    def __init__(
        self,
        model: Any,
        actions: ActionSet | None = None,
        trade_off: float = 1.0,
        max_halvings: int = 40,
        max_iter: int = 100,
        tolerance: float = 1e-4,
        step: float | None = None,
        favourable: Any = None,
        threshold: float | None = None,
        margin: float | None = None,
        jury: Jury | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.model = model
        self.actions = actions
        self.trade_off = trade_off
        self.max_halvings = max_halvings
        self.max_iter = max_iter
        self.tolerance = tolerance
        self.step = step
        self.favourable = favourable
        self.threshold = threshold
        self.margin = margin
        self.jury = jury
        self.random_state = random_state
        self.n_jobs = n_jobs

    def check_parameters(self) -> None:
        """Raise for parameters out of range."""
        check_real(self.trade_off, "trade_off", minimum=0.0, strict=True, maximum=_LARGEST)
        check_real(self.trade_off, "trade_off", minimum=1.0 / _LARGEST)
        check_integer(self.max_halvings, "max_halvings", minimum=0)
        check_real(self.max_halvings, "max_halvings", maximum=_MOST_HALVINGS)
        check_integer(self.max_iter, "max_iter", minimum=1)
        check_real(self.tolerance, "tolerance", minimum=1e-10, maximum=0.1)
        if self.jury is not None:
            raise TypeError(
                "Wachter follows the gradients of one model and takes no jury. Use margin=, or another method, such as "
                "RobustBayesianRecourse or NearestAccepted."
            )
        if self.step is not None:
            check_real(self.step, "step", minimum=0.0, strict=True, maximum=1.0)

    def learn(self, points: FloatArray, space: Space) -> None:
        """Learn the scales of the columns, and whether the model has something to differentiate."""
        self.scale_ = spread(points)
        self._scores(space, "the training rows").check(points)

    def _scores(self, space: Space, data: str = "X") -> Scores:
        return Scores(
            self.model,
            _decoder(space),
            data,
            favourable=self.favourable,
            threshold=self.threshold if self.margin is None else self.margin,
            scale=self.scale_,
            step=self.step,
            unit=self.moves_.units,
            numbers=self.moves_.proportional,
        )

    def solve(self, task: Task) -> list[Answer]:
        """Follow the gradients of every person's score."""
        search = _Search(self, task)
        search.follow()
        points = search.last_steps()
        outcomes = [self._outcome(search, i) for i in range(len(task))]
        return verify_points(task, points, search.found, outcomes)

    def _outcome(self, search: _Search, i: int) -> Outcome:
        if search.found[i]:
            return Outcome(Status.OK, "The recourse is the cheapest accepted point that the gradients lead to.")
        others = "RobustBayesianRecourse and NearestAccepted do without gradients."
        if not search.descent.now.gradient[i].any():
            return Outcome(
                Status.NOT_FOUND,
                "The model is flat where the search ended: no column that may change changes its score, so that there "
                f"is no gradient to follow. {others}",
            )
        if search.steepest[i] == 0.0:
            return Outcome(
                Status.NOT_FOUND,
                "At this row the score of the model rises in no direction that the action set allows. "
                f"Allow more columns to change, or wider bounds. {others}",
            )
        return Outcome(
            Status.NOT_FOUND,
            f"The model refuses the solutions for all trade-offs from {self.trade_off:g} down to "
            f"{self.trade_off * 0.5**self.max_halvings:g}: the gradients lead to no accepted point within the action "
            f"set. Allow more columns to change, wider bounds, more max_halvings or a smaller trade_off. {others}",
        )


class _Search:
    """The search of all people of a task, each at its own pace.

    Until a row is accepted its trade-off is halved. Then it is raised again, always from the last accepted
    solution, until that is refused; between these two values it is bracketed.
    """

    def __init__(self, method: Wachter, task: Task) -> None:
        self._method, self._task, m = method, task, len(task)
        self._scores, x0 = method._scores(task.space), task.x0
        self._penalty = Penalty(x0, *task.room.box, method.limits_.weights, method.scale_)
        start = Iterate(x0, *self._field(x0, np.arange(m)))
        self.descent = Descent(self._field, start, self._penalty, max_iter=method.max_iter, tolerance=method.tolerance)
        self.found = np.zeros(m, dtype=bool)
        self.steepest = _steepest(start, self._penalty)
        self._above, self._below = start.copy(), x0.copy()  # accepted and refused solutions
        self._low, self._high = np.zeros(m), np.full(m, np.inf)  # trade-offs of these
        self._rounds = np.zeros(m, dtype=int)
        # As long as the row itself is the solution there is nothing to solve.
        with np.errstate(divide="ignore"):
            skipped = np.ceil(np.log2(method.trade_off) - np.log2(self.steepest))
        self._halvings = np.maximum(skipped, 0.0)

    def _field(self, points: FloatArray, people: IntArray) -> Score:
        task, penalty, free = self._task, self._penalty, self._task.free[people]
        task.oracle.charge(people, self._scores.rows_asked(free))
        return self._scores(points, task.space.rows_of(people), free, penalty.lower[people], penalty.upper[people])

    def follow(self) -> None:
        """Find an accepted solution of every row, and a refused one close to it."""
        method = self._method
        active = np.flatnonzero(self._halvings <= method.max_halvings)
        self.descent.restart(active, self._above.take(active), method.trade_off * 0.5 ** self._halvings[active])
        while len(active):
            ended = self.descent.advance(active)
            closed = np.zeros(len(active), dtype=bool)
            if ended.any():
                closed[ended] = self._judge(active[ended])
            active = active[~closed]

    def _judge(self, rows: IntArray) -> BoolArray:
        """Ask the model about the solutions of `rows`, and choose their next trade-offs; return which are done."""
        reached, trade_off = self.descent.now.take(rows), self.descent.trade_off[rows]
        accepted = self._task.oracle(reached.x, rows)
        above, below = rows[accepted], rows[~accepted]
        self._above.put(above, reached.take(accepted))
        self._low[above], self.found[above] = trade_off[accepted], True
        found = self.found[rows]
        self._below[below] = reached.x[~accepted]
        self._high[rows[found & ~accepted]] = trade_off[found & ~accepted]
        self._rounds[rows] += found
        self._halvings[rows] += ~found
        closed: BoolArray = np.where(found, self._narrow(rows), self._halvings[rows] > self._method.max_halvings)
        found, rows, reached, trade_off = found[~closed], rows[~closed], reached.take(~closed), trade_off[~closed]
        self.descent.restart(rows[~found], reached.take(~found), 0.5 * trade_off[~found])
        self.descent.restart(rows[found], self._above.take(rows[found]), self._between(rows[found]))
        return closed

    def _narrow(self, rows: IntArray) -> BoolArray:
        """Whether the accepted and the refused solutions, or their trade-offs, are close."""
        tolerance, penalty, x = self._method.tolerance, self._penalty.take(rows), self._above.x[rows]
        close = penalty.length(x - self._below[rows]) <= tolerance * penalty.cost(x)
        # At a kink solutions are too vague to tell similar trade-offs apart.
        apart = 1.0 + np.where(self.descent.stuck(rows), max(tolerance, _VAGUE), tolerance)
        alike = self._high[rows] <= apart * self._low[rows]
        done: BoolArray = close | alike | (self._rounds[rows] > _MOST_ROUNDS)
        return done

    def _between(self, rows: IntArray) -> FloatArray:
        """Choose trade-offs for which the solutions should be on the boundary.

        At a solution the slope of the loss times that of the score is the price, and on the boundary the slope of
        the loss is one half. If that of the score were the same there, the trade-off there would be known.
        """
        low, high, score = self._low[rows], self._high[rows], self._above.score[rows]
        rounds, unbounded = self._rounds[rows], np.isinf(high)
        guess = np.maximum(0.5 * low * (1.0 + np.exp(np.minimum(score, _MOST_SCORE))), low)
        # First a little more, to be refused, then a little less, to be accepted.
        more = guess * _MARGIN ** np.exp2(np.minimum(rounds - 1.0, _MOST_DOUBLINGS))
        ratio = np.where(unbounded, 1.0, high / low)
        less = np.where(ratio > _MARGIN**2, guess / _MARGIN, guess)
        less = np.clip(less, low * ratio**0.1, low * ratio**0.99)
        # Every other time the middle, in case the guesses are of no use.
        return np.where(unbounded, more, np.where(rounds % 2 == 0, less, low * np.sqrt(ratio)))

    def last_steps(self) -> FloatArray:
        """Bisect between the two solutions of every row; return accepted points next to refused ones."""
        penalty, rows = self._penalty, np.flatnonzero(self.found)
        accepted, refused = self._above.x, self._below
        points = accepted.copy()
        low, high = np.zeros(len(points)), np.ones(len(points))
        way = accepted - refused
        for _ in range(_MOST_BISECTIONS):
            wide = (high - low) * penalty.length(way) > _FINE * penalty.cost(points)
            rows = rows[wide[rows]]
            if not len(rows):
                break
            middle = 0.5 * (low[rows] + high[rows])
            # In this form a column that differs in neither keeps its bits.
            trial = refused[rows] + middle[:, None] * way[rows]
            trial = np.clip(trial, penalty.lower[rows], penalty.upper[rows])
            yes = self._task.oracle(trial, rows)
            points[rows[yes]] = trial[yes]
            high[rows[yes]], low[rows[~yes]] = middle[yes], middle[~yes]
        # In single precision answers depend a little on the batch, so close to the boundary: ask for all at once,
        # as the verification does, and step back where it would find a refusal.
        rows = np.flatnonzero(self.found)
        still = self._task.oracle(points[rows], rows)
        points[rows[~still]] = accepted[rows[~still]]
        return points


def _steepest(start: Iterate, penalty: Penalty) -> FloatArray:
    """Return the trade-offs from which on the rows themselves are solutions; 0 if they are for all."""
    open_side = np.where(start.gradient > 0.0, start.x < penalty.upper, start.x > penalty.lower)
    rates = expit(-start.score)[:, None] * np.abs(start.gradient) / penalty.weights
    steepest: FloatArray = np.where(open_side, rates, 0.0).max(axis=1)
    return steepest


def _decoder(space: Space) -> Decode:
    """Return what turns points into rows for derivatives; they are asked for by the numbers of the rows."""
    numbers, place = np.unique(space.rows, return_index=True)
    return lambda points, rows: space.decode_smoothly(points, place[np.searchsorted(numbers, rows)])
