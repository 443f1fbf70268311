"""No clock ends promises for good: what expires follows from the day, and a clock that is wrong writes nothing."""

from datetime import UTC, datetime, timedelta

import pytest

from robust_recourse.ledger import Ledger, LedgerClockError

from .conftest import UNTIL, stricter


class Standing:
    """A clock that stands still until it is set."""

    def __init__(self):
        self.now = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Standing()


@pytest.fixture
def state(ledger):
    """Everything that is kept, as nobody's clock changes it."""

    def read():
        today = Ledger(ledger._database.url, clock=lambda: datetime(2026, 11, 16, 13, tzinfo=UTC))
        return today.head, today.counts(), today.history()

    return read


def writes(ledger, found, people, method, broken, newer):
    """Everything that writes, and the gate."""
    return {
        "check": lambda: ledger.check(stricter, name="next"),
        "dry check": lambda: ledger.check(stricter, name="next", dry_run=True),
        "record": lambda: ledger.record(
            found, people=people, model="m", method=method, until="2199-01-01", replace=True
        ),
        "check_until": lambda: ledger.check_until("2199-01-01"),
        "fulfil": lambda: ledger.fulfil("id0", found.x.iloc[0]),
        "withdraw": lambda: ledger.withdraw("id0", reason="moved abroad"),
        "renew": lambda: ledger.renew(broken, newer, until="2199-01-01"),
        "forget": lambda: ledger.forget("id0"),
    }


@pytest.mark.parametrize("wrong", ["2099-01-01", "2027-11-18", "2026-11-15", "1970-01-01"])
def test_a_wrong_clock_changes_nothing(ledger, record, found, people, method, table, clock, state, wrong):
    record()
    broken = ledger.check(stricter, name="2027-01")
    before, newer = state(), broken.same_method(table)
    clock.now = datetime.fromisoformat(f"{wrong}T12:00:00+00:00")
    for what, write in writes(ledger, found, people, method, broken, newer).items():
        with pytest.raises(LedgerClockError) as error:
            write()
        text = str(error.value)
        assert f"{wrong} 12:00:00 UTC" in text, what
        assert "2026-11-16 12:00:00 UTC" in text, what
        assert "Set the clock of this machine right" in text, what
    assert state() == before
    assert before[1]["open"] == 12
    clock.now = datetime(2026, 11, 16, 12, 1, tzinfo=UTC)
    assert len(ledger.check(stricter, name="next")) == 12


@pytest.mark.parametrize(
    ("off", "fine"),
    [
        (timedelta(minutes=-4), True),
        (timedelta(minutes=-6), False),
        (timedelta(days=365), True),
        (timedelta(days=367), False),
    ],
)
def test_how_far_a_clock_may_be_off(ledger, record, clock, off, fine):
    record(until="2099-12-31")
    clock.now += off
    if fine:
        assert len(ledger.check(stricter, name="next")) == 12
        assert ledger.verify() == []
        return
    with pytest.raises(LedgerClockError):
        ledger.check(stricter, name="next")
    with pytest.raises(LedgerClockError):
        ledger.withdraw("id0", reason="moved abroad")
    assert ledger.head.number == 13


def test_an_empty_ledger_takes_every_clock(ledger, record, clock):
    clock.now = datetime(2099, 1, 1, tzinfo=UTC)
    assert len(ledger.check(stricter, name="next", dry_run=True)) == 0
    assert len(record(until="2099-12-31").promises) == 12


def test_what_expires_is_written_nowhere(ledger, record, clock):
    record()
    head = ledger.head
    late = Ledger(ledger._database.url, clock=lambda: datetime(2027, 6, 1, tzinfo=UTC))
    assert late.counts() == {"open": 0, "fulfilled": 0, "withdrawn": 0, "expired": 12, "renewed": 0}
    assert len(late.check(stricter, name="late")) == 0
    assert ledger.head.number == head.number + 1  # the check
    assert ledger.counts()["open"] == 12
    assert len(ledger.promises()) == 12
    assert late.history("id0")[0]["status"] == "expired"
    assert late.receipt(2).promise["status"] == "expired"
    assert late.timeline()["expired"].tolist()[-1] == 12
    assert ledger.timeline()["expired"].sum() == 0
    clock.now = datetime(2027, 5, 31, 23, 59, tzinfo=UTC)
    assert len(ledger.promises()) == 12


