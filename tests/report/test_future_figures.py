from __future__ import annotations

import io

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from robust_recourse import Recourses, Status
from robust_recourse.audits import audit
from robust_recourse.report.figures import draw_audit, draw_future_validity
from robust_recourse.report.figures._style import BLUE, GREY, INK, RED


class Named(list):
    """Models with the names of their scenarios."""

    def __init__(self, models, scenario):
        super().__init__(models)
        self.scenario = np.array(scenario)


def recourses(cost, status=None):
    """Recourses whose only column is their number; a cost of NaN is that of a row without one."""
    n, exists = len(cost), np.isfinite(cost)
    words = np.empty(n, dtype=object)
    words[:] = [Status.OK if found else Status.NOT_FOUND for found in exists] if status is None else status
    x = np.where(exists, np.arange(n, dtype=float), np.nan)[:, None]
    return Recourses(
        x=x,
        boundary=x,
        cost=cost,
        budget=cost,
        valid=exists,
        status=words,
        reason=np.full(n, "Because.", dtype=object),
        log_worst_case_odds=np.full(n, np.nan),
        n_queries=np.ones(n, dtype=int),
        x0=np.zeros((n, 1)),
        person=np.arange(n),
        rank=np.ones(n, dtype=int),
        column_costs=np.zeros((n, 1)),
        kinds=("number",),
    )


def answering(answers):
    """Models that answer for entry k with the k-th row of a matrix."""
    return [lambda X, column=column: column[np.asarray(X)[:, 0].astype(int)] for column in np.asarray(answers).T]


@pytest.fixture(scope="module")
def case():
    """Recourses, groups of which one is worse off, and models of two scenarios."""
    rng = np.random.default_rng(0)
    group = np.repeat(["women", "men"], [90, 120])
    cost = rng.exponential(np.where(group == "women", 3.0, 1.0))
    cost[::9] = np.nan
    answers = rng.random((210, 24)) < np.repeat([0.95, 0.85], 12)
    answers[:20] = True
    return recourses(cost), group, Named(answering(answers), np.repeat(["seeds", "label noise"], 12))


@pytest.fixture(scope="module")
def validity(case):
    found, _, models = case
    return found.future_validity(models)


@pytest.fixture(scope="module")
def audited(case):
    found, group, models = case
    return audit(found, group, models)


@pytest.fixture(scope="module")
def of_validity(validity):
    return draw_future_validity(validity)


@pytest.fixture(scope="module")
def of_audit(audited):
    return draw_audit(audited)


def save(figure):
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()


def markers(ax):
    """The markers of a panel from above: value, row, shape and colour."""
    return [
        (float(line.get_xdata()[0]), int(line.get_ydata()[0]), line.get_marker(), to_hex(line.get_color()))
        for line in ax.lines
        if line.get_marker() in ("o", "D") and len(line.get_xdata()) == 1
    ]


def bars(ax):
    return np.array([collection.get_segments()[0] for collection in ax.collections])


def ticks(ax):
    return [tick.get_text() for tick in ax.get_yticklabels()]


def legend(figure):
    return [text.get_text() for found in figure.legends for text in found.get_texts()]


def note(figure):
    return " ".join(found.get_title().get_text() for found in figure.legends).replace("\n", " ")


def test_scenarios_are_drawn_with_their_intervals(validity, of_validity):
    figure = of_validity
    left, _ = figure.axes
    table = validity.summary()
    assert ticks(left) == ["all models", "seeds", "label noise", "people with a recourse"]
    drawn = markers(left)
    np.testing.assert_allclose([value for value, *_ in drawn], table["future_validity"])
    assert [row for _, row, *_ in drawn] == [0, 1, 2, 3]
    assert [look for *_, look in drawn] == [colour.lower() for colour in (INK, BLUE, RED, GREY)]
    np.testing.assert_allclose(bars(left)[:, :, 0], table[["low", "high"]])
    np.testing.assert_allclose(bars(left)[:, :, 1], np.arange(4)[:, None] * np.ones(2))
    assert left.get_ylim()[0] > left.get_ylim()[1]
    assert set(legend(figure)) == {"all models", "scenario", "worst scenario", "without those who have no recourse"}
    assert [text.get_text() for text in left.texts] == [f"{share:.3f}" for share in table["future_validity"]]
    assert figure.get_suptitle() == validity.title
    assert "The worst scenario is label noise." in note(figure)
    assert "24 people have no recourse" in note(figure)
    assert "level of 95 %" in note(figure)


