"""Points of any origin in neighbourhoods of any origin, certified."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robust_recourse._typing import FloatArray
from robust_recourse._validation import check_real
from robust_recourse.certificates._certificates import Certificates
from robust_recourse.certificates._points import Wanted, read_points
from robust_recourse.certificates._surroundings import Given, HasNeighbourhoods, Surroundings, check_samples, unlike
from robust_recourse.math.certified import FARTHEST, certify_distances
from robust_recourse.math.odds import Scales
from robust_recourse.result import Recourses
from robust_recourse.sampling.neighbourhood import Neighbourhood

__all__ = ["certify"]

_TOO_FAR = (
    f"The point is more than {FARTHEST:g} times sigma away from a sample: the odds could not be told apart in floating "
    "point. Use a larger sigma."
)
_NOTHING_STORED = (
    "The recourse was found without a neighbourhood of both classes. Pass the method as the source and the recourses "
    "as the points."
)


def certify(
    source: HasNeighbourhoods | Recourses | tuple[Any, Any],
    points: Any = None,
    x0: Any = None,
    *,
    sigma: float | None = None,
    epsilon_0: float | None = None,
    epsilon_1: float | None = None,
) -> Certificates:
    r"""Certify points of any origin: nominal odds, worst-case odds and certified radius in their neighbourhoods.

    The *nominal* odds of refusal at a point :math:`x` are those of two mixtures of Gaussians
    :math:`\mathcal N(\hat x_i, \sigma^2 I)` around samples that the present model refuses and accepts. The *worst-case*
    odds :math:`F_{\varepsilon_0, \varepsilon_1}(x)` are the largest over all mixtures whose components are moved and
    reshaped by at most :math:`\varepsilon_0` (refused) and :math:`\varepsilon_1` (accepted) in the type-2 Wasserstein
    distance, with covariances :math:`\Sigma \succeq \sigma^2 I`. The *certified radius* is the largest common radius at
    which they stay below 1,

    .. math:: r(x) = \sup \{ \varepsilon \ge 0 : F_{\varepsilon, \varepsilon}(x) < 1 \} .

    Parameters
    ----------
    source : method, Recourses or tuple
        Where the samples come from:

        - a fitted :class:`~robust_recourse.RobustBayesianRecourse` or :class:`~robust_recourse.BayesianRecourse`: the
          neighbourhoods that it would draw for the instances; its model is asked about them;
        - the :class:`~robust_recourse.Recourses` that one of these found: these recourses, in the neighbourhoods in
          which they were found; no model is asked;
        - ``(samples, labels)``: samples of shape (n, p), common to all points, or (m, n, p), own ones of each, and
          labels of shape (n,) or (m, n): 1 for accepted, 0 for refused.
    points : Recourses, DataFrame or array_like of shape (m, p), optional
        The points, of any method or library. Of :class:`~robust_recourse.Recourses` every entry is one, and an entry
        without a recourse gets a reason instead of numbers. Left out if `source` is the recourses themselves.
    x0 : DataFrame or array_like of shape (m, p), optional
        The instances that the points belong to. A method needs them unless the points are
        :class:`~robust_recourse.Recourses`, which have them.
    sigma : float, optional
        Smoothing. None for that of the method; samples need one.
    epsilon_0, epsilon_1 : float, optional
        Ambiguity radii of the worst-case odds. None for those of the method, or 0 with samples. The certified radius
        does not depend on them.

    Returns
    -------
    Certificates
        One for every point, in their order. Lengths are in the units of the samples; those of a method are in units of
        cost if it was fitted to a frame.

    See Also
    --------
    robust_recourse.math.certified.certify_distances : The same from distances.

    Notes
    -----
    **Guaranteed.** Whichever mixtures of the ambiguity sets of radius `certified_radius` stand in for the nominal ones,
    the posterior odds of refusal at the point are below 1. The inner problems are solved globally and exactly, not read
    from a table: at the radius that is returned the odds are below 1, and at :math:`r (1 + 10^{-6}) + 10^{-9} \sigma`
    they are not. The radius is always finite: once a refused component reaches the point and the accepted ones are
    pushed away, the odds exceed 1.

    **Not guaranteed.** This is a statement about mixtures around *samples that the present model has labelled*, a few
    hundred of them, and not about every future model. A retrained model need not correspond to any of these mixtures,
    and the odds are not the probability of being refused. The radius depends on `sigma`, on the sampling radius and on
    the samples that were drawn; compare points within one setting only. The model is not asked about the points: one
    with a radius may be refused even today (``found.valid`` says). Whether recourses survive is measured by retraining,
    see ``found.future_validity``.

    Examples
    --------
    >>> import numpy as np
    >>> samples = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    >>> labels = samples.sum(axis=1) > 0
    >>> points = [[0.1, 0.1], [0.4, 0.3], [-0.2, 0.1]]
    >>> certificates = certify((samples, labels), points, sigma=0.25, epsilon_0=0.1, epsilon_1=0.1)
    >>> certificates
    Certificates(3 points: 2 certified, median radius 0.11; 1 with nominal odds of 1 or more)
    >>> certificates.certified_radius.round(3)
    array([0.045, 0.178, 0.   ])
    >>> certificates[1]
    Certificate(nominal odds 0.0246, worst-case odds 0.271, certified radius 0.178)

    The witness, and the samples that matter most:

    >>> worst = certificates[1].worst_case(epsilon=0.1785)
    >>> bool(worst.log_odds > 0.0)
    True
    >>> certificates[1].most_important(2).round(3)
            label  distance  weight
    sample
    12          0     0.559   0.093
    189         0     0.574   0.086
    """
    asked = [
        None if value is None else check_real(value, name, minimum=0.0, strict=name == "sigma")
        for name, value in (("sigma", sigma), ("epsilon_0", epsilon_0), ("epsilon_1", epsilon_1))
    ]
    if isinstance(source, Recourses):
        if points is not None or x0 is not None:
            raise TypeError("points and x0 must be left out when source is Recourses: those are the points.")
        wanted = read_points(source, None)
        surroundings, scales = _stored(source, wanted)
    elif isinstance(source, HasNeighbourhoods):
        wanted = read_points(points, x0)
        surroundings, scales = _drawn(source, wanted)
    elif isinstance(source, tuple | list) and len(source) == 2:
        if sigma is None:
            raise TypeError(
                "sigma must be given when source is (samples, labels): they have no smoothing of their own."
            )
        if x0 is not None:
            raise TypeError("x0 must be left out when source is (samples, labels): the points alone count.")
        wanted = read_points(points, x0)
        samples, labels = source
        surroundings, scales = _given(samples, labels, wanted)
    else:
        raise TypeError(
            "source must be a fitted RobustBayesianRecourse or BayesianRecourse, the Recourses that one of them found, "
            f"or (samples, labels); got {type(source).__name__}."
        )
    for k, value in enumerate(asked):
        if value is not None:
            scales[k] = value
    return _judge(wanted, surroundings, scales)


def _given(samples: Any, labels: Any, wanted: Wanted) -> tuple[Surroundings, FloatArray]:
    rows, scales = wanted.rows.tolist(), np.zeros((3, len(wanted)))
    if not rows:
        return Surroundings({}, {}), scales
    points = wanted.numbers()
    array, accepted = check_samples(samples, labels, len(wanted), points.shape[1])
    own, told = array.ndim == 3, accepted.ndim == 2
    around = {row: Given(array[row] if own else array, accepted[row] if told else accepted) for row in rows}
    return Surroundings(dict(zip(rows, points, strict=True)), around), scales


def _drawn(method: HasNeighbourhoods, wanted: Wanted) -> tuple[Surroundings, FloatArray]:
    if wanted.x0 is None:
        raise TypeError("x0 must be given when source is a method: neighbourhoods belong to instances.")
    n = len(wanted.rows)
    if not n:
        return _collect(wanted, [])
    if len(wanted.x0) != n:
        raise ValueError(f"x0 must have one row for each of the {n} points, got {len(wanted.x0)}.")
    points = method.to_points(wanted.table, "points")
    around = method.neighbourhoods_of(wanted.x0, wanted.table)
    scales = [one if isinstance(one, str) else method.scales_at(one.radius) for one in around]
    return _collect(wanted, list(zip(points, around, scales, strict=True)))


def _stored(found: Recourses, wanted: Wanted) -> tuple[Surroundings, FloatArray]:
    traces = [found[row].trace for row in wanted.rows.tolist()]
    return _collect(
        wanted,
        [
            (np.empty(0), _NOTHING_STORED, _NOTHING_STORED)
            if trace is None
            else (trace.x, trace.neighbourhood or _NOTHING_STORED, trace.scales or _NOTHING_STORED)
            for trace in traces
        ],
    )


def _collect(
    wanted: Wanted, found: Sequence[tuple[FloatArray, Neighbourhood | str, Scales | str]]
) -> tuple[Surroundings, FloatArray]:
    """Keep the neighbourhoods in which the points can be judged, and say why not of the others."""
    points: dict[int, FloatArray] = {}
    kept: dict[int, Neighbourhood] = {}
    scales = np.full((3, len(wanted)), np.nan)
    for row, (point, around, known) in zip(wanted.rows.tolist(), found, strict=True):
        if isinstance(around, str) or isinstance(known, str):
            wanted.reasons[row] = around if isinstance(around, str) else known
            continue
        wanted.reasons[row] = unlike(point, around)
        if not wanted.reasons[row]:
            points[row], kept[row], scales[:, row] = around.lengths(point), around, known
    return Surroundings(points, kept), scales


def _judge(wanted: Wanted, surroundings: Surroundings, scales: FloatArray) -> Certificates:
    odds = np.full((3, len(wanted)), np.nan)
    for rows, distances, accepted, p in surroundings.batches():
        far = distances.max(axis=1) > FARTHEST * scales[0, rows]
        wanted.reasons[rows[far]] = _TOO_FAR
        near, held = rows[~far], slice(None) if not far.any() else ~far
        if near.size:
            odds[:, near] = certify_distances(distances[held], accepted[held], p, *scales[:, near])
    scales = np.where(wanted.reasons != "", np.nan, scales)
    entries = {"person": wanted.person, "rank": wanted.rank}
    return Certificates(
        log_nominal_odds=odds[0],
        log_worst_case_odds=odds[1],
        certified_radius=odds[2],
        sigma=scales[0],
        epsilon_0=scales[1],
        epsilon_1=scales[2],
        labels=wanted.labels,
        _missing=wanted.reasons,
        _surroundings=surroundings,
        _entries={name: numbers for name, numbers in entries.items() if numbers is not None},
    )
