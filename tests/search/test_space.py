"""Points and the rows that they stand for."""

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse.actions import ActionSet
from robust_recourse.search.space import Space

TRAIN = pd.DataFrame(
    {
        "whole": np.arange(20, dtype="int8"),
        "cents": np.round(np.linspace(0.07, 9.81, 20), 2),
        "real": np.linspace(-1.0, 1.0, 20) ** 3 * np.pi,
        "single": np.linspace(-1.0, 1.0, 20).astype("float32") / 3,
        "same": 5.0,
        "kind": list("abcde") * 4,
    }
)
ACTIONS = ActionSet(TRAIN, increase=["whole"], bounds={"cents": (0.1, 9.0)}, rules=["whole <= same + 9"])
MOVES = ACTIONS.resolve(ACTIONS.schema)


def space(frame=TRAIN):
    return Space.of(ACTIONS.schema.read(frame, "X"), MOVES)


def some_points(seed):
    """Points around the rows, some coordinates of which did not move."""
    rng = np.random.default_rng(seed)
    own = space().points
    points = own + np.where(rng.random(own.shape) < 0.6, rng.normal(0.0, 2.0, own.shape), 0.0)
    points[:, 4] = own[:, 4]
    points[:, 5] = rng.integers(0, 5, len(own))
    return points


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["nearest", "inward", "outward"]))
def test_a_snapped_point_is_the_row_that_it_stands_for(seed, rounding):
    where, points, rows = space(), some_points(seed), np.arange(20)
    snapped = where.snap(points, rows, rounding)
    values = where.legal(points, rows, rounding)
    # What is on no grid may differ in the last bit: it is a quotient.
    np.testing.assert_allclose(where.legal(snapped, rows), values, rtol=1e-15, atol=0.0)
    on_grid = [0, 1, 3, 4, 5]
    np.testing.assert_array_equal(where.legal(snapped, rows)[:, on_grid], values[:, on_grid])
    np.testing.assert_array_equal(where.snap(snapped, rows)[:, on_grid], snapped[:, on_grid])
    kept = values == where.table.values
    np.testing.assert_array_equal(snapped[kept], where.points[kept])
    frame = where.decode(where.legal(snapped, rows), rows)
    assert frame.dtypes.equals(TRAIN.dtypes)
    broken = {violation.rule for violation in ACTIONS.check(TRAIN, frame)}
    assert broken <= {"whole <= same + 9"}


def test_rows_keep_their_bits_if_they_do_not_move():
    where = space()
    frame = where.decode(where.legal(where.points, np.arange(20)), np.arange(20))
    pd.testing.assert_frame_equal(frame, TRAIN)


def test_columns_that_never_change_have_no_length_but_count_in_rules():
    where = space()
    np.testing.assert_array_equal(where.points[:, 4], 0.0)
    kept = where.keeps_rules(where.legal(where.points, np.arange(20)), np.arange(20))
    np.testing.assert_array_equal(kept, TRAIN["whole"] <= TRAIN["same"] + 9)
    assert where.broken_rule(where.points[19], 19) == "whole <= same + 9"
    assert where.broken_rule(where.points[0], 0) == ""


def test_a_part_of_a_space_numbers_its_people_anew_and_knows_their_rows():
    whole, people = space(), np.array([3, 12, 7, 3])
    part = whole.take(people)
    assert len(part) == 4
    np.testing.assert_array_equal(part.rows, people)
    np.testing.assert_array_equal(part.take(np.array([1, 3])).rows, [12, 3])
    np.testing.assert_array_equal(part.points, whole.points[people])
    points, own = some_points(0)[people], np.arange(4)
    np.testing.assert_array_equal(part.legal(points, own), whole.legal(points, people))
    values = whole.legal(points, people)
    pd.testing.assert_frame_equal(part.decode(values, own), whole.decode(values, people))


def test_what_changes_cost_adds_up_to_the_cost_of_points():
    where, points = space(), some_points(1)
    snapped = where.snap(points, np.arange(20))
    costs = where.column_costs(snapped, np.arange(20))
    assert ((costs > 0.0) == (snapped != where.points)).all()
    np.testing.assert_allclose(costs.sum(axis=1), MOVES.limits().cost(snapped, where.points), rtol=1e-9, atol=1e-12)


def test_derivatives_are_not_rounded():
    where = space()
    points = where.points.copy()
    points[:, 0] += 0.25 / MOVES.units[0]
    np.testing.assert_allclose(where.decode_smoothly(points, np.arange(20))["whole"], TRAIN["whole"] + 0.25)


def test_an_array_is_its_own_space():
    schema = ActionSet().schema_for(np.zeros((2, 2)))
    where = Space.of(schema.read(np.ones((2, 2)), "X"), ActionSet().resolve(schema))
    points, people = np.array([[0.1, 0.2], [0.3, 0.4]]), np.arange(2)
    assert where.exact
    assert not space().exact
    for result in (where.legal(points, people), where.snap(points, people), where.decode(points, people)):
        np.testing.assert_array_equal(result, points)
