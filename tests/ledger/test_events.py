import re

import pandas as pd
import pytest

from robust_recourse.ledger import Ledger, LedgerError
from robust_recourse.ledger.address import read_address, shown

from .conftest import stricter


def test_what_was_promised_is_fulfilled(ledger, record, found):
    record()
    outcome = ledger.fulfil("id1", found.x.iloc[1])
    assert outcome.fulfilled
    assert outcome.exactly
    assert outcome.moved == ()
    assert ledger.promises("fulfilled")["person"].tolist() == ["id1"]
    with pytest.raises(LedgerError, match="no open promise to 'id1': that of 2026-11-16 was fulfilled"):
        ledger.fulfil("id1", found.x.iloc[1])
    assert ledger.verify() == []


def test_what_is_better_is_fulfilled_too(ledger, record, found):
    record()
    raised = int((found.x["income"] > found.x0["income"]).to_numpy().argmax())
    row = found.x.iloc[raised].copy()
    row["income"] += 100
    outcome = ledger.fulfil(f"id{raised}", row.to_dict())
    assert outcome.fulfilled
    assert not outcome.exactly
    assert outcome.columns.set_index("column").loc["income", "outcome"] == "better"


def test_what_falls_short_is_not_recorded(ledger, record, found):
    record()
    head = ledger.head
    raised = int((found.x["income"] > found.x0["income"]).to_numpy().argmax())
    row = found.x.iloc[[raised]].copy()
    row["income"] -= 1
    row["owner"] = ~row["owner"].astype(bool)
    outcome = ledger.fulfil(f"id{raised}", row)
    assert not outcome.fulfilled
    assert outcome.moved == ("owner",)
    assert repr(outcome) == "Fulfilment(short of it)"
    assert ledger.head == head
    assert len(ledger.promises()) == 12


def test_another_category_is_not_better(ledger, record, found):
    record()
    switched = (found.x["job"] != found.x0["job"]).to_numpy()
    assert switched.any()
    place = int(switched.argmax())
    row = found.x.iloc[place].copy()
    row["job"] = found.x0["job"].iloc[place]
    assert not ledger.fulfil(f"id{place}", row).fulfilled


def test_a_row_must_have_the_columns_of_the_promise(ledger, record, found):
    record()
    with pytest.raises(LedgerError, match="lacks the column 'income'"):
        ledger.fulfil("id1", found.x.iloc[1].drop("income"))
    with pytest.raises(LedgerError, match="one row, got 2"):
        ledger.fulfil("id1", found.x.iloc[:2])
    with pytest.raises(LedgerError, match="must have the 6 columns"):
        ledger.fulfil("id1", [1, 2])


def test_a_withdrawn_promise_says_why(ledger, record):
    record()
    number = ledger.withdraw("id7", reason="moved abroad")
    [event] = ledger.history("id7")[0]["events"]
    assert (event["entry"], event["event"], event["reason"]) == (number, "withdrawn", "moved abroad")
    with pytest.raises(LedgerError, match="reason"):
        ledger.withdraw("id8", reason="")


@pytest.mark.parametrize("what", ["fulfil", "withdraw", "forget", "history"])
def test_an_unknown_person_is_named_and_nothing_is_recorded(ledger, record, found, what):
    record()
    head = ledger.head
    calls = {
        "fulfil": lambda: ledger.fulfil("nobody", found.x.iloc[0]),
        "withdraw": lambda: ledger.withdraw("nobody", reason="?"),
        "forget": lambda: ledger.forget("nobody"),
        "history": lambda: ledger.history("nobody"),
    }
    with pytest.raises(LedgerError, match="'nobody'"):
        calls[what]()
    assert ledger.head == head


