"""The gate: which promises a new model keeps, against a loop over all of them."""

import json

import numpy as np
import pandas as pd
import pytest

from robust_recourse import NearestAccepted, RobustBayesianRecourse
from robust_recourse.ledger import LedgerError, renewing
from robust_recourse.ledger.checking import spans, within
from robust_recourse.math.intervals import clopper_pearson
from robust_recourse.models.predictor import ModelError

from .conftest import accepts, scored, stricter


def test_a_promise_is_kept_if_the_new_model_accepts_its_row(ledger, record, found, people):
    record()
    check = ledger.check(stricter, name="2027-01")
    kept = stricter(found.x)
    assert 0 < kept.sum() < len(kept)
    assert check.kept["person"].tolist() == [p for p, yes in zip(people, kept, strict=True) if yes]
    assert check.broken["person"].tolist() == [p for p, yes in zip(people, kept, strict=True) if not yes]
    assert check.share == kept.mean()
    low, high = clopper_pearson(kept.sum(), 12)
    assert check.interval == (float(low), float(high))
    assert (check.n_kept, check.n_broken, len(check)) == (kept.sum(), 12 - kept.sum(), 12)
    by_group = check.by_group("region")
    for region, line in by_group.iterrows():
        inside = (found.x["region"] == region).to_numpy()
        assert (line["promises"], line["kept"]) == (inside.sum(), kept[inside].sum())
    assert check.by_model().loc["2026-11", "kept"] == kept.sum()
    assert check.by_month().loc["2026-11", "broken"] == 12 - kept.sum()
    groups = pd.Series(["a", "b"] * 6, index=people, name="team")
    assert check.by_group(groups)["kept"].tolist() == [kept[::2].sum(), kept[1::2].sum()]
    with pytest.raises(LedgerError, match="no column 'team'"):
        check.by_group("team")


def test_the_model_is_asked_about_every_open_promise_once(ledger, record, found, people):
    record()
    ledger.withdraw("id1", reason="moved abroad")
    ledger.fulfil("id2", found.x.iloc[2])
    ledger.forget("id3")
    asked = []

    def model(frame):
        asked.append(frame)
        return accepts(frame)

    check = ledger.check(model, name="same")
    rows = pd.concat(asked, ignore_index=True)
    expected = found.x.iloc[[0, *range(4, 12)]].reset_index(drop=True)
    pd.testing.assert_frame_equal(rows, expected, check_dtype=False, check_categorical=False)
    assert rows.dtypes.tolist() == found.x0.dtypes.tolist()
    assert check.share == 1.0
    assert check.kept["person"].tolist() == [people[0], *people[4:]]


def test_a_check_is_an_entry_unless_it_is_a_dry_run(ledger, record):
    record()
    head = ledger.head
    dry = ledger.check(stricter, name="2027-01", dry_run=True)
    assert ledger.head == head
    assert dry.number is None
    check = ledger.check(stricter, name="2027-01")
    assert check.number == ledger.head.number == head.number + 1
    broken = set(check.broken["person"])
    for person in ("id0", "id1", "id7"):
        [event] = ledger.history(person)[0]["events"]
        assert event["event"] == "checked"
        assert event["model"] == "2027-01"
        assert event["kept"] == (person not in broken)


def test_promises_expire_on_the_day_after_their_last(ledger, record, clock):
    record()
    clock.on("2027-05-31")
    assert len(ledger.check(stricter, name="in time")) == 12
    clock.on("2027-06-01")
    assert len(ledger.promises()) == 0
    assert len(ledger.promises("expired")) == 12
    check = ledger.check(stricter, name="late")
    assert len(check) == 0
    assert np.isnan(check.share)
    assert tuple(check.interval) == (0.0, 1.0)
    [story] = ledger.history("id0")
    assert (story["status"], [event["event"] for event in story["events"]]) == ("expired", ["checked"])
    assert ledger.head.number == 15  # a run, twelve promises, two checks: what expires is written nowhere
    with pytest.raises(LedgerError, match="that of 2026-11-16 was expired on 2027-05-31"):
        ledger.withdraw("id0", reason="late")
    assert ledger.verify() == []


def test_who_was_forgotten_does_not_expire(ledger, record, clock):
    record()
    ledger.forget("id3")
    clock.on("2027-06-01")
    before = ledger.head.number
    ledger.check(stricter, name="late")
    assert ledger.counts()["expired"] == len(ledger.promises("expired")) == 11
    assert ledger.head.number == before + 1
    assert ledger.verify() == []


