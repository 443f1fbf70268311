"""Loans to small businesses that the U.S. Small Business Administration guaranteed: before 2006 and since.

Source: supplement of Li, Mickel and Taylor (2018), the case of California, real estate and rental. Of its 35 columns
the paper's twelve features are kept; names, places and banks are left out.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from robust_recourse._validation import check_choice, check_flag
from robust_recourse.actions import ActionSet
from robust_recourse.paper.datasets.base import Dataset, Kind
from robust_recourse.paper.datasets.files import Found, read
from robust_recourse.paper.datasets.parsing import categories, numbers, read_text
from robust_recourse.paper.datasets.sources import SOURCES

__all__ = ["load_sba"]

LABEL, YEAR, LEAK = "MIS_Status", "ApprovalFY", "ChgOffPrinGr"
FIRST_LATE_YEAR = 2006

KINDS: dict[str, Kind] = {
    "Term": "integer",
    "NoEmp": "integer",
    "CreateJob": "integer",
    "RetainedJob": "integer",
    "UrbanRural": "category",
    "ChgOffPrinGr": "continuous",
    "GrAppv": "continuous",
    "SBA_Appv": "continuous",
    "New": "binary",
    "RealEstate": "binary",
    "Portion": "continuous",
    "Recession": "binary",
}
# In the order of their codes, so that `.cat.codes` gives the numbers of the file.
URBAN_RURAL = {"0": "undefined", "1": "urban", "2": "rural"}
OUTCOMES = {"P I F": "P I F", "CHGOFF": "CHGOFF"}

_NOTES = """\
ChgOffPrinGr, the amount that was charged off, is known only after a loan has failed: it is positive in nearly all \
failed loans and in nearly no other, and gives the label away in 99.5 % of the rows. The paper uses it, so that it is \
here by default; leak=False leaves it out. It is immutable in the action set, as nobody can act on it.
Loans approved up to the fiscal year 2005 are D1 (1159 rows, 84 % repaid), those since 2006 are D2 (943 rows, 47 % \
repaid). The paper's text has 2006 in both; its published code has the late years as the present data: \
present="late".
RealEstate is 1 exactly where Term is at least 240 months, and SBA_Appv is Portion times GrAppv. An action set of \
bounds cannot express either: check a recourse that changes one of them.
UrbanRural is a category; for 232 of the early loans and one of the late ones it is 'undefined'. Three late loans \
have a Term of 0."""

_CITATION = (
    "M. Li, A. Mickel and S. Taylor (2018). “Should This Loan be Approved or Denied?”: A Large Dataset with Class "
    "Assignment Guidelines. Journal of Statistics Education 26(1), 55-66, doi:10.1080/10691898.2018.1434342."
)


def load_sba(*, leak: bool = True, present: Literal["early", "late"] = "early", check_hash: bool = True) -> Dataset:
    """Load the small business loans: repaid in full (P I F) or charged off (CHGOFF), before and after 2006.

    Parameters
    ----------
    leak : bool
        Whether to keep ``ChgOffPrinGr``, which gives the label away, as the paper does.
    present : {"early", "late"}
        Which loans are the present data: those approved up to 2005, or, as in the published code, those since.
    check_hash : bool
        Whether the file must be the published one.
    """
    check_choice(present, "present", ("early", "late"))
    (source,) = SOURCES["sba"]
    file = read(source, check_hash=check_hash)
    check_flag(leak, "leak")
    kinds = {column: kind for column, kind in KINDS.items() if leak or column != LEAK}
    text = read_text(file, [*kinds, LABEL, YEAR], separator=",")
    table = pd.DataFrame({column: _decode(text[column], kind, file) for column, kind in kinds.items()})
    table[LABEL] = categories(text[LABEL], OUTCOMES, file)
    late = numbers(text[YEAR], file) >= FIRST_LATE_YEAR
    early_part, late_part = (table[rows].reset_index(drop=True) for rows in (~late, late))
    D1, D2 = (early_part, late_part) if present == "early" else (late_part, early_part)
    return Dataset(
        name="sba",
        title="Small Business Administration",
        D1=D1,
        D2=D2,
        label=LABEL,
        favourable="P I F",
        kinds=kinds,
        actions=_actions(kinds),
        citation=_CITATION,
        licence="none stated (public record of the U.S. government, published with an open-access article)",
        notes=_NOTES,
        hashes={file.name: file.sha256},
        shared=np.full(len(D2), -1),
    )


def _decode(text: pd.Series, kind: Kind, file: Found) -> pd.Series:
    if kind == "category":
        return categories(text, URBAN_RURAL, file).astype(pd.CategoricalDtype(list(URBAN_RURAL.values())))
    if kind == "continuous":
        return numbers(text, file)
    return numbers(text, file, whole=True).astype(np.int64)


def _actions(columns: dict[str, Kind]) -> ActionSet:
    # Where the business is, how old it is, what the loan finances and the state of the economy are given; what was
    # charged off lies in the future. What is left is the plan: the loan that is asked for, how much of it is
    # guaranteed, and the staff. Bounds are the range of the file, beyond which no model has seen a loan.
    immutable = ["UrbanRural", LEAK, "New", "RealEstate", "Recession"]
    return ActionSet(
        immutable=[column for column in immutable if column in columns],
        bounds={
            "Term": (0, 306),
            "NoEmp": (0, 650),
            "CreateJob": (0, 130),
            "RetainedJob": (0, 535),
            "GrAppv": (4500, 2_350_000),
            "SBA_Appv": (2250, 2_115_000),
            "Portion": (0, 1),
        },
    )
