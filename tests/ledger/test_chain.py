"""Whatever is altered, removed or added behind the back of the ledger is found."""

import pytest

from robust_recourse.ledger import Head
from robust_recourse.ledger.chain import entry_hash

from .conftest import UNTIL, stricter


@pytest.fixture
def full(ledger, record, found, people, method):
    """A ledger with all kinds of entries."""
    record(found=found[:8], people=people[:8], note="first")
    record(found=found[8:], people=people[8:], note="second")
    ledger.fulfil("id0", found.x.iloc[0])
    ledger.withdraw("id1", reason="moved abroad")
    ledger.check(stricter, name="2027-01")
    record(found=found[2:4], people=people[2:4], until="2027-06-30", replace=True)
    ledger.forget("id4")
    ledger.forget("id3")
    assert {promise.run.until.isoformat() for promise in ledger._source.promises()} == {UNTIL, "2027-06-30"}
    assert ledger.verify() == []
    assert method
    return ledger


CELLS = {
    "ledger_entries": ("number", "kind", "about", "made", "facts", "sealed", "previous", "hash"),
    "ledger_personal": ("number", "person", "key", "salt", "data"),
    "ledger_blocks": ("first", "run", "made", "salt", "content"),
    "ledger_head": ("id", "number", "hash"),
}
KEYS = {"ledger_entries": "number", "ledger_personal": "number", "ledger_blocks": "first", "ledger_head": "id"}


def altered(column, value):
    """Other values that a cell may be given."""
    if value is None:
        return [1] if column == "about" else ["", "x"]
    if isinstance(value, int):
        return [value + 1000]
    if isinstance(value, bytes):
        return [value[:-1] + bytes([value[-1] ^ 1])]
    return [value + " ", value[:-1] + ("0" if value[-1:] != "0" else "1")]


def cells(sql, table):
    """One row of every kind, and all of tables that have no kinds: the key, and every cell of it."""
    key = KEYS[table]
    numbers = [number for (number,) in sql(f"SELECT {key} FROM {table} ORDER BY 1")]
    if table == "ledger_entries":
        kinds = dict(sql("SELECT kind, max(number) FROM ledger_entries GROUP BY kind"))
        assert set(kinds) == {"run", "promise", "fulfilled", "withdrawn", "checked", "renewed", "forgotten"}
        numbers = sorted({1, 2, 3, *kinds.values()})
    for number in numbers:
        [row] = sql(f"SELECT {', '.join(CELLS[table])} FROM {table} WHERE {key} = :number", number=number)
        for column, value in zip(CELLS[table], row, strict=True):
            yield number, column, bytes(value) if isinstance(value, memoryview) else value


@pytest.mark.slow
@pytest.mark.parametrize("which", CELLS)
def test_every_single_cell_is_covered(full, sql, which):
    key, n = KEYS[which], 0
    for number, column, value in list(cells(sql, which)):
        for new in altered(column, value):
            change = f"UPDATE {which} SET {column} = :new WHERE {key} = :number"
            assert sql(change, new=new, number=number) == 1
            flaws = full.verify()
            assert flaws, (column, number, new)
            if which != "ledger_head":
                assert number in [flaw.number for flaw in flaws], (column, number, flaws)
            assert sql(change, new=value, number=new if column == key else number) == 1
            n += 1
    assert n >= len(CELLS[which])
    assert full.verify() == []


def test_a_removed_entry_is_named(full, sql):
    [(last,)] = sql("SELECT max(number) FROM ledger_entries")
    for number in (1, 2, 5, last - 1, last):
        [row] = sql("SELECT * FROM ledger_entries WHERE number = :n", n=number)
        assert sql("DELETE FROM ledger_entries WHERE number = :n", n=number) == 1
        assert number in [flaw.number for flaw in full.verify()]
        names = CELLS["ledger_entries"]
        values = dict(zip(names, row, strict=True))
        sql(f"INSERT INTO ledger_entries ({', '.join(names)}) VALUES (:{', :'.join(names)})", **values)
    assert full.verify() == []


