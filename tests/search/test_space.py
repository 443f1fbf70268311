"""Points and the rows that they stand for."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse.actions import ActionSet
from robust_recourse.methods._space import OutOfTime, Question, Space

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
    return Space(ACTIONS.schema.read(frame, "X"), MOVES, np.arange(len(frame)))


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
    frame = where.decode(snapped, rows)
    assert frame.dtypes.equals(TRAIN.dtypes)
    broken = {violation.rule for violation in ACTIONS.check(TRAIN, frame)}
    assert broken <= {"bounds", "whole <= same + 9"}
    outside = MOVES.outside(where.table.values, where.table.missing)
    assert "bounds" not in broken or outside.any()


def test_rows_keep_their_bits_if_they_do_not_move():
    frame = space().decode(space().points, np.arange(20))
    pd.testing.assert_frame_equal(frame, TRAIN)


def test_columns_that_never_change_have_no_length_but_count_in_rules():
    where = space()
    np.testing.assert_array_equal(where.points[:, 4], 0.0)
    kept = where.keeps_rules(where.points, np.arange(20))
    np.testing.assert_array_equal(kept, TRAIN["whole"] <= TRAIN["same"] + 9)
    assert where.broken_rule(where.points[19], 19) == "whole <= same + 9"
    assert where.broken_rule(where.points[0], 0) == ""


def test_a_part_of_a_space_goes_by_the_numbers_of_its_rows():
    whole, rows = space(), np.array([3, 7, 12])
    part = whole.take(rows)
    points = some_points(0)
    pd.testing.assert_frame_equal(
        part.decode(points[[12, 3]], np.array([12, 3])), whole.decode(points[[12, 3]], np.array([12, 3]))
    )


def test_derivatives_are_not_rounded():
    where = space()
    points = where.points.copy()
    points[:, 0] += 0.25 / MOVES.units[0]
    np.testing.assert_allclose(where.decode_smoothly(points, np.arange(20))["whole"], TRAIN["whole"] + 0.25)


def test_an_array_is_its_own_space():
    schema = ActionSet().schema_for(np.zeros((2, 2)))
    where = Space(schema.read(np.ones((2, 2)), "X"), ActionSet().resolve(schema), np.arange(2))
    points = np.array([[0.1, 0.2], [0.3, 0.4]])
    for result in (
        where.legal(points, np.arange(2)),
        where.snap(points, np.arange(2)),
        where.decode(points, np.arange(2)),
    ):
        np.testing.assert_array_equal(result, points)


def test_a_question_is_about_model_and_rules_and_has_a_deadline():
    where, rows = space(), np.arange(20)
    ask = Question(lambda points, _: np.ones(len(points), dtype=bool), where)
    np.testing.assert_array_equal(ask(where.points, rows), TRAIN["whole"] <= 14)
    refuse = Question(lambda points, _: np.zeros(len(points), dtype=bool), where)
    assert not refuse(where.points, rows).any()
    with pytest.raises(OutOfTime):
        Question(lambda points, _: points, where, deadline=0.0)(where.points, rows)
