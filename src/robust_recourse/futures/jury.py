"""Juries: models that are asked before something is promised."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from typing import Any, Self

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse._validation import check_choice, check_integer, check_real
from robust_recourse.futures._models import listed
from robust_recourse.futures._scenario import Scenario
from robust_recourse.futures.retraining import future_models
from robust_recourse.futures.scenarios import check_scenarios
from robust_recourse.math.intervals import check_level, share_at_least
from robust_recourse.models.criteria import Margin, Rule, Votes, naming
from robust_recourse.models.predictor import Predictor, Probabilities

__all__ = ["Juror", "Jury"]

NAME = "_fingerprint"
"""Where a name for all models of a jury is kept, once somebody has looked for it."""
_RULES = ("quorum", "mean")
_MEANS = (0.0, 0.5, 0.75, 0.9)  # of the way to a mean probability of 1, in attempts at a promised survival
_MARGINS = (0.2, 0.5, 0.75)  # of the way to a probability of 1, in the same attempts, once all jurors must accept
_ATTEMPTS = 4  # at most
_REFUSALS = 2  # models of a check that may refuse, in the number that is trained for one
_MOST_TRAINED = 5_000  # models of a check, unless somebody asks for more
_LEAST = 1e-9  # of a vote: 0.9 * 20 is 18, not a bit more


@dataclass(frozen=True, eq=False)
class Juror:
    """A model of a jury that decides in a way of its own.

    Attributes
    ----------
    model : object or callable
        Whatever the recourse methods take as a model.
    favourable, threshold
        As the recourse methods take them; what the method was told if left out.
    """

    model: Any
    favourable: Any = ...
    threshold: Any = ...


@dataclass(frozen=True, eq=False, repr=False)
class Jury:
    r"""Models retrained in ways that may happen, whose consent a search asks for.

    With ``jury=`` a recourse method accepts a row in its search if the present model accepts it *and* at least a share
    of the jury does. The present model alone decides what is valid.

    Parameters
    ----------
    models : sequence
        The jurors: models of :func:`robust_recourse.future_models`, last year's model, the challenger; anything that
        the methods take as a model. A :class:`Juror` has a class or a threshold of its own.
    quorum : float
        The least share of them that must accept, in (0, 1].
    margin : float, optional
        The least probability with which a juror votes for a row; None for its decision. With ``rule="mean"`` the least
        mean probability, instead of `quorum`.
    rule : {"quorum", "mean"}
        Whether votes are counted, or the mean of the jurors' probabilities must reach the quorum.
    check : sequence, optional
        Models that take no part in any search. Each recourse is put to them in the end, and gets an exact lower bound
        for the share of such models that accept it, its ``survival_bound``.
    survival : float, optional
        The share that is promised to every single person, who gets the cheapest recourse found that keeps it. Where the
        bound is below, the person is searched for again with a stricter jury; see :ref:`the theorem <survival>`.
    confidence : float
        Probability with which the bound of a person holds, all attempts included.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from robust_recourse import Jury, RobustBayesianRecourse
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = (X.sum(axis=1) + rng.normal(size=300) > 0).astype(int)
    >>> model = LogisticRegression().fit(X, y)
    >>> jury = Jury.retrain(LogisticRegression(), X, y, n_models=20, quorum=0.9, random_state=0)
    >>> alone = RobustBayesianRecourse(model, delta_plus=0.0, random_state=0).fit(X).explain([[-1.0, -0.5]])
    >>> found = RobustBayesianRecourse(model, delta_plus=0.0, jury=jury, random_state=0).fit(X).explain([[-1.0, -0.5]])
    >>> bool(found.jury_share[0] >= 0.9), bool(found.cost[0] > alone.cost[0])
    (True, True)
    """

    models: Sequence[Any]
    quorum: float = 0.9
    margin: float | None = None
    rule: Rule = "quorum"
    check: Sequence[Any] | None = None
    survival: float | None = None
    confidence: float = 0.95

    def __post_init__(self) -> None:
        object.__setattr__(self, "models", listed(self.models, "models"))
        if self.check is not None:
            object.__setattr__(self, "check", listed(self.check, "check"))
            _check_apart(self.models, self.check or ())
        quorum = _check_settings(self.quorum, self.margin, self.rule, self.confidence)
        object.__setattr__(self, "quorum", quorum)
        if self.survival is not None:
            _check_survival(self.survival, self.confidence, None if self.check is None else len(self.check))

    @classmethod
    def retrain(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        scenarios: str | Scenario | Iterable[str | Scenario] = ("bootstrap",),
        n_models: int = 20,
        quorum: float = 0.9,
        *,
        margin: float | None = None,
        rule: Rule = "quorum",
        n_check: int | None = None,
        survival: float | None = None,
        confidence: float = 0.95,
        favourable: Any = None,
        threshold: float | None = None,
        start: int = 0,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        memory: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Retrain a jury, and what checks it if a survival is promised.

        Parameters
        ----------
        estimator, X, y, scenarios, favourable, threshold, start, random_state, n_jobs
            As for :func:`robust_recourse.future_models`.
        n_models : int
            Number of jurors of every scenario.
        quorum, margin, rule, survival, confidence
            As for the class.
        n_check : int, optional
            Number of models of every scenario that check. None for none or, if a survival is promised, for enough to
            prove it when some of them refuse.
        memory : path, optional
            A folder that keeps the models: what was trained before is not trained again.
        """
        # All that a jury refuses is refused before hours of training, not after.
        _check_settings(quorum, margin, rule, confidence)
        chosen = check_scenarios(scenarios)
        n_models = check_integer(n_models, "n_models", minimum=1)
        if n_check is None:
            n_check = 0 if survival is None else ceil(_enough_to_train(survival, confidence) / len(chosen))
        n_check = check_integer(n_check, "n_check", minimum=0)
        if survival is not None:
            _check_survival(survival, confidence, n_check * len(chosen) or None)
        trained = future_models(
            estimator,
            X,
            y,
            chosen,
            n_models=n_models + n_check,
            start=start,
            favourable=favourable,
            threshold=threshold,
            random_state=random_state,
            n_jobs=n_jobs,
            folder=memory,
        )
        jurors, check = trained.split(n_models)
        return cls(jurors, quorum, margin, rule, check if n_check else None, survival, confidence)

    def __len__(self) -> int:
        return len(self.models)

    def __repr__(self) -> str:
        level = f"mean of at least {self.level:g}" if self.rule == "mean" else f"quorum {self.quorum:g}"
        if self.rule == "quorum" and self.margin is not None:
            level += f", each at least {self.margin:g}"
        checked = "" if self.check is None else f", {len(self.check)} check"
        promised = "" if self.survival is None else f" a survival of {self.survival:g}"
        return f"Jury({len(self)} models, {level}{checked}{promised})"

    @property
    def level(self) -> float:
        """The share of votes, or the mean probability, that is asked for."""
        return self.margin if self.rule == "mean" and self.margin is not None else self.quorum

    def asking(self, **settings: Any) -> Self:
        """Return a jury of the same models with other settings."""
        other = replace(self, **settings)
        if NAME in vars(self):
            vars(other)[NAME] = vars(self)[NAME]
        return other

    def votes(self, decides: Mapping[str, Any], order: IntArray | None = None) -> Votes:
        """Return the criterion of the jury.

        Parameters
        ----------
        decides : mapping
            The ``favourable``, ``threshold`` and ``data`` of :class:`robust_recourse.models.predictor.Predictor`.
        order : ndarray of int, optional
            In which jurors are asked.
        """
        return self._counted(self._kind(), self.level, decides, order)

    def votes_of(self, n: int, decides: Mapping[str, Any], order: IntArray | None = None) -> Votes:
        """Return the criterion that at least `n` jurors decide for a row, whatever the rule of the jury."""
        return self._counted(Predictor, n / len(self), decides, order)

    def accepts(self, X: Any, rows: IntArray, decides: Mapping[str, Any]) -> BoolArray:
        """Return which juror decides for which row, of shape (n, k)."""
        accepted: BoolArray = _each(self.models, "jury.models", Predictor, X, rows, decides)
        return accepted

    def survives(self, X: Any, rows: IntArray, decides: Mapping[str, Any]) -> BoolArray:
        """Return which model of the check decides for which row, of shape (n, k)."""
        accepted: BoolArray = _each(self.check or (), "jury.check", Predictor, X, rows, decides)
        return accepted

    def say(self, X: Any, rows: IntArray, decides: Mapping[str, Any]) -> FloatArray:
        """Return the votes of all jurors on all rows, of shape (n, k): probabilities by the rule "mean", or 0 and 1."""
        votes: FloatArray = _each(self.models, "jury.models", self._kind(), X, rows, decides).astype(float)
        return votes

    def probabilities(self, X: Any, rows: IntArray, decides: Mapping[str, Any]) -> FloatArray:
        """Return which probability every juror gives every row, of shape (n, k)."""
        found: FloatArray = _each(self.models, "jury.models", Probabilities, X, rows, decides)
        return found

    @property
    def most_attempts(self) -> int:
        """How many attempts at a promised survival its confidence is split over."""
        return _ATTEMPTS

    def attempts(self) -> tuple[Jury, ...]:
        """Return juries, each stricter than the one before: what is tried to keep a promised survival.

        They are fixed before anything is checked, which the bound rests on.
        """
        if self.rule == "mean":
            levels = (self.level + share * (1.0 - self.level) for share in _MEANS)
            return tuple(self.asking(quorum=level, margin=None) for level in dict.fromkeys(levels))
        quorums = {ceil(quorum * len(self) - _LEAST): quorum for quorum in (1.0, self.quorum)}
        found = [self.asking(quorum=quorum) for quorum in sorted(quorums.values())]
        if all(hasattr(_model_of(model), "predict_proba") for model in self.models):
            level = 0.5 if self.margin is None else self.margin
            margins = (level + share * (1.0 - level) for share in _MARGINS)
            found += [self.asking(quorum=1.0, margin=margin) for margin in margins]
        return tuple(found[:_ATTEMPTS])

    def bounds(self, accepted: BoolArray) -> Any:
        """Return exact lower bounds for shares, from the answers of the check of shape (n, k), for all attempts.

        The confidence is split evenly over the attempts.
        """
        return self.bounds_of(accepted.sum(axis=1))

    def bounds_of(self, accepted: Any, among: int = 1) -> Any:
        """Return the same bounds from the numbers of models of the check that accept.

        Rows that the check itself chooses `among` so many of every attempt share the confidence of one.
        """
        split = 1.0 - (1.0 - self._split_confidence()) / among
        return share_at_least(accepted, len(self.check or ()), split if among > 1 else self._split_confidence())

    def _counted(
        self, kind: Callable[..., Any], level: float, decides: Mapping[str, Any], order: IntArray | None
    ) -> Votes:
        numbers = range(len(self)) if order is None else order.tolist()
        return Votes([_Voter(kind, self.models[k], f"jury.models[{k}]", decides) for k in numbers], level)

    def _split_confidence(self) -> float:
        return self.confidence if self.survival is None else _split(self.confidence)

    def _kind(self) -> Callable[..., Any]:
        """Return what asks a juror for its vote."""
        if self.rule == "mean":
            return Probabilities
        return Predictor if self.margin is None else partial(_with_margin, self.margin)