def test_a_forgotten_person_leaves_no_trace_but_a_tombstone(ledger, record, people, sql, tmp_path):
    record(people=["secret-person", *people[1:]], notices=["secret-text", *people[1:]])
    ledger.withdraw("secret-person", reason="secret-reason")
    rows = ledger.check(stricter, name="2027-01")
    assert ledger.forget("secret-person") == 2
    assert ledger.verify() == []
    with pytest.raises(LedgerError, match="knows nothing of 'secret-person'"):
        ledger.forget("secret-person")
    for table in ("entries", "personal", "blocks", "head"):
        assert "secret" not in str(sql(f"SELECT * FROM ledger_{table}"))
    for path in tmp_path.glob("promises.db*"):
        assert b"secret" not in path.read_bytes(), path
    assert sql("SELECT count(*) FROM ledger_personal") == [(11,)]
    assert len(ledger.promises(None)) == 11
    assert len(rows.kept) + len(rows.broken) == 11
    # Whoever comes back is a new person.
    assert len(record(people=["secret-person", *people[1:]]).promises) == 1
    assert ledger.verify() == []


def test_the_row_of_a_forgotten_person_is_erased_from_the_blocks(ledger, record, found, sql):
    record()
    needle = found.x["debt"].iloc[5].tobytes() if hasattr(found.x["debt"].iloc[5], "tobytes") else b""
    contents = lambda: b"".join(bytes(content) for (content,) in sql("SELECT content FROM ledger_blocks"))  # noqa: E731
    assert needle in contents()
    assert (found.x["debt"] == found.x["debt"].iloc[5]).sum() == 1
    ledger.forget("id5")
    assert needle not in contents()
    assert ledger.check(stricter, name="next").share == stricter(found.x.drop(index=found.x.index[5])).mean()


def test_the_timeline_counts_what_happened_in_every_month(ledger, record, found, people, clock):
    record(found=found[:8], people=people[:8])
    clock.on("2027-01-10")
    record(found=found[8:], people=people[8:], until="2027-01-31")
    ledger.withdraw("id0", reason="moved abroad")
    ledger.fulfil("id1", found.x.iloc[1])
    check = ledger.check(stricter, name="2027-01")
    clock.on("2027-02-03")
    ledger.forget("id2")
    frame = ledger.timeline()
    assert [str(month) for month in frame.index] == ["2026-11", "2026-12", "2027-01", "2027-02"]
    assert frame["made"].tolist() == [8, 0, 4, 0]
    assert frame["withdrawn"].tolist() == [0, 0, 1, 0]
    assert frame["fulfilled"].tolist() == [0, 0, 1, 0]
    assert frame["expired"].tolist() == [0, 0, 0, 4]
    assert frame["kept"].tolist()[2] == check.n_kept
    assert frame["broken"].tolist()[2] == check.n_broken
    assert pd.isna(frame["kept"].iloc[0])


def test_an_empty_ledger_has_an_empty_timeline(ledger):
    assert len(ledger.timeline()) == 0
    assert ledger.verify() == []


def test_passwords_are_never_shown():
    secret = "postgresql+psycopg://me:s3cret@localhost:1/promises?sslpassword=s3cret&connect_timeout=1"
    ledger = Ledger(secret)
    assert "s3cret" not in repr(ledger)
    with pytest.raises(LedgerError) as error:
        ledger.verify()
    chain = [error.value]
    while chain[-1].__cause__ is not None:
        chain.append(chain[-1].__cause__)
    assert not any("s3cret" in str(one) for one in chain)
    assert "localhost" in str(error.value)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("mysql://me:s3cret@localhost/x", "SQLite or in PostgreSQL, not in mysql"),
        ("sqlite://", "must outlive the process"),
        (":memory:", "must outlive the process"),
        ("http//s3cret://", "cannot be read"),
    ],
)
def test_addresses_that_are_none(where, message):
    with pytest.raises(LedgerError, match=message) as error:
        Ledger(where)
    assert "s3cret" not in str(error.value)


def test_a_url_of_any_kind_is_read():
    assert shown(read_address("folder/promises.db")) == "folder/promises.db"
    assert shown(read_address("sqlite:///folder/promises.db")) == "folder/promises.db"
    assert re.search("psycopg", str(read_address("postgres://localhost/promises")))
    with pytest.raises(TypeError, match="a path or a URL"):
        Ledger(7)


def test_the_clock_has_a_zone(tmp_path):
    import datetime

    with pytest.raises(ValueError, match="zone"):
        Ledger(tmp_path / "p.db", clock=lambda: datetime.datetime(2026, 1, 1)).withdraw("a", reason="b")
