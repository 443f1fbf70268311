"""What the search asks of a method: the contract that a new one fulfils."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from robust_recourse._typing import FloatArray, IntArray
from robust_recourse.actions.moves import Moves
from robust_recourse.futures import Jury
from robust_recourse.math.limits import Limits
from robust_recourse.result.answer import Answer
from robust_recourse.sampling.boundary import Look
from robust_recourse.search.task import Task
from robust_recourse.tables import Schema

__all__ = ["Method", "score_unit"]


class Method(Protocol):
    """A fitted method of recourse.

    :class:`robust_recourse.methods.RecourseMethod` has all of it but :meth:`solve`.

    Attributes
    ----------
    model, favourable, threshold
        The present model, and what it must answer.
    margin, jury, jury_order_
        What a search asks for beyond that, and the order in which jurors are asked.
    n_jobs : int or None
        Number of processes.
    schema_, moves_, limits_, candidates_, seed_
        What `fit` learnt: the columns, what may change in them, the same in units of cost, accepted training rows, the
        seed.
    switches : bool
        Whether the method switches categories itself. Otherwise they are switched before, to those of the cheapest
        boundary point, and it moves the numbers.
    needs_boundary : bool
        Whether it starts at boundary points.
    goes_beyond : bool
        Whether it also moves people for whom a switch of categories is enough.
    counts_votes : bool
        Whether it asks its jury itself, in `solve`. The criterion of the search is then without the jury.
    n_compared : int
        Of how many recourses the first is the cheapest where a survival is promised, also for whoever wants one only.
    promises : bool
        Whether a recourse has to keep more than the model's consent.
    sureness : float or None
        The least score, beyond what the criterion asks for, of which it wants the cheapest rows of a table, too.
    """

    model: Any
    favourable: Any
    threshold: float | None
    margin: float | None
    jury: Jury | None
    jury_order_: IntArray | None
    n_jobs: int | None
    schema_: Schema
    moves_: Moves
    limits_: Limits
    candidates_: FloatArray
    seed_: int

    switches: ClassVar[bool]
    goes_beyond: ClassVar[bool]
    counts_votes: ClassVar[bool]
    n_compared: ClassVar[int]

    @property
    def needs_boundary(self) -> bool:
        """Whether it starts at boundary points."""
        ...

    @property
    def promises(self) -> bool:
        """Whether a recourse has to keep more than the model's consent."""
        ...

    @property
    def sureness(self) -> float | None:
        """The least score, beyond what the criterion asks for, of which it wants the cheapest rows of a table, too."""
        ...

    def asking(self, margin: float | None, jury: Jury | None) -> Method:
        """Return the same method with another criterion; without any, its candidates are all accepted rows."""
        ...

    def without_default_budget(self) -> Method:
        """Return the same method without a default budget beyond the cheapest row; itself if it has none."""
        ...

    def look(self) -> Look:
        """How to look for boundary points."""
        ...

    def people_at_once(self, width: int) -> int:
        """How many people fit in memory together, with so many columns."""
        ...

    def solve(self, task: Task) -> list[Answer]:
        """Find a recourse for every person of a task, or say why there is none."""
        ...


def score_unit(method: Method) -> float:
    """Return what a method counts the model's own scores in; 1 if it was saved before that was learnt."""
    unit: float = getattr(method, "score_unit_", 1.0)
    return unit
