"""The figure of a tuning: everything that was measured on all people, and what was checked."""

from __future__ import annotations

import io

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from robust_recourse.report.figures import draw_tuning
from robust_recourse.report.figures._style import BLUE, GREEN, GREY, INK, RED
from robust_recourse.tuning import Tuning
from robust_recourse.tuning._families import Basis, Family
from robust_recourse.tuning._halving import Dial
from robust_recourse.tuning._study import Measured

BASIS = Basis(0.2, 0.2, robust=True)
FAMILIES = {mode: Family(mode, 1.0, 0.5, 0.1, axes=True) for mode in ("odds", "budget")}


def measured(parameters, cost, validity, n=30, m=12):
    costs = np.full(n, np.nan if cost is None else cost)
    return Measured(parameters, costs, np.full(n, validity), np.full(m, validity), n_queries=5)


def dial(mode, points, n=30):
    """A dial with strengths 1, 2, 3 and so on, of which costs and validities are given."""
    tried = {
        float(k): measured(FAMILIES[mode].parameters(float(k), BASIS), *point, n=n) for k, point in enumerate(points, 1)
    }
    return Dial(FAMILIES[mode], 0.9, tried=tried)


def tuning(dials, checks, target=0.9):
    told = {
        "method": "RobustBayesianRecourse",
        "others": {},
        "scenarios": ("bootstrap",),
        "seed": 0,
        "first_juror": 0,
        "work": 99,
    }
    return Tuning.of(dials=dials, checks=checks, target=target, **told)


FEWER = dial("odds", [(0.1, 0.1), (0.2, 0.99)], n=9)
ODDS = dial("odds", [(1.0, 0.7), (1.3, 0.85), (1.4, 0.94)])
BUDGET = dial("budget", [(1.1, 0.8), (1.35, 0.84), (1.5, 0.93)])
CHOSEN = ODDS.tried[3.0].parameters


@pytest.fixture(scope="module")
def found():
    first = measured(ODDS.tried[2.0].parameters, 2.2, 0.82, n=25)
    return tuning([FEWER, ODDS, BUDGET], [first, *(measured(CHOSEN, 2.4, share, n=25) for share in (0.95, 0.91))])


@pytest.fixture(scope="module")
def figure(found):
    return draw_tuning(found)


def save(figure):
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()


def spots(ax, colour):
    """The points of a colour."""
    clouds = [cloud for cloud in ax.collections if len(cloud.get_offsets()) and hasattr(cloud, "get_sizes")]
    mine = [cloud for cloud in clouds if to_hex(cloud.get_facecolor()[0]) == colour.lower()]
    return [tuple(spot.round(9).tolist()) for cloud in mine for spot in np.asarray(cloud.get_offsets())]


def markers(ax, marker):
    return [
        (*spot.round(9).tolist(), to_hex(line.get_color()))
        for line in ax.lines
        if line.get_marker() == marker
        for spot in line.get_xydata()
    ]


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def note(figure):
    return figure.legends[0].get_title().get_text().replace("\n", " ")


def test_all_configurations_of_all_people_are_drawn_and_their_modes_told_apart(figure):
    left, _ = figure.axes
    assert spots(left, BLUE) == [(1.0, 0.7), (1.3, 0.85), (1.4, 0.94)]
    assert spots(left, GREEN) == [(1.1, 0.8), (1.35, 0.84), (1.5, 0.93)]
    shapes = [len(cloud.get_paths()[0]) for cloud in left.collections]
    assert len(shapes) == len(set(shapes)) == 2
    assert left.get_xlabel() == "mean cost"
    assert left.get_ylabel() == "future validity"
    assert left.get_title() == "to choose (30 people, 12 models)"


def test_the_frontier_is_a_line(found, figure):
    left, _ = figure.axes
    (line,) = [line for line in left.lines if line.get_label() == "frontier"]
    expected = [(1.0, 0.7), (1.1, 0.8), (1.3, 0.85), (1.4, 0.94)]
    np.testing.assert_array_equal(line.get_xydata(), found.frontier[["cost", "future_validity"]])
    np.testing.assert_allclose(line.get_xydata(), expected, rtol=1e-12)
    assert line.get_linestyle() == "-"