def test_the_curve_of_people_is_the_part_that_reaches_each_share(validity, of_validity):
    _, right = of_validity.axes
    (curve,) = [line for line in right.lines if len(line.get_xdata()) > 1]
    assert curve.get_drawstyle() == "steps-pre"
    x, y = curve.get_data()
    shares = validity.accepted.mean(axis=1)
    for at in np.linspace(0.01, 1.0, 100):
        assert y[np.searchsorted(x, at)] == pytest.approx(np.mean(shares >= at))
    (dot,) = markers(right)
    assert dot[0] == 1.0
    all_of_them = np.mean(shares == 1.0)
    assert all_of_them > 0.0
    assert right.lines[-1].get_ydata()[0] == pytest.approx(all_of_them)
    assert f"all models accept {all_of_them:.0%}" in right.get_title()


def test_models_without_scenarios_are_drawn_as_one(case):
    found, _, models = case
    figure = draw_future_validity(found.future_validity(list(models)))
    assert ticks(figure.axes[0]) == ["all models", "people with a recourse"]
    assert "scenario" not in legend(figure)
    alone = draw_future_validity(found.future_validity(Named(list(models), ["seeds"] * 24)))
    assert "worst scenario" not in legend(alone)
    assert ticks(alone.axes[0])[1] == "seeds"


@pytest.mark.parametrize("cost", [np.full(3, np.nan), np.ones(1), np.ones(12)])
@pytest.mark.parametrize("answer", [False, True])
def test_extreme_cases_can_be_drawn(cost, answer):
    validity = recourses(cost).future_validity(answering(np.full((len(cost), 3), answer)))
    figure = draw_future_validity(validity)
    save(figure)
    assert ticks(figure.axes[0])[0] == "all models"


@pytest.mark.parametrize("cost", [np.full(3, np.nan), np.ones(1), np.ones(12)])
def test_extreme_groups_can_be_drawn(cost):
    figure = draw_audit(audit(recourses(cost), ["a"] * len(cost)))
    save(figure)
    assert ticks(figure.axes[0]) == [f"a ({len(cost)})"]


def test_groups_are_drawn_with_their_intervals(audited, of_audit):
    figure = of_audit
    titles = ["no recourse", "current validity", "future validity", "median cost"]
    assert [ax.get_title() for ax in figure.axes] == titles
    assert ticks(figure.axes[0]) == ["men (120)", "women (90)"]
    for ax, measure in zip(figure.axes, (title.replace(" ", "_") for title in titles), strict=True):
        np.testing.assert_allclose([value for value, *_ in markers(ax)], audited.groups[measure])
        np.testing.assert_allclose(bars(ax)[:, :, 0], audited.groups[[f"{measure}_low", f"{measure}_high"]])
        (line,) = [line for line in ax.lines if line.get_marker() == "None"]
        assert line.get_xdata()[0] == pytest.approx(audited.everyone[measure])
    assert figure.get_suptitle() == "Audit of 210 refused people in 2 groups"
    assert "Dotted" not in note(figure)


