"""The gate trusts nothing: whatever is altered behind the back of the ledger, no model is checked against it.

Without a head that was kept elsewhere two alterations look like an honest ledger, whatever is verified: a chain that
was cut off at an entry, with all that belongs to it, and a chain that was written anew as a whole.
"""

import contextlib
import sqlite3

import pytest
import sqlalchemy

from robust_recourse.ledger import Ledger, LedgerDamagedError, LedgerError
from robust_recourse.ledger.chain import entry_hash

from .conftest import accepts, stricter

TABLES = ("ledger_entries", "ledger_personal", "ledger_blocks", "ledger_head", "ledger_version")


def nobody_asks(_):
    raise AssertionError("The model was asked about a ledger that does not add up.")


@pytest.fixture
def full(ledger, record, found, people, monkeypatch):
    """A ledger with all kinds of entries and several blocks."""
    monkeypatch.setattr("robust_recourse.ledger.recording.LARGEST", 5)
    record(found=found[:8], people=people[:8], note="first")
    record(found=found[8:], people=people[8:], note="second")
    ledger.fulfil("id0", found.x.iloc[0])
    ledger.withdraw("id1", reason="moved abroad")
    ledger.check(stricter, name="2027-01")
    record(found=found[2:4], people=people[2:4], until="2027-06-30", replace=True)
    ledger.forget("id4")
    ledger.confirm_clock(reason="for the test")
    assert ledger.check(accepts, name="same", dry_run=True).share == 1.0
    return ledger