@pytest.mark.parametrize("other", ["ledger_personal", "ledger_blocks", "ledger_head"])
def test_other_removed_rows_are_named(full, sql, other):
    table, key = other, KEYS[other]
    [(number,)] = sql(f"SELECT max({key}) FROM {table}")
    sql(f"DELETE FROM {table} WHERE {key} = :n", n=number)
    flaws = full.verify()
    assert len(flaws) == 1
    assert flaws[0].number == (sql("SELECT max(number) FROM ledger_entries")[0][0] if key == "id" else number)
    assert "missing" in str(flaws[0])


def test_added_rows_are_named(full, sql):
    [(last,)] = sql("SELECT max(number) FROM ledger_entries")
    copied = "SELECT number + 1, kind, about, made, facts, sealed, previous, hash FROM ledger_entries WHERE number = :n"
    sql(f"INSERT INTO ledger_entries {copied}", n=last)
    assert last + 1 in [flaw.number for flaw in full.verify()]
    sql("DELETE FROM ledger_entries WHERE number = :n", n=last + 1)
    sql("INSERT INTO ledger_personal SELECT 1, person, NULL, salt, data FROM ledger_personal WHERE number = 2")
    assert [flaw.number for flaw in full.verify()] == [1]
    sql("DELETE FROM ledger_personal WHERE number = 1")
    assert full.verify() == []


def test_two_people_cannot_be_exchanged(full, sql):
    for number, other in ((6, -6), (8, 6), (-6, 8)):
        sql("UPDATE ledger_personal SET number = :new WHERE number = :old", new=other, old=number)
    assert [flaw.number for flaw in full.verify()] == [6, 8]


def test_what_comes_back_after_it_was_erased_is_named(full, sql):
    [(facts,)] = sql("SELECT facts FROM ledger_entries WHERE kind = 'forgotten' ORDER BY number LIMIT 1")
    assert '"entries":[6]' in facts
    sql("INSERT INTO ledger_personal SELECT 6, 'id4', NULL, salt, data FROM ledger_personal WHERE number = 8")
    assert [flaw.number for flaw in full.verify()] == [6]


def test_a_chain_that_was_written_anew_differs_from_a_head_that_was_kept(ledger, record, found, people, sql):
    record(found=found[:5], people=people[:5])
    kept = ledger.head
    record(found=found[5:], people=people[5:])
    assert ledger.verify(kept) == []
    assert [flaw.number for flaw in ledger.verify(Head(kept.number, "0" * 64))] == [kept.number]
    for table in ("ledger_blocks", "ledger_personal", "ledger_entries"):
        sql(f"DELETE FROM {table}")
    sql("UPDATE ledger_head SET number = 0, hash = :first", first="0" * 64)
    assert ledger.verify() == []
    assert [flaw.number for flaw in ledger.verify(kept)] == [kept.number]


def test_more_entries_than_are_read_at_once(ledger, record, monkeypatch):
    monkeypatch.setattr("robust_recourse.ledger.verifying._BATCH", 3)
    monkeypatch.setattr("robust_recourse.ledger.state._BATCH", 3)
    monkeypatch.setattr("robust_recourse.ledger.recording.LARGEST", 5)
    monkeypatch.setattr("robust_recourse.ledger.asking._ROWS", 4)
    record()
    assert ledger.verify() == []
    assert len(ledger.promises()) == 12
    assert len(ledger.check(stricter, name="next")) == 12
    assert ledger.verify() == []


def test_an_entry_that_was_changed_with_its_hash_is_betrayed_by_the_next(full, sql):
    [row] = sql("SELECT number, kind, about, made, facts, sealed, previous FROM ledger_entries WHERE number = 9")
    changed = dict(zip(CELLS["ledger_entries"], row, strict=False))
    changed["made"] = changed["made"].replace(".000000+", ".000001+")
    sql(
        "UPDATE ledger_entries SET made = :made, hash = :hash WHERE number = 9",
        made=changed["made"],
        hash=entry_hash(**changed),
    )
    assert [flaw.number for flaw in full.verify()] == [10]
