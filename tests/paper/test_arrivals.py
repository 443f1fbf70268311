import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from robust_recourse.paper.arrivals import arrival_models


class Remembers(ClassifierMixin, BaseEstimator):
    """Keeps what it was fitted on."""

    def fit(self, X, y):
        self.X_, self.y_ = X, y
        return self


X, y = np.arange(20.0).reshape(10, 2), np.zeros(10, dtype=int)
X_new, y_new = 100.0 + np.arange(40.0).reshape(20, 2), np.ones(20, dtype=int)


def test_every_model_sees_all_present_rows_and_a_share_of_the_new_ones():
    models = arrival_models(Remembers(), X, y, X_new, y_new, share=0.25, n_models=8, random_state=0)
    arrived = []
    for model in models:
        np.testing.assert_array_equal(model.X_[:10], X)
        rest = model.X_[10:]
        assert len(rest) == 5
        assert len(np.unique(rest, axis=0)) == 5
        assert (rest >= 100).all()
        np.testing.assert_array_equal(model.y_[10:], 1)
        arrived.append(tuple(sorted(rest[:, 0])))
    assert len(set(arrived)) > 1


@pytest.mark.slow
def test_models_are_the_same_whatever_the_jobs_and_have_seeds_of_their_own():
    network = MLPClassifier((3,), max_iter=5, random_state=0)
    data = (np.concatenate([X, X_new]) / 100, np.concatenate([y, y_new]))
    with pytest.warns(UserWarning, match="Maximum iterations"):
        serial = arrival_models(network, *data, *data, n_models=3, random_state=1)
    assert len({model.random_state for model in serial}) == 3
    parallel = arrival_models(LogisticRegression(), *data, *data, n_models=3, random_state=1, n_jobs=2)
    again = arrival_models(LogisticRegression(), *data, *data, n_models=3, random_state=1)
    for one, other in zip(parallel, again, strict=True):
        np.testing.assert_array_equal(one.coef_, other.coef_)


def test_rows_and_labels_stay_together_whatever_the_index():
    order = np.random.default_rng(0).permutation(20)
    rows, labels = X_new[order], pd.Series(np.arange(20))[order]
    model = arrival_models(Remembers(), X, list(y), pd.DataFrame(rows), labels, share=1.0, n_models=1, random_state=0)[
        0
    ]
    np.testing.assert_array_equal(model.X_[10:, 0], 100.0 + 2.0 * model.y_[10:])


@pytest.mark.parametrize(("rows", "labels"), [(X_new, y_new[:3]), (X_new[:0], y_new[:0])])
def test_labels_must_match_the_rows(rows, labels):
    with pytest.raises(ValueError, match="y_new must have one label for each"):
        arrival_models(Remembers(), X, y, rows, labels)


def test_seeds_inside_a_pipeline_are_new_too():
    network = make_pipeline(StandardScaler(), MLPClassifier((2,), max_iter=1, random_state=0))
    with pytest.warns(UserWarning, match="Maximum iterations"):
        models = arrival_models(network, X, np.arange(10) % 2, X_new, y_new, n_models=3, random_state=0)
    assert len({model[-1].random_state for model in models}) == 3


@pytest.mark.parametrize(("share", "match"), [(0.0, "greater than 0"), (1.5, "at most 1"), (-1, "greater than 0")])
def test_the_share_is_a_share(share, match):
    with pytest.raises(ValueError, match=match):
        arrival_models(Remembers(), X, y, X_new, y_new, share=share)


def test_without_reseeding_only_the_data_differ():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    estimator = MLPClassifier((3,), max_iter=1, random_state=7)

    def train(**options):
        with pytest.warns(ConvergenceWarning):
            return arrival_models(estimator, X, y, X[:10], y[:10], share=1.0, n_models=2, random_state=0, **options)

    assert [model.random_state for model in train(reseed=False)] == [7, 7]
    assert len({model.random_state for model in train()} | {7}) == 3


def test_a_folder_serves_any_number_of_processes(tmp_path):
    rng = np.random.default_rng(0)
    # Larger than what processes share by mapping it.
    X, y = rng.normal(size=(40_000, 4)), np.arange(40_000) % 2
    for n_jobs in (1, 2):
        arrival_models(
            LogisticRegression(), X, y, X[:10], y[:10], n_models=2, random_state=0, n_jobs=n_jobs, folder=tmp_path
        )
    assert len(list(tmp_path.iterdir())) == 2


def test_the_paper_s_arrival_is_what_it_was():
    """The numbers are drawn here as they always were: models of the evaluation must not change."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = (X.sum(axis=1) + rng.normal(size=80) > 0).astype(int)
    new, labels = X[:40] + 0.5, y[:40]
    estimator = DecisionTreeClassifier(max_depth=3, max_features=1)
    models = arrival_models(estimator, X, y, new, labels, share=0.3, n_models=3, random_state=11)
    for k, model in enumerate(models):
        rng = np.random.default_rng(np.random.SeedSequence(11, spawn_key=(k,)))
        arrived = rng.choice(40, 12, replace=False)
        tree = DecisionTreeClassifier(max_depth=3, max_features=1, random_state=int(rng.integers(2**31)))
        tree.fit(np.concatenate([X, new[arrived]]), np.concatenate([y, labels[arrived]]))
        np.testing.assert_array_equal(model.predict_proba(X), tree.predict_proba(X))
