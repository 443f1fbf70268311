import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from robust_recourse import RobustBayesianRecourse, certify, future_models
from robust_recourse.tables.order import check_order

FRAME = pd.DataFrame({"a": [1.0, 2.0, 3.0]}, index=["x", "y", "z"])


def test_the_same_labels_in_another_order_are_refused():
    with pytest.raises(ValueError, match=r"y has the labels of X in another order.*Pass y.loc\[X.index\]"):
        check_order(FRAME["a"].iloc[::-1], "y", FRAME, "X")


@pytest.mark.parametrize(
    "values",
    [
        FRAME,
        FRAME["a"],
        FRAME["a"].to_numpy(),
        FRAME["a"].set_axis([0, 1, 2]),
        FRAME.iloc[:2],
        FRAME.set_axis(["x"] * 3),
    ],
)
def test_everything_else_belongs_together_by_position(values):
    check_order(values, "y", FRAME, "X")


def test_labels_and_points_in_another_order_are_noticed():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, 2)), columns=["a", "b"], index=[f"p{i}" for i in range(40)])

    def model(rows):
        return rows["a"] > 0

    method = RobustBayesianRecourse(model, random_state=0).fit(X)
    refused = X[~model(X)].head(3)
    found = method.explain(refused)
    with pytest.raises(ValueError, match="points has the labels of x0 in another order"):
        certify(method, found.x.iloc[::-1], refused)
    with pytest.raises(ValueError, match="y has the labels of X in another order"):
        future_models(LogisticRegression(), X, model(X).iloc[::-1], n_models=1)
