import tomllib

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse.actions import ActionSet
from robust_recourse.actions.toml import read, starting_toml

FRAME = pd.DataFrame(
    {
        "amount": [250, 18424, 1000, 2400],
        "used": [0.5, 1.25, 3.0, 2.0],
        "sex": ["f", "m", "f", "m"],
        "education": ["none", "school", "college", "none"],
        "car": [True, False, True, True],
        "credit.history": pd.Categorical(["bad", "good", "bad", "good"]),
        'a "quoted"\nname\x7f': [1.5, 2.5, 3.5, 5.5],
        "größe #1": [3, 1, 2, 4],
        "since": pd.date_range("2020-01-01", periods=4),
        "constant": 1.0,
        "day": pd.Categorical(pd.date_range("2020-01-01", periods=4)),
    }
)

EXAMPLE = """\
max_changes = 3
rules = ["used <= amount"]
[columns.amount]
min = 250
max = 20000
step = 50
[columns.sex]
immutable = true
[columns.education]
ordered = ["none", "school", "college"]
direction = "up"
weight = 2.0
[columns."credit.history"]
categories = ["good"]
[columns.used]
min = 0
integer = false
"""


def write(folder, text, **how):
    path = folder / "actions.toml"
    path.write_text(text, encoding="utf-8", **how)
    return path


def test_a_file_says_what_the_arguments_say(tmp_path):
    expected = {
        "immutable": ["sex"],
        "increase": ["education"],
        "bounds": {"amount": (250, 20000), "used": (0, None)},
        "step": {"amount": 50},
        "categories": {"credit.history": ["good"]},
        "ordered": {"education": ["none", "school", "college"]},
        "weights": {"education": 2.0},
        "max_changes": 3,
        "rules": ["used <= amount"],
    }
    path = write(tmp_path, EXAMPLE)
    assert ActionSet.from_toml(path) == ActionSet(**expected)
    known = ActionSet.from_toml(str(path), FRAME)
    assert known == ActionSet(**expected)
    assert known.schema is not None
    assert ActionSet.from_toml(path).schema is None


def test_files_of_other_editors_are_read(tmp_path):
    path = tmp_path / "actions.toml"
    path.write_bytes(b"\xef\xbb\xbf" + EXAMPLE.replace("\n", "\r\n").encode())
    assert ActionSet.from_toml(path) == ActionSet.from_toml(write(tmp_path, EXAMPLE))


def test_a_set_with_training_rows_lists_every_column_with_comments(tmp_path):
    text = ActionSet.from_toml(write(tmp_path, EXAMPLE), FRAME).to_toml()
    tables = tomllib.loads(text)["columns"]
    assert list(tables) == list(FRAME.columns)
    assert tables["car"] == {}
    assert "[columns.amount] # number from 250 to 18,424 in steps of 50; a unit of cost is " in text
    assert "[columns.sex] # category: 'f', 'm'\nimmutable = true\n" in text
    assert "[columns.car] # ordered: False < True\n" in text
    assert "[columns.constant] # never changes: it has the same value" in text


NAMES = st.one_of(
    st.text(min_size=0, max_size=8),
    st.sampled_from(
        ["a.b", '"', "'", "\\", "#", "\n", "x\ty", "\x7f", "[columns]", "größe", "\u2028", "😀", "-1", "7"]
    ),
    st.integers(-3, 50),
)
CELLS = st.one_of(
    st.text(max_size=6), st.integers(-(10**20), 10**20), st.booleans(), st.floats(allow_nan=False, allow_infinity=False)
)
REALS = st.one_of(st.integers(-(10**6), 10**6), st.floats(-1e300, 1e300))
POSITIVE = st.one_of(st.integers(1, 1000), st.floats(1e-20, 1e20))
BOUNDS = st.tuples(REALS, REALS).map(sorted).map(tuple)


