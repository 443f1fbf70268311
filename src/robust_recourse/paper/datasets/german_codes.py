"""The two code books of the German credit data, side by side, in one wording for one meaning.

The Statlog file and the South German file hold the same loans; what the codes mean was corrected in the second
(Grömping 2019). A column is decoded by the code book of its own file, so that equal text means equal meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["ATTRIBUTES", "LABEL", "Attribute"]


@dataclass(frozen=True)
class Attribute:
    """A column of both files.

    Attributes
    ----------
    name, german : str
        Name in English, and in the header of the South German file.
    statlog, south : mapping from code to meaning
        Code books of a category; empty for numbers.
    ranks : mapping from code to code
        For the four numbers of Statlog that are coded classes in the South German file: the class's rank, the smallest
        quantity first.
    recoded : mapping from code to code
        From the code in Statlog to the code of the same entry in the South German file, where that is not the digits
        of the code.
    """

    name: str
    german: str
    statlog: Mapping[str, str] = field(default_factory=dict)
    south: Mapping[str, str] = field(default_factory=dict)
    ranks: Mapping[str, str] = field(default_factory=dict)
    recoded: Mapping[str, str] = field(default_factory=dict)

    @property
    def meanings(self) -> list[str]:
        """All meanings that one of the code books has, those of Statlog first."""
        return list(dict.fromkeys([*self.statlog.values(), *self.south.values()]))


def _codes(prefix: str, *meanings: str, start: int = 1) -> dict[str, str]:
    return {f"{prefix}{start + k}": meaning for k, meaning in enumerate(meanings)}


_UNSKILLED = "unemployed/unskilled - non-resident"
_MANAGER = "manager/self-employed/highly qualified employee"
_PAID_HERE, _PAID_SO_FAR = "all credits at this bank paid back duly", "existing credits paid back duly till now"
_DELAY, _CRITICAL = "delay in paying off in the past", "critical account/other credits elsewhere"
_NO_CREDITS = "no credits taken/all credits paid back duly"
_FULL_ACCOUNT = ">= 200 DM / salary for at least 1 year"
_PURPOSES = ("car (new)", "car (used)", "furniture/equipment", "radio/television", "domestic appliances")
_PURPOSES_TOO = ("repairs", "education", "vacation", "retraining", "business")
_EMPLOYMENT = ("unemployed", "< 1 yr", "1 <= ... < 4 yrs", "4 <= ... < 7 yrs", ">= 7 yrs")
_SAVINGS = ("< 100 DM", "100 <= ... < 500 DM", "500 <= ... < 1000 DM", ">= 1000 DM")
_DEBTORS, _PLANS = ("none", "co-applicant", "guarantor"), ("bank", "stores", "none")
_JOBS = (_UNSKILLED, "unskilled - resident", "skilled employee/official", _MANAGER)
_PROPERTY = ("real estate", "building society savings/life insurance", "car or other", "unknown/no property")

ATTRIBUTES = (
    Attribute(
        "status",
        "laufkont",
        _codes("A1", "< 0 DM", "0 <= ... < 200 DM", _FULL_ACCOUNT, "no checking account"),
        _codes("", "no checking account", "< 0 DM", "0 <= ... < 200 DM", _FULL_ACCOUNT),
    ),
    Attribute("duration", "laufzeit"),
    Attribute(
        "credit_history",
        "moral",
        _codes("A3", _NO_CREDITS, _PAID_HERE, _PAID_SO_FAR, _DELAY, _CRITICAL, start=0),
        _codes("", _DELAY, _CRITICAL, _NO_CREDITS, _PAID_SO_FAR, _PAID_HERE, start=0),
    ),
    Attribute(
        "purpose",
        "verw",
        _codes("A4", *_PURPOSES, *_PURPOSES_TOO, "others", start=0),
        _codes("", "others", *_PURPOSES, *_PURPOSES_TOO, start=0),
    ),
    Attribute("amount", "hoehe"),
    Attribute(
        "savings",
        "sparkont",
        _codes("A6", *_SAVINGS, "unknown/no savings account"),
        _codes("", "unknown/no savings account", *_SAVINGS),
    ),
    Attribute("employment_duration", "beszeit", _codes("A7", *_EMPLOYMENT), _codes("", *_EMPLOYMENT)),
    # South German: 1 is 35 % and more, 4 is below 20 %. Statlog reads the code as a percentage.
    Attribute("installment_rate", "rate", ranks={"1": "4", "2": "3", "3": "2", "4": "1"}),
    Attribute(
        "personal_status_sex",
        "famges",
        _codes(
            "A9",
            "male: divorced/separated",
            "female: divorced/separated/married",
            "male: single",
            "male: married/widowed",
            "female: single",
        ),
        _codes(
            "",
            "male: divorced/separated",
            "female: non-single or male: single",
            "male: married/widowed",
            "female: single",
        ),
    ),
    Attribute("other_debtors", "buerge", _codes("A10", *_DEBTORS), _codes("", *_DEBTORS)),
    # South German: below 1, 1 to 4, 4 to 7, 7 and more years. Statlog reads the code as a number, without a unit.
    Attribute("present_residence", "wohnzeit", ranks={"1": "1", "2": "2", "3": "3", "4": "4"}),
    Attribute("property", "verm", _codes("A12", *_PROPERTY), _codes("", *reversed(_PROPERTY))),
    Attribute("age", "alter"),
    Attribute("other_installment_plans", "weitkred", _codes("A14", *_PLANS), _codes("", *_PLANS)),
    Attribute("housing", "wohn", _codes("A15", "rent", "own", "for free"), _codes("", "for free", "rent", "own")),
    # South German: 1, 2 to 3, 4 to 5, 6 and more credits. Statlog reads the code as a number.
    Attribute("number_credits", "bishkred", ranks={"1": "1", "2": "2", "3": "3", "4": "4"}),
    Attribute("job", "beruf", _codes("A17", *_JOBS), _codes("", *_JOBS)),
    # South German: 1 is three people and more, 2 is up to two. Statlog has the codes the other way round, as numbers.
    Attribute("people_liable", "pers", ranks={"1": "2", "2": "1"}, recoded={"1": "2", "2": "1"}),
    Attribute("telephone", "telef", _codes("A19", "no", "yes"), _codes("", "no", "yes")),
    Attribute(
        "foreign_worker",
        "gastarb",
        _codes("A20", "yes", "no"),
        _codes("", "yes", "no"),
        recoded={"A201": "2", "A202": "1"},
    ),
)

LABEL = Attribute(
    "credit_risk", "kredit", {"1": "good", "2": "bad"}, {"0": "bad", "1": "good"}, recoded={"1": "1", "2": "0"}
)
