import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse import NearestAccepted
from robust_recourse.actions import ActionSet, Violation

LEVELS = ["none", "school", "college"]


def table(n=12):
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "amount": rng.integers(5, 400, n) * 50,
            "rate": rng.integers(0, 1000, n) / 100,
            "score": rng.uniform(-1.0, 1.0, n),
            "used": rng.uniform(0.0, 1.0, n),
            "limit": rng.uniform(2.0, 3.0, n),
            "job": [*rng.choice(["clerk", "cook", "none"], n - 3), "clerk", "cook", "none"],
            "education": [*rng.choice(LEVELS, n - 3), *LEVELS],
            "sex": pd.Categorical([*rng.choice(["f", "m"], n - 2), "f", "m"]),
            "car": [*(rng.random(n - 2) < 0.5), True, False],
            "constant": np.full(n, 7),
            "since": pd.date_range("2020-01-01", periods=n),
        },
        index=[f"p{k}" for k in range(n)],
    )


FRAME = table()


def broken(actions, before, after):
    return [(found.row, found.column, found.rule) for found in actions.check(before, after)]


def edited(frame, **cells):
    """Change the first row."""
    changed = frame.copy()
    for column, value in cells.items():
        changed[column] = [value, *frame[column].tolist()[1:]]
    return changed


@pytest.mark.parametrize("X_train", [None, FRAME], ids=["alone", "with training rows"])
@pytest.mark.parametrize(
    ("rules", "own", "allowed", "forbidden", "rule"),
    [
        ({"immutable": ["amount"]}, {"amount": 500}, [500], [550, 450], "immutable"),
        ({"immutable": ["sex"]}, {"sex": "f"}, ["f"], ["m"], "immutable"),
        ({"increase": ["amount"]}, {"amount": 500}, [500, 501, 10**6], [499], "increase"),
        ({"decrease": ["amount"]}, {"amount": 500}, [500, 499], [501], "decrease"),
        ({"increase": ["car"]}, {"car": False}, [False, True], [], "increase"),
        ({"decrease": ["car"]}, {"car": False}, [False], [True], "decrease"),
        ({"bounds": {"score": (-1, 2.5)}}, {"score": 0.5}, [-1.0, 2.5, 0.5], [-1.0000001, 2.6], "bounds"),
        ({"bounds": {"score": (None, 2.5)}}, {"score": 0.5}, [-1e9, 2.5], [np.nextafter(2.5, 3)], "bounds"),
        ({"bounds": {"score": (-1, np.inf)}}, {"score": 0.5}, [1e9], [-2.0], "bounds"),
        ({"integer": ["score"]}, {"score": 0.5}, [0.5, 3.0, -2.0], [0.25, 3.0000001], "integer"),
        ({"step": {"score": 0.1}}, {"score": 0.05}, [0.05, 0.3, -0.7, 1e3], [0.1 * 3, 0.15], "step"),
        ({"step": {"amount": 50}}, {"amount": 333}, [333, 350, 0], [340, 325], "step"),
        ({"categories": {"job": ["clerk", "none"]}}, {"job": "cook"}, ["cook", "clerk"], ["chef"], "categories"),
        ({"categories": {"job": ["clerk", "none"]}}, {"job": "clerk"}, ["none"], ["cook"], "categories"),
        ({"ordered": {"education": LEVELS}}, {"education": "school"}, ["none", "college"], ["phd"], "ordered"),
        (
            {"ordered": {"education": LEVELS}, "increase": ["education"]},
            {"education": "school"},
            ["school", "college"],
            ["none"],
            "increase",
        ),
        (
            {"ordered": {"education": LEVELS}, "decrease": ["education"]},
            {"education": "school"},
            ["school", "none"],
            ["college"],
            "decrease",
        ),
    ],
)
def test_each_rule_is_judged_on_both_sides(X_train, rules, own, allowed, forbidden, rule):
    actions = ActionSet(X_train, **rules)
    (column,) = own
    before = edited(FRAME, **own)
    for value in allowed:
        assert actions.check(before, edited(before, **{column: value})) == []
    for value in forbidden:
        assert broken(actions, before, edited(before, **{column: value})) == [("p0", column, rule)]


