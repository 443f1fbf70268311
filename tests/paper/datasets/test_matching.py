import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse.paper.datasets.matching import match_rows


def frame(*rows):
    return pd.DataFrame([list(map(str, row)) for row in rows]).add_prefix("c")


def naive(first, second, most):
    """Equal rows first, then pairs that are each other's only nearest, by loops."""
    first, second = (f.to_numpy().tolist() for f in (first, second))
    found, left = [-1] * len(second), set(range(len(first)))
    for i, row in enumerate(second):
        same = [j for j in sorted(left) if first[j] == row]
        if same:
            found[i] = same[0]
            left.remove(same[0])
    rest = [i for i in range(len(second)) if found[i] < 0]

    def distance(i, j):
        return sum(a != b for a, b in zip(second[i], first[j], strict=True))

    pairs = {}
    for i in rest:
        for j in left:
            d = distance(i, j)
            alone = all(distance(i, k) > d for k in left if k != j) and all(distance(k, j) > d for k in rest if k != i)
            if d <= most and alone:
                pairs[i] = j
    return [pairs.get(i, found[i]) for i in range(len(second))]


rows = st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=1, max_size=8)


@settings(max_examples=25, deadline=None)
@given(rows, rows, st.integers(0, 3))
def test_it_agrees_with_loops_and_finds_no_row_twice(first, second, most):
    first, second = frame(*first), frame(*second)
    found = match_rows(first, second, most=most)
    assert found.tolist() == naive(first, second, most)
    cases = found[found >= 0]
    assert len(set(cases)) == len(cases)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 10**6), min_size=2, max_size=30, unique=True), st.randoms(use_true_random=False))
def test_a_shuffled_table_is_put_back_in_order_although_an_entry_changed(keys, random):
    first = frame(*((k, k // 7, k % 5, "x", "y") for k in keys))
    order = list(range(len(keys)))
    random.shuffle(order)
    second = first.iloc[order].reset_index(drop=True)
    assert match_rows(first, second).tolist() == order
    changed = second.copy()
    changed.loc[0, "c3"] = "z"
    assert match_rows(first, changed).tolist() == order


def test_copies_are_matched_in_order_and_ties_are_left_open():
    assert match_rows(frame("aaa", "aaa"), frame("aaa", "aaa", "aaa")).tolist() == [0, 1, -1]
    assert match_rows(frame("abc", "abd"), frame("abe")).tolist() == [-1]
    assert match_rows(frame("abc"), frame("xyz")).tolist() == [-1]
    assert match_rows(frame("abc"), frame("xyz"), most=3).dtype == np.int64
