"""Margins and votes: against all votes counted at once, whatever the blocks, and with no question too many."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from robust_recourse.models.criteria import Consent, Margin, Votes, naming
from robust_recourse.models.predictor import ModelError, Predictor


class Juror:
    """Votes as a table says, and remembers how many rows it was asked about."""

    def __init__(self, votes):
        self.votes, self.asked = votes, 0

    def __call__(self, X, _):
        self.asked += len(X)
        return self.votes[X[:, 0].astype(int)]


def ask(votes, quorum, block=1):
    jurors = [Juror(column) for column in votes.T]
    rows = np.arange(len(votes))
    return Votes(jurors, quorum, block)(rows[:, None].astype(float), rows), jurors


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 23), st.sampled_from([0.1, 1 / 3, 0.5, 0.7, 0.9, 0.95, 1.0]))
def test_early_verdicts_are_those_of_all_votes(seed, n_jurors, quorum):
    rng = np.random.default_rng(seed)
    votes = rng.uniform(size=(50, n_jurors)) < rng.uniform(size=(50, 1))
    expected = votes.sum(axis=1) >= quorum * n_jurors - 1e-9
    for block in (1, 2, 5, n_jurors):
        found, jurors = ask(votes, quorum, block)
        np.testing.assert_array_equal(found, expected)
        assert sum(juror.asked for juror in jurors) <= votes.size
    order = rng.permutation(n_jurors)
    np.testing.assert_array_equal(ask(votes[:, order], quorum)[0], expected)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.floats(0.05, 1.0))
def test_means_of_probabilities_do_not_depend_on_the_order_or_the_blocks(seed, n_jurors, level):
    rng = np.random.default_rng(seed)
    votes = rng.uniform(size=(40, n_jurors)) ** rng.uniform(0.1, 3.0, (40, 1))
    expected, _ = ask(votes, level, n_jurors)
    clear = np.abs(votes.mean(axis=1) - level) > 1e-8
    np.testing.assert_array_equal(expected[clear], votes.mean(axis=1)[clear] >= level)
    for block in (1, 3):
        order = rng.permutation(n_jurors)
        np.testing.assert_array_equal(ask(votes[:, order], level, block)[0], expected)


def test_a_row_is_left_out_as_soon_as_it_is_decided():
    votes = np.array([[False] * 10, [True] * 10, [True] * 5 + [False] * 5])
    found, jurors = ask(votes, 0.8)
    np.testing.assert_array_equal(found, [False, True, False])
    # Three refusals are too many for eight of ten; eight votes are enough.
    assert [juror.asked for juror in jurors] == [3, 3, 3, 2, 2, 2, 2, 2, 0, 0]


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.sampled_from([0.5, 0.8, 1.0]), st.booleans())
def test_what_a_jury_was_asked_before_changes_no_verdict(seed, n_jurors, quorum, mean):
    rng = np.random.default_rng(seed)
    votes = rng.uniform(size=(60, n_jurors)) ** rng.uniform(0.1, 3.0, n_jurors)
    votes = votes if mean else votes > 0.5
    together = Votes([Juror(column) for column in votes.T], quorum)
    for part in np.array_split(np.arange(60), 5):
        np.testing.assert_array_equal(together(part[:, None].astype(float), part), ask(votes[part], quorum)[0])


def test_those_who_refused_lately_are_asked_first():
    votes = np.ones((4, 10), dtype=bool)
    votes[:, 7:] = False
    jurors = [Juror(column) for column in votes.T]
    jury, rows = Votes(jurors, 0.8), np.arange(4)
    jury(rows[:, None].astype(float), rows)
    assert [juror.asked for juror in jurors] == [4] * 10
    jury(rows[:, None].astype(float), rows)
    assert [juror.asked for juror in jurors] == [4] * 7 + [8] * 3


def test_a_quorum_is_not_missed_by_rounding():
    for n in range(1, 60):
        for k in range(1, n + 1):
            votes = np.arange(n)[None] < k
            assert ask(votes, k / n)[0][0], (k, n)
            assert k == n or not ask(votes, (k + 0.5) / n)[0][0], (k, n)


def test_nobody_is_asked_about_what_the_present_model_refuses():
    juror = Juror(np.array([True, True, False]))
    rows = np.arange(3)
    consent = Consent(lambda X, _: X[:, 0] > 0.0, Votes([juror], 1.0))
    np.testing.assert_array_equal(consent(rows[:, None].astype(float), rows), [False, True, False])
    assert juror.asked == 2
    assert not Consent(lambda X, _: X[:, 0] > 9.0, Votes([juror], 1.0))(rows[:, None].astype(float), rows).any()
    assert juror.asked == 2


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    return X, (X.sum(axis=1) + rng.normal(size=200) > 0).astype(int)


@pytest.mark.parametrize("make", [LogisticRegression, lambda: SVC(probability=True, random_state=0)])
@pytest.mark.filterwarnings("ignore:.*probability.*:FutureWarning")
def test_a_margin_asks_for_a_probability_and_for_the_decision(make, rows):
    X, y = rows
    model = make().fit(X, y)
    expected = (model.predict(X) == 1) & (model.predict_proba(X)[:, 1] >= 0.7)
    np.testing.assert_array_equal(Margin(model, 0.7)(X, np.arange(len(X))), expected)
    table = pd.DataFrame(X, columns=["a", "b"])
    framed = make().fit(table, y)
    np.testing.assert_array_equal(Margin(framed, 0.7)(table, np.arange(len(X))), expected)


def test_a_margin_goes_by_the_favourable_class_and_its_threshold(rows):
    X, y = rows
    model = LogisticRegression().fit(X, np.where(y == 1, "no", "yes"))
    share = model.predict_proba(X)[:, 1]
    found = Margin(model, 0.5, favourable="yes", threshold=0.3)(X, np.arange(len(X)))
    np.testing.assert_array_equal(found, share >= 0.5)
    assert Predictor(model, favourable="yes", threshold=0.3)(X, np.arange(len(X))).sum() > found.sum()


@pytest.mark.parametrize("kind", [ModelError, TypeError, ValueError])
def test_errors_name_the_model(kind):
    with pytest.raises(kind, match=r"^jury.models\[3\]: nonsense$"), naming("jury.models[3]"):
        raise kind("nonsense")