def test_what_is_flagged_is_red(audited, of_audit):
    flagged = audited.comparisons.query("flagged")
    assert flagged[["measure", "group"]].to_numpy().tolist() == [["median_cost", "women"]]
    figure = of_audit
    colours = [[colour for *_, colour in markers(ax)] for ax in figure.axes]
    assert colours == [[BLUE.lower()] * 2] * 3 + [[BLUE.lower(), RED.lower()]]
    assert "flagged" in legend(figure)
    assert "intervals at a level of 99.44 % are apart" in note(figure)


def test_without_flags_nothing_is_red(case):
    found, _, _ = case
    figure = draw_audit(audit(found, np.arange(210) % 2))
    assert len(figure.axes) == 3
    assert all(colour == BLUE.lower() for ax in figure.axes for *_, colour in markers(ax))
    assert "flagged" not in legend(figure)


def test_a_group_of_few_has_a_dotted_line_and_an_empty_one_a_word():
    status = [Status.OK] * 24 + [Status.ALREADY_FAVOURABLE]
    found = recourses(np.r_[np.linspace(1.0, 2.0, 24), 0.0], status)
    figure = draw_audit(audit(found, ["many"] * 20 + ["few"] * 4 + ["none"]))
    cost = figure.axes[-1]
    assert [line.get_linestyle() for line in cost.lines].count(":") == 1
    assert "Dotted: too few people for one." in note(figure)
    assert "1 person is accepted without a recourse" in note(figure)
    for ax in figure.axes:
        assert [text.get_text() for text in ax.texts] == ["nobody"]
        assert len(markers(ax)) == 2
    save(figure)


def test_of_many_groups_the_largest_are_drawn():
    sizes = np.r_[np.full(20, 3), np.full(10, 6)]
    figure = draw_audit(audit(recourses(np.ones(120)), np.repeat(np.arange(30), sizes)))
    assert len(ticks(figure.axes[0])) == 25
    assert ticks(figure.axes[0])[-10:] == [f"{k} (6)" for k in range(20, 30)]
    assert "The 25 largest of 30 groups are drawn." in note(figure)


def test_names_are_shown_as_they_are(case):
    found, group, models = case
    labels = pd.Series(np.where(group == "men", "$\\frac{", "a name that is far too long for an axis"), name="cost_$")
    figure = draw_audit(audit(found, labels, models))
    save(figure)
    assert ticks(figure.axes[0])[0] == "$\\frac{ (120)"
    assert ticks(figure.axes[0])[1].endswith("...")
    assert "by cost_$" in figure.get_suptitle()


def test_names_of_scenarios_are_shown_as_they_are(case):
    found, _, models = case
    named = draw_future_validity(found.future_validity(Named(list(models), np.repeat(["$\\x{", "b_$c$"], 12))))
    save(named)
    assert "$\\x{" in ticks(named.axes[0])


@pytest.mark.parametrize("name", ["of_audit", "of_validity"])
def test_panels_stay_readable_above_the_notes(name, request):
    figure = request.getfixturevalue(name)
    save(figure)
    for ax in figure.axes:
        height = ax.get_window_extent().height / figure.dpi
        assert height > 0.25 * len(ticks(figure.axes[0]))
        assert ax.get_window_extent().y0 > figure.legends[-1].get_window_extent().y1 - 1.0


@pytest.mark.parametrize(("draw", "name"), [(draw_audit, "audited"), (draw_future_validity, "validity")])
def test_no_state_is_kept_and_the_style_is_ours(draw, name, request):
    data, before = request.getfixturevalue(name), dict(mpl.rcParams)
    first = save(draw(data))
    assert plt.get_fignums() == []
    assert dict(mpl.rcParams) == before
    with mpl.rc_context({"axes.facecolor": "black", "text.color": "white", "axes.grid": True}):
        assert save(draw(data)) == first


def test_anything_else_is_refused(audited, validity):
    with pytest.raises(TypeError, match=r"validity must be what found.future_validity returned, got Audit"):
        draw_future_validity(audited)
    with pytest.raises(TypeError, match=r"audit must be what robust_recourse.audit returned, got FutureValidity"):
        draw_audit(validity)
