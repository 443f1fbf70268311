"""Ledgers on SQLite and on PostgreSQL, a small lender, and a clock that stands still."""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest

sqlalchemy = pytest.importorskip("sqlalchemy")

from robust_recourse import ActionSet, NearestAccepted  # noqa: E402
from robust_recourse.ledger import Ledger  # noqa: E402

POSTGRES = os.environ.get("ROBUST_RECOURSE_POSTGRES")
UNTIL = "2027-05-31"


class Clock:
    """A clock that a test moves."""

    def __init__(self):
        self.now = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)

    def __call__(self):
        self.now += timedelta(seconds=1)
        return self.now

    def on(self, day):
        self.now = datetime.fromisoformat(f"{day}T12:00:00+00:00")


@pytest.fixture
def clock():
    return Clock()


@contextmanager
def place(kind, folder):
    """An empty place for a ledger, by the kind of its database."""
    if kind == "sqlite":
        yield str(folder / "promises.db")
        return
    if not POSTGRES:
        pytest.skip("needs a PostgreSQL server: its URL in ROBUST_RECOURSE_POSTGRES")
    pytest.importorskip("psycopg")
    name = f"test_{secrets.token_hex(6)}"
    engine = sqlalchemy.create_engine(POSTGRES, poolclass=sqlalchemy.pool.NullPool)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"CREATE SCHEMA {name}")
    yield sqlalchemy.make_url(POSTGRES).update_query_dict({"options": f"-csearch_path={name}"})
    with engine.begin() as connection:
        connection.exec_driver_sql(f"DROP SCHEMA {name} CASCADE")


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request, tmp_path):
    """An empty place for a ledger, on each database."""
    with place(request.param, tmp_path) as found:
        yield found


@pytest.fixture
def ledger(where, clock):
    return Ledger(where, clock=clock)


@pytest.fixture
def sql(ledger):
    """Run SQL on the database of the ledger behind its back, with all its checks off."""

    def run(statement, **values):
        url = ledger._database.url
        engine = sqlalchemy.create_engine(url, poolclass=sqlalchemy.pool.NullPool)
        with engine.begin() as connection:
            if url.get_backend_name() == "postgresql":
                connection.exec_driver_sql("SET session_replication_role = replica")
            result = connection.execute(sqlalchemy.text(statement), values)
            return result.all() if result.returns_rows else result.rowcount

    return run


def accepts(frame):
    """The model of the lender: incomes above, debts below, and full-time work helps."""
    return (frame["income"] - 0.1 * frame["debt"] + 1200 * (frame["job"] == "full")).to_numpy(dtype=float) > 3000


def stricter(frame):
    """The next model."""
    return (frame["income"] - 0.1 * frame["debt"] + 1200 * (frame["job"] == "full")).to_numpy(dtype=float) > 3200


def scored(frame):
    """The next model, with probabilities."""
    score = (frame["income"] - 0.1 * frame["debt"] + 1200 * (frame["job"] == "full")).to_numpy(dtype=float) - 3200
    return 1 / (1 + np.exp(-score / 300))


@pytest.fixture(scope="session")
def table():
    rng = np.random.default_rng(0)
    n = 200
    return pd.DataFrame(
        {
            "income": rng.integers(10, 40, n) * 100,
            "debt": rng.normal(3000, 1500, n).round(2),
            "job": rng.choice(["no", "part", "full"], n),
            "region": pd.Categorical(rng.choice(["north", "south"], n)),
            "owner": rng.random(n) < 0.3,
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1000, n), unit="D"),
        }
    )


@pytest.fixture(scope="session")
def method(table):
    actions = ActionSet(table, immutable=["region", "owner", "since"], increase=["income"], decrease=["debt"])
    return NearestAccepted(accepts, actions, random_state=0).fit(table)


@pytest.fixture(scope="session")
def found(table, method):
    """Twelve recourses."""
    return method.explain(table[~accepts(table)].head(12))


@pytest.fixture
def people(found):
    return [f"id{i}" for i in range(len(found))]


@pytest.fixture
def record(ledger, found, people, method):
    """Record the recourses, with other arguments if some are given."""

    def run(**changed):
        given = {"people": people, "model": "2026-11", "method": method, "until": UNTIL} | changed
        return ledger.record(given.pop("found", found), **given)

    return run
