"""Every pin sees what was recorded, and every record would fail if it saw something else."""

import pytest
from tests.pins import pinning


@pytest.mark.slow
@pytest.mark.parametrize("name", pinning.names())
def test_what_is_pinned_is_as_it_was_recorded(name, tmp_path):
    if why := pinning.by_hand(name):
        pytest.skip(f"compared by hand, with make pinned WHICH={name}: {why}")
    lines, reason = pinning.compare(name, tmp_path)
    shown = "\n".join(lines[: pinning.SHOWN])
    assert not lines, f"{len(lines)} differences from tests/pins/records/{name}.json:\n{shown}"
    if reason:
        pytest.skip(reason)


@pytest.mark.parametrize(
    ("before", "now", "exact", "nearly"),
    [
        ({"a": [1.0, 2.0]}, {"a": [1.0, 2.0]}, 0, 0),
        ({"a": [1.0, 2.0]}, {"a": [1.0, 2.0000000001]}, 1, 0),
        ({"a": [1.0, 2.0]}, {"a": [1.0, 2.1]}, 1, 1),
        ({"a": float("nan")}, {"a": float("nan")}, 0, 0),
        ({"a": float("nan")}, {"a": 0.0}, 1, 1),
        ({"a": "digest:1"}, {"a": "digest:2"}, 1, 0),
        ({"a": "found"}, {"a": "not found"}, 1, 1),
        ({"a": 1}, {"a": True}, 1, 1),
        ({"a": 1}, {"b": 1}, 2, 2),
        ([1, 2], [1, 2, 3], 1, 1),
        ({"here: a": 1}, {"here: a": 2}, 1, 0),
        ({"here: a": 1}, {}, 1, 1),
        ({"a": {"b": 1}}, {"a": pinning.ABSENT}, 0, 0),
    ],
)
def test_differences_are_seen(before, now, exact, nearly):
    assert len(pinning.differences(before, now, exact=True)) == exact
    assert len(pinning.differences(before, now, exact=False)) == nearly


def test_what_cannot_be_seen_is_named_and_not_recorded(monkeypatch):
    seen = {"a": {"b": pinning.ABSENT, "c": 1}, "d": [0, pinning.ABSENT]}
    assert pinning.absent(seen) == ["a > b", "d > 1"]
    monkeypatch.setattr(pinning, "observe", lambda *_: seen)
    with pytest.raises(SystemExit, match="a > b, d > 1"):
        pinning.record("profiles")


def test_every_pin_has_a_record_and_all_of_them_are_small():
    files = list((pinning.FOLDER / "records").iterdir())
    assert {file.stem for file in files if file.suffix == ".json"} == set(pinning.names())
    assert sum(file.stat().st_size for file in files) < 400_000
