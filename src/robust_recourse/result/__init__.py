"""What `explain` returns: frozen, with a status and a reason for every row."""

from robust_recourse.result.future import FutureValidity
from robust_recourse.result.recourse import Recourse, Status
from robust_recourse.result.recourses import Recourses

__all__ = ["FutureValidity", "Recourse", "Recourses", "Status"]
