"""What a person keeps of a promise."""

from __future__ import annotations

import pytest

from robust_recourse.ledger import LedgerError


def test_a_receipt_proves_what_was_promised(ledger, record, people, sql):
    recorded = record()
    number = recorded.promises[people[2]]
    receipt = ledger.receipt(number)
    [story] = ledger.history(people[2])
    assert receipt.promise == story
    assert receipt.intact
    assert receipt.has(receipt.code)
    assert receipt.has(receipt.code.replace("-", " ").lower())
    assert not receipt.has("")
    assert not receipt.has(ledger.receipt(recorded.promises[people[1]]).code)
    sql("UPDATE ledger_personal SET data = replace(data, 'income', 'outcome') WHERE number = :n", n=number)
    assert ledger.receipt(number).intact is ("income" not in str(story["notice"]))


def test_numbers_that_are_no_promises(ledger, record, people):
    recorded = record()
    for number in (1, 10**6):  # the first entry is that of the run
        with pytest.raises(LedgerError, match=f"no promise {number}"):
            ledger.receipt(number)
    ledger.forget(people[0])
    with pytest.raises(LedgerError, match="no promise"):
        ledger.receipt(recorded.promises[people[0]])
    with pytest.raises(ValueError, match="at least 1"):
        ledger.receipt(0)


def test_only_the_promise_that_is_meant_is_fulfilled(ledger, record, found, people):
    first = record()
    row = found.x.iloc[0]
    with pytest.raises(LedgerError, match="is open no more"):
        ledger.fulfil(people[0], row, promise=first.promises[people[0]] + 1000)
    assert ledger.fulfil(people[0], row, promise=first.promises[people[0]]).fulfilled
