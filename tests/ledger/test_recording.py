import json
import os
import stat
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from robust_recourse import ActionSet, NearestAccepted, RobustBayesianRecourse, certify
from robust_recourse.ledger import Ledger, LedgerError
from robust_recourse.models.acceptance import accepted_by

from .conftest import UNTIL, accepts


def test_what_was_promised_comes_back_as_it_was(ledger, record, found, people, table):
    recorded = record(note="spring campaign")
    assert list(recorded.promises) == people
    assert recorded.known == ()
    frame = ledger.promises(status="open")
    assert frame["person"].tolist() == people
    rows = frame[table.columns]
    pd.testing.assert_frame_equal(rows.dtypes.to_frame(), table.dtypes.to_frame())
    for name in table.columns:
        assert rows[name].tolist() == found.x[name].tolist()
    assert frame["cost"].tolist() == found.cost.tolist()
    assert set(frame["status"]) == {"open"}
    assert set(frame["model"]) == {"2026-11"}
    assert {str(day) for day in frame["until"]} == {UNTIL}
    assert frame.index.tolist() == list(recorded.promises.values())
    assert ledger.verify() == []
    assert ledger.head == recorded.head


def test_everything_about_a_promise_is_kept(ledger, record, found, method, table):
    record(note="spring campaign")
    [kept] = ledger.history("id3")
    assert kept["before"] == json.loads(found.to_json())["rows"][3]["before"]
    assert kept["promised"] == json.loads(found.to_json())["rows"][3]["after"]
    assert kept["changes"] == json.loads(found.to_json())["rows"][3]["changes"]
    assert kept["notice"]["text"] == found[3].describe()
    assert len(kept["notice"]["hash"]) == 64
    assert kept["note"] == "spring campaign"
    assert kept["provenance"]["method"] == "NearestAccepted"
    assert kept["provenance"]["seed"] == 0
    assert kept["training_fingerprint"]
    assert "income" in kept["actions"]
    assert kept["version"]
    assert kept["events"] == []
    run = ledger._source.promises(people=["id3"])[0].run
    again = run.method(accepts, favourable=None, threshold=None).fit(table)
    assert again.actions == method.actions
    assert again.explain(found.x0).equals(found)


def test_bounds_are_kept_where_there_are_any(ledger, record, table, found, people):
    method = RobustBayesianRecourse(accepts, ActionSet(table), random_state=0, n_samples=20, n_neighbors=20).fit(table)
    best = method.explain(found.x0)
    best = best[best.valid]
    some = people[: len(best)]
    record(found=best, people=some, method=method, certificates=certify(method, best))
    frame = ledger.promises()
    assert np.isfinite(frame["worst_case_odds"]).any()
    np.testing.assert_array_equal(frame["worst_case_odds"], best.worst_case_odds)
    assert np.isfinite(frame["certified_radius"]).any()
    assert frame["jury_share"].isna().all()


def test_a_jury_and_a_survival_are_kept_if_the_result_has_them(ledger, record, found):
    judged = replace(found, jury_share=np.linspace(0.0, 1.0, len(found)), survival_bound=np.full(len(found), 0.9))
    record(found=judged)
    frame = ledger.promises()
    np.testing.assert_array_equal(frame["jury_share"], judged.jury_share)
    assert (frame["survival_bound"] == 0.9).all()


