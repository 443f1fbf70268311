"""Small files in the place of the real ones, and the real ones where they are there."""

from __future__ import annotations

import functools
import hashlib
import os
from dataclasses import replace
from pathlib import Path

import platformdirs
import pytest

from robust_recourse.paper.datasets import load
from robust_recourse.paper.datasets.sources import SOURCES, Version

STATLOG = """\
A11 6 A34 A43 1169 A65 A75 4 A93 A101 4 A121 67 A143 A152 2 A173 1 A192 A201 1
A12 48 A32 A43 5951 A61 A73 2 A92 A101 2 A121 22 A143 A152 1 A173 2 A191 A201 2
A14 12 A34 A410 2096 A61 A74 1 A94 A101 3 A121 49 A143 A152 1 A172 2 A191 A202 1
"""
# The loans of Statlog in the order 2, 0, 1; the last one has another age.
SOUTH = """\
laufkont laufzeit moral verw hoehe sparkont beszeit rate famges buerge wohnzeit verm alter weitkred wohn bishkred \
beruf pers telef gastarb kredit
4 12 4 10 2096 1 4 1 4 1 3 1 49 3 2 1 2 1 1 1 1
1 6 4 3 1169 5 5 4 3 1 4 1 67 3 2 2 3 2 2 2 1
2 48 2 3 5951 1 3 2 2 1 2 1 32 3 2 1 3 1 1 2 0
"""
SBA = """\
ApprovalFY,Term,NoEmp,CreateJob,RetainedJob,UrbanRural,MIS_Status,ChgOffPrinGr,GrAppv,SBA_Appv,New,RealEstate,Portion,Recession
2001,36,1,0,0,0,P I F,$0.00,"$30,000.00","$15,000.00 ",0,0,0.5,0
2005,56,3,0,2,1,CHGOFF,"$1,200",30000,15000,0,0,0.5,1
2006,240,5,1,2,2,P I F,0,100000,75000,1,1,0.75,0
2010,84,5,1,2,1,CHGOFF,5000,100000,85000,1,0,0.85,0
"""
GMC_HEADER = (
    ",SeriousDlqin2yrs,RevolvingUtilizationOfUnsecuredLines,age,NumberOfTime30-59DaysPastDueNotWorse,DebtRatio,"
    "MonthlyIncome,NumberOfOpenCreditLinesAndLoans,NumberOfTimes90DaysLate,NumberRealEstateLoansOrLines,"
    "NumberOfTime60-89DaysPastDueNotWorse,NumberOfDependents\n"
)


def gmc_text(n=41):
    """Rows whose income is a power-like number, so that every subset has its own median; gaps and codes in places."""
    lines = []
    for k in range(n):
        income = "NA" if k % 4 == 1 else str(k * k)
        dependents = "NA" if k % 7 == 3 else str(k % 3)
        late = 98 if k % 10 == 5 else k % 2
        lines.append(f"{k + 1},{k % 3 == 0:d},0.5,{20 + k},{late},0.1,{income},3,{late},1,{late},{dependents}\n")
    return GMC_HEADER + "".join(lines)


@pytest.fixture(scope="session")
def texts():
    """A few rows of every file, as text."""
    return {"statlog": STATLOG, "south": SOUTH, "sba": SBA, "gmc": gmc_text()}


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache; ROBUST_RECOURSE_DATA is not set."""
    monkeypatch.delenv("ROBUST_RECOURSE_DATA", raising=False)
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda *_, **__: str(tmp_path / "cache"))
    return tmp_path / "cache" / "data"


@pytest.fixture
def put(cache):
    """Write a file into the cache (or another folder)."""

    def write(path, content, folder=cache):
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
        return place

    return write


@pytest.fixture
def expect(monkeypatch):
    """Make the given contents the right ones of the files of a data set."""

    def change(name, *contents, **changes):
        versions = [
            (Version(hashlib.sha256(content).hexdigest(), len(content)),)
            for content in (c.encode() if isinstance(c, str) else c for c in contents)
        ]
        changed = [replace(source, versions=v, **changes) for source, v in zip(SOURCES[name], versions, strict=True)]
        monkeypatch.setitem(SOURCES, name, tuple(changed))
        return SOURCES[name]

    return change


@pytest.fixture
def put_german(put, texts):
    """Write small German files into the cache, with changes to their text."""

    def write(statlog=texts["statlog"], south=texts["south"]):
        put("german_statlog/german.data", statlog)
        put("south_german/SouthGermanCredit.asc", south)

    return write


@pytest.fixture(scope="session")
def real():
    """Load real data; skip where they are not."""
    if not os.environ.get("ROBUST_RECOURSE_DATA"):
        pytest.skip("needs ROBUST_RECOURSE_DATA, the folder with the published files")
    return functools.cache(load)


@pytest.fixture(scope="session")
def real_folder(real):  # noqa: ARG001
    return Path(os.environ["ROBUST_RECOURSE_DATA"])