def test_entries_of_earlier_releases_that_end_promises_end_them_no_more(ledger, record, clock):
    """They wrote one for every promise that had expired by whatever clock a check had."""
    record()
    with ledger._source.writing() as (_, book):
        for number in range(2, 14):
            book.add("expired", {"until": UNTIL}, about=number)
    assert ledger.verify() == []
    assert ledger.counts()["open"] == 12
    assert len(ledger.check(stricter, name="next")) == 12
    assert ledger.withdraw("id0", reason="moved abroad")
    assert [event["event"] for event in ledger.history("id0")[0]["events"]] == ["expired", "checked", "withdrawn"]
    assert ledger.timeline()["expired"].sum() == 0
    clock.now = datetime(2027, 6, 1, tzinfo=UTC)
    assert ledger.counts()["expired"] == 11


def test_a_ledger_that_rested_for_years_goes_on(ledger, record, clock):
    record(until="2099-12-31")
    clock.now = datetime(2030, 1, 1, tzinfo=UTC)
    patient = Ledger(ledger._database.url, clock=clock, max_gap=timedelta(days=2000))
    assert len(patient.check(stricter, name="dry", dry_run=True)) == 12
    with pytest.raises(LedgerClockError):
        ledger.check(stricter, name="next")
    number = ledger.confirm_clock(reason="no promise was made for three years")
    assert number == ledger.head.number == 14
    assert len(ledger.check(stricter, name="next")) == 12
    assert ledger.verify() == []


def test_a_clock_that_was_wrong_and_is_right_again_is_explained(ledger, record, clock, found, people):
    record(found=found[:6], people=people[:6], until="2099-12-31")
    clock.now = datetime(2027, 10, 1, tzinfo=UTC)  # a year too early, which nobody can see
    record(found=found[6:], people=people[6:], until="2099-12-31")
    clock.now = datetime(2026, 11, 17, tzinfo=UTC)
    with pytest.raises(LedgerClockError, match="more than 5 minutes before the last entry"):
        ledger.check(stricter, name="next")
    ledger.confirm_clock(reason="the clock of one machine was wrong on 17 November")
    assert len(ledger.check(stricter, name="next")) == 12
    assert ledger.verify() == []
    with pytest.raises(ValueError, match="reason"):
        ledger.confirm_clock(reason=" ")


def test_times_that_run_backwards_are_reported_until_they_are_explained(ledger, record, clock, found, people):
    """As earlier releases could record them."""
    record(found=found[:6], people=people[:6])
    clock.now -= timedelta(days=1)
    with ledger._source.writing(at_any_time=True) as (_, book):
        number = book.add("withdrawn", about=2, person="id0", data='{"reason": "moved abroad"}')
    clock.now += timedelta(minutes=3)
    assert [flaw.number for flaw in ledger.verify()] == [number]
    assert "is before that of the entry before" in ledger.verify()[0].why
    with pytest.raises(ValueError, match=f"entry {number}: its time"):
        ledger.check(stricter, name="next")
    ledger.confirm_clock(reason="the clock was put back on 15 November")
    assert ledger.verify() == []
    record(found=found[6:], people=people[6:])
    assert len(ledger.check(stricter, name="next")) == 11


def test_a_gap_is_a_time_of_a_day_or_more(tmp_path):
    with pytest.raises(TypeError, match="max_gap must be a timedelta, got int"):
        Ledger(tmp_path / "p.db", max_gap=366)
    with pytest.raises(ValueError, match="max_gap must be at least one day"):
        Ledger(tmp_path / "p.db", max_gap=timedelta(minutes=5))
