import numpy as np
import pandas as pd
import pytest

from robust_recourse.metrics import accepted_by, future_validity


def test_rows_without_recourse_are_not_accepted():
    X = np.array([[1.0, 1.0], [np.nan, np.nan], [-1.0, 0.0]])
    np.testing.assert_array_equal(accepted_by(lambda Z: Z[:, 0] > 0, X), [True, False, False])
    np.testing.assert_array_equal(accepted_by(lambda Z: Z[:, 0] > 0, np.full((2, 2), np.nan)), False)


def test_future_validity_is_the_share_of_models():
    models = [lambda Z, limit=limit: Z[:, 0] > limit for limit in (0.0, 1.0, 2.0, 3.0)]
    X = np.array([[0.5], [2.5], [9.0], [np.nan]])
    np.testing.assert_array_equal(future_validity(models, X), [0.25, 0.75, 1.0, 0.0])


def test_frames_work_too():
    X = pd.DataFrame({"a": [0.5, np.nan]})
    np.testing.assert_array_equal(future_validity([lambda F: F["a"] > 0], X), [1.0, 0.0])


def test_no_models_is_an_error():
    with pytest.raises(ValueError, match="models is empty"):
        future_validity([], np.zeros((1, 1)))
