from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from robust_recourse.report.figures._methods import styles_of


@pytest.mark.parametrize(
    "names",
    [
        ["RBR", "LIME-ROAR", "LIMELS-ROAR", "Wachter", "NearestAccepted", "KDE"],
        ["RobustBayesianRecourse", "ROAR (lime)", "ROAR (limels)", "wachter", "nearest accepted", "BayesianRecourse"],
        ["robust Bayesian recourse", "roar_lime", "roar_limels", "Wachter et al.", "nearest_accepted", "Bayesian"],
    ],
)
def test_methods_look_the_same_however_they_are_spelt(names):
    assert list(styles_of(names).values()) == list(
        styles_of(["RBR", "LIME", "LIMELS", "Wachter", "nearest", "KDE"]).values()
    )


def test_no_two_methods_look_the_same():
    names = ["RBR, small scales", "RBR, paper's grid", "RBR, third", *(f"method {k}" for k in range(20)), "Wachter"]
    styles = styles_of(names)
    assert len(set(styles.values())) == len(names)
    assert [styles[name].emphasised for name in names[:4]] == [True, True, True, False]


def test_colours_differ_also_without_seeing_red_or_green():
    styles = styles_of(["RBR", "LIME-ROAR", "LIMELS-ROAR", "Wachter", "NearestAccepted", "KDE"])
    # Machado, Oliveira and Fernandes (2009): vision without L and without M cones, in linear light.
    protan = np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    )
    deutan = np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    )
    colours = np.array([to_rgb(style.colour) for style in styles.values()]) ** 2.2
    for matrix in (np.eye(3), protan, deutan):
        seen = np.clip(colours @ matrix.T, 0.0, 1.0) ** (1 / 2.2)
        distance = np.linalg.norm(seen[:, None] - seen, axis=2) + 9.0 * np.eye(len(seen))
        assert distance.min() > 0.12
    assert len({style.marker for style in styles.values()}) == len(styles)
