"""What may happen to a ledger: several writers, full disks, other schemas, damage."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
import sqlalchemy

from robust_recourse.ledger import Ledger, LedgerError
from robust_recourse.ledger.migrating import upgrade

from .conftest import UNTIL, place, stricter


def test_two_writers_at_once(where, found, people, method, clock):
    """Each with a ledger of its own, in small pieces; both succeed."""

    def write(first):
        ledger = Ledger(where, clock=clock)
        for i in range(first, len(found), 2):
            ledger.record(found[[i]], people=[people[i]], model="m", method=method, until=UNTIL)
        return True

    with ThreadPoolExecutor(2) as pool:
        assert all(pool.map(write, (0, 1)))
    ledger = Ledger(where, clock=clock)
    assert ledger.verify() == []
    assert sorted(ledger.promises()["person"]) == sorted(people)
    assert ledger.head.number == len(people) + 1  # one run


def test_two_writers_of_the_same_promises_record_them_once(where, found, people, method, clock):
    def write(_):
        return Ledger(where, clock=clock).record(found, people=people, model="m", method=method, until=UNTIL)

    with ThreadPoolExecutor(3) as pool:
        written = list(pool.map(write, range(3)))
    assert sorted(len(recorded.promises) for recorded in written) == [0, 0, 12]
    assert Ledger(where, clock=clock).verify() == []


def test_readers_see_one_state_while_others_write(ledger, record, found, people):
    record(found=found[:6], people=people[:6])
    late = []

    def model(frame):
        if not late:
            late.append(record(found=found[6:], people=people[6:]))
        return stricter(frame)

    assert len(ledger.check(model, name="next")) == 6
    assert len(ledger.promises()) == 12
    assert ledger.verify() == []


@pytest.mark.parametrize("number", ["3", "0f3a", "1.5"])
def test_an_unknown_schema_is_refused(ledger, record, sql, number):
    record()
    sql("UPDATE ledger_version SET version_num = :number", number=number)
    with pytest.raises(LedgerError, match=rf"schema '{number}', and this release knows 1 to 2.*newer release"):
        record(until="2027-12-31", replace=True)
    with pytest.raises(LedgerError, match="newer release"):
        ledger.verify()
    sql("UPDATE ledger_version SET version_num = '2'")
    assert ledger.verify() == []


def test_a_ledger_of_the_first_schema_is_upgraded(where, clock, found, people, method):
    ledger = Ledger(where, clock=clock)
    database = ledger._database
    database.make()
    with database.writing() as connection:
        upgrade(connection, "1")
    with database.reading() as connection:
        assert "ledger_entries_kind" not in _indices(connection)
    _write_as_the_first_release(ledger, clock, found[:5], people[:5], method)
    assert ledger.verify() == []
    with database.reading() as connection:
        assert {"ledger_entries_kind", "ledger_entries_about"} <= _indices(connection)
        assert connection.exec_driver_sql("SELECT version_num FROM ledger_version").scalar() == "2"
    assert ledger.promises()["person"].tolist() == people[:5]
    assert len(ledger.record(found, people=people, model="m", method=method, until=UNTIL).promises) == 7
    assert ledger.verify() == []


def _indices(connection):
    return {index["name"] for index in sqlalchemy.inspect(connection).get_indexes("ledger_entries")}


def _write_as_the_first_release(ledger, clock, found, people, method):
    """Write entries without looking at the schema; those of the first are the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("robust_recourse.ledger.ledger.need_schema", lambda *_, **__: None)
        patch.setattr("robust_recourse.ledger.source.confirm", lambda *_: None)
        Ledger(ledger._database.url, clock=clock).record(found, people=people, model="m", method=method, until=UNTIL)


def test_the_migrations_make_the_tables_that_the_code_uses(ledger):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    from robust_recourse.ledger.migrating import VERSION_TABLE
    from robust_recourse.ledger.schema import metadata

    ledger.verify()
    with ledger._database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        assert compare_metadata(context, metadata) == []


