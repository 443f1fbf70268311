"""Real tables with mixed columns: rows, labels, and an action set that makes sense for each.

Search and defaults may be tuned on the *tuning* tables. The *report* tables are for the numbers that are told, at the
end; as the search was once improved looking at breast cancer, three *fresh* ones came later, of which nothing was known
while anything was chosen. Most are data sets of R: `export_tables.py` writes them into the folder that
ROBUST_RECOURSE_TABLES names. Without it there are breast cancer, of scikit-learn, and the generated table of
`mixed.py`.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import mixed
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from robust_recourse.paper.datasets import DatasetError, load

FOLDER = "ROBUST_RECOURSE_TABLES"
MOST_ROWS = 3000


class AbsentError(Exception):
    """The data of a table are not there; the message says what to do."""


@dataclass(frozen=True)
class Case:
    """Training rows with labels (1 is favourable), other rows, and the words of an action set."""

    name: str
    X: pd.DataFrame
    y: np.ndarray
    others: pd.DataFrame
    actions: dict

    @property
    def texts(self):
        """Columns that a model needs to have encoded: text, categories and booleans."""
        return list(self.X.select_dtypes(exclude="number"))

    def refused(self, model, n):
        """Return the first people whom the model refuses: of the rows that it has not seen, then of the others."""
        every = pd.concat([self.others, self.X])
        return every[model.predict(every) == 0].head(n)


def read(name):
    folder = os.environ.get(FOLDER)
    if not folder or not (Path(folder) / f"{name}.csv").is_file():
        raise AbsentError(f"{name}.csv is not there: set {FOLDER} to the folder that export_tables.py wrote")
    return pd.read_csv(Path(folder) / f"{name}.csv", keep_default_na=False, na_values=["NA", ""])


def mortgages():
    table = read("hmda")
    return (
        table.drop(columns="deny"),
        table["deny"] == "no",
        {
            "immutable": ["afam", "unemp", "phist", "insurance", "single"],
            "decrease": ["chist", "mhist"],
            "bounds": {"lvrat": (0.1, 1.5), "pirat": (0.05, None)},
            "rules": ["hirat <= pirat"],
        },
    )


def cancer():
    data = load_breast_cancer(as_frame=True)
    table = data.data.rename(columns=lambda name: name.replace(" ", "_"))
    return (
        table,
        data.target == 1,
        {
            "immutable": ["mean_symmetry", "mean_fractal_dimension"],
            "rules": ["worst_radius >= mean_radius", "worst_area >= mean_area"],
        },
    )


def pima():
    table = pd.concat([read("pima_tr2"), read("pima_te")], ignore_index=True)
    return (
        table.drop(columns="type"),
        table["type"] == "No",
        {
            "immutable": ["npreg", "age", "ped"],
            "bounds": {"bmi": (18.5, None), "bp": (50, None), "glu": (60, None)},
        },
    )


def lending():
    table = read("lending_club").sample(frac=1.0, random_state=1)
    bad, good = table["Class"] == "bad", table["Class"] == "good"
    table = pd.concat([table[bad], table[good].head(2500)]).drop(columns="addr_state")
    return (
        table.drop(columns="Class"),
        table["Class"] == "good",
        {
            "immutable": ["acc_now_delinq", "delinq_2yrs", "sub_grade", "int_rate"],
            "decrease": ["inq_last_6mths"],
            "increase": ["annual_inc"],
            "bounds": {"revol_util": (0, 100)},
            "rules": ["funded_amnt <= annual_inc"],
        },
    )


def attrition():
    table = read("attrition")
    return (
        table.drop(columns="Attrition"),
        table["Attrition"] == "No",
        {
            "immutable": ["Age", "Gender", "TotalWorkingYears", "NumCompaniesWorked", "MaritalStatus"],
            "increase": ["JobLevel"],
            "rules": ["YearsInCurrentRole <= YearsAtCompany"],
        },
    )


def churn():
    table = read("mlc_churn").drop(columns="state")
    return (
        table.drop(columns="churn").astype({"area_code": str}),
        table["churn"] == "no",
        {
            "immutable": ["area_code"],
            "increase": ["account_length"],
            "decrease": ["number_customer_service_calls"],
        },
    )


def credit():
    table = read("credit_data").dropna(subset=["Home", "Marital", "Job"])
    return (
        table.drop(columns="Status"),
        table["Status"] == "good",
        {
            "immutable": ["Age", "Marital", "Records"],
            "increase": ["Seniority"],
            "bounds": {"Time": (6, 72), "Amount": (100, None)},
            "step": {"Time": 6, "Amount": 50, "Price": 50},
            "rules": ["Amount <= Price"],
        },
    )


def cards():
    table = read("credit_card")
    # Whoever has no card spends nothing with it.
    return (
        table.drop(columns=["card", "share", "expenditure"]),
        table["card"] == "yes",
        {
            "immutable": ["age"],
            "decrease": ["reports"],
            "increase": ["months"],
            "bounds": {"income": (0.2, 8.0), "dependents": (0, 6)},
        },
    )


def insurance():
    table = read("health_insurance")
    return (
        table.drop(columns="insurance"),
        table["insurance"] == "yes",
        {
            "immutable": ["age", "gender", "ethnicity", "limit"],
            "bounds": {"family": (1, 10)},
            "weights": {"region": 2.0, "education": 3.0, "married": 2.0},
        },
    )


def generated():
    rng = np.random.default_rng(mixed.SEED)
    table = mixed.people(MOST_ROWS, rng)
    return table, mixed.outcomes(table, rng), mixed.ACTIONS


def german():
    try:
        data = load("german", columns="all")
    except DatasetError as error:
        raise AbsentError(str(error).splitlines()[0]) from error
    words = {name: value for name, value in vars(data.actions).items() if name != "schema" and value}
    return data.X1, np.asarray(data.y1) == 1, words


TUNING = {"mixed": generated, "credit": credit, "cards": cards, "insurance": insurance, "german": german}
REPORT = {"mortgages": mortgages, "cancer": cancer, "pima": pima}
FRESH = {"lending": lending, "attrition": attrition, "churn": churn}
TABLES = {**TUNING, **REPORT, **FRESH}


def case(name, seed=0):
    """Return a table, 70 % of its rows for training."""
    X, y, actions = TABLES[name]()
    y = np.asarray(y, dtype=int)
    rows = np.random.default_rng(seed).permutation(len(X))[:MOST_ROWS]
    train, others = train_test_split(rows, train_size=0.7, random_state=seed, stratify=y[rows])
    X = X.reset_index(drop=True)
    return Case(name, X.iloc[train], y[train], X.iloc[others], actions)


def scaled(case):
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    codes = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_column_transformer((codes, case.texts), remainder=numbers)


def logistic(case):
    return make_pipeline(scaled(case), LogisticRegression(max_iter=2000, class_weight="balanced"))


def forest(case):
    codes = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = make_column_transformer((codes, case.texts), remainder=SimpleImputer(strategy="median"))
    trees = RandomForestClassifier(100, min_samples_leaf=3, class_weight="balanced", random_state=0)
    return make_pipeline(columns, trees)


def boosted(case):
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    columns = make_column_transformer((codes, case.texts), remainder="passthrough")
    trees = HistGradientBoostingClassifier(
        max_iter=100, categorical_features=range(len(case.texts)), class_weight="balanced", random_state=0
    )
    return make_pipeline(columns, trees)


def network(case):
    return make_pipeline(scaled(case), MLPClassifier((20, 20), max_iter=400, alpha=1e-2, random_state=0))


MODELS = {"logistic": logistic, "forest": forest, "boosted": boosted}
OTHERS = {"network": network}  # measured where they are named


def fitted(case, name):
    return {**MODELS, **OTHERS}[name](case).fit(case.X, case.y)
