import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from robust_recourse import ActionSet, BetaRCE, Jury, Status, future_models, load, save
from robust_recourse.methods import betarce
from robust_recourse.methods.betarce import posterior_bound, votes_needed


def threshold(at):
    """Accept ``x1 + x2 > at``; of a jury of such models it is known how many accept what."""
    return lambda X: np.asarray(X).sum(axis=1) > at


@pytest.fixture
def steps():
    """A model that accepts sums above 1, and 20 jurors that accept those above 1.05, 1.1, ... 2."""
    X = np.random.default_rng(0).uniform(-2.0, 2.0, (400, 2))
    jurors = [threshold(1.0 + 0.05 * k) for k in range(1, 21)]
    people = X[X.sum(axis=1) <= 1.0][:15]
    return X, threshold(1.0), jurors, people


@pytest.fixture(scope="module")
def frames():
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "income": rng.integers(10, 90, 400) * 100,
            "job": rng.choice(["clerk", "cook", "none"], 400),
            "age": rng.integers(18, 70, 400),
        }
    )
    score = table["income"] / 2000.0 + 2.0 * (table["job"] == "cook") - (table["job"] == "none") - 3.0
    y = (score + rng.normal(size=400) > 0.0).astype(int)

    def make():
        encoded = make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough")
        return make_pipeline(encoded, LogisticRegression(max_iter=5000))

    model = make().fit(table, y)
    jurors = list(future_models(make(), table, y, n_models=20, random_state=0))
    return table, model, jurors, table[model.predict(table) == 0][:20]


def accepting(models, rows):
    return np.sum([np.asarray(getattr(model, "predict", model)(rows)) == 1 for model in models], axis=0)


@pytest.mark.parametrize(
    ("votes", "n", "prior"), [(20, 20, 0.5), (18, 20, 0.5), (7, 9, 1.0), (1, 5, 2.0), (30, 32, 1.0)]
)
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95])
def test_the_bound_leaves_the_rest_of_the_posterior_below(votes, n, prior, confidence):
    def density(share):
        return share ** (prior + votes - 1.0) * (1.0 - share) ** (prior + n - votes - 1.0)

    bound = float(posterior_bound(votes, n, confidence, prior))
    below = quad(density, 0.0, bound)[0] / quad(density, 0.0, 1.0)[0]
    assert below == pytest.approx(1.0 - confidence, abs=1e-6)


def test_the_votes_needed_are_the_fewest_that_are_enough():
    rng = np.random.default_rng(0)
    for _ in range(200):
        n, delta, confidence = int(rng.integers(1, 60)), rng.uniform(0.05, 0.99), rng.uniform(0.5, 0.99)
        prior = rng.choice([0.5, 1.0])
        needed = next((s for s in range(n + 1) if posterior_bound(s, n, confidence, prior) >= delta), None)
        assert votes_needed(n, delta, confidence, prior) == needed


@pytest.mark.parametrize("p", [1, 2, 7])
def test_points_are_uniform_in_the_shell(p):
    points = betarce._in_shell([np.random.default_rng(0)], 20_000, p, 0.6, 0.8)[0]
    length = np.sqrt((points**2).sum(axis=1))
    assert length.min() >= 0.6 - 1e-12
    assert length.max() <= 0.8 + 1e-12
    volume = (length**p - 0.6**p) / (0.8**p - 0.6**p)
    np.testing.assert_allclose(np.quantile(volume, [0.25, 0.5, 0.75]), [0.25, 0.5, 0.75], atol=0.02)
    np.testing.assert_allclose(points.mean(axis=0), 0.0, atol=0.02)