class _Voter:
    """Asks one of several models; errors name it."""

    def __init__(self, kind: Callable[..., Any], model: Any, name: str, decides: Mapping[str, Any]) -> None:
        own = {}
        if isinstance(model, Juror):
            told = {"favourable": model.favourable, "threshold": model.threshold}
            own = {key: value for key, value in told.items() if value is not ...}
        self._name = name
        with naming(name):
            self._ask = kind(_model_of(model), **{**decides, **own})

    def __call__(self, X: Any, rows: IntArray) -> Any:
        with naming(self._name):
            return self._ask(X, rows)


def _each(
    models: Sequence[Any], name: str, kind: Callable[..., Any], X: Any, rows: IntArray, decides: Mapping[str, Any]
) -> Any:
    """Ask all models about all rows; of shape (n, k)."""
    answers = [_Voter(kind, model, f"{name}[{k}]", decides)(X, rows) for k, model in enumerate(models)]
    return np.column_stack(answers)


def _with_margin(margin: float, model: Any, **decides: Any) -> Margin:
    return Margin(model, margin, **decides)


def _model_of(juror: Any) -> Any:
    return juror.model if isinstance(juror, Juror) else juror


def _check_apart(models: Sequence[Any], check: Sequence[Any]) -> None:
    places = {id(_model_of(model)): k for k, model in enumerate(models)}
    for k, model in enumerate(check):
        if id(_model_of(model)) in places:
            raise ValueError(
                f"check[{k}] is models[{places[id(_model_of(model))]}]: a model that took part in the search may not "
                "testify. Train others, with future_models(..., start=) or Jury.retrain(..., n_check=)."
            )
    witnesses: dict[int, int] = {}
    for k, model in enumerate(check):
        first = witnesses.setdefault(id(_model_of(model)), k)
        if first != k:
            raise ValueError(f"check[{k}] is check[{first}]: a model testifies once, or the bound would be false.")


