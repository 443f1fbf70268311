"""What the command line says: never a traceback, nothing that a terminal or a spreadsheet would obey."""

import pandas as pd
import pytest

from .conftest import FILES

HUGE, LONG, DEEP = "9" * 400, "9" * 5000, "[" * 5000 + "]" * 5000
METHOD = 'method = "robust"\n[parameters]\nsigma = '
OPTIONS = {
    "a huge number": (["--set", f"sigma={HUGE}"], "--set"),
    "a longer number": (["--set", f"n_samples={LONG}"], "--set n_samples=9"),
    "a deep list": (["--set", f"sigma={DEEP}"], "--set sigma=["),
    "more samples than fit": (["--set", "n_samples=1000000000000000"], "n_samples must be at most 1e+06"),
    "no number of processes": (["--jobs", "0"], "--jobs"),
    "too many processes": (["--jobs", HUGE], "--jobs"),
}


def said(desk, *more, code=2, files=FILES, refused="refused.csv"):
    command = f"explain {files} --refused {refused} --label outcome --id person --out out.csv".split()
    running = desk.start("explain", command=[*command, *more])
    assert running.wait() == code, running.err()
    assert "Traceback" not in running.err()
    *_, line = running.err().splitlines()
    assert len(line) < 1000
    return line


@pytest.mark.parametrize("what", OPTIONS)
def test_options_beyond_all_limits(desk, what):
    options, words = OPTIONS[what]
    assert words in said(desk, *options)


@pytest.mark.parametrize("value", [HUGE, LONG, DEEP], ids=["huge", "long", "deep"])
def test_settings_beyond_all_limits_name_their_file(desk, value):
    (desk.folder / "tuned.toml").write_text(METHOD + value, encoding="utf-8")
    assert "tuned.toml" in said(desk, "--settings", "tuned.toml")


@pytest.mark.parametrize("text", [f"rules = {DEEP}", f"max_changes = {LONG}"], ids=["deep", "long"])
def test_action_sets_beyond_all_limits_name_their_file(desk, text):
    (desk.folder / "actions.toml").write_text(text, encoding="utf-8")
    assert "actions.toml" in said(desk)


@pytest.mark.parametrize("terms", [1000, 3000])
def test_a_rule_of_many_terms(desk, terms):
    rule = " + ".join(["income"] * terms)
    (desk.folder / "actions.toml").write_text(f'rules = ["{rule} <= 9000000"]\n', encoding="utf-8")
    command = f"explain {FILES} --refused refused.csv --label outcome --id person --out out.csv --method nearest"
    running = desk.start("explain", command=command.split())
    assert running.wait() in (0, 2)
    assert "Traceback" not in running.err()
    assert running.err() == "" or "actions.toml" in running.err()


@pytest.mark.parametrize("number", [HUGE, f"-{HUGE}", LONG])
def test_a_number_in_a_table_beyond_all_limits_names_its_line(desk, number):
    people = pd.read_csv(desk.folder / "refused.csv", dtype=str)
    people.loc[3, "months"] = number
    people.to_csv(desk.folder / "refused.csv", index=False)
    assert said(desk).startswith("robust-recourse: refused.csv, line 5: ")


@pytest.mark.parametrize("text", [f"instances = {DEEP}", f"instances = {LONG}", f"train_share = {HUGE}"])
def test_an_experiment_beyond_all_limits_names_its_file(desk, text):
    path = desk.folder / "small.toml"
    path.write_text(text + "\n" + path.read_text(encoding="utf-8").replace("instances = 4", ""), encoding="utf-8")
    running = desk.start("experiment")
    assert running.wait() == 2, running.err()
    assert running.err().startswith("robust-recourse: small.toml: ")
    assert running.err().count("\n") == 1


ESCAPE = "\x1b]0;owned\x07\x1b[2J"


def test_control_characters_never_reach_the_terminal(desk):
    for name in ("train.csv", "refused.csv"):
        path = desk.folder / name
        path.write_text(path.read_text(encoding="utf-8").replace("months", f"months{ESCAPE}"), encoding="utf-8")
    (desk.folder / "actions.toml").write_text("", encoding="utf-8")
    io = pytest.importorskip("skops.io")
    from sklearn.linear_model import LogisticRegression

    table = pd.read_csv(desk.folder / "train.csv")
    io.dump(LogisticRegression().fit(table.iloc[:, :2], table["outcome"]), desk.folder / "model.skops")
    command = f"explain {FILES} --refused refused.csv --label outcome --id person --out out.csv --method nearest"
    running = desk.start("explain", command=command.split())
    assert running.wait() == 0, running.err()
    with open(running.said + ".out", encoding="utf-8") as file:
        shown = file.read()
    assert "months\\x1b]0;owned" in shown.replace("\n", "") or "\\x1b" in shown
    assert "\x1b" not in shown
    assert "\x07" not in shown
    # Nor in a line that says what is wrong.
    running = desk.start("explain", command=[*command.split(), "--label", f"no{ESCAPE}"])
    assert running.wait() == 2
    assert "\x1b" not in running.err()
    assert "\\x1b" in running.err()
