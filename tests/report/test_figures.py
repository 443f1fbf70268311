from __future__ import annotations

import io
import subprocess
import sys
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse, Rectangle

from robust_recourse import ActionSet, BayesianRecourse, ModelError, RobustBayesianRecourse, Status
from robust_recourse.math.odds import log_worst_case_odds
from robust_recourse.report._plane import choose_plane
from robust_recourse.report.figures import illustration, level_sets, worst_case
from robust_recourse.report.figures._style import finish, in_style

ALL = (illustration, worst_case, level_sets)
NAMES = [f"feature {k}" for k in range(6)]


def six(X):
    X = np.asarray(X)
    return X[:, 0] + X[:, 1] ** 2 - 0.5 * X[:, 2] * X[:, 5] + X[:, 3] > 0.5


def threshold(X):
    return np.asarray(X)[:, 0] > 0.3


def first_ok(model, X, rows, **parameters):
    found = RobustBayesianRecourse(model, random_state=0, n_samples=60, **parameters).fit(X).explain(rows)
    return next(recourse for recourse in found if recourse.status is Status.OK)


@pytest.fixture(scope="module")
def plane_case(network):
    model, X, refused = network
    return first_ok(model, X, refused), model


def six_case(**parameters):
    X = np.random.default_rng(0).normal(size=(500, 6))
    return first_ok(six, X, X[~six(X)][:10], **parameters), six


@pytest.fixture(scope="module")
def space_case():
    return six_case()


@pytest.fixture(scope="module")
def line_case():
    return first_ok(threshold, np.linspace(-2.0, 2.0, 200)[:, None], [[0.1]]), threshold


@pytest.fixture(scope="module")
def cases(plane_case, space_case, line_case):
    immutable = {
        f"{6 - len(fixed)} free": six_case(actions=ActionSet(immutable=fixed))
        for fixed in ([1, 4], [0, 1, 2, 4], [1, 2, 3, 4, 5])
    }
    return {"p = 1": line_case, "p = 2": plane_case, "p = 6": space_case, **immutable}


def labelled(ax, label):
    (artist,) = [artist for artist in ax.get_children() if artist.get_label() == label]
    return artist


def offset(ax, label):
    return np.asarray(labelled(ax, label).get_offsets())


