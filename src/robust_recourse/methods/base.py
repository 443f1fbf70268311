"""What all methods share: learning the candidates, and explaining the rows of a table."""

from __future__ import annotations

import time
import warnings
from abc import ABC, abstractmethod
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from robust_recourse._typing import FloatArray, Unseen
from robust_recourse._validation import check_integer, check_jobs, check_real, check_seed
from robust_recourse.actions import ActionSet
from robust_recourse.futures import Jury
from robust_recourse.math.limits import Limits
from robust_recourse.math.scales import scales_differ
from robust_recourse.methods.consent import check_consent, check_jury
from robust_recourse.methods.doubts import check_unseen, doubt_favourable, doubt_features
from robust_recourse.result import Answer, Recourses
from robust_recourse.result.provenance import fingerprint, jury_fingerprint
from robust_recourse.sampling.boundary import Look
from robust_recourse.search.deadline import Deadline
from robust_recourse.search.earlier import read_earlier
from robust_recourse.search.explain import accepted_rows, explain, learn_score_unit
from robust_recourse.search.run import criterion, predictor
from robust_recourse.search.space import Space
from robust_recourse.search.task import Task
from robust_recourse.tables import Seen, Table
from robust_recourse.tables.table import UNSEEN

__all__ = ["RecourseMethod"]

_LOOK = 1000, 0.002  # candidates and resolution, for methods without a number of their own
_FREE = ("n_jobs",)  # parameters that may change after `fit`


