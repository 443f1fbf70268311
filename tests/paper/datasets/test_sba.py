import csv

import pytest

from robust_recourse.paper.datasets import DatasetError, load

PATH = "sba_case/SBAcase.11.13.17.csv"
PAPER = [
    "Term", "NoEmp", "CreateJob", "RetainedJob", "UrbanRural", "ChgOffPrinGr",
    "GrAppv", "SBA_Appv", "New", "RealEstate", "Portion", "Recession",
]  # fmt: skip


@pytest.fixture
def small(put, texts):
    put(PATH, "\ufeff" + texts["sba"])
    return lambda **options: load("sba", check_hash=False, **options)


def test_small_files_are_split_at_2006_and_prices_are_numbers(small):
    data = small()
    assert data.columns == PAPER
    assert data.D1.to_numpy().tolist() == [
        [36, 1, 0, 0, "undefined", 0.0, 30000.0, 15000.0, 0, 0, 0.5, 0, "P I F"],
        [56, 3, 0, 2, "urban", 1200.0, 30000.0, 15000.0, 0, 0, 0.5, 1, "CHGOFF"],
    ]
    assert data.D2["Term"].tolist() == [240, 84]
    assert data.D2["UrbanRural"].tolist() == ["rural", "urban"]
    assert data.y1.tolist() == data.y2.tolist() == [1, 0]
    assert data.shared.tolist() == [-1, -1]


def test_the_codes_of_the_file_are_those_of_the_category(small):
    assert small().D1["UrbanRural"].cat.codes.tolist() == [0, 1]


def test_the_late_loans_can_be_the_present_ones(small):
    early, late = small(), small(present="late")
    assert late.D1.equals(early.D2)
    assert late.D2.equals(early.D1)


def test_without_the_leak_nothing_names_its_column(small):
    data = small(leak=False)
    assert data.columns == [column for column in PAPER if column != "ChgOffPrinGr"]
    assert "ChgOffPrinGr" not in data.kinds
    assert "ChgOffPrinGr" not in data.actions.immutable
    assert "ChgOffPrinGr" in small().actions.immutable


def test_the_leak_is_not_even_read_if_it_is_not_wanted(put, texts):
    put(PATH, texts["sba"].replace("ChgOffPrinGr", "renamed"))
    assert len(load("sba", leak=False, check_hash=False).D1) == 2
    with pytest.raises(DatasetError, match=r"lacks the column.s. ChgOffPrinGr; it has ApprovalFY"):
        load("sba", check_hash=False)


@pytest.mark.parametrize(
    ("old", "new", "error", "message"),
    [
        ("CHGOFF", "PENDING", DatasetError, "column MIS_Status, row 1 .*'PENDING' is not in the code book"),
        ("$1,200", "?", DatasetError, "column ChgOffPrinGr, row 1 .* is not a number"),
        ("2001,36", "2001,36.5", DatasetError, "column Term, row 0 .* is not an integer"),
        ("2001,36,1,0,0,0", "2001,36,1,0,0,7", DatasetError, "column UrbanRural, row 0 .*'7' is not in the code book"),
        ("2006,", "1999,", ValueError, "sba, D2: the label must have two values"),
    ],
)
def test_a_changed_file_is_a_clear_error(put, texts, old, new, error, message):
    put(PATH, texts["sba"].replace(old, new))
    with pytest.raises(error, match=message):
        load("sba", check_hash=False)


def test_real_counts_and_shares(real):
    data = real("sba")
    assert (len(data.D1), len(data.D2)) == (1159, 943)
    assert data.y1.sum() + data.y2.sum() == 1416
    assert (data.y1.mean().round(3), data.y2.mean().round(3)) == (0.840, 0.470)
    leak = [frame["ChgOffPrinGr"] > 0 for frame in (data.D1, data.D2)]
    agrees = (leak[0] == (data.y1 == 0)).sum() + (leak[1] == (data.y2 == 0)).sum()
    assert agrees / 2102 > 0.99
    assert real("sba", present="late").D1.equals(data.D2)
    assert "ChgOffPrinGr" not in real("sba", leak=False).D1


def test_the_real_rows_are_those_of_the_file_in_order(real, real_folder):
    data = real("sba")
    with open(real_folder / PATH, encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for frame, late in ((data.D1, False), (data.D2, True)):
        chosen = [row for row in rows if (int(row["ApprovalFY"]) >= 2006) == late]
        for column in PAPER:
            values = [float(row[column]) for row in chosen]
            found = frame[column].cat.codes if column == "UrbanRural" else frame[column]
            assert found.tolist() == values
        assert frame["MIS_Status"].tolist() == [row["MIS_Status"] for row in chosen]


def test_the_real_columns_depend_on_each_other_as_the_notes_say(real):
    for frame in (real("sba").D1, real("sba").D2):
        assert ((frame["Term"] >= 240) == (frame["RealEstate"] == 1)).all()
        assert (frame["SBA_Appv"] / frame["GrAppv"] - frame["Portion"]).abs().max() < 1e-6
