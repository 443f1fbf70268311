"""Successive halving: dials that find the target, and families that are measured on more and more people."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from robust_recourse.tuning._families import FAMILIES, Basis, Family
from robust_recourse.tuning._halving import Dial, halve, planned
from robust_recourse.tuning._study import Measured

JURORS = tuple(lambda X, k=k: X[:, 0] > k for k in range(20))
BASIS = Basis(sampling_radius=0.2, radius=0.2, robust=True, decides=0.5, jurors=JURORS, mean=True)
MODES = st.sampled_from(["budget", "odds", "margin", "quorum", "mean"])


def family(mode="budget", sigma=0.5):
    return Family(mode, 1.0, sigma, 0.1, axes=True)


def measured(validity, cost=1.0, *, spread=0.0, n=2, m=2, parameters=None):
    """A measurement whose people have a share of `validity` on average, give or take `spread`; models agree."""
    signs = np.resize([1.0, -1.0], n)
    return Measured(parameters or {}, np.full(n, cost), validity + spread * signs, np.full(m, validity), n_queries=1)


def curve(crossing, steepness):
    """Validity as a function of the strength, increasing, that is 0.5 at the crossing."""
    return lambda strength: 1.0 / (1.0 + (strength / crossing) ** -steepness)


def turn(dial, steps, validity):
    """Try strength after strength; return the brackets on the way."""
    brackets = []
    for _ in range(steps):
        strength = dial.next()
        if strength is None or _narrow(*brackets[-1:]):
            break
        low, high = dial.family.range
        assert low <= strength <= high
        assert strength not in dial.tried
        dial.tried[strength] = measured(validity(strength), cost=strength)
        good = [s for s in dial.tried if dial.reaches(dial.tried[s])]
        bad = [s for s in dial.tried if s not in good]
        brackets.append((max(bad, default=None), min(good, default=None)))
    return brackets


def _narrow(bracket=(None, None)):
    weak, strong = bracket
    return weak is not None and strong is not None and strong - weak < 1e-6 * strong


def logarithmic(low, high):
    return st.floats(math.log(low), math.log(high)).map(math.exp)


@settings(deadline=None, max_examples=60)
@given(MODES, logarithmic(1e-3, 1e3), st.floats(0.5, 20.0), st.none() | logarithmic(1e-3, 1e3))
def test_a_dial_finds_where_the_target_is_crossed(mode, crossing, steepness, hint):
    dial = Dial(family(mode), 0.5, hint=hint)
    low, high = dial.family.range
    assume(not math.isclose(crossing, high) and not math.isclose(crossing, low))
    brackets = turn(dial, 32, curve(crossing, steepness))
    if crossing > high:
        assert dial.best is None
        assert max(dial.tried) == high
        assert dial.next() is None
    elif crossing <= low:
        assert dial.best == low
        assert dial.next() is None
    else:
        assert crossing * (1.0 - 1e-9) <= dial.best <= 1.05 * crossing
        # Strengths are 15 % of a bracket off its ends: it shrinks by so much at least.
        closed = [(weak, strong) for weak, strong in brackets if weak is not None and strong is not None]
        for (weak, strong), (inner, outer) in pairwise(closed):
            assert weak <= inner < outer <= strong
            assert outer - inner <= 0.85 * (strong - weak) * (1.0 + 1e-9)


@pytest.mark.parametrize("mode", ["budget", "odds", "margin", "quorum", "mean"])
def test_a_dial_begins_at_its_hint_within_the_range(mode):
    one = family(mode)
    low, high = one.range
    assert Dial(one, 0.9).next() == one.first
    assert low < one.first < high
    assert [Dial(one, 0.9, hint=hint).next() for hint in (0.0, 0.3, 1e9)] == [low, 0.3, high]


@settings(deadline=None, max_examples=100)
@given(
    MODES,
    st.dictionaries(
        st.floats(0.0, 1.0),
        st.tuples(st.floats(0.0, 1.0), st.floats(0.1, 9.0), st.floats(0.0, 0.1)),
        min_size=1,
        max_size=8,
    ),
    st.floats(0.05, 1.0),
    st.sampled_from([0.0, 1.0]),
)
def test_whatever_was_measured_a_dial_stays_in_its_range_and_goes_on_where_it_does_not_know(
    mode, known, target, margin
):
    dial = Dial(family(mode), target, margin)
    low, high = dial.family.range
    for share, (validity, cost, spread) in known.items():
        dial.tried[low + share * (high - low)] = measured(validity, cost, spread=spread)
    good = [s for s in dial.tried if dial.tried[s].validity - margin * dial.tried[s].error >= target]
    strong = min(good, default=None)
    weak = max((s for s in dial.tried if strong is None or s < strong), default=None)
    following = dial.next()
    if following is None:
        assert weak == high if strong is None else strong == low
    else:
        assert low <= following <= high
        assert weak is None or weak <= following
        assert strong is None or following <= strong
    assert low <= dial.guess() <= high
    assert dial.best == (min(good, key=lambda s: (dial.tried[s].cost, s)) if good else None)
    first, second = dial.score
    if good:
        assert first == 0.0
        assert second <= dial.tried[dial.best].cost
    else:
        assert (first, second) == (1.0, -max(found.validity for found in dial.tried.values()))


def test_a_margin_is_counted_in_standard_errors():
    found = measured(0.9, spread=0.1)
    error = math.sqrt(np.var(found.shares, ddof=1) / 2)
    assert found.error == pytest.approx(error)
    for margin in (0.0, 1.0, 2.5):
        least = 0.9 - margin * error
        assert Dial(family(), least - 1e-9, margin).reaches(found)
        assert not Dial(family(), least + 1e-9, margin).reaches(found)


def test_score_and_guess_are_those_of_the_line_between_the_neighbours_of_the_target():
    dial = Dial(family(), 0.9, tried={1.0: measured(0.5, 2.0), 2.0: measured(0.8, 3.0), 4.0: measured(0.95, 7.0)})
    share = (0.9 - 0.8) / (0.95 - 0.8)
    assert dial.guess() == pytest.approx(2.0 + share * 2.0)
    assert dial.score == (0.0, pytest.approx(3.0 + share * 4.0))
    assert dial.next() == pytest.approx(dial.guess())
    # Close to an end of the bracket the guess stays, what is tried does not.
    close = Dial(family(), 0.9, tried={2.0: measured(0.899, 3.0), 4.0: measured(0.95, 7.0)})
    assert close.guess() == pytest.approx(2.0 + 2.0 / 51.0)
    assert close.next() == pytest.approx(2.0 + 0.15 * 2.0)
    # If it costs less to be stronger, what costs least is what counts.
    odd = Dial(family(), 0.9, tried={2.0: measured(0.8, 9.0), 4.0: measured(0.95, 7.0)})
    assert odd.score == (0.0, 7.0)


def test_where_the_target_is_not_bracketed_the_guess_is_what_would_be_tried_next():
    assert Dial(family(), 0.9, tried={2.0: measured(0.5)}).guess() == 5.0
    assert Dial(family(), 0.9, tried={2.0: measured(0.95)}).guess() == pytest.approx(0.8)
    low, high = family().range
    assert Dial(family(), 0.9, tried={high: measured(0.5)}).guess() == high
    assert Dial(family(), 0.9, tried={low: measured(0.95)}).guess() == low


def test_families_that_reach_the_target_come_first_then_those_that_come_close():
    def score(*tried):
        return Dial(family(), 0.9, tried={1.0 + k: measured(*pair) for k, pair in enumerate(tried)}).score

    cheap, dear = score((0.8, 1.0), (0.95, 2.0)), score((0.8, 3.0), (0.95, 4.0))
    close, far = score((0.89, 0.1)), score((0.2, 0.1), (0.3, 0.1))
    assert sorted([far, dear, close, cheap]) == [cheap, dear, close, far]


class Curves:
    """Stands for a study: every family has a curve of its own, and nothing is explained."""

    def __init__(self, curves):
        self.curves, self.asked = curves, []

    def measure(self, configurations, rows, models, name):
        for parameters in configurations:
            self.asked.append((dict(parameters), tuple(rows), models, name))
            odds, margin = parameters["target_odds"], parameters["margin"]
            if margin is not None:
                mode, strength = "margin", math.log(margin / (1.0 - margin))
            elif odds is None:
                mode, strength = "budget", parameters["delta_plus"] / 0.2
            else:
                mode, strength = "odds", -math.log(odds)
            validity, cost = self.curves[mode, parameters["sigma"]](strength)
            yield measured(validity, cost, n=len(rows), parameters=parameters)


def steps(study, families, n_people, target=0.9):
    rows = np.arange(100, 100 + n_people)
    return list(halve(study, families, BASIS, rows, "models", target, 1.0)), rows


def some_families(n_odds, n_budget, n_margin=0):
    counts = {"odds": n_odds, "budget": n_budget, "margin": n_margin}
    pairs = [(mode, k) for mode, n in counts.items() for k in range(n)]
    return [family(mode, 0.1 * (k + 1)) for mode, k in pairs]


def of(one, function):
    return {(one.mode, float(f"{one.sigma * 0.2:.6g}")): function}


@settings(deadline=None, max_examples=60)
@given(
    st.tuples(st.integers(0, 10), st.integers(0, 10), st.integers(0, 10)),
    st.integers(5, 60),
    st.lists(st.tuples(logarithmic(0.01, 100.0), st.floats(0.3, 5.0), st.floats(0.1, 9.0)), min_size=30, max_size=30),
)
def test_no_more_is_measured_than_planned_and_all_kinds_stay(counts, n_people, shapes):
    assume(sum(counts))
    families = some_families(*counts)
    curves = {}
    for one, (crossing, steepness, price) in zip(families, shapes, strict=False):
        valid = curve(crossing, steepness)
        curves |= of(one, lambda s, valid=valid, price=price: (valid(s), price * s))
    study = Curves(curves)
    seen, rows = steps(study, families, n_people)
    assert len(study.asked) == len(seen) <= planned(len(families))
    assert all(asked[2:] == ("models", "choose") for asked in study.asked)
    # Every rung has the first of the people, more than the one before, and the last has all.
    sizes = [len(some) for _, some, *_ in study.asked]
    assert sizes == sorted(sizes)
    assert all(some == tuple(rows[: len(some)]) for _, some, *_ in study.asked)
    assert sizes[-1] == n_people
    assert sizes[0] == max(round(0.3 * n_people), min(8, n_people))
    dials = seen[-1]
    assert sum(len(dial.tried) for dial in dials) == len(study.asked)
    n = len(families)
    rungs = [dials[:n], dials[n : n + min(6, n)], dials[n + min(6, n) :]]
    assert [len(rung) for rung in rungs] == [n, min(6, n), min(4, n)]
    kinds = {one.kind for one in families}
    for rung, margin in zip(rungs, (0.0, 0.0, 1.0), strict=True):
        assert all(dial.tried for dial in rung)
        assert {dial.family.kind for dial in rung} == kinds
        if n_people >= 14:
            assert {dial.margin for dial in rung} == {margin}


def test_with_so_few_people_that_all_are_on_every_rung_the_margin_always_counts():
    families = some_families(2, 2)
    curves = {}
    for one in families:
        curves |= of(one, lambda s: (min(s / 3.0, 1.0), s))
    seen, _ = steps(Curves(curves), families, 6)
    assert {dial.margin for dial in seen[-1]} == {1.0}


def test_the_cheapest_family_gets_to_the_last_rung_and_close_to_the_target():
    families = some_families(6, 6)
    curves = {}
    for k, one in enumerate(families):
        price = 0.5 if k == 8 else 1.0 + 0.1 * k
        curves |= of(one, lambda s, price=price: (min(s / 4.0, 1.0), price * s))
    seen, _ = steps(Curves(curves), families, 40)
    last = seen[-1][-4:]
    assert families[8] in [dial.family for dial in last]
    (winner,) = [dial for dial in last if dial.family == families[8]]
    # 0.9 is crossed at 3.6, at a price of 1.8.
    assert 1.8 <= winner.tried[winner.best].cost <= 1.8 * 1.15


def test_a_mode_that_seems_hopeless_is_kept():
    families = some_families(6, 6)
    curves = {}
    for one in families:
        slope = 4.0 if one.mode == "odds" else 1e6
        curves |= of(one, lambda s, slope=slope: (min(s / slope, 1.0), s))
    seen, _ = steps(Curves(curves), families, 40)
    assert [dial.family.mode for dial in seen[-1][-4:]].count("budget") == 1
    # It is the best of those.
    flat = dict(curves)
    flat |= of(families[9], lambda s: (min(s / 1e5, 1.0), s))
    seen, _ = steps(Curves(flat), families, 40)
    assert [dial.family for dial in seen[-1][-4:] if dial.family.mode == "budget"] == [families[9]]


def test_what_is_yielded_has_all_that_was_measured_so_far():
    families = some_families(1, 1)
    curves = of(families[0], lambda s: (min(s / 4.0, 1.0), s)) | of(families[1], lambda s: (min(s / 3.0, 1.0), s))
    study = Curves(curves)
    found = halve(study, families, BASIS, np.arange(20), "models", 0.9, 1.0)
    counts = [sum(len(dial.tried) for dial in dials) for dials in found]
    assert counts == list(range(1, len(counts) + 1))
    assert len(counts) == planned(2) == 12


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(FAMILIES), logarithmic(0.05, 25.0), logarithmic(1e-3, 1e3), st.sampled_from([1.0, 7.0]))
def test_parameters_are_relative_to_the_sampling_radius_of_the_method(one, strength, given_radius, unit):
    basis = replace(BASIS, sampling_radius=given_radius, radius=given_radius * unit)
    parameters = one.parameters(strength, basis)
    around = one.radius * basis.radius
    expected = {
        "sampling_radius": one.radius * given_radius,
        "sigma": one.sigma * around,
        "epsilon_0": one.epsilon * around,
        "epsilon_1": one.epsilon * around,
    }
    if one.mode != "odds":
        assert parameters["target_odds"] is None
        expected["delta_plus"] = (strength if one.mode == "budget" else one.budget) * basis.radius
    else:
        assert "delta_plus" not in parameters
        expected["target_odds"] = math.exp(-strength)
    for name, value in expected.items():
        assert parameters[name] == pytest.approx(value, rel=1e-5)
        assert parameters[name] == float(f"{parameters[name]:.6g}")
    assert parameters["axes"] is one.axes
    nominal = one.parameters(strength, replace(basis, robust=False))
    assert set(nominal) == {name for name in parameters if not name.startswith("epsilon")}


@given(st.sampled_from(FAMILIES))
def test_all_families_have_different_configurations_of_all_modes(one):
    assert len(set(FAMILIES)) == len(FAMILIES)
    assert {each.mode for each in FAMILIES} == {"odds", "budget", "margin", "quorum", "mean"}
    low, high = one.range
    assert 0.0 < low < one.first < high
    # The strongest promise is still a number.
    assert one.parameters(high, BASIS).get("target_odds") != 0.0


def asked(mode, strength, **changed):
    return family(mode).parameters(strength, replace(BASIS, **changed))


def test_a_criterion_grows_from_what_decides_to_almost_everything():
    for mode in ("margin", "quorum", "mean"):
        low, high = family(mode).range
        found = [asked(mode, strength) for strength in (low, family(mode).first, high)]
        levels = [one["margin"] if mode == "margin" else one["jury"].level for one in found]
        assert 0.5 < levels[0] < 0.56
        assert 0.75 < levels[1] < 0.91
        assert 0.99 < levels[2] <= 1.0
        assert all(one["delta_plus"] == 0.0 for one in found)
    # With the strongest quorum all of twenty must accept.
    assert math.ceil(20 * asked("quorum", 4.0)["jury"].quorum) == 20
    # A dial of probabilities is one of log odds, from the threshold of the model on.
    assert asked("margin", math.log(2.0), decides=0.25)["margin"] == pytest.approx(0.4)
    assert asked("mean", math.log(2.0), decides=0.25)["jury"].level == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("lacking", "modes"),
    [
        ({}, {"odds", "budget", "margin", "quorum", "mean"}),
        ({"decides": None, "mean": False}, {"odds", "budget", "quorum"}),
        ({"jurors": (), "mean": False}, {"odds", "budget", "margin"}),
        ({"jurors": (), "mean": False, "decides": None}, {"odds", "budget"}),
    ],
)
def test_only_what_there_is_can_be_asked(lacking, modes):
    basis = replace(BASIS, **lacking)
    fit = [one for one in FAMILIES if one.fits(basis)]
    assert {one.mode for one in fit} == modes
    for one in fit:
        found = one.parameters(one.first, basis)
        assert (found["margin"] is not None) == (one.mode == "margin")
        assert (found["jury"] is not None) == (one.mode in ("quorum", "mean") or one.quorum is not None)
        assert found["jury"] is None or found["jury"].models == JURORS
    assert any(one.quorum is not None for one in fit) == ("quorum" in modes)
