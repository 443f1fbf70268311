"""Certificates: the bound against random mixtures, the sources of samples, what is told, and bad input."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from robust_recourse import ActionSet, BayesianRecourse, NearestAccepted, Recourses, RobustBayesianRecourse
from robust_recourse.certificates import Certificates, HasNeighbourhoods, certify
from robust_recourse.math.odds import Scales, log_worst_case_odds
from robust_recourse.sampling.neighbourhood import Neighbourhood

seeds = st.integers(0, 2**32 - 1)
dimensions = st.sampled_from((1, 2, 3, 8))
MIXTURES = 10_000


def problem(seed, p, n=8):
    """Samples on two sides of a plane, and a point on the better side."""
    rng = np.random.default_rng(seed)
    samples = rng.standard_normal((n, p))
    labels = np.zeros(n, dtype=int)
    labels[np.argsort(samples[:, 0])[n // 2 :]] = 1
    point = samples[samples[:, 0].argmax()] + 0.3 * rng.standard_normal(p)
    return samples, labels, point, rng


def beyond(radius, sigma):
    """Where the odds must have reached 1."""
    return radius * (1.0 + 1e-6) + 1e-9 * sigma


def perturbed(rng, mixture, epsilon, n_mixtures):
    """Random mixtures of the ambiguity set around a recovered one's samples: half near the worst, half anywhere.

    Returns means, orthonormal bases as two reflections, and standard deviations along their axes.
    """
    n, p = mixture.means.shape
    shape = n_mixtures, n, p
    near = (np.arange(n_mixtures) % 2 == 0)[:, None, None]
    noise = np.where(near, 10.0 ** rng.uniform(-4, 0, (n_mixtures, 1, 1)), 1.0) * epsilon
    shift = np.where(near, mixture.means - mixture.nominal_means, 0.0) + noise * rng.standard_normal(shape)
    stretch = np.where(near, np.concatenate([mixture.along[:, None], np.tile(mixture.across[:, None], p - 1)], 1), 0.0)
    stretch = np.abs(np.where(near, stretch - mixture.sigma, 0.0) + noise * rng.standard_normal(shape))
    size = np.sqrt((shift**2).sum(axis=2) + (stretch**2).sum(axis=2))[..., None]
    inside = np.minimum(1.0, epsilon / np.maximum(size, 1e-300))
    inside = np.where(near, inside, epsilon / size * rng.random((n_mixtures, n, 1)) ** 0.2)
    # The first reflection takes the first axis to the direction of the point.
    axis = mixture.directions - np.eye(p)[0]
    axis = np.where(np.linalg.norm(axis, axis=1, keepdims=True) > 1e-9, axis, 0.0)
    turn = np.where(near, noise / max(epsilon, 1e-300), 1.0) * rng.standard_normal(shape)
    return mixture.nominal_means + inside * shift, (axis, turn), mixture.sigma + inside * stretch


def reflect(vectors, axes):
    norms = (axes**2).sum(axis=-1, keepdims=True)
    along = (vectors * axes).sum(axis=-1, keepdims=True) / np.where(norms > 0.0, norms, 1.0)
    return vectors - 2.0 * along * axes


def log_densities(x, means, reflections, deviations):
    """Log of the sum of the densities, by mixture; without the constant that cancels."""
    first, turn = reflections
    # Two reflections that almost cancel turn little: the second repeats a common axis, a bit off.
    common = np.ones(means.shape[-1])
    away = reflect(reflect(reflect(x - means, np.broadcast_to(common, means.shape)), common + turn), first)
    exponents = -np.log(deviations).sum(axis=2) - 0.5 * ((away / deviations) ** 2).sum(axis=2)
    return logsumexp(exponents, axis=1)


def random_log_odds(rng, certificate, epsilon_0, epsilon_1):
    worst = certificate.worst_case(epsilon_0) if epsilon_0 == epsilon_1 else certificate.worst_case()
    refused = log_densities(worst.x, *perturbed(rng, worst.refused, epsilon_0, MIXTURES))
    accepted = log_densities(worst.x, *perturbed(rng, worst.accepted, epsilon_1, MIXTURES))
    return refused - accepted


@settings(max_examples=6, deadline=None)
@given(seeds, dimensions, st.floats(0.2, 2.0))
def test_no_random_mixture_within_the_certified_radius_makes_refusal_as_likely(seed, p, sigma):
    samples, labels, point, rng = problem(seed, p)
    (certificate,) = certify((samples, labels), [point], sigma=sigma)
    radius = certificate.certified_radius
    if certificate.certified and radius > 1e-6:
        odds = random_log_odds(rng, certificate, radius, radius)
        assert len(odds) == MIXTURES
        assert odds.max() < 0.0
        # The mixtures are bad enough to tell: some come close to the bound.
        assert odds.max() > -0.05 * max(1.0, -certificate.log_nominal_odds)


@settings(max_examples=6, deadline=None)
@given(seeds, dimensions, st.floats(0.2, 2.0), st.floats(0.05, 2.0), st.floats(0.05, 2.0))
def test_no_random_mixture_exceeds_the_worst_case_odds(seed, p, sigma, e0, e1):
    samples, labels, point, rng = problem(seed, p)
    (certificate,) = certify((samples, labels), [point], sigma=sigma, epsilon_0=e0 * sigma, epsilon_1=e1 * sigma)
    odds = random_log_odds(rng, certificate, e0 * sigma, e1 * sigma)
    assert odds.max() <= certificate.log_worst_case_odds + 1e-9


@settings(max_examples=5, deadline=None)
@given(seeds, dimensions)
def test_the_witness_attains_the_odds(seed, p):
    samples, labels, point, _ = problem(seed, p)
    (certificate,) = certify((samples, labels), [point], sigma=0.7, epsilon_0=0.3, epsilon_1=0.2)
    assert certificate.worst_case().log_odds == pytest.approx(certificate.log_worst_case_odds, abs=1e-9)
    assert certificate.worst_case(0.0).log_odds == pytest.approx(certificate.log_nominal_odds, abs=1e-9)
    if certificate.certified:
        radius = certificate.certified_radius
        assert certificate.worst_case(radius).log_odds < 0.0
        assert certificate.worst_case(beyond(radius, 0.7)).log_odds >= 0.0


@settings(max_examples=20, deadline=None)
@given(seeds, dimensions, st.floats(0.01, 100.0))
def test_translations_rotations_and_units_do_not_matter(seed, p, unit):
    samples, labels, point, rng = problem(seed, p)
    basis, shift = np.linalg.qr(rng.standard_normal((p, p)))[0], rng.standard_normal(p)
    plain = certify((samples, labels), [point], sigma=0.5, epsilon_0=0.1, epsilon_1=0.2)
    moved = certify(
        ((samples @ basis + shift) * unit, labels),
        (point @ basis + shift)[None] * unit,
        sigma=0.5 * unit,
        epsilon_0=0.1 * unit,
        epsilon_1=0.2 * unit,
    )
    np.testing.assert_allclose(moved.log_nominal_odds, plain.log_nominal_odds, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(moved.log_worst_case_odds, plain.log_worst_case_odds, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(moved.certified_radius, unit * plain.certified_radius, rtol=1e-6, atol=2e-9 * unit)


def test_odds_are_those_of_the_objective():
    samples, labels, _, rng = problem(0, 3, n=40)
    points = rng.standard_normal((30, 3))
    certificates = certify((samples, labels), points, sigma=0.4, epsilon_0=0.1, epsilon_1=0.3)
    expected = log_worst_case_odds(points, samples, labels, 0.4, 0.1, 0.3).value
    np.testing.assert_allclose(certificates.log_worst_case_odds, expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(certificates.worst_case_odds, np.exp(expected), rtol=1e-9)
    without = certify((samples, labels), points, sigma=0.4)
    np.testing.assert_array_equal(without.log_worst_case_odds, without.log_nominal_odds)
    np.testing.assert_array_equal(without.certified_radius, certificates.certified_radius)


def test_own_samples_of_each_point_are_the_same_as_one_by_one():
    rng = np.random.default_rng(1)
    samples, points = rng.standard_normal((7, 12, 2)), rng.standard_normal((7, 2))
    labels = rng.permuted(np.tile([0, 1] * 6, (7, 1)), axis=1)
    together = certify((samples, labels), points, sigma=0.5, epsilon_0=0.1)
    for i in range(7):
        alone = certify((samples[i], labels[i]), points[i : i + 1], sigma=0.5, epsilon_0=0.1)
        assert alone.log_nominal_odds[0] == together.log_nominal_odds[i]
        assert alone.log_worst_case_odds[0] == together.log_worst_case_odds[i]
        assert alone.certified_radius[0] == together.certified_radius[i]
        np.testing.assert_array_equal(together[i].samples, samples[i])
        np.testing.assert_array_equal(together[i].labels, labels[i])
    shared = certify((samples, labels[0]), points, sigma=0.5)
    assert shared.certified_radius[0] == together.certified_radius[0]


def test_many_points_are_taken_in_parts(monkeypatch):
    rng = np.random.default_rng(2)
    points, own = rng.standard_normal((50, 3)), rng.standard_normal((50, 8, 3))
    labels = rng.permuted(np.tile([0, 1] * 4, (50, 1)), axis=1)
    sources = (own[0], labels[0]), (own, labels)
    whole = [certify(source, points, sigma=0.5).certified_radius for source in sources]
    monkeypatch.setattr("robust_recourse.certificates._surroundings._AT_ONCE", 100)
    for source, radius in zip(sources, whole, strict=True):
        np.testing.assert_array_equal(certify(source, points, sigma=0.5).certified_radius, radius)


def test_weights_are_the_shares_in_the_sums_of_the_classes():
    samples, labels, point, _ = problem(3, 2, n=12)
    (certificate,) = certify((samples, labels), [point], sigma=0.5, epsilon_0=0.2, epsilon_1=0.1)
    table = certificate.weights()
    assert list(table.columns) == ["label", "distance", "weight"]
    assert table.index.name == "sample"
    np.testing.assert_array_equal(table["label"], labels)
    np.testing.assert_allclose(table["distance"], np.linalg.norm(point - samples, axis=1))
    np.testing.assert_allclose(table.groupby("label")["weight"].sum(), 1.0)
    # Leaving a sample out changes the log odds by the logarithm of what is left.
    for i, row in table.iterrows():
        if 1e-12 < row["weight"] < 1.0:
            kept = np.arange(12) != i
            without = certify((samples[kept], labels[kept]), [point], sigma=0.5, epsilon_0=0.2, epsilon_1=0.1)
            sign = 1.0 if row["label"] == 0 else -1.0
            change = without.log_worst_case_odds[0] - certificate.log_worst_case_odds
            assert change == pytest.approx(sign * np.log1p(-row["weight"]), rel=1e-6, abs=1e-12)
    top = certificate.most_important(3)
    assert len(top) == 3
    np.testing.assert_array_equal(top["weight"], np.sort(table["weight"])[::-1][:3])
    assert len(certificate.most_important(100)) == 12
    assert not np.allclose(certificate.weights(0.0)["weight"], table["weight"])
    np.testing.assert_array_equal(certificate.weights(0.0).groupby("label")["weight"].sum().round(12), 1.0)


def test_what_is_told():
    samples = np.random.default_rng(0).uniform(-1, 1, (100, 2))
    labels = samples[:, 0] > 0.0
    points = pd.DataFrame({"a": [0.5, 0.1, -0.5], "b": [0.0, 0.0, 0.0]}, index=["x", "y", "z"])
    certificates = certify((samples, labels), points, sigma=0.25, epsilon_0=0.1, epsilon_1=0.1)
    assert repr(certificates).startswith("Certificates(3 points: 2 certified, median radius 0.")
    assert "1 with nominal odds of 1 or more" in repr(certificates)
    frame = certificates.to_frame()
    assert list(frame.index) == ["x", "y", "z"]
    assert list(frame.columns) == [
        "nominal_odds",
        "worst_case_odds",
        "certified",
        "certified_radius",
        "sigma",
        "epsilon_0",
        "epsilon_1",
        "reason",
    ]
    assert frame["certified"].tolist() == [True, True, False]
    assert frame["certified_radius"]["z"] == 0.0
    assert "stay below 1 up to an ambiguity radius of" in frame["reason"]["x"]
    assert "but not with the radii that were asked for" in frame["reason"]["y"]
    assert "even without ambiguity" in frame["reason"]["z"]
    np.testing.assert_array_equal(certificates.reason, frame["reason"])
    assert len(certificates) == 3
    assert [one.certified for one in certificates] == [True, True, False]
    assert certificates[-1].certified_radius == certificates[2].certified_radius
    assert [one.reason for one in certificates[:2]] == certificates.reason[:2].tolist()
    assert repr(certificates[0]).startswith("Certificate(nominal odds ")
    with pytest.raises(IndexError):
        certificates[3]


def test_certificates_keep_their_numbers_and_can_be_pickled():
    samples, labels, point, _ = problem(4, 2)
    given, points = samples.copy(), point[None].copy()
    certificates = certify((given, labels), points, sigma=0.5)
    given[:], points[:] = 0.0, 0.0
    again = pickle.loads(pickle.dumps(certificates))
    for one in (certificates[0], again[0]):
        np.testing.assert_array_equal(one.samples, samples)
        np.testing.assert_array_equal(one.point, point)
        assert one.worst_case().log_odds == pytest.approx(one.log_nominal_odds)
    with pytest.raises(AttributeError):
        certificates.certified_radius = None


def test_a_point_out_of_reach_has_a_reason():
    samples, labels, point, _ = problem(5, 2)
    for far in (1e8, 1e200):
        certificates = certify((samples, labels), [point, [far, 0.0]], sigma=0.5, epsilon_0=0.1)
        assert np.isfinite(certificates.certified_radius[0])
        for numbers in (certificates.certified_radius, certificates.nominal_odds, certificates.sigma):
            assert np.isnan(numbers[1])
        assert not certificates.certified[1]
        assert "Use a larger sigma" in certificates.reason[1]
        assert "1 without a certificate" in repr(certificates)
        with pytest.raises(ValueError, match="There is no certificate: The point is more than"):
            certificates[1].worst_case()


class FakeMethod:
    """Draws the same neighbourhood for everyone, and has units of 2."""

    def __init__(self, centre, free, n=40, one_class=False):
        self.centre, self.free, self.n, self.one_class = np.asarray(centre, dtype=float), np.asarray(free), n, one_class
        self.asked = []

    def to_points(self, X, name):
        assert name == "points"
        return np.asarray(X, dtype=float) / 2.0

    def neighbourhoods_of(self, x0, points):
        self.asked.append((np.asarray(x0), np.asarray(points)))
        return [self._around(i) for i in range(len(points))]

    def _around(self, i):
        if i == 1:
            return "There is nothing around."
        blank = Neighbourhood(self.centre, self.free, self.centre, 1.0 + i, np.ones(self.n, dtype=bool), seed=i)
        height = blank.free_samples[:, 0]
        accepted = height > (-9.0 if self.one_class else self.centre[self.free][0])
        return Neighbourhood(self.centre, self.free, self.centre, 1.0 + i, accepted, seed=i)

    def scales_at(self, radius):
        return Scales(0.25 * radius, 0.1 * radius, 0.05 * radius)


def test_a_method_gives_neighbourhoods_and_scales():
    method = FakeMethod([0.0, 7.0, 0.0], [True, False, True])
    points = 2.0 * np.array([[0.4, 7.0, 0.1], [0.5, 7.0, 0.0], [0.6, 7.0, 0.2], [0.6, 8.0, 0.2]])
    x0 = np.zeros((4, 3))
    certificates = certify(method, points, x0)
    assert len(method.asked) == 1
    np.testing.assert_array_equal(method.asked[0][0], x0)
    np.testing.assert_array_equal(method.asked[0][1], points)
    for i in (0, 2):
        around = method._around(i)
        local = points[i, [0, 2]] / 2.0
        scales = method.scales_at(1.0 + i)
        expected = certify((around.free_samples, around.accepted), [local], **scales._asdict())
        assert certificates.certified_radius[i] == expected.certified_radius[0]
        assert certificates.log_worst_case_odds[i] == expected.log_worst_case_odds[0]
        np.testing.assert_array_equal(certificates[i].point, local)
        np.testing.assert_array_equal(certificates[i].samples, around.free_samples)
        assert certificates[i].scales == scales
    assert certificates.reason[1] == "There is nothing around."
    assert "columns, from 0: 1" in certificates.reason[3]
    assert np.isnan(certificates.certified_radius[[1, 3]]).all()
    other = certify(method, points, x0, sigma=0.3, epsilon_1=0.0)
    np.testing.assert_array_equal(other.sigma[[0, 2]], 0.3)
    np.testing.assert_array_equal(other.epsilon_0[[0, 2]], certificates.epsilon_0[[0, 2]])
    np.testing.assert_array_equal(other.epsilon_1[[0, 2]], 0.0)


def test_a_neighbourhood_of_one_class_has_no_odds():
    certificates = certify(FakeMethod([0.0], [True], one_class=True), [[0.1]], [[0.0]])
    assert "accepts all samples" in certificates.reason[0]
    assert np.isnan(certificates.nominal_odds[0])


@pytest.fixture(scope="module")
def explained():
    """Recourses of a linear model, two for some persons; the last row has none."""
    X = np.random.default_rng(0).uniform(-2.0, 2.0, (300, 3))
    actions = ActionSet(bounds={2: (-2.0, 2.0)})

    def model(Z):
        return (Z[:, 0] + 2.0 * Z[:, 1] > 1.0) & (Z[:, 2] < 3.0)

    method = RobustBayesianRecourse(model, actions, n_samples=50, n_neighbors=100, random_state=0).fit(X)
    refused = np.array([[-1.0, -1.0, 0.0], [0.2, 0.1, 1.0], [1.5, 1.5, 0.0], [0.0, 0.0, 5.0]])
    return method, method.explain(refused), refused


def test_recourses_are_certified_in_the_neighbourhoods_in_which_they_were_found(explained):
    _, found, _ = explained
    certificates = certify(found)
    np.testing.assert_allclose(certificates.log_worst_case_odds[:2], found.log_worst_case_odds[:2], atol=1e-7)
    np.testing.assert_array_equal(certificates[0].samples, found[0].trace.neighbourhood.free_samples)
    assert certificates[0].scales == found[0].trace.scales
    assert "found without a neighbourhood" in certificates.reason[2]
    assert certificates.reason[3] == found.reason[3]
    assert np.isnan(certificates.certified_radius[2:]).all()


def test_the_method_draws_the_same_neighbourhoods_again(explained):
    method, found, refused = explained
    stored, again = certify(found), certify(method, found)
    np.testing.assert_array_equal(again.certified_radius[:2], stored.certified_radius[:2])
    np.testing.assert_array_equal(again.labels, found.person)
    assert again.reason[3] == found.reason[3]
    plain = certify(method, found.x[:2], refused[:2])
    np.testing.assert_array_equal(plain.certified_radius, stored.certified_radius[:2])


def test_recourses_of_another_method(explained):
    method, _, refused = explained
    others = (
        NearestAccepted(method.model).fit(np.random.default_rng(1).uniform(-2.0, 2.0, (300, 3))).explain(refused[:2])
    )
    certificates = certify(method, others)
    assert np.isfinite(certificates.certified_radius).all()
    np.testing.assert_array_equal(
        certify(method, others.x, refused[:2]).certified_radius, certificates.certified_radius
    )


def test_recourses_with_samples(explained):
    _, found, _ = explained
    samples, labels, _, _ = problem(0, 3, n=20)
    certificates = certify((samples, labels), found, sigma=0.5)
    direct = certify((samples, labels), found.x[:3], sigma=0.5)
    np.testing.assert_array_equal(certificates.certified_radius[:3], direct.certified_radius)
    assert certificates.reason[3] == found.reason[3]
    own = certify((np.stack([samples] * 4), np.stack([labels] * 4)), found, sigma=0.5)
    np.testing.assert_array_equal(own.certified_radius, certificates.certified_radius)
    np.testing.assert_array_equal(own[1].point, found.x[1])
    nobody = certify((samples, labels), found[3:], sigma=0.5)
    assert np.isnan(nobody.certified_radius).all()
    assert np.isnan(certify(found[3:]).certified_radius).all()


def test_recourses_that_were_read_from_a_file_have_no_neighbourhoods(explained):
    method, found, _ = explained
    read = Recourses.from_json(found.to_json())
    assert "found without a neighbourhood" in certify(read).reason[0]
    np.testing.assert_array_equal(certify(method, read).certified_radius, certify(method, found).certified_radius)


def test_several_recourses_of_a_person_are_told_apart(explained):
    method, _, refused = explained
    found = method.explain(refused[:2], n_recourses=2)
    frame = certify(found).to_frame()
    assert frame["person"].tolist() == found.person.tolist()
    assert frame["rank"].tolist() == found.rank.tolist()
    assert frame["rank"].max() == 2


def test_frames_are_certified_in_units_of_cost():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"income": rng.normal(3000.0, 800.0, 300), "kind": rng.choice(["a", "b"], 300)})

    def model(Z):
        return (Z["income"] > 3200.0) & (Z["income"] < 1e6)

    # With a budget: by default the nearest accepted row may be all that there is, which has no margin.
    scales = {"delta_plus": 0.2, "sampling_radius": 1.0, "sigma": 0.35}
    method = BayesianRecourse(model, n_samples=40, n_neighbors=50, random_state=0, **scales).fit(X)
    refused = X[X["income"] < 2900.0].iloc[:4]
    found = method.explain(refused)
    stored, again = certify(found), certify(method, found)
    assert stored.labels.equals(refused.index)
    np.testing.assert_allclose(again.certified_radius, stored.certified_radius, rtol=1e-5)
    assert (stored.certified_radius > 0.0).all()
    other = found.x.assign(income=3210.0)  # just beyond the boundary
    certificates = certify(method, other, refused)
    assert (certificates.certified_radius < 0.5 * stored.certified_radius).all()
    np.testing.assert_allclose([one.point[0] for one in certificates], other["income"] / found[0].trace.moves.units[0])


SAMPLES, LABELS = [[0.0, 0.0], [1.0, 1.0], [2.0, 0.0]], [0, 1, 1]
BAD = [
    ({"source": None}, TypeError, "source must be a fitted RobustBayesianRecourse.*got NoneType"),
    ({"source": (SAMPLES,)}, TypeError, "source must be"),
    ({"source": NearestAccepted(None)}, TypeError, "source must be.*got NearestAccepted"),
    ({"source": ([["a", "b"]], [0])}, TypeError, "samples must be numeric"),
    ({"source": ([0.0, 1.0], [0, 1])}, ValueError, "samples must have shape"),
    ({"source": (np.empty((0, 2)), [])}, ValueError, "samples must have shape"),
    ({"source": ([[0.0], [1.0]], [0, 1])}, ValueError, "samples must have 2 columns, as points have, got 1"),
    ({"source": ([SAMPLES, SAMPLES], LABELS)}, ValueError, "samples must have one set for each of the 1 points, got 2"),
    (
        {"source": ([[0.0, np.nan], [1.0, 1.0]], [0, 1])},
        ValueError,
        r"samples must be finite, got nan at index \(0, 1\)",
    ),
    ({"source": (SAMPLES, [0, 1])}, ValueError, r"labels must have shape \(3,\), as samples have, got \(2,\)"),
    (
        {"source": (SAMPLES, [0, 1, 2])},
        ValueError,
        r"labels must be 0 \(refused\) or 1 \(accepted\), got .*2.* index \(2,\)",
    ),
    ({"source": (SAMPLES, ["0", "1", "1"])}, ValueError, "labels must be 0"),
    ({"source": (SAMPLES, [0, 1, np.nan])}, ValueError, "labels must be 0"),
    ({"source": (SAMPLES, [1, 1, 1])}, ValueError, "labels must hold both classes, got only 1:"),
    ({"source": ([SAMPLES], [[0, 0, 0]])}, ValueError, "labels must hold both classes, got only 0 in row 0"),
    ({"points": None}, TypeError, "points must be given"),
    ({"points": [0.0, 1.0]}, ValueError, r"points must be two-dimensional.*\[x\]"),
    ({"points": np.empty((0, 2))}, ValueError, "points has no rows"),
    ({"points": [[0.0, np.nan]]}, ValueError, "points must be finite, got nan in row 0, column 1"),
    ({"points": [["a", "b"]]}, TypeError, "points must be numeric"),
    ({"x0": [[0.0, 0.0]]}, TypeError, "x0 must be left out"),
    ({"sigma": None}, TypeError, "sigma must be given"),
    ({"sigma": 0.0}, ValueError, "sigma must be greater than 0"),
    ({"sigma": -1.0}, ValueError, "sigma must be greater than 0"),
    ({"sigma": np.nan}, ValueError, "sigma must be finite"),
    ({"sigma": "wide"}, TypeError, "sigma must be a real number"),
    ({"epsilon_0": -0.1}, ValueError, "epsilon_0 must be at least 0"),
    ({"epsilon_1": np.inf}, ValueError, "epsilon_1 must be finite"),
    ({"epsilon_1": 1e9}, ValueError, "epsilon_1 must be at most"),
]


@pytest.mark.parametrize(("change", "error", "message"), BAD)
def test_bad_input_is_named(change, error, message):
    with pytest.raises(error, match=message):
        certify(**{"source": (SAMPLES, LABELS), "points": [[0.5, 0.5]], "sigma": 1.0, **change})


def test_what_does_not_go_together_is_named(explained):
    method, found, refused = explained
    with pytest.raises(TypeError, match="points and x0 must be left out when source is Recourses"):
        certify(found, found)
    with pytest.raises(TypeError, match="x0 must be given when source is a method"):
        certify(method, found.x[:2])
    with pytest.raises(TypeError, match="x0 must be left out when points are Recourses"):
        certify(method, found, refused)
    with pytest.raises(ValueError, match="x0 must have one row for each of the 2 points, got 3"):
        certify(method, found.x[:2], refused[:3])
    with pytest.raises(ValueError, match="points"):
        certify(method, found.x[:2, :1], refused[:2])


@pytest.mark.parametrize(("epsilon", "k"), [(-1.0, 1), (np.nan, 1), (0.1, 0)])
def test_bad_questions_about_a_certificate(epsilon, k):
    certificate = certify((SAMPLES, LABELS), [[0.5, 0.5]], sigma=1.0)[0]
    with pytest.raises(ValueError, match="epsilon" if k else "k must be"):
        certificate.most_important(k, epsilon)


def test_the_type_is_public():
    assert isinstance(certify((SAMPLES, LABELS), [[0.5, 0.5]], sigma=1.0), Certificates)


def test_what_a_method_must_have_is_public(explained):
    method, found, _ = explained
    assert isinstance(method, HasNeighbourhoods)
    assert isinstance(FakeMethod([0.0], [True]), HasNeighbourhoods)
    assert not isinstance(NearestAccepted(None), HasNeighbourhoods)
    assert not isinstance(found, HasNeighbourhoods)