def _check_settings(quorum: float, margin: float | None, rule: str, confidence: float) -> float:
    """Raise for what no jury can ask for; return the quorum as a float."""
    quorum = check_real(quorum, "quorum", minimum=0.0, strict=True, maximum=1.0)
    check_choice(rule, "rule", _RULES)
    if margin is not None:
        check_level(margin, "margin")
    check_level(confidence, "confidence")
    return quorum


def _check_survival(survival: float, confidence: float, n: int | None) -> None:
    """Raise if a check of `n` models, None for none, cannot prove a survival."""
    survival = check_level(survival, "survival")
    if n is None:
        raise ValueError(
            "survival needs check=: models that take no part in the search. Those of the jury cannot testify: the "
            "recourse was chosen so that they accept."
        )
    if share_at_least(n, n, _split(confidence)) < survival:
        least = _enough(survival, confidence, 0)
        raise ValueError(
            f"check has {n} models, with which a survival of {survival:g} cannot be proved at a confidence of "
            f"{confidence:g} even if all accept. It takes at least {least}."
        )


def _split(confidence: float) -> float:
    """Return the confidence of a single attempt."""
    return 1.0 - (1.0 - confidence) / _ATTEMPTS


def _enough_to_train(survival: float, confidence: float) -> int:
    """Return how many models to train for a check, unless it is a number that nobody expects."""
    n = _enough(check_level(survival, "survival"), check_level(confidence, "confidence"))
    if n > _MOST_TRAINED:
        raise ValueError(
            f"A survival of {survival:g} takes a check of more than {_MOST_TRAINED} models at a confidence of "
            f"{confidence:g}. Promise less, or say with n_check= that so many shall be trained."
        )
    return n


def _enough(survival: float, confidence: float, refusals: int = _REFUSALS) -> int:
    """Return how many models can prove a survival when some of them refuse."""
    level, n = _split(confidence), refusals + 1
    while n <= _MOST_TRAINED and share_at_least(n - refusals, n, level) < survival:
        n += 1
    return n