def test_what_training_rows_teach_counts_if_they_are_given():
    after = edited(
        FRAME,
        amount=FRAME["amount"].iloc[0] + 0.5,
        rate=1.2345,
        job="chef",
        constant=8,
        since=pd.Timestamp("2021-01-01"),
    )
    assert ActionSet().check(FRAME, after) == []
    assert broken(ActionSet(FRAME), FRAME, after) == [
        ("p0", "amount", "integer"),
        ("p0", "rate", "step"),
        ("p0", "job", "categories"),
        ("p0", "constant", "immutable"),
        ("p0", "since", "immutable"),
    ]


def test_at_most_so_many_columns_change():
    actions = ActionSet(max_changes=2)
    after = edited(FRAME, amount=1, sex="m" if FRAME["sex"].iloc[0] == "f" else "f")
    assert actions.check(FRAME, after) == []
    after = edited(after, job="chef")
    (found,) = actions.check(FRAME, after)
    assert (found.row, found.column, found.rule) == ("p0", None, "max_changes")
    assert found.message == str(found) == "Row p0: 3 columns changed, but at most 2 may: amount, job, sex."


def test_linear_rules():
    actions = ActionSet(FRAME, rules=["used <= limit", "used >= 0"])
    assert actions.check(FRAME, FRAME) == []
    after = edited(FRAME, used=2.75, limit=2.5)
    (found,) = actions.check(FRAME, after)
    assert (found.row, found.column, found.rule) == ("p0", None, "used <= limit")
    assert found.message == "Row p0: used <= limit does not hold: used = 2.75, limit = 2.5."
    assert broken(actions, FRAME, edited(FRAME, used=-1.0)) == [("p0", None, "used >= 0")]


@pytest.mark.parametrize("X_train", [None, FRAME], ids=["alone", "with training rows"])
def test_a_row_that_stays_as_it_is_breaks_nothing(X_train):
    before = edited(FRAME, used=5.0, amount=333, job="chef", rate=np.nan)
    rules = {
        "bounds": {"used": (0, 1)},
        "step": {"amount": 50},
        "categories": {"job": ["cook"]},
        "rules": ["used <= limit"],
    }
    actions = ActionSet(X_train, **rules)
    assert actions.check(before, before) == []
    assert actions.check(before, before.astype(object)) == []


def test_a_value_that_is_left_alone_breaks_nothing_but_rules_hold_wherever_something_changes():
    before = edited(FRAME, used=5.0)
    bounds, rules = {"bounds": {"used": (0, 1)}}, {"rules": ["used <= limit"]}
    after = edited(before, score=0.5)
    assert ActionSet(**bounds).check(before, after) == []
    assert broken(ActionSet(**bounds, **rules), before, after) == [("p0", None, "used <= limit")]
    assert broken(ActionSet(**rules, immutable=["used"]), before, after) == [("p0", None, "used <= limit")]
    assert ActionSet(**rules, immutable=["used", "limit"]).check(before, after) == []
    assert ActionSet(**rules).check(before, edited(before, limit=6.0)) == []


def test_what_never_may_change_breaks_all_that_it_breaks():
    before = edited(FRAME, used=5.0)
    rules = {"bounds": {"used": (0, 1)}, "rules": ["used <= limit"]}
    after = edited(before, used=6.0)
    assert broken(ActionSet(**rules, immutable=["used", "limit"]), before, after) == [
        ("p0", "used", "immutable"),
        ("p0", "used", "bounds"),
        ("p0", None, "used <= limit"),
    ]


