from argparse import Namespace

import pytest

from robust_recourse.cli._methods import fingerprint

FILES = ("model", "train", "refused", "actions")
OPTIONS = {
    "method": "robust",
    "n_recourses": 1,
    "max_changes": None,
    "seed": 0,
    "favourable": None,
    "threshold": None,
    "label": [],
    "id": None,
    "separator": ",",
    "missing": [],
}


@pytest.fixture
def arguments(tmp_path):
    for name in FILES:
        (tmp_path / name).write_text(f"the {name}", encoding="utf-8")
    return Namespace(**{name: tmp_path / name for name in FILES}, **OPTIONS)


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_changes_is_another_search(arguments, name):
    before = fingerprint(arguments, {})
    assert fingerprint(arguments, {}) == before
    getattr(arguments, name).write_text("another one", encoding="utf-8")
    assert fingerprint(arguments, {}) != before


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_that_changes_is_another_search(arguments, name):
    before = fingerprint(arguments, {})
    setattr(arguments, name, "another")
    assert fingerprint(arguments, {}) != before


def test_a_parameter_that_changes_is_another_search(arguments):
    assert fingerprint(arguments, {"delta_plus": 0.5}) != fingerprint(arguments, {"delta_plus": 0.25})
