"""Raw tables: 1,000 refused rows of German Credit, all 20 columns, explained on one core; and DiCE on a few of them."""

import contextlib
import io
import statistics
import time
import warnings

import numpy as np
import pandas as pd
from problem import Timed
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from robust_recourse import ActionSet, RobustBayesianRecourse
from robust_recourse.paper.datasets import DatasetError, load

ROWS, REPEATS = 1000, 3
COMPARED = 20  # rows for DiCE


def problem():
    """Return the data, a boosted pipeline that learnt the present ones, and refused rows."""
    data = load("german", columns="all")
    categories = [column for column in data.X1 if data.kinds[column] == "category"]
    encoder = make_column_transformer(
        (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), categories), remainder="passthrough"
    )
    # Half of the usual trees: a slower model would flatter the ratio.
    trees = HistGradientBoostingClassifier(max_iter=50, categorical_features=range(len(categories)), random_state=0)
    model = make_pipeline(encoder, trees).fit(data.X1, data.y1)
    return data, model, refused_rows(data, model)


def refused_rows(data, model):
    """Return 1,000 different refused rows: those of the present and of the corrected data, then mixtures of these.

    The model refuses some 400 real ones. A mixture has the categories of one of them and the numbers of another, and
    is refused, too.
    """
    real = pd.concat([rows[model.predict(rows) == 0] for rows in (data.X1, data.X2)]).drop_duplicates()
    rng = np.random.default_rng(0)
    numbers = [column for column in real if data.kinds[column] != "category"]
    drawn = real.iloc[rng.integers(len(real), size=4 * ROWS)].copy()
    drawn[numbers] = real[numbers].iloc[rng.integers(len(real), size=len(drawn))].to_numpy()
    mixed = drawn.astype(real.dtypes)
    every = pd.concat([real, mixed[model.predict(mixed) == 0]], ignore_index=True).drop_duplicates(ignore_index=True)
    return every.iloc[:ROWS], len(real)


def run():
    try:
        data, model, (refused, n_real) = problem()
    except DatasetError as error:
        return [("German Credit: skipped", "", str(error).splitlines()[0], None)]
    timed = Timed(model)
    actions = ActionSet(data.X1, **given(data.actions))
    method = RobustBayesianRecourse(timed, actions, random_state=0).fit(data.X1)
    method.explain(refused.iloc[:10])  # builds the tables of the profiles
    ratios, seconds = [], []
    for _ in range(REPEATS):
        timed.seconds, timed.rows, start = 0.0, 0, time.perf_counter()
        found = method.explain(refused)
        seconds.append(time.perf_counter() - start)
        ratios.append(seconds[-1] / timed.seconds)
    ratio, second = statistics.median(ratios), statistics.median(seconds)
    known = np.isfinite(found.cost)
    again = np.zeros(len(found), dtype=bool)
    again[known] = model.predict(found.x[known].astype(data.X1.dtypes)) == 1
    broken = len(actions.check(refused[known], found.x[known]))
    different = int((again != found.valid).sum())
    statuses = pd.Series(found.status.astype(str)).value_counts()
    return [
        ("German Credit, 1,000 rows: time / model's time", "<= 3", ratio, ratio <= 3),
        ("  rows a second", "", len(refused) / second, None),
        ("  model rows an instance", "", timed.rows / len(refused), None),
        ("  different refused rows", "= 1000", len(refused), len(refused) == ROWS),
        ("    of them real", "", n_real, None),
        ("  share valid", "", float(found.valid.mean()), None),
        ("  violations of the action set", "= 0", broken, broken == 0),
        ("  rows whose valid is not what the model says again", "= 0", different, different == 0),
        *[(f"  status: {status}", "", int(count), None) for status, count in statuses.items()],
        *compare(data, model, actions, refused.iloc[:: len(refused) // COMPARED]),
    ]


def given(actions):
    """Return the arguments of an action set."""
    return {name: value for name, value in vars(actions).items() if name != "schema"}


def compare(data, model, actions, refused):
    """Explain a few rows with the random method of DiCE, and with ours, under the same action set."""
    try:
        import dice_ml
    except ImportError:
        return [("DiCE, random method: skipped", "", "dice-ml is not installed", None)]
    method = RobustBayesianRecourse(model, actions, random_state=0).fit(data.X1)

    def ours(rows):
        found = method.explain(rows)
        return found.x[found.valid]

    rows = []
    for name, answer in (("ours", ours), ("DiCE, random", dice(dice_ml, data, model, actions))):
        answer(refused.iloc[:1])
        start = time.perf_counter()
        after = answer(refused)
        second = (time.perf_counter() - start) / len(refused)
        after = after.astype(data.X1.dtypes)
        before = refused.loc[after.index]
        violations = actions.check(before, after)
        rows += [
            (f"{name}, {len(refused)} rows: seconds a row", "", second, None),
            ("  found, and accepted by the model", "", int((model.predict(after) == 1).sum()), None),
            ("  of them break the action set", "", len({violation.row for violation in violations}), None),
            ("  columns changed, mean", "", float((after != before).sum(axis=1).mean()), None),
            ("  cost, mean", "", cost(actions, before, after), None),
        ]
    return rows


def cost(actions, before, after):
    """Return the mean cost of changes, in the units of the action set."""
    total = 0.0
    for column in actions.schema.columns:
        old, new = before[column.name], after[column.name]
        if column.kind == "number":
            total += (new - old).abs().mean() / column.unit
        else:
            total += (new != old).mean()
    return float(total)


def dice(dice_ml, data, model, actions):
    """Return a function that asks DiCE for a counterfactual of every row, within the action set as far as it can."""
    label = "outcome"
    numbers = [column for column in data.X1 if data.kinds[column] != "category"]
    train = data.X1.astype({column: str for column in data.X1 if column not in numbers})
    whole = [column for column in numbers if train[column].dtype == float]  # but whole all the same: the amount
    table = dice_ml.Data(
        dataframe=train.assign(**{label: data.y1}),
        continuous_features=numbers,
        continuous_features_precision=dict.fromkeys(whole, 0),
        outcome_name=label,
    )
    explainer = dice_ml.Dice(table, dice_ml.Model(model=model, backend="sklearn"), method="random")
    free = [column for column in data.X1 if column not in actions.immutable]

    def one(row):
        ranges = {column: list(bounds) for column, bounds in actions.bounds.items()}
        for column in actions.decrease:
            ranges[column] = [ranges[column][0], int(row[column].iloc[0])]
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):  # it has a progress bar
            warnings.simplefilter("ignore")
            try:
                found = explainer.generate_counterfactuals(
                    row.astype(train.dtypes),
                    total_CFs=1,
                    desired_class=1,
                    features_to_vary=free,
                    permitted_range=ranges,
                    random_seed=0,
                )
            except UserConfigValidationException:  # says that nothing was found, or refuses a category
                return None
        end = found.cf_examples_list[0].final_cfs_df
        return None if end is None or not len(end) else end[list(data.X1)].set_axis(row.index)

    # Limits of "only down" depend on the row, so that it gets one row at a time. With many it loops over them.
    from raiutils.exceptions import UserConfigValidationException

    def every(rows):
        found = [one(rows.iloc[[i]]) for i in range(len(rows))]
        return pd.concat([row for row in found if row is not None])

    return every
