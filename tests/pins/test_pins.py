"""Every pin sees what was recorded, and every record would fail if it saw something else."""

import pytest
from tests.pins import pinning


@pytest.mark.slow
@pytest.mark.parametrize("name", pinning.names())
def test_what_is_pinned_is_as_it_was_recorded(name, tmp_path):
    record, here = pinning.recorded(name), pinning.made_with()
    exact = record["made_with"] == here
    lines = pinning.differences(record["seen"], pinning.observe(name, tmp_path), exact=exact)
    shown = "\n".join(lines[: pinning.SHOWN])
    assert not lines, f"{len(lines)} differences from tests/pins/records/{name}.json:\n{shown}"
    if not exact and pinning.has_digests(record["seen"]):
        other = {key: (value, here[key]) for key, value in record["made_with"].items() if here[key] != value}
        pytest.skip(f"all but digests agrees, which were recorded with (here with): {other}")


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
    ],
)
def test_differences_are_seen(before, now, exact, nearly):
    assert len(pinning.differences(before, now, exact=True)) == exact
    assert len(pinning.differences(before, now, exact=False)) == nearly
