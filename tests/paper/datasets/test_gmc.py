import csv
import gzip
import statistics

import numpy as np
import pandas as pd
import pytest

from robust_recourse.paper.datasets import DatasetError, load

LATE = ["NumberOfTime30-59DaysPastDueNotWorse", "NumberOfTimes90DaysLate", "NumberOfTime60-89DaysPastDueNotWorse"]


@pytest.fixture
def small(put, texts):
    put("gmc/cs-training.csv", texts["gmc"])
    return lambda **options: load("gmc", check_hash=False, **options)


def originals(text):
    """Rows of a file by their age, which is unique in the small one."""
    return {int(row["age"]): row for row in csv.DictReader(text.splitlines())}


def test_it_has_the_ten_features_of_the_paper_and_an_unfavourable_label_of_one(small, texts):
    data = small()
    assert data.columns == list(csv.DictReader(texts["gmc"].splitlines()).fieldnames)[2:]
    assert data.favourable == 0
    np.testing.assert_array_equal(data.y1, 1 - data.D1["SeriousDlqin2yrs"])
    np.testing.assert_array_equal(data.y2, 1 - data.D2["SeriousDlqin2yrs"])


def test_every_row_is_in_one_of_two_equal_parts(small, texts):
    data = small()
    assert (len(data.D1), len(data.D2)) == (21, 20)
    ages = [*data.D1["age"], *data.D2["age"]]
    assert sorted(ages) == sorted(originals(texts["gmc"]))
    assert ages != sorted(ages)


@pytest.mark.parametrize("codes", ["keep", "missing"])
def test_what_is_missing_becomes_the_median_of_the_present_part_only(small, texts, codes):
    data, rows = small(codes=codes), originals(texts["gmc"])
    for column in ["MonthlyIncome", "NumberOfDependents", *LATE]:

        def known(entry, column=column):
            return entry != "NA" and not (codes == "missing" and column in LATE and entry in ("96", "98"))

        present = [float(rows[age][column]) for age in data.D1["age"] if known(rows[age][column])]
        median = statistics.median(present)
        assert column == "MonthlyIncome" or median == round(median)
        for frame in (data.D1, data.D2):
            expected = [float(rows[a][column]) if known(rows[a][column]) else median for a in frame["age"]]
            assert frame[column].tolist() == expected
    # The test would prove nothing if both parts had the same median.
    incomes = [float(rows[a]["MonthlyIncome"]) for a in data.D2["age"] if rows[a]["MonthlyIncome"] != "NA"]
    assert statistics.median(incomes) != data.D1["MonthlyIncome"].median()


def test_the_codes_are_kept_unless_they_are_to_be_missing(small):
    kept, removed = (pd.concat([d.D1, d.D2])[LATE] for d in (small(), small(codes="missing")))
    assert kept.isin([98]).any(axis=None)
    assert not removed.isin([96, 98]).any(axis=None)


def test_the_seed_decides_about_the_split(small):
    first, again, other = (small(random_state=seed).D1["age"].tolist() for seed in (1, 1, 2))
    assert first == again != other
    assert small().D1["age"].tolist() == small(random_state=0).D1["age"].tolist()
    assert small(codes="missing").D1["age"].tolist() == small().D1["age"].tolist()


def test_compressed_and_plain_files_give_the_same(small, put, texts):
    plain = small()
    put("gmc/cs-training.csv.gz", gzip.compress(texts["gmc"].encode()))
    packed = small()
    pd.testing.assert_frame_equal(plain.D1, packed.D1)
    assert plain.hashes == packed.hashes
    assert list(packed.hashes) == ["cs-training.csv"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("DebtRatio", "Debt", "lacks the column.s. DebtRatio; it has Unnamed: 0, SeriousDlqin2yrs"),
        (",0.5,20,", ",NA,20,", "column RevolvingUtilizationOfUnsecuredLines, row 0 .*'NA' is not a number"),
        (",0.5,20,", ",0.5,20.5,", "column age, row 0 .*'20.5' is not an integer"),
    ],
)
def test_a_changed_file_is_a_clear_error(put, texts, old, new, message):
    put("gmc/cs-training.csv", texts["gmc"].replace(old, new))
    with pytest.raises(DatasetError, match=message):
        load("gmc", check_hash=False)


def test_a_median_between_two_counts_stays_a_count(put, texts):
    header = texts["gmc"].splitlines()[0]
    rows = [f"{k},{k % 2},0.1,{30 + k},0,0.1,100,1,0,0,0,{('1', '2', 'NA')[k % 3]}" for k in range(30)]
    put("gmc/cs-training.csv", "\n".join([header, *rows]))
    between = 0
    for seed in range(20):
        data = load("gmc", check_hash=False, random_state=seed)
        known = data.D1.loc[(data.D1["age"] - 30) % 3 < 2, "NumberOfDependents"]
        between += known.median() == 1.5
        assert data.D1["NumberOfDependents"].isin([1, 2]).all()
    assert between


def test_real_counts_and_shares(real):
    data = real("gmc")
    assert data.D1.shape == data.D2.shape == (75_000, 11)
    assert (data.y1.sum() + data.y2.sum()) / 150_000 == pytest.approx(1 - 0.06684)
    both = pd.concat([data.D1, data.D2])
    assert not both.isna().any(axis=None)
    assert both[LATE].isin([96, 98]).all(axis=1).sum() == 269
    assert both[LATE].isin([96, 98]).any(axis=1).sum() == 269
    removed = real("gmc", codes="missing")
    assert max(removed.D1[LATE].max().max(), removed.D2[LATE].max().max()) == 17


def test_real_gaps_hold_the_median_of_the_present_part(real, real_folder):
    path = next(p for name in ("cs-training.csv.gz", "cs-training.csv") if (p := real_folder / "gmc" / name).is_file())
    raw = pd.read_csv(path, index_col=0)
    # Half of the rows in the order of a permutation, as the loader promises for its default seed.
    order = np.random.default_rng(0).permutation(len(raw))
    data = real("gmc")
    for frame, rows in ((data.D1, order[:75_000]), (data.D2, order[75_000:])):
        part = raw.iloc[rows].reset_index(drop=True)
        for column, gaps in (("MonthlyIncome", 29_731), ("NumberOfDependents", 3_924)):
            assert raw[column].isna().sum() == gaps
            median = raw[column].iloc[order[:75_000]].median()
            assert (frame[column][part[column].isna()] == median).all()
        known = part.dropna()
        assert (frame.loc[known.index, known.columns] == known).all(axis=None)
