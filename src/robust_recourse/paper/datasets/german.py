"""German credit: the Statlog file (present) and its correction, the South German file (shifted).

Sources: Statlog (German Credit Data), UCI 144, and South German Credit (UPDATE), UCI 573, both CC BY 4.0.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Literal

import numpy as np
import pandas as pd

from robust_recourse._validation import check_choice
from robust_recourse.actions import ActionSet
from robust_recourse.paper.datasets.base import Dataset, Kind
from robust_recourse.paper.datasets.files import Found, read
from robust_recourse.paper.datasets.german_codes import ATTRIBUTES, LABEL, Attribute
from robust_recourse.paper.datasets.matching import match_rows
from robust_recourse.paper.datasets.parsing import categories, numbers, read_text
from robust_recourse.paper.datasets.sources import SOURCES

__all__ = ["load_german"]

PAPER = ("duration", "amount", "personal_status_sex", "age")

_NOTES = """\
D1 and D2 are the same 1000 loans in another order: D2 corrects what the codes of D1 mean. `shared` says which row is \
which; a model that learns from D2 must leave out the loans that are being explained. Ten loans differ in their \
amount or their age, 53 in any of the entries (mostly other_installment_plans and foreign_worker), none in more than \
two.
Categories are coded by meaning, each file by its own code book. In personal_status_sex the codes of the two files \
are the same loan by loan, so that coded by code there would be no shift: 'male: single' in D1 is 'male: \
married/widowed' in D2, 'male: married/widowed' in D1 is 'female: single' in D2, and 'female: \
divorced/separated/married' in D1 is 'female: non-single or male: single' in D2, which cannot be told apart and is a \
category of its own.
The amount is in DM after a monotonic transformation that was not disclosed.
installment_rate, present_residence, number_credits and people_liable are numbers in the code book of D1 and classes \
in that of D2 (with columns="all"). What both share is the order, so that these columns hold the rank of the class, 1 \
for the smallest quantity. For D2 the ranks stand for a rate of < 20, 20 to 25, 25 to 35, >= 35 %; for < 1, 1 to 4, 4 \
to 7, >= 7 years; for 1, 2 to 3, 4 to 5, >= 6 credits; for 0 to 2, >= 3 people. The ranks of installment_rate are \
turned round between D1 and D2: that is part of the correction."""

_CITATION = (
    "H. Hofmann (1994). Statlog (German Credit Data). UCI Machine Learning Repository, doi:10.24432/C5NC77. "
    "U. Grömping (2019). South German Credit Data: Correcting a Widely Used Data Set. Report 4/2019, Reports in "
    "Mathematics, Physics and Chemistry, Department II, Beuth University of Applied Sciences Berlin; UCI 573."
)


def load_german(*, columns: Literal["paper", "all"] = "paper", check_hash: bool = True) -> Dataset:
    """Load German credit: good and bad loans, before and after the correction of their code book.

    Parameters
    ----------
    columns : {"paper", "all"}
        The four features of the paper (duration, amount, personal_status_sex, age), or all twenty.
    check_hash : bool
        Whether the files must be the published ones.
    """
    check_choice(columns, "columns", ("paper", "all"))
    statlog, south = (read(source, check_hash=check_hash) for source in SOURCES["german"])
    both = (*ATTRIBUTES, LABEL)
    codes_1 = read_text(statlog, [attribute.name for attribute in both], separator=" ", header=False)
    codes_2 = read_text(south, [attribute.german for attribute in both], separator=" ")
    codes_2.columns = codes_1.columns
    chosen = [attribute for attribute in ATTRIBUTES if columns == "all" or attribute.name in PAPER]
    return Dataset(
        name="german",
        title="German Credit",
        D1=pd.DataFrame({a.name: _decode(codes_1, a, statlog, corrected=False) for a in (*chosen, LABEL)}),
        D2=pd.DataFrame({a.name: _decode(codes_2, a, south, corrected=True) for a in (*chosen, LABEL)}),
        label=LABEL.name,
        favourable="good",
        kinds={attribute.name: _kind(attribute) for attribute in chosen},
        actions=_actions(all_columns=columns == "all"),
        citation=_CITATION,
        licence="CC BY 4.0 (both files)",
        notes=_NOTES,
        hashes={file.name: file.sha256 for file in (statlog, south)},
        shared=match_rows(_recode(codes_1), codes_2),
    )


def _kind(attribute: Attribute) -> Kind:
    if attribute.meanings:
        return "category"
    return "continuous" if attribute.name == "amount" else "integer"


def _decode(codes: pd.DataFrame, attribute: Attribute, file: Found, *, corrected: bool) -> pd.Series:
    column = codes[attribute.name]
    if attribute is LABEL:
        return categories(column, LABEL.south if corrected else LABEL.statlog, file)
    if attribute.meanings:
        text = categories(column, attribute.south if corrected else attribute.statlog, file)
        return text.astype(pd.CategoricalDtype(attribute.meanings))
    if attribute.ranks:
        # Every code must be a known one also where Statlog's number is the rank already.
        ranks = attribute.ranks if corrected else {code: code for code in attribute.ranks}
        column = categories(column, ranks, file)
    if _kind(attribute) == "continuous":
        return numbers(column, file)
    return numbers(column, file, whole=True).astype(np.int64)


def _recode(codes: pd.DataFrame) -> pd.DataFrame:
    """Write the codes of Statlog as the South German file has them, whatever they mean."""
    recoded = {}
    for position, attribute in enumerate((*ATTRIBUTES, LABEL), start=1):
        column = codes[attribute.name]
        recoded[attribute.name] = (
            column.replace(dict(attribute.recoded)) if attribute.recoded else column.str.removeprefix(f"A{position}")
        )
    return pd.DataFrame(recoded)


def _actions(*, all_columns: bool) -> ActionSet:
    # Duration and amount are what an applicant asks for; their bounds are the range of the file, beyond which no
    # model has seen a loan. Nobody chooses age, sex or marital status.
    immutable = ["age", "personal_status_sex"]
    bounds: dict[Hashable, tuple[float | None, float | None]] = {"duration": (4, 72), "amount": (250, 18424)}
    if not all_columns:
        return ActionSet(immutable=immutable, bounds=bounds)
    # The past (how earlier credits, the present home and the present job went), origin, dependants, qualification and
    # what the money is for are given; property and housing cost more than the loan brings. What is left are the
    # accounts, a guarantor, other instalment plans, a telephone, and the terms of the loan.
    immutable += ["credit_history", "present_residence", "employment_duration", "foreign_worker", "people_liable"]
    immutable += ["job", "purpose", "property", "housing"]
    # Credits at this bank can be paid off, but a new one is what is being refused.
    return ActionSet(
        immutable=immutable,
        decrease=["number_credits"],
        bounds={**bounds, "installment_rate": (1, 4), "number_credits": (1, 4)},
    )
