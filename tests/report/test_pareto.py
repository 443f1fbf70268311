from __future__ import annotations

import io
import re
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

from robust_recourse.report.figures import MethodStyle, pareto
from robust_recourse.report.figures._frontiers import Curve, cost_limits, free_corner, validity_limits

VALIDITIES = ["current validity", "future validity"]
METHODS = {"RBR": 30, "LIME-ROAR": 11, "LIMELS-ROAR": 11, "Wachter": 1, "NearestAccepted": 1}


def configurations(datasets=("synthetic", "german"), methods=METHODS, seed=0):
    rng = np.random.default_rng(seed)
    rows = [
        (dataset, method, *rng.uniform([0.5, 0.6, 0.2], [2.0, 1.0, 1.0]))
        for dataset in datasets
        for method, n in methods.items()
        for _ in range(n)
    ]
    return pd.DataFrame(rows, columns=["dataset", "method", "cost", *VALIDITIES])


@pytest.fixture(scope="module")
def points():
    return configurations()


@pytest.fixture(scope="module")
def figure(points):
    return pareto(points, titles={"german": "German Credit"})


def naive_frontier(rows, validity):
    """All pairs of configurations, by the definition."""
    pairs = rows[["cost", validity]].to_numpy().tolist()
    best = [(c, v) for c, v in pairs if not any(d <= c and w >= v and (d < c or w > v) for d, w in pairs)]
    return np.array(sorted(set(best)))


def panels(figure):
    """The axes by title of the stack and row in it."""
    found = {}
    for ax in figure.axes:
        found.setdefault(round(ax.get_position().x0, 2), []).append(ax)
    stacks = [sorted(stack, key=lambda ax: -ax.get_position().y0) for stack in found.values()]
    return {stack[0].get_title(): stack for stack in stacks}


def line(ax, method):
    (artist,) = [artist for artist in ax.lines if artist.get_label() == method]
    return artist


def dots(ax, colour):
    clouds = [c for c in ax.collections if isinstance(c, PathCollection) and to_hex(c.get_facecolor()[0]) == colour]
    return np.concatenate([np.asarray(cloud.get_offsets()) for cloud in clouds])


def texts(ax):
    return [text.get_text() for text in ax.texts]


def legend(figure):
    (found,) = figure.legends
    return [text.get_text() for text in found.get_texts()]


def note(figure):
    return figure.legends[0].get_title().get_text()


def save(figure):
    file = io.BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()


def test_each_data_set_is_a_column_and_each_validity_a_row(figure):
    stacks = panels(figure)
    assert list(stacks) == ["synthetic", "German Credit"]
    assert [len(stack) for stack in stacks.values()] == [2, 2]
    first, second = stacks.values()
    assert [ax.get_ylabel() for ax in first] == VALIDITIES
    assert [ax.get_ylabel() for ax in second] == ["", ""]
    assert [ax.get_xlabel() for ax in first + second] == ["", "cost"] * 2
    assert [ax.xaxis.get_tick_params()["labelbottom"] for ax in first + second] == [False, True] * 2
    assert all(upper.get_xlim() == lower.get_xlim() for upper, lower in stacks.values())


def test_lines_are_the_frontiers_and_everything_else_is_a_dot(points, figure):
    for dataset, stack in zip(("synthetic", "german"), panels(figure).values(), strict=True):
        for ax, validity in zip(stack, VALIDITIES, strict=True):
            for method in ("RBR", "LIME-ROAR", "LIMELS-ROAR"):
                rows = points[(points["dataset"] == dataset) & (points["method"] == method)]
                drawn, frontier = line(ax, method), naive_frontier(rows, validity)
                np.testing.assert_array_equal(drawn.get_xydata(), frontier)
                assert drawn.get_linestyle() == "-"
                assert drawn.get_marker() not in {"", "None"}
                others = {tuple(row) for row in rows[["cost", validity]].to_numpy()} - set(map(tuple, frontier))
                assert {tuple(spot) for spot in dots(ax, to_hex(drawn.get_color()))} == others
    assert all(cloud.get_alpha() < 0.5 for ax in figure.axes for cloud in ax.collections)


@settings(max_examples=8, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.integers(1, 6), st.integers(0, 4), st.integers(0, 4)),
        min_size=1,
        max_size=12,
    )
)
def test_ties_are_no_trouble(rows):
    points = pd.DataFrame([("d", *row) for row in rows], columns=["dataset", "method", "cost", *VALIDITIES])
    stack = panels(pareto(points))["d"]
    for ax, validity in zip(stack, VALIDITIES, strict=True):
        for method in points["method"].unique():
            expected = naive_frontier(points[points["method"] == method].astype({"cost": float}), validity)
            np.testing.assert_array_equal(line(ax, method).get_xydata(), expected)