def test_a_constant_column_may_stand_in_a_rule():
    actions = ActionSet(FRAME, rules=["used <= constant"])
    assert broken(actions, FRAME, edited(FRAME, used=8.0)) == [("p0", None, "used <= constant")]


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_missing_cells_stay_missing_and_others_do_not_become_so(missing):
    actions = ActionSet(immutable=["job"], increase=["score"], bounds={"score": (-9, 9)}, step={"score": 0.5})
    empty = FRAME.astype({"score": object, "job": object})
    empty = edited(edited(empty, score=missing, job=missing))
    assert actions.check(empty, empty) == []
    assert actions.check(empty, edited(empty, score=None, job=np.nan)) == []
    assert broken(actions, FRAME, empty) == [
        ("p0", "score", "missing"),
        ("p0", "job", "immutable"),
        ("p0", "job", "missing"),
    ]
    assert broken(actions, empty, edited(empty, score=1.0)) == [("p0", "score", "missing")]


def test_a_missing_cell_that_is_filled_counts_as_a_change():
    before = pd.DataFrame({"a": [np.nan, 1.0], "b": [1.0, 1.0]})
    after = pd.DataFrame({"a": [2.0, 1.0], "b": [2.0, 1.0]})
    assert [found.rule for found in ActionSet(max_changes=1).check(before, after)] == ["missing", "max_changes"]


def test_a_row_without_any_value_has_no_recourse_and_breaks_nothing():
    after = FRAME.astype(object)
    after.iloc[0] = None
    after.iloc[3, 0] = None
    assert broken(ActionSet(FRAME, immutable=list(FRAME.columns), max_changes=1), FRAME, after) == [
        ("p3", "amount", "immutable"),
        ("p3", "amount", "missing"),
    ]
    array = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert ActionSet(immutable=[0, 1]).check(array, [[np.nan, np.nan], [3.0, 4.0]]) == []


def test_types_make_no_difference():
    before = pd.DataFrame({"n": [1, 2], "t": ["a", "b"], "flag": [True, False], "f": [0.5, 1.5]})
    others = [
        before.astype({"n": float}),
        before.astype({"n": "Int64", "f": "Float64", "flag": "boolean"}),
        before.astype({"t": "category", "n": np.int8, "f": np.float32}),
        before.astype({"t": "string"}),
        before.astype({"t": pd.CategoricalDtype(["z", "b", "a"])}),
        before.astype(object),
        before.astype({"flag": int}),
    ]
    strict = {"immutable": ["n", "t", "flag", "f"], "max_changes": 1}
    for actions in (ActionSet(**strict), ActionSet(before, **strict)):
        for one in (before, *others):
            for other in (before, *others):
                assert actions.check(one, other) == []
    after = others[1].assign(n=pd.array([1, None], dtype="Int64"), t=["a", "c"])
    assert broken(ActionSet(immutable=["t"]), others[2], after) == [(1, "n", "missing"), (1, "t", "immutable")]


def test_numbers_are_compared_without_a_tolerance():
    before = pd.DataFrame({"a": [0.1]})
    assert broken(ActionSet(immutable=["a"]), before, before.astype(np.float32)) == [(0, "a", "immutable")]
    assert broken(ActionSet(decrease=["a"]), before, np.nextafter(before, 1)) == [(0, "a", "decrease")]
    loose = pd.DataFrame({"a": np.array([np.float32(0.1)], dtype=object)})
    assert broken(ActionSet(immutable=["a"]), before, loose) == [(0, "a", "immutable")]
    large = pd.DataFrame({"a": [2**53]})
    assert broken(ActionSet(immutable=["a"]), large, large + 1) == [(0, "a", "immutable")]


def test_steps_are_multiples_as_they_are_written():
    for step, digits in ((0.1, 1), (0.05, 2), (2.5, 1), (0.3, 1), (1e-3, 3), (12.34, 2), (50, 0), (7, 0)):
        actions = ActionSet(step={"a": step})
        on = np.array([float(f"{k * step:.{digits}f}") for k in (*range(-40, 40), 12345, 10**7 + 1)])
        before = pd.DataFrame({"a": np.full(len(on), 0.123456789)})
        assert actions.check(before, pd.DataFrame({"a": on})) == []
        for off in (np.nextafter(on, np.inf), np.nextafter(on, -np.inf)):
            after = pd.DataFrame({"a": off})
            assert broken(actions, before, after) == [(k, "a", "step") for k in range(len(on))]