def legend_labels(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def note(figure):
    return figure.legends[-1].get_title().get_text().replace("\n", " ")


def save(figure):
    file = io.BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()


@pytest.mark.parametrize("case", ["p = 1", "p = 2", "p = 6", "4 free", "2 free", "1 free"])
def test_every_case_is_drawn_and_nothing_covers_anything(cases, case):
    recourse, model = cases[case]
    for figure in (illustration(recourse, model), worst_case(recourse), level_sets(recourse)):
        assert type(figure) is Figure
        assert save(figure).startswith(b"\x89PNG")
        assert figure.get_figwidth() * figure.dpi == 900.0
        outside = [legend.get_window_extent() for legend in figure.legends]
        panels = [ax.get_tightbbox() for ax in figure.axes]
        title = figure._suptitle.get_window_extent()
        assert not any(box.overlaps(panel) for box in [*outside, title] for panel in panels)
        for box in [*outside, title, *panels]:
            assert box.x0 >= 0.0
            assert box.x1 <= 901.0
            assert box.y0 >= 0.0
            assert box.y1 <= figure.get_figheight() * figure.dpi + 1.0


def test_nothing_is_opened_and_no_setting_is_kept(plane_case):
    import matplotlib.pyplot as plt

    before = dict(mpl.rcParams)
    for draw in ALL:
        draw(plane_case[0])
    assert plt.get_fignums() == []
    assert {key: mpl.rcParams[key] for key in before} == before


@pytest.mark.slow
def test_the_package_does_not_import_matplotlib():
    code = "import sys, robust_recourse, robust_recourse.report; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_style_does_not_depend_on_the_user(plane_case):
    plain = save(illustration(*plane_case))
    with mpl.rc_context({"axes.facecolor": "black", "text.color": "white", "legend.fontsize": 30, "axes.grid": True}):
        assert save(illustration(*plane_case)) == plain


def test_saving_twice_gives_the_same(space_case):
    figure = illustration(*space_case)
    first = [ax.get_position().bounds for ax in figure.axes]
    save(figure)
    np.testing.assert_allclose([ax.get_position().bounds for ax in figure.axes], first, atol=0.01)


def test_illustration_shows_the_points_where_they_are(plane_case):
    recourse, model = plane_case
    figure = illustration(recourse, model)
    ax = figure.axes[-1]
    around = recourse.trace.neighbourhood
    np.testing.assert_allclose(offset(ax, "refused point"), [recourse.x0])
    np.testing.assert_allclose(offset(ax, "boundary point"), [recourse.boundary])
    np.testing.assert_allclose(offset(ax, "recourse"), [recourse.x])
    np.testing.assert_allclose(offset(ax, "accepted samples"), around.samples[around.accepted])
    np.testing.assert_allclose(offset(ax, "refused samples"), around.samples[~around.accepted])
    np.testing.assert_allclose(labelled(ax, "path of the descent").get_xydata(), recourse.trace.path)
    assert labelled(ax, "refused point").get_paths()[0].vertices.shape[0] > 8  # a star, not a circle
    red, green, blue = (
        labelled(ax, label).get_facecolor()[0][:3] for label in ("recourse", "accepted samples", "refused samples")
    )
    assert [int(np.argmax(colour)) for colour in (red, green, blue)] == [0, 1, 2]
    assert labelled(ax, "boundary point").get_facecolor()[0][:3].max() < 0.2
    assert (ax.get_xlabel(), ax.get_ylabel() or figure.axes[0].get_ylabel()) == ("column 0", "column 1")
    assert {"refused point", "boundary point", "recourse", "path of the descent"} <= set(legend_labels(figure))
    assert f"Cost {recourse.cost:.3g}" in note(figure)
    assert "slice" not in note(figure)
    assert "projected" not in note(figure)


def test_regions_are_what_the_model_says(plane_case):
    recourse, model = plane_case
    figure = illustration(recourse, model)
    ax = figure.axes[0]
    for artist in [*ax.collections[1:], *ax.lines, *ax.patches]:
        artist.set_visible(False)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[..., :3] / 255.0
    rng = np.random.default_rng(0)
    points = np.column_stack([rng.uniform(*limits, 300) for limits in (ax.get_xlim(), ax.get_ylim())])
    x, y = ax.transData.transform(points).T
    colours = pixels[(len(pixels) - y).astype(int), x.astype(int)]
    pale_blue, pale_green = to_rgb("#D6E4F5"), to_rgb("#E3F4E6")
    is_green = np.abs(colours - pale_green).sum(axis=1) < np.abs(colours - pale_blue).sum(axis=1)
    assert np.mean(is_green == (model.predict(points) == 1)) > 0.97
    assert {"model accepts", "model refuses"} <= set(legend_labels(figure))
    assert "model accepts" not in legend_labels(illustration(recourse))


def test_far_instances_get_a_close_up(plane_case):
    recourse, model = plane_case
    near = replace(recourse, trace=replace(recourse.trace, x0=recourse.boundary + 0.1))
    assert len(illustration(near, model).axes) == 1
    far = replace(recourse, trace=replace(recourse.trace, x0=recourse.boundary + np.array([3.0, 0.0])))
    figure = illustration(far, model)
    whole, close = figure.axes
    assert (whole.get_title(), close.get_title()) == ("the whole way", "close-up of the frame")
    assert whole.get_xlim()[0] < far.trace.x0[0] < whole.get_xlim()[1]
    assert close.get_xlim()[1] < far.trace.x0[0]
    (frame,) = [patch for patch in whole.patches if isinstance(patch, Rectangle)]
    np.testing.assert_allclose(frame.get_bbox().intervalx, close.get_xlim())
    np.testing.assert_allclose(frame.get_bbox().intervaly, close.get_ylim())


def test_illustration_projects_more_columns(space_case):
    recourse, model = space_case
    figure = illustration(recourse, model)
    ax, plane = figure.axes[-1], choose_plane(recourse, show="way")
    np.testing.assert_allclose(offset(ax, "refused point"), [[0.0, 0.0]], atol=1e-12)
    np.testing.assert_allclose(offset(ax, "recourse"), [[np.linalg.norm(recourse.x - recourse.x0), 0.0]], atol=1e-12)
    around = recourse.trace.neighbourhood
    naive = (around.samples[~around.accepted] - recourse.x0) @ plane.basis.T
    np.testing.assert_allclose(offset(ax, "refused samples"), naive, atol=1e-12)
    assert "slice through the boundary point" in note(figure)
    assert "projected" in note(figure)
    assert "refused point to the recourse" in ax.get_xlabel().replace("\n", " ")


def test_directions_choose_the_plane(space_case):
    recourse, model = space_case
    ax = illustration(recourse, model, directions=("feature 3", 0), columns=NAMES).axes[-1]
    np.testing.assert_allclose(offset(ax, "boundary point"), [recourse.boundary[[3, 0]]])
    assert ax.get_xlabel() == "feature 3"
    directions = np.random.default_rng(0).normal(size=(2, 6))
    ax = level_sets(recourse, directions=directions).axes[0]
    basis = choose_plane(recourse, directions).basis
    np.testing.assert_allclose(offset(ax, "recourse"), [basis @ (recourse.x - recourse.boundary)])
    np.testing.assert_allclose(offset(ax, "boundary point"), [[0.0, 0.0]], atol=1e-12)


def test_names_with_dollars_are_shown_as_they_are(space_case):
    recourse, _ = space_case
    names = pd.Index(["a", "cost_$", "$\\frac{", "b", "c%", "d"])

    def model(frame):
        return six(frame[list(names)].to_numpy())

    figure = illustration(recourse, model, directions=("cost_$", "$\\frac{"), columns=names)
    save(figure)
    ax = figure.axes[-1]
    assert [ax.get_xlabel().replace("\\$", "$"), ax.get_ylabel().replace("\\$", "$")] == ["cost_$", "$\\frac{"]


def ellipses(ax):
    return [patch for patch in ax.patches if isinstance(patch, Ellipse)]


@pytest.mark.parametrize("n", [2, 14, 31])
def test_worst_case_draws_two_rings_for_each_component(plane_case, n):
    recourse, _ = plane_case
    figure = worst_case(recourse, n_components=n)
    rings = ellipses(figure.axes[0])
    assert len(rings) == 2 * n
    dashed = [ring for ring in rings if ring.get_linestyle() != "-" and ring.get_alpha() is not None]
    assert len(dashed) == n
    np.testing.assert_allclose([[r.width, r.height] for r in dashed], 2.0 * recourse.trace.scales.sigma)
    accepted = recourse.trace.neighbourhood.accepted
    drawn = f"{n - n // 2} of {(~accepted).sum()} refused and {n // 2} of {accepted.sum()} accepted samples"
    assert drawn in note(figure)


def matching(mixture, plane, ring):
    """The component whose nominal mean is drawn at the centre of a ring."""
    distance = np.linalg.norm(plane.project(mixture.nominal_means) - ring.center, axis=1)
    assert distance.min() < 1e-12
    return int(distance.argmin())


@pytest.mark.parametrize("case", ["p = 2", "p = 6", "4 free"])
@pytest.mark.parametrize("where", ["boundary", "x", "elsewhere"])
def test_worst_case_rings_are_the_projected_gaussians(cases, case, where):
    recourse, _ = cases[case]
    around = recourse.trace.neighbourhood
    point = recourse.boundary + 0.03 * around.free if where == "elsewhere" else getattr(recourse, where)
    figure = worst_case(recourse, point)
    ax = figure.axes[0]
    plane = choose_plane(recourse).within(around)
    worst = recourse.worst_case(point)
    rings = ellipses(ax)
    kind = {"boundary": "boundary point", "x": "recourse", "elsewhere": "chosen point"}[where]
    assert kind in figure.get_suptitle()
    np.testing.assert_allclose(offset(ax, kind), plane.project(point[around.free])[None], atol=1e-12)
    for before, after in zip(rings[::2], rings[1::2], strict=True):
        red, green, blue, _ = after.get_edgecolor()
        mixture = worst.accepted if green > blue else worst.refused
        assert red < max(green, blue)
        i = matching(mixture, plane, before)
        np.testing.assert_allclose(after.center, plane.project(mixture.means[i]), atol=1e-12)
        turn = np.radians(after.angle)
        axes = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
        drawn = axes @ np.diag([after.width / 2, after.height / 2]) ** 2 @ axes.T
        np.testing.assert_allclose(drawn, plane.basis @ mixture.covariances[i] @ plane.basis.T, atol=1e-12)


def test_refused_gaussians_approach_and_accepted_ones_recede(plane_case):
    recourse, _ = plane_case
    rings = ellipses(worst_case(recourse).axes[0])
    for before, after in zip(rings[::2], rings[1::2], strict=True):
        distances = [np.linalg.norm(np.array(ring.center) - recourse.boundary) for ring in (before, after)]
        is_accepted = after.get_edgecolor()[1] > after.get_edgecolor()[2]
        assert (distances[1] > distances[0]) == is_accepted


def test_worst_case_on_a_line_draws_bars(line_case):
    recourse, _ = line_case
    figure = worst_case(recourse, n_components=10)
    ax = figure.axes[0]
    assert not ellipses(ax)
    nominal, worst, _ = [c for c in ax.collections if isinstance(c, LineCollection)][:3]
    halves = [np.diff(bar[:, 0]).item() / 2.0 for bar in nominal.get_segments()]
    np.testing.assert_allclose(halves, recourse.trace.scales.sigma)
    mixture = recourse.worst_case(recourse.boundary).refused
    for bar in worst.get_segments():
        i = int(np.abs(mixture.means[:, 0] - bar[:, 0].mean()).argmin())
        np.testing.assert_allclose(np.diff(bar[:, 0]) / 2.0, mixture.along[i])
    assert "bars" in note(figure)
    assert "Heights have no meaning" in note(figure)


def test_worst_case_arguments(plane_case):
    recourse, _ = plane_case
    with pytest.raises(ValueError, match="at must have 2 entries, got 3"):
        worst_case(recourse, [0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="n_components must be at least 2"):
        worst_case(recourse, n_components=1)
    with pytest.raises(TypeError, match="n_components must be an integer"):
        worst_case(recourse, n_components=3.5)


def test_without_ambiguity_nothing_moves(network):
    model, X, refused = network
    recourse = BayesianRecourse(model, random_state=0).fit(X).explain(refused[:1])[0]
    rings = ellipses(worst_case(recourse).axes[0])
    for before, after in zip(rings[::2], rings[1::2], strict=True):
        np.testing.assert_allclose(before.center, after.center)
        np.testing.assert_allclose([after.width, after.height], before.width)
    save(level_sets(recourse))


@pytest.mark.parametrize("case", ["p = 2", "p = 6", "4 free"])
def test_level_sets_share_one_scale_centred_at_zero(cases, case):
    recourse, _ = cases[case]
    figure = level_sets(recourse)
    nominal, worst, bar = figure.axes
    assert (nominal.get_title(), worst.get_title()) == ("nominal odds", "worst-case odds")
    assert nominal.get_xlim() == worst.get_xlim()
    assert nominal.get_ylim() == worst.get_ylim()
    filled = [ax.collections[0] for ax in (nominal, worst)]
    np.testing.assert_array_equal(filled[0].levels, filled[1].levels)
    assert filled[0].get_clim() == filled[1].get_clim()
    low, high = filled[0].get_clim()
    assert low == pytest.approx(-high)
    assert "log odds of refusal" in bar.get_ylabel()
    plane = choose_plane(recourse)
    np.testing.assert_allclose(offset(worst, "recourse"), [plane.project(recourse.x)], atol=1e-12)
    assert len(offset(worst, "accepted samples")) == recourse.trace.neighbourhood.accepted.sum()


def test_the_highlighted_line_is_where_the_odds_are_even(plane_case):
    recourse, _ = plane_case
    figure = level_sets(recourse)
    around, (sigma, epsilon_0, epsilon_1) = recourse.trace.neighbourhood, recourse.trace.scales
    for ax, radii in zip(figure.axes, ((0.0, 0.0), (epsilon_0, epsilon_1)), strict=False):
        (line,) = [c for c in ax.collections if np.all(c.get_linewidth() == 2.0) and len(getattr(c, "levels", ())) == 1]
        points = np.concatenate([path.vertices for path in line.get_paths()])
        odds = log_worst_case_odds(points, around.samples, around.accepted.astype(int), sigma, *radii).value
        # Linear between the nodes of the grid, so not exact.
        assert np.abs(odds).max() < 0.02


def test_curves_on_a_line_are_the_odds(line_case):
    recourse, _ = line_case
    ax = level_sets(recourse).axes[0]
    around, (sigma, epsilon_0, epsilon_1) = recourse.trace.neighbourhood, recourse.trace.scales
    labels = around.accepted.astype(int)
    for label, radii in (("nominal log odds", (0.0, 0.0)), ("worst-case log odds", (epsilon_0, epsilon_1))):
        u, odds = labelled(ax, label).get_xydata().T
        exact = log_worst_case_odds(u[:, None], around.samples, labels, sigma, *radii).value
        np.testing.assert_allclose(odds, exact, atol=1e-5)
    np.testing.assert_allclose(offset(ax, "recourse"), [[recourse.x[0], recourse.log_worst_case_odds]], atol=1e-9)
    edge = labelled(ax, "edge of the budget").get_xdata()[0]
    assert abs(edge - recourse.x0[0]) == pytest.approx(recourse.budget, abs=0.01)


def test_one_class_neighbourhoods_have_an_illustration_only(plane_case):
    recourse, model = plane_case
    around = replace(recourse.trace.neighbourhood, accepted=np.ones(60, dtype=bool))
    trace = replace(recourse.trace, x=recourse.boundary, neighbourhood=around, scales=None)
    alone = replace(recourse, trace=trace, status=Status.ONE_CLASS, reason="All alike.")
    figure = illustration(alone, model)
    save(figure)
    assert "All alike." in note(figure)
    for draw in (worst_case, level_sets):
        with pytest.raises(ValueError, match=r"one-class neighbourhood.*All alike.*Only the illustration"):
            draw(alone)


@pytest.mark.parametrize("draw", ALL)
def test_errors_say_what_to_do(draw, space_case, network):
    recourse, _ = space_case
    with pytest.raises(ValueError, match="no column 9"):
        draw(recourse, directions=(0, 9))
    with pytest.raises(ValueError, match="parallel"):
        draw(recourse, directions=np.ones((2, 6)))
    with pytest.raises(ValueError, match="not known"):
        draw(recourse, directions=("feature 0", "height"), columns=NAMES)
    model, X, _ = network
    favourable = X[model.predict(X) == 1][:1]
    found = RobustBayesianRecourse(model, random_state=0).fit(X).explain(favourable)
    with pytest.raises(ValueError, match="already favourable"):
        draw(found[0])
    with pytest.raises(TypeError, match=r"found\[0\]"):
        draw(found)


def test_a_failing_model_is_named(plane_case):
    with pytest.raises(ModelError, match="grid of the figure"):
        illustration(plane_case[0], lambda X: X[:, 5])


@pytest.mark.parametrize("dpi", [50.0, 72.0, 80.0, 90.0, 110.0, 150.0])
@pytest.mark.parametrize("width", [9.0, 10.8])
def test_notes_fit_with_any_number_of_dots(width, dpi):
    text = (
        "Smoothing 1, ambiguity radii 0.04 (refused) and 0.04 (accepted). The odds are those of the slice through the "
        "boundary point; points off it are projected onto it."
    )
    figure = Figure(figsize=(width, 5.0), dpi=dpi, layout="constrained")
    figure.subplots()
    with in_style():
        finish(figure, [], "Title", [text])
    assert note(figure) == text
    assert 0.75 * width * dpi < figure.legends[0].get_window_extent().x1 <= width * dpi
