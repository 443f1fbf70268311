import json

import numpy as np
import pandas as pd
import pytest

from robust_recourse.paper.bench.paper import published_points, table_1
from robust_recourse.paper.bench.summary import (
    accuracies,
    configurations,
    costs_of,
    frontiers,
    hypervolumes,
    reference_costs,
    same_validity,
)


def results(method, parameters, cost, current, future, dataset="synthetic"):
    return pd.DataFrame(
        {
            "dataset": dataset,
            "seed": 0,
            "method": method,
            "variant": "",
            "parameters": json.dumps(parameters),
            "cost": cost,
            "l2 cost": cost,
            "changes": 1.0,
            "current validity": current,
            "future validity": future,
            "model rows": 10,
            "seconds": 0.1,
        }
    )


def test_a_row_without_recourse_has_no_cost_and_is_not_valid():
    points = configurations(results("A", {}, [1.0, 3.0, np.nan], [1.0, 1.0, 0.0], [1.0, 0.5, 0.0]))
    (point,) = points.to_dict("records")
    assert (point["cost"], point["rows"]) == (2.0, 3)
    assert point["found"] == pytest.approx(2 / 3)
    assert point["current validity"] == pytest.approx(2 / 3)
    assert point["future validity"] == pytest.approx(0.5)


def test_frontiers_and_hypervolumes_are_those_of_each_method():
    table = pd.concat(
        [
            results(method, parameters, [cost], [1.0], [validity])
            for method, parameters, cost, validity in [
                ("RBR", {"a": 1, "b": 0}, 1.0, 0.5),
                ("RBR", {"a": 2, "b": 0}, 2.0, 1.0),
                ("RBR", {"a": 3, "b": 0}, 2.5, 0.9),
                ("other", {"a": 1}, 4.0, 0.8),
            ]
        ]
    )
    points = configurations(table)
    assert list(points["varied"]) == ["a 1", "a 2", "a 3", ""]
    assert list(frontiers(points)["varied"]) == ["a 1", "a 2", ""]
    assert reference_costs(points) == pytest.approx({"synthetic": 4.4})
    volumes = hypervolumes(points).set_index("method")
    assert volumes.loc["RBR", "future validity"] == pytest.approx((1 * 0.5 + 2.4 * 1.0) / 4.4)
    assert volumes.loc["RBR", "current validity"] == pytest.approx(3.4 / 4.4)
    assert volumes.loc["RBR", "RBR / it, future validity"] == 1.0
    assert volumes.loc["other", "future validity"] == pytest.approx(0.4 * 0.8 / 4.4)
    assert volumes.loc["other", "RBR / it, future validity"] == pytest.approx(2.9 / 0.32)


def test_nobody_helped_is_a_volume_of_zero():
    table = pd.concat([results("RBR", {}, [np.nan], [0.0], [0.0]), results("free", {}, [0.0], [0.0], [0.5], "sba")])
    points = configurations(table)
    assert reference_costs(points) == {"synthetic": 1.0, "sba": 1.0}
    volumes = hypervolumes(points).set_index("dataset")
    assert volumes.loc["synthetic", "future validity"] == 0.0
    assert volumes.loc["sba", "future validity"] == 0.5


def test_the_reference_cost_counts_both_validities():
    table = pd.concat([results("A", {"a": 1}, [1.0], [0.5], [0.9]), results("A", {"a": 2}, [3.0], [1.0], [0.8])])
    assert reference_costs(configurations(table)) == pytest.approx({"synthetic": 3.3})


def test_accuracies_are_means_and_deviations_over_folds():
    scores = pd.DataFrame(
        {
            "dataset": "sba",
            "data": ["D1", "D1", "D2", "D2"],
            "accuracy": [0.8, 1.0, 0.5, 0.5],
            "auc": [0.9, 0.9, 0.4, 0.6],
        }
    )
    table = accuracies(scores).set_index("data")
    assert table.loc["D1", "accuracy"] == pytest.approx(0.9)
    assert table.loc["D1", "accuracy deviation"] == pytest.approx(0.1)
    assert table.loc["D2", "auc deviation"] == pytest.approx(0.1)


def test_the_paper_has_eight_rows_and_four_points():
    assert len(table_1()) == 8
    assert table_1().set_index(["dataset", "data"]).loc[("sba", "D2"), "auc"] == 0.96
    assert dict(published_points().set_index("method")["cost"]) == {
        "RBR": 0.878,
        "Wachter": 0.96,
        "LIMELS-ROAR": 1.13,
        "LIME-ROAR": 2.9,
    }


def test_the_least_cost_of_a_validity_and_the_most():
    points = pd.DataFrame(
        {
            "dataset": "synthetic",
            "method": ["a", "a", "a", "b"],
            "cost": [3.0, 1.0, 2.0, 4.0],
            "future validity": [0.95, 0.5, 0.95, 0.4],
        }
    )
    table = costs_of(points, [0.5, 0.9]).set_index("method")
    assert table.loc["a", ["0.5", "0.9", "most"]].tolist() == [1.0, 2.0, 0.95]
    assert table.loc["b", ["0.5", "0.9"]].isna().all()
    assert table.loc["b", "most"] == 0.4


def test_costs_at_the_same_validity():
    points = pd.DataFrame(
        {
            "dataset": "synthetic",
            "method": ["ours", "ours", "theirs", "theirs", "theirs"],
            "cost": [1.0, 2.0, 2.0, 3.0, 9.0],
            "future validity": [0.6, 0.8, 0.5, 0.7, 0.9],
        }
    )
    table = same_validity(points, "ours", "theirs")
    assert table["theirs"].tolist() == [2.0, 3.0, 9.0]
    assert table["ours"].tolist()[:2] == [1.0, 2.0]
    assert table["ratio"].tolist()[:2] == [0.5, 2.0 / 3.0]
    assert np.isnan(table["ratio"].iloc[2])