def test_steps_count_in_the_precision_of_the_column():
    before = pd.DataFrame({"a": [0.25]}, dtype=np.float32)
    actions = ActionSet(step={"a": 0.1})
    assert actions.check(before, pd.DataFrame({"a": [0.7]}, dtype=np.float32)) == []
    assert broken(actions, before, pd.DataFrame({"a": [0.71]}, dtype=np.float32)) == [(0, "a", "step")]


@pytest.mark.parametrize("value", ["text", np.inf, -np.inf])
def test_what_is_no_finite_number_is_reported(value):
    after = edited(FRAME.astype({"score": object}), score=value)
    rules = {"bounds": {"score": (-9, 9)}, "rules": ["score <= 9"], "increase": ["score"]}
    assert broken(ActionSet(FRAME, **rules), FRAME, after) == [("p0", "score", "type")]


def test_unknown_categories_have_no_direction():
    before = edited(FRAME, education="other")
    actions = ActionSet(ordered={"education": LEVELS}, increase=["education"])
    assert actions.check(before, before) == []
    assert broken(actions, before, edited(before, education="college")) == [("p0", "education", "increase")]


def test_the_order_of_a_type_counts():
    order = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
    before = pd.DataFrame({"a": pd.Categorical(["mid", "low"], dtype=order)})
    for actions in (ActionSet(increase=["a"]), ActionSet(before, increase=["a"])):
        assert actions.check(before, before.assign(a=["high", "mid"])) == []
        assert broken(actions, before, before.assign(a=["low", "high"])) == [(0, "a", "increase")]


def test_arrays_have_positions():
    before = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    after = np.array([[1.0, 2.5, 3.0], [4.0, 5.0, 5.0]])
    actions = ActionSet(immutable=[-1], bounds={1: (0, 2)}, rules=["x1 <= x2"])
    assert [str(found) for found in actions.check(before, after)] == [
        "Row 0: column 1 changed from 2.0 to 2.5, which is above 2.",
        "Row 1: column 2 changed from 6.0 to 5.0, but it never may.",
    ]
    after[1, 1] = 7.0
    assert broken(ActionSet(before, rules=["x1 <= x2"]), before, after) == [(1, None, "x1 <= x2")]
    assert ActionSet(integer=[0], max_changes=1).check(before, [[2.0, 2.0, 3.0], [4.0, 5.5, 6.0]]) == []


def test_a_set_for_arrays_reads_frames_by_position_and_the_other_way_round():
    rows = np.array([[1.0, 2.0], [3.0, 5.0]])
    frame = pd.DataFrame(rows, columns=["a", "b"])
    shift = np.array([0.0, 1.0])
    assert broken(ActionSet(rows, immutable=[1]), frame, frame + shift) == [
        (0, 1, "immutable"),
        (1, 1, "immutable"),
    ]
    assert broken(ActionSet(frame, immutable=["b"]), rows, rows + shift) == [
        (0, "b", "immutable"),
        (1, "b", "immutable"),
    ]


@pytest.mark.parametrize(
    ("rules", "match"),
    [
        ({"immutable": ["height"]}, "immutable names column 'height'"),
        ({"increase": ["job"]}, "increase names column 'job', whose values have no order"),
        ({"bounds": {"job": (0, 1)}}, "bounds names column 'job', which does not hold numbers"),
        ({"rules": ["job <= 3"]}, "names column 'job', which does not hold numbers"),
        ({"rules": ["height <= 3"]}, "names column 'height', which is not there"),
        ({"bounds": {"score": (2, 1)}}, "is empty"),
    ],
)
def test_a_set_that_makes_no_sense_is_refused(rules, match):
    with pytest.raises(ValueError, match=match):
        ActionSet(**rules).check(FRAME, FRAME)


def test_a_violation_is_plain_data():
    assert Violation(1, "a", "step", "text") == Violation(1, "a", "step", "text")


SETTINGS = {
    "immutable": ["sex"],
    "increase": ["education"],
    "decrease": ["rate"],
    "bounds": {"amount": (250, 20000)},
    "step": {"amount": 50},
    "ordered": {"education": LEVELS},
    "categories": {"job": ["clerk", "none"]},
    "max_changes": 3,
    "rules": ["used <= limit"],
}


