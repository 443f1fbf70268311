"""Rules that nobody can keep together: told before a search, which would be in vain."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from robust_recourse._quiet import quiet_solver
from robust_recourse._typing import BoolArray, FloatArray
from robust_recourse.actions.moves import Moves
from robust_recourse.actions.rules import Rule

__all__ = ["contradiction"]

_INFEASIBLE = 2


def contradiction(moves: Moves, own: FloatArray, missing: BoolArray, movable: BoolArray) -> str:
    """Return the rules that no row within the bounds of a person keeps; empty if there may be one.

    The grids of the columns are left out of it, so that what is found is proven: a linear program has no solution.

    Parameters
    ----------
    moves : Moves
        The action set.
    own : ndarray of shape (p,)
        The person, in the units of the table.
    missing, movable : ndarray of bool, shape (p,)
        Cells that are empty, and those that may change.
    """
    if moves.followers:
        return ""  # what follows from a change may keep a rule
    names = moves.rule_names
    rules = [rule for rule in moves.rules if isinstance(rule, Rule)]
    rules = [rule for rule in rules if not any(missing[names.index(name)] for name in rule.columns)]
    if not rules:
        return ""
    terms = np.zeros((len(rules), len(own)))
    for row, rule in zip(terms, rules, strict=True):
        for name, factor in rule.terms.items():
            row[names.index(name)] = factor
    low, high = moves.range()
    # Who is out of the bounds may stay there.
    lower = np.where(movable & moves.falls, np.minimum(low, own), own)
    upper = np.where(movable & moves.rises, np.maximum(high, own), own)
    used = np.flatnonzero(terms.any(axis=0))
    with quiet_solver():
        program = linprog(
            np.zeros(len(used)),
            A_ub=terms[:, used],
            b_ub=[rule.bound for rule in rules],
            bounds=list(zip(lower[used].tolist(), upper[used].tolist(), strict=True)),
        )
    return ", ".join(repr(rule.text) for rule in rules) if program.status == _INFEASIBLE else ""
