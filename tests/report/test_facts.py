from __future__ import annotations

import textwrap
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from robust_recourse import ActionSet, RobustBayesianRecourse, Status
from robust_recourse.math.odds import log_worst_case_odds
from robust_recourse.notices import odds_text
from robust_recourse.report import _facts as facts
from robust_recourse.report._plane import choose_plane
from robust_recourse.report._window import Window, window_around


def explain(model, X, rows, **parameters):
    return RobustBayesianRecourse(model, random_state=0, n_samples=60, **parameters).fit(X).explain(rows)


@pytest.fixture(scope="module")
def recourse(wide):
    model, X, refused = wide
    return explain(model, X, refused[:1])[0]


def window_of(recourse, plane):
    return window_around(plane.spots(recourse.trace.neighbourhood.samples), plane, 1.0)


def test_landscape_is_the_exact_odds(recourse):
    plane = choose_plane(recourse)
    land = facts.landscape(recourse, plane, window_of(recourse, plane))
    assert land.nominal.shape == land.worst.shape == (121, 121)
    around, (sigma, epsilon_0, epsilon_1) = recourse.trace.neighbourhood, recourse.trace.scales
    for row, column in ((0, 0), (60, 60), (17, 101), (120, 3)):
        x = plane.embed(np.array([land.u[column], land.v[row]]))
        labels = around.accepted.astype(int)
        worst = log_worst_case_odds(x, around.samples, labels, sigma, epsilon_0, epsilon_1).value
        nominal = log_worst_case_odds(x, around.samples, labels, sigma, 0.0, 0.0).value
        assert land.worst[row, column] == pytest.approx(worst, abs=1e-5)
        assert land.nominal[row, column] == pytest.approx(nominal, abs=1e-5)
    assert (land.worst >= land.nominal - 1e-6).all()


def test_odds_at_the_recourse_are_its_own(recourse):
    assert facts.log_odds(recourse, recourse.x[None])[1][0] == pytest.approx(recourse.log_worst_case_odds)


def test_odds_live_in_the_columns_that_may_change(wide):
    model, X, refused = wide
    found = explain(model, X, refused, actions=ActionSet(immutable=[0, 5]))
    recourse = next(r for r in found if r.status is Status.OK)
    assert facts.log_odds(recourse, recourse.x[None])[1][0] == pytest.approx(recourse.log_worst_case_odds)


def test_much_work_means_a_coarser_grid(recourse, monkeypatch):
    monkeypatch.setattr(facts, "_MOST_NUMBERS", 0)
    plane = choose_plane(recourse)
    assert facts.landscape(recourse, plane, window_of(recourse, plane)).worst.shape == (61, 61)


def test_the_budget_left_counts_the_weights(linear_model, square):
    points = np.random.default_rng(0).normal(size=(7, 2))
    weighted = explain(linear_model, square, [[-0.5, -0.4]], actions=ActionSet(weights={0: 3.0}))[0]
    expected = weighted.budget - (np.abs(points - weighted.x0) * [3.0, 1.0]).sum(axis=1)
    np.testing.assert_allclose(facts._spare_budget(weighted, points), expected)
    assert facts._spare_budget(replace(weighted, trace=replace(weighted.trace, weights=None)), points) is None


@pytest.mark.parametrize("frames", [True, False])
def test_the_model_is_asked_in_the_form_it_knows(wide, recourse, frames):
    model, _, _ = wide
    names = pd.Index([f"c{k}" for k in range(8)]) if frames else [f"c{k}" for k in range(8)]
    seen = []

    def ask(X):
        seen.append(X)
        return model(X)

    plane = choose_plane(recourse, show="way")
    u, v, labels = facts.regions(ask, names, plane, window_of(recourse, plane))
    assert all(isinstance(X, pd.DataFrame) == frames for X in seen)
    if frames:
        assert list(seen[0].columns) == list(names)
    points = plane.embed(np.stack(np.meshgrid(u, v), axis=-1)).reshape(-1, 8)
    assert np.mean(labels.ravel() == model(points)) > 0.999


def test_the_model_is_asked_in_batches(wide, recourse, monkeypatch):
    model, _, _ = wide
    monkeypatch.setattr(facts, "_NUMBERS_AT_ONCE", 8 * 1000)
    sizes = []

    def ask(X):
        sizes.append(len(X))
        return model(X)

    plane = choose_plane(recourse, show="way")
    facts.regions(ask, None, plane, Window((-1.0, 1.0), (-1.0, 1.0)))
    assert max(sizes) == 1000


def test_sentences(recourse):
    said = facts.outcome(recourse)
    assert f"Cost {recourse.cost:.3g} of at most {recourse.budget:.3g}" in said
    assert f"in the worst case the odds of refusal are {odds_text(recourse.worst_case_odds)}; accepted by the" in said
    fell_back = replace(recourse, status=Status.FELL_BACK, reason="Because.", valid=False)
    assert facts.outcome(fell_back).endswith("refused by the model. Because.")
    assert "odds" not in facts.outcome(replace(recourse, log_worst_case_odds=np.nan))
    assert "of at most" not in facts.outcome(replace(recourse, budget=np.inf))
    assert facts.radii(recourse) == "Smoothing 0.05, ambiguity radii 0.02 (refused) and 0.02 (accepted)."
    with pytest.raises(ValueError, match=r"no odds to draw, the status is 'ok'.*Only the illustration"):
        facts.radii(replace(recourse, trace=replace(recourse.trace, scales=None)))


def test_lines_are_filled_evenly():
    text = "along the line from the refused point to the recourse"
    lines = facts.fill_evenly(text, 50).split("\n")
    assert " ".join(lines) == text
    assert len(lines) == len(textwrap.wrap(text, 50)) == 2
    assert abs(len(lines[0]) - len(lines[1])) < 15
    assert facts.fill_evenly("column 0", 50) == "column 0"