def test_every_recourse_has_the_votes_and_the_cost_is_close_to_the_cheapest_with_them(steps):
    X, model, jurors, people = steps
    method = BetaRCE(model, jury=Jury(jurors), delta=0.7, n_samples=500, step=0.05, random_state=0).fit(X)
    found = method.explain(people)
    assert method.n_votes_ == votes_needed(20, 0.7)
    share = accepting(jurors, found.x)
    assert (share >= method.n_votes_).all()
    np.testing.assert_array_equal(found.jury_share, share / 20)
    assert found.valid.all()
    assert (found.status == Status.OK).all()
    cheapest = 1.0 + 0.05 * method.n_votes_ - people.sum(axis=1)
    assert (found.cost > cheapest).all()
    # Spheres of growing radius know nothing of costs: they overshoot by a part of a shell.
    assert (found.cost < cheapest + 0.5).all()


def test_it_is_the_cheapest_sample_of_the_first_shell_that_has_one(steps, monkeypatch):
    X, model, jurors, people = steps
    method = BetaRCE(model, jury=Jury(jurors), delta=0.7, n_samples=50, step=0.1, random_state=3).fit(X)
    shells, draw = [], method._samples

    def watched(*arguments):
        shells.append(draw(*arguments))
        return shells[-1]

    monkeypatch.setattr(method, "_samples", watched)
    found = method.explain(people)
    for i, x0 in enumerate(people):
        for points, owner in shells:
            own = points[owner == i]
            enough = own[model(own) & (accepting(jurors, own) >= method.n_votes_)]
            if len(enough):
                break
        np.testing.assert_array_equal(found.x[i], enough[np.abs(enough - x0).sum(axis=1).argmin()])


def test_a_boundary_point_with_the_votes_is_the_recourse(steps):
    X, model, _, people = steps
    found = BetaRCE(model, jury=Jury([model] * 20), random_state=0).fit(X).explain(people)
    np.testing.assert_allclose(found.cost, 1.0 - people.sum(axis=1), atol=0.01)


def test_people_do_not_depend_on_their_company(steps):
    X, model, jurors, people = steps
    method = BetaRCE(model, jury=Jury(jurors), delta=0.7, random_state=0).fit(X)
    together = method.explain(people)
    for i in (0, 7, 14):
        np.testing.assert_array_equal(method.explain(people[i : i + 1]).x[0], together.x[i])
    np.testing.assert_array_equal(method.explain(people[::-1]).x, together.x[::-1])
    other = BetaRCE(model, jury=Jury(jurors), delta=0.7, random_state=1).fit(X).explain(people)
    assert (other.x != together.x).any()


def test_more_votes_cost_more(steps):
    X, model, jurors, people = steps
    costs = [
        BetaRCE(model, jury=Jury(jurors), delta=delta, random_state=0).fit(X).explain(people).cost.mean()
        for delta in (0.3, 0.6, 0.9)
    ]
    assert costs[0] < costs[1] < costs[2]


def test_the_action_set_is_kept(steps):
    X, model, jurors, people = steps
    actions = ActionSet(increase=[0], bounds={1: (None, 1.8)}, weights={0: 3.0})
    found = BetaRCE(model, actions, jury=Jury(jurors), delta=0.6, random_state=0).fit(X).explain(people)
    reached = found.valid
    assert reached.any()
    assert (found.x[reached, 0] >= people[reached, 0]).all()
    assert (found.x[reached, 1] <= np.maximum(1.8, people[reached, 1])).all()
    np.testing.assert_allclose(found.cost, (np.abs(found.x - people) * [3.0, 1.0]).sum(axis=1))


def test_who_has_no_sphere_with_the_votes_gets_a_status(steps):
    X, model, jurors, people = steps
    found = BetaRCE(model, jury=Jury(jurors), max_radius=0.2, step=0.1, random_state=0).fit(X).explain(people)
    assert (found.status == Status.NOT_FOUND).all()
    assert not found.valid.any()
    assert np.isnan(found.x).all()
    assert "20 of the 20 models of the jury" in found.reason[0]
    assert np.isnan(found.jury_share).all()


def test_nobody_is_asked_about_what_the_model_refuses(steps, counting):
    X, _, jurors, people = steps
    model, watched = threshold(1.0), [counting(juror) for juror in jurors]
    method = BetaRCE(model, jury=Jury(watched), delta=0.7, random_state=0).fit(X)
    for juror in watched:
        juror.batches.clear()
    method.explain(people)
    assert all(model(np.concatenate(juror.batches)).all() for juror in watched if juror.batches)
    assert sum(juror.n_rows for juror in watched) > 0


