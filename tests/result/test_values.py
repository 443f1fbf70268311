"""A result is a value: parts of it, several as one, equality."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.result.conftest import results

from robust_recourse import NearestAccepted, Recourse, Recourses, RobustBayesianRecourse
from robust_recourse.metrics import accepted_by
from robust_recourse.result._parts import numbered

JOBS = ["boss", "clerk", "cook"]
EXAMPLES = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module")
def found(lender):
    method, refused, _ = lender
    return method.explain(refused, n_recourses=2)


# ---------------------------------------------------------------------------------------------------------------- laws


@EXAMPLES
@given(results(), st.lists(st.integers(0, 5), max_size=4))
def test_slices_put_together_are_the_whole(found, cuts):
    edges = sorted({0, len(found), *(min(cut, len(found)) for cut in cuts)})
    parts = [found[first:last] for first, last in pairwise(edges)] or [found]
    assert Recourses.concat(parts).equals(found)


@EXAMPLES
@given(results(), st.data())
def test_masks_lists_and_slices_choose_the_same_entries(found, data):
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(found), max_size=len(found))), dtype=bool)
    chosen = np.flatnonzero(mask)
    part = found[mask]
    assert part.equals(found[chosen])
    assert part.equals(found[chosen.tolist()])
    assert part.equals(found[chosen - len(found)])
    assert part.equals(found[mask.tolist()] if len(mask) else found[[]])
    assert len(part) == len(chosen)
    np.testing.assert_array_equal(part.n_queries, found.n_queries[mask])
    assert found[:].equals(found)
    assert found[::-1][::-1].x.equals(found.x)


def test_the_options_of_a_selection_are_numbered_as_they_stand_in_it(lender):
    method, refused, _ = lender
    found = method.explain(refused, n_recourses=3)
    k = int(np.flatnonzero(found.rank == 3)[0])
    label = found.labels[k]
    lines = found[[k - 2, k]].describe().splitlines()
    assert [line.split(":")[0] for line in lines] == [f"{label}, option 1 of 2", f"{label}, option 2 of 2"]
    assert found[[k]].describe().startswith(f"{label}: ")
    assert found[[k - 2, k]].rank.tolist() == [1, 3]


def test_a_slice_is_what_explaining_these_rows_gives(lender):
    method, refused, _ = lender
    found = method.explain(refused)
    assert np.isnan(found.cost).any()
    assert found[5:9].equals(method.explain(refused.iloc[5:9]))
    assert found[[7, 2, 2]].equals(method.explain(refused.iloc[[7, 2, 2]]))
    assert Recourses.concat([method.explain(refused.iloc[:6]), method.explain(refused.iloc[6:])]).equals(found)


def test_several_recourses_of_a_person_stay_together(found):
    assert (found.rank > 1).any()
    for k in range(len(found)):
        assert Recourses.concat([found[:k], found[k:]]).equals(found)
    second = int(np.flatnonzero(found.rank == 2)[0])
    part = found[second - 1 : second + 1]
    assert part.person.tolist() == [0, 0]
    assert part.rank.tolist() == [1, 2]
    # The same people twice are other people.
    twice = Recourses.concat([part, part])
    assert twice.person.tolist() == [0, 0, 1, 1]
    assert numbered(np.array([4, 4, 2, 2]), np.array([1, 2, 2, 1])).tolist() == [0, 0, 1, 2]


def test_a_person_is_only_continued_by_their_own_recourses(found):
    second = int(np.flatnonzero(found.rank == 2)[0])
    first = next(i for i in range(len(found)) if found.person[i] != found.person[second] and found.rank[i] == 1)
    assert Recourses.concat([found[[first]], found[[second]]]).person.tolist() == [0, 1]


def test_arrays_and_polars_are_values_too():
    pl = pytest.importorskip("polars")
    X = np.random.default_rng(0).normal(size=(60, 2))
    tables = (X, pl.DataFrame({"x0": X[:, 0], "x1": X[:, 1]}))
    for table, model in zip(tables, (lambda Z: Z[:, 0] > 0.5, lambda Z: (Z["x0"] > 0.5).to_numpy()), strict=True):
        method = NearestAccepted(model, random_state=0).fit(table)
        found = method.explain(table[:9])
        assert found[2:5].equals(method.explain(table[2:5]))
        assert Recourses.concat([found[:4], found[4:]]).equals(found)
        assert not found.equals(method.explain(table[1:10]))
        row = found.x[3] if table is X else found.x.row(3)
        assert list(found[3].x) == list(row)


# -------------------------------------------------------------------------------------------------------------- single


def test_one_recourse_is_in_the_columns_and_units_of_the_table(lender, found):
    _, refused, _ = lender
    for i, one in enumerate(found):
        assert isinstance(one, Recourse)
        for name in ("x0", "x", "boundary"):
            row = getattr(one, name)
            assert isinstance(row, pd.Series)
            assert list(row.index) == list(refused.columns)
            assert row.name == found.x.index[i]
            expected = getattr(found, name).iloc[i]
            assert all(same(a, b) for a, b in zip(row, expected, strict=True))
        for name in ("cost", "budget", "log_worst_case_odds", "worst_case_odds"):
            np.testing.assert_array_equal(getattr(one, name), getattr(found, name)[i])
        for name in ("valid", "status", "reason", "n_queries"):
            assert getattr(one, name) == getattr(found, name)[i]
    assert isinstance(found[0].x0["income"], np.integer)
    assert found[-1].x.equals(found[len(found) - 1].x)


def same(one, other):
    return (pd.isna(one) and pd.isna(other)) or one == other


def test_positions_that_do_not_exist_are_refused(found):
    n = len(found)
    for i in (n, -n - 1, [0, n], [-n - 1], np.ones(n + 1, dtype=bool)):
        with pytest.raises(IndexError, match=f"{n} entries"):
            found[i]
    for i in ("p1", ["p1"], 1.5, [[0]], None):
        with pytest.raises(TypeError, match="takes a position, a slice, a mask or a list"):
            found[i]
    assert len(found[[]]) == 0
    mask = pd.Series(found.valid, index=found.x.index)
    assert found[mask].equals(found[found.valid])


def test_a_mask_in_another_order_is_refused(lender):
    method, refused, _ = lender
    found = method.explain(refused)
    mask = pd.Series(found.valid, index=found.x.index)
    with pytest.raises(ValueError, match="in another order"):
        found[mask.iloc[::-1]]


def test_worst_cases_take_rows_of_the_table(lender):
    method, refused, _ = lender
    found = method.explain(refused.iloc[:, ::-1])
    one = next(one for one in found if one.trace.scales is not None)
    own = one.worst_case()
    for at in (one.x, one.x.iloc[::-1], list(one.x)):
        assert one.worst_case(at).log_odds == pytest.approx(own.log_odds, abs=1e-9)
    k = int(np.flatnonzero(one.trace.neighbourhood.free)[0])
    name = refused.columns[k]
    moved = one.x.copy()
    moved[name] += 10
    point = one.trace.x.copy()
    point[k] += 10 / one.trace.moves.units[k]
    assert one.worst_case(moved).log_odds == one.trace.worst_case(point).log_odds
    assert one.worst_case(moved).log_odds != own.log_odds
    with pytest.raises(ValueError, match=r"at must have the columns of the table; it lacks \['income'\]"):
        one.worst_case(one.x.drop("income"))
    with pytest.raises(ValueError, match="at must have a value for each of the 7 columns, got 2"):
        one.worst_case([1.0, 2.0])


def test_worst_cases_of_arrays_take_rows_in_their_units():
    X = np.random.default_rng(1).normal(size=(300, 2))
    found = RobustBayesianRecourse(lambda Z: Z.sum(axis=1) > 1.0, random_state=0).fit(X).explain([[-1.0, -1.0]])
    np.testing.assert_array_equal(found[0].x, found.x[0])
    assert found[0].worst_case(found.x[0]).log_odds == found[0].worst_case().log_odds
    assert found[0].worst_case(found[0].boundary).log_odds > found[0].worst_case().log_odds


# ------------------------------------------------------------------------------------------------- what does not belong


def test_batches_that_do_not_belong_together_are_refused(found):
    with pytest.raises(ValueError, match="at least one batch"):
        Recourses.concat([])
    with pytest.raises(TypeError, match="a sequence of Recourses, got Recourse"):
        Recourses.concat([found[0]])
    tables = {name: getattr(found, name).rename(columns={"income": "wage"}) for name in ("x", "x0", "boundary")}
    with pytest.raises(ValueError, match=r"parts\[1\] has the columns \['wage'"):
        Recourses.concat([found, replace(found, **tables)])
    with pytest.raises(ValueError, match=r"parts\[2\].threshold is 0.5, and that of parts\[0\] is None"):
        Recourses.concat([found, found, replace(found, threshold=0.5)])
    with pytest.raises(ValueError, match=r"parts\[1\].kinds"):
        Recourses.concat([found, replace(found, kinds=found.kinds[::-1])])
    arrays = {name: getattr(found, name).to_numpy() for name in ("x", "x0", "boundary")}
    with pytest.raises(TypeError, match=r"parts\[1\].x is a ndarray, and that of parts\[0\] a DataFrame"):
        Recourses.concat([found, replace(found, **arrays)])


@pytest.mark.parametrize(
    "other",
    [
        lambda found: replace(found, cost=found.cost + 1e-16 + np.spacing(found.cost)),
        lambda found: replace(found, budget=-found.budget),
        lambda found: replace(found, valid=~found.valid),
        lambda found: replace(found, status=found.status[::-1]),
        lambda found: replace(found, rank=found.rank + 1),
        lambda found: replace(found, x=found.x.astype({"rate": "Float64"})),
        lambda found: replace(found, x=found.x.rename_axis("id")),
        lambda found: replace(found, x=found.x.assign(rate=found.x["rate"] + 1e-9)),
        lambda found: replace(found, x0=found.x0.assign(job=found.x0["job"].cat.as_ordered())),
        lambda found: replace(found, x0=found.x0.assign(job=found.x0["job"].cat.reorder_categories(JOBS[::-1]))),
        lambda found: replace(found, threshold=0.5),
        lambda found: replace(found, favourable=1),
        lambda found: replace(found, provenance=None),
        lambda found: replace(found, orders={}),
        lambda found: found[:-1],
        lambda found: found.x,
    ],
)  # fmt: skip
def test_results_that_differ_are_not_equal(found, other):
    assert found.equals(found[:])
    assert not found.equals(other(found))


def test_how_a_search_went_does_not_count(found):
    assert replace(found, _traces=None).equals(found)


# --------------------------------------------------------------------------------------------------------------- types


def test_types_do_not_depend_on_who_has_a_recourse(lender):
    method, refused, model = lender
    found = method.explain(refused)
    expected = refused.astype({"income": "Int64", "phone": "boolean"}).dtypes
    assert found.x0.dtypes.equals(refused.dtypes)
    exists = np.isfinite(found.cost)
    for part in (
        found,
        found[exists],
        found[~exists],
        method.explain(refused[exists]),
        method.explain(refused[~exists]),
    ):
        assert part.x.dtypes.equals(expected)
        assert part.boundary.dtypes.equals(expected)
    # The model, which insists on the types of its training rows, is asked with these.
    assert accepted_by(model, found.x, like=found.x0)[exists].all()
    assert found.future_validity([model]).accepted[exists].all()
    assert found[exists].future_validity([model]).accepted.all()


def test_without_knowing_better_nullable_columns_without_gaps_are_plain():
    seen = []

    def model(table):
        seen.append([str(dtype) for dtype in table.dtypes])
        return np.ones(len(table), dtype=bool)

    table = pd.DataFrame({"a": pd.array([1, 2], dtype="Int8"), "b": pd.array([True, None], dtype="boolean")})
    accepted_by(model, table)
    accepted_by(model, table, like=table)
    accepted_by(model, table, like=table.assign(a=table["a"].astype("int16")))
    assert seen == [["int8", "boolean"], ["Int8", "boolean"], ["Int8", "boolean"]]


def test_results_are_equal_by_value():
    found = NearestAccepted(lambda X: X[:, 0] > 0.0).fit(np.array([[1.0], [-1.0]])).explain(np.array([[-2.0], [-3.0]]))
    assert found == found[[0, 1]]
    assert found == Recourses.from_json(found.to_json())
    assert found != found[:1]
    assert found != "found"
    with pytest.raises(TypeError, match="unhashable"):
        hash(found)