@pytest.mark.parametrize("given", ["array", "nullable", "polars", "odd"])
def test_rows_of_any_table_come_back_and_can_be_asked_about(ledger, clock, given, table):  # noqa: ARG001
    numbers = table[["income", "debt"]].astype(float)
    model = lambda X: np.asarray(X, dtype=float)[:, 0] > 2500.0  # noqa: E731
    if given == "array":
        rows = numbers.to_numpy()
    elif given == "nullable":
        rows = table[["income", "debt"]].astype({"income": "Int64"})
        rows.loc[3, "debt"] = np.nan
    elif given == "polars":
        rows = pytest.importorskip("polars").from_pandas(numbers)
        model = lambda X: X["income"].to_numpy() > 2500.0  # noqa: E731
    else:
        rows = numbers.rename(columns={"debt": '"; DROP TABLE ledger_entries; --'})
        rows["note"] = ["=1+1", None] * (len(rows) // 2)
        rows[7] = [f"é\x01\u202e{i}" for i in range(len(rows))]
        model = lambda X: X["income"].to_numpy() > 2500.0  # noqa: E731
    method = NearestAccepted(model, random_state=0).fit(rows)
    found = method.explain(rows[:10])
    found = found[found.valid]
    names = [f"p{i}" for i in range(len(found))]
    ledger.record(found, people=names, model="m", method=method, until=UNTIL)
    [piece] = list(ledger._ready.pieces(np.array(list(ledger.promises().index))))
    assert type(piece.table) is type(rows)
    asked = accepted_by(model, found.x, like=found.x0)
    assert (accepted_by(model, piece.table, like=piece.table) == asked).all()
    kept = ledger._source.promises()
    before = kept[0].run.columns.table("before", [one.data for one in kept])
    assert str(before) == str(found.x0 if given in ("array", "polars") else found.x0.reset_index(drop=True))
    assert ledger.check(model, name="same").share == 1.0
    assert ledger.verify() == []


def test_the_same_again_is_not_recorded_twice(ledger, record, people):
    first = record()
    again = record()
    assert again.promises == {}
    assert again.known == tuple(people)
    assert ledger.head == first.head == again.head


def test_what_is_new_is_added_to_what_is_known(ledger, record, found, people):
    record(found=found[:5], people=people[:5])
    added = record()
    assert list(added.promises) == people[5:]
    assert added.known == tuple(people[:5])
    assert ledger.promises()["person"].tolist() == people
    # They were made in one run.
    assert len({promise.run.number for promise in ledger._source.promises()}) == 1


def test_another_promise_to_the_same_person_needs_replace(ledger, record, people):
    record()
    head = ledger.head
    with pytest.raises(LedgerError, match=r"open promise to 'id0', 'id1', .* \(12 people\).*replace=True"):
        record(until="2027-06-30")
    assert ledger.head == head
    record(until="2027-06-30", replace=True)
    assert len(ledger.promises()) == len(people)
    assert len(ledger.promises("renewed")) == len(people)
    first, second = ledger.history("id4")
    assert first["status"] == "renewed"
    assert first["events"][0]["by"] == second["promise"]
    assert ledger.verify() == []


def test_a_promise_that_has_ended_is_in_nobodys_way(ledger, record, clock):
    record()
    clock.on("2027-06-01")
    assert len(record(until="2027-12-31").promises) == 12
    assert len(ledger.promises("expired")) == 12


BAD = {
    "unknown people": ({"people": ["a"]}, LedgerError, "one id for each of the 12"),
    "people twice": ({"people": ["a"] * 12}, LedgerError, "'a' more than once"),
    "no ids": ({"people": [None] * 12}, TypeError, "ids, texts or whole numbers"),
    "empty ids": ({"people": ["a", " ", *"cdefghijkl"]}, LedgerError, "empty"),
    "odd ids": ({"people": ["a\0b", *"bcdefghijkl"]}, LedgerError, "no text"),
    "past": ({"until": "2026-11-15"}, LedgerError, "until is 2026-11-15, which is in the past: it is 2026-11-16"),
    "no date": ({"until": "soon"}, LedgerError, "must be a date such as 2027-05-31, got 'soon'"),
    "nothing": ({"until": None}, TypeError, "must be a date"),
    "no model": ({"model": ""}, LedgerError, "model must be the name of a model"),
    "no method": ({"method": "nearest"}, TypeError, "method must be a method"),
    "notices": ({"notices": ["one"]}, LedgerError, "one text for each of the 12"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named_and_nothing_is_recorded(ledger, record, case):
    changed, kind, message = BAD[case]
    with pytest.raises(kind, match=message):
        record(**changed)
    assert ledger.head.number == 0


def test_what_the_present_model_refuses_cannot_be_promised(ledger, record, found, table, method):
    valid = found.valid.copy()
    valid[[2, 5]] = False
    told = SimpleNamespace(**{name: getattr(found, name) for name in vars(found)})
    told.valid = valid
    some = type(found)(**{name: value for name, value in vars(told).items() if not name.startswith("_")})
    with pytest.raises(LedgerError, match=r"refuses what would be promised to 'id2', 'id5'\. Only valid"):
        record(found=some)
    # Nor can what only the result says that it accepts.
    stricter = NearestAccepted(lambda X: accepts(X) & (X["income"] > 2600), method.actions, random_state=0).fit(table)
    refused = ~(accepts(found.x) & (found.x["income"] > 2600))
    assert refused.any()
    with pytest.raises(LedgerError, match="refuses what would be promised"):
        record(method=stricter)
    assert ledger.head.number == 0


def test_another_method_than_the_one_that_found_them_is_noticed(ledger, record, table):
    other = RobustBayesianRecourse(accepts, random_state=0).fit(table)
    with pytest.raises(LedgerError, match="found was made by NearestAccepted"):
        record(method=other)
    assert ledger.head.number == 0


def test_several_recourses_of_a_person_are_too_many(ledger, record, method, found):
    several = method.explain(found.x0.head(3), 2)
    assert (several.rank > 1).any()
    with pytest.raises(LedgerError, match="several recourses"):
        record(found=several, people=list(range(len(several))))
    assert ledger.head.number == 0


def test_promises_about_other_columns_need_a_ledger_of_their_own(ledger, record, table, clock):
    record()
    head = ledger.head
    small = table[["income", "debt"]]
    other = NearestAccepted(lambda X: X["income"] > 2500, random_state=0).fit(small)
    found = other.explain(small.head(4))
    with pytest.raises(LedgerError, match=r"other columns than these \(job, owner, region, since\)"):
        record(found=found, people=list("abcd"), method=other)
    assert ledger.head == head
    clock.on("2027-06-01")  # those that have expired are in nobody's way
    assert len(record(found=found, people=list("abcd"), method=other, until="2027-12-31").promises) == 4


def test_whole_numbers_are_ids_too(ledger, record, found):
    record(people=list(range(len(found))))
    assert ledger.promises()["person"].tolist()[:2] == ["0", "1"]
    assert ledger.withdraw(3, reason="moved abroad") > 0


def test_nobody_at_all(ledger, record, found, people):
    assert record(found=found[:0], people=[]).promises == {}
    assert len(ledger.promises()) == 0
    assert people


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_a_new_file_can_be_read_by_its_owner_only(tmp_path):
    old = os.umask(0)
    try:
        Ledger(tmp_path / "promises.db").verify()
    finally:
        os.umask(old)
    for path in tmp_path.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