class Store:
    """The tables of a ledger as anybody who may write to its database sees them."""

    def __init__(self, where):
        self.url = Ledger(where)._database.url
        self.engine = sqlalchemy.create_engine(self.url, poolclass=sqlalchemy.pool.NullPool)
        with self.engine.connect() as connection:
            inspector = sqlalchemy.inspect(connection)
            assert sorted(inspector.get_table_names()) == sorted(TABLES)
            self.columns = {table: inspector.get_columns(table) for table in TABLES}
            self.keys = {table: inspector.get_pk_constraint(table)["constrained_columns"][0] for table in TABLES}
        self.whole = {table: self.rows(table) for table in TABLES}

    def run(self, *statements):
        with self.engine.begin() as connection:
            if self.url.get_backend_name() == "postgresql":
                connection.exec_driver_sql("SET session_replication_role = replica")
            for statement in statements:
                connection.execute(sqlalchemy.text(statement[0]), statement[1])

    def rows(self, table):
        with self.engine.connect() as connection:
            listed = connection.execute(sqlalchemy.text(f"SELECT * FROM {table} ORDER BY {self.keys[table]}"))
            return [dict(row) for row in listed.mappings()]

    def put(self, table, rows, *, anew=False):
        """Give a table these rows and no others: only what differs is written, or all of it `anew`."""
        names = [column["name"] for column in self.columns[table]]
        insert = f"INSERT INTO {table} ({', '.join(names)}) VALUES (:{', :'.join(names)})"
        if anew:
            self.run((f"DELETE FROM {table}", {}), *((insert, row) for row in rows))
            return
        there, key = self.rows(table), self.keys[table]
        gone = [row[key] for row in there if row not in rows]
        delete = f"DELETE FROM {table} WHERE {key} = :key"
        self.run(*((delete, {"key": k}) for k in gone), *((insert, row) for row in rows if row not in there))

    def restore(self, table, *, anew=False):
        self.put(table, self.whole[table], anew=anew)

    def alterations(self, table):
        """Yield what can be done to the rows of a table, each with its name: all columns, whatever they are called."""
        rows, key = self.whole[table], self.keys[table]
        if table == "ledger_entries":
            chosen = {row["kind"]: place for place, row in enumerate(rows)}  # the last of every kind
            places = sorted({0, 1, *chosen.values()})
        else:
            places = sorted({0, len(rows) // 2, len(rows) - 1})
        for place in places:
            for column in self.columns[table]:
                name, value = column["name"], rows[place][column["name"]]
                for new in [*others(value), *([None] if column["nullable"] and value is not None else [])]:
                    yield f"{name} of row {place} to {new!r}"[:80], changed(rows, {place: {name: new}})
            if place and len(rows) > 1:
                for column in self.columns[table]:
                    name = column["name"]
                    a, b = rows[place - 1][name], rows[place][name]
                    # To exchange two keys is to exchange all the rest.
                    if a != b:
                        yield (
                            f"{name} of rows {place - 1} and {place}",
                            changed(rows, {place - 1: {name: b}, place: {name: a}}),
                        )
            yield f"row {place} is deleted", rows[:place] + rows[place + 1 :]
            yield f"row {place} is there again", [*rows, *copied(rows[place], rows, key)]
        yield "no row is left", []
        yield "the second half is deleted", rows[: len(rows) // 2]


def others(value):
    """Other values that a cell may be given."""
    if value is None:
        return [1, "x"]
    if isinstance(value, int):
        return [value + 1000]
    if isinstance(value, bytes):
        return [value[:-1] + bytes([value[-1] ^ 1]), b""]
    return [value[:-1] + ("0" if value[-1:] != "0" else "1"), "{}"]


def changed(rows, new):
    return [row | new.get(place, {}) for place, row in enumerate(rows)]


def copied(row, rows, key):
    """A row once more, under the next key; keys that must be unique are left out."""
    next_key = max(other[key] for other in rows) + 1 if isinstance(row[key], int) else row[key] + "x"
    return [row | {key: next_key} | ({"key": None} if "key" in row and key != "key" else {})]


@pytest.fixture
def store(full):
    return Store(full._database.url)


def gate(where, clock, head=None):
    """What a release pipeline does."""
    return Ledger(where, create=False, clock=clock).check(nobody_asks, name="next", head=head, dry_run=True)


@pytest.mark.slow
@pytest.mark.parametrize("which", TABLES)
def test_no_alteration_passes(full, store, clock, which):
    where, tried = full._database.url, 0
    opened = Ledger(where, create=False, clock=clock)
    opened.counts()
    for name, rows in store.alterations(which):
        if rows == store.whole[which]:
            continue
        try:
            store.put(which, rows)
        except sqlalchemy.exc.SQLAlchemyError:
            continue  # the database itself does not take it
        tried += 1
        # The schema is read when a ledger is opened.
        ask = (Ledger(where, create=False, clock=clock) if which == "ledger_version" else opened).check
        with pytest.raises(LedgerError) as error:
            ask(nobody_asks, name="next", dry_run=True)
        if which != "ledger_version":  # which has no entries: the schema is named
            assert isinstance(error.value, LedgerDamagedError), (name, error.value)
            assert f"entry {error.value.flaws[0].number}" in str(error.value), name
            assert [flaw.number for flaw in error.value.flaws] == sorted(flaw.number for flaw in error.value.flaws)
        store.restore(which)
    assert tried >= 2 * len(store.columns[which])
    assert Ledger(where, create=False, clock=clock).check(accepts, name="next").share == 1.0


@pytest.mark.parametrize("which", TABLES)
def test_a_dropped_table_does_not_pass(full, store, clock, which):
    cascade = " CASCADE" if store.url.get_backend_name() == "postgresql" else ""
    store.run((f"DROP TABLE {which}{cascade}", {}))
    with pytest.raises(LedgerError) as error:
        gate(full._database.url, clock)
    if which == "ledger_version":
        assert "no ledger in this database" in str(error.value)
    else:
        assert "entry " in str(error.value)
        assert full.verify() == list(error.value.flaws)


@pytest.mark.parametrize("left", [0, 1, 7, 12])
def test_a_chain_that_was_cut_off_is_found_with_a_head_that_was_kept(full, store, clock, left):
    """With everything that belongs to what was cut off: without a head nobody can tell, and promises are lost."""
    where, head = full._database.url, full.head
    hashed = store.whole["ledger_entries"][left - 1]["hash"] if left else "0" * 64
    store.put("ledger_entries", [row for row in store.whole["ledger_entries"] if row["number"] <= left])
    store.put("ledger_personal", [row for row in store.whole["ledger_personal"] if row["number"] <= left])
    store.put("ledger_blocks", [row for row in store.whole["ledger_blocks"] if row["first"] <= left])
    store.put("ledger_head", [{"id": 1, "number": left, "hash": hashed}])
    for kept in (head, str(head), head.hash, head.hash.upper()):
        with pytest.raises(LedgerDamagedError) as error:
            gate(where, clock, kept)
        assert any(flaw.number in (left, head.number) and "kept elsewhere" in flaw.why for flaw in error.value.flaws)
        assert full.verify(kept)
    if left in (0, 1):
        assert full.verify() == []
        assert len(gate(where, clock)) == 0


def test_a_head_that_was_kept_must_be_one_that_is_there(full, clock):
    where, head = full._database.url, full.head
    full.withdraw("id2", reason="moved abroad")
    check = Ledger(where, clock=clock).check(accepts, name="next", head=str(head))
    assert check.share == 1.0
    assert (check.head.number, check.number) == (head.number + 1, head.number + 2)
    assert Ledger(where, clock=clock).check(accepts, name="next", head=head.hash).share == 1.0
    for wrong in (f"{head.number}:{'1' * 64}", "1" * 64, f"{head.number + 1}:{head.hash}", f"99:{head.hash}"):
        with pytest.raises(LedgerDamagedError, match="kept elsewhere"):
            gate(where, clock, wrong)
    for wrong in ("nonsense", f"x:{head.hash}", head.hash[:16], head.hash + "0", 7, ""):
        with pytest.raises(LedgerError, match="head must be NUMBER:HASH"):
            gate(where, clock, wrong)


def test_two_promised_rows_cannot_be_exchanged_as_a_whole(full, store, clock):
    for table, key in (("ledger_personal", "number"), ("ledger_blocks", "first"), ("ledger_entries", "number")):
        rows = store.whole[table]
        a, b = rows[-2], rows[-1]
        store.put(table, [*rows[:-2], {**a, key: b[key]}, {**b, key: a[key]}])
        with pytest.raises(LedgerDamagedError, match=r"entry \d+.* \(the first of \d+ flaws\)"):
            gate(full._database.url, clock)
        store.restore(table)


def test_cells_of_another_type_do_not_pass(tmp_path, clock, found, people, method):
    """SQLite keeps what it is given, in tables that were made anew without types and keys."""
    path = tmp_path / "promises.db"
    ledger = Ledger(path, clock=clock)
    ledger.record(found, people=people, model="m", method=method, until="2027-05-31")
    ledger.withdraw("id1", reason="moved abroad")
    store = Store(str(path))
    for table in TABLES[:-1]:
        names = [column["name"] for column in store.columns[table]]
        store.run(
            (f"CREATE TABLE free ({', '.join(names)})", {}),
            (f"INSERT INTO free SELECT * FROM {table}", {}),
            (f"DROP TABLE {table}", {}),
            (f"ALTER TABLE free RENAME TO {table}", {}),
        )
    assert ledger.verify() == []
    for table in TABLES[:-1]:
        key, rows = store.keys[table], store.whole[table]
        for name in (column["name"] for column in store.columns[table]):
            for cast in ("TEXT", "BLOB", "REAL"):
                value = rows[-1][name]
                if value is None or {int: "INTEGER", str: "TEXT", bytes: "BLOB"}[type(value)] == cast:
                    continue
                if cast == "REAL" and not isinstance(value, int):
                    continue
                store.run(
                    (f"UPDATE {table} SET {name} = CAST({name} AS {cast}) WHERE {key} = :k", {"k": rows[-1][key]})
                )
                with pytest.raises(LedgerDamagedError):
                    gate(str(path), clock)
                store.restore(table, anew=True)
        store.put(table, [*rows, rows[-1]], anew=True)
        with pytest.raises(LedgerDamagedError):
            gate(str(path), clock)
        store.put(table, changed(rows, {0: dict.fromkeys(rows[0])}), anew=True)
        with pytest.raises(LedgerDamagedError):
            gate(str(path), clock)
        store.restore(table, anew=True)
    store.run(("UPDATE ledger_entries SET made = CAST(X'ff' AS TEXT) WHERE number = 3", {}))
    with pytest.raises(LedgerDamagedError, match="entry 3: it was changed"):
        gate(str(path), clock)


@pytest.mark.parametrize("batch", [1, 4, 13])
def test_a_row_that_is_there_twice_is_found_wherever_a_batch_ends(
    tmp_path, clock, found, people, method, monkeypatch, batch
):
    monkeypatch.setattr("robust_recourse.ledger.verifying._BATCH", batch)
    path = tmp_path / "promises.db"
    ledger = Ledger(path, clock=clock)
    ledger.record(found, people=people, model="m", method=method, until="2027-05-31")
    store, rows = Store(str(path)), ledger.head.number
    assert rows == 13
    names = [column["name"] for column in store.columns["ledger_entries"]]
    store.run(
        (f"CREATE TABLE free ({', '.join(names)})", {}),
        ("INSERT INTO free SELECT * FROM ledger_entries", {}),
        ("DROP TABLE ledger_entries", {}),
        ("ALTER TABLE free RENAME TO ledger_entries", {}),
    )
    assert ledger.verify(ledger.head) == []
    whole = store.whole["ledger_entries"]
    for number in (1, 4, 13):
        for about in (None, 2):
            added = whole[number - 1] | {"kind": "withdrawn", "about": about, "facts": "{}"}
            store.put("ledger_entries", [*whole, added], anew=True)
            with pytest.raises(LedgerDamagedError, match=f"entry {number}"):
                gate(str(path), clock, str(ledger.head))


def test_an_index_that_hides_promises_does_not_pass(tmp_path, clock, found, people, method):
    """The tables are as they were, but what is looked up in an index of SQLite is not."""
    path = tmp_path / "promises.db"
    ledger = Ledger(path, clock=clock)
    ledger.record(found, people=people, model="m", method=method, until="2027-05-31")
    head, whole = ledger.head, Store(str(path)).whole
    promises = [row["number"] for row in whole["ledger_entries"] if row["kind"] == "promise"]

    def write(*statements):
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA writable_schema = on")
            for statement in statements:
                connection.execute(*statement)

    index = "UPDATE sqlite_master SET sql = {} WHERE name = 'ledger_entries_kind'"
    copied = "SELECT ?, 'withdrawn', ?, made, facts, sealed, previous, hash FROM ledger_entries WHERE number = ?"
    write(
        *((f"INSERT INTO ledger_entries {copied}", (head.number + k, k, k)) for k in promises),
        (index.format("sql || ' WHERE number < 0'"),),
    )
    write(
        (f"DELETE FROM ledger_entries WHERE number > {head.number}",),
        (index.format("replace(sql, ' WHERE number < 0', '')"),),
    )
    assert Store(str(path)).whole == whole
    with pytest.raises(LedgerDamagedError, match="the file contradicts itself"):
        gate(str(path), clock, str(head))


def test_others_may_write_while_a_model_is_asked(ledger, record, found, people):
    record(found=found[:6], people=people[:6])
    head = ledger.head

    def model(frame):
        if ledger.head == head:
            record(found=found[6:], people=people[6:])
        return stricter(frame)

    check = ledger.check(model, name="next")
    assert (len(check), check.head) == (6, head)
    assert check.number == ledger.head.number == head.number + 7
    assert check.to_dict()["head"] == str(head)
    assert str(head) in check.to_html()
    assert ledger.verify() == []


def test_what_is_altered_while_a_model_is_asked_is_found_before_the_answer_is_recorded(ledger, record, sql):
    """Another chain that adds up in itself takes the place of the one that was verified."""
    record()
    head = ledger.head
    [row] = sql("SELECT number, kind, about, made, facts, sealed, previous FROM ledger_entries WHERE number = 13")
    anew = row._asdict() | {"made": "2026-11-16T12:01:00.000000+00:00"}

    def model(frame):
        digest = entry_hash(**anew)
        sql("UPDATE ledger_entries SET made = :made, hash = :hash WHERE number = 13", made=anew["made"], hash=digest)
        sql("UPDATE ledger_head SET hash = :hash", hash=digest)
        return stricter(frame)

    with pytest.raises(LedgerDamagedError, match="entry 13: it was altered while the model was asked"):
        ledger.check(model, name="next")
    assert ledger.head.number == head.number
    assert [flaw.number for flaw in ledger.verify(head)] == [13]


def test_facts_that_say_nothing_are_named(ledger, record, sql):
    """Written anew with their hashes, so that the chain adds up."""
    record()
    [row] = sql("SELECT number, kind, about, made, facts, sealed, previous FROM ledger_entries WHERE number = 1")
    for facts in ("{}", "[]", "no JSON", '{"model": 1, "until": "soon", "table": {}}'):
        sql("UPDATE ledger_entries SET facts = :facts WHERE number = 1", facts=facts)
        assert [flaw.number for flaw in ledger.verify()] == [1]
        for read in (ledger.columns, ledger.promises, ledger.history, ledger.counts):
            with pytest.raises(LedgerDamagedError, match="entry 1: what it says cannot be read"):
                read()
    assert row
