"""The service is what its description says: schemathesis attacks it by that."""

from __future__ import annotations

import pytest

schemathesis = pytest.importorskip("schemathesis")

from hypothesis import HealthCheck, Phase, given, settings  # noqa: E402
from schemathesis.checks import CHECKS, load_all_checks  # noqa: E402

pytestmark = pytest.mark.slow
load_all_checks()
CALLS = ["recourse", "verdict", "schema", "notice", "promise", "promise-read", "promise-fulfil", "people", "healthz"]
CALLS += ["readyz", "metrics"]
PLAIN = {"schema", "healthz", "readyz", "metrics"}  # which take nothing that could be wrong
MODES = [
    (mode, name) for mode in schemathesis.GenerationMode for name in CALLS if mode.is_positive or name not in PLAIN
]


@pytest.fixture(scope="module")
def operations(client):
    """The calls by their names."""
    found = schemathesis.openapi.from_url(str(client.base_url.join("/openapi.json")))
    known = [operation.ok() for operation in found.get_all_operations()]
    return {operation.definition.raw["operationId"]: operation for operation in known}


def test_all_calls_are_attacked(operations):
    assert list(operations) == CALLS


@pytest.mark.parametrize(("mode", "name"), MODES)
def test_the_description_is_kept(operations, mode, name):
    # Not everything that the lender refuses can be said in a schema, such as a range that is empty.
    excluded = CHECKS.get_by_names(["positive_data_acceptance"])

    @settings(
        max_examples=25,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(case=operations[name].as_strategy(generation_mode=mode))
    def attack(case):
        case.call_and_validate(excluded_checks=excluded, timeout=60)

    attack()