def test_there_must_be_a_ledger_if_none_may_be_made(where):
    with pytest.raises(LedgerError, match="there is no ledger"):
        Ledger(where, create=False).verify()
    assert not (isinstance(where, str) and os.path.exists(where))


@pytest.mark.parametrize(
    "content", [b"no database at all, but long enough to be one" * 30, b"SQLite format 3\0" + b"\7" * 900]
)
def test_a_file_that_is_no_ledger(tmp_path, content):
    path = tmp_path / "promises.db"
    path.write_bytes(content)
    with pytest.raises(LedgerError, match=r"promises\.db: .*(no database|damaged)"):
        Ledger(path).promises()
    assert path.read_bytes() == content


def test_a_database_of_somebody_else_is_left_as_it_is(tmp_path):
    import sqlite3

    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE songs (title TEXT)")
    connection.commit()
    connection.close()
    with pytest.raises(LedgerError, match="no ledger in this database"):
        Ledger(path, create=False).promises()


def test_a_damaged_ledger_is_found_or_refused(tmp_path, clock, found, people, method):
    path = tmp_path / "promises.db"
    ledger = Ledger(path, clock=clock)
    ledger.record(found, people=people, model="m", method=method, until=UNTIL)
    ledger._database.tidy()
    whole = path.read_bytes()
    page = 4096
    told = []
    for at in range(2 * page - 400, len(whole), page):
        path.write_bytes(whole[:at] + bytes(byte ^ 0x55 for byte in whole[at : at + 400]) + whole[at + 400 :])
        try:
            told.append(Ledger(path, clock=clock).verify())
        except LedgerError as error:
            told.append(str(error))
    assert all("promises.db" in said for said in told if isinstance(said, str))
    assert sum(map(bool, told)) >= 3
    path.write_bytes(whole)
    assert ledger.verify() == []


@pytest.fixture
def small_disk(tmp_path):
    """A file system of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    possible = os.name == "posix" and not os.geteuid() and shutil.which("mount") is not None
    if not possible or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a small file system, and not everywhere")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_loses_nothing(small_disk, clock, found, people, method):
    ledger = Ledger(small_disk / "promises.db", clock=clock)
    ledger.record(found[:4], people=people[:4], model="m", method=method, until=UNTIL)
    head = ledger.head
    filling = small_disk / "filling"
    with filling.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"\0" * 1024)
    many = ["x" * 20_000] * len(found)
    with pytest.raises(LedgerError, match=r"promises\.db: .*disk .*full.*Nothing was recorded"):
        ledger.record(found, people=people, model="m", method=method, until=UNTIL, notices=many)
    filling.unlink()
    assert ledger.head == head
    assert ledger.verify() == []
    assert len(ledger.record(found, people=people, model="m", method=method, until=UNTIL).promises) == 8


def test_a_folder_that_is_read_only(small_disk, clock, found, people, method):
    ledger = Ledger(small_disk / "promises.db", clock=clock)
    ledger.record(found[:4], people=people[:4], model="m", method=method, until=UNTIL)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(LedgerError, match=r"promises\.db: .*(written to|cannot be opened)"):
        ledger.record(found, people=people, model="m", method=method, until=UNTIL)
    with pytest.raises(LedgerError, match=r"other\.db: Read-only file system"):
        Ledger(small_disk / "other.db").verify()


def test_a_folder_that_does_not_exist(tmp_path):
    with pytest.raises(LedgerError, match="No such file or directory"):
        Ledger(tmp_path / "missing" / "promises.db").verify()


def test_the_library_does_not_import_the_database():
    code = "import sys, robust_recourse, robust_recourse.cli; assert not {'sqlalchemy', 'alembic'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_places_are_what_they_say(tmp_path):
    with place("sqlite", tmp_path) as found:
        assert str(found).endswith("promises.db")