@st.composite
def action_sets(draw):
    names = draw(st.lists(NAMES, unique=True, min_size=1, max_size=8))
    some = st.lists(st.sampled_from(names), unique=True)
    ways = draw(some)
    half = draw(st.integers(0, len(ways)))
    listed = draw(some)
    numbers = [name for name in names if name not in listed]
    lists = st.lists(CELLS, min_size=1, max_size=5, unique=True)
    return ActionSet(
        immutable=draw(some),
        increase=ways[:half],
        decrease=ways[half:],
        bounds={
            name: draw(st.one_of(BOUNDS, BOUNDS.map(lambda b: (b[0], None)), BOUNDS.map(lambda b: (-np.inf, b[1]))))
            for name in numbers[::2]
        },
        integer=numbers[1::3],
        step={name: draw(POSITIVE) for name in numbers[::3]},
        categories={name: draw(lists) for name in listed[::2]},
        ordered={name: draw(lists) for name in listed[1::2]},
        weights={name: draw(POSITIVE) for name in draw(some)},
        max_changes=draw(st.none() | st.integers(1, 9)),
        rules=draw(st.lists(st.sampled_from(["a <= b", '`say "hi"` > 3', "`a\\b` <= `größe`\n + 1"]), unique=True)),
    )


@settings(deadline=None, max_examples=40)
@given(action_sets())
def test_what_is_written_is_read_back(tmp_path_factory, actions):
    path = tmp_path_factory.getbasetemp() / "round.toml"
    path.write_text(actions.to_toml(), encoding="utf-8", newline="")
    assert ActionSet.from_toml(path) == actions


def test_numbers_of_numpy_are_written_as_numbers(tmp_path):
    actions = ActionSet(
        immutable=[np.int64(2)],
        bounds={"a": (np.float64(0.1), np.int64(3))},
        weights={"b": np.float32(0.5)},
        categories={"b": [np.int64(3), np.str_("x"), np.True_]},
    )
    assert "np." not in actions.to_toml()
    back = ActionSet.from_toml(write(tmp_path, actions.to_toml()))
    assert back == actions
    assert back.immutable == [2]


@pytest.mark.parametrize(
    ("actions", "error", "match"),
    [
        (ActionSet(immutable=[("a", 1)]), TypeError, "names columns by texts or positions, not by \\('a', 1\\)"),
        (ActionSet(categories={"a": [pd.Timestamp(0)]}), TypeError, "TOML has no Timestamp"),
        (ActionSet(bounds={"a": (2, 1)}), ValueError, "is empty"),
        (ActionSet(immutable=["\ud800"]), ValueError, "cannot be written"),
    ],
)
def test_what_cannot_be_written_is_refused(actions, error, match):
    with pytest.raises(error, match=match):
        actions.to_toml()


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (
            "[columns.a]\nimutable = true",
            r"unknown key 'imutable' in \[columns.a\]; did you mean immutable\?; the keys",
        ),
        (
            "[columns.a]\nbounds = [1, 2]",
            r"unknown key 'bounds' in \[columns.a\]; write min = ... and max = ...; the keys",
        ),
        (
            "[columns.a]\nzzz = 1",
            "the keys there are 'immutable', 'direction', 'min', 'max', 'integer', 'step', 'categories', 'ordered'",
        ),
        ("[columns.credit.history]\nmin = 1", r'put a name with a dot in quotes, \[columns."credit.history"\]'),
        ("[amount]\nmin = 1", r"unknown key 'amount' at the top; write \[columns.amount\]"),
        ("max_change = 3", "unknown key 'max_change' at the top; did you mean max_changes"),
        ("max_changes = 2.5", "max_changes must be a whole number, got 2.5"),
        ("max_changes = true", "max_changes must be a whole number, got true"),
        ("max_changes = 0", "max_changes must be at least 1"),
        ('rules = "a <= b"', 'rules must be a list of texts, got "a <= b"'),
        ("rules = [1]", r"rules must be a list of texts, got \[1\]"),
        ('rules = ["a * b <= 1"]', "rules are linear"),
        ("columns = 3", "columns must be a table, got 3"),
        ("[columns]\na = 3", r"\[columns.a\] must be a table, got 3"),
        ("[[columns]]\na = 3", "columns must be a table"),
        ("[columns.a]\nimmutable = 1", r"\[columns.a\]: immutable must be true or false, got 1"),
        ('[columns.a]\nimmutable = "yes"', 'immutable must be true or false, got "yes"'),
        ('[columns.a]\ndirection = "left"', r'\[columns.a\]: direction must be "up" or "down", got "left"'),
        ("[columns.a]\ndirection = []", r'direction must be "up" or "down", got \[\]'),
        ('[columns."a b"]\nmin = "3"', r'\[columns."a b"\]: min must be a number, got "3"'),
        ("[columns.a]\nmax = true", "max must be a number, got true"),
        ("[columns.a]\nmin = nan", r"bounds\['a'\]\[0\] must be finite"),
        ("[columns.a]\nmin = 3\nmax = 2", "low bound 3 is above its high bound 2"),
        ("[columns.a]\nstep = -1", r"step\['a'\] must be greater than 0"),
        ("[columns.a]\nweight = 0", r"weights\['a'\] must be greater than 0"),
        ('[columns.a]\ncategories = "x"', 'categories must be a list of values, got "x"'),
        ("[columns.a]\nordered = [[1]]", r"ordered must be a list of values, got \[\[1\]\]"),
        ("[columns.a]\nordered = [2020-01-01, [1]]", "ordered must be a list of values"),
        ("[columns.a]\ncategories = []", "is empty"),
        ("[positions.a]\nmin = 3", r"\[positions.a\]: positions are whole numbers, got 'a'"),
        ("[columns.a\nmin = 3", "this is no TOML file: .*line 1"),
        ("[columns.a]\n[columns.a]", "this is no TOML file"),
        ("rules = " + 5000 * "[" + 5000 * "]", "its values are nested too deeply"),
        (
            "[columns.a]\nmin = 1" + 400 * "0",
            r"bounds\['a'\]\[0\] must be finite, got 1e400 or so",
        ),
    ],
)
def test_mistakes_are_named_with_the_file(tmp_path, text, match):
    path = write(tmp_path, text)
    with pytest.raises(ValueError, match=match) as error:
        ActionSet.from_toml(path)
    assert str(error.value).startswith(f"{path}: ")
    assert str(error.value).count(str(path)) == 1