def test_promised_changes_can_be_put_on_present_rows(ledger, record, found, people):
    record()
    current = found.x0.iloc[:6].set_axis(pd.Index(people[:6]), axis=0).copy()
    current["debt"] += 4000.0
    current.loc["id2", "region"] = "south"
    asked = []

    def model(frame):
        asked.append(frame)
        return accepts(frame)

    check = ledger.check(model, name="same", current=current)
    rows = pd.concat(asked, ignore_index=True)
    for i in range(12):
        for name in rows.columns:
            changed = found.x[name].iloc[i] != found.x0[name].iloc[i]
            expected = found.x[name].iloc[i] if changed or i >= 6 else current[name].iloc[i]
            assert rows[name].iloc[i] == expected, (i, name)
    assert check.share == accepts(rows).mean() < 1.0
    assert check.broken["person"].isin(people[:6]).all()
    with pytest.raises(LedgerError, match="lacks the column 'debt'"):
        ledger.check(model, name="same", current=current.drop(columns="debt"))
    with pytest.raises(LedgerError, match="more than one row"):
        ledger.check(model, name="same", current=pd.concat([current, current]))


def test_what_the_decision_is_can_be_said_anew(ledger, record, found):
    record()
    labels = lambda frame: np.where(stricter(frame), "yes", "no")  # noqa: E731
    assert ledger.check(labels, name="labels", favourable="yes").share == stricter(found.x).mean()
    with pytest.raises(ModelError, match=r"promises 2 to 13.*Pass favourable="):
        ledger.check(labels, name="labels")
    half = ledger.check(scored, name="scores", threshold=0.8)
    assert half.share == (scored(found.x) >= 0.8).mean()


def test_additions_are_recourses_from_the_promised_row(ledger, record, found, table, method):
    record()
    check = ledger.check(stricter, name="2027-01")
    new = check.same_method(table)
    assert type(new) is NearestAccepted
    assert new.actions == method.actions
    assert new.model is stricter
    additions = check.additions(new)
    broken = ~stricter(found.x)
    expected = new.explain(found.x[broken])
    frame = additions.to_frame()
    assert frame["person"].tolist() == check.broken["person"].tolist()
    assert frame["told_cost"].tolist() == found.cost[broken].tolist()
    assert frame["extra_cost"].tolist() == expected.cost.tolist()
    assert (frame["extra_cost"] > 0.0).all()
    assert stricter(additions.found.x).all()
    assert check.additions(train=table).to_frame().equals(frame)
    honour = check.honour(additions)
    assert honour["extra_cost"].tolist() == expected.cost.tolist()
    assert honour["income"].tolist() == found.x["income"][broken].tolist()
    assert len(check.honour()) == broken.sum()
    with pytest.raises(TypeError, match="Pass a method"):
        check.additions()


def test_nothing_broken_needs_nothing(ledger, record, method, table):
    record()
    check = ledger.check(accepts, name="same")
    assert len(check.additions(method)) == 0
    assert len(check.honour()) == len(check.broken) == 0
    assert ledger.renew(check, method).promises == {}
    assert len(check.additions(train=table).to_frame()) == 0


@pytest.mark.parametrize("at_least", [0.25, 0.5, 0.98, 1.0])
def test_the_highest_threshold_that_keeps_the_share(ledger, record, found, table, at_least):
    record()
    check = ledger.check(scored, name="2027-01")
    told = check.threshold(at_least, others=table)
    values, others = scored(found.x), scored(table)
    assert np.mean(values >= told.threshold) == told.share >= at_least
    higher = np.nextafter(told.threshold, 1.0)
    assert np.mean(values >= higher) < at_least
    assert told.newly_accepted == ((others >= told.threshold) & ~(others > 0.5)).sum()
    assert told.newly_refused == (~(others >= told.threshold) & (others > 0.5)).sum()
    assert told.changed == told.newly_accepted + told.newly_refused
    assert ledger.check(scored, name="moved", threshold=told.threshold).share == told.share
    assert check.threshold(at_least).changed is None


def test_scores_have_a_threshold_too(ledger, record, found):
    record()
    score = lambda frame: -1000.0 * scored(frame)  # noqa: E731
    check = ledger.check(score, name="scores", favourable="below", threshold=-500.0)
    told = check.threshold(1.0)
    assert told.threshold == max(score(found.x))
    assert (check.broken["needed"] == -500.0).all()
    assert (check.broken["value"] > -500.0).all()


def test_labels_have_no_threshold(ledger, record):
    record()
    check = ledger.check(stricter, name="labels")
    with pytest.raises(LedgerError, match="predict_proba"):
        check.threshold(0.9)
    with pytest.raises(ValueError, match="at most 1"):
        check.threshold(98)


def test_the_model_says_by_how_much_it_refuses(ledger, record, found):
    record()
    check = ledger.check(scored, name="2027-01")
    broken = ~(scored(found.x) > 0.5)
    np.testing.assert_array_equal(check.broken["value"], scored(found.x)[broken])
    assert (check.broken["needed"] == 0.5).all()


def test_renewed_promises_hold_under_the_new_model(ledger, record, table, clock):
    record()
    ledger.withdraw("id0", reason="moved abroad")
    check = ledger.check(stricter, name="2027-01")
    method, broken = check.same_method(table), set(check.broken["person"])
    clock.on("2027-01-15")
    renewed = ledger.renew(check, method)
    assert set(renewed.promises) == broken
    assert ledger.check(stricter, name="2027-01").share == 1.0
    old, new = ledger.history(next(iter(broken)))
    assert old["status"] == "renewed"
    assert new["model"] == "2027-01"
    assert new["until"] == old["until"]
    assert new["before"] == old["promised"]
    assert old["events"][-1] == {"entry": new["promise"] + len(broken), "event": "renewed", "made": new["made"],
                                 "by": new["promise"]}  # fmt: skip
    assert ledger.renew(check, method).promises == {}  # there is nothing left to renew
    assert ledger.verify() == []


