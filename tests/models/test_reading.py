import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse.models.decisions import Decision
from robust_recourse.models.errors import Batch, ModelError
from robust_recourse.models.reading import read

ROWS = np.array([4, 5, 9])
BATCH = Batch(ROWS, "X")
WORDS = np.array(["good", "bad", "poor"])


def accepted(answer, favourable=None, threshold=None, **more):
    return read(answer, Decision(favourable, threshold, **more), BATCH).accepted.tolist()


@pytest.mark.parametrize(
    "answer",
    [
        WORDS,
        WORDS.astype(object),
        WORDS[:, None],
        WORDS.tolist(),
        pd.Series(WORDS, dtype="category"),
        pd.Series(WORDS, dtype="str"),
        pd.Series(WORDS).to_frame("label"),
    ],
)
def test_labels_that_are_words(answer):
    assert accepted(answer, "bad") == [False, True, False]
    assert accepted(answer, "approved") == [False] * 3
    assert accepted(answer, "bad", classes=("bad", "good", "poor")) == [False, True, False]


@pytest.mark.parametrize("dtype", [int, float, np.int8, np.uint32, np.float32, object])
@pytest.mark.parametrize("favourable", [-1, 0, 1, 2, 7])
def test_labels_that_are_numbers(dtype, favourable):
    answer = np.array([1, 0, 7]).astype(dtype)
    assert accepted(answer, favourable) == [label == favourable for label in (1, 0, 7)]


def test_booleans_are_labels():
    answer = np.array([True, False, True])
    assert accepted(answer) == accepted(answer, True) == accepted(answer, 1) == [True, False, True]
    assert accepted(answer, False) == accepted(answer, 0) == [False, True, False]


def test_one_probability_is_that_of_the_class_1():
    answer = np.array([0.2, 0.5, 0.7])
    assert accepted(answer) == accepted(answer, 1) == [False, False, True]
    assert accepted(answer, 0) == [True, False, False]
    assert accepted(answer, 1, 0.5) == accepted(answer, None, 0.5) == [False, True, True]
    assert accepted(answer, 0, 0.75) == [True, False, False]
    np.testing.assert_allclose(read(answer, Decision(0), BATCH).probability, [0.8, 0.5, 0.3])


def test_scores_are_above_or_below_the_threshold():
    answer = np.array([300.0, 500.0, 700.0])
    assert accepted(answer, None, 500) == accepted(answer, "above", 500) == [False, True, True]
    assert accepted(answer, "below", 500) == [True, True, False]
    np.testing.assert_array_equal(read(answer, Decision("below", 500), BATCH).score, [200.0, 0.0, -200.0])
    # Labels may have these names, too.
    assert accepted(np.array(["above", "below", "below"]), "below") == [False, True, True]


def test_a_number_beside_a_threshold_between_0_and_1_may_be_either():
    answer, decision = np.array([0.1, 0.4, 2.5]), Decision(None, 0.3)
    assert read(answer, decision, BATCH, only_labels=True).accepted.tolist() == [False, True, True]
    with pytest.raises(ModelError, match=r"threshold = 0.3 .*it gave 2.5 for row 9 of X.*favourable=\"above\""):
        read(answer, decision, BATCH)
    np.testing.assert_allclose(read(answer, Decision("above", 0.3), BATCH).score, [-0.2, 0.1, 2.2])
    np.testing.assert_allclose(read(answer, Decision(None, 0.3, regressor=True), BATCH).score, [-0.2, 0.1, 2.2])
    share = read(np.array([0.1, 0.3, 0.9]), decision, BATCH)
    np.testing.assert_allclose(share.score, [np.log(0.1 / 0.9) - np.log(3 / 7), 0.0, np.log(9) - np.log(3 / 7)])


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 5), st.booleans(), st.sampled_from([None, 0.2, 0.5, 0.9]))
def test_columns_of_probabilities_against_one_row_at_a_time(seed, k, named, threshold):
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.full(k, 0.5), 3)
    column = int(rng.integers(k))
    names = [f"class {j}" for j in range(k)]
    answer = pd.DataFrame(table, columns=names) if named else table
    said = read(answer, Decision(names[column] if named else column, threshold), BATCH)
    for row, verdict, share, score in zip(table, said.accepted, said.probability, said.score, strict=True):
        others = [p for j, p in enumerate(row) if j != column]
        if threshold is not None:
            assert verdict == (row[column] >= threshold)
        else:
            assert verdict == (row[column] > (max(others) if k > 2 else 0.5))
        assert share == row[column]
        assert score >= 0.0 if verdict else score <= 0.0


