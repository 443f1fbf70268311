"""What happens to a refused person, once, for all methods."""

from robust_recourse.result.answer import Answer
from robust_recourse.search.method import Method
from robust_recourse.search.task import Task
from robust_recourse.search.verify import Outcome, verify_points

__all__ = ["Answer", "Method", "Outcome", "Task", "verify_points"]