def test_single_configurations_are_single_markers(points, figure):
    for dataset, stack in zip(("synthetic", "german"), panels(figure).values(), strict=True):
        for ax, validity in zip(stack, VALIDITIES, strict=True):
            for method, marker in (("Wachter", "*"), ("NearestAccepted", "X")):
                row = points[(points["dataset"] == dataset) & (points["method"] == method)]
                artist = line(ax, method)
                np.testing.assert_array_equal(artist.get_xydata(), row[["cost", validity]].to_numpy())
                assert (artist.get_linestyle(), artist.get_marker()) == ("None", marker)
            assert to_rgb(line(ax, "Wachter").get_color()) == (0.0, 0.0, 0.0)


def test_one_legend_names_every_method_once_in_the_order_of_the_rows(figure):
    assert legend(figure) == [*METHODS, "dominated configuration"]
    assert note(figure) == ""
    handles = {handle.get_label(): handle for handle in figure.legends[0].legend_handles}
    ax = figure.axes[0]
    for method in METHODS:
        assert handles[method].get_color() == line(ax, method).get_color()
        assert handles[method].get_marker() == line(ax, method).get_marker()
        assert (handles[method].get_linestyle() == "None") == (METHODS[method] == 1)
    lonely = pareto(configurations(["d"], methods={"Wachter": 1, "NearestAccepted": 1}))
    assert legend(lonely) == ["Wachter", "NearestAccepted"]


def test_the_robust_recourse_is_emphasised(figure):
    ax = figure.axes[0]
    ours, others = line(ax, "RBR"), [line(ax, method) for method in ("LIME-ROAR", "LIMELS-ROAR")]
    assert all(ours.get_linewidth() > other.get_linewidth() for other in others)
    assert all(ours.get_markersize() > other.get_markersize() for other in others)
    assert all(ours.get_zorder() > other.get_zorder() for other in others)


def test_styles_can_be_given():
    style = MethodStyle("#123456", "p", emphasised=True)
    ax = pareto(configurations(["d"]), styles={"LIME-ROAR": style}).axes[0]
    assert (line(ax, "LIME-ROAR").get_color(), line(ax, "LIME-ROAR").get_marker()) == ("#123456", "p")
    assert line(ax, "LIME-ROAR").get_linewidth() == line(ax, "RBR").get_linewidth()
    assert line(ax, "LIMELS-ROAR").get_color() != "#123456"


def with_outliers():
    """Frontiers of validity 0.5 to 1, and three dominated configurations far below."""
    good = [("d", "RBR", 1.0 + k / 10, 0.5 + k / 10, 0.9) for k in range(6)]
    bad = [("d", "RBR", 1.2, low, 0.89) for low in (0.0, 0.1, 0.2)]
    return pd.DataFrame(good + bad, columns=["dataset", "method", "cost", *VALIDITIES])


def test_panels_are_zoomed_to_the_frontiers_and_say_what_they_do_not_show():
    points = with_outliers()
    current, future = panels(pareto(points))["d"]
    assert 0.4 < current.get_ylim()[0] < 0.5
    assert 1.0 < current.get_ylim()[1] < 1.1
    assert texts(current) == ["3 not shown"]
    assert texts(future) == []
    for ax, validity in ((current, VALIDITIES[0]), (future, VALIDITIES[1])):
        (low, high), (left, right) = ax.get_ylim(), ax.get_xlim()
        inside = points[validity].between(low, high) & points["cost"].between(left, right)
        counted = sum(int(text.split()[0]) for text in texts(ax))
        assert counted == (~inside).sum()


def test_every_frontier_is_inside_if_costs_are_alike():
    for ax in pareto(configurations(seed=3)).axes:
        drawn = np.concatenate([artist.get_xydata() for artist in ax.lines])
        for values, limits in ((drawn[:, 0], ax.get_xlim()), (drawn[:, 1], ax.get_ylim())):
            assert limits[0] < values.min() < values.max() < limits[1]
        # Zoomed: the frontiers take most of the room.
        assert np.ptp(drawn[:, 1]) > 0.85 * np.ptp(ax.get_ylim())