def test_the_target_is_a_dotted_line_on_both_sides(figure):
    for ax in figure.axes:
        (line,) = [line for line in ax.lines if line.get_linestyle() == ":"]
        assert set(line.get_ydata()) == {0.9}
        assert to_hex(line.get_color()) == INK.lower()


def test_the_chosen_one_has_a_ring_and_its_check_an_interval(found, figure):
    left, right = figure.axes
    ring = RED.lower()
    assert markers(left, "o") == [(1.4, 0.94, ring)]
    assert markers(right, "D") == [(2.0, 0.91, ring), (0.0, 0.82, GREY.lower()), (1.0, 0.95, GREY.lower())]
    (bar,) = right.collections
    np.testing.assert_allclose(
        bar.get_segments()[0], [(2.0, found.future_validity.low), (2.0, found.future_validity.high)]
    )
    assert found.future_validity.low < 0.91 < found.future_validity.high
    assert [tick.get_text() for tick in right.get_xticklabels()] == ["2.2", "2.4", "2.4"]
    assert right.get_title() == "to check (others)"


def test_checks_stand_in_the_order_of_their_costs():
    others = [measured(ODDS.tried[k].parameters, cost, 0.8, n=25) for k, cost in ((1.0, 3.5), (2.0, None))]
    _, right = draw_tuning(tuning([ODDS], [*others, measured(CHOSEN, 2.4, 0.91, n=25)])).axes
    assert [tick.get_text() for tick in right.get_xticklabels()] == ["2.4", "3.5", "none"]
    assert markers(right, "D") == [(0.0, 0.91, RED.lower()), (1.0, 0.8, GREY.lower()), (2.0, 0.8, GREY.lower())]
    (bar,) = right.collections
    assert {x for x, _ in bar.get_segments()[0]} == {0.0}


def test_legend_title_and_note_say_what_is_to_be_seen(found, figure):
    assert legend(figure) == [
        "promised odds",
        "budget",
        "frontier",
        "chosen",
        "target 0.9",
        "chosen, checked: 0.910",
        "checked before",
    ]
    assert figure.get_suptitle() == "What a future validity of 0.9 costs"
    assert found.summary in note(figure)
    assert "level of 95 %" in note(figure)
    assert "beyond" not in note(figure)


def test_everything_is_inside_and_nothing_covers_anything(figure):
    assert type(figure) is Figure
    assert save(figure).startswith(b"\x89PNG")
    left, right = figure.axes
    assert left.get_ylim() == right.get_ylim()
    for ax in (left, right):
        (low, high), (first, last) = ax.get_ylim(), ax.get_xlim()
        drawn = [*spots(ax, BLUE), *spots(ax, GREEN), *(spot[:2] for spot in markers(ax, "D"))]
        assert all(first < x < last and low < y < high for x, y in drawn)
    low, high = right.collections[0].get_segments()[0][:, 1]
    assert right.get_ylim()[0] < low < high < right.get_ylim()[1]
    width, height = figure.get_size_inches() * figure.dpi
    boxes = [*(ax.get_tightbbox() for ax in figure.axes), figure.legends[0].get_window_extent()]
    boxes.append(figure._suptitle.get_window_extent())
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])
        assert box.x0 >= -1.0
        assert box.y0 >= -1.0
        assert box.x1 <= width + 1.0
        assert box.y1 <= height + 1.0


def test_one_check_and_one_mode_need_less():
    one = draw_tuning(tuning([BUDGET], [measured(BUDGET.tried[3.0].parameters, 2.0, 0.92)]))
    assert legend(one) == ["budget", "frontier", "chosen", "target 0.9", "chosen, checked: 0.920"]
    assert len(markers(one.axes[1], "D")) == 1
    save(one)


