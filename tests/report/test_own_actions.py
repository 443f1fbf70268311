"""Figures of people with costs of their own, with columns that follow others, and with switches only."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from robust_recourse import ActionSet, NearestAccepted, RobustBayesianRecourse
from robust_recourse.report import _facts as facts
from robust_recourse.report._axis import Categories, Numbers
from robust_recourse.report._plane import choose_plane
from robust_recourse.report._ways import boundary_of
from robust_recourse.report._window import Window, window_around
from robust_recourse.report.figures import draw_jury, illustration, level_sets, worst_case

PAIRS = [(0, 0), (3000, 2), (6000, 8)]
YEARS = {"none": 9, "apprenticeship": 12, "degree": 16}


def accepts(X):
    own, years = X["housing"].to_numpy() == "own", X["school"].map(YEARS)
    return X["income"] / 1000 + X["savings"] / 4000 + own + years / 8 > 6.0


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "income": (rng.lognormal(7.9, 0.4, 400)).round(-1),
            "savings": rng.gamma(1.0, 4000, 400).round(),
            "housing": rng.choice(["rent", "own", "family"], 400),
            "school": rng.choice(list(YEARS), 400),
        }
    )


def explain(table, model=accepts, **words):
    method = RobustBayesianRecourse(model, ActionSet(**words), random_state=0, n_samples=60).fit(table)
    return method.explain(table[~np.asarray(model(table))].head(12))


def with_samples(found):
    return [recourse for recourse in found if recourse.trace.neighbourhood is not None]


def drawn(figure):
    figure.savefig(io.BytesIO(), format="png")
    return figure.axes


def ticks(axis):
    return [(place, label.get_text()) for place, label in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)]


def painted(recourse, model, directions):
    """Where the plane of two columns is accepted, as a function of the coordinates of points."""
    plane = choose_plane(recourse, directions, show="way")
    trace, around = recourse.trace, recourse.trace.neighbourhood
    points = np.array([trace.x0, around.centre, trace.x, *around.samples])
    u, v, labels = facts.regions(model, None, plane, window_around(plane.spots(points), plane, 1.0), recourse)
    return plane, lambda spot: labels[np.abs(v - spot[1]).argmin(), np.abs(u - spot[0]).argmin()]


@pytest.mark.parametrize("cost", ["percentile", {"income": PAIRS}, {"income": PAIRS, "savings": "percentile"}])
def test_costs_of_ones_own_have_axes_of_numbers(table, cost):
    immutable = ["housing", "school"]
    found = with_samples(explain(table, cost=cost, immutable=immutable))
    knots = np.sort(table["income"])
    assert found
    for recourse in found:
        plane, accepted = painted(recourse, accepts, ("income", "savings"))
        assert all(isinstance(axis, Numbers) for axis in plane.axes)
        spots = plane.project(np.array([recourse.trace.x0, recourse.trace.boundary, recourse.trace.x]))
        rows = pd.DataFrame([recourse.x0, recourse.boundary, recourse.x])
        for k, name in enumerate(["income", "savings"]):
            np.testing.assert_allclose(plane.axes[k].at(spots[:, k]), rows[name].astype(float), rtol=1e-9)
            np.testing.assert_allclose(plane.axes[k].place(plane.axes[k].at(spots[:, k])), spots[:, k], atol=1e-12)
        if cost == "percentile":
            below = np.array([(knots < value).mean() for value in rows["income"]])
            np.testing.assert_allclose(spots[:, 0], below, atol=0.02)
        elif isinstance(cost, dict):
            np.testing.assert_allclose(spots[:, 0], np.interp(rows["income"].astype(float), *np.array(PAIRS).T))
        # Nothing but the two columns may change, so that the plane holds every sample.
        labels = [accepted(spot) for spot in plane.project(recourse.trace.neighbourhood.samples)]
        assert np.mean(labels == recourse.trace.neighbourhood.accepted) > 0.95
        assert not accepted(spots[0])


@pytest.mark.parametrize("cost", ["percentile", {"income": PAIRS}])
@pytest.mark.parametrize("draw", [illustration, level_sets, worst_case])
def test_ticks_of_uneven_axes_are_numbers_apart(table, cost, draw):
    recourse = with_samples(explain(table, cost=cost, immutable=["housing", "school"]))[0]
    ax = drawn(draw(recourse, directions=("income", "savings")))[0]
    axis = choose_plane(recourse, ("income", "savings")).axes[0]
    places, numbers = zip(*((place, float(word.replace(",", ""))) for place, word in ticks(ax.xaxis)), strict=True)
    assert len(numbers) >= 2
    np.testing.assert_allclose(axis.at(np.array(places)), numbers)
    assert np.diff(places).min() >= 0.1 * np.ptp(ax.get_xlim())
    assert table["income"].min() <= min(numbers)
    assert max(numbers) <= table["income"].max()
    if draw is illustration:
        samples = [c for c in ax.collections if "samples" in str(c.get_label())]
        assert sum(len(part.get_offsets()) for part in samples) == 60


def test_a_short_column_with_a_cost_of_its_own():
    short = pd.DataFrame({"rate": np.linspace(0, 8, 300).astype(np.float16)})

    def model(X):
        assert X["rate"].dtype == np.float16
        return X["rate"] > 5

    for recourse in with_samples(explain(short, model, cost={"rate": "percentile"}))[:2]:
        assert isinstance(choose_plane(recourse, show="way").axes[0], Numbers)
        drawn(illustration(recourse, model))


def test_a_value_of_ones_own_stays_off_the_grid(table):
    found = with_samples(explain(table, step={"savings": 1000}))
    stays = [r for r in found if r.x["savings"] == r.x0["savings"] and r.x0["savings"] % 1000]
    assert stays
    for recourse in stays:
        rows = recourse.trace.became(np.array([recourse.trace.x0, recourse.trace.x]))
        np.testing.assert_array_equal(rows[:, 1], recourse.x0["savings"])


def test_worst_cases_of_rows_with_a_cost_of_their_own(table):
    recourse = with_samples(explain(table, cost="percentile", immutable=["housing", "school"]))[0]
    assert recourse.worst_case(recourse.x).log_odds == pytest.approx(recourse.worst_case().log_odds, abs=1e-9)
    assert recourse.worst_case(recourse.boundary).log_odds != recourse.worst_case().log_odds


def test_boundary_points_cost_what_their_columns_do(table):
    actions = {"cost": "percentile", "immutable": ["housing", "school"], "weights": {"savings": 2.0}}
    recourse = with_samples(explain(table, **actions))[0]
    trace = recourse.trace
    cost = boundary_of(recourse).cost[0]
    assert cost == pytest.approx(np.abs(trace.boundary - trace.x0)[:2] @ [1.0, 2.0])
    assert cost < 1.0


def becomes(recourse, **done):
    """What becomes of somebody who does something, by hand."""
    row = recourse.boundary.copy() if not done else recourse.x0.copy()
    for name, value in done.items():
        row[name] = value
    row["income"] += 0.1 * (row["savings"] - recourse.x0["savings"])
    return row


def test_effects_are_in_the_regions_and_the_axes_say_what_is_done(table):
    found = with_samples(explain(table, effects={"savings": {"income": 0.1}}, immutable=["housing", "school"]))
    moved = [recourse for recourse in found if recourse.boundary["savings"] != recourse.x0["savings"]]
    assert moved
    for recourse in moved:
        plane, accepted = painted(recourse, accepts, ("income", "savings"))
        assert plane.labels == ("income, as the person changes it", "savings")
        trace, (income, savings) = recourse.trace, plane.axes
        samples = plane.project(trace.neighbourhood.samples)
        labels = [accepted(spot) for spot in samples]
        assert np.mean(labels == trace.neighbourhood.accepted) > 0.95
        for spot in samples[:20]:
            done = {"income": float(income.at(spot[0])), "savings": float(savings.at(spot[1]))}
            row = becomes(recourse, **done)
            score = row["income"] / 1000 + row["savings"] / 4000 + (row["housing"] == "own") + YEARS[row["school"]] / 8
            if abs(score - 6.0) > 0.1:
                assert accepted(spot) == (score > 6.0)
        (boundary,) = plane.project(trace.boundary[None])
        shift = 0.1 * (recourse.boundary["savings"] - recourse.x0["savings"])
        assert income.at(boundary[0]) == pytest.approx(recourse.boundary["income"] - shift, abs=10)
        np.testing.assert_allclose(trace.became(trace.boundary[None])[0, :2], list(recourse.boundary[:2]))
    for draw in (illustration, level_sets, worst_case):
        figure = draw(moved[0], directions=("income", "savings"))
        told = " ".join(legend.get_title().get_text() for legend in figure.legends).replace("\n", " ")
        assert "what becomes of that: income moves with savings." in told
        assert "as the person changes it" in drawn(figure)[0].get_xlabel()


def test_effects_of_arrays_are_in_the_regions():
    X = np.random.default_rng(0).normal(size=(300, 2))

    def model(X):
        return X.sum(axis=1) > 1.0

    method = RobustBayesianRecourse(model, ActionSet(effects={0: {1: 0.5}}), random_state=0).fit(X)
    recourse = method.explain([[-0.5, -0.3]])[0]
    plane = choose_plane(recourse, show="way")
    u, v, labels = facts.regions(model, None, plane, Window((-2.0, 2.0), (-2.0, 2.0)), recourse)
    expected = u[None] + v[:, None] + 0.5 * (u[None] + 0.5) > 1.0
    assert (labels == expected).mean() > 0.99


def test_links_are_in_the_regions(table):
    linked = table.assign(years=table["school"].map(YEARS))

    def model(X):
        return (X["years"] > 10) & (X["income"] > 2500)

    found = with_samples(explain(linked, model, link={"years": "school"}, immutable=["savings", "housing"]))
    switching = [r for r in found if r.x["school"] != r.x0["school"] and r.x["income"] != r.x0["income"]]
    assert switching
    for recourse in switching[:3]:
        plane, accepted = painted(recourse, model, ("school", "income"))
        start, end = plane.project(np.array([recourse.trace.x0, recourse.trace.x]))
        assert accepted(end)
        # The years of the person stay with its school.
        assert not accepted([start[0], end[1]])
        with pytest.raises(ValueError, match=r"nobody changes 'years' here, it only follows \(years follows school\)"):
            choose_plane(recourse, ("years", "income"), show="way")


def test_columns_that_were_not_switched_can_be_named(table):
    found = with_samples(explain(table))
    staying = [r for r in found if r.x["housing"] == r.x0["housing"] == r.boundary["housing"]]
    assert staying
    for recourse in staying[:3]:
        plane, accepted = painted(recourse, accepts, ("income", "housing"))
        axis = plane.axes[1]
        assert isinstance(axis, Categories)
        samples = recourse.trace.neighbourhood.samples
        place = list(recourse.x.index).index("housing")
        assert set(axis.codes) >= set(samples[:, place])
        assert plane.shows(samples).all()
        for code, word in enumerate(axis.words):
            row = recourse.boundary.copy()
            row["income"], row["housing"] = float(plane.axes[0].at(plane.offset[0])), word
            assert accepted([plane.offset[0], code]) == accepts(pd.DataFrame([row])).iloc[0]
        words = [
            word for _, word in ticks(drawn(illustration(recourse, accepts, directions=("income", "housing")))[0].yaxis)
        ]
        assert words == list(axis.words)


def test_columns_in_which_nothing_was_sampled_can_be_named(table):
    found = with_samples(explain(table, max_changes=1))
    recourse = next(r for r in found if not r.trace.neighbourhood.free[2] and r.x["housing"] == r.x0["housing"])
    plane = choose_plane(recourse, ("housing", "income"), show="way")
    assert plane.axes[0].words == ("family", "own", "rent")
    ax = drawn(illustration(recourse, accepts, directions=("housing", "savings")))[0]
    assert [word for _, word in ticks(ax.xaxis)] == ["family", "own", "rent"]
    assert len(ticks(ax.yaxis)) >= 2


def test_what_cannot_be_named_is_said_as_it_is(table):
    found = with_samples(explain(table, immutable=["school"]))
    with pytest.raises(ValueError, match=r"nothing varies in 'school' here. .*are 'income', 'savings', 'housing'\."):
        illustration(found[0], directions=("income", "school"))
    with pytest.raises(ValueError, match=r"figure are numbers, and 'housing' holds none. .*are 'income', 'savings'\."):
        level_sets(found[0], directions=("income", "housing"))


@pytest.fixture(scope="module")
def switching(table):
    found = explain(table, max_changes=1, weights={"income": 9.0, "savings": 9.0})
    only = [r for r in found if r.cost > 0.0 and r.trace.neighbourhood is None]
    assert only
    return only


def test_switches_alone_have_a_figure(switching):
    for recourse in switching[:3]:
        assert (recourse.x[["income", "savings"]] == recourse.x0[["income", "savings"]]).all()
        figure = illustration(recourse, accepts)
        (ax,) = drawn(figure)
        switched = [name for name in ("housing", "school") if recourse.x[name] != recourse.x0[name]]
        assert ax.get_xlabel() in switched
        assert ax.get_ylabel() in [*switched[1:], "income"]
        labels = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
        assert set(labels) == {"model accepts", "model refuses", "recourse", "refused point"}
        plane = choose_plane(recourse, show="way")
        spots = plane.spots(np.array([recourse.trace.x0, recourse.trace.x]))
        _, _, accepted = facts.regions(accepts, None, plane, window_around(spots, plane, 1.6), recourse)
        assert accepted.any()
        assert not accepted.all()
        with pytest.raises(ValueError, match="nothing to draw"):
            level_sets(recourse)
        drawn(draw_jury(recourse, [accepts], accepts))


def test_a_single_switch_is_drawn_on_a_line(table):
    found = explain(table, immutable=["income", "savings", "school"])
    recourse = next(r for r in found if r.cost > 0.0)
    ax = drawn(illustration(recourse, accepts))[0]
    assert ax.get_xlabel() == "housing"
    assert not ax.get_yticks().size


def test_recourses_of_other_methods_have_a_way(table):
    recourse = NearestAccepted(accepts).fit(table).explain(table[~accepts(table)].head(1))[0]
    figure = illustration(recourse, accepts)
    assert "boundary point" not in [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    with pytest.raises(ValueError, match="nothing to draw"):
        illustration(NearestAccepted(accepts).fit(table).explain(table[accepts(table)].head(1))[0])