@settings(deadline=None, max_examples=15)
@given(st.data())
def test_allowed_changes_break_nothing_and_a_forbidden_one_breaks_its_rule(data):
    before = table()
    row = data.draw(st.integers(0, len(before) - 1))
    own = before.iloc[row]
    higher = LEVELS[LEVELS.index(own["education"]) :]
    possible = {
        "amount": st.integers(5, 400).map(lambda k: 50 * k),
        "rate": st.integers(0, round(100 * own["rate"])).map(lambda k: k / 100),
        "score": st.floats(-5, 5),
        "used": st.floats(0, 2),
        "limit": st.floats(2, 9),
        "job": st.sampled_from(["clerk", "none"]),
        "education": st.sampled_from(higher),
        "car": st.booleans(),
    }
    columns = data.draw(st.lists(st.sampled_from(list(possible)), unique=True, max_size=3))
    after = before.astype(object)
    for column in columns:
        after.iloc[row, after.columns.get_loc(column)] = data.draw(possible[column])
    actions = ActionSet(before, **SETTINGS)
    assert actions.check(before, after) == []
    assert actions.check(before, after.sample(frac=1, random_state=row)) == []

    forbidden = {
        "immutable": ("sex", "m" if own["sex"] == "f" else "f"),
        "decrease": ("rate", own["rate"] + 1),
        "bounds": ("amount", 20050),
        "step": ("amount", 1025 if own["amount"] != 1025 else 1035),
        "categories": ("job", "chef"),
        "ordered": ("education", "phd"),
    }
    rule = data.draw(st.sampled_from(list(forbidden)))
    column, value = forbidden[rule]
    after.iloc[row, after.columns.get_loc(column)] = value
    found = {found.rule for found in actions.check(before, after) if found.row == f"p{row}"}
    assert rule in found
    assert found <= {rule, "max_changes", *(["increase"] if rule == "ordered" else [])}


@pytest.mark.parametrize("dtype", ["float16", "float32", "Float32", "float[pyarrow]", "halffloat[pyarrow]"])
@pytest.mark.parametrize("step", [0.1, 0.05, 0.3, 0.01])
def test_multiples_of_a_step_are_those_that_the_type_holds(dtype, step):
    rng = np.random.default_rng(0)
    short = "float16" if dtype in ("float16", "halffloat[pyarrow]") else "float32"

    def table(numbers):
        return pd.DataFrame({"a": pd.Series(numbers.astype(short)).astype(dtype)})

    X = table(rng.integers(-300, 300, 80) * step)
    actions = ActionSet(X, step={"a": step})
    moves = actions.resolve(actions.schema_for(X).typed(X))
    own = X["a"].to_numpy(dtype=float)[:, None]
    told = moves.settle(rng.uniform(-290, 290, (80, 1)) * step, own)[:, 0]
    assert (told != own[:, 0]).sum() > 70
    assert actions.check(X, table(told)) == []
    assert len(actions.check(X, table(told + 0.4 * step))) > 40


def test_the_multiple_beyond_the_largest_number_of_a_type_is_none():
    X = pd.DataFrame({"a": np.array([0, 65504, 100, 32000] * 10, dtype="float16")})
    actions = ActionSet(X, step={"a": 1000})
    assert [wrong.rule for wrong in actions.check(X.iloc[:1], X.iloc[1:2].set_axis([0]))] == ["step"]
    moves = actions.resolve(actions.schema_for(X).typed(X))
    assert moves.settle(np.array([[65504.0]]), np.array([[0.0]])).tolist() == [[float(np.float16(65000))]]


PRECISIONS = ["float16", "float32", "float64", "Float32", "Float64"]
PRECISIONS += ["halffloat[pyarrow]", "float[pyarrow]", "double[pyarrow]"]


def typed(numbers, dtype):
    """A column of some type; numbers that a half does not hold are rounded first."""
    short = {"float16": "float16", "halffloat[pyarrow]": "float16", "float32": "float32", "Float32": "float32"}
    return pd.Series(np.asarray(numbers).astype(short.get(dtype, "float64"))).astype(dtype)


