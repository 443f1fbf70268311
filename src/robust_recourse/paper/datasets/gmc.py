"""Give Me Some Credit: serious delinquency within two years, split at random into present and shifted data.

Source: ``cs-training.csv`` of the Kaggle competition of 2011, which may not be redistributed. The row numbers are left
out.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from robust_recourse._validation import check_choice, check_seed
from robust_recourse.actions import ActionSet
from robust_recourse.paper.datasets.base import Dataset, Kind
from robust_recourse.paper.datasets.files import Found, read
from robust_recourse.paper.datasets.parsing import numbers, read_text
from robust_recourse.paper.datasets.sources import SOURCES

__all__ = ["load_gmc"]

LABEL = "SeriousDlqin2yrs"
PAST_DUE = (
    "NumberOfTime30-59DaysPastDueNotWorse",
    "NumberOfTime60-89DaysPastDueNotWorse",
    "NumberOfTimes90DaysLate",
)
CODES = (96, 98)

KINDS: dict[str, Kind] = {
    "RevolvingUtilizationOfUnsecuredLines": "continuous",
    "age": "integer",
    "NumberOfTime30-59DaysPastDueNotWorse": "integer",
    "DebtRatio": "continuous",
    "MonthlyIncome": "continuous",
    "NumberOfOpenCreditLinesAndLoans": "integer",
    "NumberOfTimes90DaysLate": "integer",
    "NumberRealEstateLoansOrLines": "integer",
    "NumberOfTime60-89DaysPastDueNotWorse": "integer",
    "NumberOfDependents": "integer",
}
INCOMPLETE = ("MonthlyIncome", "NumberOfDependents")
WHOLE = (LABEL, *(column for column, kind in KINDS.items() if kind == "integer"))

_NOTES = """\
The label is 1 for a serious delinquency, so that 0 is favourable; 93 % of the rows are.
MonthlyIncome (29,731 of 150,000 rows) and NumberOfDependents (3,924) are missing in places and replaced by the \
median of D1, in D2 as well: the shifted data are not seen beforehand. Where the income was missing, DebtRatio is not \
a ratio but an amount of money (its median is 1159, elsewhere 0.30).
96 and 98 in the three past-due counts (269 rows, always in all three) are codes, not counts; 55 % of these people \
were delinquent. They are kept by default, as in the paper; codes="missing" replaces them by the median, which is 0 \
and makes these people look as if they had never been late.
The split is random: D1 and D2 follow the same distribution, there is no shift but that of the sample. 609 rows are \
exact copies of others; they are kept and count as cases of their own. One age is 0. Utilisation goes up to 50,708 \
although it is a share: standardised columns are dominated by a few rows."""

_CITATION = (
    "Kaggle (2011). Give Me Some Credit: improve on the state of the art in credit scoring. "
    "https://www.kaggle.com/competitions/GiveMeSomeCredit"
)


def load_gmc(
    *,
    codes: Literal["keep", "missing"] = "keep",
    random_state: int | np.random.Generator | np.random.RandomState | None = 0,
    check_hash: bool = True,
) -> Dataset:
    """Load Give Me Some Credit, shuffled and cut into two equal parts.

    Parameters
    ----------
    codes : {"keep", "missing"}
        Whether the codes 96 and 98 in the past-due counts stay as they are, as in the paper, or count as missing.
    random_state : int, Generator, RandomState or None
        Seed of the split.
    check_hash : bool
        Whether the file must be the published one.
    """
    check_choice(codes, "codes", ("keep", "missing"))
    (source,) = SOURCES["gmc"]
    file = read(source, check_hash=check_hash)
    table = _read(file)
    if codes == "missing":
        counts = list(PAST_DUE)
        table[counts] = table[counts].mask(table[counts].isin(CODES))
    order = np.random.default_rng(check_seed(random_state)).permutation(len(table))
    halves = np.array_split(order, 2)
    D1, D2 = (table.iloc[rows].reset_index(drop=True) for rows in halves)
    medians = D1.drop(columns=LABEL).median()
    return Dataset(
        name="gmc",
        title="Give Me Some Credit",
        D1=_complete(D1, medians),
        D2=_complete(D2, medians),
        label=LABEL,
        favourable=0,
        kinds=KINDS,
        actions=_actions(),
        citation=_CITATION,
        licence="rules of the competition: no redistribution",
        notes=_NOTES,
        hashes={file.name: file.sha256},
        shared=np.full(len(D2), -1),
    )


def _read(file: Found) -> pd.DataFrame:
    text = read_text(file, [*KINDS, LABEL], separator=",")
    columns = {}
    for column in text:
        missing = ("NA", "") if column in INCOMPLETE else ()
        columns[column] = numbers(text[column], file, whole=column in WHOLE, missing=missing)
    return pd.DataFrame(columns)


def _complete(part: pd.DataFrame, medians: pd.Series) -> pd.DataFrame:
    # The median of an even number of counts can lie between two of them.
    return part.fillna(medians).astype(dict.fromkeys(WHOLE, np.int64))


def _actions() -> ActionSet:
    # Nobody chooses their age or dependants, and how often one was late is past. Debts can be paid down and income can
    # rise; nobody should be told to owe more or earn less. Lines can be opened and closed; the bounds on their number
    # are the range of the file, beyond which no model has seen a person.
    return ActionSet(
        immutable=["age", "NumberOfDependents", *PAST_DUE],
        increase=["MonthlyIncome"],
        decrease=["RevolvingUtilizationOfUnsecuredLines", "DebtRatio"],
        bounds={
            "RevolvingUtilizationOfUnsecuredLines": (0, None),
            "DebtRatio": (0, None),
            "NumberOfOpenCreditLinesAndLoans": (0, 58),
            "NumberRealEstateLoansOrLines": (0, 54),
        },
    )
