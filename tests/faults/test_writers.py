"""The same command, started twice: one works, the other is told so, and nobody gets another person's recourse."""

import pytest

from .conftest import COMMANDS, INT, KEPT, KILL


@pytest.mark.parametrize("name", COMMANDS)
def test_the_second_is_told_who_the_first_is(desk, whole, name):
    running = desk.waiting(name)
    for _ in range(2):
        second = desk.run(name, code=2)
        assert second.err().count("\n") == 1
        where = "tuned.toml.parts" if name == "tune" else KEPT[name]
        assert f"{where} is in use: process {running.process} on " in second.err()
    desk.go()
    assert running.wait() == 0
    assert desk.result(name) == whole(name)[0]
    assert desk.tidy(name)


@pytest.mark.parametrize("number", [INT, KILL])
@pytest.mark.parametrize("name", COMMANDS)
def test_started_twice_stopped_and_run_again(desk, whole, name, number):
    running = desk.waiting(name)
    desk.run(name, code=2)
    running.signal(number)
    assert running.wait() in (130, -KILL)
    desk.run(name)
    assert desk.result(name) == whole(name)[0]
    assert desk.tidy(name)


def test_other_settings_for_the_same_file_wait_too(desk, whole):
    running = desk.waiting("explain")
    assert "is in use" in desk.run("explain", "--n-recourses", "2", code=2).err()
    desk.go()
    assert running.wait() == 0
    assert desk.result("explain") == whole("explain")[0]
