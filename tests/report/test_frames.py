"""Figures of frames: the columns that matter to the person, in the units and words of the table."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from robust_recourse import ActionSet, ModelError, RobustBayesianRecourse
from robust_recourse.report import _facts as facts
from robust_recourse.report._axis import Categories, Numbers
from robust_recourse.report._plane import choose_plane
from robust_recourse.report._window import Window
from robust_recourse.report.figures import illustration, level_sets, worst_case

COLUMNS = ["housing", "income", "rate", "months", "job"]
UNITS = {"income": "EUR", "rate": "fraction"}


def accepts(X):
    assert list(X.columns) == COLUMNS
    assert isinstance(X["job"].dtype, pd.CategoricalDtype)
    assert X["months"].dtype.kind in "if"
    own, job = X["housing"].to_numpy() == "own", X["job"].to_numpy() != "none"
    return X["income"] / 1500 - 8 * X["rate"] - X["months"] / 40 + 1.5 * own + job > 3.4


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "housing": rng.choice(["rent", "own", "free"], 500),
            "income": rng.integers(10, 60, 500) * 100,
            "rate": rng.uniform(0.01, 0.2, 500),
            "months": rng.integers(6, 60, 500),
            "job": pd.Categorical(rng.choice(["none", "clerk", "smith"], 500)),
        }
    )


def explain(table, order=None, radius=None, **words):
    actions = ActionSet(immutable=["months"], units=UNITS, **words)
    method = RobustBayesianRecourse(accepts, actions, random_state=0, n_samples=60, sampling_radius=radius).fit(table)
    refused = table[~accepts(table)].head(25)
    found = method.explain(refused if order is None else refused[order])
    return [recourse for recourse in found if recourse.trace.neighbourhood is not None]


@pytest.fixture(scope="module")
def recourses(table):
    return explain(table)


@pytest.fixture(scope="module")
def switched(recourses):
    """One who switches a category, and changes a number."""
    return next(r for r in recourses if r.x["housing"] != r.x0["housing"] and r.x["job"] == r.x0["job"])


def dearest(recourse, kinds=("number", "category")):
    """The two columns whose changes cost most, and then those in which the classes of the samples are far apart."""
    around = recourse.trace.neighbourhood
    means = [around.samples[around.accepted == label].mean(axis=0) for label in (False, True)]
    apart = dict(zip(COLUMNS, np.abs(means[1] - means[0]), strict=True))
    known = zip(recourse.x.index, recourse.column_costs, recourse.columns.kinds, strict=True)
    costs = [
        (-cost, -apart[name], name)
        for name, cost, kind in known
        if kind in kinds and name != "months" and (kind == "number" or cost > 0.0)
    ]
    return [name for _, _, name in sorted(costs)[:2]]


def names(plane):
    return [label.removesuffix(" (EUR)") for label in plane.labels]


@pytest.mark.parametrize("order", [None, ["job", "rate", "income", "months", "housing"]])
def test_the_plane_is_that_of_the_dearest_changes(table, order):
    for recourse in explain(table, order)[:8]:
        assert names(choose_plane(recourse, show="way")) == dearest(recourse)
        # The axes of the samples around a boundary point are numbers only.
        assert names(choose_plane(recourse)) == dearest(recourse, ("number",))


def test_the_spots_are_those_of_the_table(switched):
    plane = choose_plane(switched, ("housing", "income"), show="way")
    categories, numbers = plane.axes
    assert isinstance(categories, Categories)
    assert isinstance(numbers, Numbers)
    trace = switched.trace
    start, end = plane.project(np.array([trace.x0, trace.x]))
    assert [categories.words[int(spot[0])] for spot in (start, end)] == [switched.x0["housing"], switched.x["housing"]]
    np.testing.assert_allclose(
        [start[1] * numbers.unit, end[1] * numbers.unit], [switched.x0["income"], switched.x["income"]], rtol=1e-12
    )
    points = plane.embed(np.array([start, end, start + np.array([0.3, 0.0])]))
    assert points[0, 0] == points[2, 0] == trace.x0[0]
    assert points[1, 0] == trace.x[0]


def drawn(figure):
    figure.savefig(io.BytesIO(), format="png")
    return figure.axes


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_ticks_are_numbers_and_words_of_the_table(switched):
    ax = drawn(illustration(switched, accepts, directions=("housing", "income")))[0]
    assert set(ticks(ax.xaxis)) == {switched.x0["housing"], switched.x["housing"]}
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("housing", "income (EUR)")
    unit = choose_plane(switched, ("housing", "income"), show="way").axes[1].unit
    for place, word in zip(ax.get_yticks(), ticks(ax.yaxis), strict=True):
        assert place * unit == pytest.approx(float(word.replace(",", "")))
    ax = drawn(illustration(switched, directions=("rate", "income")))[0]
    assert all(word.endswith(" %") for word in ticks(ax.xaxis))


def test_a_close_up_shows_the_categories_of_the_samples_only(table):
    switching = [r for r in explain(table, radius=0.1) if r.x["housing"] != r.x0["housing"]]
    figures = [illustration(r, accepts, directions=("income", "housing")) for r in switching]
    close = [(r, figure.axes[1]) for r, figure in zip(switching, figures, strict=True) if len(figure.axes) == 2]
    assert close
    for recourse, ax in close:
        assert recourse.x["housing"] in ticks(ax.yaxis)
        assert ax.get_ylim()[1] - ax.get_ylim()[0] == len(ticks(ax.yaxis))


def test_regions_are_what_the_model_says_about_rows_that_can_be_told(switched):
    plane = choose_plane(switched, ("housing", "income"), show="way")
    categories, numbers = plane.axes
    window = Window((-0.5, len(categories.codes) - 0.5), (1000 / numbers.unit, 6000 / numbers.unit))
    u, v, labels = facts.regions(accepts, None, plane, window, switched)
    for across in (10, 300, 630):
        for up in (3, 250, 600):
            row = switched.boundary.copy()
            row["housing"] = categories.words[round(u[across])]
            row["income"] = 100 * round(v[up] * numbers.unit / 100)
            frame = pd.DataFrame([list(row)], columns=row.index)
            frame["job"] = frame["job"].astype("category")
            assert labels[up, across] == accepts(frame)[0]


def test_what_the_samples_are_told_is_what_the_regions_say(table):
    (recourse, *_) = explain(table, bounds={"rate": (0.0, 0.3)}, max_changes=1)
    around = recourse.trace.neighbourhood
    framed = facts._Framed(recourse, recourse.trace)
    assert (accepts(framed(recourse.trace.became(around.samples), None)) == around.accepted).mean() > 0.99


@pytest.mark.parametrize("draw", [illustration, level_sets, worst_case])
def test_all_figures_take_mixed_frames(draw, recourses):
    for recourse in recourses[:3]:
        drawn(draw(recourse))


def test_two_categories_are_corners(recourses):
    both = next(r for r in recourses if r.x["housing"] != r.x0["housing"] and r.x["job"] != r.x0["job"])
    figure = illustration(both, accepts, directions=("housing", "job"))
    (ax,) = drawn(figure)
    shown = [len({both.x0[name], both.boundary[name], both.x[name]}) for name in ("housing", "job")]
    assert [len(ticks(ax.xaxis)), len(ticks(ax.yaxis))] == shown
    samples = np.concatenate([np.asarray(c.get_offsets()) for c in ax.collections if "samples" in str(c.get_label())])
    assert abs(np.corrcoef(samples.T)[0, 1]) < 0.5
    # Each stands in the band of a category that the axis names.
    assert ((samples > -0.5) & (samples < np.array(shown) - 0.5)).all()
    assert "within a category has no meaning" in figure.legends[-1].get_title().get_text().replace("\n", " ")


def test_mixtures_are_drawn_where_their_samples_are(table):
    for recourse in explain(table, radius=0.05)[:4]:
        around, plane = recourse.trace.neighbourhood, choose_plane(recourse)
        assert (around.stretch > 1.0).any()
        np.testing.assert_allclose(plane.within(around).project(around.free_samples), plane.project(around.samples))


def test_categories_are_no_axes_around_a_boundary_point(switched):
    with pytest.raises(ValueError, match="the axes of this figure are numbers, and 'housing' holds none"):
        level_sets(switched, directions=("housing", "income"))


def test_frames_of_polars(table):
    polars = pytest.importorskip("polars")
    numbers = ["income", "rate", "months"]

    def model(X):
        assert isinstance(X, polars.DataFrame)
        return (X["income"] / 1500 - 8 * X["rate"] - X["months"] / 40).to_numpy() > 1.0

    frame = polars.from_pandas(table[numbers])
    method = RobustBayesianRecourse(model, random_state=0, n_samples=60).fit(frame)
    found = method.explain(frame.filter(~model(frame)).head(3))
    drawn(illustration(found[0], model))


def test_a_column_that_decides_comes_before_one_that_does_not():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({name: rng.normal(size=300) for name in ("idle", "first", "second")})

    def model(X):
        return X["first"] + X["second"] > 0.5

    method = RobustBayesianRecourse(model, random_state=0, n_samples=100).fit(table)
    found = method.explain(table[~model(table)].head(20))
    one = [recourse for recourse in found if np.count_nonzero(recourse.column_costs) == 1]
    assert one
    for recourse in one:
        for show in ("way", "neighbourhood"):
            assert set(choose_plane(recourse, show=show).labels) == {"first", "second"}


@pytest.mark.parametrize("draw", [illustration, level_sets, worst_case])
def test_axes_tell_values_that_can_be(draw):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"years": rng.integers(0, 30, 300), "income": rng.integers(1, 60, 300) * 100})

    def model(X):
        return X["years"] / 10 + X["income"] / 1000 > 2.5

    people = pd.DataFrame({"years": [0, 1, 0], "income": [2300, 2200, 1500]})
    method = RobustBayesianRecourse(model, random_state=0, n_samples=100).fit(table)
    for recourse in method.explain(people):
        ax = drawn(draw(recourse, directions=("years", "income")))[0]
        for axis, name in ((ax.xaxis, "years"), (ax.yaxis, "income")):
            numbers = [float(word.replace(",", "")) for word in ticks(axis)]
            assert len(numbers) >= 2
            assert table[name].min() <= min(numbers)
            assert max(numbers) <= table[name].max()


def test_a_model_of_classes_is_drawn_with_what_decides(switched):
    def save(*model, **decides):
        buffer = io.BytesIO()
        illustration(switched, *model, **decides).savefig(buffer, format="png", metadata={"Software": None})
        return buffer.getvalue()

    def named(rows):
        return np.where(accepts(rows), "yes", "no")

    plain = save(accepts)
    assert save(named, favourable="yes") == plain
    assert save(named, favourable="no") != plain
    assert save(lambda rows: np.where(accepts(rows), 0.7, 0.6), threshold=0.65) == plain
    with pytest.raises(ModelError, match="Pass favourable="):
        save(named)