def test_an_extravagant_method_is_marked_at_the_edge_with_its_cost():
    points = pd.concat(
        [
            configurations(["d"]).query("method != 'NearestAccepted'"),
            pd.DataFrame(
                [("d", "NearestAccepted", 31.4, 1.0, 0.8)], columns=["dataset", "method", "cost", *VALIDITIES]
            ),
        ]
    )
    figure = pareto(points)
    for ax, validity in zip(panels(figure)["d"], (1.0, 0.8), strict=True):
        assert ax.get_xlim()[1] < 4.0
        assert "31.4 →" in texts(ax)
        assert any(re.fullmatch(r"\d+ not shown", text) for text in texts(ax))
        (mark,) = [a for a in ax.lines if a.get_marker() == "X" and a.get_transform() != ax.transData]
        x, y = mark.get_transform().transform(mark.get_xydata())[0]
        box = ax.get_window_extent()
        assert 0.9 * box.width < x - box.x0 <= box.width
        assert ax.transData.inverted().transform((x, y))[1] == pytest.approx(validity)
        assert to_hex(mark.get_markerfacecolor()) == to_hex("white")
    assert "NearestAccepted" in legend(figure)


def test_a_single_point_still_has_a_panel():
    points = pd.DataFrame([("d", "Wachter", 0.0, 1.0, 1.0)], columns=["dataset", "method", "cost", *VALIDITIES])
    for ax in pareto(points).axes:
        (low, high), (left, right) = ax.get_ylim(), ax.get_xlim()
        assert low < 1.0 < high
        assert left < 0.0 < right
        assert texts(ax) == []


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_any_number_of_data_sets_fits_and_nothing_covers_anything(n):
    figure = pareto(configurations([f"data set {k}" for k in range(n)]))
    assert type(figure) is Figure
    assert save(figure).startswith(b"\x89PNG")
    assert len(figure.axes) == 2 * n
    width, height = figure.get_size_inches() * figure.dpi
    assert width <= 900.0
    boxes = [*(ax.get_tightbbox() for ax in figure.axes), figure.legends[0].get_window_extent()]
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])
        assert box.x0 >= -1.0
        assert box.y0 >= -1.0
        assert box.x1 <= width + 1.0
        assert box.y1 <= height + 1.0
    for ax in figure.axes:
        labels = [
            label.get_window_extent() for label in ax.get_xticklabels() if label.get_text() and label.get_visible()
        ]
        shown = [box for box in labels if box.width > 0.0]
        assert not any(left.overlaps(right) for left, right in pairwise(shown))
        assert 2 <= len(ax.get_yticks()) <= 9


@pytest.mark.slow
def test_wrapped_panels_keep_their_labels():
    figure = pareto(configurations([f"data set {k}" for k in range(5)]))
    assert [ax.get_title() for ax in figure.axes if ax.get_title()] == [f"data set {k}" for k in range(5)]
    assert [ax.get_xlabel() for ax in figure.axes].count("cost") == 5
    assert [ax.get_ylabel() for ax in figure.axes].count("future validity") == 2


@pytest.mark.slow
def test_missing_combinations_are_left_empty(points):
    points = points[~((points["dataset"] == "german") & points["method"].isin(["RBR", "Wachter"]))]
    points = points[~((points["dataset"] == "synthetic") & (points["method"] == "LIME-ROAR"))]
    figure = pareto(points)
    stacks = panels(figure)
    drawn = {name: {artist.get_label() for artist in stack[0].lines} for name, stack in stacks.items()}
    assert drawn["german"] == {"LIME-ROAR", "LIMELS-ROAR", "NearestAccepted"}
    assert drawn["synthetic"] == {"RBR", "LIMELS-ROAR", "Wachter", "NearestAccepted"}
    assert legend(figure) == [
        "RBR",
        "LIMELS-ROAR",
        "Wachter",
        "NearestAccepted",
        "LIME-ROAR",
        "dominated configuration",
    ]


def test_rows_without_numbers_are_left_out_and_counted():
    points = configurations(["a", "b"])
    points.loc[points["dataset"] == "b", "cost"] = np.nan
    points.loc[0, "future validity"] = np.inf
    figure = pareto(points)
    assert note(figure) == f"{(points['dataset'] == 'b').sum() + 1} configurations lack a number and are left out."
    assert [texts(ax) for ax in panels(figure)["b"]] == [["no results"]] * 2
    expected = naive_frontier(
        points[(points["dataset"] == "a") & (points["method"] == "RBR")].drop(index=0), "current validity"
    )
    np.testing.assert_array_equal(line(panels(figure)["a"][0], "RBR").get_xydata(), expected)
    save(figure)


