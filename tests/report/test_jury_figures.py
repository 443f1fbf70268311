"""Figures of a jury: what they draw is what the models say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection

from robust_recourse import ActionSet, Juror, Jury, NearestAccepted, RobustBayesianRecourse
from robust_recourse.report._ways import boundary_of, way_to
from robust_recourse.report.figures import draw_jury, draw_survival


def above(least):
    return lambda X: (np.asarray(X) @ [1.0, 1.0] > least).astype(int)


@pytest.fixture(scope="module")
def arrays():
    X = np.random.default_rng(0).uniform(-3.0, 3.0, (400, 2))
    jury = Jury([above(least) for least in np.linspace(-0.5, 1.0, 10)], 0.9)
    alone = RobustBayesianRecourse(above(0.0), random_state=0).fit(X).explain([[-1.0, -1.0]])[0]
    found = RobustBayesianRecourse(above(0.0), jury=jury, random_state=0).fit(X).explain([[-1.0, -1.0]])[0]
    return alone, found, jury


@pytest.fixture(scope="module")
def frames():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"income": rng.integers(10, 60, 300) * 100, "job": rng.choice(["clerk", "cook", "none"], 300)})

    def model(least):
        return lambda X: (X["income"] / 1000.0 + (X["job"] == "cook") * 1.5 > least).astype(int)

    jury = Jury([model(least) for least in np.linspace(3.5, 4.5, 10)], 0.9)
    people = pd.DataFrame({"income": [2000], "job": ["none"]})
    found = RobustBayesianRecourse(model(4.0), jury=jury, random_state=0).fit(table).explain(people)[0]
    return found, jury, model(4.0)


def test_a_way_begins_at_the_person_and_ends_at_the_recourse(arrays, frames):
    for recourse in arrays[:2]:
        rows, cost = way_to(recourse, 11)
        np.testing.assert_array_equal(rows[[0, -1]], [recourse.x0, recourse.x])
        np.testing.assert_allclose(cost, np.abs(rows - recourse.x0).sum(axis=1))
    found, _, _ = frames
    rows, cost = way_to(found, 11)
    assert rows.iloc[-1].tolist() == list(found.x)
    assert (rows["job"] == found.x["job"]).all()
    assert rows["income"].dtype == np.int64
    assert cost[-1] == pytest.approx(found.cost)
    switched = found.x["job"] != "none"
    assert (cost[0] > 0.0) == switched


def test_boundary_points_cost_what_they_cost(arrays, frames):
    _, found, _ = arrays
    rows, cost = boundary_of(found)
    np.testing.assert_array_equal(rows[0], found.boundary)
    np.testing.assert_allclose(cost, np.abs(found.boundary - found.x0).sum())
    found, _, _ = frames
    rows, cost = boundary_of(found)
    assert rows.iloc[0].tolist() == list(found.boundary)
    assert 0.0 < cost[0] <= found.cost + 1e-9


def test_the_curve_shows_the_share_at_every_cost(arrays):
    alone, found, jury = arrays
    figure = draw_survival({"alone": alone, "with a jury": found}, jury.models)
    (ax,) = figure.axes
    for recourse, line in zip((alone, found), [line for line in ax.lines if len(line.get_xdata()) > 100], strict=True):
        cost, share = line.get_data()
        rows = recourse.x0 + (cost / recourse.cost)[:, None] * (recourse.x - recourse.x0)
        np.testing.assert_allclose(share, np.mean([model(rows) for model in jury.models], axis=0), atol=0.11)
        assert share[-1] == np.mean([model(recourse.x[None])[0] for model in jury.models])
    labels = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert f"with a jury: cost {found.cost:.3g}, accepted by 100%" in labels
    assert found.jury_share >= 0.9


def test_a_switch_is_dotted(frames):
    found, jury, _ = frames
    figure = draw_survival({"found": found}, jury.models)
    assert figure.axes[0].lines[1].get_linestyle() != "-"


def test_every_juror_has_its_boundary(arrays, frames):
    _, found, jury = arrays
    figure = draw_jury(found, jury.models, above(0.0))
    ax = figure.axes[0]
    lines = [part for part in ax.collections if not isinstance(part, PathCollection)]
    # Shades, ten jurors and the present model.
    assert len(lines) == 12
    labels = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert {"boundaries of 10 jurors", "boundary of the present model", "recourse"} <= set(labels)
    found, jury, model = frames
    figure = draw_jury(found, jury.models, model)
    assert figure.axes[0].get_xlabel() in {"income", "job"}


def test_of_many_columns_the_two_that_change_most_are_drawn():
    X = np.random.default_rng(0).uniform(-3.0, 3.0, (400, 4))

    def model(least):
        return lambda X: (np.minimum(X[:, 1] + 0.1 * X[:, 0], X[:, 3]) > least).astype(int)

    jury = Jury([model(least) for least in (-0.1, 0.0, 0.1)], 1.0)
    found = RobustBayesianRecourse(model(0.0), jury=jury, random_state=0).fit(X).explain([[0.0, -1.0, 0.0, -1.5]])[0]
    ax = draw_jury(found, jury.models, model(0.0)).axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("column 1", "column 3")


def test_jurors_are_drawn_as_they_decide(arrays):
    alone, found, _ = arrays

    def named(least):
        return lambda X: np.where(above(least)(X) == 1, "yes", "no")

    def scored(least):
        return lambda X: np.asarray(X) @ [1.0, 1.0] - least

    jury, told = (Jury([model(least) for least in (-0.5, 1.0)]) for model in (above, named))
    own = Jury([Juror(scored(least), None, 0.0) for least in (-0.5, 1.0)])

    def drawn(*given, **decides):
        figure = draw_survival({"alone": alone, "found": found}, *given, **decides)
        lines = [line.get_ydata() for line in figure.axes[0].lines]
        figure = draw_jury(found, *given, **decides)
        paths = [path.vertices for part in figure.axes[0].collections for path in part.get_paths()]
        return lines + paths

    expected = drawn(jury.models)
    for other in (drawn(jury), drawn(told, favourable="yes"), drawn(own, favourable="yes")):
        assert len(other) == len(expected)
        for one, two in zip(expected, other, strict=True):
            np.testing.assert_array_equal(one, two)
    with_present = draw_jury(found, told, named(0.0), favourable="yes")
    assert len(with_present.axes[0].collections) == len(draw_jury(found, jury, above(0.0)).axes[0].collections)
    with pytest.raises(RuntimeError, match=r"models\[0\]: .*Pass favourable="):
        draw_jury(found, told)


def test_all_of_the_jury_is_shaded(arrays):
    _, found, jury = arrays
    figure = draw_jury(found, jury.models[:3])
    filled = next(
        part for part in figure.axes[0].collections if part.get_array() is not None and len(part.get_array()) == 10
    )
    assert filled.get_paths()[-1].vertices.size, "where all accept nothing is drawn"


def test_what_cannot_be_drawn_is_named(arrays):
    alone, _, jury = arrays
    with pytest.raises(TypeError, match="recourses must be a mapping"):
        draw_survival([alone], jury.models)
    with pytest.raises(ValueError, match=r"recourses\['a'\] must be a recourse"):
        draw_survival({"a": 3}, jury.models)
    with pytest.raises(ValueError, match="models is empty"):
        draw_survival({"a": alone}, [])
    nowhere = NearestAccepted(above(0.0), ActionSet(immutable=[0, 1])).fit(np.eye(2) * 3.0).explain([[-1.0, -1.0]])[0]
    with pytest.raises(ValueError, match=r"recourses\['a'\] must be a recourse"):
        draw_survival({"a": nowhere}, jury.models)