def test_mistakes_about_the_columns_are_named_with_the_file(tmp_path):
    path = write(tmp_path, "[columns.height]\nmin = 3")
    with pytest.raises(ValueError, match=r"actions\.toml: actions.bounds names column 'height', which is not there"):
        ActionSet.from_toml(path, FRAME)


def test_a_file_that_is_no_text_or_not_there_is_named(tmp_path):
    path = tmp_path / "actions.toml"
    path.write_bytes(b"a = \xff")
    with pytest.raises(ValueError, match=r"actions\.toml: this is no TOML file"):
        ActionSet.from_toml(path)
    with pytest.raises(FileNotFoundError, match=r"nothing\.toml"):
        ActionSet.from_toml(tmp_path / "nothing.toml")


def test_an_empty_file_restricts_nothing(tmp_path):
    assert ActionSet.from_toml(write(tmp_path, "")) == ActionSet()
    assert ActionSet.from_toml(write(tmp_path, ActionSet().to_toml())) == ActionSet()


def test_a_starting_file_restricts_nothing_and_lists_every_column(tmp_path):
    text = starting_toml(FRAME)
    assert list(tomllib.loads(text)["columns"]) == list(FRAME.columns)
    assert ActionSet.from_toml(write(tmp_path, text), FRAME) == ActionSet()
    assert "[columns.amount] # number from 250 to 18,424 in steps of 1; a unit of cost is" in text


def suggestions(text):
    body = text[text.index("\n\n") :]
    return [line for line in body.splitlines() if line.startswith("# ") and "used <= limit" not in line]


def test_each_line_of_a_starting_file_can_be_taken_in(tmp_path):
    text = starting_toml(FRAME)
    body = text.index("\n\n")
    lines = suggestions(text)
    assert len(lines) > 20
    position = body
    for line in lines:
        position = text.index(f"\n{line}\n", position)
        chosen = text[:position] + f"\n{line[2:]}\n" + text[position + len(line) + 2 :]
        assert ActionSet.from_toml(write(tmp_path, chosen), FRAME) != ActionSet()
        position += 1


def test_arrays_have_positions(tmp_path):
    actions = ActionSet(np.eye(3), immutable=[0], bounds={-1: (0, None)})
    assert tomllib.loads(actions.to_toml()) == {"positions": {"0": {"immutable": True}, "-1": {"min": 0}}}
    assert ActionSet.from_toml(write(tmp_path, actions.to_toml()), np.eye(3)) == actions


def test_reading_gives_plain_arguments(tmp_path):
    found = read(write(tmp_path, "[columns.a]\ndirection = 'down'\nmax = 3"))
    assert found["decrease"] == ["a"]
    assert found["bounds"] == {"a": (None, 3)}