def test_other_columns_can_be_drawn():
    points = configurations().rename(columns={"cost": "L2", "future validity": "worst"})
    figure = pareto(points, x="L2", validities=["worst"])
    assert len(figure.axes) == 2
    assert figure.axes[0].get_ylabel() == "worst"
    assert figure.axes[0].get_xlabel() == "L2"
    assert len(pareto(points, x="L2", validities="worst").axes) == 2


def test_the_order_of_the_rows_only_orders_the_legend(points, figure):
    shuffled = panels(pareto(points.sample(frac=1.0, random_state=0), titles={"german": "German Credit"}))
    for name, stack in panels(figure).items():
        for ax, other in zip(stack, shuffled[name], strict=True):
            for method in METHODS:
                np.testing.assert_array_equal(line(ax, method).get_xydata(), line(other, method).get_xydata())


def test_nullable_numbers_categories_and_odd_names_are_fine():
    points = configurations(["a_$b", "\\frac{$"], {"RBR": 5}).astype({"dataset": "category", "cost": "Float64"})
    points.loc[0, "cost"] = pd.NA
    figure = pareto(points)
    save(figure)
    assert list(panels(figure)) == ["a_$b", "\\frac{$"]
    assert note(figure).startswith("1 configuration ")


def test_errors_name_the_column(points):
    for column in points.columns:
        with pytest.raises(ValueError, match=rf"points has no column '{column}'\. Its columns are"):
            pareto(points.drop(columns=column))
    with pytest.raises(ValueError, match="points has no column 'seconds'"):
        pareto(points, x="seconds")
    with pytest.raises(ValueError, match="points is empty"):
        pareto(points.iloc[:0])
    with pytest.raises(ValueError, match=r"points\['cost'\] must hold numbers"):
        pareto(points.assign(cost="cheap"))
    with pytest.raises(ValueError, match=r"points\['method'\] has no value in row 1"):
        pareto(points.assign(method=[None if k == 1 else "RBR" for k in range(len(points))]))
    with pytest.raises(ValueError, match="validities is empty"):
        pareto(points, validities=[])
    with pytest.raises(TypeError, match="points must be a DataFrame"):
        pareto(points.to_dict())


@pytest.mark.slow
def test_nothing_is_opened_no_setting_is_kept_and_none_is_used():
    import matplotlib.pyplot as plt

    points = configurations(["d"])
    before, plain = dict(mpl.rcParams), save(pareto(points))
    assert plt.get_fignums() == []
    assert {key: mpl.rcParams[key] for key in before} == before
    with mpl.rc_context({"axes.facecolor": "black", "text.color": "white", "legend.fontsize": 30, "axes.grid": True}):
        assert save(pareto(points)) == plain


def curve(method, line):
    cost, validity = np.array(line, dtype=float).T
    return Curve(method, cost, validity, np.arange(len(cost)))


def test_costs_end_at_three_times_the_median_frontier():
    near = [curve("a", [(1.0, 0.5), (2.0, 0.9)]), curve("b", [(1.5, 0.5), (2.2, 0.9)])]
    far = curve("c", [(1.5, 0.3), (6.0, 0.4), (20.0, 1.0)])
    assert cost_limits(near)[1] == pytest.approx(2.2 + 0.07 * 1.2)
    low, high = cost_limits([*near, far])
    assert high == pytest.approx(6.0 + 0.07 * 5.0)
    assert low == pytest.approx(1.0 - 0.07 * 5.0)
    # A frontier that is wholly beyond gets room at the edge, beyond all others.
    left, right = cost_limits([*near, curve("c", [(20.0, 1.0)])])
    assert right - 2.2 > 0.15 * (right - left)
    # What is beyond the end does not stretch the panel upwards.
    assert validity_limits([*near, far], (low, high))[1] == pytest.approx(0.9 + 0.07 * 0.6)


def test_notes_go_where_nothing_is():
    rng = np.random.default_rng(0)
    cloud = rng.uniform(0.0, 1.0, (300, 2))
    for corner in ((1.0, 0.0), (0.0, 1.0), (0.0, 0.0), (1.0, 1.0)):
        spots = cloud[(np.abs(cloud - corner) > (0.42, 0.14)).any(axis=1)]
        found = free_corner([Curve("a", *spots.T, np.array([0]))], (0.0, 1.0), (0.0, 1.0), (0.42, 0.14))
        assert found == corner