@settings(deadline=None, max_examples=60)
@given(
    trained=st.sampled_from(PRECISIONS),
    dtype=st.sampled_from(PRECISIONS),
    step=st.sampled_from([None, 0.001, 0.01, 0.05, 0.1, 0.3, 1.0, 7.0]),
    scale=st.sampled_from([0.01, 1.0, 50.0, 3000.0]),
    digits=st.sampled_from([1, 2, 16]),
    bounds=st.none() | st.tuples(st.none() | st.floats(-3.0, -1.0), st.none() | st.floats(1.0, 3.0)),
    seed=st.integers(0, 1000),
)
def test_whatever_is_explained_is_found_right_in_any_precision(trained, dtype, step, scale, digits, bounds, seed):
    rng = np.random.default_rng(seed)
    numbers = np.round(rng.normal(0.0, scale, 50), digits)
    X_train = pd.DataFrame({"a": typed(numbers[:40], trained), "b": rng.normal(size=40)})
    X = pd.DataFrame({"a": typed(numbers[40:], dtype), "b": rng.normal(size=10)})
    words = {} if step is None else {"step": {"a": step * max(scale, 1.0)}}
    if bounds is not None:
        words["bounds"] = {"a": tuple(None if end is None else end * 10.0 * scale for end in bounds)}

    def accepts(table):
        return table["a"].to_numpy(dtype=float) / scale + table["b"].to_numpy() > 0.5

    actions = ActionSet(X_train, **words)
    found = NearestAccepted(accepts, actions).fit(X_train).explain(X)
    assert actions.check(X, found.x) == []
    # Without training rows the check knows the type of the table alone.
    if trained == dtype:
        assert ActionSet(**words).check(X, found.x) == []


def test_a_short_type_of_the_training_rows_counts_and_nothing_close_to_it():
    X = pd.DataFrame({"a": np.arange(40, dtype="float32") / 7})
    actions = ActionSet(X, step={"a": 0.1})
    before, told = pd.DataFrame({"a": [0.25]}), float(np.float32(0.7))
    assert actions.check(before, pd.DataFrame({"a": [0.7]})) == []
    assert actions.check(before, pd.DataFrame({"a": [told]})) == []
    assert broken(actions, before, pd.DataFrame({"a": [np.nextafter(told, 1.0)]})) == [(0, "a", "step")]
    assert broken(ActionSet(step={"a": 0.1}), before, pd.DataFrame({"a": [told]})) == [(0, "a", "step")]


HUGE = 10**400


def test_whole_numbers_that_no_float_holds_are_named():
    before = pd.DataFrame({"a": [1, 2], "b": [3, 3]}, dtype=object)
    after = before.assign(a=pd.Series([HUGE, 2], dtype=object))
    actions = ActionSet(step={"a": 1}, rules=["a <= b"])
    [found] = actions.check(before, after)
    assert (found.row, found.column, found.rule) == (0, "a", "type")
    assert str(found) == "Row 0: a changed from 1 to 1e400 or so, which is no number that a float can hold."
    [found] = ActionSet(immutable=["a"]).check(after, before)
    assert str(found) == "Row 0: a changed from 1e400 or so to 1, but it never may."


def test_what_lost_its_last_bits_is_told_how_to_round():
    before = pd.DataFrame({"a": [142.89, 142.89]})
    (lost, other) = ActionSet(step={"a": 0.01}).check(before, pd.DataFrame({"a": [142.89 + 1000.0, 142.895]}))
    assert str(lost).endswith("which is no multiple of 0.01: round it to 1142.89.")
    assert str(other).endswith("which is no multiple of 0.01.")


def test_a_number_too_large_for_its_step_is_no_multiple():
    X = pd.DataFrame({"rate": np.arange(40) / 10.0})
    violations = ActionSet(X, bounds={"rate": (0, None)}).check(X.head(1), X.head(1).assign(rate=1.5e308))
    assert any("multiple of 0.1" in str(violation) for violation in violations)
