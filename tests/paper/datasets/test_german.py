import numpy as np
import pandas as pd
import pytest

from robust_recourse.paper.datasets import DatasetError, load
from robust_recourse.paper.datasets.german_codes import ATTRIBUTES, LABEL

MALE_APART, MALE_SINGLE, MALE_MARRIED = "male: divorced/separated", "male: single", "male: married/widowed"
FEMALE_NOT_SINGLE, FEMALE_SINGLE = "female: divorced/separated/married", "female: single"
MIXED = "female: non-single or male: single"


def load_small(**options):
    return load("german", check_hash=False, **options)


def counts(column):
    return {key: n for key, n in column.value_counts().items() if n}


def test_small_files_are_decoded_each_by_its_own_code_book(put_german):
    put_german()
    data = load_small()
    assert data.columns == ["duration", "amount", "personal_status_sex", "age"]
    assert data.D1.to_numpy().tolist() == [
        [6, 1169.0, MALE_SINGLE, 67, "good"],
        [48, 5951.0, FEMALE_NOT_SINGLE, 22, "bad"],
        [12, 2096.0, MALE_MARRIED, 49, "good"],
    ]
    assert data.D2.to_numpy().tolist() == [
        [12, 2096.0, FEMALE_SINGLE, 49, "good"],
        [6, 1169.0, MALE_MARRIED, 67, "good"],
        [48, 5951.0, MIXED, 32, "bad"],
    ]
    assert data.shared.tolist() == [2, 0, 1]
    assert data.y1.tolist() == [1, 0, 1]


def test_the_ranks_of_the_four_classes_rise_with_the_quantity_in_both_files(put_german):
    put_german()
    data = load_small(columns="all")
    D2 = data.D2.iloc[np.argsort(data.shared)]
    ranked = ["installment_rate", "present_residence", "number_credits", "people_liable"]
    assert data.D1[ranked].to_numpy().tolist() == [[4, 4, 2, 1], [2, 2, 1, 2], [1, 3, 1, 2]]
    # The rate is turned round: code 1 is 35 % and more in the corrected code book.
    assert D2[ranked].to_numpy().tolist() == [[1, 4, 2, 1], [3, 2, 1, 2], [4, 3, 1, 2]]


def test_every_kind_of_column_is_as_the_code_book_says(put_german):
    put_german()
    data = load_small(columns="all")
    assert data.columns == [attribute.name for attribute in ATTRIBUTES]
    assert len(data.columns) == 20
    assert sum(kind == "category" for kind in data.kinds.values()) == 13
    assert data.kinds["duration"] == data.kinds["age"] == data.kinds["people_liable"] == "integer"
    assert data.kinds["amount"] == "continuous"


def test_the_code_books_name_a_meaning_once():
    for attribute in (*ATTRIBUTES, LABEL):
        for book in (attribute.statlog, attribute.south):
            assert len(set(book.values())) == len(book)
        assert bool(attribute.statlog) == bool(attribute.south)
    shared = {a.name: set(a.statlog.values()) == set(a.south.values()) for a in ATTRIBUTES if a.statlog}
    assert [name for name, same in shared.items() if not same] == ["personal_status_sex"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("A93", "A99", "column personal_status_sex, row 0 .*'A99' is not in the code book"),
        (" 1169 ", " much ", "column amount, row 0 .*'much' is not a number"),
        (" 48 ", " 48.5 ", "column duration, row 1 .*'48.5' is not an integer"),
        ("A201 2", "A201 3", "column credit_risk, row 1 .*'3' is not in the code book, which has 1, 2"),
        (" A101 ", " ", "must have 21 columns without a header, got 20"),
    ],
)
def test_a_changed_statlog_file_is_a_clear_error(put_german, texts, old, new, message):
    put_german(statlog=texts["statlog"].replace(old, new))
    with pytest.raises(DatasetError, match=message):
        load_small()


def test_an_unknown_class_is_no_rank(put_german, texts):
    put_german(statlog=texts["statlog"].replace("A75 4 A93", "A75 5 A93"))
    with pytest.raises(DatasetError, match=r"column installment_rate, row 0 .*'5' is not in the code book"):
        load_small(columns="all")


def test_a_renamed_column_of_the_south_german_file_is_named(put_german, texts):
    put_german(south=texts["south"].replace("famges", "status_sex").replace("alter", "age"))
    with pytest.raises(DatasetError, match=r"lacks the column.s. famges, alter; it has laufkont"):
        load_small()


