import numpy as np
import pandas as pd
import pytest

from robust_recourse.actions import ActionSet
from robust_recourse.actions.wording import facts, readable
from robust_recourse.tables import Column


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (1.0, "1"),
        (-2.5, "-2.5"),
        (1234567.0, "1,234,567"),
        (1700.4321, "1,700"),
        (0.123456, "0.1235"),
        (0.00012345, "0.0001234"),
        (1.23456e-9, "1.235e-09"),
        (1e20, "1e+20"),
        (99999.6, "100,000"),
        (np.inf, "inf"),
    ],
)
def test_numbers_can_be_read(number, text):
    assert readable(number) == text


def test_facts_of_columns():
    assert facts(Column("a", "number", unit=1700.0, low=250.0, high=18424.0)) == (
        "number from 250 to 18,424; a unit of cost is 1,700"
    )
    assert facts(Column("a", "number", unit=0.5, step=0.01, low=0.0, high=1.0)) == (
        "number from 0 to 1 in steps of 0.01; a unit of cost is 0.5"
    )
    assert facts(Column("a", "ordered", values=("low", "high"))) == "ordered: 'low' < 'high'"
    assert facts(Column("a", "category", values=tuple(range(1000, 1030)))) == (
        "category: 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, ... (30 values)"
    )
    assert facts(Column("a", "fixed", why="it is a date")) == "never changes: it is a date"


FRAME = pd.DataFrame(
    {
        "amount": [250, 900, 4000],
        "rate": [0.1, 1.5, 2.75],
        "job": ["cook", "none", "clerk"],
        "line\nbreak": [0.25, 0.5, 8.0],
        "constant": 3,
        "sex": ["f", "m", "f"],
    }
)


def test_a_set_with_training_rows_has_a_line_for_each_column():
    actions = ActionSet(
        FRAME,
        immutable=["sex"],
        increase=["rate"],
        decrease=["line\nbreak"],
        bounds={"amount": (0, 20000), "rate": (None, 5)},
        step={"amount": 50},
        categories={"job": ["cook", "clerk"]},
        weights={"job": 2.5},
        max_changes=2,
        rules=["amount <= 100 * rate"],
    )
    head, names, *lines = repr(actions).splitlines()
    assert head == "ActionSet of 6 columns"
    assert names.split() == ["column", "kind", "may", "become", "step", "unit", "of", "cost", "weight"]
    starts = [
        "amount number 0 to 20,000 50",
        "rate number 0.1 to 5, only up 0.01",
        "job category 'cook', 'clerk' 1 2.5",
        "line break number 0.25 to 8, only down 0.01",
        "constant fixed never changes: it has the same value in all training rows",
        "sex category never changes 1 1",
        "at most 2 of them may change",
        "rule: amount <= 100 * rate",
    ]
    for line, start in zip(lines, starts, strict=True):
        assert " ".join(line.split()).startswith(start)


def test_the_table_of_a_set():
    table = ActionSet(FRAME, immutable=["sex"], bounds={"amount": (None, 5000)}, weights={"rate": 3}).describe()
    assert list(table.index) == list(FRAME.columns)
    assert table.loc["amount", "may become"] == "250 to 5,000"
    assert table.loc["sex", "may become"] == "never changes"
    assert table["weight"].tolist() == [1, 3, 1, 1, 1, 1]
    assert table.loc["amount", "step"] == 1
    assert np.isnan(table.loc["job", "step"])
    with pytest.raises(ValueError, match="give X_train"):
        ActionSet().describe()


def test_arrays_are_listed_by_position_and_long_lists_are_cut():
    text = repr(ActionSet(np.eye(120), bounds={-1: (0, None)}))
    assert len(text.splitlines()) == 103
    assert text.endswith("... and 20 more columns")
    short = repr(ActionSet(np.eye(2), bounds={-1: (0, None)}))
    assert [" ".join(line.split()) for line in short.splitlines()[2:]] == [
        "0 number anything 1 1",
        "1 number at least 0 1 1",
    ]
