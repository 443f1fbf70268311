"""The choice of a configuration, and its checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from robust_recourse._progress import track
from robust_recourse._typing import IntArray
from robust_recourse.futures import FutureModels
from robust_recourse.tuning._families import FAMILIES, Basis, Family
from robust_recourse.tuning._halving import Dial, halve, planned
from robust_recourse.tuning._study import Measured, Study

__all__ = ["BATCHES", "Search"]

_MARGIN = 1.0  # standard errors by which a configuration must exceed the target before it is checked
_CHECKS = 3  # configurations that are checked, at most
BATCHES = _CHECKS + 2
"""How many batches of models a search takes at most: one to choose with, one for each check, one for the last word."""
_RETRIES = 2  # stronger configurations that are tried after each check that fails


class Search:
    """The choice of a configuration, and its checks.

    Parameters
    ----------
    study : Study
        Measures.
    basis : Basis
        What configurations are relative to.
    halves : pair of ndarray of int
        People to choose with, and others to check with.
    models : callable
        Returns the models of a number: 0 to choose with, and others for every check.
    target : float
        Future validity to reach.
    """

    def __init__(
        self,
        study: Study,
        basis: Basis,
        halves: tuple[IntArray, IntArray],
        models: Callable[[int], FutureModels],
        target: float,
    ) -> None:
        self._study, self._basis, self._models, self._target = study, basis, models, target
        self._people, self._others = halves
        self._first = models(0)
        self.dials: list[Dial] = []

    def choose(self) -> None:
        """Look over the families; what is found is in `dials`, those of all people at the end."""
        known = FAMILIES if self._basis.robust else map(_nominal, FAMILIES)
        families = tuple(dict.fromkeys(family for family in known if family.fits(self._basis)))
        steps = halve(self._study, families, self._basis, self._people, self._first, self._target, _MARGIN)
        for dials in track(steps, "tuning", planned(len(families))):
            self.dials = dials

    def check(self) -> list[Measured]:
        """Measure the choice on the other people and new models, and stronger ones as long as that falls short.

        What counts is the last measurement. After several checks it is another one of the best: the best of several
        numbers is too good a number.
        """
        n = len(self._people)
        last = [dial for dial in self.dials if any(len(found.costs) == n for found in dial.tried.values())]
        checks: list[Measured] = []
        while len(checks) < _CHECKS:
            choice = _choice(last, [known.parameters for known in checks])
            if choice is None:
                break
            checks.append(self._check(choice.parameters, len(checks) + 1))
            lacking = self._target - checks[-1].validity
            if lacking <= 0.0 or len(checks) == _CHECKS:
                break
            for dial in last:
                # What falls short here must no longer be good enough there; a narrow escape would not last.
                short = lacking + dial.margin * checks[-1].error
                dial.target = max(dial.target, choice.validity - dial.margin * choice.error) + short
            self._strengthen(last)
        if len(checks) > 1:
            best = max(checks, key=lambda found: (found.validity, -found.cost))
            checks.append(self._check(best.parameters, len(checks) + 1))
        return checks

    def _check(self, parameters: Mapping[str, Any], number: int) -> Measured:
        (found,) = self._study.measure([parameters], self._others, self._models(number), f"check {number}")
        return found

    def _strengthen(self, dials: list[Dial]) -> None:
        for dial in [dial for _ in range(_RETRIES) for dial in dials]:
            strength = dial.next()
            if strength is not None:
                parameters = dial.family.parameters(strength, self._basis)
                (dial.tried[strength],) = self._study.measure([parameters], self._people, self._first, "choose")


def _choice(dials: list[Dial], known: list[Mapping[str, Any]]) -> Measured | None:
    """Return the cheapest configuration that is good enough; if none is, the one with the highest validity.

    Those that are `known` to fall short are left out; None if no other is left. Of several with the same validity, the
    cheapest is returned that costs more than these.
    """
    every = [(dial.reaches(found), found) for dial in dials for found in dial.tried.values()]
    left = [(good, found) for good, found in every if found.parameters not in known]
    good = [found for good, found in left if good]
    if good:
        return min(good, key=lambda found: found.cost)
    dearest = max((found.cost for _, found in every if found.parameters in known), default=-np.inf)
    highest = max((found.validity for _, found in left), default=0.0)
    best = [found for _, found in left if found.validity == highest]
    return min(best, key=lambda found: (found.cost <= dearest, found.cost), default=None)


def _nominal(family: Family) -> Family:
    return replace(family, epsilon=0.0)