def test_a_choice_that_is_not_among_those_of_all_people_has_no_ring():
    other = measured({**CHOSEN, "target_odds": 0.123}, 2.0, 0.92)
    figure = draw_tuning(tuning([ODDS], [other]))
    assert "chosen" not in legend(figure)
    assert markers(figure.axes[0], "o") == []
    # None stands for no promise, and is no number that is missing.
    budget = draw_tuning(tuning([ODDS, BUDGET], [measured(BUDGET.tried[2.0].parameters, 2.0, 0.92)]))
    assert markers(budget.axes[0], "o") == [(1.35, 0.84, RED.lower())]


def test_what_is_far_beyond_the_frontier_is_counted_and_does_not_squeeze_it():
    far = dial("odds", [(1.0, 0.7), (1.2, 0.8), (1.4, 0.94), (9.0, 0.93), (1.3, 0.01)])
    figure = draw_tuning(tuning([far], [measured(CHOSEN, 2.4, 0.91)]))
    left, _ = figure.axes
    assert left.get_xlim()[1] < 2.5
    assert left.get_ylim()[0] > 0.3
    assert "2 configurations are beyond the panel." in note(figure)
    one = dial("odds", [(1.0, 0.7), (1.2, 0.8), (1.4, 0.94), (9.0, 0.93)])
    assert "1 configuration is beyond the panel." in note(draw_tuning(tuning([one], [measured(CHOSEN, 2.4, 0.91)])))


def test_a_dear_choice_is_shown_wherever_it_is():
    far = dial("odds", [(1.0, 0.7), (1.2, 0.95), (9.0, 0.93)])
    figure = draw_tuning(tuning([far], [measured(far.tried[3.0].parameters, 8.0, 0.91)]))
    assert figure.axes[0].get_xlim()[1] > 9.0
    assert "beyond" not in note(figure)


def test_where_nobody_has_a_recourse_there_is_still_a_figure():
    nobody = dial("budget", [(None, 0.0), (None, 0.0)])
    nothing = tuning([nobody], [measured(nobody.tried[1.0].parameters, None, 0.0)])
    figure = draw_tuning(nothing)
    save(figure)
    assert "2 configurations are beyond the panel." in note(figure)
    assert [tick.get_text() for tick in figure.axes[1].get_xticklabels()] == ["none"]
    assert "was not reached" in note(figure)
    some = dial("budget", [(None, 0.0), (1.0, 0.4)])
    assert spots(draw_tuning(tuning([some], [measured(some.tried[2.0].parameters, 1.0, 0.4)])).axes[0], GREEN)[1] == (
        1.0,
        0.4,
    )


def test_a_target_of_one_that_is_always_met_has_a_panel():
    sure = dial("budget", [(1.0, 1.0)])
    figure = draw_tuning(tuning([sure], [measured(sure.tried[1.0].parameters, 1.0, 1.0)], target=1.0))
    for ax in figure.axes:
        assert ax.get_ylim()[0] < 1.0 < ax.get_ylim()[1]
        assert ax.get_xlim()[0] < ax.get_xlim()[1]
    save(figure)


def test_other_objects_are_named():
    with pytest.raises(TypeError, match="tuning must be tuning_ of a TunedRecourse, got dict"):
        draw_tuning({})


def test_nothing_is_opened_no_setting_is_kept_and_none_is_used(found, figure):
    before, plain = dict(mpl.rcParams), save(figure)
    assert plt.get_fignums() == []
    with mpl.rc_context({"axes.facecolor": "black", "text.color": "white", "legend.fontsize": 30, "axes.grid": False}):
        assert save(draw_tuning(found)) == plain
    assert {key: mpl.rcParams[key] for key in before} == before


@pytest.mark.parametrize(
    ("costs", "told"),
    [
        ((6.053, 6.0571, 6.0613), ["6.053", "6.057", "6.061"]),
        ((6.053, 6.0613, 6.0613), ["6.05", "6.06", "6.06"]),
        ((None, 1.5, 1.5000001), ["1.5", "1.5", "none"]),
    ],
)
def test_costs_that_differ_are_told_apart(costs, told):
    _, right = draw_tuning(tuning([ODDS], [measured(CHOSEN, cost, 0.8, n=25) for cost in costs])).axes
    assert [tick.get_text() for tick in right.get_xticklabels()] == told
