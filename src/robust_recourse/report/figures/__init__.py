"""Figures of one recourse (the way to it, the worst case behind it, the odds around it) and of a comparison of methods.

Others show what retrained models say to recourses, what that promise costs, and what recourses are like
for groups of people; and what became of the promises of a ledger.

In the figures of a recourse blue is refused, green is accepted, red is the recourse, black the boundary point; in those
of a comparison every method has its own colour and marker. Every function returns a :class:`matplotlib.figure.Figure`
of its own: nothing is opened and no state is kept, so ``figure.savefig("recourse.png")`` is all there is to do.
"""

from robust_recourse.report.figures._adversary import worst_case
from robust_recourse.report.figures._future import draw_audit, draw_future_validity
from robust_recourse.report.figures._jury import draw_jury, draw_survival
from robust_recourse.report.figures._methods import MethodStyle
from robust_recourse.report.figures._odds import level_sets
from robust_recourse.report.figures._pareto import pareto
from robust_recourse.report.figures._timeline import draw_timeline
from robust_recourse.report.figures._tuning import draw_tuning
from robust_recourse.report.figures._way import illustration

__all__ = [
    "MethodStyle",
    "draw_audit",
    "draw_future_validity",
    "draw_jury",
    "draw_survival",
    "draw_timeline",
    "draw_tuning",
    "illustration",
    "level_sets",
    "pareto",
    "worst_case",
]
