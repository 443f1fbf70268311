"""Checks of arguments: what passes, what raises and what the message says."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robust_recourse._validation import (
    check_choice,
    check_distances,
    check_integer,
    check_jobs,
    check_labelled_samples,
    check_matrix,
    check_real,
    check_seed,
    check_vector,
)


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2.0), np.int64(2), Fraction(2)])
def test_every_kind_of_real_number_becomes_a_float(value):
    found = check_real(value, "delta")
    assert (found, type(found)) == (2.0, float)


@pytest.mark.parametrize("value", ["2", None, True, np.True_, 2.0j, [2.0], np.array([2.0])])
def test_what_is_no_real_number_is_a_type_error(value):
    with pytest.raises(TypeError, match=r"^delta must be a real number, got "):
        check_real(value, "delta")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_real_number_must_be_finite(value):
    with pytest.raises(ValueError, match=f"^delta must be finite, got {value}"):
        check_real(value, "delta")


def test_a_minimum_is_allowed_unless_it_is_strict():
    assert check_real(0.5, "delta", minimum=0.5) == 0.5
    with pytest.raises(ValueError, match=r"^delta must be greater than 0\.5, got 0\.5"):
        check_real(0.5, "delta", minimum=0.5, strict=True)
    with pytest.raises(ValueError, match=r"^delta must be at least 0\.5, got 0\.25"):
        check_real(0.25, "delta", minimum=0.5)


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3)])
def test_every_kind_of_integer_becomes_an_int(value):
    found = check_integer(value, "n_samples", minimum=3)
    assert (found, type(found)) == (3, int)


@pytest.mark.parametrize("value", [3.0, "3", True, np.False_, None, math.nan])
def test_what_is_no_integer_is_a_type_error(value):
    with pytest.raises(TypeError, match=r"^n_samples must be an integer, got "):
        check_integer(value, "n_samples", minimum=0)


def test_an_integer_below_its_minimum_raises():
    with pytest.raises(ValueError, match=r"^n_samples must be at least 1, got 0"):
        check_integer(0, "n_samples", minimum=1)


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda n: check_real(n, "sigma"), r"sigma must be finite, got 1e5000 or so, more than a float can hold\.$"),
        (lambda n: check_real(-n, "sigma"), r"sigma must be finite, got -1e5000 or so"),
        (lambda n: check_real(Fraction(n, 3), "sigma"), "sigma must be finite, got 1e4999 or so"),
        (lambda n: check_integer(n, "n_samples", minimum=1), r"n_samples must be below 2\*\*63, got 1e5000 or so\.$"),
        (lambda n: check_integer(-n, "n_samples", minimum=1), "n_samples must be at least 1, got -1e5000 or so"),
        (lambda n: check_integer(n % 3 + 2**63, "n_samples", minimum=1), "below 2.*got 9223372036854775809"),
        (lambda n: check_matrix([[0, n]], "X"), "X must be finite, but has whole numbers that are more than a float"),
        (lambda n: check_vector([0, n], "x"), "x must be finite, but has whole numbers"),
        (lambda n: check_distances([0, n], "c"), "c must be finite, but has whole numbers"),
    ],
)
def test_numbers_that_no_float_holds_are_an_error_with_a_message(check, message):
    with pytest.raises(ValueError, match=message):
        check(10**5000)


@pytest.mark.parametrize("value", [None, 1, 7, -1, -2, np.int64(2)])
def test_jobs_are_none_or_a_number_but_0(value):
    assert check_jobs(value) == value


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (0, ValueError, "n_jobs must not be 0. Use None or 1"),
        ("x", TypeError, "n_jobs must be an integer, got 'x'"),
        (2.0, TypeError, "n_jobs must be an integer, got 2.0"),
        (True, TypeError, "n_jobs must be an integer, got True"),
        (10**400, ValueError, "n_jobs must be below"),
    ],
)
def test_other_jobs_are_an_error(value, error, message):
    with pytest.raises(error, match=message):
        check_jobs(value)


def test_a_matrix_may_have_a_largest_number():
    X = [[1.0, -3.0], [2.0, -5.0]]
    assert check_matrix(X, "X", largest=5.0).tolist() == X
    with pytest.raises(ValueError, match=r"X must be within -4 and 4, got -5 in row 1, column 1\. Use a larger unit"):
        check_matrix(X, "X", largest=4.0)


def test_a_choice_is_one_of_those_named():
    assert check_choice("exact", "solver", ("exact", "first-order")) == "exact"
    for value in ("Exact", "", None, 1):
        with pytest.raises(ValueError, match=r"^solver must be one of 'exact', 'first-order', got "):
            check_choice(value, "solver", ("exact", "first-order"))


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3)])
def test_distances_keep_their_shape(shape):
    found = check_distances(np.zeros(shape, dtype=int), "c")
    assert (found.shape, found.dtype) == (shape, float)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (-1.0, r"got -1\.0 at index \(\)"),
        ([0.0, math.nan], r"got nan at index \(1,\)"),
        ([[0.0, 1.0], [math.inf, -1.0]], r"got inf at index \(1, 0\)"),
    ],
)
def test_a_bad_distance_is_named_with_its_place(values, message):
    with pytest.raises(ValueError, match=rf"^c must be finite and non-negative, {message}"):
        check_distances(values, "c")


@pytest.mark.parametrize("check", [check_distances, check_vector, check_matrix])
@pytest.mark.parametrize("values", [["a"], [[1.0, 2.0], [3.0]], [None, "b"]])
def test_what_is_not_numeric_raises_and_names_the_argument(check, values):
    with pytest.raises((TypeError, ValueError), match=r"^rows must be numeric"):
        check(values, "rows")


def test_a_matrix_of_numbers_becomes_floats():
    found = check_matrix([[1, True], [2, 3]], "X", width=2)
    np.testing.assert_array_equal(found, [[1.0, 1.0], [2.0, 3.0]])
    assert found.dtype == float


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, 2.0], r"X must be two-dimensional .*got 1 dimension.* Reshape a single row with X\.reshape\(1, -1\)"),
        (np.zeros((1, 2, 2)), r"X must be two-dimensional .*got 3 dimension\(s\)\.$"),
        (3.0, r"X must be two-dimensional .*got 0 dimension\(s\)\.$"),
        ([[1.0, 2.0, 3.0]], r"X must have 2 columns, got 3"),
        (np.zeros((0, 2)), r"X is empty: its shape is \(0, 2\)"),
        ([[0.0, 1.0], [math.nan, 1.0]], r"X must be finite, got nan in row 1, column 0\.$"),
        ([[0.0, -math.inf], [math.nan, 1.0], [0.0, math.inf]], r"got -inf in row 0, column 1 \(2 more row\(s\)"),
    ],
)
def test_a_bad_matrix_raises_and_says_where(values, message):
    with pytest.raises(ValueError, match=message):
        check_matrix(values, "X", width=2)


def test_a_matrix_without_columns_is_empty():
    with pytest.raises(ValueError, match=r"^X is empty: its shape is \(3, 0\)"):
        check_matrix(np.zeros((3, 0)), "X")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1.0, 2.0]], r"^x must be one-dimensional, got 2 dimension"),
        (1.0, r"^x must be one-dimensional, got 0 dimension"),
        ([1.0], r"^x must have 2 entries, got 1"),
        ([1.0, math.inf], r"^x must be finite, got inf at index 1"),
    ],
)
def test_a_bad_vector_raises_and_says_where(values, message):
    with pytest.raises(ValueError, match=message):
        check_vector(values, "x", width=2)


def test_a_vector_of_any_length_passes_without_a_width():
    np.testing.assert_array_equal(check_vector([1, 2, 3], "x"), [1.0, 2.0, 3.0])


@pytest.mark.parametrize("labels", [[0, 1, 1], [0.0, 1.0, 1.0], [False, True, True], np.array([0, 1, 1], dtype="int8")])
def test_labels_say_which_samples_are_accepted(labels):
    samples, accepted = check_labelled_samples([[0], [1], [2]], labels)
    np.testing.assert_array_equal(samples, [[0.0], [1.0], [2.0]])
    np.testing.assert_array_equal(accepted, [False, True, True])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1], r"labels must have one entry for each of the 3 samples, got shape \(2,\)"),
        ([[0], [1], [1]], r"labels must have one entry for each of the 3 samples, got shape \(3, 1\)"),
        ([0, 1, -1], r"labels must be 0 or 1, got .*-1"),
        ([0, 1, 0.5], r"labels must be 0 or 1, got .*0\.5"),
        (["0", "1", "1"], r"labels must be 0 or 1, got "),
        ([0, 1, None], r"labels must be 0 or 1, got None"),
        ([0, 0, 0], r"labels must hold both classes, got only 0"),
        ([1, 1, 1], r"labels must hold both classes, got only 1"),
    ],
)
def test_bad_labels_raise_and_say_why(labels, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        check_labelled_samples([[0.0], [1.0], [2.0]], labels)


@given(st.integers(0, 2**63 - 1))
def test_a_seed_is_kept(seed):
    assert check_seed(seed) == seed


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_a_generator_gives_the_same_seeds_in_the_same_order(make):
    first, second = make(5), make(5)
    seeds = [check_seed(first) for _ in range(3)]
    assert seeds == [check_seed(second) for _ in range(3)]
    assert len(set(seeds)) == 3
    assert all(type(seed) is int and 0 <= seed < 2**63 for seed in seeds)


def test_no_seed_is_a_new_one_every_time():
    seeds = {check_seed(None) for _ in range(5)}
    assert len(seeds) == 5
    assert all(0 <= seed < 2**63 for seed in seeds)


@pytest.mark.parametrize(("seed", "error"), [(-1, ValueError), (1.0, TypeError), ("1", TypeError), (True, TypeError)])
def test_a_bad_seed_raises_and_names_the_argument(seed, error):
    with pytest.raises(error, match=r"^random_state must be"):
        check_seed(seed)


def test_a_seed_too_large_raises():
    with pytest.raises(ValueError, match=r"^random_state must be"):
        check_seed(2**63)