def test_the_boundary_is_that_of_the_present_model(steps):
    X, model, jurors, people = steps
    jury = Jury(jurors, quorum=1.0)
    strict = BetaRCE(model, jury=jury, delta=0.1, random_state=0).fit(X)
    lenient = BetaRCE(model, jury=Jury(jurors, quorum=0.05), delta=0.1, random_state=0).fit(X)
    np.testing.assert_array_equal(strict.explain(people).x, lenient.explain(people).x)
    np.testing.assert_array_equal(strict.candidates_, X[model(X)])


@pytest.mark.parametrize("actions", [{}, {"max_changes": 1}])
def test_rows_of_tables_have_the_votes(actions, frames):
    table, model, jurors, people = frames
    people = people[:10]
    method = BetaRCE(model, ActionSet(immutable=["age"], **actions), jury=Jury(jurors), delta=0.8, random_state=0)
    found = method.fit(table).explain(people)
    assert found.valid.sum() >= 8
    rows = found.x[found.valid]
    assert (accepting(jurors, rows) >= method.n_votes_).all()
    assert (rows["age"] == found.x0["age"][found.valid]).all()
    if actions:
        assert ((rows != found.x0[found.valid]).sum(axis=1) == 1).all()
    several = method.explain(people[:3], n_recourses=2)
    assert (accepting(jurors, several.x[several.valid]) >= method.n_votes_).all()


def test_switches_alone_are_put_to_the_jury(frames):
    table, model, jurors, _ = frames
    actions = ActionSet(immutable=["age", "income"])
    people = table[(model.predict(table) == 0) & (table["job"] == "none")]
    found = BetaRCE(model, actions, jury=Jury(jurors), delta=0.8, random_state=0).fit(table).explain(people)
    reached = found.status == Status.OK
    assert reached.any()
    assert (accepting(jurors, found.x[reached]) >= votes_needed(20, 0.8)).all()
    assert (found.status == Status.NOT_FOUND).any()


def test_what_is_saved_finds_the_same(tmp_path, frames):
    table, model, jurors, people = frames
    method = BetaRCE(model, jury=Jury(jurors), delta=0.8, random_state=0).fit(table)
    save(method, tmp_path / "betarce.zip", include_model=False)
    again = load(tmp_path / "betarce.zip", model=model, jury=Jury(jurors))
    pd.testing.assert_frame_equal(again.explain(people[:5]).x, method.explain(people[:5]).x)


def test_it_needs_a_jury_of_models_alone_that_can_reach_delta(steps):
    X, model, jurors, _ = steps
    with pytest.raises(TypeError, match=r"BetaRCE asks models .* needs a jury"):
        BetaRCE(model).fit(X)
    for jury in (Jury(jurors, margin=0.7), Jury(jurors, rule="mean")):
        with pytest.raises((TypeError, ValueError), match=r"BetaRCE counts decisions|needs probabilities"):
            BetaRCE(model, jury=jury).fit(X)
    message = "delta = 0.9 is out of reach of a jury of 10: if all accept, .* at least 0.829"
    with pytest.raises(ValueError, match=message):
        BetaRCE(model, jury=Jury(jurors[:10])).fit(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"delta": 1.0}, "delta must be less than 1"),
        ({"confidence": 0.0}, "confidence must be"),
        ({"prior": 0.0}, "prior must be"),
        ({"n_samples": 0}, "n_samples must be at least 1"),
        ({"step": 0.0}, "step must be"),
        ({"max_radius": np.inf}, "max_radius"),
        ({"step": 1e-9}, "more than 100000 times step"),
    ],
)
def test_parameters_out_of_range(steps, parameters, message):
    X, model, jurors, _ = steps
    with pytest.raises(ValueError, match=message):
        BetaRCE(model, jury=Jury(jurors), **parameters).fit(X)