def test_who_has_no_addition_keeps_the_old_promise(ledger, record, found, table):
    record()
    nobody = NearestAccepted(lambda X: stricter(X) & (X["since"] > "2022-01-01"), random_state=0)
    check = ledger.check(nobody.model, name="2027-01")
    method = check.same_method(table)
    additions = check.additions(method)
    possible = additions.found.valid
    assert 0 < possible.sum() < len(possible)
    assert additions.to_frame()["extra_cost"].isna().sum() == (~possible).sum()
    renewed = ledger.renew(check, method, until="2027-09-30", note="again")
    assert len(renewed.promises) == possible.sum()
    assert len(ledger.promises()) == 12
    assert len(found) == 12


def test_a_renewal_of_what_has_ended_meanwhile_is_left_out(ledger, record, table):
    record()
    check = ledger.check(stricter, name="2027-01")
    method, person = check.same_method(table), check.broken["person"].iloc[0]
    ledger.withdraw(person, reason="moved abroad")
    assert person not in ledger.renew(check, method).promises


def test_what_ends_while_it_is_renewed_is_left_out(ledger, record, table, monkeypatch):
    record()
    check = ledger.check(stricter, name="2027-01")
    method, person, prepare = check.same_method(table), check.broken["person"].iloc[0], renewing.prepare

    def late(*given, **more):
        found = prepare(*given, **more)
        ledger.withdraw(person, reason="moved abroad")
        return found

    monkeypatch.setattr(renewing, "prepare", late)
    renewed = ledger.renew(check, method)
    assert person not in renewed.promises
    assert len(renewed.promises) == check.n_broken - 1
    assert ledger.verify() == []


def test_a_method_of_ones_own_must_be_given(ledger, table, found, people):
    class Mine(NearestAccepted):
        pass

    mine = Mine(accepts, random_state=0).fit(table)
    ledger.record(mine.explain(found.x0), people=people, model="m", method=mine, until="2027-01-01")
    check = ledger.check(stricter, name="2027-01")
    with pytest.raises(LedgerError, match="made with Mine: it is no method of the library"):
        check.same_method(table)
    assert len(check.additions(Mine(stricter, random_state=0).fit(table))) == check.n_broken


def test_columns_of_people_that_are_called_as_ours_keep_their_names(ledger, clock):  # noqa: ARG001
    names = ["person", "status", "until", "promise", "value", "extra_cost"]
    rows = pd.DataFrame(np.random.default_rng(0).uniform(0, 1, (60, 6)), columns=names)
    method = NearestAccepted(lambda X: X["value"] > 0.5, random_state=0).fit(rows)
    found = method.explain(rows[rows["value"] <= 0.5])
    ledger.record(found, people=range(len(found)), model="m", method=method, until="2027-01-01")
    check = ledger.check(lambda X: X["value"] > 0.6, name="next")
    broken = found.x[found.x["value"] <= 0.6]
    assert 0 < len(broken) < len(found)
    frame = check.honour(check.additions(train=rows))
    np.testing.assert_array_equal(frame[names], broken[names])
    assert frame["recourse_person"].tolist() == check.source.people(check.broken_numbers)
    assert (frame["recourse_extra_cost"] > 0).all()
    assert check.to_html().count(" (0.5)<") == len(broken)


def test_a_check_as_data(ledger, record):
    record()
    check = ledger.check(stricter, name="2027-01")
    data = json.loads(json.dumps(check.to_dict(("region",))))
    assert data["broken"] == check.broken["person"].tolist()
    assert data["kept"] == check.n_kept
    assert data["by_region"][0]["region"] == "north"


@pytest.mark.parametrize("seed", range(5))
def test_spans_hold_what_was_chosen_and_nothing_else(seed):
    rng = np.random.default_rng(seed)
    among = np.sort(rng.choice(300, 100, replace=False))
    chosen = among[rng.random(100) < 0.6]
    listed = spans(chosen)
    assert [n for n in range(-1, 301) if within(n, listed)] == chosen.tolist()
    assert len(spans(np.arange(3, 9))) == 1
    assert spans(among[:0]) == []


def test_a_tuned_method_is_the_one_that_it_found(ledger, record, table, found, people):
    class Tuned:
        best_method_ = RobustBayesianRecourse(accepts, random_state=0, n_samples=20, n_neighbors=20).fit(table)

    some = Tuned.best_method_.explain(found.x0)
    some = some[some.valid]
    assert len(record(found=some, people=people[: len(some)], method=Tuned()).promises) == len(some)
    assert len(ledger.promises()) == len(some)