def test_columns_by_the_classes_of_the_model():
    table = np.array([[0.1, 0.9], [0.8, 0.2], [0.5, 0.5]])
    assert accepted(table, classes=(0, 1)) == [True, False, False]
    assert accepted(table, "bad", classes=("bad", "good")) == [False, True, False]
    assert accepted(table, 2.0, classes=(2.0, 3.0)) == [False, True, False]
    assert accepted(pd.DataFrame(table), None) == [True, False, False]
    with pytest.raises(ModelError, match=r"shape \(3, 2\). Its classes are \['a', 'b', 'c'\]"):
        accepted(table, "a", classes=("a", "b", "c"))


@pytest.mark.parametrize(
    ("answer", "decision", "match"),
    [
        (WORDS, Decision(), r"0, 1 or probabilities.*such as 'good'. Pass favourable="),
        (WORDS, Decision(1), "labels such as 'good' for row 4 of X, but favourable is 1"),
        (WORDS, Decision("good", 0.5), "threshold needs probabilities or scores.*'good'"),
        (
            np.array(["good", None, "bad"], dtype=object),
            Decision("good"),
            "label for every row; it gave None for row 5",
        ),
        (np.array(["good", "bad"]), Decision("good"), r"shape \(2,\)"),
        (np.array([["a", "b"]] * 3), Decision("a"), r"shape \(3, 2\).*holds <U1 values"),
        (WORDS, Decision("bad", classes=("bad", "good")), r"classes \['bad', 'good'\]; it gave 'poor' for row 9"),
        (np.array([0, 1, 2]), Decision(1, classes=(0, 1)), r"classes \[0, 1\]; it gave 2 for row 9"),
        (np.array([0.0, np.nan, 1.0]), Decision(1, classes=(0, 1)), "it gave nan for row 5"),
        (np.array([0, 1, 2]), Decision(), "two classes.*2 for row 9.*favourable= for other labels, threshold= for"),
        (np.array([0, 1, 2]), Decision("good"), "numbers such as 0 for row 4 of X, but favourable is 'good'"),
        (np.array([1.0, 2.5, 3.0]), Decision(2), "labels, or with probabilities; it gave 2.5 for row 5"),
        (np.array([1.0, 2.5, 3.0]), Decision(1), "2.5 for row 5 of X. Pass threshold= for scores"),
        (np.array([1.0, np.nan, 3.0]), Decision(3), "nan for row 5"),
        (np.array([1.0, 2.5, 3.0]), Decision("above"), "favourable = 'above' needs threshold="),
        (np.array([1.0, np.nan, 3.0]), Decision(None, 2.0), "one finite number.*nan for row 5"),
        (np.array([1.0, np.inf, 3.0]), Decision("below", 2.0), "one finite number.*inf for row 5"),
        (np.array([0.0, 1.5, 1.0]), Decision(1, 0.5), r"probabilities in \[0, 1\]; it gave 1.5 for row 5"),
        (np.array([0.0, 0.5, 1.0]), Decision("good", 0.5), "probability of favourable = 'good'.*one number"),
        (np.full((3, 3), 1 / 3), Decision(), r"shape \(3, 3\).*the number of the favourable column"),
        (np.full((3, 3), 1 / 3), Decision(3), "number of one, from 0 to 2, got 3"),
        (np.full((3, 3), 1 / 3), Decision("good"), "columns of probabilities without names.*got 'good'"),
        (np.full((3, 2), 0.5), Decision(None, 2.0), "between 0 and 1, got 2"),
        (np.full((3, 3), 0.4), Decision(1), "add up to 1.*row 4"),
        (np.array([[0.5, 0.5], [np.nan, 0.5], [0, 1]]), Decision(), "gave nan for row 5"),
        (pd.DataFrame(np.full((3, 2), 0.5), columns=["no", "yes"]), Decision(), r"\['no', 'yes'\]: favourable must be"),
        (np.zeros((3, 0)), Decision(), r"shape \(3, 0\)"),
        (np.zeros((3, 2, 2)), Decision(), r"shape \(3, 2, 2\)"),
        (1.0, Decision(), r"shape \(\)"),
    ],
)
def test_other_answers_are_refused_and_rows_are_named(answer, decision, match):
    with pytest.raises(ModelError, match=match):
        read(answer, decision, BATCH)