def test_a_small_file_is_not_taken_for_the_real_one(put_german):
    put_german()
    with pytest.raises(DatasetError, match=r"german.data is not the expected file .truncated"):
        load("german")


def test_real_counts_and_meanings(real):
    data = real("german")
    assert data.D1.shape == data.D2.shape == (1000, 5)
    assert data.y1.sum() == data.y2.sum() == 700
    assert counts(data.D1["personal_status_sex"]) == {
        MALE_SINGLE: 548, FEMALE_NOT_SINGLE: 310, MALE_MARRIED: 92, MALE_APART: 50,
    }  # fmt: skip
    assert counts(data.D2["personal_status_sex"]) == {
        MALE_MARRIED: 548, MIXED: 310, FEMALE_SINGLE: 92, MALE_APART: 50,
    }  # fmt: skip
    assert data.D1["personal_status_sex"].dtype == data.D2["personal_status_sex"].dtype
    assert len(data.D1["personal_status_sex"].cat.categories) == 6
    assert set(data.hashes) == {"german.data", "SouthGermanCredit.asc"}


def test_the_real_loans_are_matched_one_to_one_as_brute_force_does(real, real_folder):
    data = real("german")
    statlog = pd.read_csv(real_folder / "german_statlog/german.data", sep=" ", header=None)
    south = pd.read_csv(real_folder / "south_german/SouthGermanCredit.asc", sep=" ").to_numpy()
    codes = np.empty((1000, 21), dtype=int)
    for k in range(21):
        codes[:, k] = [int(str(code).removeprefix(f"A{k + 1}")) for code in statlog[k]]
    # These two were written the other way round, and the label 1, 2 is 1, 0.
    codes[:, 17], codes[:, 19], codes[:, 20] = 3 - codes[:, 17], 3 - codes[:, 19], 2 - codes[:, 20]
    distance = (south[:, None, :] != codes[None, :, :]).sum(axis=2)
    np.testing.assert_array_equal(data.shared, distance.argmin(axis=1))
    np.testing.assert_array_equal(np.sort(data.shared), np.arange(1000))
    nearest = np.sort(distance, axis=1)[:, :2]
    assert nearest[:, 0].max() <= 2
    assert (nearest[:, 0] < nearest[:, 1]).all()


def test_the_same_real_loan_differs_as_the_notes_say(real):
    data = real("german")
    D1, D2 = data.D1.iloc[data.shared].reset_index(drop=True), data.D2
    assert (D1["duration"] == D2["duration"]).all()
    assert (D1["credit_risk"] == D2["credit_risk"]).all()
    differ = D1[["amount", "age"]] != D2[["amount", "age"]]
    assert differ.sum().tolist() == [4, 6]
    assert differ.sum(axis=1).max() == 1
    pairs = set(zip(D1["personal_status_sex"], D2["personal_status_sex"], strict=True))
    assert pairs == {
        (MALE_APART, MALE_APART),
        (FEMALE_NOT_SINGLE, MIXED),
        (MALE_SINGLE, MALE_MARRIED),
        (MALE_MARRIED, FEMALE_SINGLE),
    }


def test_all_real_columns_have_the_meanings_of_their_file(real):
    data = real("german", columns="all")
    assert data.D1.shape == data.D2.shape == (1000, 21)
    expected = {
        ("D1", "status", "< 0 DM"): 274,
        ("D2", "status", "no checking account"): 274,
        ("D2", "status", ">= 200 DM / salary for at least 1 year"): 394,
        ("D1", "credit_history", "no credits taken/all credits paid back duly"): 40,
        ("D2", "credit_history", "delay in paying off in the past"): 40,
        ("D1", "purpose", "car (new)"): 234,
        ("D1", "purpose", "others"): 12,
        ("D2", "purpose", "others"): 234,
        ("D2", "purpose", "vacation"): 9,
        ("D2", "purpose", "business"): 12,
        ("D1", "savings", "unknown/no savings account"): 183,
        ("D2", "savings", "unknown/no savings account"): 603,
        ("D1", "property", "real estate"): 282,
        ("D2", "property", "unknown/no property"): 282,
        ("D1", "housing", "own"): 713,
        ("D2", "housing", "rent"): 714,
        ("D1", "foreign_worker", "yes"): 963,
        ("D2", "foreign_worker", "yes"): 37,
        ("D1", "installment_rate", 4): 476,
        ("D2", "installment_rate", 1): 476,
        ("D1", "people_liable", 1): 845,
        ("D2", "people_liable", 1): 845,
    }
    assert {key: (getattr(data, key[0])[key[1]] == key[2]).sum() for key in expected} == expected
