"""What a person may change: action sets, their rules, and what breaks them."""

from robust_recourse.actions.action_set import ActionSet
from robust_recourse.actions.checking import Violation
from robust_recourse.actions.narrowing import NarrowingError, narrow
from robust_recourse.actions.rules import Rule

__all__ = ["ActionSet", "NarrowingError", "Rule", "Violation", "narrow"]