class RecourseMethod(ABC, BaseEstimator):  # type: ignore[misc]
    """Base of the methods: a subclass says what it does with a task of refused people.

    It has the parameters `model`, `actions`, `random_state` and, if it wants, `favourable`, `threshold` and `n_jobs`,
    and implements :meth:`solve`. See :class:`robust_recourse.search.Method` for the contract.
    """

    model: Any
    actions: ActionSet | None
    favourable: Any = None
    threshold: float | None = None
    margin: float | None = None
    jury: Jury | None = None
    random_state: int | np.random.Generator | np.random.RandomState | None
    n_jobs: int | None = None

    switches: ClassVar[bool] = False
    goes_beyond: ClassVar[bool] = False
    counts_votes: ClassVar[bool] = False
    n_compared: ClassVar[int] = 4  # with a column left alone a search may find a cheaper row

    @property
    def needs_boundary(self) -> bool:
        """Whether it starts at boundary points."""
        return False

    @property
    def promises(self) -> bool:
        """Whether a recourse has to keep more than the model's consent."""
        return False

    @property
    def sureness(self) -> float | None:
        """The least score, beyond what the criterion asks for, of which it wants the cheapest rows of a table, too."""
        return None

    def __sklearn_clone__(self) -> Self:
        """Copy the parameters; the model is given, so that it stays fitted."""
        return type(self)(**self.get_params(deep=False))

    def fit(self, X: Any, y: None = None) -> Self:  # noqa: ARG002
        """Learn the accepted training rows.

        Parameters
        ----------
        X : DataFrame or array_like of shape (n, p)
            Training rows. A frame may hold numbers, booleans, categories, text and missing values, of which kinds,
            units of cost and steps are inferred, see :class:`robust_recourse.ActionSet`. The columns of an array are
            continuous and their unit is 1.
        y : None
            Ignored: the model's predictions count, not the true labels.

        Returns
        -------
        self

        Warns
        -----
        UserWarning
            If the columns of an array have very different scales, so that costs do not compare; if a column looks like
            the label.
        """
        self.check_parameters()
        check_consent(self)
        check_jobs(self.n_jobs)
        if not isinstance(self.actions, ActionSet | None):
            raise TypeError(f"actions must be an ActionSet, got {type(self.actions).__name__}.")
        actions = self.actions or ActionSet()
        schema = actions.schema_for(X).typed(X)
        moves = actions.resolve(schema)
        space = Space.of(schema.read(X, "X"), moves)
        data = "the training rows"
        accepted, _ = accepted_rows(predictor(self, data), space)
        if not accepted.any():
            raise ValueError(
                f"X has no favourable row: the model refuses all {len(space)} training rows, "
                "so there is nothing to search towards. Check which class the model calls favourable: favourable=."
            )
        doubt_features(self.model, schema, space.table, accepted)
        self.seen_ = Seen.of(space.table)
        self.schema_, self.moves_, self.n_features_in_ = schema, moves, space.points.shape[1]
        points = _filled(space)
        self.candidates_, self.accepted_, self.jury_order_ = points[accepted], None, None
        if self.margin is not None or self.jury is not None:
            self.accepted_, self.jury_order_ = self.candidates_, check_jury(self, space, data)
            consented, _ = accepted_rows(criterion(self, data), space)
            # Where no row has it, the search goes towards those that the model accepts.
            self.candidates_ = points[consented & accepted] if (consented & accepted).any() else self.accepted_
        self.limits_ = _reachable(moves.limits(), self.candidates_)
        self.score_unit_ = learn_score_unit(self, space)
        if space.exact:
            _warn_of_scales(points, self.limits_)
        self.seed_ = check_seed(self.random_state)
        self.learn(points, space)
        self.model_fingerprint_ = fingerprint(self.model)
        if self.jury is not None:
            jury_fingerprint(self.jury)  # kept in the jury, so that `explain` does not look for it
        self.keep_settings()
        return self

    def explain(
        self,
        X: Any,
        n_recourses: int = 1,
        time_limit: float | None = None,
        *,
        unseen: Unseen = "warn",
        earlier: Recourses | None = None,
    ) -> Recourses:
        """Find recourses for every row.

        Parameters
        ----------
        X : DataFrame or array_like of shape (m, p)
            Rows to explain, maybe none. Accepted ones are returned as they are, with a status that says so.
        n_recourses : int
            How many recourses a row gets at most. They differ in the columns that they change, and the cheapest
            comes first. Where a jury promises a survival there are others only where they have a better bound; the
            first of a Bayesian method is then the same for one and for up to four.
        time_limit : float, optional
            Seconds after which no more questions are asked, but for a first one and those that verify what was found.
            What is done by then is returned: rows that were being improved have the status "stopped early", and those
            that are left "out of time". A question that the model is answering is not interrupted.
        unseen : {"warn", "error", "ignore"}
            What happens to values that no training row has, among them numbers far outside: as a rule they
            are coded in another way, or mistyped. The message names them and their rows.
        earlier : Recourses, optional
            What the same rows were told before, under this action set or another. Where such a recourse is still
            allowed and accepted, costs less than what is found now, and the model is no less sure of it, it is told
            again; and so is a boundary point. So nobody pays more, and gets nothing for it, because an action set
            allows more.

        Returns
        -------
        Recourses
            The recourses of every row, in the order of `X`; a row without any has one entry with a status and NaN.

        Raises
        ------
        ValueError
            If there are such values, and `unseen` is "error"; for other columns, and for infinite numbers; if
            `earlier` is of other rows.

        Warns
        -----
        UserWarning
            If there are such values; if all of several rows are accepted, so that `favourable` may be the wrong class.
        """
        self.check_ready(n_recourses)
        deadline = None
        if time_limit is not None:
            deadline = Deadline(time.time() + check_real(time_limit, "time_limit", minimum=0.0))
        table = self.read(X, unseen=unseen)
        known = None if earlier is None else read_earlier(self, table, earlier)
        found = explain(self, table, n_recourses, deadline, known)
        doubt_favourable(found, self.favourable)
        return found

    def check_ready(self, n_recourses: int = 1) -> None:
        """Raise for whatever keeps :meth:`explain` from its work, rows aside."""
        check_is_fitted(self, "candidates_")
        self.check_parameters()
        check_consent(self)
        self.check_unchanged()
        check_jobs(self.n_jobs)
        check_integer(n_recourses, "n_recourses", minimum=1)

    def explain_table(self, table: Table, n_recourses: int = 1, deadline: Deadline | None = None) -> Recourses:
        """Explain rows that :meth:`read` returned, maybe some of many: nothing is asked about them as a whole."""
        return explain(self, table, n_recourses, deadline)

    def read(self, X: Any, name: str = "X", *, unseen: Unseen = "warn") -> Table:
        """Read rows to explain as :meth:`explain` does; `name` is what messages call them."""
        table = self.schema_.read(X, name, fewest=0)
        check_unseen(self.seen_, table, name, unseen)
        return table

    def accepted_points(self, table: Table) -> tuple[FloatArray, FloatArray | None]:
        """Return more training rows as points: those that the criterion takes, and if there is one, all accepted ones.

        Rows with a category that the method does not know are left out, and an empty number is that of most candidates.
        """
        space, data = Space.of(table, self.moves_), "the training rows"
        accepted, _ = accepted_rows(predictor(self, data), space)
        accepted &= (table.values[:, self.schema_.categorical] != UNSEEN).all(axis=1)
        points = _filled(space, np.median(self.candidates_, axis=0))
        if self.accepted_ is None:
            return points[accepted], None
        consented, _ = accepted_rows(criterion(self, data), space)
        return points[consented & accepted], points[accepted]

    def keep_candidates(self, candidates: FloatArray, accepted: FloatArray | None) -> None:
        """Search towards other rows than those that `fit` has found."""
        self.candidates_, self.accepted_ = candidates, accepted
        self.limits_ = _reachable(self.moves_.limits(), candidates)

    def asking(self, margin: float | None, jury: Jury | None) -> Self:
        """Return the same method with another criterion; without any, its candidates are all accepted rows."""
        other = copy(self)
        other.margin, other.jury = margin, jury
        if jury is None and margin is None and self.accepted_ is not None:
            other.candidates_ = self.accepted_
            other.limits_ = _reachable(self.moves_.limits(), other.candidates_)
        return other

    def without_default_budget(self) -> Self:
        """Return the same method without a default budget beyond the cheapest row; itself if it has none."""
        return self

    def narrowed(self, actions: ActionSet) -> Self:
        """Return the same method with an action set that allows less, see :func:`robust_recourse.actions.narrow`."""
        other = copy(self)
        other.actions, other.moves_ = actions, actions.resolve(self.schema_)
        other.limits_ = _reachable(other.moves_.limits(), self.candidates_)
        other.keep_settings()
        return other

    def promising(self, survival: float) -> Self:
        """Return the same method with a jury that promises this survival; its check must be able to prove it."""
        if self.jury is None or self.counts_votes:
            raise ValueError("survival needs a jury with a check, which this method was not fitted with.")
        other = self.asking(self.margin, self.jury.asking(survival=survival))
        other.keep_settings()
        return other

    def look(self) -> Look:
        """How to look for boundary points."""
        ranges = self.candidates_.min(axis=0), self.candidates_.max(axis=0)
        return Look(*_LOOK, ranges, thorough=not self.moves_.plain)

    def people_at_once(self, width: int) -> int:
        """How many people fit in memory together, with so many columns."""
        return 4_000_000 // width

    def check_parameters(self) -> None:
        """Raise for parameters out of range."""

    def learn(self, points: FloatArray, space: Space) -> None:
        """Learn what else the method needs from the training rows: as points, without gaps, and as a space."""

    def keep_settings(self) -> None:
        """Remember the parameters that belong to what was learnt."""
        self._fitted_with = self._settings()

    def check_unchanged(self) -> None:
        """Raise if a parameter was set after `fit`: what was learnt does not know of it."""
        known = getattr(self, "_fitted_with", {})
        for name, value in self._settings().items():
            if name in known and value is not known[name] and not _equal(value, known[name]):
                raise ValueError(f"{name} was changed after fit, which had no effect yet. Call fit again.")

    @abstractmethod
    def solve(self, task: Task) -> list[Answer]:
        """Find a recourse for every person of a task, or say why there is none."""

    def _settings(self) -> dict[str, Any]:
        return {name: value for name, value in self.get_params(deep=False).items() if name not in _FREE}


def _warn_of_scales(points: FloatArray, limits: Limits) -> None:
    message = scales_differ(points, limits.weights, limits.rises | limits.falls)
    if message is not None:
        warnings.warn(message, stacklevel=3)


def _equal(one: Any, other: Any) -> bool:
    plain = int | float | str | bool
    return isinstance(one, plain) and isinstance(other, plain) and type(one) is type(other) and one == other


def _reachable(limits: Limits, candidates: FloatArray) -> Limits:
    """Keep the categories that some candidate has."""
    targets = tuple(
        target if target is None else target & np.isin(np.arange(len(target)), candidates[:, k])
        for k, target in enumerate(limits.targets)
    )
    return replace(limits, targets=targets)


def _filled(space: Space, medians: FloatArray | None = None) -> FloatArray:
    """Return the points of a table; an empty number is the median of its column, or that which is given."""
    points, missing = space.points.copy(), space.table.missing & space.moves.numbers
    for k in np.flatnonzero(missing.any(axis=0)):
        known = points[~missing[:, k], k] if medians is None else medians[[k]]
        points[missing[:, k], k] = np.median(known) if len(known) else 0.0
    return points
