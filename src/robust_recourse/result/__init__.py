"""What `explain` returns: values, with a status and a reason for every row."""

from robust_recourse.result.answer import Answer
from robust_recourse.result.future import FutureValidity
from robust_recourse.result.provenance import Provenance
from robust_recourse.result.recourse import Recourse
from robust_recourse.result.recourses import Recourses
from robust_recourse.result.status import Status
from robust_recourse.result.trace import Trace

__all__ = ["Answer", "FutureValidity", "Provenance", "Recourse", "Recourses", "Status", "Trace"]
