"""What the library promises, on German Credit and SBA with a gradient-boosted pipeline on the raw frame.

Neither has a thousand refused rows, so more people like those are drawn: rows with replacement, in which some cells are
those of other rows, as many as it takes until the model has refused enough.
"""

import os

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from robust_recourse import ActionSet, RobustBayesianRecourse
from robust_recourse.paper.datasets import load

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        "ROBUST_RECOURSE_DATA" not in os.environ,
        reason="needs ROBUST_RECOURSE_DATA, the folder with the published files",
    ),
]

SAID = ("immutable", "increase", "decrease", "bounds", "integer", "step", "categories", "ordered", "weights")
GERMAN = {
    "step": {"amount": 50, "duration": 3},
    "max_changes": 3,
    "rules": ["amount <= 400 * duration"],
    "ordered": {
        "savings": [
            "unknown/no savings account",
            "< 100 DM",
            "100 <= ... < 500 DM",
            "500 <= ... < 1000 DM",
            ">= 1000 DM",
        ]
    },
    "increase": ["savings"],
}
SBA = {
    "step": {"GrAppv": 500, "SBA_Appv": 500, "Portion": 0.05, "Term": 6},
    "integer": ["NoEmp", "CreateJob", "RetainedJob"],
    "max_changes": 3,
    "rules": ["SBA_Appv <= GrAppv", "CreateJob <= 2 * NoEmp + 10"],
}


def more_people(X, model, n, rng, share=0.1):
    """Draw people like those of a table until the model has refused enough of them."""
    refused = []
    while sum(map(len, refused)) < n:
        drawn = X.iloc[rng.integers(len(X), size=len(X))].reset_index(drop=True)
        for column in X.columns:
            other = X[column].iloc[rng.integers(len(X), size=len(X))].array
            cells, swapped = drawn[column].array.copy(), rng.random(len(X)) < share
            cells[swapped] = other[swapped]
            drawn[column] = cells
        refused.append(drawn[model.predict(drawn) == 0])
    people = pd.concat(refused, ignore_index=True).iloc[:n]
    return people.set_index("person " + people.index.astype(str))


def problem(name, extra, n, **options):
    data = load(name, **options)
    # What was charged off is known too late, and alone tells who was refused.
    X = data.X1.drop(columns="ChgOffPrinGr", errors="ignore")
    categories = [column for column in X.columns if data.kinds[column] == "category"]
    encode = make_column_transformer(
        (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), categories), remainder="passthrough"
    )
    model = make_pipeline(encode, HistGradientBoostingClassifier(max_iter=50, random_state=0)).fit(X, data.y1)
    words = {rule: getattr(data.actions, rule) for rule in SAID}
    words["immutable"] = [column for column in words["immutable"] if column in X.columns]
    for rule, said in extra.items():
        words[rule] = words[rule] + said if isinstance(words.get(rule), list) else said
    return X, model, words, more_people(X, model, n, np.random.default_rng(0))


# A thousand of German Credit take half a minute.
@pytest.mark.parametrize(
    ("name", "extra", "n", "options"), [("german", GERMAN, 500, {"columns": "all"}), ("sba", SBA, 1000, {})]
)
def test_refused_rows_break_no_rule_and_are_as_valid_as_they_say(judge, name, extra, n, options):
    X, model, words, people = problem(name, extra, n, **options)
    actions = ActionSet(X, **words)
    found = RobustBayesianRecourse(model, actions, random_state=0).fit(X).explain(people)
    assert len(found) == n
    exists = np.isfinite(found.cost)
    assert actions.check(people[exists], found.x[exists].astype(people.dtypes.to_dict())) == []
    judge(X, words).review(found, people, lambda rows: model.predict(rows) == 1)
    assert found.valid.mean() > 0.9
